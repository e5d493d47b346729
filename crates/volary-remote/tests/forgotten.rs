//! R3: of a peer that is forgotten, no room is taken but that of its messages which still wait.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that meets an error fails, and runs what it needs"
)]

mod common;

use std::sync::Arc;

use common::stranger::{Stranger, envelope, note};
use common::*;
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;
use volary::prelude::*;
use volary_remote::RemoteBuilder;
use volary_wire::native::{Frame, RefuseReason};

/// What a small message is charged.
const UNIT: usize = 256;

/// Takes one message for each permit.
struct Slow(Arc<Semaphore>, Log);

#[actor(kind = "test.Slow", remote(Put))]
impl Slow {
    #[message(remote = "test.Put", codec = postcard, derive(Serialize, Deserialize))]
    async fn put(&mut self) {
        self.1.push("put");
        self.0.acquire().await.unwrap().forget();
    }
}

/// There is room for one peer, and so the next that comes has the place of one that is gone.
fn for_one_peer() -> RemoteBuilder {
    builder().kind::<Slow>().options(options().peers(1))
}

/// Enters as soon as there is a place, since it takes a moment until whoever is gone can be forgotten.
async fn enter(node: &Node, name: &str) -> Stranger {
    loop {
        let mut peer = Stranger::call(node, name).await;
        match soon("an answer", peer.hear()).await {
            Some(Frame::Welcome(_)) => return peer,
            Some(Frame::Refuse(refuse)) if refuse.reason == RefuseReason::Busy => {}
            other => panic!("{other:?}"),
        }
    }
}

async fn slow(node: &Node) -> (Arc<Semaphore>, Log) {
    let (gate, log) = (Arc::new(Semaphore::new(0)), Log::default());
    let made = (gate.clone(), log.clone());
    let slow = node.system.spawn(move || Slow(made.0.clone(), made.1.clone()));
    slow.named("slow").await.unwrap();
    (gate, log)
}

fn put(node: &Node, sequence: u64) -> Frame {
    let slow = node.address("slow").to_string();
    Frame::Tell(envelope(&slow, sequence, "test.Put", Vec::new()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_of_a_forgotten_peer_only_what_waits_is_counted_and_then_nothing() {
    let node = Node::start("one", for_one_peer()).await;
    let (gate, log) = slow(&node).await;
    let mut peer = enter(&node, "127.0.0.1:9").await;
    peer.say((1..=3).map(|sequence| put(&node, sequence))).await;
    eventually("that one is taken and two wait", || {
        log.len() == 1 && reading(&node).received == 3
    })
    .await;
    eventually("their room", || node.remote.inbound_bytes() == 2 * UNIT).await;
    drop(peer);
    eventually("its end", || !reading(&node).connected).await;
    let next = enter(&node, "127.0.0.1:10").await;
    assert_eq!(reading(&node).node, "127.0.0.1:10", "the first is forgotten");
    assert_eq!(node.remote.inbound_bytes(), 2 * UNIT, "its messages wait as before");
    gate.add_permits(1);
    eventually("one less", || node.remote.inbound_bytes() == UNIT).await;
    gate.add_permits(2);
    eventually("nothing", || node.remote.inbound_bytes() == 0).await;
    eventually("that each is handled", || log.len() == 3).await;
    drop(next);
    node.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_peers_that_come_and_go_take_no_room_with_them() {
    let node = Node::start("one", for_one_peer()).await;
    let desk = node.desk("desk").await;
    let to = node.address("desk").to_string();
    for round in 0..50 {
        let name = format!("127.0.0.1:{}", 9 + round);
        let mut peer = enter(&node, &name).await;
        peer.say((1..=20).map(|sequence| Frame::Tell(note(&to, sequence, sequence))))
            .await;
        let all = 20 * (1 + round);
        eventually("that all are handled", || node.log.len() == all).await;
        desk.ask(Secret).await.unwrap();
        eventually("no room", || node.remote.inbound_bytes() == 0).await;
        drop(peer);
        eventually("its end", || !reading(&node).connected).await;
    }
    node.system.stop().await.unwrap();
    eventually("nor at the end", || node.remote.inbound_bytes() == 0).await;
}
