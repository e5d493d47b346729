//! The actors that a worker has made ready and that have handled nothing yet, the youngest first.
//!
//! An actor that spawns others, which spawn others, grows a tree. Run in the order in which they became ready, all of a
//! level are alive at once, and each is cold when its turn comes. The youngest first, a worker goes down to the leaves,
//! and what they used is free and warm for the next. Thieves take the oldest, which has most of the tree below it.
//!
//! ```text
//!            thieves take here                  the worker puts and takes here
//!                  ▼                                          ▼
//!   places · · [ oldest ][ old ][ young ] … [ younger ][ youngest ] · ·
//!                ▲ top                                            ▲ bottom
//! ```
//!
//! The worker and a thief meet at the last one only, and there whoever moves `top` has it (the deque of Chase and Lev, with
//! the orderings of Lê, Pop, Cohen and Zappa Nardelli). Positions run on and wrap; a place is a position modulo the capacity.

use crate::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::*, fence};

use super::ring::Ready;
use crate::cell::Header;

/// More than a tree is deep and wide at once; what is beyond waits its turn in the ring. That must be rare: whoever comes
/// out of the ring begins another tree before those that were begun have ended, and soon most of all are alive at once.
#[cfg(not(any(volary_loom, volary_shuttle)))]
const CAPACITY: usize = 1_024;
#[cfg(any(volary_loom, volary_shuttle))]
const CAPACITY: usize = 2;
// Or places would change when positions wrap.
const _: () = assert!(CAPACITY.is_power_of_two());

pub(crate) struct Young {
    /// Where the oldest stands. Moved on by whoever takes it.
    top: AtomicUsize,
    /// Behind the youngest. Written by the worker only.
    bottom: AtomicUsize,
    places: Box<[AtomicPtr<Header>; CAPACITY]>,
}

impl Young {
    pub(crate) fn new() -> Self {
        let places: Vec<AtomicPtr<Header>> = (0..CAPACITY).map(|_| AtomicPtr::new(std::ptr::null_mut())).collect();
        let Ok(places) = places.into_boxed_slice().try_into() else {
            unreachable!("made with this very length")
        };
        Young {
            top: AtomicUsize::new(0),
            bottom: AtomicUsize::new(0),
            places,
        }
    }

    fn place(&self, position: usize) -> &AtomicPtr<Header> {
        &self.places[position % CAPACITY]
    }

    /// For whoever is about to sleep, and has said so before; who puts one in looks for sleepers after it.
    pub(crate) fn is_empty(&self) -> bool {
        let top = self.top.load(SeqCst);
        distance(self.bottom.load(SeqCst), top) <= 0
    }

    /// For its worker. False: there are too many.
    pub(crate) fn push(&self, ready: Ready) -> bool {
        let bottom = self.bottom.load(Relaxed);
        if distance(bottom, self.top.load(Acquire)) >= CAPACITY as isize {
            return false;
        }
        self.place(bottom).store(ready.cast_mut(), Relaxed);
        self.bottom.store(bottom.wrapping_add(1), Release);
        true
    }

    /// For its worker.
    #[inline]
    pub(crate) fn youngest(&self) -> Option<Ready> {
        let bottom = self.bottom.load(Relaxed);
        // Only the worker adds, so what is empty stays so.
        if distance(bottom, self.top.load(Relaxed)) <= 0 {
            return None;
        }
        let last = bottom.wrapping_sub(1);
        // Thieves are to see that this one is taken, or it sees that they came first.
        self.bottom.store(last, Release);
        fence(SeqCst);
        let top = self.top.load(Relaxed);
        let others = distance(last, top);
        if others > 0 {
            return Some(self.place(last).load(Relaxed));
        }
        let taken = (others == 0 && self.move_top(top)).then(|| self.place(last).load(Relaxed).cast_const());
        self.bottom.store(bottom, Release);
        taken
    }

    /// For thieves, and now and then for its worker, so that none waits for ever.
    pub(crate) fn oldest(&self) -> Option<Ready> {
        loop {
            let top = self.top.load(Acquire);
            fence(SeqCst);
            if distance(self.bottom.load(Acquire), top) <= 0 {
                return None;
            }
            // Not used if somebody else has it, for then the place may have another one already.
            let ready = self.place(top).load(Relaxed);
            if self.move_top(top) {
                return Some(ready);
            }
        }
    }

    fn move_top(&self, top: usize) -> bool {
        self.top
            .compare_exchange(top, top.wrapping_add(1), SeqCst, Relaxed)
            .is_ok()
    }
}

/// How far one position is behind another.
fn distance(bottom: usize, top: usize) -> isize {
    bottom.wrapping_sub(top).cast_signed()
}

#[cfg(all(test, not(volary_shuttle)))]
mod tests {
    use super::*;

    fn ready(n: usize) -> Ready {
        std::ptr::without_provenance(n * 8)
    }

    #[cfg(volary_loom)]
    mod loom_model {
        use super::*;
        use loom::sync::Arc;
        use loom::thread;

        type Written = [loom::cell::UnsafeCell<usize>; 4];

        /// Takes what was written before it was put there, once.
        fn take(written: &Written, ready: Ready) -> usize {
            let n = ready.addr() / 8;
            // SAFETY: loom checks that nobody else is at it.
            let value = written[n - 1].with_mut(|value| unsafe { std::mem::replace(&mut *value, 0) });
            assert_eq!(value, n, "as it was written, and not taken before");
            n
        }

        fn put(young: &Young, written: &Written, n: usize) -> bool {
            // SAFETY: as above; nobody knows of it yet.
            written[n - 1].with_mut(|value| unsafe { *value = n });
            young.push(ready(n))
        }

        fn shared() -> Arc<(Young, Written)> {
            Arc::new((Young::new(), [1, 2, 3, 4].map(|_| loom::cell::UnsafeCell::new(0))))
        }

        #[test]
        fn loom_young_hands_each_to_one_with_what_was_written_before() {
            loom::model(|| {
                let shared = shared();
                let thief = {
                    let shared = shared.clone();
                    thread::spawn(move || {
                        let (young, written) = &*shared;
                        let stolen: usize = (0..2)
                            .filter_map(|_| young.oldest())
                            .map(|ready| take(written, ready))
                            .sum();
                        stolen
                    })
                };
                let (young, written) = &*shared;
                let mut sum = 0;
                for n in 1..=3 {
                    if !put(young, written, n) {
                        sum += take(written, ready(n)); // it goes elsewhere
                    }
                    if n == 2 {
                        sum += young.youngest().map_or(0, |ready| take(written, ready));
                    }
                }
                while let Some(ready) = young.youngest() {
                    sum += take(written, ready);
                }
                assert_eq!(sum + thief.join().unwrap(), 6, "nobody is lost");
                assert!(young.is_empty());
            });
        }

        #[test]
        fn loom_young_is_had_by_one_of_two_thieves_and_its_worker() {
            loom::model(|| {
                let shared = shared();
                let (young, written) = &*shared;
                assert!(put(young, written, 1));
                let thieves = [(); 2].map(|()| {
                    let shared = shared.clone();
                    thread::spawn(move || {
                        let (young, written) = &*shared;
                        young.oldest().map_or(0, |ready| take(written, ready))
                    })
                });
                let own = young.youngest().map_or(0, |ready| take(written, ready));
                let stolen: usize = thieves.into_iter().map(|thief| thief.join().unwrap()).sum();
                assert_eq!(own + stolen, 1);
                assert!(young.is_empty());
            });
        }

        /// The thief may hold a `top` that its worker has moved on, and whose place has another one by then.
        #[test]
        fn loom_young_uses_a_place_again_under_a_thief_and_refuses_when_full() {
            loom::model(|| {
                let shared = shared();
                let (young, written) = &*shared;
                assert!(put(young, written, 1) && put(young, written, 2));
                let thief = {
                    let shared = shared.clone();
                    thread::spawn(move || {
                        let (young, written) = &*shared;
                        young.oldest().map_or(0, |ready| take(written, ready))
                    })
                };
                // Of two the thief takes one at most.
                let mut sum = young.oldest().map(|ready| take(written, ready)).expect("one is left");
                assert!(put(young, written, 3), "there is room");
                if !put(young, written, 4) {
                    sum += take(written, ready(4));
                }
                while let Some(ready) = young.youngest() {
                    sum += take(written, ready);
                }
                assert_eq!(sum + thief.join().unwrap(), 10, "nobody is lost");
                assert!(young.is_empty());
            });
        }
    }

    #[cfg(not(volary_loom))]
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

    #[cfg(not(volary_loom))]
    #[test]
    fn too_many_are_refused() {
        let young = Young::new();
        assert!((1..=CAPACITY).all(|n| young.push(ready(n))));
        assert!(!young.push(ready(CAPACITY + 1)));
        assert_eq!(young.youngest(), Some(ready(CAPACITY)));
        assert!(young.push(ready(CAPACITY + 1)));
        assert_eq!(young.oldest(), Some(ready(1)));
        assert!(young.push(ready(CAPACITY + 2)), "a place that a thief has left");
        assert_eq!(young.youngest(), Some(ready(CAPACITY + 2)));
    }
}
