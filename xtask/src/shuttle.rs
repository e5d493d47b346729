//! `shuttle`: the tests named `shuttle_…` of the core, over many random interleavings of the whole dispatcher.

use crate::args::Args;
use crate::failure::Outcome;
use crate::invocation::Invocation;
use crate::libtest;
use crate::workspace;

pub(crate) fn run(mut args: Args) -> Outcome {
    let iterations = args.number("--iterations")?;
    let filter = args.at_most_one()?.unwrap_or_else(|| "shuttle_".to_owned());
    let target = workspace::target_dir().join("shuttle");
    let mut call = Invocation::cargo(["test", "-p", "volary-core", "--lib", "--release", "--target-dir"])
        .arg(workspace::relative(&target))
        .arg(filter)
        .env_append("RUSTFLAGS", "--cfg volary_shuttle");
    if let Some(iterations) = iterations {
        call = call.env("VOLARY_SHUTTLE_ITERATIONS", &iterations.to_string());
    }
    libtest::run("shuttle", call)
}
