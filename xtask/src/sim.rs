//! `sim`: seeded scenarios on virtual time. Stdout is the scenario's alone, so that two runs can be compared.

use crate::args::Args;
use crate::failure::Outcome;
use crate::invocation::Invocation;

pub(crate) fn run(mut args: Args) -> Outcome {
    let mut handed_on = Vec::new();
    if let Some(seeds) = args.number("--seeds")? {
        handed_on.extend(["--seeds".to_owned(), seeds.to_string()]);
    }
    if let Some(seed) = args.option("--seed")? {
        handed_on.extend(["--seed".to_owned(), seed]);
    }
    handed_on.extend(args.at_most_one()?);
    Invocation::example("sim", handed_on).run("simulator")
}
