//! Fire-and-forget programs: one to one, from outside, into a bounded
//! mailbox, many to one, one to many and back and forth. A pass ends when the
//! receiver has handled the last message, not when it was sent.

use std::sync::Arc;

use futures::executor::block_on;

use crate::contender::{Case, Pass};
use crate::latch::{LAST, Latch};
use crate::peer::Peer;
use crate::workloads::FAN_OUT;

/// How many messages the bounded mailbox holds.
const CAPACITY: usize = 1_024;
/// How many actors tell one in `fan-in`.
const SENDERS: u64 = 8;
/// How many pairs `pairs` has.
const PAIRS: u64 = 64;

/// One actor tells another from its handler, in a plain loop.
pub fn tell<P: Peer>(case: &Case) -> Pass {
    let peer = P::start(case);
    let latch = Latch::leaked();
    let (sender, sink) = block_on(async { (peer.job(0).await, peer.sink(1, latch).await) });
    Box::new(move |count| {
        let _keep = &peer;
        latch.arm(1);
        let sink = sink.clone();
        P::run(
            &sender,
            Box::pin(async move { tell_all::<P>(&sink, count) }),
        );
        latch.wait();
    })
}

/// A plain OS thread, outside of any runtime, tells an actor.
pub fn outside<P: Peer>(case: &Case) -> Pass {
    let peer = P::start(case);
    let latch = Latch::leaked();
    let sink = block_on(peer.sink(1, latch));
    Box::new(move |count| {
        let _keep = &peer;
        latch.arm(1);
        let sink = sink.clone();
        let sender = std::thread::spawn(move || tell_all::<P>(&sink, count));
        latch.wait();
        sender.join().expect("sending thread");
    })
}

/// As `tell`, but the sender waits for room in a mailbox of 1,024.
pub fn bounded<P: Peer>(case: &Case) -> Pass {
    let peer = P::start(case);
    let latch = Latch::leaked();
    let (sender, sink) = block_on(async {
        let sink = peer.bounded(1, CAPACITY, latch).await;
        (peer.job(0).await, sink)
    });
    Box::new(move |count| {
        let _keep = &peer;
        latch.arm(1);
        let sink = sink.clone();
        let work = async move {
            for value in 1..count {
                P::tell_waiting(&sink, value).await;
            }
            P::tell_waiting(&sink, LAST).await;
        };
        P::run(&sender, Box::pin(work));
        latch.wait();
    })
}

/// Eight actors tell one.
pub fn fan_in<P: Peer>(case: &Case) -> Pass {
    let peer = P::start(case);
    let latch = Latch::leaked();
    let sink = block_on(peer.sink(0, latch));
    let senders: Vec<_> = (1..=SENDERS as usize)
        .map(|slot| block_on(peer.job(slot)))
        .collect();
    Box::new(move |count| {
        let _keep = &peer;
        latch.arm(SENDERS);
        for sender in &senders {
            let sink = sink.clone();
            let share = count / SENDERS;
            P::run(sender, Box::pin(async move { tell_all::<P>(&sink, share) }));
        }
        latch.wait();
    })
}

/// One actor tells ten thousand in turn.
pub fn fan_out<P: Peer>(case: &Case) -> Pass {
    let peer = P::start(case);
    let latch = Latch::leaked();
    let sender = block_on(peer.job(0));
    let sinks: Arc<[P::Sink]> = (0..FAN_OUT)
        .map(|slot| block_on(peer.sink(slot, latch)))
        .collect();
    Box::new(move |count| {
        let _keep = &peer;
        latch.arm(FAN_OUT as u64);
        let sinks = Arc::clone(&sinks);
        let work = async move {
            for round in 1..count / FAN_OUT as u64 {
                for sink in sinks.iter() {
                    P::tell(sink, round);
                }
            }
            for sink in sinks.iter() {
                P::tell(sink, LAST);
            }
        };
        P::run(&sender, Box::pin(work));
        latch.wait();
    })
}

/// Sixty-four pairs tell a falling number back and forth.
pub fn pairs<P: Peer>(case: &Case) -> Pass {
    let peer = P::start(case);
    let latch = Latch::leaked();
    let players: Vec<_> = (0..PAIRS as usize)
        .map(|slot| block_on(peer.players(slot, latch)))
        .collect();
    Box::new(move |count| {
        let _keep = &peer;
        latch.arm(PAIRS);
        for player in &players {
            P::serve(player, count / PAIRS - 1);
        }
        latch.wait();
    })
}

pub fn tell_all<P: Peer>(sink: &P::Sink, count: u64) {
    for value in 1..count {
        P::tell(sink, value);
    }
    P::tell(sink, LAST);
}
