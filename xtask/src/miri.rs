//! `miri`: the tests named `miri_…` of the core under Miri, once with stacked and once with tree borrows.
//!
//! Miri lives in the nightly toolchain, so these calls go through rustup instead of the cargo that runs us; `CARGO`
//! is removed from their environment because it would lead the nightly back to this one.

use std::env;

use crate::args::Args;
use crate::failure::{Failure, Outcome};
use crate::invocation::Invocation;
use crate::libtest;

/// Strict provenance, so that no pointer is made of an integer. Weak memory is loom's part: Miri's
/// emulation of it ends in an internal error of the compiler on these tests.
const DEFAULT_FLAGS: &str = "-Zmiri-disable-isolation -Zmiri-strict-provenance -Zmiri-disable-weak-memory-emulation";

pub(crate) fn run(args: Args) -> Outcome {
    let filter = args.at_most_one()?.unwrap_or_else(|| "miri_".to_owned());
    ensure_installed()?;
    let flags = env::var("MIRIFLAGS").unwrap_or_else(|_| DEFAULT_FLAGS.to_owned());
    let passes = [
        ("miri, stacked borrows", flags.clone()),
        ("miri, tree borrows", format!("{flags} -Zmiri-tree-borrows")),
    ];
    for (title, flags) in passes {
        let call = nightly(["miri", "test", "-p", "volary-core", "--lib", &filter]).env("MIRIFLAGS", flags.trim());
        libtest::run(title, call)?;
    }
    Ok(())
}

fn nightly<const N: usize>(args: [&str; N]) -> Invocation {
    Invocation::new("rustup")
        .args(["run", "nightly", "cargo"])
        .args(args)
        .env_remove("CARGO")
}

fn ensure_installed() -> Outcome {
    let missing = |what: &str, install: &str| {
        Err(Failure::Missing(format!(
            "{what} is not installed; install it with\n  {install}"
        )))
    };
    if !Invocation::new("rustup").arg("--version").succeeds() {
        return missing("rustup, which provides the nightly toolchain,", "https://rustup.rs");
    }
    if !nightly(["--version"]).succeeds() {
        return missing(
            "the nightly toolchain",
            "rustup toolchain install nightly --component miri,rust-src",
        );
    }
    if !nightly(["miri", "--version"]).succeeds() {
        return missing(
            "the miri component of the nightly toolchain",
            "rustup component add --toolchain nightly miri rust-src",
        );
    }
    Ok(())
}
