//! The calls that count: the last ones, those of the last while, or both.
//!
//! Calls are kept one by one where their number is bounded. Where only time bounds them they are summed up in slots of a
//! 32nd of the window, so that memory does not depend on the load:
//!
//! ```text
//!   time ──▶   │ 3 │ 0 │ 7 │ … │ 2 │      the slot of now is the last; a slot counts as a whole or not at all
//! ```

use std::collections::VecDeque;
use std::time::Duration;

use super::options::Window;
use crate::time::{Moment, nanos};

pub(super) const SLOTS: u64 = 32;

/// How calls ended.
///
/// ```
/// use volary_core::{BreakerOptions, CircuitBreaker, Moment};
/// use volary_core::breaker::{Counted, Outcome};
///
/// let breaker = CircuitBreaker::new(BreakerOptions::default())?;
/// breaker.try_acquire(Moment::ZERO)?.record(Outcome::Failure, Moment::ZERO);
/// let window: Counted = breaker.counters(Moment::ZERO).window;
/// assert_eq!((window.calls, window.failures, window.slow), (1, 1, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counted {
    /// All calls.
    pub calls: u32,
    /// Those that failed.
    pub failures: u32,
    /// Those that were slow, failed or not.
    pub slow: u32,
}

impl Counted {
    pub(super) fn one(failed: bool, slow: bool) -> Self {
        Self {
            calls: 1,
            failures: failed.into(),
            slow: slow.into(),
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.failures = self.failures.saturating_add(other.failures);
        self.slow = self.slow.saturating_add(other.slow);
    }

    fn subtract(&mut self, other: Self) {
        self.calls -= other.calls;
        self.failures -= other.failures;
        self.slow -= other.slow;
    }
}

#[derive(Debug)]
pub(super) enum SlidingWindow {
    Each(Each),
    Slots(Slots),
}

impl SlidingWindow {
    pub(super) fn new(window: Window) -> Self {
        match window {
            Window::Calls(calls) => Self::Each(Each::new(calls, None)),
            Window::CallsWithin(calls, time) => Self::Each(Each::new(calls, Some(time))),
            Window::Time(time) => Self::Slots(Slots::new(time)),
        }
    }

    pub(super) fn record(&mut self, call: Counted, now: Moment) {
        match self {
            Self::Each(each) => each.record(call, now),
            Self::Slots(slots) => slots.record(call, now),
        }
    }

    /// What counts now.
    pub(super) fn counted(&mut self, now: Moment) -> Counted {
        match self {
            Self::Each(each) => each.counted(now),
            Self::Slots(slots) => slots.counted(now),
        }
    }

    pub(super) fn clear(&mut self) {
        match self {
            Self::Each(each) => {
                each.calls.clear();
                each.sum = Counted::default();
            }
            Self::Slots(slots) => *slots.ring = EMPTY,
        }
    }
}

/// Every call of the window, oldest first.
#[derive(Debug)]
pub(super) struct Each {
    most: usize,
    age: Option<Duration>,
    calls: VecDeque<(Moment, Counted)>,
    sum: Counted,
}

impl Each {
    fn new(most: u32, age: Option<Duration>) -> Self {
        Self {
            most: most as usize,
            age,
            calls: VecDeque::new(),
            sum: Counted::default(),
        }
    }

    fn record(&mut self, call: Counted, now: Moment) {
        if self.calls.len() == self.most {
            self.forget_oldest();
        }
        self.calls.push_back((now, call));
        self.sum.add(call);
    }

    /// A call counts until it is as old as the window is long.
    fn counted(&mut self, now: Moment) -> Counted {
        if let Some(age) = self.age {
            while self.calls.front().is_some_and(|(at, _)| now.since(*at) >= age) {
                self.forget_oldest();
            }
        }
        self.sum
    }

    fn forget_oldest(&mut self) {
        if let Some((_, call)) = self.calls.pop_front() {
            self.sum.subtract(call);
        }
    }
}

type Ring = [(u64, Counted); SLOTS as usize];

const EMPTY: Ring = [(
    0,
    Counted {
        calls: 0,
        failures: 0,
        slow: 0,
    },
); SLOTS as usize];

/// Sums over slots of time.
#[derive(Debug)]
pub(super) struct Slots {
    /// Length of a slot in nanoseconds.
    length: u64,
    /// By the number of a slot modulo their count: that number, and its sum. A number that is too old means nothing.
    ring: Box<Ring>,
}

impl Slots {
    fn new(time: Duration) -> Self {
        Self {
            length: nanos(time).div_ceil(SLOTS),
            ring: Box::new(EMPTY),
        }
    }

    fn record(&mut self, call: Counted, now: Moment) {
        let number = now.nanos() / self.length;
        let slot = &mut self.ring[(number % SLOTS) as usize];
        if slot.0 != number {
            *slot = (number, Counted::default());
        }
        slot.1.add(call);
    }

    fn counted(&self, now: Moment) -> Counted {
        let last = now.nanos() / self.length;
        let mut sum = Counted::default();
        for (number, slot) in self.ring.iter() {
            if last - number < SLOTS {
                sum.add(*slot);
            }
        }
        sum
    }
}
