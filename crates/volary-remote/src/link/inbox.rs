//! The mailbox of an actor here, as the peer sees it: how many of its messages wait in there, and how much room they
//! take of what the node has for all peers.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::*};

use volary_core::foreign::{Receipt, Received};

use super::Link;

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
    waiting: AtomicU64,
}

impl Inbox {
    pub(super) fn new(link: Arc<Link>) -> Arc<Self> {
        Arc::new(Inbox {
            link,
            waiting: AtomicU64::new(0),
        })
    }

    /// A receipt for the message of this number and length; `None` if too many wait already, or too much.
    pub(super) fn admit(self: &Arc<Self>, sequence: u64, length: usize) -> Option<Receipt> {
        let options = &self.link.peer.shared.options;
        if self.waiting.fetch_add(1, Relaxed) < options.receiver_share {
            let units = (length.div_ceil(UNIT) as u64).clamp(1, MOST_UNITS);
            if self.link.charge(units, (options.inbound_bytes / UNIT) as u64) {
                return Some(Receipt::new(self.clone(), units << NUMBER_BITS | sequence));
            }
        }
        self.waiting.fetch_sub(1, Relaxed);
        None
    }
}

impl Received for Inbox {
    fn received(&self, ticket: u64) {
        self.waiting.fetch_sub(1, Relaxed);
        self.link.discharge(ticket >> NUMBER_BITS);
        let sequence = ticket & LAST_NUMBER;
        if DELIVERING.get() == (Arc::as_ptr(&self.link).addr(), sequence) {
            DELIVERING.set((0, 0));
        } else {
            self.link.settle(sequence);
        }
    }
}

impl Link {
    /// Takes room for a message. A peer may have as much as is free, so that one alone has half of all there is, and
    /// whoever floods leaves room to the others.
    fn charge(&self, units: u64, most: u64) -> bool {
        let peer = &self.peer;
        let all = peer.shared.inbound.fetch_add(units, Relaxed) + units;
        let of_peer = peer.inbound.fetch_add(units, Relaxed) + units;
        let fits = all + of_peer <= most;
        if !fits {
            self.discharge(units);
        }
        fits
    }

    fn discharge(&self, units: u64) {
        self.peer.inbound.fetch_sub(units, Relaxed);
        self.peer.shared.inbound.fetch_sub(units, Relaxed);
    }

    /// A message has left its mailbox, or never got there.
    pub(super) fn settle(&self, sequence: u64) {
        let unsaid = self.settled.lock().settle(sequence);
        // The first wakes the writer, which says it with whatever else there is; then only many do.
        if unsaid == 1 || unsaid.is_multiple_of(WORTH_SAYING) {
            self.peer.to_write.notify_one();
        }
    }
}
