//! Follows references in messages of a peer, as far as there is room for those they lead to.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use volary_core::{Address, AnyRef, Resolver};

use crate::peer::{Peer, Referred};

const READS_BETWEEN_SWEEPS: u32 = 64;

pub(super) struct Referring {
    peer: Arc<Peer>,
    /// One was not followed for want of room.
    refused: AtomicBool,
    /// How many more times it is read before it may be looked again for those that nobody refers to, which goes through all of
    /// them.
    before_sweep: AtomicU32,
}

impl Referring {
    pub(super) fn new(peer: Arc<Peer>) -> Arc<Self> {
        Arc::new(Referring {
            peer,
            refused: AtomicBool::new(false),
            before_sweep: AtomicU32::new(0),
        })
    }

    /// More is read from now on.
    pub(super) fn begin(&self) {
        self.begin_message();
        let before = self.before_sweep.load(Relaxed);
        if before > 0 {
            self.before_sweep.store(before - 1, Relaxed);
        }
    }

    /// What was refused before is no matter of the message that is read now.
    #[inline]
    pub(super) fn begin_message(&self) {
        self.refused.store(false, Relaxed);
    }

    /// Why a message was not read, if it was for that. Once for each.
    pub(super) fn why_not(&self) -> Option<String> {
        self.refused.swap(false, Relaxed).then(|| {
            let most = self.peer.shared.options.references;
            format!("it refers to more actors of other nodes than there is room for: half of what is free of `references`, which is {most}")
        })
    }

    fn room(&self) -> Option<Referred> {
        let references = &self.peer.references;
        Referred::by(references).or_else(|| {
            if self.before_sweep.load(Relaxed) == 0 {
                self.before_sweep.store(READS_BETWEEN_SWEEPS, Relaxed);
                self.peer.shared.sweep();
            }
            Referred::by(references)
        })
    }
}

impl Resolver for Referring {
    fn outside_address(&self, inside: &Address) -> Address {
        self.peer.shared.resolver.outside_address(inside)
    }

    fn resolve(&self, address: &Address) -> Option<AnyRef> {
        let shared = &self.peer.shared;
        let Some(node) = address.node().filter(|node| !shared.is_called(node)) else {
            return shared.resolver.resolve(address);
        };
        let far = shared.peer(&node.to_string())?;
        if let Some(known) = far.known.lock().get(&address.to_string()) {
            return Some(known.any_ref());
        }
        let Some(room) = self.room() else {
            self.refused.store(true, Relaxed);
            return None;
        };
        far.refer_to(address, Some(room)).map(|stand_in| stand_in.any_ref())
    }
}
