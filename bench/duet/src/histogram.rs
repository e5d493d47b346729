//! A log-linear latency histogram written from many tasks at once: 64 buckets
//! per power of two (1.6 % error), relaxed atomics, no allocation when
//! recording. Percentiles are read once, after the run.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

const SUB_BITS: u32 = 6;
const SUB: usize = 1 << SUB_BITS;
const BUCKETS: usize = SUB * 40;

/// Counts of nanosecond values.
pub struct Histogram {
    counts: Box<[AtomicU64]>,
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl Histogram {
    /// An empty histogram.
    pub fn new() -> Self {
        Self {
            counts: (0..BUCKETS).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Adds one value.
    pub fn record(&self, latency: Duration) {
        let nanos = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
        self.counts[bucket(nanos)].fetch_add(1, Relaxed);
    }

    /// How many values were added.
    pub fn len(&self) -> u64 {
        self.counts.iter().map(|count| count.load(Relaxed)).sum()
    }

    /// Whether none was added.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value in microseconds below or at which `fraction` of all lie.
    pub fn percentile_us(&self, fraction: f64) -> f64 {
        let rank = (self.len() as f64 * fraction).ceil() as u64;
        let mut seen = 0;
        for (index, count) in self.counts.iter().enumerate() {
            seen += count.load(Relaxed);
            if seen >= rank.max(1) {
                return upper_bound(index) as f64 / 1e3;
            }
        }
        0.0
    }
}

fn bucket(nanos: u64) -> usize {
    if nanos < SUB as u64 {
        return nanos as usize;
    }
    let shift = nanos.ilog2() - SUB_BITS;
    let within = (nanos >> shift) as usize - SUB;
    (SUB * (shift as usize + 1) + within).min(BUCKETS - 1)
}

fn upper_bound(index: usize) -> u64 {
    if index < SUB {
        return index as u64;
    }
    let shift = index / SUB - 1;
    (((SUB + index % SUB + 1) as u64) << shift) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_fall_into_buckets_that_contain_them() {
        for nanos in [0, 1, 63, 64, 65, 127, 128, 1_000, 123_456, 9_999_999_999] {
            let index = bucket(nanos);
            assert!(nanos <= upper_bound(index), "{nanos}");
            assert!(index == 0 || nanos > upper_bound(index - 1), "{nanos}");
        }
    }

    #[test]
    fn percentiles_of_a_uniform_set() {
        let histogram = Histogram::new();
        for micros in 1..=1_000 {
            histogram.record(Duration::from_micros(micros));
        }
        let median = histogram.percentile_us(0.5);
        assert!((495.0..515.0).contains(&median), "{median}");
        assert!(histogram.percentile_us(1.0) >= 1_000.0);
    }
}
