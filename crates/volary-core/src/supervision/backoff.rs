//! Waiting longer and longer between restarts.

use std::time::Duration;

use super::policy::SupervisionError;

/// Delays that double from `first` to `longest`, with some randomness, and begin anew after a quiet
/// time.
///
/// ```
/// # use std::time::Duration;
/// use volary_core::{Backoff, Supervision};
///
/// let backoff = Backoff::new(Duration::from_millis(10), Duration::from_secs(1));
/// assert!(Supervision::new().backoff(backoff).validate().is_ok());
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Backoff {
    first: Duration,
    longest: Duration,
    jitter: f64,
    reset_after: Duration,
}

impl Backoff {
    /// Delays from `first` to `longest`, a fifth of each random, reset after twice the longest.
    ///
    /// ```
    /// # use std::time::Duration;
    /// let backoff = volary_core::Backoff::new(Duration::from_millis(10), Duration::from_secs(1));
    /// assert_eq!(backoff.first(), Duration::from_millis(10));
    /// ```
    pub fn new(first: Duration, longest: Duration) -> Self {
        Backoff {
            first,
            longest,
            jitter: 0.2,
            reset_after: longest.saturating_mul(2),
        }
    }

    /// Which part of each delay is random, from 0 to 1. It only shortens: `longest` is never exceeded.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # let backoff = volary_core::Backoff::new(Duration::from_millis(10), Duration::from_secs(1));
    /// assert_eq!(backoff.jitter(0.5).jitter_part(), 0.5);
    /// ```
    pub fn jitter(mut self, part: f64) -> Self {
        self.jitter = part;
        self
    }

    /// How long an actor must run without a crash for the delays to begin anew.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # let backoff = volary_core::Backoff::new(Duration::from_millis(10), Duration::from_secs(1));
    /// assert_eq!(backoff.reset_after(Duration::from_secs(5)).quiet_time(), Duration::from_secs(5));
    /// ```
    pub fn reset_after(mut self, quiet: Duration) -> Self {
        self.reset_after = quiet;
        self
    }

    /// The first pause.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use volary_core::Backoff;
    /// let backoff = Backoff::new(Duration::from_millis(10), Duration::from_secs(1)).jitter(0.5);
    /// assert_eq!((backoff.first(), backoff.longest()), (Duration::from_millis(10), Duration::from_secs(1)));
    /// assert_eq!((backoff.jitter_part(), backoff.quiet_time()), (0.5, Duration::from_secs(2)));
    /// ```
    #[must_use]
    pub fn first(&self) -> Duration {
        self.first
    }

    /// The longest pause; see [`first`](Backoff::first).
    ///
    /// ```
    /// # use std::time::Duration;
    /// # let backoff = volary_core::Backoff::new(Duration::from_millis(10), Duration::from_secs(1));
    /// assert_eq!(backoff.longest(), Duration::from_secs(1));
    /// ```
    #[must_use]
    pub fn longest(&self) -> Duration {
        self.longest
    }

    /// Which part of a pause is left to chance; see [`first`](Backoff::first).
    ///
    /// ```
    /// # use std::time::Duration;
    /// # let backoff = volary_core::Backoff::new(Duration::from_millis(10), Duration::from_secs(1));
    /// assert_eq!(backoff.jitter(0.0).jitter_part(), 0.0);
    /// ```
    #[must_use]
    pub fn jitter_part(&self) -> f64 {
        self.jitter
    }

    /// After how much time without a crash the pauses begin anew; see [`first`](Backoff::first).
    ///
    /// ```
    /// # use std::time::Duration;
    /// # let backoff = volary_core::Backoff::new(Duration::from_millis(10), Duration::from_secs(1));
    /// assert_eq!(backoff.reset_after(Duration::from_secs(5)).quiet_time(), Duration::from_secs(5));
    /// ```
    #[must_use]
    pub fn quiet_time(&self) -> Duration {
        self.reset_after
    }

    pub(super) fn validate(&self) -> Result<(), SupervisionError> {
        let wrong = |problem| {
            let setting = "backoff";
            Err(SupervisionError { setting, problem })
        };
        if self.first.is_zero() {
            return wrong("begins with 0ns; it must wait at least a little".to_owned());
        }
        if self.longest < self.first {
            return wrong(format!(
                "ends with {:?}, before it begins with {:?}",
                self.longest, self.first
            ));
        }
        if !(0.0..=1.0).contains(&self.jitter) {
            return wrong(format!("has a jitter of {}; it must be from 0 to 1", self.jitter));
        }
        Ok(())
    }

    pub(super) fn quiet(&self) -> Duration {
        self.reset_after
    }

    /// The delay before the n-th restart in a row, counted from 0. `random` is any number.
    pub(super) fn delay(&self, n: u32, random: u64) -> Duration {
        let doubled = self.first.saturating_mul(1_u32.checked_shl(n).unwrap_or(u32::MAX));
        let full = doubled.min(self.longest);
        // The upper 53 bits are what a float can hold.
        let part = (random >> 11) as f64 / (1_u64 << 53) as f64;
        full.mul_f64(1.0 - self.jitter * part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn delays_double_up_to_the_longest_and_jitter_only_shortens() {
        let exact = Backoff::new(10 * MS, 100 * MS).jitter(0.0);
        let delays: Vec<_> = [0, 1, 2, 3, 4, 40].map(|n| exact.delay(n, u64::MAX)).into();
        assert_eq!(delays, [10, 20, 40, 80, 100, 100].map(|ms| ms * MS));
        let loose = Backoff::new(10 * MS, 100 * MS).jitter(0.5);
        assert_eq!(loose.delay(0, 0), 10 * MS);
        assert!(loose.delay(0, u64::MAX) >= 5 * MS && loose.delay(0, u64::MAX) < 6 * MS);
    }

    #[test]
    fn absurd_values_are_named() {
        let text = |backoff: Backoff| backoff.validate().unwrap_err().to_string();
        assert!(text(Backoff::new(Duration::ZERO, MS)).contains("backoff begins with 0ns"));
        assert!(text(Backoff::new(2 * MS, MS)).contains("backoff ends with 1ms"));
        for jitter in [-0.1, 1.1, f64::NAN] {
            assert!(text(Backoff::new(MS, MS).jitter(jitter)).contains("jitter"));
        }
        assert_eq!(Backoff::new(MS, MS).validate(), Ok(()));
    }
}
