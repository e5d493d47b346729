//! Follows references in messages of a peer, as far as there is room for those they lead to.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use volary_core::{Address, AnyRef, Resolver};

use crate::peer::{Peer, Referred};

pub(super) struct Referring {
    peer: Arc<Peer>,
    /// One was not followed for want of room.
    refused: AtomicBool,
    /// It was looked for those that nobody refers to.
    swept: AtomicBool,
}

impl Referring {
    pub(super) fn new(peer: Arc<Peer>) -> Arc<Self> {
        Arc::new(Referring {
            peer,
            refused: AtomicBool::new(false),
            swept: AtomicBool::new(false),
        })
    }

    /// More is read from now on.
    pub(super) fn begin(&self) {
        self.refused.store(false, Relaxed);
        self.swept.store(false, Relaxed);
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
            if !self.swept.swap(true, Relaxed) {
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
