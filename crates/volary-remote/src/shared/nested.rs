//! Tests: code of the user that hears of connections names nodes, while they are taken.

use volary_core::{Subscription, SubscriptionOptions};

use super::*;
use crate::alone::{Alone, PEER, Wire};
use crate::{Remote, RemoteOptions};

const IDLE: &str = "127.0.0.1:8";
const NEW: &str = "127.0.0.1:7";

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

#[test]
fn r3_who_hears_of_a_connection_that_is_replaced_may_name_another_node() {
    let node = of_two();
    let (shared, peer) = (node.shared(), node.peer());
    shared.adopt(&peer, Wire::new(usize::MAX).greeting(7), 0);
    let _events = names_another(&node);
    // It is waited for, as every caller is.
    peer.expected.fetch_add(1, AcqRel);
    let wire = Wire::new(usize::MAX);
    shared.adopt(&peer, wire.greeting(7), 1);
    peer.expected.fetch_sub(1, AcqRel);
    node.settle();
    assert_eq!(known(shared), [NEW, PEER]);
    assert_eq!((wire.gone(), shared.links.lock().len()), ((false, false), 1));
}

#[test]
fn r3_a_connection_to_a_node_that_is_forgotten_while_it_is_taken_is_closed() {
    let node = of_two();
    let (shared, peer) = (node.shared(), node.peer());
    shared.adopt(&peer, Wire::new(usize::MAX).greeting(7), 0);
    let _events = names_another(&node);
    let wire = Wire::new(usize::MAX);
    shared.adopt(&peer, wire.greeting(7), 1);
    node.settle();
    assert_eq!(known(shared), [NEW], "nobody waited for it");
    assert_eq!((wire.gone(), shared.links.lock().len()), ((true, true), 0));
}
