//! A stream that feeds an actor: elements are always ready, so the actor sets
//! the pace. An operation is one element handled.

use futures::executor::block_on;

use crate::contender::{Bench, Case, Pass};
use crate::features::Streaming;
use crate::latch::{LAST, Latch};

/// The program for `workload`, if it is this one.
pub fn bench<P: Streaming>(workload: &str) -> Option<Bench> {
    (workload == "stream").then_some(Bench::Throughput(stream::<P>))
}

fn stream<P: Streaming>(case: &Case) -> Pass {
    let peer = P::start(case);
    let latch = Latch::leaked();
    let (job, inlet) = block_on(async { (peer.job(0).await, peer.inlet(latch).await) });
    Box::new(move |count| {
        let _keep = &peer;
        latch.arm(1);
        let inlet = inlet.clone();
        let numbers = futures::stream::iter((1..count).chain(std::iter::once(LAST)));
        P::run(&job, Box::pin(async move { P::feed(&inlet, numbers) }));
        latch.wait();
    })
}
