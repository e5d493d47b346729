//! The way to an actor whose address calls the system by another name than it has: there is none.

use std::sync::{Arc, Weak};

use volary_core::foreign::{Errand, Outlet, Parcel, Undeliverable};
use volary_core::{Address, DeadReason};

use super::called::why;
use super::{Lost, Peer, Referred};

/// Takes messages and loses them, each with the reason: whoever asks hears it, and not that somebody is gone.
pub(super) struct Misnamed {
    /// Weak: the association keeps the stand-in, which keeps this.
    peer: Weak<Peer>,
    address: String,
    why: String,
    _room: Option<Referred>,
}

impl Misnamed {
    pub(super) fn new(peer: &Arc<Peer>, address: &Address, system: &str, room: Option<Referred>) -> Self {
        Misnamed {
            peer: Arc::downgrade(peer),
            address: address.to_string(),
            why: why(address.system(), system),
            _room: room,
        }
    }
}

impl Outlet for Misnamed {
    fn send(&self, parcel: &mut Parcel<'_>) -> Result<(), Undeliverable> {
        let peer = self.peer.upgrade().ok_or(Undeliverable::Gone)?;
        let stand_in = peer.known.lock().get(&self.address).ok_or(Undeliverable::Gone)?;
        let unreported = {
            let outbound = peer.outbound.lock();
            peer.counters.one_sent(&outbound);
            outbound.unreported()
        };
        let lost = Lost {
            receiver: stand_in.id(),
            sender: parcel.sender(),
            type_name: parcel.type_name(),
            reason: DeadReason::Unreachable,
            reply: parcel.take_reply(),
            unfit: None,
            unreported,
        };
        peer.report_because(vec![lost], &self.why);
        Ok(())
    }

    fn run(&self, errand: Errand) {
        if let (Errand::Watch, Some(peer)) = (errand, self.peer.upgrade()) {
            peer.ended(&self.address);
        }
    }
}
