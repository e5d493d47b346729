//! `check`: everything that must hold before a change is merged, cheapest first; the first failure ends it.

mod book;
mod features;
mod files;
mod laws;
mod licences;
mod rust_text;
mod schemas;
mod spdx;
mod test_code;

use std::time::Instant;

use crate::args::Args;
use crate::failure::{Failure, Outcome};
use crate::invocation::{Invocation, Step, in_words};
use crate::nearest::nearest;
use crate::workspace::{self, BENCH_MANIFEST};

type Check = fn() -> Outcome;

/// The name of each step, in order, and what runs it.
const STEPS: &[(&str, Check)] = &[
    ("format", format),
    ("files", || timed("files", "no local paths, no giants", files::check)),
    ("book", || {
        timed(
            "book",
            "every chapter in the summary, and its programs run",
            book::check,
        )
    }),
    ("laws", || {
        timed("laws", "unsafe in its places, the environment injected", laws::check)
    }),
    ("schemas", || {
        timed(
            "schemas",
            "generated code of the schemas that are there",
            schemas::check,
        )
    }),
    ("licences", || {
        timed("licences", "every dependency against the allow-list", licences::check)
    }),
    ("clippy", clippy),
    ("docs", docs),
    ("features", features::check),
];

pub(crate) fn run(mut args: Args) -> Outcome {
    let bench = args.flag("--bench");
    let wanted = args.positional()?;
    if let Some(unknown) = wanted.iter().find(|name| !is_step(name)) {
        return Err(Failure::Usage(unknown_step(unknown)));
    }
    let begun = Instant::now();
    for (name, step) in STEPS {
        if wanted.is_empty() || wanted.iter().any(|wanted| wanted == name) {
            step()?;
        }
    }
    if bench {
        clippy_bench()?;
    }
    eprintln!("\nall in order, in {}", in_words(begun.elapsed()));
    Ok(())
}

fn is_step(name: &str) -> bool {
    STEPS.iter().any(|(step, _)| *step == name)
}

fn unknown_step(name: &str) -> String {
    let names: Vec<&str> = STEPS.iter().map(|(step, _)| *step).collect();
    match nearest(name, names.iter().copied()) {
        Some(close) => format!("no step `{name}`; did you mean `{close}`?"),
        None => format!("no step `{name}`; there are: {}", names.join(", ")),
    }
}

fn timed(title: &str, detail: &str, check: Check) -> Outcome {
    let step = Step::begin(title, detail);
    let outcome = check();
    step.end(&outcome);
    outcome
}

fn format() -> Outcome {
    Invocation::cargo(["fmt", "--all", "--check"]).run("format")
}

fn clippy() -> Outcome {
    let lint = || Invocation::cargo(["clippy", "--all-targets"]).args(workspace::all_but_bench());
    let strictly = ["--", "-D", "warnings"];
    lint().args(strictly).run("clippy")?;
    lint().arg("--all-features").args(strictly).run("clippy, all features")
}

fn clippy_bench() -> Outcome {
    Invocation::cargo([
        "clippy",
        "--all-targets",
        "--manifest-path",
        BENCH_MANIFEST,
        "--",
        "-D",
        "warnings",
    ])
    .run("clippy, bench")
}

fn docs() -> Outcome {
    Invocation::cargo(["doc", "--no-deps", "--all-features"])
        .args(workspace::all_but_bench())
        .env_append("RUSTDOCFLAGS", "-D warnings")
        .run("docs")
}

/// Fails with `findings`, one to a line, unless there are none.
fn none_of(findings: Vec<String>, what: &str) -> Outcome {
    if findings.is_empty() {
        return Ok(());
    }
    Err(Failure::Failed(format!("{what}:\n  {}", findings.join("\n  "))))
}
