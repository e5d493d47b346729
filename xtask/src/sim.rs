//! `sim`: the project's scenarios in the simulator of the testkit, all of them or one. Stdout is the scenario's alone, so that two runs can be compared.

use crate::args::Args;
use crate::failure::Outcome;
use crate::invocation::Invocation;
use crate::workspace::{self, RAFT_MANIFEST};

pub(crate) fn run(mut args: Args) -> Outcome {
    if args.flag("--raft") {
        return raft(args);
    }
    let mut handed_on = Vec::new();
    if let Some(seeds) = args.number("--seeds")? {
        handed_on.extend(["--seeds".to_owned(), seeds.to_string()]);
    }
    if let Some(seed) = args.option("--seed")? {
        handed_on.extend(["--seed".to_owned(), seed]);
    }
    handed_on.extend(args.at_most_one()?);
    Invocation::example_with(["--features", "remote"], "volary-testkit", "sim", handed_on).run("simulator")
}

/// openraft, a library with static runtime hooks, in the simulator.
fn raft(mut args: Args) -> Outcome {
    let seed = args.option("--seed")?;
    args.nothing()?;
    let target = workspace::target_dir().join("raft");
    let call = Invocation::cargo(["test", "--manifest-path", RAFT_MANIFEST, "--target-dir"]).arg(target);
    match seed {
        Some(seed) => call.env("VOLARY_SEED", &seed).run("openraft"),
        None => call.run("openraft"),
    }
}
