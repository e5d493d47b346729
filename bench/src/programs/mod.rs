//! The workloads as programs over the `Peer` trait, so that every library runs
//! the same text. `bench` picks the program for a workload's name; a library
//! declines through `Peer::offers`. What only some libraries have is in modules
//! with a `bench` of their own, which a contender that has it asks first.

pub mod ask;
#[cfg(test)]
mod feature_tests;
pub mod hog;
mod io;
mod latency;
mod lifecycle;
pub mod passivation;
pub mod publish;
pub mod restart;
pub mod router;
pub mod stash;
pub mod stream;
pub mod tell;
mod timers;

use crate::contender::Bench;
use crate::peer::Peer;

/// The program for `workload` on `P`, if `P` can do it.
pub fn bench<P: Peer>(workload: &str) -> Option<Bench> {
    if !P::offers(workload) {
        return None;
    }
    Some(match workload {
        "tell" => Bench::Throughput(tell::tell::<P>),
        "tell/outside" => Bench::Throughput(tell::outside::<P>),
        "tell/bounded" => Bench::Throughput(tell::bounded::<P>),
        "fan-in" => Bench::Throughput(tell::fan_in::<P>),
        "fan-out" => Bench::Throughput(tell::fan_out::<P>),
        "pairs" => Bench::Throughput(tell::pairs::<P>),
        "ask" | "ask/cross-thread" | "ask/same-thread" => Bench::Throughput(ask::ask::<P>),
        "ask/busy" => Bench::Throughput(ask::busy::<P>),
        "tokio-ask" => Bench::Throughput(ask::many::<P>),
        "tokio-ask/one" => Bench::Throughput(ask::one::<P>),
        "io-handler" => Bench::Throughput(io::round_trips::<P>),
        "io-handler/timer" => Bench::Throughput(io::timers::<P>),
        "spawn" => Bench::Throughput(lifecycle::spawn::<P>),
        "skynet" => Bench::Throughput(lifecycle::skynet::<P>),
        "suspended" => Bench::Throughput(lifecycle::suspended::<P>),
        "timers" => Bench::Throughput(timers::pending::<P>),
        "timers/fire" => Bench::Throughput(timers::fire::<P>),
        "timers/set-cancel" => Bench::Throughput(timers::set_and_cancel::<P>),
        "hog" => Bench::Latency(hog::hog::<P>),
        name if name.starts_with("open-loop/") => Bench::Latency(latency::open_loop::<P>),
        name if name.starts_with("capacity/") => Bench::Throughput(latency::capacity::<P>),
        _ => return None,
    })
}
