//! Contenders that are programs of their own: those that are not written in Rust, and those in Rust whose remoting would
//! change how they work within one process. Each is a small program of ours in `bench/peers/`, built by its own toolchain
//! into `bench/target/`, and then run like everybody else: a process per measurement that is given the workload and its
//! sizes and prints one line of JSON. Where the toolchain is missing, or the
//! build fails because its dependencies cannot be had, the peer is skipped, and that is said aloud.

mod erlang;
mod goakt;
mod pekko;
mod rust;
mod toolchain;

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::child;
use crate::contender::Role;
use crate::workloads::Workload;

/// How long a build may take; the first one downloads.
const BUILD_LIMIT: Duration = Duration::from_secs(1_800);
/// How long the question what is offered may take.
const LIST_LIMIT: Duration = Duration::from_secs(30);

/// How one of them is built and started.
struct Harness {
    /// Its name in the tables.
    name: &'static str,
    /// What it is compared as.
    role: Role,
    /// Its folder in `bench/peers/`.
    folder: &'static str,
    /// What it is there for.
    scope: Scope,
    /// How many operations it is given.
    share: Share,
    /// The programs it takes.
    tools: &'static [&'static str],
    /// The command that builds it, to be run where its source is.
    build: fn(&Place) -> Command,
    /// The command that runs it, its arguments still to come.
    launch: fn(&Place) -> Command,
}

/// The workloads for which one of them is built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// All; it is not written in Rust.
    BeyondRust,
    /// Those between two processes; within one it is a contender of this program.
    BetweenProcesses,
}

/// How many of a workload's operations one is given. Rates and latencies are compared, so it may be fewer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Share {
    /// As many as everybody.
    Full,
    /// Those of a quick run: the full ones would take it minutes.
    Quick,
}

const HARNESSES: &[Harness] = &[
    rust::TONIC,
    rust::KAMEO,
    rust::RACTOR,
    goakt::HARNESS,
    pekko::HARNESS,
    erlang::HARNESS,
];

/// Where the source of one is, and where what is built goes.
struct Place {
    source: PathBuf,
    output: PathBuf,
}

impl Place {
    fn of(folder: &str) -> Self {
        let bench = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        Self {
            source: bench.join("peers").join(folder),
            output: bench.join("target/peers").join(folder),
        }
    }
}

/// Why one of them does not take part.
enum Absence {
    /// There is no such program.
    NoTool(&'static str),
    /// It could not be built, or did not say what it offers.
    Unusable(String),
}

impl fmt::Display for Absence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTool(tool) => write!(f, "no `{tool}` on the PATH"),
            Self::Unusable(reason) => f.write_str(reason),
        }
    }
}

/// A peer that is built and can run.
pub struct Foreign {
    harness: &'static Harness,
    place: Place,
    offered: BTreeSet<String>,
}

impl Foreign {
    /// Its name in the tables.
    pub fn name(&self) -> &'static str {
        self.harness.name
    }

    /// What it is compared as.
    pub fn role(&self) -> Role {
        self.harness.role
    }

    /// Whether it has a program for the workload.
    pub fn offers(&self, workload: &str) -> bool {
        self.offered.contains(workload)
    }

    /// The process that measures `workload`.
    pub fn command(&self, workload: &Workload, quick: bool) -> Command {
        let ops = workload.case(quick || self.harness.share == Share::Quick, None).ops;
        let mut command = (self.harness.launch)(&self.place);
        command.args(["run", workload.name]);
        for (option, count) in [
            ("--ops", ops),
            ("--operations", workload.operations(ops)),
            ("--warm-up", workload.warm_up(ops)),
            ("--counted", workload.counted(ops)),
        ] {
            command.args([option, &count.to_string()]);
        }
        command
    }
}

/// Whether `name` is one of them, here or not.
pub fn is_known(name: &str) -> bool {
    HARNESSES.iter().any(|harness| harness.name == name)
}

/// Builds those that are `wanted` and can be built, and says which are skipped, and why.
pub fn prepare(wanted: impl Fn(&str, Scope) -> bool) -> Vec<Foreign> {
    let mut ready = Vec::new();
    for harness in HARNESSES.iter().filter(|harness| wanted(harness.name, harness.scope)) {
        match build(harness) {
            Ok(foreign) => ready.push(foreign),
            Err(absence) => println!("skipped: {} ({absence})", harness.name),
        }
    }
    ready
}

fn build(harness: &'static Harness) -> Result<Foreign, Absence> {
    if let Some(tool) = toolchain::missing(harness.tools) {
        return Err(Absence::NoTool(tool));
    }
    let place = Place::of(harness.folder);
    let unusable = |step: &str, reason: String| Absence::Unusable(format!("{step}: {reason}"));
    std::fs::create_dir_all(&place.output).map_err(|error| unusable("output", error.to_string()))?;
    let mut command = (harness.build)(&place);
    command.current_dir(&place.source);
    // What compilers say goes to stderr: stdout is for the tables.
    command.stderr(Stdio::inherit());
    let said = |failure: child::Failure| {
        eprint!("{}", failure.output);
        failure.reason
    };
    eprintln!("building {} …", harness.name);
    child::output(command, BUILD_LIMIT).map_err(|failure| unusable("build", said(failure)))?;
    let mut list = (harness.launch)(&place);
    list.arg("list").stderr(Stdio::inherit());
    let offered = child::output(list, LIST_LIMIT).map_err(|failure| unusable("list", said(failure)))?;
    Ok(Foreign {
        harness,
        place,
        offered: offered.lines().map(str::to_owned).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads;

    fn foreign(offered: &[&str]) -> Foreign {
        Foreign {
            harness: &goakt::HARNESS,
            place: Place::of("goakt"),
            offered: offered.iter().map(|&name| name.to_owned()).collect(),
        }
    }

    #[test]
    fn sizes_are_handed_over_as_arguments() {
        let peer = foreign(&["skynet"]);
        let skynet = workloads::find("skynet").expect("skynet");
        let command = peer.command(skynet, true);
        let words: Vec<_> = command.get_args().filter_map(|word| word.to_str()).collect();
        assert_eq!(
            words.join(" "),
            "run skynet --ops 10000 --operations 11111 --warm-up 1000 --counted 1000"
        );
        assert!(peer.offers("skynet") && !peer.offers("tell"));
    }

    #[test]
    fn what_is_missing_is_named() {
        assert!(toolchain::missing(&["cargo"]).is_none());
        let missing = toolchain::missing(&["cargo", "no-such-compiler"]).expect("it is missing");
        assert_eq!(
            Absence::NoTool(missing).to_string(),
            "no `no-such-compiler` on the PATH"
        );
    }

    #[test]
    fn names_are_those_of_the_design() {
        for name in ["goakt", "pekko", "erlang", "tonic"] {
            assert!(is_known(name));
        }
        assert!(!is_known("volary"));
    }

    #[test]
    fn a_build_that_fails_is_an_absence() {
        const BROKEN: Harness = Harness {
            name: "goakt",
            role: Role::ForeignPeer,
            folder: "goakt",
            scope: Scope::BeyondRust,
            share: Share::Full,
            tools: &[],
            build: |_| Command::new("false"),
            launch: |_| Command::new("false"),
        };
        let absence = build(&BROKEN).err().expect("it cannot be built");
        assert!(absence.to_string().starts_with("build: "), "{absence}");
    }
}
