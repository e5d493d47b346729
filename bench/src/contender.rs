//! The function table: what a contender is, what it is asked to do and what
//! it hands back. A contender is one row of `CONTENDERS`; a workload it has
//! no function for is listed as "not offered", never run as something else.

use std::process::Command;

use volary_bench_duet::{Record, Remoting, programs, serving};

use crate::histogram::Histogram;
use crate::peers;

/// What a contender is compared as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// The runtime under test.
    Subject,
    /// A Rust actor library.
    ActorPeer,
    /// An actor runtime of another language.
    ForeignPeer,
    /// A line without actors, to see what the mechanism underneath costs.
    Reference,
}

/// One workload at one size.
#[derive(Clone, Debug, Default)]
pub struct Case {
    /// The workload's exact name.
    pub workload: String,
    /// How many operations the timed pass makes.
    pub ops: u64,
    /// Open loop: arrivals per second.
    pub rate: f64,
    /// Open loop: bytes carried by each ask.
    pub payload: usize,
    /// Open loop: how long arrivals last, in seconds.
    pub seconds: f64,
}

/// A set-up workload: runs the given number of operations to completion.
/// Called several times (warm-up, timed, counted) on the same actors.
pub type Pass = Box<dyn FnMut(u64)>;

/// A crowd of actors that sleeps and wakes, told by the harness when, so that
/// it can read the memory of those who sleep.
pub trait Slumber {
    /// Brings `count` actors into being, which are the crowd from now on.
    fn gather(&mut self, count: u64);
    /// Puts the crowd to sleep, to the last one.
    fn sleep(&mut self);
    /// Wakes the crowd, to the last one.
    fn wake(&mut self);
}

/// How a contender runs a workload.
pub enum Bench {
    /// Sets up and returns the repeatable pass; the harness times it.
    Throughput(fn(&Case) -> Pass),
    /// Sets up, plays the arrival schedule and returns the latencies.
    Latency(fn(&Case) -> Histogram),
    /// Sets up; the harness gathers a crowd and times how it sleeps and wakes.
    Slumber(fn(&Case) -> Box<dyn Slumber>),
    /// Runs between two processes.
    Duet(Duet),
}

/// The two sides of a workload between two processes.
pub struct Duet {
    /// Measures; the command starts the process that serves.
    pub measure: fn(&volary_bench_duet::Case, Command) -> Record,
    /// Serves, as that process, until it is not needed any more.
    pub serve: fn(&str) -> !,
}

impl Duet {
    /// What `R` does in a workload, if it does it.
    pub fn of<R: Remoting>(workload: &str) -> Option<Bench> {
        let offered = workload.starts_with("remote-") && R::offers(workload);
        offered.then_some(Bench::Duet(Self {
            measure: programs::measure::<R>,
            serve: serving::serve::<R>,
        }))
    }
}

/// One row of the table.
pub struct Contender {
    /// Its name on the command line and in the tables.
    pub name: &'static str,
    /// What it is compared as.
    pub role: Role,
    /// Its function for a workload, if it offers that workload.
    pub bench: fn(&str) -> Option<Bench>,
}

/// Everyone, in the order in which they run and are shown.
pub const CONTENDERS: &[Contender] = &[
    peers::volary::CONTENDER,
    peers::kameo::CONTENDER,
    peers::ractor::CONTENDER,
    peers::actix::CONTENDER,
    peers::coerce::CONTENDER,
    peers::tokio_mpsc::CONTENDER,
    peers::queue::CONTENDER,
    peers::bare::CONTENDER,
    peers::table::CONTENDER,
    peers::clock::CONTENDER,
    peers::echo::CONTENDER,
];

/// The contender of that name.
pub fn find(name: &str) -> Option<&'static Contender> {
    CONTENDERS.iter().find(|contender| contender.name == name)
}
