//! What a log is written into: words, and regions of them.
//!
//! A block is what most mailboxes need at a time. One in which many messages wait has larger ones, so that it goes to the
//! allocator once for a thousand messages and not once for fifty.

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
    pub(super) next: AtomicPtr<AnyRegion>,
    pub(super) capacity: usize,
    pub(super) words: [Word; WORDS],
}

pub(crate) type Block = Region<BLOCK_WORDS>;
pub(crate) type LargeBlock = Region<LARGE_WORDS>;

/// A region whose length only it knows: reached by pointers that may go to its end.
pub(crate) type AnyRegion = Region<0>;

impl<const WORDS: usize> Region<WORDS> {
    /// All zeroes, which the allocator has nothing to do for where the memory is fresh.
    #[cfg(not(any(volary_loom, volary_shuttle)))]
    pub(super) fn boxed() -> Box<Self> {
        // SAFETY: a region is pointers and a number, and null is all zeroes.
        let mut region: Box<Self> = unsafe { Box::new_zeroed().assume_init() };
        region.capacity = WORDS;
        region
    }

    #[cfg(any(volary_loom, volary_shuttle))]
    pub(super) fn boxed() -> Box<Self> {
        Box::new(Region {
            next: AtomicPtr::new(ptr::null_mut()),
            capacity: WORDS,
            words: [(); WORDS].map(|()| Word::new()),
        })
    }

    /// Makes a region as good as new.
    #[cfg(not(any(volary_loom, volary_shuttle)))]
    pub(super) fn wipe(&mut self) {
        // Through `&mut`, so that it is one fill and not a store for each word.
        *self.next.get_mut() = ptr::null_mut();
        for word in &mut self.words {
            *word.0.get_mut() = ptr::null_mut();
        }
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

    pub(super) fn into_raw(self) -> *mut AnyRegion {
        match self {
            Fresh::Small(block) => Box::into_raw(block).cast(),
            Fresh::Large(block) => Box::into_raw(block).cast(),
        }
    }

    /// # Safety
    /// It comes from `into_raw`, once, and nobody else has it.
    pub(super) unsafe fn from_raw(region: *mut AnyRegion) -> Self {
        // SAFETY: the caller's promise; the capacity says which of the two it was made as.
        unsafe {
            if (*region).capacity == LARGE_WORDS {
                Fresh::Large(Box::from_raw(region.cast()))
            } else {
                Fresh::Small(Box::from_raw(region.cast()))
            }
        }
    }
}
