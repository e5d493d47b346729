//! How fast the simulator is: deliveries per second in a ring of ten nodes, and seeds per second of three actors.
//!
//! `cargo run --release -p volary-testkit --example figures`

use std::time::{Duration, Instant};

use volary::prelude::*;
use volary_testkit::Sim;
use volary_testkit::sim::{Check, Wire};

#[derive(Message, Clone)]
struct Ping;

/// Hands the ping on to the next node.
struct Ring {
    next: Wire<Ping>,
}

#[actor]
impl Ring {
    #[handles]
    fn ping(&mut self, _: Ping) {
        self.next.tell(Ping);
    }
}

const NODES: usize = 10;

fn deliveries(virtual_time: Duration) -> (u64, Duration) {
    let began = Instant::now();
    let steps = Sim::new(1).run(|sim| async move {
        let nodes: Vec<_> = (0..NODES).map(|number| sim.node(format!("n{number}"))).collect();
        for (number, node) in nodes.iter().enumerate() {
            let next = sim.wire::<Ping>(node, &nodes[(number + 1) % NODES], "/user/ring");
            let system = node.start().await;
            let ring = system.spawn(move || Ring { next: next.clone() }).named("ring").await;
            if let Ok(ring) = ring {
                let _ = ring.tell(Ping);
            }
        }
        let before = sim.trace_length();
        sim.sleep(virtual_time).await;
        sim.trace_length() - before
    });
    (steps / 2, began.elapsed()) // a line for the sending and one for the handling
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

async fn three_actors(sim: Sim) {
    let system = sim.node("a").start().await;
    let mut next = None;
    for _ in 0..3 {
        let after = next.clone();
        let adder = system.spawn(move || Adder {
            sum: 0,
            next: after.clone(),
        });
        next = adder.await.ok();
    }
    if let Some(first) = next {
        for number in 0..10 {
            let _ = first.tell(Add { number });
        }
        sim.sleep(Duration::from_millis(10)).await;
        assert_eq!(first.ask(Sum).await.ok(), Some(45));
    }
}

fn main() {
    let (count, took) = deliveries(Duration::from_secs(100));
    let rate = count as f64 / took.as_secs_f64();
    println!("ping over {NODES} nodes: {count} deliveries in {took:.2?}, {rate:.0} per second on one core");
    let began = Instant::now();
    match Check::new().seeds(10_000).run(three_actors) {
        Ok(summary) => println!("three actors: {summary}; took {:.2?}", began.elapsed()),
        Err(failed) => println!("{failed}"),
    }
}
