//! The workloads between two processes on Rust libraries: `PEER list` names those it offers, `PEER run WORKLOAD --ops N …`
//! measures one and prints one line of JSON, `PEER serve WORKLOAD` is its second process.

mod kameo;
mod ractor;
mod tonic;

use std::process::{Command, ExitCode};

use volary_bench_duet::{Case, Remoting, case, programs, serving};

const USAGE: &str =
    "usage: volary-bench-peers PEER list | run WORKLOAD --ops N --warm-up N --counted N | serve WORKLOAD";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.split_first() {
        Some((peer, rest)) if peer == "tonic" => obey::<tonic::Stream>(peer, rest),
        Some((peer, rest)) if peer == "kameo" => obey::<kameo::Swarm>(peer, rest),
        Some((peer, rest)) if peer == "ractor" => obey::<ractor::Cluster>(peer, rest),
        _ => Err(USAGE.to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn obey<R: Remoting>(peer: &str, arguments: &[String]) -> Result<(), String> {
    match arguments {
        [verb] if verb == "list" => {
            let offered = case::WORKLOADS.iter().filter(|workload| R::offers(workload));
            offered.for_each(|workload| println!("{workload}"));
            Ok(())
        }
        [verb, workload] if verb == "serve" => serving::serve::<R>(workload),
        [verb, workload, sizes @ ..] if verb == "run" => {
            let case = Case::parse(workload, sizes)?;
            let program = std::env::current_exe().map_err(|error| error.to_string())?;
            let mut there = Command::new(program);
            there.args([peer, "serve", workload]);
            println!("{}", programs::measure::<R>(&case, there).to_json(workload, peer));
            // Leaves at once: taking things down is not what is measured.
            std::process::exit(0)
        }
        _ => Err(USAGE.to_owned()),
    }
}
