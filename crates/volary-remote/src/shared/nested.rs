//! Tests: while a connection is taken others name nodes, on the same thread, as code of the user that hears of it does, or on
//! another.

use std::sync::mpsc;

use volary_core::{Subscription, SubscriptionOptions};

use super::*;
use crate::alone::{Alone, PEER, Wire};
use crate::{Remote, RemoteOptions};

const IDLE: &str = "127.0.0.1:8";
const NEW: &str = "127.0.0.1:7";

/// What this yields, on a thread of its own, so that what waits for itself fails and does not hang.
#[expect(
    clippy::disallowed_methods,
    reason = "a test that may hang is on a thread of its own"
)]
fn in_time<T: Send + 'static>(what: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = mpsc::channel();
    std::thread::spawn(move || done.send(what()));
    result.recv_timeout(Duration::from_secs(20)).expect("it ends")
}

/// Names a node that nobody knows when the first connection is over. There is room for two.
fn names_another(node: &Alone) -> Subscription<PeerEvent> {
    let (shared, named) = (node.shared().clone(), AtomicBool::new(false));
    let options = SubscriptionOptions::new().filter(move |event| {
        if matches!(event, PeerEvent::Disconnected { .. }) && !named.swap(true, Relaxed) {
            assert!(
                shared.peer(NEW).is_some(),
                "there is room in the place of those who are idle"
            );
        }
        true
    });
    node.system.events().subscribe_with(options)
}

fn of_two() -> Alone {
    let node = Alone::start(Remote::builder().options(RemoteOptions::new().peers(2)));
    assert!(node.shared().peer(PEER).is_some() && node.shared().peer(IDLE).is_some());
    node
}

fn known(shared: &Shared) -> Vec<String> {
    shared.peers.lock().keys().cloned().collect()
}

/// A second connection of a peer takes the place of the first, which somebody hears of who names another node: who is known
/// then, whether the connection is gone, and how many there are.
fn replaced(is_waited_for: bool) -> (Vec<String>, bool, usize) {
    in_time(move || {
        let node = of_two();
        let (shared, peer) = (node.shared(), node.peer());
        shared.adopt(&peer, Wire::new(usize::MAX).greeting(7), 0);
        let _events = names_another(&node);
        peer.expected.fetch_add(u64::from(is_waited_for), AcqRel);
        let wire = Wire::new(usize::MAX);
        shared.adopt(&peer, wire.greeting(7), 1);
        node.settle();
        let links = shared.links.lock().len();
        (known(shared), wire.gone() == (true, true), links)
    })
}

#[test]
fn r3_who_hears_of_a_connection_that_is_replaced_may_name_another_node() {
    assert_eq!(replaced(true), (vec![NEW.to_owned(), PEER.to_owned()], false, 1));
}

#[test]
fn r3_a_connection_to_a_node_that_is_forgotten_while_it_is_taken_is_closed() {
    assert_eq!(replaced(false), (vec![NEW.to_owned()], true, 0));
}

/// Whoever reads names nodes too, and whoever takes a connection may wait for it to have read.
#[test]
fn r3_a_node_is_named_while_a_connection_is_taken_elsewhere() {
    let node = of_two();
    let shared = node.shared().clone();
    let turn = shared.adopting.lock();
    let naming = shared.clone();
    assert!(in_time(move || naming.peer(NEW).is_some()));
    drop(turn);
    assert_eq!(known(&shared), [NEW], "those who were idle are forgotten");
}
