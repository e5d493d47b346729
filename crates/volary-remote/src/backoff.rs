//! The pauses between attempts to connect: doubling, with jitter, from a first one to a longest.

use std::time::Duration;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Backoff {
    first: Duration,
    most: Duration,
    attempts: u32,
}

impl Backoff {
    pub(crate) fn new(first: Duration, most: Duration) -> Self {
        Backoff {
            first,
            most,
            attempts: 0,
        }
    }

    /// A connection was made.
    pub(crate) fn reset(&mut self) {
        self.attempts = 0;
    }

    /// The next pause: between three quarters of the doubled one and all of it.
    pub(crate) fn next(&mut self, random: u64) -> Duration {
        let doubled = self
            .first
            .saturating_mul(1_u32.checked_shl(self.attempts).unwrap_or(u32::MAX));
        self.attempts = self.attempts.saturating_add(1).min(31);
        let pause = doubled.min(self.most);
        let quarter = pause / 4;
        pause - quarter.mul_f64((random % 1024) as f64 / 1024.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r3_pauses_double_up_to_the_longest_and_begin_anew() {
        let mut backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(30));
        let pauses: Vec<u64> = (0..8).map(|_| backoff.next(0).as_secs()).collect();
        assert_eq!(pauses, [1, 2, 4, 8, 16, 30, 30, 30]);
        for random in [1, 500, 1023, u64::MAX] {
            let pause = backoff.next(random);
            assert!(
                pause <= Duration::from_secs(30) && pause >= Duration::from_millis(22_500),
                "{pause:?}"
            );
        }
        backoff.reset();
        assert_eq!(backoff.next(0), Duration::from_secs(1));
    }
}
