//! One connection of an association: made by dialling or accepting, introduced by a handshake, and then read, written
//! and watched over by a task each until one of them ends.

mod answers;
mod dial;
mod handshake;
mod inbox;
mod keep;
mod read;
mod until;
mod write;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::*};

use parking_lot::Mutex;

pub(crate) use dial::dial;
pub(crate) use handshake::{Greeting, accept};
pub(crate) use until::{Closing, within};

use crate::event::PeerEvent;
use crate::peer::{Peer, Settled};

/// What the tasks of a connection share.
pub(crate) struct Link {
    pub(crate) peer: Arc<Peer>,
    pub(crate) epoch: u64,
    closing: Closing,
    /// When something came last, in nanoseconds since the system's beginning of time.
    heard: AtomicU64,
    /// Messages of the peer that have left their mailboxes here.
    settled: Mutex<Option<Settled>>,
    answers: answers::Answers,
}

impl Link {
    /// Starts the tasks of a connection that was greeted.
    pub(crate) fn start(peer: &Arc<Peer>, greeting: Greeting) -> Arc<Self> {
        let epoch = peer.connected(greeting.incarnation);
        let link = Arc::new(Link {
            peer: peer.clone(),
            epoch,
            closing: Closing::default(),
            heard: AtomicU64::new(0),
            settled: Mutex::new(None),
            answers: answers::Answers::default(),
        });
        link.hear();
        let world = peer.shared.system.world();
        world.spawn(Box::pin(read::read(link.clone(), greeting.reader, greeting.decoder)));
        world.spawn(Box::pin(write::write(link.clone(), greeting.writer)));
        world.spawn(Box::pin(keep::keep(link.clone())));
        world.spawn(Box::pin(answers::answer(link.clone())));
        tracing::info!(node = %peer.node, incarnation = greeting.incarnation, "connected");
        link
    }

    /// Ends the connection; what was on it is lost.
    pub(crate) fn close(&self, why: &str) {
        if self.closing.close() {
            tracing::info!(node = %self.peer.node, why, "disconnected");
            self.peer.disconnected(self.epoch);
            self.answers.clear();
            let (shared, node) = (&self.peer.shared, self.peer.node.clone());
            shared.waiting.lost(&node);
            let why = why.to_owned();
            shared.publish(PeerEvent::Disconnected { node, why });
        }
    }

    pub(crate) fn closing(&self) -> &Closing {
        &self.closing
    }

    fn hear(&self) {
        self.heard.store(self.peer.shared.nanos(), Relaxed);
    }

    fn silent_for(&self) -> u64 {
        self.peer.shared.nanos().saturating_sub(self.heard.load(Relaxed))
    }
}
