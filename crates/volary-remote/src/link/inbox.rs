//! The mailbox of an actor here, as the peer sees it: how many of its messages wait in there, and how much room they
//! take of what the node has for all peers.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::*};

use volary_core::foreign::{Receipt, Received};

use super::Link;
use crate::peer::Apart;

/// How many settled messages are worth telling the peer at once.
const WORTH_SAYING: u64 = 64;

/// A receipt carries one number: that of the message in its low bits, and above them how much room it takes, in units.
const NUMBER_BITS: u32 = 46;
pub(crate) const UNIT: usize = 256;
const MOST_UNITS: u64 = (1 << (64 - NUMBER_BITS)) - 1;

/// The highest number that a message may have. A million messages a second for two years come to that.
pub(super) const LAST_NUMBER: u64 = (1 << NUMBER_BITS) - 1;

thread_local! {
    /// The message that this thread delivers, as its link and number.
    static DELIVERING: Cell<(usize, u64)> = const { Cell::new((0, 0)) };
}

/// A message that is being delivered by this thread. One that leaves its mailbox meanwhile was refused there, or had no
/// more than a moment to wait: whoever delivers it knows which, and says so before it is confirmed.
pub(super) struct Delivering(());

impl Delivering {
    pub(super) fn begin(link: &Link, sequence: u64) -> Self {
        DELIVERING.set((std::ptr::from_ref(link).addr(), sequence));
        Delivering(())
    }

    /// Whether it has left its mailbox.
    pub(super) fn has_left(self) -> bool {
        DELIVERING.get().1 == 0
    }
}

impl Drop for Delivering {
    fn drop(&mut self) {
        DELIVERING.set((0, 0));
    }
}

pub(super) struct Inbox {
    link: Arc<Link>,
    /// Messages that were let in, and how many of them had left when it was looked last. Written by whoever reads.
    admitted: Apart<(AtomicU64, AtomicU64)>,
    /// How many have left. Written by whoever handles.
    left: Apart<AtomicU64>,
}

impl Inbox {
    pub(super) fn new(link: Arc<Link>) -> Arc<Self> {
        Arc::new(Inbox {
            link,
            admitted: Apart::default(),
            left: Apart::default(),
        })
    }

    /// A receipt for the message of this number and length; `None` if too many wait already, or too much. For one
    /// reader at a time.
    #[inline]
    pub(super) fn admit(self: &Arc<Self>, sequence: u64, length: usize) -> Option<Receipt> {
        let peer = &self.link.peer;
        let (admitted, left) = &*self.admitted;
        let number = admitted.load(Relaxed);
        let share = peer.shared.options.receiver_share;
        if number - left.load(Relaxed) >= share {
            left.store(self.left.load(Relaxed), Relaxed);
            if number - left.load(Relaxed) >= share {
                return None;
            }
        }
        let units = (length.div_ceil(UNIT) as u64).clamp(1, MOST_UNITS);
        if !peer.inflow.charge(units) {
            return None;
        }
        admitted.store(number + 1, Relaxed);
        Some(Receipt::new(self.clone(), units << NUMBER_BITS | sequence))
    }
}

impl Received for Inbox {
    fn received(&self, ticket: u64) {
        self.left.fetch_add(1, Relaxed);
        self.link.peer.inflow.discharge(ticket >> NUMBER_BITS);
        let sequence = ticket & LAST_NUMBER;
        if DELIVERING.get() == (Arc::as_ptr(&self.link).addr(), sequence) {
            DELIVERING.set((0, 0));
        } else {
            self.link.settle(sequence);
        }
    }
}

impl Link {
    /// A message has left its mailbox, or never got there.
    pub(super) fn settle(&self, sequence: u64) {
        let unsaid = self.settled.lock().settle(sequence);
        // The first wakes the writer, which says it with whatever else there is; then only many do.
        if unsaid == 1 || unsaid.is_multiple_of(WORTH_SAYING) {
            self.peer.to_write.notify_one();
        }
    }
}
