//! `test`: every test of the workspace but the measurements, with all features, doc tests included.
//!
//! It ends with the plain line `N passed, N failed, N skipped`. A test that finds something missing on this machine
//! writes `skipped: NAME: reason` straight to `std::io::stdout()` and returns: it is then counted as skipped, not as
//! passed, and named in the summary like an ignored one.

use crate::args::Args;
use crate::failure::Outcome;
use crate::invocation::Invocation;
use crate::libtest;
use crate::workspace;

pub(crate) fn run(args: Args) -> Outcome {
    let call = Invocation::cargo(["test", "--no-fail-fast", "--all-features"])
        .args(workspace::all_but_bench())
        .args(args.rest());
    libtest::run("tests", call)
}
