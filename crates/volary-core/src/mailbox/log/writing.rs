//! What writers do: reserve room for a record, fill it, publish it.

use std::ptr;

use super::super::block::{BLOCK_WORDS, First, Fresh, LARGE_BLOCKS, LIMIT, PAD, Word};
use super::super::bound::Bound;
use super::super::marks::{LASTING, MARKS, SEEN};
use super::super::pool;
use super::{CLOSED, Growth, INSTALLING, Log, OFFSET, ONE, Refusal, sequence};
use crate::sync::Spin;
use crate::sync::atomic::Ordering::*;

/// How long a writer that lost a race stands back.
#[cfg(not(any(volary_loom, volary_shuttle)))]
const BACK_OFF: u32 = 48;
#[cfg(any(volary_loom, volary_shuttle))]
const BACK_OFF: u32 = 0;

/// In the word before the one that a writer would store: the record does not fit, or nobody may write now, or ever.
const OBSTACLES: u64 = LIMIT as u64 | INSTALLING | CLOSED;

/// Where so many wait the next block is a large one, if the budget has room for it.
#[cfg(not(volary_loom))]
pub(super) const DEEP: u64 = 1_024;
#[cfg(volary_loom)]
pub(super) const DEEP: u64 = 2;

/// Room for one record, to be filled and then published.
#[must_use]
pub(crate) struct Room {
    first: *const Word,
}

impl Room {
    /// Where the record begins. The first word is not to be written: `publish` does that.
    #[inline]
    pub(crate) fn as_ptr(&self) -> *mut u64 {
        self.first.cast_mut().cast()
    }

    /// Makes the record visible to the reader.
    ///
    /// # Safety
    /// All other words of the record have been written.
    #[inline]
    pub(crate) unsafe fn publish(self, first: First) {
        debug_assert!(first.addr() > PAD);
        // SAFETY: `first` points into a region that stays alive until this record was published and
        // then read, because the reader never passes an unpublished record.
        unsafe { (*self.first).publish(first) }
    }

    #[cfg(volary_loom)]
    pub(super) fn write_second(&self, value: u64) {
        // SAFETY: as in `publish`; records in the loom tests are two words long.
        unsafe { (*self.first.add(1)).rest.with_mut(|p| *p = value) }
    }
}

/// How an attempt to reserve room ended.
enum Attempt {
    Reserved(Room),
    /// Another writer came first.
    Outrun,
    /// There is no room here and now, or none is given any more.
    Obstructed,
}

/// Another writer was faster. It probably has more to write: letting it have the line for a moment
/// costs both of them less than taking it from each other for every record.
#[cold]
fn back_off() {
    for _ in 0..BACK_OFF {
        std::hint::spin_loop();
    }
}

impl Log {
    /// Reserves room for a record of `words` words.
    #[inline(always)]
    pub(crate) fn reserve(&self, words: usize, bound: Option<&Bound>, growth: &impl Growth) -> Result<Room, Refusal> {
        match self.try_reserve(words, bound, OBSTACLES) {
            Attempt::Reserved(room) => Ok(room),
            Attempt::Outrun => self.reserve_again(words, bound, growth),
            Attempt::Obstructed => self.reserve_slow(words, bound, growth),
        }
    }

    /// Reserves room if there is some at once, and nobody is to be asked before. Without it nothing has happened.
    #[inline(always)]
    pub(crate) fn reserve_at_once(&self, words: usize) -> Option<Room> {
        match self.try_reserve(words, None, OBSTACLES | MARKS) {
            Attempt::Reserved(room) => Some(room),
            Attempt::Outrun | Attempt::Obstructed => None,
        }
    }

    /// The same for a mailbox whose only rule is this bound.
    #[inline(always)]
    pub(crate) fn reserve_within(&self, words: usize, bound: &Bound) -> Option<Room> {
        match self.try_reserve(words, Some(bound), OBSTACLES | SEEN) {
            Attempt::Reserved(room) => Some(room),
            Attempt::Outrun | Attempt::Obstructed => None,
        }
    }

    /// After room was not reserved at once although nobody is to be asked: unless the region is full, another writer was faster.
    pub(crate) fn stand_back(&self, words: usize) {
        let next = self.word.load(Relaxed).wrapping_add(words as u64);
        if next.wrapping_sub(1) & OBSTACLES == 0 {
            back_off();
        }
    }

    /// As long as other writers are faster.
    #[cold]
    #[inline(never)]
    fn reserve_again(&self, words: usize, bound: Option<&Bound>, growth: &impl Growth) -> Result<Room, Refusal> {
        loop {
            back_off();
            match self.try_reserve(words, bound, OBSTACLES) {
                Attempt::Reserved(room) => return Ok(room),
                Attempt::Outrun => {}
                Attempt::Obstructed => return self.reserve_slow(words, bound, growth),
            }
        }
    }

    #[inline(always)]
    fn try_reserve(&self, words: usize, bound: Option<&Bound>, obstacles: u64) -> Attempt {
        let word = self.word.load(Acquire);
        let next = word.wrapping_add(ONE + words as u64);
        // Where the record would end at the limit, the bit of the limit is that of an offset which is full.
        if next.wrapping_sub(1) & obstacles != 0 || bound.is_some_and(|bound| !bound.has_room(sequence(word))) {
            return Attempt::Obstructed;
        }
        let region = self.tail.load(Acquire);
        match self.word.compare_exchange_weak(word, next, SeqCst, Acquire) {
            Ok(_) => Attempt::Reserved(Room {
                first: self.place(region, (word & OFFSET) as usize),
            }),
            Err(_) => Attempt::Outrun,
        }
    }

    #[cold]
    #[inline(never)]
    fn reserve_slow(&self, words: usize, bound: Option<&Bound>, growth: &impl Growth) -> Result<Room, Refusal> {
        debug_assert!(words <= BLOCK_WORDS);
        let mut spin = Spin::new();
        let mut fresh: Option<Fresh> = None;
        let mut granted = 0;
        let outcome = loop {
            let word = self.word.load(Acquire);
            if word & INSTALLING != 0 {
                spin.pause();
                continue;
            }
            if word & CLOSED != 0 {
                break Err(Refusal::Closed);
            }
            let depth = self.depth_at(word);
            if let Some(bound) = bound {
                if depth >= bound.capacity {
                    break Err(Refusal::Full);
                }
                bound.learn(sequence(word).wrapping_sub(depth));
            }
            let offset = (word & OFFSET) as usize;
            if offset + words <= LIMIT {
                let region = self.tail.load(Acquire);
                if self
                    .word
                    .compare_exchange(word, word.wrapping_add(ONE + words as u64), SeqCst, Acquire)
                    .is_ok()
                {
                    break Ok(Room {
                        first: self.place(region, offset),
                    });
                }
                continue;
            }
            if granted == 0 {
                granted = if depth >= DEEP && growth.may_grow(depth, LARGE_BLOCKS) {
                    LARGE_BLOCKS
                } else if growth.may_grow(depth, 1) {
                    1
                } else if self.word.load(Acquire) != word {
                    continue; // perhaps somebody else had the last one, for this log
                } else {
                    break Err(Refusal::Denied);
                };
            }
            let block = fresh.take().unwrap_or_else(|| pool::take(granted == LARGE_BLOCKS));
            if self
                .word
                .compare_exchange(word, word | INSTALLING, SeqCst, Acquire)
                .is_err()
            {
                fresh = Some(block);
                continue;
            }
            granted = 0;
            break Ok(self.install(word, block, words));
        };
        if let Some(block) = fresh {
            pool::give(block);
        }
        if granted > 0 {
            growth.shrunk(granted);
        }
        outcome
    }

    /// Appends `block` and reserves its beginning. The caller has set `INSTALLING`.
    fn install(&self, word: u64, block: Fresh, words: usize) -> Room {
        let offset = (word & OFFSET) as usize;
        let start = block.start();
        let block = block.into_foot();
        let old = self.tail.load(Relaxed);
        self.tail.store(block, Release);
        // The link is the last thing that is touched in the old region when it is full to the brim,
        // and the pad is when it is not: after it the reader may leave the region and recycle it.
        self.next(old).store(block, Release);
        if offset < LIMIT {
            // SAFETY: the reader cannot pass the unwritten word at `offset`, so the region is alive.
            unsafe { (*self.place(old, offset)).publish(ptr::without_provenance_mut(PAD)) }
        }
        let room = Room {
            first: self.place(block, start),
        };
        let flags = word & (CLOSED | LASTING);
        let next = (word & !(ONE - 1)).wrapping_add(ONE) | flags | (start + words) as u64;
        // A swap, not a store: it must not pass the load of the actor's state that follows.
        self.word.swap(next, SeqCst);
        room
    }

    /// Refuses every record from now on. What was reserved before stays to be read.
    pub(crate) fn close(&self) {
        let mut spin = Spin::new();
        loop {
            let word = self.word.load(Acquire);
            if word & INSTALLING != 0 {
                spin.pause();
                continue;
            }
            if word & CLOSED != 0 || self.word.compare_exchange(word, word | CLOSED, SeqCst, Acquire).is_ok() {
                return;
            }
        }
    }
}
