//! Actors that become ready while somebody delivers much mail at once: queued together, with one look for a worker to wake,
//! instead of one by one.

use std::cell::{Cell, RefCell};
use std::ptr;
use std::sync::Arc;

use super::host::Host;
use super::pool::Pool;
use super::ring::Ready;

/// How many are kept back at most. With these a worker has something to do for a while.
const MOST: usize = 32;

/// Those of one thread.
pub(crate) struct Gathered {
    /// For whom it is gathered; null between deliveries.
    pool: Cell<*const Pool>,
    ready: RefCell<Vec<Ready>>,
}

impl Gathered {
    pub(super) const fn new() -> Self {
        Gathered {
            pool: Cell::new(ptr::null()),
            ready: RefCell::new(Vec::new()),
        }
    }

    /// Keeps an actor back for a moment; false if nobody gathers for that pool.
    #[inline]
    pub(super) fn put(&self, pool: &Arc<Pool>, ready: Ready) -> bool {
        if !ptr::eq(self.pool.get(), Arc::as_ptr(pool)) {
            return false;
        }
        let count = {
            let mut gathered = self.ready.borrow_mut();
            gathered.push(ready);
            gathered.len()
        };
        if count == MOST {
            self.let_go(pool);
        }
        true
    }

    /// Queues them. Whoever is woken for that may be anybody's code, so the list is not held meanwhile.
    fn let_go(&self, pool: &Pool) {
        let mut gathered = std::mem::take(&mut *self.ready.borrow_mut());
        if gathered.is_empty() {
            return;
        }
        pool.schedule_all(&mut gathered);
        let mut list = self.ready.borrow_mut();
        if list.capacity() == 0 {
            *list = gathered; // empty, and as good as a new one
        }
    }

    /// Calls `deliver`; actors of the pool that it makes ready are queued together. Within another such call it only calls.
    pub(crate) fn within<R>(pool: &Arc<Pool>, deliver: impl FnOnce() -> R) -> R {
        /// Queues them in any case: whoever is ready stands in a queue, or never runs again.
        struct Flush<'a>(&'a Arc<Pool>);
        impl Drop for Flush<'_> {
            fn drop(&mut self) {
                Host::with(|host| {
                    host.gathered.pool.set(ptr::null());
                    host.gathered.let_go(self.0);
                });
            }
        }
        let begun = Host::with(|host| {
            let is_first = host.gathered.pool.get().is_null();
            is_first.then(|| {
                host.gathered.pool.set(Arc::as_ptr(pool));
                Flush(pool)
            })
        });
        let result = deliver();
        drop(begun);
        result
    }
}

#[cfg(all(test, not(any(volary_loom, volary_shuttle))))]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::cell::Header;

    /// An address that nobody looks at.
    fn actor(number: usize) -> Ready {
        ptr::without_provenance::<Header>(number)
    }

    fn queued(pool: &Pool) -> Vec<usize> {
        let mut all = Vec::new();
        let others = RefCell::new(Vec::new());
        while let Some(first) = pool.pop_global(&Cell::new(0), |other| others.borrow_mut().push(other.addr())) {
            all.push(first.addr());
            all.append(&mut others.borrow_mut());
        }
        all
    }

    #[test]
    fn l14_actors_woken_by_one_delivery_are_queued_together_in_their_order() {
        let pool = Pool::at_rest();
        pool.schedule(actor(1));
        assert_eq!(queued(&pool), [1], "nobody gathers");
        Gathered::within(&pool, || {
            (2..=4).for_each(|number| pool.schedule(actor(number)));
            assert_eq!(queued(&pool), [0; 0], "not yet");
        });
        assert_eq!(queued(&pool), [2, 3, 4]);
        pool.schedule(actor(5));
        assert_eq!(queued(&pool), [5], "it is over");
    }

    #[test]
    fn l14_so_many_at_once_do_not_wait_for_the_end_of_the_delivery() {
        let pool = Pool::at_rest();
        Gathered::within(&pool, || {
            (1..=MOST + 1).for_each(|number| pool.schedule(actor(number)));
            assert_eq!(queued(&pool).len(), MOST);
        });
        assert_eq!(queued(&pool), [MOST + 1]);
    }

    #[test]
    fn s11_a_delivery_that_panics_leaves_nobody_behind() {
        let pool = Pool::at_rest();
        let delivered = catch_unwind(AssertUnwindSafe(|| {
            Gathered::within(&pool, || {
                pool.schedule(actor(1));
                panic!("in the middle");
            });
        }));
        assert!(delivered.is_err());
        assert_eq!(queued(&pool), [1]);
        pool.schedule(actor(2));
        assert_eq!(queued(&pool), [2], "nobody gathers any more");
    }

    #[test]
    fn l14_actors_of_another_pool_are_queued_at_once_and_with_their_own() {
        let (one, two) = (Pool::at_rest(), Pool::at_rest());
        Gathered::within(&one, || {
            one.schedule(actor(1));
            Gathered::within(&two, || {
                two.schedule(actor(2));
                assert_eq!(queued(&two), [2]);
                one.schedule(actor(3));
            });
            assert_eq!(queued(&one), [0; 0], "the outer one is not over");
        });
        assert_eq!((queued(&one), queued(&two)), (vec![1, 3], vec![]));
    }
}
