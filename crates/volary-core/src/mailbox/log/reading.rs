//! What the one reader does: look at the record at the head, take it, and go back into the cell when all are read.

use std::ptr;

use super::super::block::{First, Foot, Fresh, INLINE_WORDS, LIMIT, PAD, Word};
use super::super::pool;
use super::{Growth, INLINE, INSTALLING, Log, OFFSET, START};
use crate::sync::atomic::Ordering::*;

/// What the reader finds at the head.
pub(crate) enum Peek {
    /// A record; its first word and where it begins.
    Record(First, *const Word),
    /// Nothing has been reserved beyond the head.
    Empty,
    /// A writer has reserved room and not published yet.
    Pending,
}

impl Log {
    /// The record at the head.
    ///
    /// # Safety
    /// The caller is the one reader.
    #[inline]
    pub(crate) unsafe fn peek(&self, growth: &impl Growth) -> Peek {
        loop {
            let region = self.head.get();
            let offset = self.offset.get() as usize;
            if offset < LIMIT {
                let place = self.place(region, offset);
                // SAFETY: in bounds of the reader's own region.
                let first = unsafe { (*place).load() };
                if first.addr() > PAD {
                    return Peek::Record(first, place);
                }
                if first.is_null() {
                    return if self.has_mail() { Peek::Pending } else { Peek::Empty };
                }
            }
            let next = self.next(region).load(Acquire);
            if next.is_null() {
                return if self.has_mail() { Peek::Pending } else { Peek::Empty };
            }
            self.release(region, growth);
            self.head.set(next);
            // SAFETY: the region behind the one that was read.
            self.offset.set(unsafe { (*next).start() } as u16);
        }
    }

    /// Whether another record stands behind the one that was taken, for all that can be seen from there.
    ///
    /// # Safety
    /// The caller is the one reader.
    #[inline]
    pub(crate) unsafe fn is_followed(&self) -> bool {
        let region = self.head.get();
        let offset = self.offset.get() as usize;
        // SAFETY: in bounds of the reader's own region.
        offset < LIMIT && unsafe { (*self.place(region, offset)).load() }.addr() > PAD
    }

    /// Takes the record that `peek` showed; its memory stays readable until the next `peek`.
    ///
    /// # Safety
    /// The caller is the one reader and `words` is the length of the record at the head.
    #[inline]
    pub(crate) unsafe fn advance(&self, words: usize) {
        self.offset.set(self.offset.get() + words as u16);
        self.taken.store(self.taken.load(Relaxed).wrapping_add(1), Release);
    }

    /// When everything has been read: returns to the inline region and gives the block back.
    /// Does nothing if that is not worth it or a message has come.
    ///
    /// # Safety
    /// The caller is the one reader.
    #[inline]
    pub(crate) unsafe fn settle(&self, growth: &impl Growth) {
        let word = self.word.load(Acquire);
        let offset = (word & OFFSET) as usize;
        if word & INLINE != 0 && offset <= START + INLINE_WORDS / 2 {
            return;
        }
        if word & INSTALLING != 0 || self.depth_at(word) != 0 {
            return;
        }
        if self
            .word
            .compare_exchange(word, word | INSTALLING, SeqCst, Relaxed)
            .is_err()
        {
            return;
        }
        // Nobody else touches any region now: all reserved records were read, and no writer can
        // reserve before the word is stored below.
        let region = self.head.get();
        self.release(region, growth);
        for word in &self.inline {
            word.clear();
        }
        self.inline_next.store(ptr::null_mut(), Relaxed);
        self.head.set(ptr::null_mut());
        self.offset.set(START as u16);
        self.tail.store(ptr::null_mut(), Release);
        self.word.store(word & !OFFSET | INLINE | START as u64, Release);
    }

    fn release(&self, region: *mut Foot, growth: &impl Growth) {
        if region.is_null() {
            return;
        }
        // SAFETY: made by `into_foot` in `install`; the reader has left it, so it is ours.
        let region = unsafe { Fresh::from_foot(region) };
        let blocks = region.blocks();
        pool::give(region);
        growth.shrunk(blocks);
    }
}
