//! One publishes, many get it: a topic with ten thousand subscribers, events
//! with a hundred. An operation is one delivery. After each thousand that were
//! published everybody is waited for, so that a bounded subscriber loses none.

use futures::executor::block_on;

use crate::contender::{Bench, Case, Pass};
use crate::features::{Announcing, Publishing};
use crate::latch::{LAST, Latch};
use crate::peer::Peer;
use crate::workloads::{LISTENERS, SUBSCRIBERS};

/// How many are published before everybody is waited for.
const ROUND: u64 = 1_000;

/// The program for `workload`, if it is `topic`.
pub fn topic<P: Publishing>(workload: &str) -> Option<Bench> {
    (workload == "topic").then_some(Bench::Throughput(publish::<P>))
}

/// The program for `workload`, if it is `events`.
pub fn events<P: Announcing>(workload: &str) -> Option<Bench> {
    (workload == "events").then_some(Bench::Throughput(announce::<P>))
}

fn publish<P: Publishing>(case: &Case) -> Pass {
    let peer = P::start(case);
    let latch = Latch::leaked();
    let (job, topic) = block_on(async { (peer.job(0).await, peer.topic(SUBSCRIBERS, latch).await) });
    Box::new(move |count| {
        let _keep = &peer;
        rounds::<P, _>(&job, latch, count, SUBSCRIBERS, || {
            let topic = topic.clone();
            move |value| P::publish(&topic, value)
        });
    })
}

fn announce<P: Announcing>(case: &Case) -> Pass {
    let peer = P::start(case);
    let latch = Latch::leaked();
    let (job, events) = block_on(async { (peer.job(0).await, peer.events(LISTENERS, latch).await) });
    Box::new(move |count| {
        let _keep = &peer;
        rounds::<P, _>(&job, latch, count, LISTENERS, || {
            let events = events.clone();
            move |value| P::announce(&events, value)
        });
    })
}

fn rounds<P: Peer, F: Fn(u64) + Send + 'static>(
    job: &P::Job,
    latch: &'static Latch,
    deliveries: u64,
    subscribers: usize,
    make: impl Fn() -> F,
) {
    let mut left = (deliveries / subscribers as u64).max(1);
    while left > 0 {
        let round = left.min(ROUND);
        left -= round;
        latch.arm(subscribers as u64);
        let publish = make();
        let work = async move {
            for value in 1..round {
                publish(value);
            }
            publish(LAST);
        };
        P::run(job, Box::pin(work));
        latch.wait();
    }
}
