//! The mailbox of an actor here, as the peer sees it: how many of its messages wait in there.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::*};

use volary_core::foreign::{Receipt, Received};

use super::Link;

/// How many settled messages are worth telling the peer at once.
const WORTH_SAYING: u64 = 64;

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

    /// A receipt for the message of this number; `None` if too many wait already.
    pub(super) fn admit(self: &Arc<Self>, sequence: u64, share: u64) -> Option<Receipt> {
        if self.waiting.fetch_add(1, Relaxed) >= share {
            self.waiting.fetch_sub(1, Relaxed);
            return None;
        }
        Some(Receipt::new(self.clone(), sequence))
    }
}

impl Received for Inbox {
    fn received(&self, sequence: u64) {
        self.waiting.fetch_sub(1, Relaxed);
        self.link.settle(sequence);
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
