//! `test`: every test of the workspace but the measurements, with all features, doc tests included.
//!
//! It ends with the plain line `N passed, N failed, N skipped`. A test that finds something missing on this machine
//! writes `skipped: NAME: reason` straight to `std::io::stdout()` and returns: it is then counted as skipped, not as
//! passed, and named in the summary like an ignored one.
//!
//! Test binaries are always built to unwind. What a program that aborts on panic meets is seen by running an example
//! built that way, which counts as one more test. With arguments, which choose among the tests, it is left out.
//!
//! `--axum` runs the tests of the HTTP service in `examples/axum-service` instead, whose dependencies nobody else needs.

use std::env::consts::EXE_SUFFIX;

use crate::args::Args;
use crate::failure::{Failure, Outcome};
use crate::invocation::Invocation;
use crate::libtest::{self, Report};
use crate::workspace::{self, AXUM_MANIFEST};

/// What the refusal says.
const REFUSAL: &str = "this program is built with `panic = \"abort\"`";

pub(crate) fn run(mut args: Args) -> Outcome {
    if args.flag("--axum") {
        return axum(args);
    }
    let words = args.rest();
    let all = words.is_empty();
    let call = Invocation::cargo(["test", "--no-fail-fast", "--all-features"])
        .args(workspace::all_but_bench())
        .args(words);
    let mut report = Report::default();
    report.binaries("tests", call);
    if all {
        report.single("s11_a_program_that_aborts_on_panic_is_refused", refused_under_abort);
    }
    report.finish()
}

fn axum(args: Args) -> Outcome {
    let target = workspace::target_dir().join("axum");
    let call = Invocation::cargo([
        "test",
        "--no-fail-fast",
        "--manifest-path",
        AXUM_MANIFEST,
        "--target-dir",
    ])
    .arg(target)
    .args(args.rest());
    libtest::run("the HTTP service", call)
}

fn refused_under_abort() -> Outcome {
    let target = workspace::target_dir().join("abort");
    Invocation::cargo(["build", "--profile", "abort", "-p", "volary", "--example", "hello"])
        .arg("--target-dir")
        .arg(workspace::relative(&target))
        .run("a program that aborts on panic")?;
    let program = target.join("abort").join("examples").join(format!("hello{EXE_SUFFIX}"));
    let said = Invocation::new(program)
        .env_remove("VOLARY_ALLOW_PANIC_ABORT")
        .complaint()?;
    if said.contains(REFUSAL) {
        Ok(())
    } else {
        Err(Failure::Failed(format!("it ended without a clear refusal:\n{said}")))
    }
}
