//! The end of remoting, which comes with that of its system.

use std::sync::Arc;
use std::sync::atomic::Ordering::*;
use std::time::Duration;

use volary_core::{ActorSystem, ShutdownHook, shutdown};
use volary_wire::native::{Frame, Goodbye, GoodbyeReason};

use super::Shared;
use crate::error::RemoteStartError;
use crate::link;

/// How long peers are waited for when the node stops: twice, to be answered and to take what is written.
const PATIENCE: Duration = Duration::from_millis(500);

/// Sees to it that remoting ends with its system: after the actors, whose last messages still go out.
pub(super) fn end_with(system: &ActorSystem, shared: &Arc<Shared>) -> Result<(), RemoteStartError> {
    let stopping = shared.clone();
    let hook = ShutdownHook::new(shutdown::AFTER_ACTORS, "remoting", move || {
        let shared = stopping.clone();
        async move {
            // All actors have ended: whoever asked one of them is owed an answer.
            shared.until(|shared| shared.has_answered()).await;
            shared.stop();
            shared.until(|shared| shared.is_written()).await;
            shared.close();
        }
    });
    system
        .on_shutdown(hook)
        .map(drop)
        .map_err(|_| RemoteStartError::Stopping)
}

impl Shared {
    /// Waits for something that takes a moment, unless it takes too long.
    async fn until(&self, done: impl Fn(&Self) -> bool) {
        let done = async {
            while !done(self) {
                self.system.sleep(Duration::from_millis(1)).await;
            }
        };
        let _ = link::within(&self.system, PATIENCE, done).await;
    }

    /// Nothing is taken or sent any more. Peers hear goodbye, and that all actors here have ended.
    fn stop(&self) {
        // A connection that is being adopted is there to hear of it, or is not taken.
        let _turn = self.adopting.lock();
        if self.stopping.swap(true, AcqRel) {
            return;
        }
        self.closing.close();
        let goodbye = Frame::Goodbye(Goodbye {
            reason: GoodbyeReason::Leaving,
            text: "".into(),
        });
        for peer in self.peers.lock().values() {
            peer.write_in_order(&goodbye);
        }
    }

    /// Whether everything that was asked from elsewhere is answered.
    fn has_answered(&self) -> bool {
        self.links.lock().values().all(|link| link.has_answered())
    }

    fn close(&self) {
        // None is added: whoever adopts a connection sees that the node stops.
        let links = std::mem::take(&mut *self.links.lock());
        links.values().for_each(|link| link.close("this node stops"));
        let peers = {
            let mut peers = self.peers.lock();
            self.let_go(peers.values());
            std::mem::take(&mut *peers)
        };
        for peer in peers.values() {
            peer.close();
            peer.forget_all();
        }
        self.waiting.clear();
    }

    /// Whether everything that was to be written is.
    fn is_written(&self) -> bool {
        self.peers.lock().values().all(|peer| {
            let outbound = peer.outbound.lock();
            !outbound.is_connected() || !outbound.has_more()
        })
    }
}

#[cfg(test)]
mod tests {
    use std::thread::JoinHandle;

    use parking_lot::Mutex;
    use volary_core::SubscriptionOptions;
    use volary_wire::native::RefuseReason;

    use super::*;
    use crate::alone::{Alone, PEER, Wire};
    use crate::{PeerEvent, Remote};

    #[test]
    fn r8_a_node_that_stops_says_so_to_whoever_calls() {
        let node = Alone::start(Remote::builder());
        let shared = node.shared();
        assert!(shared.admit(PEER, 7).is_ok());
        shared.stop();
        let refused = shared.admit(PEER, 7).map(drop);
        assert_eq!(refused.map_err(|(reason, _)| reason), Err(RefuseReason::Stopping));
    }

    /// Does this on a thread of its own. If it does not have to wait for whoever calls this it has time to be through with it.
    #[expect(
        clippy::disallowed_methods,
        reason = "whoever stops the node is on a thread of its own"
    )]
    fn meanwhile(shared: &Arc<Shared>, what: impl FnOnce(&Shared) + Send + 'static) -> JoinHandle<()> {
        assert!(shared.adopting.is_locked());
        let shared = shared.clone();
        let thread = std::thread::spawn(move || what(&shared));
        let mut looks = 0..10_000;
        while !thread.is_finished() && looks.next().is_some() {
            std::thread::yield_now();
        }
        thread
    }

    /// A connection that is taken while this is done elsewhere: it was seen that the node does not stop, and the connection is not
    /// among the others yet.
    fn adopted_during(node: &Alone, what: impl FnOnce(&Shared) + Send + 'static) -> Wire {
        let (shared, done) = (node.shared().clone(), Arc::new(Mutex::new(None)));
        let (peer, begun) = (node.peer(), done.clone());
        node.world.change_next_task(move |task| {
            *begun.lock() = Some(meanwhile(&shared, what));
            task
        });
        let wire = Wire::new(usize::MAX);
        node.shared().adopt(&peer, wire.greeting(7), 0);
        let thread = done.lock().take();
        thread.unwrap().join().unwrap();
        node.settle();
        wire
    }

    fn hears_that_it_leaves(wire: &Wire) -> bool {
        let leaves =
            |frame: &Frame| matches!(frame, Frame::Goodbye(goodbye) if goodbye.reason == GoodbyeReason::Leaving);
        wire.heard_frames().iter().any(leaves)
    }

    #[test]
    fn s18_a_connection_that_is_taken_while_the_node_stops_hears_that_it_leaves() {
        let node = Alone::start(Remote::builder());
        assert!(hears_that_it_leaves(&adopted_during(&node, Shared::stop)));
    }

    #[test]
    fn s18_a_connection_that_takes_the_place_of_another_while_the_node_stops_hears_that_it_leaves() {
        let node = Alone::start(Remote::builder());
        let (shared, peer) = (node.shared().clone(), node.peer());
        shared.adopt(&peer, Wire::new(usize::MAX).greeting(7), 0);
        node.settle();
        // The one before is over and the next has not begun: goodbye would be said to nobody.
        let done = Arc::new(Mutex::new(None));
        let (stopping, begun) = (shared.clone(), done.clone());
        let options = SubscriptionOptions::new().filter(move |event| {
            if matches!(event, PeerEvent::Disconnected { .. }) && begun.lock().is_none() {
                *begun.lock() = Some(meanwhile(&stopping, Shared::stop));
            }
            true
        });
        let _events = node.system.events().subscribe_with(options);
        let wire = Wire::new(usize::MAX);
        shared.adopt(&peer, wire.greeting(7), 1);
        let thread = done.lock().take();
        thread.unwrap().join().unwrap();
        node.settle();
        assert_eq!(peer.read().connections, 2, "it was taken");
        assert!(hears_that_it_leaves(&wire));
    }

    #[test]
    fn r3_a_connection_that_is_taken_while_the_node_stops_ends_with_it() {
        let node = Alone::start(Remote::builder());
        let (shared, peer) = (node.shared().clone(), node.peer());
        let wire = adopted_during(&node, |shared| {
            shared.stop();
            shared.close();
        });
        assert_eq!(peer.read().connections, 1, "it was taken");
        assert_eq!((wire.gone(), shared.links.lock().len()), ((true, true), 0));
        assert_eq!(Arc::strong_count(&peer), 1, "none of its tasks is left");

        let late = Wire::new(usize::MAX);
        shared.adopt(&peer, late.greeting(7), 1);
        assert_eq!((late.gone(), shared.links.lock().len()), ((true, true), 0));
    }
}
