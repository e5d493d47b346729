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
//! Where many records wait the next block is a large one. Offsets count towards the same limit in regions of every length
//! (see [`block`](super::block)), so that one look at the word that a writer would store says that nothing stands in its way.
//!
//! An idle actor owns no block: its first records live in the inline region, and when the reader
//! has drained everything it returns there and gives its block back ([`Log::settle`]).
//!
//! Writers are in `writing`, the reader is in `reading`.
//!
//! The sequence number counts records, so depth and bounds need no counter of their own, and it
//! makes every value of the word unique, so the compare-and-swap cannot be fooled.

mod reading;
mod writing;

use std::ptr;

pub(crate) use reading::Peek;
pub(crate) use writing::Room;

use super::block::{Foot, Fresh, INLINE_WORDS, LIMIT, Word, start_of};
use super::marks::{GUARDED, METERED, Marks, SEEN};
use super::pool;
use crate::events::DeadReason;
use crate::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering::*};

const OFFSET: u64 = 0xffff;
const INSTALLING: u64 = 1 << 16;
const CLOSED: u64 = 1 << 17;
const INLINE: u64 = 1 << 18;
const ONE: u64 = 1 << 24;
const SEQUENCE_SHIFT: u32 = 24;
const SEQUENCE_MASK: u64 = (1 << 40) - 1;

/// Where the inline region begins.
const START: usize = start_of(INLINE_WORDS);
const _: () = assert!(2 * LIMIT as u64 <= OFFSET + 1 && 2 * LIMIT <= u16::MAX as usize);

/// The mailbox has a rule of its own, as `GUARDED` says to writers.
const RULED: u8 = 1;
/// Somebody wants to know when the reader was active last.
const WATCHED: u8 = 1 << 1;

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

/// As many as a reader has looked up for.
#[derive(Clone, Copy)]
pub(crate) struct Notices(u32);

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
    tail: AtomicPtr<Foot>,
    inline_next: AtomicPtr<Foot>,
    inline: [Word; INLINE_WORDS],
    /// The reader's region; null is the inline one. Reader only.
    head: std::cell::Cell<*mut Foot>,
    /// How many records the reader has taken; it may count farther than sequences do. Written by the reader, read by whoever asks for depth.
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

#[inline]
fn sequence(word: u64) -> u64 {
    word >> SEQUENCE_SHIFT
}

/// How far `a` is ahead of `b`; sequences wrap.
#[inline]
pub(super) fn sequence_distance(a: u64, b: u64) -> i64 {
    (a.wrapping_sub(b) << SEQUENCE_SHIFT).cast_signed() >> SEQUENCE_SHIFT
}

impl Log {
    pub(crate) fn new(guarded: bool) -> Self {
        Log {
            word: AtomicU64::new(START as u64 | INLINE | if guarded { GUARDED } else { 0 }),
            tail: AtomicPtr::new(ptr::null_mut()),
            inline_next: AtomicPtr::new(ptr::null_mut()),
            inline: [(); INLINE_WORDS].map(|()| Word::new()),
            head: std::cell::Cell::new(ptr::null_mut()),
            taken: AtomicU64::new(0),
            offset: std::cell::Cell::new(START as u16),
            reader_marks: std::cell::Cell::new(if guarded { RULED } else { 0 }),
            notices: AtomicU32::new(0),
            layered: std::sync::atomic::AtomicBool::new(false),
        }
    }

    /// The word at that place of a region; the one at the limit is never dereferenced.
    #[inline]
    fn place(&self, region: *mut Foot, offset: usize) -> *const Word {
        let end = if region.is_null() {
            self.inline.as_ptr().wrapping_add(INLINE_WORDS)
        } else {
            region.cast_const().cast::<Word>()
        };
        // In bounds: the words stand before the end, and callers go no farther.
        end.wrapping_add(offset).wrapping_sub(LIMIT)
    }

    fn next(&self, region: *mut Foot) -> &AtomicPtr<Foot> {
        if region.is_null() {
            &self.inline_next
        } else {
            // SAFETY: the tail under a successful reservation, or the head; both alive.
            unsafe { &(*region).next }
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
}

impl Drop for Log {
    fn drop(&mut self) {
        // Whoever owns the log has read it to its end; only memory is left.
        let mut region = self.head.get();
        loop {
            let next = self.next(region).load(Relaxed);
            if !region.is_null() {
                // SAFETY: as in `release`; `&mut self` says that nobody else is left.
                pool::give(unsafe { Fresh::from_foot(region) });
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
