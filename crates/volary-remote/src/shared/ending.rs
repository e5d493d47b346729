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
        // Whoever adopts a connection after this sees that the node stops.
        let links = {
            let _turn = self.adopting.lock();
            std::mem::take(&mut *self.links.lock())
        };
        links.values().for_each(|link| link.close("this node stops"));
        let peers = {
            let mut peers = self.peers.lock();
            self.let_go(peers.values());
            std::mem::take(&mut *peers)
        };
        for peer in peers.values() {
            peer.close();
            peer.forget(volary_core::DeadReason::Unreachable);
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
    use super::*;
    use crate::Remote;
    use crate::alone::{Alone, Wire};

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "whoever stops the node is on a thread of its own"
    )]
    fn r3_a_connection_that_is_taken_while_the_node_stops_ends_with_it() {
        let node = Alone::start(Remote::builder());
        let (shared, peer) = (node.shared().clone(), node.peer());
        let closer = Arc::new(parking_lot::Mutex::new(None));
        // It was seen that the node does not stop, and the connection is not among the others yet.
        let (stopping, started) = (shared.clone(), closer.clone());
        node.world.change_next_task(move |task| {
            assert!(stopping.adopting.is_locked());
            let stopping = stopping.clone();
            let thread = std::thread::spawn(move || {
                stopping.stop();
                stopping.close();
            });
            // One that does not wait for its turn has time to be through with it.
            let mut looks = 0..10_000;
            while !thread.is_finished() && looks.next().is_some() {
                std::thread::yield_now();
            }
            *started.lock() = Some(thread);
            task
        });
        let wire = Wire::new(usize::MAX);
        shared.adopt(&peer, wire.greeting(7), 0);
        let closer = closer.lock().take();
        closer.unwrap().join().unwrap();
        node.settle();
        assert_eq!(peer.read().connections, 1, "it was taken");
        assert_eq!((wire.gone(), shared.links.lock().len()), ((true, true), 0));
        assert_eq!(Arc::strong_count(&peer), 1, "none of its tasks is left");

        let late = Wire::new(usize::MAX);
        shared.adopt(&peer, late.greeting(7), 1);
        assert_eq!((late.gone(), shared.links.lock().len()), ((true, true), 0));
    }
}
