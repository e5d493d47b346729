//! `soak`: random spawns, messages, stops and panics; in the end every message must be accounted for. With
//! `--reconnects`, ten thousand connections between processes that come and go, after which nothing may be left.

use crate::args::Args;
use crate::failure::Outcome;
use crate::invocation::Invocation;

const DEFAULT_SECONDS: u64 = 60;
const RECONNECTS: &str = "10000";

pub(crate) fn run(mut args: Args) -> Outcome {
    if args.flag("--reconnects") {
        return reconnects(args);
    }
    let seconds = args.number("--seconds")?.unwrap_or(DEFAULT_SECONDS);
    args.nothing()?;
    Invocation::example("volary", "soak", ["--seconds", &seconds.to_string()]).run("soak")
}

fn reconnects(args: Args) -> Outcome {
    args.nothing()?;
    Invocation::cargo(["test", "-p", "volary-remote", "--all-features", "--test", "trouble"])
        .args(["reconnects::", "--", "--nocapture"])
        .env("VOLARY_RECONNECTS", RECONNECTS)
        .run("reconnects")
}
