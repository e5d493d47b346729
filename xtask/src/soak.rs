//! `soak`: random spawns, messages, stops and panics; in the end every message must be accounted for.

use crate::args::Args;
use crate::failure::Outcome;
use crate::invocation::Invocation;

const DEFAULT_SECONDS: u64 = 60;

pub(crate) fn run(mut args: Args) -> Outcome {
    let seconds = args.number("--seconds")?.unwrap_or(DEFAULT_SECONDS);
    args.nothing()?;
    Invocation::example("volary", "soak", ["--seconds", &seconds.to_string()]).run("soak")
}
