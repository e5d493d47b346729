//! `loom`: the tests named `loom_…` of the core, over every interleaving within a preemption bound.

use crate::args::Args;
use crate::failure::Outcome;
use crate::invocation::Invocation;
use crate::libtest;
use crate::workspace;

const DEFAULT_PREEMPTIONS: &str = "3";

pub(crate) fn run(args: Args) -> Outcome {
    let filter = args.at_most_one()?.unwrap_or_else(|| "loom_".to_owned());
    let target = workspace::target_dir().join("loom");
    let call = Invocation::cargo(["test", "-p", "volary-core", "--lib", "--release", "--target-dir"])
        .arg(workspace::relative(&target))
        .arg(filter)
        .env_append("RUSTFLAGS", "--cfg volary_loom")
        .env_default("LOOM_MAX_PREEMPTIONS", DEFAULT_PREEMPTIONS);
    libtest::run("loom", call)
}
