//! Durations in buckets, counted without a lock.

use std::time::Duration;

use crate::sync::atomic::{AtomicU64, Ordering::*};
use crate::time::nanos;

/// Upper bounds of the buckets; one more bucket takes what is longer.
///
/// ```
/// assert!(volary_core::BOUNDS.is_sorted());
/// ```
pub const BOUNDS: [Duration; 22] = [
    Duration::from_nanos(200),
    Duration::from_nanos(500),
    Duration::from_micros(1),
    Duration::from_micros(2),
    Duration::from_micros(5),
    Duration::from_micros(10),
    Duration::from_micros(20),
    Duration::from_micros(50),
    Duration::from_micros(100),
    Duration::from_micros(200),
    Duration::from_micros(500),
    Duration::from_millis(1),
    Duration::from_millis(2),
    Duration::from_millis(5),
    Duration::from_millis(10),
    Duration::from_millis(20),
    Duration::from_millis(50),
    Duration::from_millis(100),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(5),
    Duration::from_secs(30),
];

/// The same as numbers, which are compared at half the price.
const BOUNDS_NANOS: [u64; BOUNDS.len()] = {
    let mut bounds = [0; BOUNDS.len()];
    let mut at = 0;
    while at < bounds.len() {
        bounds[at] = BOUNDS[at].as_nanos() as u64;
        at += 1;
    }
    bounds
};

/// The first bucket that may take a time with so many bits: from there it is never more than two on, where a search in
/// all of them guesses wrong at every other step.
const FIRST: [u8; u64::BITS as usize + 1] = {
    let mut first = [0; u64::BITS as usize + 1];
    let mut bits = 1;
    while bits < first.len() {
        let least = 1 << (bits - 1);
        let mut at = first[bits - 1];
        while (at as usize) < BOUNDS_NANOS.len() && BOUNDS_NANOS[at as usize] < least {
            at += 1;
        }
        first[bits] = at;
        bits += 1;
    }
    first
};

/// Which bucket takes a time in nanoseconds.
fn bucket(time: u64) -> usize {
    let first = FIRST[(u64::BITS - time.leading_zeros()) as usize] as usize;
    let on = BOUNDS_NANOS[first..].iter().take_while(|bound| **bound < time).count();
    first + on
}

#[derive(Default)]
pub(crate) struct Buckets {
    counts: [AtomicU64; BOUNDS.len() + 1],
    sum: AtomicU64,
}

impl Buckets {
    /// Counts a time in nanoseconds.
    pub(crate) fn record(&self, time: u64) {
        self.counts[bucket(time)].fetch_add(1, Relaxed);
        self.sum.fetch_add(time, Relaxed);
    }

    pub(crate) fn read(&self) -> Histogram {
        Histogram {
            counts: std::array::from_fn(|at| self.counts[at].load(Relaxed)),
            sum: Duration::from_nanos(self.sum.load(Relaxed)),
        }
    }
}

/// A reading of durations in buckets.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/measured.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let system = measured().await?;
/// for kind in system.readings().kinds {
///     println!("{}: {} measured, mean {:?}", kind.kind, kind.took.count(), kind.took.mean());
/// }
/// # let took: Histogram = reading_of_accounts(&system).took;
/// # assert_eq!(took.counts.iter().sum::<u64>(), 1);
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Histogram {
    /// How many fell into each bucket: up to each of [`BOUNDS`], and beyond.
    pub counts: [u64; BOUNDS.len() + 1],
    /// All of them together.
    pub sum: Duration,
}

impl Histogram {
    /// How many were measured.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/measured.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let system = measured().await?;
    /// # let reading = reading_of_accounts(&system);
    /// assert_eq!(reading.took.count(), 1); // she was asked once
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The mean; zero if nothing was measured.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/measured.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let system = measured().await?;
    /// # let reading = reading_of_accounts(&system);
    /// assert_eq!(reading.took.mean(), reading.took.sum); // she was asked once
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn mean(&self) -> Duration {
        match self.count() {
            0 => Duration::ZERO,
            count => Duration::from_nanos(nanos(self.sum) / count),
        }
    }

    /// The bound below which a share of all lies, such as 0.99; `None` if nothing was measured, or it lies beyond the
    /// last bound.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/measured.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let system = measured().await?;
    /// # let reading = reading_of_accounts(&system);
    /// println!("p99 below {:?}", reading.took.below(0.99));
    /// # assert!(reading.took.below(0.99) >= Some(reading.took.mean()));
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn below(&self, share: f64) -> Option<Duration> {
        let count = self.count();
        if count == 0 {
            return None;
        }
        let wanted = (share.clamp(0.0, 1.0) * count as f64).ceil() as u64;
        let mut seen = 0;
        let at = self.counts.iter().position(|n| {
            seen += n;
            seen >= wanted
        })?;
        BOUNDS.get(at).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l29_durations_fall_into_the_bucket_whose_bound_they_do_not_exceed() {
        let buckets = Buckets::default();
        for time in [
            Duration::ZERO,
            BOUNDS[0],
            BOUNDS[1],
            BOUNDS[21],
            Duration::from_secs(31),
        ] {
            buckets.record(nanos(time));
        }
        let read = buckets.read();
        assert_eq!(
            (read.counts[0], read.counts[1], read.counts[21], read.counts[22]),
            (2, 1, 1, 1)
        );
        assert_eq!(read.count(), 5);
        assert_eq!(read.below(0.4), Some(BOUNDS[0]));
        assert_eq!(read.below(0.5), Some(BOUNDS[1]));
        assert_eq!(read.below(1.0), None);
    }
}
