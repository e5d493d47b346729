//! Seeded scenarios on virtual time: one thread, one seed, and the same run every time.
//!
//! `cargo xtask sim [--seeds N] [--seed S] [SCENARIO]`
//!
//! With `--seed` one run is shown: stdout is its trace, to the letter the same for the same seed, and ends with a
//! hash. Without it, seeds 0 to N are run, every tenth twice to compare the hashes. Wall-clock figures go to stderr.

mod runtime;
mod trace;

use std::process::ExitCode;
use std::time::Instant;

use trace::Run;

const DEFAULT_SEEDS: u64 = 1_000;
const TWICE_EVERY: u64 = 10;

/// A scenario runs one seed and says what happened and what was wrong.
type Scenario = fn(u64) -> Run;
const SCENARIOS: &[(&str, Scenario)] = &[("runtime", runtime::run)];

struct Options {
    name: &'static str,
    scenario: Scenario,
    seed: Option<u64>,
    seeds: u64,
}

fn main() -> ExitCode {
    let options = match options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(mistake) => {
            eprintln!("sim: {mistake}");
            return ExitCode::from(2);
        }
    };
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if info.payload_as_str() != Some(runtime::PANIC) {
            default(info);
        }
    }));
    let began = Instant::now();
    let good = match options.seed {
        Some(seed) => show(&options, seed),
        None => sweep(&options),
    };
    eprintln!("took {:.2?}", began.elapsed());
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn options(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
    let (name, scenario) = SCENARIOS[0];
    let mut options = Options {
        name,
        scenario,
        seed: None,
        seeds: DEFAULT_SEEDS,
    };
    while let Some(arg) = args.next() {
        let mut number = || {
            let value = args.next().unwrap_or_else(|| "nothing".to_owned());
            value
                .parse::<u64>()
                .map_err(|_| format!("{arg} needs a number, not `{value}`"))
        };
        match arg.as_str() {
            "--seed" => options.seed = Some(number()?),
            "--seeds" => options.seeds = number()?,
            name => match SCENARIOS.iter().find(|(known, _)| *known == name) {
                Some((name, scenario)) => (options.name, options.scenario) = (name, *scenario),
                None if name.starts_with('-') => {
                    return Err(format!("no option `{name}`; there are --seeds N and --seed S"));
                }
                None => {
                    let known: Vec<_> = SCENARIOS.iter().map(|(name, _)| *name).collect();
                    return Err(format!("no scenario `{name}`; there are: {}", known.join(", ")));
                }
            },
        }
    }
    Ok(options)
}

/// Each run has a thread of its own, so that it sees nothing that another has left behind and a replay is the same
/// run. One that panics, as a deadlock does, went wrong.
fn run(scenario: Scenario, seed: u64) -> Run {
    let ended = std::thread::spawn(move || scenario(seed)).join();
    ended.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        let wrong = vec![format!("panicked: {}", text.unwrap_or("without a text"))];
        Run {
            lines: Vec::new(),
            wrong,
        }
    })
}

fn show(options: &Options, seed: u64) -> bool {
    println!("scenario {}, seed {seed}", options.name);
    let run = run(options.scenario, seed);
    run.lines.iter().for_each(|line| println!("{line}"));
    run.wrong.iter().for_each(|wrong| println!("WRONG: {wrong}"));
    println!("hash {:016x}", run.hash());
    run.wrong.is_empty()
}

fn sweep(options: &Options) -> bool {
    let mut failed = 0;
    for seed in 0..options.seeds {
        let mut first = run(options.scenario, seed);
        if seed % TWICE_EVERY == 0 {
            let second = run(options.scenario, seed);
            if let Some(at) = first.differs_from(&second) {
                first
                    .wrong
                    .push(format!("two runs of the same seed differ from line {at} on"));
            }
        }
        if !first.wrong.is_empty() {
            failed += 1;
            first.wrong.iter().for_each(|wrong| println!("seed {seed}: {wrong}"));
            println!("  replay: cargo xtask sim --seed {seed} {}", options.name);
        }
    }
    println!("scenario {}: {} seeds, {failed} failed", options.name, options.seeds);
    failed == 0
}
