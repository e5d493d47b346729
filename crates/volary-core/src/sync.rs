//! The one place where the crate learns what an atomic or a lock is.
//!
//! Ordinary builds get `std` and `parking_lot`. Under `--cfg volary_loom` the lock-free structures
//! are explored exhaustively, under `--cfg volary_shuttle` the whole dispatcher is run under random
//! schedules; both replace these types and nothing else.

#[cfg(not(any(volary_loom, volary_shuttle)))]
pub(crate) mod atomic {
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
}

#[cfg(volary_loom)]
pub(crate) mod atomic {
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
}

#[cfg(all(volary_shuttle, not(volary_loom)))]
pub(crate) mod atomic {
    pub(crate) use shuttle::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
}

#[cfg(not(any(volary_loom, volary_shuttle)))]
mod lock {
    /// A mutex that does not know poisoning: a panicking actor never holds one of ours.
    #[derive(Debug, Default)]
    pub(crate) struct Mutex<T>(parking_lot::Mutex<T>);
    pub(crate) type Guard<'a, T> = parking_lot::MutexGuard<'a, T>;

    impl<T> Mutex<T> {
        pub(crate) const fn new(value: T) -> Self {
            Mutex(parking_lot::Mutex::new(value))
        }
        pub(crate) fn lock(&self) -> Guard<'_, T> {
            self.0.lock()
        }
    }
}

#[cfg(any(volary_loom, volary_shuttle))]
mod lock {
    #[cfg(volary_loom)]
    use loom::sync as model;
    #[cfg(not(volary_loom))]
    use shuttle::sync as model;

    #[derive(Debug, Default)]
    pub(crate) struct Mutex<T>(model::Mutex<T>);
    pub(crate) type Guard<'a, T> = model::MutexGuard<'a, T>;

    impl<T> Mutex<T> {
        pub(crate) fn new(value: T) -> Self {
            Mutex(model::Mutex::new(value))
        }
        pub(crate) fn lock(&self) -> Guard<'_, T> {
            match self.0.lock() {
                Ok(guard) => guard,
                Err(poisoned) => poisoned.into_inner(),
            }
        }
    }
}

pub(crate) use lock::{Guard, Mutex};

/// Marks where the total order of `SeqCst` accesses is relied upon between two words. The accesses
/// themselves give it; loom knows it of fences only, so there a fence stands in.
#[inline(always)]
pub(crate) fn total_order() {
    #[cfg(volary_loom)]
    loom::sync::atomic::fence(atomic::Ordering::SeqCst);
}

/// Spins politely: a few pause instructions, then gives the core away.
pub(crate) struct Spin(u32);

impl Spin {
    pub(crate) fn new() -> Self {
        Spin(0)
    }

    #[cfg(not(any(volary_loom, volary_shuttle)))]
    pub(crate) fn pause(&mut self) {
        if self.0 < 7 {
            for _ in 0..1_u32 << self.0 {
                std::hint::spin_loop();
            }
            self.0 += 1;
        } else {
            std::thread::yield_now();
        }
    }

    #[cfg(volary_loom)]
    pub(crate) fn pause(&mut self) {
        self.0 += 1;
        loom::thread::yield_now();
    }

    #[cfg(all(volary_shuttle, not(volary_loom)))]
    pub(crate) fn pause(&mut self) {
        self.0 += 1;
        shuttle::thread::yield_now();
    }
}
