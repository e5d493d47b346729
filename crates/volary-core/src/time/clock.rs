//! Moments of the system's clock.
//!
//! Time inside the runtime is a number of nanoseconds since the environment began, so that a
//! virtual clock and a real one look the same and a deadline fits into a word.

use std::fmt;
use std::ops::Add;
use std::time::Duration;

/// A point of the system's monotonic clock, real or virtual.
///
/// ```
/// use std::time::Duration;
/// use volary_core::Moment;
///
/// let start = Moment::ZERO;
/// let later = start + Duration::from_millis(3);
/// assert_eq!(later.since(start), Duration::from_millis(3));
/// assert!(later > start);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Moment(u64);

impl Moment {
    /// When the environment began.
    ///
    /// ```
    /// # use volary_core::Moment;
    /// assert_eq!(Moment::ZERO, Moment::default());
    /// ```
    pub const ZERO: Moment = Moment(0);

    pub(crate) const fn from_nanos(nanos: u64) -> Self {
        Moment(nanos)
    }

    pub(crate) const fn nanos(self) -> u64 {
        self.0
    }

    /// The time from `earlier` to this moment; zero if it is not earlier.
    ///
    /// ```
    /// # use volary_core::Moment;
    /// assert!(Moment::ZERO.since(Moment::ZERO).is_zero());
    /// ```
    #[must_use]
    pub fn since(self, earlier: Moment) -> Duration {
        Duration::from_nanos(self.nanos_since(earlier))
    }

    #[inline]
    pub(crate) const fn nanos_since(self, earlier: Moment) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl Add<Duration> for Moment {
    type Output = Moment;
    fn add(self, time: Duration) -> Moment {
        Moment(self.0.saturating_add(nanos(time)))
    }
}

impl fmt::Debug for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "+{:?}", Duration::from_nanos(self.0))
    }
}

/// A duration as nanoseconds; five centuries are enough for everybody.
pub(crate) fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
