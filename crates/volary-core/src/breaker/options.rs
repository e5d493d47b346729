//! What can be set on a circuit breaker.

use std::borrow::Cow;
use std::time::Duration;

use thiserror::Error;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// When a circuit breaker opens, and how it closes again.
///
/// ```
/// use std::time::Duration;
/// use volary_core::breaker::{BreakerOptions, CircuitBreaker, Window};
///
/// let options = BreakerOptions::default()
///     .window(Window::CallsWithin(50, Duration::from_secs(60)))
///     .failure_percent(30)
///     .slow_calls(Duration::from_secs(2), 80)
///     .minimum_calls(20)
///     .open_for(Duration::from_secs(10))
///     .trial_calls(5);
/// assert!(CircuitBreaker::new(options).is_ok());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct BreakerOptions {
    pub(super) name: Cow<'static, str>,
    pub(super) window: Window,
    pub(super) failure_percent: u8,
    pub(super) slow: Option<Slow>,
    pub(super) minimum_calls: u32,
    pub(super) open_for: Duration,
    pub(super) trial_calls: u32,
}

/// Which calls are slow, and how many of them are too many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slow {
    pub(super) after: Duration,
    pub(super) percent: u8,
}

/// Which calls a circuit breaker looks back on.
///
/// ```
/// use std::time::Duration;
/// use volary_core::breaker::{BreakerOptions, Window};
///
/// let busy = BreakerOptions::default().window(Window::Time(Duration::from_secs(30)));
/// let quiet = BreakerOptions::default().window(Window::Calls(20));
/// # let _ = (busy, quiet);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Window {
    /// The last so many calls, however old.
    Calls(u32),
    /// The calls of the last while, however many. Time passes in steps of a 32nd of it.
    Time(Duration),
    /// The last so many calls, as far as they are not older than the duration.
    CallsWithin(u32, Duration),
}

impl Window {
    /// How many calls it can hold.
    pub(super) fn capacity(self) -> Option<u32> {
        match self {
            Self::Calls(calls) | Self::CallsWithin(calls, _) => Some(calls),
            Self::Time(_) => None,
        }
    }

    fn duration(self) -> Option<Duration> {
        match self {
            Self::Calls(_) => None,
            Self::Time(time) | Self::CallsWithin(_, time) => Some(time),
        }
    }
}

/// The last 100 calls; opens for 30 s when half of at least 10 calls fail; closes after 3 trial calls.
impl Default for BreakerOptions {
    fn default() -> Self {
        Self {
            name: Cow::Borrowed("unnamed"),
            window: Window::Calls(100),
            failure_percent: 50,
            slow: None,
            minimum_calls: 10,
            open_for: Duration::from_secs(30),
            trial_calls: 3,
        }
    }
}

impl BreakerOptions {
    /// What it is called in logs and events; up to 200 bytes.
    ///
    /// ```
    /// # use volary_core::breaker::{BreakerOptions, CircuitBreaker};
    /// let breaker = CircuitBreaker::new(BreakerOptions::default().named("payments"))?;
    /// assert_eq!(breaker.name(), "payments");
    /// # Ok::<(), volary_core::BreakerOptionsError>(())
    /// ```
    pub fn named(self, name: impl Into<Cow<'static, str>>) -> Self {
        Self {
            name: name.into(),
            ..self
        }
    }

    /// Which calls to look back on; 1 to 100 000 of them, up to a day.
    ///
    /// ```
    /// # use volary_core::breaker::{BreakerOptions, CircuitBreaker, Window};
    /// let refused = CircuitBreaker::new(BreakerOptions::default().window(Window::Calls(0))).unwrap_err();
    /// assert_eq!(refused.option(), "window");
    /// ```
    pub fn window(self, window: Window) -> Self {
        Self { window, ..self }
    }

    /// Opens when this share of the calls, or more, has failed; 1 to 100.
    ///
    /// ```
    /// # use volary_core::breaker::{BreakerOptions, CircuitBreaker};
    /// let refused = CircuitBreaker::new(BreakerOptions::default().failure_percent(101)).unwrap_err();
    /// assert_eq!(refused.to_string(), "failure_percent: the value `101` is refused: allowed is 1 to 100");
    /// ```
    pub fn failure_percent(self, failure_percent: u8) -> Self {
        Self {
            failure_percent,
            ..self
        }
    }

    /// Opens also when this share of the calls, or more, took as long as `after`, whether they failed or not. Up to a
    /// day; 1 to 100. Without it no call is slow.
    ///
    /// ```
    /// use std::time::Duration;
    /// use volary_core::Moment;
    /// use volary_core::breaker::{BreakerOptions, CircuitBreaker, Outcome, State};
    ///
    /// let options = BreakerOptions::default().slow_calls(Duration::from_secs(2), 100).minimum_calls(1);
    /// let breaker = CircuitBreaker::new(options)?;
    /// let begun = Moment::ZERO;
    /// let ended = begun + Duration::from_secs(3);
    /// breaker.try_acquire(begun)?.record(Outcome::Success, ended);
    /// assert_eq!(breaker.state(ended), State::Open);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn slow_calls(self, after: Duration, percent: u8) -> Self {
        Self {
            slow: Some(Slow { after, percent }),
            ..self
        }
    }

    /// Stays closed as long as the window holds fewer calls than this; at least 1, and no more than the window can hold.
    ///
    /// ```
    /// # use volary_core::breaker::{BreakerOptions, CircuitBreaker, Window};
    /// let options = BreakerOptions::default().window(Window::Calls(20)).minimum_calls(21);
    /// assert_eq!(CircuitBreaker::new(options).unwrap_err().option(), "minimum_calls");
    /// ```
    pub fn minimum_calls(self, minimum_calls: u32) -> Self {
        Self { minimum_calls, ..self }
    }

    /// How long it refuses all calls before it lets trial calls through; up to a day.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use volary_core::breaker::{BreakerOptions, CircuitBreaker};
    /// let refused = CircuitBreaker::new(BreakerOptions::default().open_for(Duration::ZERO)).unwrap_err();
    /// assert_eq!(refused.option(), "open_for");
    /// ```
    pub fn open_for(self, open_for: Duration) -> Self {
        Self { open_for, ..self }
    }

    /// How many trial calls decide, and at most how many of them run at once; 1 to 10 000. It closes when all of them have
    /// ended and fewer than the percentages failed or were slow, and opens as soon as that is out of reach. When
    /// none was begun for as long as it stays open, those still under way lose their places to others: one that never
    /// ends does not keep it from closing. (If it does end, it counts.)
    ///
    /// ```
    /// # use volary_core::breaker::{BreakerOptions, CircuitBreaker};
    /// assert_eq!(CircuitBreaker::new(BreakerOptions::default().trial_calls(0)).unwrap_err().option(), "trial_calls");
    /// ```
    pub fn trial_calls(self, trial_calls: u32) -> Self {
        Self { trial_calls, ..self }
    }

    pub(super) fn check(&self) -> Result<(), BreakerOptionsError> {
        const PERCENT: &str = "1 to 100";
        const TIME: &str = "more than 0 and at most a day";
        let most = self.window.capacity().unwrap_or(MAX_CALLS);
        let slow = self.slow.unwrap_or(Slow {
            after: DAY,
            percent: 100,
        });
        let name_fits = (1..=MAX_NAME).contains(&self.name.len());
        check("named", name_fits, &self.name, "1 to 200 bytes")?;
        let window = format!("{:?}", self.window);
        let window_fits = (1..=MAX_CALLS).contains(&most) && self.window.duration().is_none_or(is_time);
        check(
            "window",
            window_fits,
            window,
            "1 to 100000 calls, a time of more than 0 and at most a day",
        )?;
        check(
            "failure_percent",
            is_percent(self.failure_percent),
            self.failure_percent,
            PERCENT,
        )?;
        check(
            "slow_calls.after",
            is_time(slow.after),
            format!("{:?}", slow.after),
            TIME,
        )?;
        check("slow_calls.percent", is_percent(slow.percent), slow.percent, PERCENT)?;
        let enough = (1..=most).contains(&self.minimum_calls);
        check(
            "minimum_calls",
            enough,
            self.minimum_calls,
            "1 to as many as the window holds, at most 100000",
        )?;
        check("open_for", is_time(self.open_for), format!("{:?}", self.open_for), TIME)?;
        let trials = (1..=MAX_TRIALS).contains(&self.trial_calls);
        check("trial_calls", trials, self.trial_calls, "1 to 10000")
    }
}

const MAX_NAME: usize = 200;
const MAX_CALLS: u32 = 100_000;
const MAX_TRIALS: u32 = 10_000;

fn is_percent(percent: u8) -> bool {
    (1..=100).contains(&percent)
}

fn is_time(time: Duration) -> bool {
    !time.is_zero() && time <= DAY
}

fn check(
    option: &'static str,
    fits: bool,
    value: impl ToString,
    allowed: &'static str,
) -> Result<(), BreakerOptionsError> {
    if fits {
        return Ok(());
    }
    Err(BreakerOptionsError::Value {
        option,
        value: value.to_string(),
        allowed,
    })
}

/// Why a circuit breaker was not made.
///
/// ```
/// use volary_core::{BreakerOptions, BreakerOptionsError, CircuitBreaker};
///
/// let refused = CircuitBreaker::new(BreakerOptions::default().trial_calls(0)).unwrap_err();
/// assert!(matches!(refused, BreakerOptionsError::Value { option: "trial_calls", .. }));
/// assert_eq!(refused.to_string(), "trial_calls: the value `0` is refused: allowed is 1 to 10000");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BreakerOptionsError {
    /// Give the option a value that is allowed.
    #[error("{option}: the value `{value}` is refused: allowed is {allowed}")]
    Value {
        /// The option.
        option: &'static str,
        /// The value as it was given.
        value: String,
        /// What is allowed.
        allowed: &'static str,
    },
}

impl BreakerOptionsError {
    /// The option that was refused.
    ///
    /// ```
    /// # use volary_core::{BreakerOptions, CircuitBreaker};
    /// let refused = CircuitBreaker::new(BreakerOptions::default().failure_percent(0)).unwrap_err();
    /// assert_eq!(refused.option(), "failure_percent");
    /// ```
    #[must_use]
    pub fn option(&self) -> &'static str {
        match self {
            Self::Value { option, .. } => option,
        }
    }
}
