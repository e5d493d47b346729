//! Tests: calls that cross.

use super::*;
use crate::Remote;
use crate::alone::{Alone, Wire};

/// Two connections whose calls have crossed, in this order: whose is kept.
fn kept(peer: &str, order: [Caller; 2]) -> Caller {
    let node = Alone::start(Remote::builder());
    let (shared, peer) = (node.shared(), node.shared().peer(peer).unwrap());
    let wires = order.map(|caller| {
        let wire = Wire::new(usize::MAX);
        let mut greeting = wire.greeting(7);
        greeting.caller = caller;
        // Neither was there when the other began to be made.
        shared.adopt(&peer, greeting, 0);
        wire
    });
    node.settle();
    let kept = shared.links.lock()[&peer.node].caller();
    for (caller, wire) in order.into_iter().zip(&wires) {
        let is_gone = caller != kept;
        assert_eq!(wire.gone(), (is_gone, is_gone), "one is open, and only one");
    }
    kept
}

#[test]
fn r3_of_calls_that_cross_the_one_of_the_lower_address_is_kept_whichever_comes_first() {
    use Caller::{They, We};
    for order in [[We, They], [They, We]] {
        // This node is 127.0.0.1:1.
        assert_eq!(kept("127.0.0.1:9", order), We);
        assert_eq!(kept("126.0.0.1:9", order), They);
    }
}
