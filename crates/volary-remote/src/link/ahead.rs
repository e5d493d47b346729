//! How far asks of the peer may go ahead of their answers.
//!
//! An ask of fifty bytes may have an answer of a megabyte, and nobody knows before it is there. Once a message is in a mailbox
//! its answer is made whenever the actor comes to it, so asks are let into mailboxes only as far as their answers would have
//! room if they were as long as the last ones; and while so many answers wait to be written that they have used it up, none is
//! begun with, written or let in.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::*};

/// How long an answer is taken to be before there was one.
const UNKNOWN: usize = 512 << 10;
/// Shorter ones are taken to be as long as this.
const SHORT: usize = 1 << 10;
/// What is known of long answers is forgotten with each that is shorter, by one part in so many.
const FORGOTTEN: usize = 8;
/// So many may be let in, however long answers are.
const LEAST: u64 = 4;

pub(super) struct Ahead {
    /// How many bytes of answers may wait.
    room: usize,
    /// How long answers were lately. Written by whoever answers.
    usual: AtomicUsize,
    most: AtomicU64,
    /// Written under the lock of what goes out.
    brimming: AtomicBool,
    /// Asks wait before their mailboxes, and whoever reads is to be told when more may go on.
    holding: AtomicBool,
}

impl Ahead {
    pub(super) fn new(room: usize) -> Self {
        let ahead = Ahead {
            room,
            usual: AtomicUsize::new(UNKNOWN),
            most: AtomicU64::new(0),
            brimming: AtomicBool::new(false),
            holding: AtomicBool::new(false),
        };
        ahead.now(UNKNOWN);
        ahead
    }

    fn now(&self, usual: usize) {
        self.usual.store(usual, Relaxed);
        self.most.store(((self.room / usual) as u64).max(LEAST), Relaxed);
    }

    /// An answer was so long.
    #[inline]
    pub(super) fn answered(&self, length: usize) {
        let before = self.usual.load(Relaxed);
        let usual = length.max(before - before / FORGOTTEN).max(SHORT);
        if usual != before {
            self.now(usual);
        }
    }

    /// How many asks may be in one mailbox, and how many may be known to have an answer that is not written.
    #[inline]
    pub(super) fn most(&self) -> u64 {
        self.most.load(Relaxed)
    }

    /// Whether so much waits to be written that nothing is answered.
    #[inline]
    pub(super) fn is_brimming(&self) -> bool {
        self.brimming.load(Relaxed)
    }

    /// Under the lock of what goes out.
    pub(super) fn set_brimming(&self, brimming: bool) {
        self.brimming.store(brimming, Relaxed);
    }

    pub(super) fn is_holding(&self) -> bool {
        self.holding.load(SeqCst)
    }

    pub(super) fn set_holding(&self, holding: bool) {
        self.holding.store(holding, SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s20_the_longer_answers_are_the_fewer_asks_are_let_in() {
        let ahead = Ahead::new(32 << 20);
        assert_eq!(ahead.most(), 64, "nothing is known of them");
        ahead.answered(1 << 20);
        assert_eq!(ahead.most(), 32);
        ahead.answered(64 << 20);
        assert_eq!(ahead.most(), LEAST);
        (0..200).for_each(|_| ahead.answered(100));
        assert_eq!(ahead.most(), 32 << 10, "as many as anybody may have waiting");
    }
}
