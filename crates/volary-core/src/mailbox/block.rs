//! What a log is written into: words, and blocks of them.

use std::ptr;

use crate::sync::atomic::{AtomicPtr, Ordering::*};

#[cfg(not(volary_loom))]
pub(crate) const INLINE_WORDS: usize = 10;
#[cfg(not(volary_loom))]
pub(crate) const BLOCK_WORDS: usize = 126;
// Loom explores every interleaving: regions of one and two records reach every branch.
#[cfg(volary_loom)]
pub(crate) const INLINE_WORDS: usize = 3;
#[cfg(volary_loom)]
pub(crate) const BLOCK_WORDS: usize = 4;

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

/// A region beyond the inline one.
#[repr(C)]
pub(crate) struct Block {
    pub(super) next: AtomicPtr<Block>,
    pub(super) words: [Word; BLOCK_WORDS],
}

impl Block {
    /// All zeroes, which the allocator has nothing to do for where the memory is fresh.
    #[cfg(not(any(volary_loom, volary_shuttle)))]
    pub(crate) fn boxed() -> Box<Block> {
        // SAFETY: a block is pointers, and null is all zeroes.
        unsafe { Box::new_zeroed().assume_init() }
    }

    #[cfg(any(volary_loom, volary_shuttle))]
    pub(crate) fn boxed() -> Box<Block> {
        Box::new(Block {
            next: AtomicPtr::new(ptr::null_mut()),
            words: [(); BLOCK_WORDS].map(|()| Word::new()),
        })
    }

    /// Makes a block as good as new.
    #[cfg(not(any(volary_loom, volary_shuttle)))]
    pub(crate) fn wipe(&mut self) {
        // Through `&mut`, so that it is one fill and not a store for each word.
        *self.next.get_mut() = ptr::null_mut();
        for word in &mut self.words {
            *word.0.get_mut() = ptr::null_mut();
        }
    }
}
