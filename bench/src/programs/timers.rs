//! Programs about time: a million timers that are pending, that go off, and
//! that are set and cancelled before they do. Each tells one actor.

use std::time::Duration;

use futures::executor::block_on;

use crate::contender::{Case, Pass};
use crate::latch::Latch;
use crate::peer::Peer;

/// When pending timers would go off; the process ends before.
const FAR: Duration = Duration::from_secs(60 * 60);
/// When the timers of `timers/fire` go off: while others are still being set.
const NEAR: Duration = Duration::from_millis(10);

/// Sets timers and leaves them pending. The harness takes the growth of the
/// resident set.
pub fn pending<P: Peer>(case: &Case) -> Pass {
    let peer = P::start(case);
    let sink = block_on(peer.sink(0, Latch::leaked()));
    Box::new(move |count| block_on(peer.set_timers(&sink, count, FAR)))
}

/// Sets timers and waits until the actor has heard of all.
pub fn fire<P: Peer>(case: &Case) -> Pass {
    let peer = P::start(case);
    let latch = Latch::leaked();
    let sink = block_on(peer.sink(0, latch));
    Box::new(move |count| {
        latch.arm(count);
        block_on(peer.set_timers(&sink, count, NEAR));
        latch.wait();
    })
}

/// Sets a timer and cancels it, again and again.
pub fn set_and_cancel<P: Peer>(case: &Case) -> Pass {
    let peer = P::start(case);
    let sink = block_on(peer.sink(0, Latch::leaked()));
    Box::new(move |count| block_on(peer.set_and_cancel(&sink, count, FAR)))
}
