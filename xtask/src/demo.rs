//! `demo`: the main job with nothing to install.

use crate::args::Args;
use crate::failure::Outcome;
use crate::invocation::Invocation;

pub(crate) fn run(args: Args) -> Outcome {
    let features = ["--features", "remote,postcard"];
    Invocation::example_with(features, "volary", "bank", args.rest()).run("bank")
}
