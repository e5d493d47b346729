//! `volary-bench`: the same workloads for Volary and its peers. `run` measures
//! one workload for one contender in this process; `all` runs everything in
//! interleaved processes and prints the comparison.

mod child;
mod contender;
mod dormant;
mod echo_server;
mod features;
mod foreign;
mod fragile;
mod host;
mod lanes;
mod latch;
mod measure;
mod outstanding;
mod peer;
mod peers;
mod programs;
mod rng;
mod suite;
mod svg;
mod table;
mod tally;
mod touch;
mod workloads;

use std::process::{Command, ExitCode};

use volary_bench_duet::{alloc, histogram, memory};

const USAGE: &str = "\
usage: volary-bench run WORKLOAD CONTENDER [--quick]
       volary-bench serve WORKLOAD CONTENDER      (the second process of `run`)
       volary-bench all [--quick] [--rounds N] [--peers A,B] [--no-foreign] [--json FILE] [--svg FILE] [WORKLOAD…]
       volary-bench touch                         (the machine's memory, before what needs much of it)
       volary-bench list";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.split_first() {
        Some((verb, rest)) if verb == "run" => run_one(rest),
        Some((verb, [workload, peer])) if verb == "serve" => serve(workload, peer),
        Some((verb, rest)) if verb == "all" => run_all(rest),
        Some((verb, [])) if verb == "touch" => {
            touch::touch();
            Ok(())
        }
        Some((verb, [])) if verb == "list" => {
            list();
            Ok(())
        }
        _ => Err(USAGE.to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// Measures one workload for one contender and prints one JSON line.
fn run_one(arguments: &[String]) -> Result<(), String> {
    let quick = arguments.iter().any(|argument| argument == "--quick");
    let names: Vec<&String> = arguments.iter().filter(|a| *a != "--quick").collect();
    let [workload, peer] = names[..] else {
        return Err(USAGE.to_owned());
    };
    let workload = workloads::find(workload).ok_or(format!("no workload {workload}"))?;
    let contender = contender::find(peer).ok_or(format!("no contender {peer}"))?;
    let rate = std::env::var("BENCH_RATE")
        .ok()
        .and_then(|rate| rate.parse().ok());
    let case = workload.case(quick, rate);
    let record = measure::run(workload, contender, &case)
        .ok_or(format!("{} is not offered by {}", workload.name, peer))?;
    println!("{}", record.to_json(workload.name, contender.name));
    // Leaves at once: taking down a million actors is not what is measured.
    std::process::exit(0)
}

/// The second process of a workload between two.
fn serve(workload: &str, peer: &str) -> Result<(), String> {
    let contender = contender::find(peer).ok_or(format!("no contender {peer}"))?;
    match (contender.bench)(workload) {
        Some(contender::Bench::Duet(duet)) => (duet.serve)(workload),
        _ => Err(format!("{workload} is not served by {peer}")),
    }
}

/// Runs the comparison, prints it and writes the files asked for.
fn run_all(arguments: &[String]) -> Result<(), String> {
    let mut options = suite::Options {
        quick: false,
        rounds: 5,
        filters: Vec::new(),
        peers: Vec::new(),
    };
    let mut beyond_rust = true;
    let (mut json, mut svg) = (None, None);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut operand = || rest.next().cloned().ok_or(USAGE.to_owned());
        match argument.as_str() {
            "--quick" => options.quick = true,
            "--rounds" => {
                options.rounds = operand()?.parse().map_err(|_| USAGE.to_owned())?;
            }
            "--peers" => options.peers = operand()?.split(',').map(str::to_owned).collect(),
            "--no-foreign" => beyond_rust = false,
            "--json" => json = Some(operand()?),
            "--svg" => svg = Some(operand()?),
            flag if flag.starts_with('-') => return Err(USAGE.to_owned()),
            filter => options.filters.push(filter.to_owned()),
        }
    }
    if let Some(unknown) = options.filters.iter().find(|filter| {
        !workloads::WORKLOADS
            .iter()
            .any(|workload| workload.matches(filter))
    }) {
        return Err(format!("no workload {unknown}"));
    }

    let known = |peer: &str| contender::find(peer).is_some() || foreign::is_known(peer);
    if let Some(unknown) = options.peers.iter().find(|peer| !known(peer)) {
        return Err(format!("no contender {unknown}"));
    }

    print_machine(&options);
    let between = suite::is_between_processes(&options);
    let foreign = foreign::prepare(|peer, scope| {
        options.wants(peer)
            && match scope {
                foreign::Scope::BeyondRust => beyond_rust,
                foreign::Scope::BetweenProcesses => between,
            }
    });
    let cells = suite::run(&options, &foreign);
    print!("{}", table::render(&cells));
    if let Some(path) = json {
        let list: Vec<_> = cells.iter().map(suite::Cell::to_json).collect();
        let text = serde_json::to_string_pretty(&list).map_err(|error| error.to_string())?;
        std::fs::write(&path, text + "\n").map_err(|error| format!("{path}: {error}"))?;
    }
    if let Some(path) = svg {
        std::fs::write(&path, svg::render(&cells)).map_err(|error| format!("{path}: {error}"))?;
    }
    Ok(())
}

fn print_machine(options: &suite::Options) {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let rustc = Command::new("rustc").arg("--version").output();
    let rustc = rustc.map_or("rustc unknown".to_owned(), |output| {
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    });
    println!(
        "{cores} cores; {rustc}; median of {} interleaved rounds; {} sizes",
        options.rounds,
        if options.quick { "quick" } else { "full" }
    );
}

fn list() {
    for workload in workloads::WORKLOADS {
        let offered: Vec<&str> = contender::CONTENDERS
            .iter()
            .filter(|contender| (contender.bench)(workload.name).is_some())
            .map(|contender| contender.name)
            .collect();
        println!("{}: {}", workload.name, offered.join(" "));
    }
}
