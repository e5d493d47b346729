//! The examples that check their own result, run as the programs they are.
//!
//! `cargo test` has built them when this runs. `cargo test --test examples` has not, so what is missing or older than
//! its sources is built here.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

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

fn program(name: &str) -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    // This binary is target/PROFILE/deps/examples-HASH.
    let own = std::env::current_exe().unwrap();
    let profile = own.parent().unwrap().parent().unwrap();
    let program = profile
        .join("examples")
        .join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    let crates = package.parent().unwrap();
    let sources = ["volary/src", "volary-core/src", "volary-macros/src"].map(|source| crates.join(source));
    let newest_source = sources
        .iter()
        .map(|source| newest(source))
        .fold(newest(&package.join(format!("examples/{name}.rs"))), SystemTime::max);
    let _one = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    if !program.exists() || newest(&program) < newest_source {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "-p", "volary", "--example", name, "--target-dir"]);
        cargo.arg(profile.parent().unwrap()).current_dir(package);
        if cfg!(feature = "cron") {
            cargo.arg("--all-features");
        }
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
    let (send, receive) = mpsc::channel();
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let id = child.id();
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

fn assert_says(said: &str, line: &str) {
    assert!(
        said.lines().any(|said| said.contains(line)),
        "no line with {line:?} in\n{said}"
    );
}

#[test]
fn example_chat_room_accounts_for_every_line() {
    let said = run("chat_room", &[]);
    assert_says(&said, "of 50 lines Bob got 50");
    assert_says(&said, "every line is accounted for");
}

#[test]
fn example_rate_limiter_lets_the_burst_pass_and_no_more() {
    let said = run("rate_limiter", &[]);
    assert_says(&said, "ada: come again in");
    assert_says(&said, "2 of 2 clients sleep");
    assert_says(&said, "5 requests pass, then: too many requests");
    assert_says(&said, "all as it should be");
}

#[test]
fn example_job_queue_balances() {
    let said = run("job_queue", &[]);
    assert_says(&said, "490 done, 10 parked after 4 attempts each");
    assert_says(&said, "70 attempts were repeated, 10 workers crashed");
    assert_says(&said, "the counts balance");
}

#[test]
fn example_iot_fleet_loses_no_reading_and_bounds_those_awake() {
    let said = run("iot_fleet", &["10000"]);
    assert_says(&said, "actors/s");
    assert_says(&said, "30000 readings");
    assert_says(&said, "of 10000 are awake, 1000 may be");
    assert_says(&said, "no reading was lost");
}
