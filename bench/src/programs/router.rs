//! A router over sixteen actors, told by another actor in a plain loop; each
//! number goes to one of them, in turn or by its key. A pass ends when all
//! numbers were handled.

use futures::executor::block_on;

use crate::contender::{Bench, Case, Pass};
use crate::features::{Routing, Spread};
use crate::lanes::Lanes;
use crate::workloads::ROUTEES;

/// The program for `workload`, if it is one of these and `P` has it.
pub fn bench<P: Routing>(workload: &str) -> Option<Bench> {
    match workload {
        "router" => Some(Bench::Throughput(in_turn::<P>)),
        "router/hash" if P::HASHES => Some(Bench::Throughput(by_key::<P>)),
        _ => None,
    }
}

fn in_turn<P: Routing>(case: &Case) -> Pass {
    route::<P>(case, Spread::InTurn)
}

fn by_key<P: Routing>(case: &Case) -> Pass {
    route::<P>(case, Spread::ByKey)
}

fn route<P: Routing>(case: &Case, spread: Spread) -> Pass {
    let peer = P::start(case);
    let lanes = Lanes::leaked(ROUTEES);
    let (sender, router) = block_on(async { (peer.job(0).await, peer.router(spread, lanes).await) });
    Box::new(move |count| {
        let _keep = &peer;
        let before = lanes.total();
        let router = router.clone();
        let work = async move {
            for value in 1..=count {
                P::route(&router, value);
            }
        };
        P::run(&sender, Box::pin(work));
        lanes.wait_for(before + count);
        assert_eq!(lanes.total(), before + count, "each message is handled once");
        assert!(count < 1_000 || lanes.used() == ROUTEES, "everybody has some");
    })
}
