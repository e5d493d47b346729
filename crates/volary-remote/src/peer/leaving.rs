//! Tests: a life of the peer that leaves, and another that has come meanwhile.

use std::pin::Pin;
use std::task::{Context, Waker};

use serde::{Deserialize, Serialize};
use volary::prelude::*;
use volary_core::Termination;

use super::*;
use crate::Remote;
use crate::alone::{Alone, PEER, Wire};

struct Desk;

#[actor(kind = "leaving.Desk", remote(Note))]
impl Desk {
    #[message(remote = "leaving.Note", codec = postcard, derive(Serialize, Deserialize))]
    fn note(&mut self) {}
}

struct Watching(Pin<Box<Termination>>);

impl Watching {
    fn begin(node: &Alone) -> Self {
        let address = format!("volary://stranger@{PEER}/user/desk");
        let far: ActorRef<Desk> = node.remote.actor(&address.parse().unwrap()).unwrap();
        let mut watching = Watching(Box::pin(far.terminated()));
        assert!(!watching.has_heard());
        watching
    }

    fn has_heard(&mut self) -> bool {
        let mut task = Context::from_waker(Waker::noop());
        self.0.as_mut().poll(&mut task).is_ready()
    }
}

/// A node that speaks with this life of its peer.
fn speaks_with(life: u64) -> (Alone, Arc<Peer>) {
    let node = Alone::start(Remote::builder().kind::<Desk>());
    let peer = node.peer();
    node.shared().adopt(&peer, Wire::new(usize::MAX).greeting(life), 0);
    node.settle();
    (node, peer)
}

#[test]
fn s18_a_life_that_leaves_is_over_for_those_who_watch_and_another_may_come() {
    let (node, peer) = speaks_with(7);
    let mut watching = Watching::begin(&node);
    node.shared().left(&peer, 1, 7);
    node.settle();
    assert!(watching.has_heard());
    assert!(peer.is_over(7) && !peer.admits(7) && peer.admits(8));
}

#[test]
fn s18_a_goodbye_that_is_read_after_the_next_life_has_come_ends_nothing_of_that() {
    let (node, peer) = speaks_with(7);
    let mut of_former = Watching::begin(&node);
    // What came on the first connection was read, and before it is heeded there is a second.
    node.shared().adopt(&peer, Wire::new(usize::MAX).greeting(8), 1);
    node.settle();
    assert!(of_former.has_heard() && peer.is_over(7));
    let mut watching = Watching::begin(&node);
    node.shared().left(&peer, 1, 7);
    node.settle();
    assert!(!watching.has_heard());
    assert!(peer.admits(8) && !peer.is_over(8) && peer.outbound.lock().is_on(2));
}

#[test]
fn s18_a_goodbye_to_those_who_watch_nobody_leaves_the_way_open() {
    let (node, peer) = speaks_with(7);
    node.shared().left(&peer, 1, 7);
    node.settle();
    assert!(peer.admits(7), "nobody was told that its actors are gone");
}

#[test]
fn s18_a_goodbye_of_the_same_life_on_a_connection_that_was_replaced_is_none() {
    let (node, peer) = speaks_with(7);
    let mut watching = Watching::begin(&node);
    node.shared().adopt(&peer, Wire::new(usize::MAX).greeting(7), 1);
    node.settle();
    node.shared().left(&peer, 1, 7);
    node.settle();
    assert!(!watching.has_heard() && peer.admits(7));
}
