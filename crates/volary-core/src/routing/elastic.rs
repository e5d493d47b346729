//! When a pool grows and when it shrinks: a rule over what its routees have to do, which knows no clock.

use std::time::Duration;

/// Lets a pool grow and shrink with the mail of its routees. Measured at a fixed interval of the system's clock.
///
/// - If every routee is under *pressure* (that many messages wait for it), the pool grows by the *ramp-up* share of its
///   size, at least by one, up to the maximum.
/// - If less than the *backoff threshold* of the routees have anything to do, it shrinks by the *backoff rate*, at
///   least by one, down to the minimum. Routees that go are drained: they handle what they have, and no message is lost.
///
/// ```
/// use std::time::Duration;
/// use volary_core::routing::Elastic;
///
/// let elastic = Elastic::between(2, 32)
///     .pressure(10)
///     .ramp_up(0.5)
///     .backoff(0.3, 0.1)
///     .every(Duration::from_millis(500));
/// # let _ = elastic;
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub struct Elastic {
    pub(super) min: usize,
    pub(super) max: usize,
    pressure: usize,
    ramp_up: f64,
    backoff_threshold: f64,
    backoff_rate: f64,
    pub(super) every: Duration,
}

impl Elastic {
    /// Between so many and so many routees. Unless said otherwise: under pressure with 8 messages waiting, growing by a
    /// fifth, shrinking by a tenth while less than three in ten are busy, measured every second.
    ///
    /// ```
    /// # use volary_core::routing::Elastic;
    /// let _ = Elastic::between(1, 8);
    /// ```
    pub fn between(min: usize, max: usize) -> Self {
        Elastic {
            min,
            max,
            pressure: 8,
            ramp_up: 0.2,
            backoff_threshold: 0.3,
            backoff_rate: 0.1,
            every: Duration::from_secs(1),
        }
    }

    /// How many messages must wait for a routee to count as pressed; 0: it need only be busy.
    ///
    /// ```
    /// # use volary_core::routing::Elastic;
    /// let _ = Elastic::between(1, 8).pressure(100);
    /// ```
    pub fn pressure(mut self, waiting: usize) -> Self {
        self.pressure = waiting;
        self
    }

    /// The share of its size that the pool grows by.
    ///
    /// ```
    /// # use volary_core::routing::Elastic;
    /// let _ = Elastic::between(1, 8).ramp_up(1.0); // doubles
    /// ```
    pub fn ramp_up(mut self, share: f64) -> Self {
        self.ramp_up = share;
        self
    }

    /// Below which share of busy routees the pool shrinks, and by which share of its size.
    ///
    /// ```
    /// # use volary_core::routing::Elastic;
    /// let _ = Elastic::between(1, 8).backoff(0.5, 0.25);
    /// ```
    pub fn backoff(mut self, threshold: f64, rate: f64) -> Self {
        self.backoff_threshold = threshold;
        self.backoff_rate = rate;
        self
    }

    /// How often to measure, a millisecond at least.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use volary_core::routing::Elastic;
    /// let _ = Elastic::between(1, 8).every(Duration::from_millis(100));
    /// ```
    pub fn every(mut self, interval: Duration) -> Self {
        self.every = interval;
        self
    }

    /// What is wrong with the numbers.
    pub(super) fn problem(&self) -> Option<&'static str> {
        let share = |number: f64| number.is_finite() && number >= 0.0;
        if self.min == 0 {
            return Some("the minimum of an elastic pool is at least 1");
        }
        if self.max < self.min {
            return Some("the maximum of an elastic pool is not below its minimum");
        }
        if !(share(self.ramp_up) && share(self.backoff_rate) && share(self.backoff_threshold)) {
            return Some("the rates of an elastic pool are shares: numbers from 0 on");
        }
        None
    }

    /// How many routees there should be.
    pub(super) fn size_for(&self, loads: &[Load]) -> usize {
        let size = loads.len();
        let share = |rate: f64| ((size as f64 * rate).ceil() as usize).max(1);
        let pressed = |load: &&Load| {
            if self.pressure == 0 {
                load.is_busy()
            } else {
                load.waiting >= self.pressure
            }
        };
        let wanted = if size > 0 && loads.iter().filter(pressed).count() == size {
            size.saturating_add(share(self.ramp_up))
        } else if (loads.iter().filter(|load| load.is_busy()).count() as f64) < self.backoff_threshold * size as f64 {
            size.saturating_sub(share(self.backoff_rate))
        } else {
            size
        };
        wanted.clamp(self.min, self.max)
    }
}

/// What one routee has to do.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    pub(super) waiting: usize,
    pub(super) running: bool,
}

impl Load {
    fn is_busy(&self) -> bool {
        self.running || self.waiting > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loads(waiting: &[usize]) -> Vec<Load> {
        let load = |waiting: &usize| Load {
            waiting: *waiting,
            running: false,
        };
        waiting.iter().map(load).collect()
    }

    #[test]
    fn it_grows_only_when_all_are_pressed() {
        let elastic = Elastic::between(1, 10).pressure(5).ramp_up(0.5);
        assert_eq!(elastic.size_for(&loads(&[5, 5])), 3);
        assert_eq!(elastic.size_for(&loads(&[5, 4])), 2);
        assert_eq!(elastic.size_for(&loads(&[9; 9])), 10, "the maximum");
    }

    #[test]
    fn it_shrinks_when_few_are_busy() {
        let elastic = Elastic::between(2, 10).backoff(0.5, 0.5);
        assert_eq!(elastic.size_for(&loads(&[0, 0, 0, 1])), 2);
        assert_eq!(elastic.size_for(&loads(&[1, 1, 0, 0])), 4, "half of them are");
        assert_eq!(elastic.size_for(&loads(&[0, 0])), 2, "the minimum");
        assert_eq!(elastic.size_for(&[]), 2, "those that were lost come back");
    }

    #[test]
    fn odd_numbers_are_named() {
        assert!(Elastic::between(0, 1).problem().is_some());
        assert!(Elastic::between(2, 1).problem().is_some());
        assert!(Elastic::between(1, 1).ramp_up(f64::NAN).problem().is_some());
        assert!(Elastic::between(1, 1).problem().is_none());
    }
}
