//! What a log is written into: words, and regions of them.
//!
//! A block is what most mailboxes need at a time. One in which many messages wait has larger ones, so that it goes to the
//! allocator once for a thousand messages and not once for fifty.
//!
//! ```text
//!   place   START                     LIMIT
//!             ▼                         ▼
//!             ┌────────┬─ … ─┬──────────┬──────┐
//!             │ word   │     │ word     │ foot │
//!             └────────┴─ … ─┴──────────┴──────┘
//! ```
//!
//! Places are counted towards an end that is the same number in regions of every length, and a region is known by its
//! foot, which stands there: whether a record fits, and where it goes, is found without a look at how long the region is.

use std::mem::offset_of;
use std::ptr;

use crate::sync::atomic::{AtomicPtr, Ordering::*};

#[cfg(not(volary_loom))]
pub(crate) const INLINE_WORDS: usize = 10;
#[cfg(not(volary_loom))]
pub(crate) const BLOCK_WORDS: usize = 126;
#[cfg(not(volary_loom))]
pub(crate) const LARGE_WORDS: usize = 4_094;
// Loom explores every interleaving: regions of one and two records reach every branch.
#[cfg(volary_loom)]
pub(crate) const INLINE_WORDS: usize = 3;
#[cfg(volary_loom)]
pub(crate) const BLOCK_WORDS: usize = 4;
#[cfg(volary_loom)]
pub(crate) const LARGE_WORDS: usize = 6;

/// The place behind the last word of every region. A power of two, so that one bit of a place says that it lies beyond.
#[cfg(not(volary_loom))]
pub(super) const LIMIT: usize = 4_096;
#[cfg(volary_loom)]
pub(super) const LIMIT: usize = 8;

const _: () = assert!(LIMIT.is_power_of_two() && LARGE_WORDS <= LIMIT && LIMIT + BLOCK_WORDS <= 2 * LIMIT);

/// The place of the first word of a region of so many.
pub(super) const fn start_of(words: usize) -> usize {
    LIMIT - words
}

/// The first word of a record: a pointer, marked in its low bits; never null, never `PAD`.
pub(crate) type First = *mut ();

/// First word of a filler at the end of a region.
pub(super) const PAD: usize = 1;

/// One machine word of a region: the first word of a record is stored atomically, the others are
/// plain memory ordered by it.
#[cfg(not(volary_loom))]
#[repr(transparent)]
pub(crate) struct Word(std::sync::atomic::AtomicPtr<()>);

#[cfg(not(volary_loom))]
impl Word {
    pub(crate) const fn new() -> Self {
        Word(std::sync::atomic::AtomicPtr::new(ptr::null_mut()))
    }
    #[inline]
    pub(super) fn load(&self) -> First {
        self.0.load(Acquire)
    }
    #[inline]
    pub(super) fn publish(&self, value: First) {
        self.0.store(value, Release);
    }
    #[inline]
    pub(super) fn clear(&self) {
        self.0.store(ptr::null_mut(), Relaxed);
    }
}

#[cfg(volary_loom)]
pub(crate) struct Word {
    first: AtomicPtr<()>,
    pub(super) rest: loom::cell::UnsafeCell<u64>,
}

#[cfg(volary_loom)]
impl Word {
    pub(crate) fn new() -> Self {
        Word {
            first: AtomicPtr::new(ptr::null_mut()),
            rest: loom::cell::UnsafeCell::new(0),
        }
    }
    pub(super) fn load(&self) -> First {
        self.first.load(Acquire)
    }
    pub(super) fn publish(&self, value: First) {
        self.first.store(value, Release);
    }
    pub(super) fn clear(&self) {
        self.first.store(ptr::null_mut(), Relaxed);
        self.rest.with_mut(|_| ());
    }
}

/// Size of a block, for budgets.
pub(crate) const BLOCK_BYTES: u64 = size_of::<Block>() as u64;

/// As how many blocks a large one counts.
pub(super) const LARGE_BLOCKS: u64 = size_of::<LargeBlock>().div_ceil(size_of::<Block>()) as u64;

/// As many records as fit into a large one, if they were no longer than a word.
pub(crate) const LARGE_RECORDS: u64 = LARGE_WORDS as u64;

/// A region beyond the inline one.
#[repr(C)]
pub(crate) struct Region<const WORDS: usize> {
    words: [Word; WORDS],
    foot: Foot,
}

/// The end of a region, by which it is known. What points to it may go back to the region's beginning.
#[repr(C)]
pub(crate) struct Foot {
    pub(super) next: AtomicPtr<Foot>,
    capacity: usize,
}

pub(crate) type Block = Region<BLOCK_WORDS>;
pub(crate) type LargeBlock = Region<LARGE_WORDS>;

// The words end where the foot begins.
const _: () = assert!(offset_of!(Block, foot) == BLOCK_WORDS * size_of::<Word>());
const _: () = assert!(offset_of!(LargeBlock, foot) == LARGE_WORDS * size_of::<Word>());

impl Foot {
    /// The place of the region's first word.
    pub(super) fn start(&self) -> usize {
        start_of(self.capacity)
    }
}

impl<const WORDS: usize> Region<WORDS> {
    /// All zeroes, which the allocator has nothing to do for where the memory is fresh.
    #[cfg(not(any(volary_loom, volary_shuttle)))]
    pub(super) fn boxed() -> Box<Self> {
        // SAFETY: a region is pointers and a number, and null is all zeroes.
        let mut region: Box<Self> = unsafe { Box::new_zeroed().assume_init() };
        region.foot.capacity = WORDS;
        region
    }

    #[cfg(any(volary_loom, volary_shuttle))]
    pub(super) fn boxed() -> Box<Self> {
        Box::new(Region {
            words: [(); WORDS].map(|()| Word::new()),
            foot: Foot {
                next: AtomicPtr::new(ptr::null_mut()),
                capacity: WORDS,
            },
        })
    }

    /// Makes a region as good as new.
    #[cfg(not(any(volary_loom, volary_shuttle)))]
    pub(super) fn wipe(&mut self) {
        // Through `&mut`, so that it is one fill and not a store for each word.
        *self.foot.next.get_mut() = ptr::null_mut();
        for word in &mut self.words {
            *word.0.get_mut() = ptr::null_mut();
        }
    }

    fn into_foot(self: Box<Self>) -> *mut Foot {
        let region = Box::into_raw(self);
        // SAFETY: just a box; only the address is computed, by a pointer that may reach all of the region.
        unsafe { &raw mut (*region).foot }
    }

    /// # Safety
    /// It comes from `into_foot` of a region of this length, once, and nobody else has it.
    unsafe fn from_foot(foot: *mut Foot) -> Box<Self> {
        // SAFETY: the caller's promise; the foot stands at the end of what was a box.
        unsafe { Box::from_raw(foot.byte_sub(offset_of!(Self, foot)).cast()) }
    }
}

/// A region that belongs to no log.
pub(super) enum Fresh {
    Small(Box<Block>),
    Large(Box<LargeBlock>),
}

impl Fresh {
    pub(super) fn is_large(&self) -> bool {
        matches!(self, Fresh::Large(_))
    }

    /// As how many blocks it counts.
    pub(super) fn blocks(&self) -> u64 {
        if self.is_large() { LARGE_BLOCKS } else { 1 }
    }

    pub(super) fn into_foot(self) -> *mut Foot {
        match self {
            Fresh::Small(block) => block.into_foot(),
            Fresh::Large(block) => block.into_foot(),
        }
    }

    /// # Safety
    /// It comes from `into_foot`, once, and nobody else has it.
    pub(super) unsafe fn from_foot(foot: *mut Foot) -> Self {
        // SAFETY: the caller's promise; the capacity says which of the two it was made as.
        unsafe {
            if (*foot).capacity == LARGE_WORDS {
                Fresh::Large(Region::from_foot(foot))
            } else {
                Fresh::Small(Region::from_foot(foot))
            }
        }
    }

    /// The place of its first word.
    pub(super) fn start(&self) -> usize {
        match self {
            Fresh::Small(_) => start_of(BLOCK_WORDS),
            Fresh::Large(_) => start_of(LARGE_WORDS),
        }
    }
}
