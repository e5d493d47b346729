// What examples of nodes and links share, in lines that are not shown there: whether a packet gets there within ten
// milliseconds, and how many of a hundred do.

#[allow(unused_imports, reason = "not every example needs all")]
use std::{
    sync::{Arc, atomic::{AtomicU32, Ordering::SeqCst}},
    time::Duration,
};
#[allow(unused_imports, reason = "as above")]
use volary_testkit::{Sim, sim::{Chaos, Clock, Link, Node}};

async fn arrive(sim: &Sim, from: &Node, to: &Node, packets: u32) -> u32 {
    let arrived = Arc::<AtomicU32>::default();
    for _ in 0..packets {
        let arrived = arrived.clone();
        from.send(to, "packet", move |_, _| {
            arrived.fetch_add(1, SeqCst);
        });
    }
    sim.sleep(Duration::from_millis(10)).await;
    arrived.load(SeqCst)
}

#[allow(dead_code, reason = "not every example needs it")]
async fn reaches(sim: &Sim, from: &Node, to: &Node) -> bool {
    arrive(sim, from, to, 1).await == 1
}
