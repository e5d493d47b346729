//! A count that actors add to and the measuring thread reads, by which a
//! program sees that a pass did what it was told to.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A count that only grows.
pub struct Tally(AtomicU64);

impl Tally {
    /// A tally that lives as long as the process, as the latch does.
    pub fn leaked() -> &'static Self {
        Box::leak(Box::new(Self(AtomicU64::new(0))))
    }

    /// Adds to it.
    pub fn add(&self, count: u64) {
        self.0.fetch_add(count, Relaxed);
    }

    /// What was added so far. The latch orders it after the end of a pass.
    pub fn total(&self) -> u64 {
        self.0.load(Relaxed)
    }
}
