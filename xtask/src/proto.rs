//! `proto`: the Rust code of the protobuf schemas, as it is committed.
//!
//! The generator is a workspace of its own, built only when a schema has changed. That one has is seen by the step
//! `schemas` of `check`, which needs nothing but the files.

use crate::args::Args;
use crate::failure::Outcome;
use crate::invocation::Invocation;
use crate::workspace::{self, PROTOGEN_MANIFEST};

pub(crate) fn run(mut args: Args) -> Outcome {
    let check = args.flag("--check");
    args.nothing()?;
    // Locked: a later prost may write other code.
    let mut call = Invocation::cargo(["run", "--quiet", "--locked", "--manifest-path", PROTOGEN_MANIFEST])
        .arg("--target-dir")
        .arg(workspace::target_dir().join("protogen"));
    if check {
        call = call.args(["--", "--check"]);
    }
    call.run("proto")
}
