//! The actors that a worker has made ready and that have handled nothing yet, the youngest first.
//!
//! An actor that spawns others, which spawn others, grows a tree. Run in the order in which they became ready, all of a
//! level are alive at once, and each is cold when its turn comes. The youngest first, a worker goes down to the leaves,
//! and what they used is free and warm for the next. Thieves take the oldest, which has most of the tree below it.

use std::collections::VecDeque;

use super::ring::Ready;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicUsize, Ordering::*};

/// More than a tree is deep and wide at once; what is beyond waits its turn in the ring. That must be rare: whoever comes
/// out of the ring begins another tree before those that were begun have ended, and soon most of all are alive at once.
const CAPACITY: usize = 1_024;

pub(crate) struct Young {
    ready: Mutex<VecDeque<Standing>>,
    /// Kept beside the lock, for those who look whether there is any.
    length: AtomicUsize,
}

struct Standing(Ready);

// SAFETY: a ready actor is handed from thread to thread by design; see `Ready`.
unsafe impl Send for Standing {}

impl Young {
    pub(crate) fn new() -> Self {
        Young {
            ready: Mutex::new(VecDeque::new()),
            length: AtomicUsize::new(0),
        }
    }

    /// In the order of all that say that they are ready, for a worker that is about to sleep.
    pub(crate) fn is_empty(&self) -> bool {
        self.length.load(SeqCst) == 0
    }

    /// False: there are too many.
    pub(crate) fn push(&self, ready: Ready) -> bool {
        let mut all = self.ready.lock();
        if all.len() == CAPACITY {
            return false;
        }
        all.push_back(Standing(ready));
        self.length.store(all.len(), SeqCst);
        true
    }

    /// For its worker.
    #[inline]
    pub(crate) fn youngest(&self) -> Option<Ready> {
        self.take(VecDeque::pop_back)
    }

    /// For thieves, and now and then for its worker, so that none waits for ever.
    pub(crate) fn oldest(&self) -> Option<Ready> {
        self.take(VecDeque::pop_front)
    }

    #[inline]
    fn take(&self, end: impl FnOnce(&mut VecDeque<Standing>) -> Option<Standing>) -> Option<Ready> {
        if self.length.load(Relaxed) == 0 {
            return None;
        }
        let mut all = self.ready.lock();
        let taken = end(&mut all);
        self.length.store(all.len(), Release);
        taken.map(|standing| standing.0)
    }
}

#[cfg(all(test, not(any(volary_loom, volary_shuttle))))]
mod tests {
    use super::*;

    fn ready(n: usize) -> Ready {
        std::ptr::without_provenance(n * 8)
    }

    #[test]
    fn its_worker_takes_the_youngest_and_thieves_the_oldest() {
        let young = Young::new();
        assert!(young.is_empty());
        assert!((1..=4).all(|n| young.push(ready(n))));
        assert_eq!(young.youngest(), Some(ready(4)));
        assert_eq!(young.oldest(), Some(ready(1)));
        assert_eq!(young.youngest(), Some(ready(3)));
        assert_eq!(young.oldest(), Some(ready(2)));
        assert_eq!((young.youngest(), young.oldest()), (None, None));
        assert!(young.is_empty());
    }

    #[test]
    fn too_many_are_refused() {
        let young = Young::new();
        assert!((1..=CAPACITY).all(|n| young.push(ready(n))));
        assert!(!young.push(ready(CAPACITY + 1)));
        assert_eq!(young.youngest(), Some(ready(CAPACITY)));
        assert!(young.push(ready(CAPACITY + 1)));
    }
}
