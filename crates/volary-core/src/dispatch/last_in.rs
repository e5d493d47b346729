//! The slot of the actor that was made ready last: warm in the cache of its worker, which comes to it next.
//!
//! Only the worker that owns it puts anybody in; the worker takes out, and so do thieves, of an owner who does not come.

use std::ptr;

use super::ring::Ready;
use crate::cell::Header;
use crate::sync::atomic::{AtomicPtr, Ordering::*};

pub(crate) struct LastIn(AtomicPtr<Header>);

impl LastIn {
    pub(crate) fn new() -> Self {
        LastIn(AtomicPtr::new(ptr::null_mut()))
    }

    /// Owner: puts an actor in; whom it displaces.
    #[inline]
    pub(crate) fn put(&self, ready: Ready) -> Option<Ready> {
        // Nobody else puts anybody in: if it is empty, it stays so, and a store costs less than a swap.
        if self.0.load(Relaxed).is_null() {
            self.0.store(ready.cast_mut(), Release);
            return None;
        }
        some(self.0.swap(ready.cast_mut(), AcqRel))
    }

    /// Owner: takes out whoever is there.
    #[inline]
    pub(crate) fn take(&self) -> Option<Ready> {
        if self.0.load(Relaxed).is_null() {
            return None;
        }
        some(self.0.swap(ptr::null_mut(), AcqRel))
    }

    /// Thief: who is there, to be taken by [`steal`](LastIn::steal).
    pub(crate) fn look(&self) -> Option<Ready> {
        some(self.0.load(Acquire))
    }

    /// Thief: takes out this very one. False: it is not there any more.
    pub(crate) fn steal(&self, ready: Ready) -> bool {
        self.0
            .compare_exchange(ready.cast_mut(), ptr::null_mut(), AcqRel, Relaxed)
            .is_ok()
    }

    /// In one order with all others who look before they sleep.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.load(SeqCst).is_null()
    }
}

fn some(ready: *mut Header) -> Option<Ready> {
    (!ready.is_null()).then_some(ready.cast_const())
}

#[cfg(all(test, volary_loom))]
mod loom_model {
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread;

    use super::*;

    fn item(n: usize) -> Ready {
        ptr::without_provenance(n * 8)
    }

    /// Each is taken once, and whoever takes it sees what was written before it was put there.
    #[test]
    fn loom_last_in_hands_each_to_one_with_what_was_written_before() {
        loom::model(|| {
            let shared = Arc::new((LastIn::new(), [1, 2, 3].map(|_| UnsafeCell::new(0))));
            let take = |written: &[UnsafeCell<usize>; 3], ready: Ready| {
                let n = ready.addr() / 8;
                // SAFETY: loom checks that nobody else is at it.
                let value = written[n - 1].with_mut(|value| unsafe { std::mem::replace(&mut *value, 0) });
                assert_eq!(value, n, "as it was written, and not taken before");
                n
            };
            let thief = {
                let shared = shared.clone();
                thread::spawn(move || {
                    let (slot, written) = &*shared;
                    let seen = slot.look().filter(|ready| slot.steal(*ready));
                    seen.map_or(0, |ready| take(written, ready))
                })
            };
            let (slot, written) = &*shared;
            let mut sum = 0;
            for n in 1..=3 {
                // SAFETY: as above.
                written[n - 1].with_mut(|value| unsafe { *value = n });
                sum += slot.put(item(n)).map_or(0, |ready| take(written, ready));
                if n == 2 {
                    sum += slot.take().map_or(0, |ready| take(written, ready));
                }
            }
            sum += slot.take().map_or(0, |ready| take(written, ready));
            assert_eq!(sum + thief.join().unwrap(), 6, "nobody is lost");
        });
    }
}
