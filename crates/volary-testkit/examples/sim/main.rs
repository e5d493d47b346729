//! The project's own scenarios in the simulator: one thread, one seed, and the same run every time.
//!
//! `cargo xtask sim [--seeds N] [--seed S] [SCENARIO]`
//!
//! With `--seed` one run is shown: stdout is its trace, to the letter the same for the same seed, and ends with a hash.
//! Without it, the seeds from 0 to N are run, one in ten of them twice. Without a scenario, all of them are. Wall-clock figures
//! go to stderr.

mod disk;
mod network;
mod remoting;
mod runtime;
mod streams;

use std::process::ExitCode;
use std::time::Instant;

use volary_testkit::sim::{Check, FailedRun, Story, Summary};

const DEFAULT_SEEDS: u64 = 1_000;
const TWICE_EVERY: u64 = 10;

struct Scenario {
    name: &'static str,
    search: fn(Check) -> Result<Summary, FailedRun>,
    story: fn(&Check, u64) -> Story,
}

macro_rules! scenarios {
    ($($name:ident),*) => {
        [$(Scenario {
            name: stringify!($name),
            search: |check| check.run($name::run),
            story: |check, seed| check.story(seed, $name::run),
        }),*]
    };
}

static SCENARIOS: [Scenario; 5] = scenarios!(runtime, network, disk, streams, remoting);

struct Options {
    scenarios: Vec<&'static Scenario>,
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
    let mut good = true;
    for scenario in &options.scenarios {
        let began = Instant::now();
        good &= match options.seed {
            Some(seed) => show(scenario, seed),
            None => search(scenario, options.seeds),
        };
        eprintln!("{} took {:.2?}", scenario.name, began.elapsed());
    }
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn options(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        scenarios: SCENARIOS.iter().collect(),
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
            name => match SCENARIOS.iter().find(|known| known.name == name) {
                Some(scenario) => options.scenarios = vec![scenario],
                None if name.starts_with('-') => {
                    return Err(format!("no option `{name}`; there are --seeds N and --seed S"));
                }
                None => {
                    let known: Vec<_> = SCENARIOS.iter().map(|known| known.name).collect();
                    return Err(format!("no scenario `{name}`; there are: {}", known.join(", ")));
                }
            },
        }
    }
    Ok(options)
}

fn check() -> Check {
    Check::new().twice_every(TWICE_EVERY)
}

fn show(scenario: &Scenario, seed: u64) -> bool {
    println!("scenario {}, seed {seed}", scenario.name);
    let story = (scenario.story)(&check(), seed);
    print!("{}", story.timeline);
    if let Some(why) = &story.why {
        println!("WRONG: {why}");
    }
    println!("hash {:016x}", story.hash);
    story.why.is_none()
}

fn search(scenario: &Scenario, seeds: u64) -> bool {
    match (scenario.search)(check().seeds(seeds)) {
        Ok(summary) => println!("scenario {}: {summary}", scenario.name),
        Err(failed) => {
            println!("scenario {}: {failed}", scenario.name);
            println!("  replay: cargo xtask sim --seed {} {}", failed.seed(), scenario.name);
            return false;
        }
    }
    true
}
