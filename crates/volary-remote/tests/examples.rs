//! The examples of this crate, run as the programs they are; those of `volary` are run by its own tests.
//!
//! `cargo test` has built them when this runs. `cargo test --test examples` has not, so what is missing or older than
//! its sources is built here.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that meets an error fails, and runs what it needs"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::{Duration, SystemTime};

/// Longer than any of them takes on a busy machine.
const DEADLINE: Duration = Duration::from_secs(120);

/// One build at a time: cargo would make the others wait anyway.
static BUILDING: Mutex<()> = Mutex::new(());

fn newest(path: &Path) -> SystemTime {
    let own = path.metadata().and_then(|about| about.modified()).unwrap();
    let Ok(entries) = path.read_dir() else { return own };
    entries
        .map(|entry| newest(&entry.unwrap().path()))
        .fold(own, SystemTime::max)
}

/// The features that this test was built with, so that nothing else is built anew.
fn features() -> String {
    let features = [
        ("tls", cfg!(feature = "tls")),
        ("zstd", cfg!(feature = "zstd")),
        ("lz4", cfg!(feature = "lz4")),
        ("gzip", cfg!(feature = "gzip")),
        ("brotli", cfg!(feature = "brotli")),
    ];
    let on = features.iter().filter(|(_, is_on)| *is_on);
    on.map(|(name, _)| *name).collect::<Vec<_>>().join(",")
}

fn program(name: &str) -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    // This binary is target/PROFILE/deps/examples-HASH.
    let own = std::env::current_exe().unwrap();
    let profile = own.parent().unwrap().parent().unwrap();
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let program = profile.join("examples").join(file);
    let crates = package.parent().unwrap();
    let sources = ["volary", "volary-core", "volary-macros", "volary-remote", "volary-wire"];
    let newest_source = sources
        .iter()
        .map(|source| newest(&crates.join(source).join("src")))
        .fold(newest(&package.join(format!("examples/{name}.rs"))), SystemTime::max);
    let _one = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    if !program.exists() || newest(&program) < newest_source {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "-p", "volary-remote", "--example", name]);
        cargo.args(["--features", &features(), "--target-dir"]);
        cargo.arg(profile.parent().unwrap()).current_dir(package);
        if !cfg!(debug_assertions) {
            cargo.arg("--release");
        }
        assert!(cargo.status().unwrap().success(), "{name} does not build");
    }
    program
}

/// Runs an example to its end, and gives what it printed.
fn run(name: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(program(name));
    command.args(arguments).stdin(Stdio::null());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let id = child.id();
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || send.send(child.wait_with_output()));
    let Ok(output) = receive.recv_timeout(DEADLINE) else {
        let _ = Command::new("kill").arg(id.to_string()).status();
        panic!("{name} does not end");
    };
    let Output { status, stdout, stderr } = output.unwrap();
    let (said, complained) = (String::from_utf8(stdout).unwrap(), String::from_utf8_lossy(&stderr));
    assert!(status.success(), "{name}: {status}\n{said}\n{complained}");
    said
}

/// There are such lines, in this order and no others between them.
fn assert_says(said: &str, lines: &[&str]) {
    let all: Vec<&str> = said.lines().collect();
    let fit = |some: &[&str]| some.iter().zip(lines).all(|(said, line)| said.contains(line));
    assert!(all.windows(lines.len()).any(fit), "no lines with {lines:?} in\n{said}");
}

#[cfg(feature = "tls")]
#[test]
fn example_mtls_lets_in_whom_the_company_has_certified_and_nobody_else() {
    let said = run("mtls", &[]);
    assert_says(
        &said,
        &[
            "shop listens at 127.0.0.1:",
            "customer listens at 127.0.0.1:",
            "the till holds 5",
            "the till holds 12",
            "thief listens at 127.0.0.1:",
            "the thief hears nothing: true",
            "because: it does not take the certificate of this node: UnknownCA",
        ],
    );
}

#[test]
fn example_flood_measures_and_loses_nothing() {
    let said = run("flood", &["5000"]);
    assert_says(
        &said,
        &["tell: ", "ask, one at a time: ", "ask, 64 in flight: ", "PeerReading"],
    );
    assert_says(&said, &["unconfirmed: 0, unreachable: 0, busy: 0,"]);
}
