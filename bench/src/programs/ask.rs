//! Request-reply programs: actor asks actor one by one (where the runtime
//! puts them, on one thread, across threads, with the target busy), and tokio
//! tasks ask a crowd of a thousand actors.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::executor::block_on;

use crate::contender::{Case, Pass};
use crate::latch::Latch;
use crate::peer::Peer;
use crate::rng::Rng;
use crate::workloads::CROWD;

/// How many tasks ask at once in `tokio-ask`.
const CLIENTS: u64 = 64;

/// An actor asks another from its handler, one ask after the other.
pub fn ask<P: Peer>(case: &Case) -> Pass {
    let peer = P::start(case);
    let latch = Latch::leaked();
    let (asker, echo) = block_on(async { (peer.job(0).await, peer.echo(1).await) });
    Box::new(move |count| {
        let _keep = &peer;
        ask_all::<P>(&asker, &echo, count, latch);
    })
}

/// As `ask`, while a third actor tells the target one message, lets others
/// run, and so on until the asks are done.
pub fn busy<P: Peer>(case: &Case) -> Pass {
    let peer = P::start(case);
    let latch = Latch::leaked();
    let (asker, echo, noise) =
        block_on(async { (peer.job(0).await, peer.echo(1).await, peer.job(2).await) });
    Box::new(move |count| {
        let _keep = &peer;
        let quiet = Arc::new(AtomicBool::new(false));
        let (target, silence) = (echo.clone(), Arc::clone(&quiet));
        let work = async move {
            while !silence.load(Ordering::Relaxed) {
                P::poke(&target, 1);
                P::pause().await;
            }
        };
        P::run(&noise, Box::pin(work));
        ask_all::<P>(&asker, &echo, count, latch);
        quiet.store(true, Ordering::Relaxed);
    })
}

/// Sixty-four tasks ask random actors of the crowd.
pub fn many<P: Peer>(case: &Case) -> Pass {
    clients::<P>(case, CLIENTS)
}

/// One task alone asks the crowd.
pub fn one<P: Peer>(case: &Case) -> Pass {
    clients::<P>(case, 1)
}

fn clients<P: Peer>(case: &Case, clients: u64) -> Pass {
    let peer = P::start(case);
    let latch = Latch::leaked();
    let crowd: Arc<[P::Echo]> = (0..CROWD).map(|slot| block_on(peer.echo(slot))).collect();
    Box::new(move |count| {
        latch.arm(clients);
        for client in 0..clients {
            let crowd = Arc::clone(&crowd);
            peer.task(client as usize, async move {
                let mut rng = Rng::new(client);
                let mut sum = 0u64;
                for _ in 0..count / clients {
                    let echo = &crowd[rng.below(CROWD)];
                    sum = sum.wrapping_add(P::ask(echo, 1).await);
                }
                black_box(sum);
                latch.arrive();
            });
        }
        latch.wait();
    })
}

fn ask_all<P: Peer>(asker: &P::Job, echo: &P::Echo, count: u64, latch: &'static Latch) {
    latch.arm(1);
    let echo = echo.clone();
    let work = async move {
        let mut sum = 0u64;
        for _ in 0..count {
            sum = sum.wrapping_add(P::ask(&echo, 1).await);
        }
        black_box(sum);
        latch.arrive();
    };
    P::run(asker, Box::pin(work));
    latch.wait();
}
