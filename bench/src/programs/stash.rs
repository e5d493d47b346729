//! Messages put aside: an actor stashes a thousand, takes them all back and
//! handles them, over and over. An operation is one message told, stashed,
//! taken back and handled.

use futures::executor::block_on;

use crate::contender::{Bench, Case, Pass};
use crate::features::Stashing;
use crate::latch::{LAST, Latch};
use crate::tally::Tally;

/// How many messages are put aside before they are taken back.
const ASIDE: u64 = 1_000;

/// The program for `workload`, if it is this one.
pub fn bench<P: Stashing>(workload: &str) -> Option<Bench> {
    (workload == "stash").then_some(Bench::Throughput(stash::<P>))
}

fn stash<P: Stashing>(case: &Case) -> Pass {
    let peer = P::start(case);
    let (latch, handled) = (Latch::leaked(), Tally::leaked());
    let (sender, hoarder) = block_on(async { (peer.job(0).await, peer.hoarder(latch, handled).await) });
    Box::new(move |count| {
        let _keep = &peer;
        let before = handled.total();
        latch.arm(1);
        let hoarder = hoarder.clone();
        let work = async move {
            for value in 1..=count {
                P::put(&hoarder, if value == count { LAST } else { value });
                if value % ASIDE == 0 || value == count {
                    P::open(&hoarder);
                }
            }
        };
        P::run(&sender, Box::pin(work));
        latch.wait();
        assert_eq!(handled.total() - before, count, "each message comes back once");
    })
}
