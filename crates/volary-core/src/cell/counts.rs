//! How many pointers there are to a cell, of both kinds, in one word.
//!
//! ```text
//!   ┌ weak (32) ┬ strong (32) ┐
//! ```
//!
//! All strong ones together hold one weak one. In one word, so that whoever lets go of a pointer can see at a look that there
//! is no other: an actor that ends is mostly known to nobody any more, and then its cell is freed without a locked
//! instruction.

use crate::sync::atomic::{AtomicU64, Ordering::*, fence};

const STRONG: u64 = 1;
const WEAK: u64 = 1 << 32;
/// As Arc does: two thousand million leaked references are a bug that must not become worse.
const ABSURD: u32 = u32::MAX / 2;

fn strong(counts: u64) -> u32 {
    counts as u32
}

fn weak(counts: u64) -> u32 {
    (counts >> 32) as u32
}

pub(super) struct Counts(AtomicU64);

impl Counts {
    /// Of a new cell, with so many strong ones.
    pub(super) fn born(strong: u32) -> Self {
        Counts(AtomicU64::new(WEAK + u64::from(strong)))
    }

    pub(super) fn strong(&self) -> u32 {
        strong(self.0.load(Acquire))
    }

    /// One more; the caller has one.
    #[inline]
    pub(super) fn add_strong(&self) {
        if strong(self.0.fetch_add(STRONG, Relaxed)) > ABSURD {
            std::process::abort();
        }
    }

    /// One more, unless there is none: the caller has a weak one.
    pub(super) fn revive(&self) -> bool {
        let mut counts = self.0.load(Relaxed);
        while strong(counts) != 0 {
            if strong(counts) > ABSURD {
                std::process::abort();
            }
            match self.0.compare_exchange_weak(counts, counts + STRONG, Acquire, Relaxed) {
                Ok(_) => return true,
                Err(seen) => counts = seen,
            }
        }
        false
    }

    /// True: it was the last, and what hangs on the cell goes.
    #[inline]
    pub(super) fn drop_strong(&self) -> bool {
        let before = self.0.fetch_sub(STRONG, Release);
        debug_assert!(strong(before) > 0 && weak(before) > 0, "a pointer that did not count");
        let last = strong(before) == 1;
        if last {
            fence(Acquire);
        }
        last
    }

    /// The same where it probably is the last pointer of all: a look, which costs less than a locked instruction if it is.
    #[inline]
    pub(super) fn drop_strong_if_not_alone(&self) -> bool {
        // There is one, and it is the caller's: nobody can make another.
        self.0.load(Acquire) == WEAK + STRONG || self.drop_strong()
    }

    pub(super) fn add_weak(&self) {
        if weak(self.0.fetch_add(WEAK, Relaxed)) > ABSURD {
            std::process::abort();
        }
    }

    /// True: it was the last, and the memory goes.
    #[inline]
    pub(super) fn drop_weak(&self) -> bool {
        let before = self.0.fetch_sub(WEAK, Release);
        debug_assert!(weak(before) > 0, "a pointer that did not count");
        let last = weak(before) == 1;
        if last {
            fence(Acquire);
        }
        last
    }

    /// Drops the weak one that the strong ones held, which are gone. True: as for `drop_weak`.
    #[inline]
    pub(super) fn drop_last_weak(&self) -> bool {
        weak(self.0.load(Acquire)) == 1 || self.drop_weak()
    }
}

#[cfg(all(test, volary_loom))]
mod loom_model {
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread;

    use super::*;

    /// A cell that remembers what of it is gone, and is read by whoever has a pointer.
    struct Toy {
        counts: Counts,
        insides: UnsafeCell<u32>,
        memory: UnsafeCell<u32>,
    }

    impl Toy {
        fn new(strong: u32) -> Arc<Self> {
            Arc::new(Toy {
                counts: Counts::born(strong),
                insides: UnsafeCell::new(0),
                memory: UnsafeCell::new(0),
            })
        }

        /// What whoever has a strong pointer may do.
        fn read(&self) {
            self.look();
            // SAFETY: loom checks that nobody frees it meanwhile.
            self.insides.with(|gone| assert_eq!(unsafe { *gone }, 0));
        }

        /// What whoever has a pointer of either kind may do.
        fn look(&self) {
            // SAFETY: as above.
            self.memory.with(|gone| assert_eq!(unsafe { *gone }, 0));
        }

        fn release(&self) {
            self.look();
            // SAFETY: loom checks that nobody else is at it.
            self.insides.with_mut(|gone| unsafe { *gone += 1 });
            if self.counts.drop_last_weak() {
                self.free();
            }
        }

        fn free(&self) {
            // SAFETY: as above.
            self.memory.with_mut(|gone| unsafe { *gone += 1 });
        }

        fn drop_strong(&self) {
            self.read();
            if self.counts.drop_strong() {
                self.release();
            }
        }

        fn bury(&self) {
            self.read();
            if self.counts.drop_strong_if_not_alone() {
                self.release();
            }
        }

        fn drop_weak(&self) {
            self.look();
            if self.counts.drop_weak() {
                self.free();
            }
        }

        fn is_gone_once(&self) {
            // SAFETY: all threads have ended.
            let gone = unsafe { (self.insides.with(|n| *n), self.memory.with(|n| *n)) };
            assert_eq!(gone, (1, 1), "inside and memory, each once");
        }
    }

    #[test]
    fn loom_counts_free_a_cell_once_when_two_let_go() {
        loom::model(|| {
            let toy = Toy::new(2);
            let other = {
                let toy = toy.clone();
                thread::spawn(move || toy.drop_strong())
            };
            toy.bury();
            other.join().unwrap();
            toy.is_gone_once();
        });
    }

    /// The one that is revived has its own weak pointer gone before it is let go of: only both counts in one look show it.
    #[test]
    fn loom_counts_free_nothing_that_was_revived() {
        loom::model(|| {
            let toy = Toy::new(1);
            toy.counts.add_weak();
            let other = {
                let toy = toy.clone();
                thread::spawn(move || {
                    toy.look();
                    let revived = toy.counts.revive();
                    toy.drop_weak();
                    if revived {
                        toy.drop_strong();
                    }
                })
            };
            toy.bury();
            other.join().unwrap();
            toy.is_gone_once();
        });
    }
}
