//! Faults: an actor fails at message after message and is restarted each
//! time. An operation is one fault handled, which is over when the next
//! incarnation takes the next message; the last one handles a good message.

use futures::executor::block_on;

use crate::contender::{Bench, Case, Pass};
use crate::features::Restarting;
use crate::fragile::{Failure, Fragility, panic_quietly};
use crate::latch::Latch;
use crate::tally::Tally;

/// The program for `workload`, if it is one of these.
pub fn bench<P: Restarting>(workload: &str) -> Option<Bench> {
    if !P::offers(workload) {
        return None;
    }
    match workload {
        "restart" => Some(Bench::Throughput(errors::<P>)),
        "restart/panic" => Some(Bench::Throughput(panics::<P>)),
        _ => None,
    }
}

/// The handler returns an error.
fn errors<P: Restarting>(case: &Case) -> Pass {
    faults::<P>(case, Failure::Error)
}

/// The handler panics.
fn panics<P: Restarting>(case: &Case) -> Pass {
    panic_quietly();
    faults::<P>(case, Failure::Panic)
}

fn faults<P: Restarting>(case: &Case, failure: Failure) -> Pass {
    let peer = P::start(case);
    let (latch, built) = (Latch::leaked(), Tally::leaked());
    let fragility = Fragility { failure, latch, built };
    let (sender, fallible) = block_on(async { (peer.job(0).await, peer.fallible(fragility).await) });
    // Some build the first state only when it is needed.
    latch.arm(1);
    P::fail(&fallible, 0);
    latch.wait();
    Box::new(move |count| {
        let _keep = &peer;
        let before = built.total();
        latch.arm(1);
        let fallible = fallible.clone();
        P::run(&sender, Box::pin(async move { P::fail(&fallible, count) }));
        latch.wait();
        assert_eq!(built.total() - before, count, "a new state for each fault");
    })
}
