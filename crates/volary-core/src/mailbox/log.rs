//! The mailbox queue: a log of variable-length records with many writers and one reader.
//!
//! ```text
//!   word (one atomic)            the place in the newest region where the next record goes
//!   ┌───────────┬───────┬────────┐
//!   │ sequence  │ flags │ offset │
//!   └───────────┴───────┴────────┘
//!   inline region (in the cell)      blocks (from a pool)
//!   ┌────────┬─────┬─────┐  next   ┌────────┬────────┬─ … ─┬─────┐  next
//!   │ record │ rec │ pad │ ──────▶ │ record │ record │     │ pad │ ─────▶ …
//!   └────────┴─────┴─────┘         └────────┴────────┴─ … ─┴─────┘
//!     ▲ head (reader only)
//! ```
//!
//! A writer reserves room with one compare-and-swap of the word and touches no memory before it
//! succeeded, so a region can be recycled as soon as the reader has passed it. It then fills the
//! record and publishes it by storing its first word, which is never zero; a region that is not
//! written yet is all zeroes. A record that does not fit is preceded by a pad, and the writer that
//! met the end appends the next block while the `INSTALLING` flag keeps the others waiting for a
//! handful of instructions.
//!
//! Where many records wait the next block is a large one, and `LARGE` says so in the word.
//!
//! An idle actor owns no block: its first records live in the inline region, and when the reader
//! has drained everything it returns there and gives its block back ([`Log::settle`]).
//!
//! The sequence number counts records, so depth and bounds need no counter of their own, and it
//! makes every value of the word unique, so the compare-and-swap cannot be fooled.

use std::ptr;

use super::block::{AnyRegion, BLOCK_WORDS, First, Fresh, INLINE_WORDS, LARGE_BLOCKS, LARGE_WORDS, PAD, Word};
use super::bound::Bound;
use super::marks::{GUARDED, LASTING, METERED, Marks, SEEN};
use super::pool;
use crate::events::DeadReason;
use crate::sync::Spin;
use crate::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering::*};

/// How long a writer that lost a race stands back.
#[cfg(not(any(volary_loom, volary_shuttle)))]
const BACK_OFF: u32 = 48;
#[cfg(any(volary_loom, volary_shuttle))]
const BACK_OFF: u32 = 0;

const OFFSET: u64 = 0xffff;
const INSTALLING: u64 = 1 << 16;
const CLOSED: u64 = 1 << 17;
const INLINE: u64 = 1 << 18;
const LARGE: u64 = 1 << 22;
const ONE: u64 = 1 << 24;
const SEQUENCE_SHIFT: u32 = 24;
const SEQUENCE_MASK: u64 = (1 << 40) - 1;

/// The mailbox has a rule of its own, as `GUARDED` says to writers.
const RULED: u8 = 1;
/// Somebody wants to know when the reader was active last.
const WATCHED: u8 = 1 << 1;

/// Where so many wait the next block is a large one, if the budget has room for it.
#[cfg(not(volary_loom))]
const DEEP: u64 = 1_024;
#[cfg(volary_loom)]
const DEEP: u64 = 2;

/// Why a record was not taken. As wide as a pointer, so that it comes back in the register where the room would.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Refusal {
    /// The reader has closed the log for good.
    Closed,
    /// The bound is reached: there will be room when something was read.
    Full,
    /// It is not taken, and waiting is no use: the system's byte budget, or the mailbox itself, says no.
    Denied,
    /// A layer did not let it pass; `Host::refusal` says why, to whoever called.
    Intercepted,
    /// It is for somebody elsewhere, and cannot be written.
    Unsendable,
}

impl Refusal {
    /// Why the message is a dead letter, if there is nobody to take it back.
    pub(crate) fn dead_reason(self) -> DeadReason {
        match self {
            Refusal::Closed => DeadReason::Stopped,
            Refusal::Full | Refusal::Denied => DeadReason::Full,
            Refusal::Unsendable => DeadReason::Unsendable,
            Refusal::Intercepted => DeadReason::Intercepted(crate::dispatch::Host::refusal().text()),
        }
    }
}

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
    fn write_second(&self, value: u64) {
        // SAFETY: as in `publish`; records in the loom tests are two words long.
        unsafe { (*self.first.add(1)).rest.with_mut(|p| *p = value) }
    }
}

/// As many as a reader has looked up for.
#[derive(Clone, Copy)]
pub(crate) struct Notices(u32);

/// How an attempt to reserve room ended.
enum Attempt {
    Reserved(Room),
    /// Another writer came first.
    Outrun,
    /// There is no room here and now, or none is given any more.
    Obstructed,
}

/// What the reader finds at the head.
pub(crate) enum Peek {
    /// A record; its first word and where it begins.
    Record(First, *const Word),
    /// Nothing has been reserved beyond the head.
    Empty,
    /// A writer has reserved room and not published yet.
    Pending,
}

/// Told when the log grows beyond its inline region: the slow path, where depth and memory are
/// watched.
pub(crate) trait Growth {
    /// Whether so many more blocks may be taken, given how many records are waiting.
    fn may_grow(&self, depth: u64, blocks: u64) -> bool;
    /// Blocks that were granted have been given back.
    fn shrunk(&self, blocks: u64);
}

/// Writers' words first, the reader's last, and the inline region between them: it is longer than a
/// cache line, so a reader that takes and writers that add do not fight for one.
#[repr(C)]
pub(crate) struct Log {
    word: AtomicU64,
    /// The region that `word` speaks of; null is the inline one. Written under `INSTALLING` only.
    tail: AtomicPtr<AnyRegion>,
    inline_next: AtomicPtr<AnyRegion>,
    inline: [Word; INLINE_WORDS],
    /// The reader's region; null is the inline one. Reader only.
    head: std::cell::Cell<*mut AnyRegion>,
    /// How many records the reader has taken. Written by the reader, read by whoever asks for depth.
    taken: AtomicU64,
    /// The reader's place in its region. Reader only.
    offset: std::cell::Cell<u16>,
    /// `RULED`, `WATCHED`. Reader only.
    reader_marks: std::cell::Cell<u8>,
    /// Something may stand between a message and its handler. Written by the reader; a handler may look from another
    /// thread.
    layered: std::sync::atomic::AtomicBool,
    /// How often there was something besides mail to look at; counted after it can be seen.
    notices: AtomicU32,
}

// SAFETY: writers touch only atomics and the room that they reserved; `head`, `offset` and `reader_marks` are
// touched by the one reader alone, which the callers of the reader's methods vouch for.
unsafe impl Sync for Log {}
// SAFETY: the blocks are owned and everything in them is sent with the log.
unsafe impl Send for Log {}

/// Another writer was faster. It probably has more to write: letting it have the line for a moment
/// costs both of them less than taking it from each other for every record.
#[cold]
fn back_off() {
    for _ in 0..BACK_OFF {
        std::hint::spin_loop();
    }
}

#[inline]
fn sequence(word: u64) -> u64 {
    word >> SEQUENCE_SHIFT
}

/// How long the region is that the word speaks of.
#[inline(always)]
fn capacity_in(word: u64) -> usize {
    if word & (INLINE | LARGE) == 0 {
        BLOCK_WORDS
    } else if word & INLINE != 0 {
        INLINE_WORDS
    } else {
        LARGE_WORDS
    }
}

/// How far `a` is ahead of `b`; sequences wrap.
#[inline]
pub(super) fn sequence_distance(a: u64, b: u64) -> i64 {
    (a.wrapping_sub(b) << SEQUENCE_SHIFT).cast_signed() >> SEQUENCE_SHIFT
}

impl Log {
    pub(crate) fn new(guarded: bool) -> Self {
        Log {
            word: AtomicU64::new(INLINE | if guarded { GUARDED } else { 0 }),
            tail: AtomicPtr::new(ptr::null_mut()),
            inline_next: AtomicPtr::new(ptr::null_mut()),
            inline: [(); INLINE_WORDS].map(|()| Word::new()),
            head: std::cell::Cell::new(ptr::null_mut()),
            taken: AtomicU64::new(0),
            offset: std::cell::Cell::new(0),
            reader_marks: std::cell::Cell::new(if guarded { RULED } else { 0 }),
            notices: AtomicU32::new(0),
            layered: std::sync::atomic::AtomicBool::new(false),
        }
    }

    /// Reserves room for a record of `words` words.
    #[inline(always)]
    pub(crate) fn reserve(&self, words: usize, bound: Option<&Bound>, growth: &impl Growth) -> Result<Room, Refusal> {
        match self.try_reserve(words, bound) {
            Attempt::Reserved(room) => Ok(room),
            Attempt::Outrun => self.reserve_again(words, bound, growth),
            Attempt::Obstructed => self.reserve_slow(words, bound, growth),
        }
    }

    /// As long as other writers are faster.
    #[cold]
    #[inline(never)]
    fn reserve_again(&self, words: usize, bound: Option<&Bound>, growth: &impl Growth) -> Result<Room, Refusal> {
        loop {
            back_off();
            match self.try_reserve(words, bound) {
                Attempt::Reserved(room) => return Ok(room),
                Attempt::Outrun => {}
                Attempt::Obstructed => return self.reserve_slow(words, bound, growth),
            }
        }
    }

    #[inline(always)]
    fn try_reserve(&self, words: usize, bound: Option<&Bound>) -> Attempt {
        let word = self.word.load(Acquire);
        if word & (CLOSED | INSTALLING) != 0 || bound.is_some_and(|bound| !bound.has_room(sequence(word))) {
            return Attempt::Obstructed;
        }
        let offset = (word & OFFSET) as usize;
        if offset + words > capacity_in(word) {
            return Attempt::Obstructed;
        }
        let region = self.tail.load(Acquire);
        let next = word.wrapping_add(ONE + words as u64);
        match self.word.compare_exchange_weak(word, next, SeqCst, Acquire) {
            Ok(_) => Attempt::Reserved(Room {
                first: self.place(region, offset),
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
            let capacity = capacity_in(word);
            if offset + words <= capacity {
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
            break Ok(self.install(word, offset, capacity, block, words));
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
    fn install(&self, word: u64, offset: usize, capacity: usize, block: Fresh, words: usize) -> Room {
        let large = if block.is_large() { LARGE } else { 0 };
        let block = block.into_raw();
        let old = self.tail.load(Relaxed);
        self.tail.store(block, Release);
        // The link is the last thing that is touched in the old region when it is full to the brim,
        // and the pad is when it is not: after it the reader may leave the region and recycle it.
        self.next(old).store(block, Release);
        if offset < capacity {
            // SAFETY: the reader cannot pass the unwritten word at `offset`, so the region is alive.
            unsafe { (*self.place(old, offset)).publish(ptr::without_provenance_mut(PAD)) }
        }
        let room = Room {
            first: self.place(block, 0),
        };
        let flags = word & (CLOSED | LASTING);
        let next = (word & !(ONE - 1)).wrapping_add(ONE) | flags | large | words as u64;
        // A swap, not a store: it must not pass the load of the actor's state that follows.
        self.word.swap(next, SeqCst);
        room
    }

    #[inline]
    fn place(&self, region: *mut AnyRegion, offset: usize) -> *const Word {
        if region.is_null() {
            // In bounds: callers check against the capacity. One past the end is never dereferenced.
            self.inline.as_ptr().wrapping_add(offset)
        } else {
            // SAFETY: `region` is the tail under a successful reservation, or the head; both alive.
            unsafe { (&raw const (*region).words).cast::<Word>().wrapping_add(offset) }
        }
    }

    fn next(&self, region: *mut AnyRegion) -> &AtomicPtr<AnyRegion> {
        if region.is_null() {
            &self.inline_next
        } else {
            // SAFETY: as in `place`.
            unsafe { &(*region).next }
        }
    }

    /// How long the reader's region is.
    #[inline]
    fn capacity_of(region: *mut AnyRegion) -> usize {
        if region.is_null() {
            INLINE_WORDS
        } else {
            // SAFETY: the head, which is alive; nobody writes the capacity.
            unsafe { (*region).capacity }
        }
    }

    fn depth_at(&self, word: u64) -> u64 {
        // The reader may be beyond a word that was read a while ago.
        sequence_distance(sequence(word), self.taken.load(Acquire))
            .max(0)
            .cast_unsigned()
    }

    /// How many records are waiting, roughly when others write or read.
    pub(crate) fn depth(&self) -> u64 {
        self.depth_at(self.word.load(Acquire))
    }

    /// How many records the reader has taken so far.
    pub(crate) fn taken(&self) -> u64 {
        self.taken.load(Relaxed)
    }

    /// Whether a record has been reserved that the reader has not taken. Ordered after everything
    /// the caller did before, so it closes the race between "went idle" and "a message came".
    #[inline]
    pub(crate) fn has_mail(&self) -> bool {
        let word = self.word.load(SeqCst);
        sequence(word) != self.taken.load(Relaxed) & SEQUENCE_MASK
    }

    /// How many records were ever reserved (it wraps), if the reader has taken them all.
    pub(crate) fn all_taken(&self) -> Option<u64> {
        let reserved = sequence(self.word.load(SeqCst));
        (reserved == self.taken.load(Acquire) & SEQUENCE_MASK).then_some(reserved)
    }

    /// What writers must know before they write.
    #[inline]
    pub(crate) fn marks(&self) -> Marks {
        Marks::of(self.word.load(Relaxed))
    }

    /// Somebody looks at everything that writers write. Called before anybody can write, as the next.
    pub(crate) fn look_at_writers(&self) {
        self.word.fetch_or(SEEN, Relaxed);
    }

    /// The meter looks at one in so many of what writers write.
    pub(crate) fn meter_writers(&self) {
        self.word.fetch_or(METERED, Relaxed);
    }

    #[inline]
    pub(crate) fn is_metered(&self) -> bool {
        self.word.load(Relaxed) & METERED != 0
    }

    /// Whether the mailbox has a rule of its own, for the reader, who does not touch what writers write.
    #[inline]
    pub(crate) fn reader_is_guarded(&self) -> bool {
        self.reader_marks.get() & RULED != 0
    }

    /// Makes the reader look up from its mail. What it is to see was stored before.
    ///
    /// Counted, so that the reader has nothing to take back, and of several notices it sees what all were about.
    pub(crate) fn give_notice(&self) {
        self.notices.fetch_add(1, AcqRel);
    }

    /// The reader says whether it is to note when it was active.
    pub(crate) fn watch_activity(&self, watched: bool) {
        let others = self.reader_marks.get() & !WATCHED;
        self.reader_marks.set(if watched { others | WATCHED } else { others });
    }

    #[inline]
    pub(crate) fn is_watched(&self) -> bool {
        self.reader_marks.get() & WATCHED != 0
    }

    /// The reader says whether something may stand between a message and its handler.
    pub(crate) fn set_layered(&self, layered: bool) {
        self.layered.store(layered, std::sync::atomic::Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn is_layered(&self) -> bool {
        self.layered.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// The reader looks up now: what it has been told of until now it will see.
    #[inline]
    pub(crate) fn notices(&self) -> Notices {
        Notices(self.notices.load(Acquire))
    }

    /// Whether the reader has been told of more since.
    #[inline]
    pub(crate) fn has_notice_since(&self, before: Notices) -> bool {
        self.notices.load(Relaxed) != before.0
    }

    /// Whether records are refused for good.
    pub(crate) fn is_closed(&self) -> bool {
        self.word.load(Acquire) & CLOSED != 0
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

    /// The record at the head.
    ///
    /// # Safety
    /// The caller is the one reader.
    #[inline]
    pub(crate) unsafe fn peek(&self, growth: &impl Growth) -> Peek {
        loop {
            let region = self.head.get();
            let offset = self.offset.get() as usize;
            if offset < Self::capacity_of(region) {
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
            self.offset.set(0);
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
        offset < Self::capacity_of(region) && unsafe { (*self.place(region, offset)).load() }.addr() > PAD
    }

    /// Takes the record that `peek` showed; its memory stays readable until the next `peek`.
    ///
    /// # Safety
    /// The caller is the one reader and `words` is the length of the record at the head.
    #[inline]
    pub(crate) unsafe fn advance(&self, words: usize) {
        self.offset.set(self.offset.get() + words as u16);
        let taken = self.taken.load(Relaxed).wrapping_add(1) & SEQUENCE_MASK;
        self.taken.store(taken, Release);
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
        if word & INLINE != 0 && offset <= INLINE_WORDS / 2 {
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
        self.offset.set(0);
        self.tail.store(ptr::null_mut(), Release);
        self.word.store(word & !(OFFSET | LARGE) | INLINE, Release);
    }

    fn release(&self, region: *mut AnyRegion, growth: &impl Growth) {
        if region.is_null() {
            return;
        }
        // SAFETY: made by `into_raw` in `install`; the reader has left it, so it is ours.
        let region = unsafe { Fresh::from_raw(region) };
        let blocks = region.blocks();
        pool::give(region);
        growth.shrunk(blocks);
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        // Whoever owns the log has read it to its end; only memory is left.
        let mut region = self.head.get();
        loop {
            let next = self.next(region).load(Relaxed);
            if !region.is_null() {
                // SAFETY: as in `release`; `&mut self` says that nobody else is left.
                pool::give(unsafe { Fresh::from_raw(region) });
            }
            if next.is_null() {
                return;
            }
            region = next;
        }
    }
}

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
