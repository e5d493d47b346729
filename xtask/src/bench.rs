//! `bench`: Volary and its peers, interleaved in one run.
//!
//! A full run of all workloads rewrites the figures and the chart of the documentation; a quick or a partial one must not.

use std::fs;
use std::path::Path;

use crate::args::Args;
use crate::failure::{Failure, Outcome};
use crate::invocation::Invocation;
use crate::workspace::{self, BENCH_MANIFEST};

const CHART: &str = "docs/bench.svg";
const FIGURES: &str = "docs/bench.json";

pub(crate) fn run(mut args: Args) -> Outcome {
    let quick = args.flag("--quick");
    let contenders = contenders(&mut args)?;
    let rounds = args.option("--rounds")?;
    let json = args.option("--json")?;
    let workloads = args.positional()?;
    let json = json.unwrap_or_else(|| match is_full(quick, &contenders, &workloads) {
        true => FIGURES.to_owned(),
        false => workspace::relative(&workspace::target_dir().join("bench.json")),
    });
    if let Some(directory) = workspace::root().join(&json).parent() {
        create(directory)?;
    }
    // A workspace of its own: its peers stay out of everybody's lock file.
    let mut call = Invocation::cargo(["run", "--release", "--manifest-path", BENCH_MANIFEST]);
    if needs_simulator(&workloads) {
        call = call.args(["--features", "sim"]);
    }
    let mut words = forwarded(quick, &json, &contenders, &workloads);
    if let Some(rounds) = rounds {
        words.extend(["--rounds".to_owned(), rounds]);
    }
    call.arg("--").args(words).run("bench")?;
    eprintln!("    figures: {json}");
    Ok(())
}

/// The workloads of the simulator are run when they are named: what they need would slow the others down.
fn needs_simulator(workloads: &[String]) -> bool {
    workloads.iter().any(|workload| workload.starts_with("sim-"))
}

/// The words that leave contenders out: `--no-foreign` those beyond Rust, `--peers a,b` all but these.
fn contenders(args: &mut Args) -> Result<Vec<String>, Failure> {
    let mut words = Vec::new();
    if args.flag("--no-foreign") {
        words.push("--no-foreign".to_owned());
    }
    if let Some(peers) = args.option("--peers")? {
        words.extend(["--peers".to_owned(), peers]);
    }
    Ok(words)
}

fn forwarded(quick: bool, json: &str, contenders: &[String], workloads: &[String]) -> Vec<String> {
    let mut words = vec!["all".to_owned()];
    if quick {
        words.push("--quick".to_owned());
    }
    words.extend(["--json".to_owned(), json.to_owned()]);
    words.extend_from_slice(contenders);
    if is_full(quick, contenders, workloads) {
        words.extend(["--svg".to_owned(), CHART.to_owned()]);
    }
    words.extend_from_slice(workloads);
    words
}

fn is_full(quick: bool, contenders: &[String], workloads: &[String]) -> bool {
    !quick && contenders.is_empty() && workloads.is_empty()
}

fn create(directory: &Path) -> Outcome {
    fs::create_dir_all(directory)
        .map_err(|error| Failure::Failed(format!("cannot create {}: {error}", directory.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_simulator_is_measured_when_it_is_named() {
        assert!(needs_simulator(&["tell".to_owned(), "sim-ping".to_owned()]));
        assert!(!needs_simulator(&["tell".to_owned()]));
        assert!(!needs_simulator(&[]));
    }

    #[test]
    fn only_a_full_run_redraws_the_chart() {
        let (tell, two) = (["tell".to_owned()], ["--peers".to_owned(), "volary,goakt".to_owned()]);
        let line = |quick, contenders: &[String], workloads: &[String]| {
            forwarded(quick, "b.json", contenders, workloads).join(" ")
        };
        assert_eq!(line(false, &[], &[]), "all --json b.json --svg docs/bench.svg");
        assert_eq!(line(true, &[], &[]), "all --quick --json b.json");
        assert_eq!(line(false, &[], &tell), "all --json b.json tell");
        assert_eq!(line(false, &two, &[]), "all --json b.json --peers volary,goakt");
    }

    #[test]
    fn contenders_are_left_out_by_name_and_by_kind() {
        let mut args = Args::new(["--no-foreign", "--peers=volary,kameo"].map(str::to_owned).to_vec());
        let words = contenders(&mut args).expect("both are known");
        assert_eq!(words.join(" "), "--no-foreign --peers volary,kameo");
        assert_eq!(args.positional(), Ok(Vec::new()));
    }
}
