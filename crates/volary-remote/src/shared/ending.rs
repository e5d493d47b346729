//! The end of remoting, which comes with that of its system.

use std::sync::Arc;
use std::sync::atomic::Ordering::*;
use std::time::Duration;

use volary_core::{ActorSystem, ShutdownHook, shutdown};
use volary_wire::native::{Frame, Goodbye, GoodbyeReason};

use super::Shared;
use crate::error::RemoteStartError;
use crate::link;

/// Sees to it that remoting ends with its system: after the actors, whose last messages still go out.
pub(super) fn end_with(system: &ActorSystem, shared: &Arc<Shared>) -> Result<(), RemoteStartError> {
    let stopping = shared.clone();
    let hook = ShutdownHook::new(shutdown::AFTER_ACTORS, "remoting", move || {
        let shared = stopping.clone();
        async move {
            shared.stop();
            let patience = Duration::from_millis(500);
            let _ = link::within(&shared.system, patience, async {
                while !shared.is_written() {
                    shared.system.sleep(Duration::from_millis(1)).await;
                }
            })
            .await;
            shared.close();
        }
    });
    system
        .on_shutdown(hook)
        .map(drop)
        .map_err(|_| RemoteStartError::Stopping)
}

impl Shared {
    /// Nothing is taken or sent any more. Peers hear goodbye.
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
