//! The simulator of Volary's testkit, which no peer has: messages delivered
//! between ten simulated nodes on one core, and whole runs of three actors, one
//! seed each, on all cores.
//!
//! Behind the feature `sim`: the testkit turns on tokio's `test-util`, which
//! would slow down the clock of everybody who is compared here.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use volary::prelude::*;
use volary_testkit::Sim;
use volary_testkit::sim::{Check, Strategy, Wire};

use crate::contender::{Bench, Case, Pass};

const NODES: usize = 10;
/// Between two looks at how many messages were delivered.
const LOOK: Duration = Duration::from_millis(100);

/// The program for `workload`, if it is one of these.
pub fn bench(workload: &str) -> Option<Bench> {
    match workload {
        "sim-ping" => Some(Bench::Throughput(ping)),
        "sim-seeds" => Some(Bench::Throughput(seeds)),
        _ => None,
    }
}

#[derive(Message, Clone)]
struct Ping;

/// Hands the ping on to the next node.
struct Ring {
    next: Wire<Ping>,
    delivered: Arc<AtomicU64>,
}

#[actor]
impl Ring {
    #[handles]
    fn ping(&mut self, _: Ping) {
        self.delivered.fetch_add(1, Relaxed);
        self.next.tell(Ping);
    }
}

/// An operation is a message that went from one node to the next and was handled.
fn ping(_: &Case) -> Pass {
    Box::new(|deliveries| {
        let check = Check::new().seeds(1).twice_every(0).strategy(Strategy::Random);
        check.run(|sim| ring(sim, deliveries)).expect("a run");
    })
}

async fn ring(sim: Sim, deliveries: u64) {
    let delivered = Arc::new(AtomicU64::new(0));
    let nodes: Vec<_> = (0..NODES).map(|number| sim.node(format!("n{number}"))).collect();
    for (number, node) in nodes.iter().enumerate() {
        let next = sim.wire::<Ping>(node, &nodes[(number + 1) % NODES], "/user/ring");
        let count = delivered.clone();
        let ring = move || Ring { next: next.clone(), delivered: count.clone() };
        let ring = node.start().await.spawn(ring).named("ring").await.expect("a ring");
        ring.tell(Ping).expect("the actor lives");
    }
    while delivered.load(Relaxed) < deliveries {
        sim.sleep(LOOK).await;
    }
}

/// Adds what it is told, and tells it on.
struct Adder {
    sum: u64,
    next: Option<ActorRef<Adder>>,
}

#[actor]
impl Adder {
    fn add(&mut self, number: u64) {
        self.sum += number;
        if let Some(next) = &self.next {
            let _ = next.tell(Add { number });
        }
    }
    fn sum(&mut self) -> u64 {
        self.sum
    }
}

/// An operation is one run under one seed; one in fifty is made twice, as for users.
fn seeds(_: &Case) -> Pass {
    Box::new(|seeds| {
        Check::new().seeds(seeds).run(three_actors).expect("runs");
    })
}

async fn three_actors(sim: Sim) {
    let system = sim.node("a").start().await;
    let mut next = None;
    for _ in 0..3 {
        let after = next.clone();
        let adder = move || Adder { sum: 0, next: after.clone() };
        next = Some(system.spawn(adder).await.expect("an adder"));
    }
    let first = next.expect("three of them");
    for number in 0..10 {
        first.tell(Add { number }).expect("the actor lives");
    }
    sim.sleep(Duration::from_millis(10)).await;
    assert_eq!(first.ask(Sum).await.expect("a reply"), 45);
}
