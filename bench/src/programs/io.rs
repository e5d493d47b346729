//! Handlers that await real I/O and timers of tokio: a hundred actors each
//! with a loopback TCP connection, and a thousand actors each asleep for a
//! millisecond. What counts is how the library resumes suspended handlers.

use std::hint::black_box;
use std::time::Duration;

use futures::executor::block_on;

use crate::contender::{Case, Pass};
use crate::echo_server::connections;
use crate::latch::Latch;
use crate::peer::Peer;
use crate::workloads::{CONNECTIONS, CROWD};

/// A hundred tasks each ask their own actor for TCP round trips.
pub fn round_trips<P: Peer>(case: &Case) -> Pass {
    let peer = P::start(case);
    let latch = Latch::leaked();
    let links: Vec<P::Link> = connections(CONNECTIONS)
        .into_iter()
        .enumerate()
        .map(|(slot, stream)| block_on(peer.link(slot, stream)))
        .collect();
    Box::new(move |count| {
        latch.arm(CONNECTIONS as u64);
        for (slot, link) in links.iter().cloned().enumerate() {
            peer.task(slot, async move {
                for value in 0..count / CONNECTIONS as u64 {
                    black_box(P::round_trip(&link, value).await);
                }
                latch.arrive();
            });
        }
        latch.wait();
    })
}

/// A thousand actors, asked at once, sleep a millisecond each; then again.
pub fn timers<P: Peer>(case: &Case) -> Pass {
    let peer = P::start(case);
    let (replied, entered) = (Latch::leaked(), Latch::leaked());
    let sleepers: Vec<P::Sleeper> = (0..CROWD)
        .map(|slot| block_on(peer.sleeper(slot, entered)))
        .collect();
    Box::new(move |count| {
        for _ in 0..(count / CROWD as u64).max(1) {
            entered.arm(CROWD as u64);
            replied.arm(CROWD as u64);
            for (slot, sleeper) in sleepers.iter().cloned().enumerate() {
                peer.task(slot, async move {
                    P::nap(&sleeper, Duration::from_millis(1)).await;
                    replied.arrive();
                });
            }
            replied.wait();
        }
    })
}
