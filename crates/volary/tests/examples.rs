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
    let sources = ["volary", "volary-core", "volary-macros", "volary-remote", "volary-wire"];
    let sources = sources.map(|source| crates.join(source).join("src"));
    let file = package.join(format!("examples/{name}.rs"));
    let own_source = if file.exists() {
        file
    } else {
        package.join("examples").join(name)
    };
    let newest_source = sources
        .iter()
        .map(|source| newest(source))
        .fold(newest(&own_source), SystemTime::max);
    let _one = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    if !program.exists() || newest(&program) < newest_source {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "-p", "volary", "--example", name, "--target-dir"]);
        cargo.arg(profile.parent().unwrap()).current_dir(package);
        if cfg!(feature = "cron") {
            cargo.arg("--all-features");
        } else if cfg!(feature = "remote") {
            cargo.args(["--features", "remote,postcard"]);
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
    command.args(arguments);
    run_command(name, command)
}

fn run_command(name: &str, mut command: Command) -> String {
    command.stdin(Stdio::null());
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

#[cfg(all(feature = "remote", feature = "postcard"))]
mod remote {
    use super::*;

    #[test]
    fn example_chat_two_nodes_both_hear_every_line() {
        let said = run("chat_two_nodes", &[]);
        assert_says(&said, "ada hears bob:");
        assert_says(&said, "bob hears ada:");
        assert_says(&said, "both have heard all 6 lines");
    }

    #[test]
    fn example_worker_pool_shares_the_work_among_processes() {
        let said = run("worker_pool", &[]);
        assert_says(&said, "17984 primes below 200000");
        assert_says(&said, "every worker has done its part");
    }

    #[test]
    fn example_bank_conserves_money_over_two_processes() {
        let said = run("bank", &["--accounts", "1000", "--seconds", "2"]);
        assert_says(&said, "a second process joins in");
        assert_says(&said, "money is conserved");
    }

    /// In a network of its own, whose loopback is down.
    #[test]
    fn example_bank_goes_on_alone_where_no_socket_reaches_another() {
        let apart = ["--user", "--map-root-user", "--net"];
        let possible = Command::new("unshare").args(apart).arg("true").output();
        if !possible.is_ok_and(|output| output.status.success()) {
            eprintln!("skipped: this machine gives no network of one's own");
            return;
        }
        let mut command = Command::new("unshare");
        command.args(apart).arg(program("bank"));
        command.args(["--accounts", "1000", "--seconds", "1"]);
        let said = run_command("bank", command);
        assert_says(&said, "the bank goes on alone");
        assert_says(&said, "money is conserved");
    }
}
