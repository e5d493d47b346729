//! Programs about being born and staying alive: a million named actors, a
//! tree of a million that sums itself up, and actors whose handlers are
//! suspended on a timer. The harness takes the growth of the resident set.

use std::hint::black_box;
use std::time::Duration;

use futures::executor::block_on;

use crate::contender::{Case, Pass};
use crate::latch::Latch;
use crate::peer::Peer;

/// How long the handlers of `suspended` would sleep; the process ends before.
const SUSPENSION: Duration = Duration::from_secs(60);

/// Spawns named actors, tells each one message, waits till all are handled.
pub fn spawn<P: Peer>(case: &Case) -> Pass {
    let peer = P::start(case);
    let latch = Latch::leaked();
    let mut next = 0;
    Box::new(move |count| {
        latch.arm(count);
        block_on(peer.named_sinks(next, count, latch));
        latch.wait();
        next += count;
    })
}

/// Grows the tree and checks its sum.
pub fn skynet<P: Peer>(case: &Case) -> Pass {
    let peer = P::start(case);
    Box::new(move |leaves| {
        let sum = block_on(peer.skynet(leaves));
        assert_eq!(black_box(sum), leaves * (leaves - 1) / 2, "skynet sum");
    })
}

/// Spawns actors and suspends the handler of each.
pub fn suspended<P: Peer>(case: &Case) -> Pass {
    let peer = P::start(case);
    let latch = Latch::leaked();
    Box::new(move |count| {
        latch.arm(count);
        block_on(peer.sleepers(count, SUSPENSION, latch));
        latch.wait();
    })
}
