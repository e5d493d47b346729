//! The numbers that a failing actor is still to be told, for libraries in which
//! the next one can be told only to the next incarnation.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::latch::LAST;

/// How many numbers are left. One at a time asks for the next, after the one
/// before was handled, so nothing more than an atomic is needed.
pub struct Outstanding(AtomicU64);

impl Outstanding {
    /// None yet; lives as long as the process, as the latch does.
    pub fn leaked() -> &'static Self {
        Box::leak(Box::new(Self(AtomicU64::new(0))))
    }

    /// From now on there are so many to fail at, and `LAST`.
    pub fn set(&self, faults: u64) {
        self.0.store(faults + 1, Relaxed);
    }

    /// The next one, if there is any left.
    pub fn next(&self) -> Option<u64> {
        let left = self.0.load(Relaxed).checked_sub(1)?;
        self.0.store(left, Relaxed);
        Some(if left == 0 { LAST } else { left })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_comes_after_all_others_and_once() {
        let outstanding = Outstanding::leaked();
        assert_eq!(outstanding.next(), None);
        outstanding.set(2);
        let told: Vec<u64> = std::iter::from_fn(|| outstanding.next()).collect();
        assert_eq!(told, [2, 1, LAST]);
    }
}
