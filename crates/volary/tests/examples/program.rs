//! An example as a program: found or built, run to its end, and heard.
//!
//! `cargo test --workspace` has built them when this runs. `cargo test --test examples` has not, so what is missing or
//! older than its sources is built here.

use std::collections::BTreeSet;
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

/// The folder of a package of the workspace.
fn folder(package: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(package)
}

pub(crate) fn program(package: &str, name: &str) -> PathBuf {
    // This binary is target/PROFILE/deps/examples-HASH.
    let own = std::env::current_exe().unwrap();
    let profile = own.parent().unwrap().parent().unwrap();
    let program = profile
        .join("examples")
        .join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    let below = ["volary", "volary-core", "volary-macros", "volary-remote", "volary-wire"];
    let sources = below.into_iter().chain([package]);
    let sources = sources.map(|source| folder(source).join("src"));
    let file = folder(package).join(format!("examples/{name}.rs"));
    let own_source = if file.exists() {
        file
    } else {
        folder(package).join("examples").join(name)
    };
    let newest_source = sources
        .map(|source| newest(&source))
        .fold(newest(&own_source), SystemTime::max);
    let _one = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    if !program.exists() || newest(&program) < newest_source {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "-p", package, "--example", name, "--target-dir"]);
        cargo.arg(profile.parent().unwrap()).current_dir(folder(package));
        if cfg!(feature = "cron") || package != "volary" {
            cargo.arg("--all-features");
        } else if cfg!(feature = "remote-tls") {
            cargo.args(["--features", "remote-tls,postcard"]);
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
pub(crate) fn run(package: &str, name: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(program(package, name));
    command.args(arguments);
    run_command(name, command)
}

pub(crate) fn run_command(name: &str, mut command: Command) -> String {
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

pub(crate) fn assert_says(said: &str, line: &str) {
    assert!(
        said.lines().any(|said| said.contains(line)),
        "no line with {line:?} in\n{said}"
    );
}

/// Every example of every crate, as `(package, name)`.
pub(crate) fn all() -> BTreeSet<(String, String)> {
    let named = |path: PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
    let entries = |folder: PathBuf| {
        folder
            .read_dir()
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().path())
    };
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut all = BTreeSet::new();
    for package in entries(crates.to_owned()) {
        for example in entries(package.join("examples")) {
            all.insert((named(package.clone()), named(example)));
        }
    }
    all
}
