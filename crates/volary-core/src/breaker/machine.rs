//! The states of a circuit breaker and what moves it between them.
//!
//! Time is what callers say it is; an earlier `now` than the last counts as the same. That is why the window and the open
//! duration never run backwards when threads arrive out of order.
//!
//! Each stay in a state has a number, its term, and a permit belongs to the term in which it was given. A call that
//! ends in a later term is counted but decides nothing: what was true before the breaker opened says little now.

use thiserror::Error;

use super::options::BreakerOptions;
use super::window::{Counted, SlidingWindow};
use crate::time::Moment;

/// What a circuit breaker does with calls.
///
/// ```
/// use volary_core::{BreakerOptions, CircuitBreaker, Moment};
/// use volary_core::breaker::State;
///
/// let breaker = CircuitBreaker::new(BreakerOptions::default())?;
/// assert_eq!(breaker.state(Moment::ZERO), State::Closed);
/// # Ok::<(), volary_core::BreakerOptionsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum State {
    /// Lets all calls through and watches how they end.
    Closed,
    /// Refuses all calls.
    Open,
    /// Lets a few calls through to see how they end.
    HalfOpen,
}

/// How a call ended.
///
/// ```
/// use volary_core::breaker::Outcome;
///
/// fn judge(answer: Result<u64, std::io::ErrorKind>) -> Outcome {
///     match answer {
///         Ok(_) => Outcome::Success,
///         Err(std::io::ErrorKind::InvalidInput) => Outcome::Ignored, // the caller's own fault
///         Err(_) => Outcome::Failure,
///     }
/// }
/// assert_eq!(judge(Ok(1)), Outcome::Success);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// The called side did what it should.
    Success,
    /// The called side did not.
    Failure,
    /// It says nothing about the called side. The same as dropping the permit.
    Ignored,
}

/// A change of state, handed to whoever caused it.
///
/// ```
/// use std::time::Duration;
/// use volary_core::{BreakerOptions, CircuitBreaker, Moment};
/// use volary_core::breaker::{Outcome, State};
///
/// let breaker = CircuitBreaker::new(BreakerOptions::default().minimum_calls(1))?;
/// let now = Moment::ZERO + Duration::from_secs(5);
/// let transition = breaker.try_acquire(now)?.record(Outcome::Failure, now).expect("it opens");
/// assert_eq!((transition.from, transition.to, transition.at), (State::Closed, State::Open, now));
/// assert_eq!((transition.seen.failures, transition.seen.calls), (1, 1));
/// assert_eq!(transition.number, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Transition {
    /// The state it left.
    pub from: State,
    /// The state it is in now.
    pub to: State,
    /// When.
    pub at: Moment,
    /// The calls that led to it: those of the window, or the trial calls. None if time alone, or a person, did.
    pub seen: Counted,
    /// The how-manieth change of this breaker it is, from 1 on. Whoever hears of changes from several threads can put
    /// them in order by it.
    pub number: u64,
}

/// The call was refused and did not happen. Do without it, or try again later.
///
/// ```
/// use std::time::Duration;
/// use volary_core::{BreakerOptions, CircuitBreaker, Moment};
/// use volary_core::breaker::Outcome;
///
/// let options = BreakerOptions::default().minimum_calls(1).open_for(Duration::from_secs(9));
/// let breaker = CircuitBreaker::new(options)?;
/// let _ = breaker.try_acquire(Moment::ZERO)?.record(Outcome::Failure, Moment::ZERO);
/// let open = breaker.try_acquire(Moment::ZERO).unwrap_err();
/// assert_eq!(open.retry_at, Some(Moment::ZERO + Duration::from_secs(9)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("circuit breaker open: {}", match .retry_at { Some(at) => format!("trial calls from {at:?} on"), None => "waiting for trial calls".to_owned() })]
#[non_exhaustive]
pub struct Open {
    /// When a call may get through again. None while it is half-open and all trial calls are under way: it then depends
    /// on how they end.
    pub retry_at: Option<Moment>,
}

/// What a circuit breaker has counted.
///
/// ```
/// use volary_core::{BreakerOptions, CircuitBreaker, Moment};
///
/// let breaker = CircuitBreaker::new(BreakerOptions::default())?;
/// drop(breaker.try_acquire(Moment::ZERO)?);
/// let counters = breaker.counters(Moment::ZERO);
/// assert_eq!((counters.permitted, counters.ignored, counters.window.calls), (1, 1, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Calls that were let through, ever.
    pub permitted: u64,
    /// Calls that were refused, ever.
    pub refused: u64,
    /// Calls that succeeded, ever.
    pub succeeded: u64,
    /// Calls that failed, ever.
    pub failed: u64,
    /// Calls that were slow, ever, failed or not.
    pub slow: u64,
    /// Permits that were dropped, or recorded as ignored, ever.
    pub ignored: u64,
    /// Of those that succeeded or failed, how many ended too late to decide anything, because the state had changed.
    pub late: u64,
    /// How many times it opened.
    pub opened: u64,
    /// Permits that are out now, of any age.
    pub in_flight: u64,
    /// The calls in the window now; while half-open the trial calls that have ended.
    pub window: Counted,
}

/// A permit as the machine knows it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grant {
    term: u64,
    round: u32,
    begun: Moment,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Phase {
    Closed,
    Open { until: Moment },
    HalfOpen(Trials),
}

/// The trial calls of one half-open stay.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Trials {
    ended: Counted,
    under_way: u32,
    /// How often those under way have lost their places.
    round: u32,
    /// When the last one was begun.
    latest: Moment,
}

impl Trials {
    /// Takes a place, if there is one, and says in which round.
    fn begin(&mut self, now: Moment, options: &BreakerOptions) -> Option<u32> {
        let is_full = |trials: &Self| trials.ended.calls + trials.under_way >= options.trial_calls;
        if is_full(self) && now.since(self.latest) >= options.open_for {
            // What has not ended by now may never do, and must not keep the breaker from closing.
            self.round += 1;
            self.under_way = 0;
        }
        if is_full(self) {
            return None;
        }
        self.under_way += 1;
        self.latest = now;
        Some(self.round)
    }

    /// Gives back the place of a call, if it still has one.
    fn leave(&mut self, grant: Grant) {
        if grant.round == self.round {
            self.under_way -= 1;
        }
    }
}

pub(super) struct Machine {
    options: BreakerOptions,
    phase: Phase,
    term: u64,
    window: SlidingWindow,
    /// The latest time that anybody said it is.
    latest: Moment,
    counters: Counters,
}

impl Machine {
    /// `options` have been checked.
    pub(super) fn new(options: BreakerOptions) -> Self {
        Self {
            window: SlidingWindow::new(options.window),
            options,
            phase: Phase::Closed,
            term: 0,
            latest: Moment::ZERO,
            counters: Counters::default(),
        }
    }

    pub(super) fn try_acquire(&mut self, now: Moment) -> Result<(Grant, Option<Transition>), Open> {
        let now = self.advance(now);
        let mut transition = None;
        if let Phase::Open { until } = self.phase
            && now >= until
        {
            let half_open = Phase::HalfOpen(Trials::default());
            transition = Some(self.enter(half_open, Counted::default(), now));
        }
        let given = match &mut self.phase {
            Phase::Closed => Ok(0),
            Phase::Open { until } => Err(Open { retry_at: Some(*until) }),
            Phase::HalfOpen(trials) => trials.begin(now, &self.options).ok_or(Open { retry_at: None }),
        };
        let round = given.inspect_err(|_| self.counters.refused += 1)?;
        self.counters.permitted += 1;
        self.counters.in_flight += 1;
        let grant = Grant {
            term: self.term,
            round,
            begun: now,
        };
        Ok((grant, transition))
    }

    pub(super) fn record(&mut self, grant: Grant, outcome: Outcome, now: Moment) -> Option<Transition> {
        let failed = match outcome {
            Outcome::Success => false,
            Outcome::Failure => true,
            Outcome::Ignored => {
                self.release(grant);
                return None;
            }
        };
        let now = self.advance(now);
        let slow = self.options.slow;
        let slow = slow.is_some_and(|slow| now.since(grant.begun) >= slow.after);
        let call = Counted::one(failed, slow);
        self.counters.in_flight -= 1;
        self.counters.succeeded += u64::from(!failed);
        self.counters.failed += u64::from(failed);
        self.counters.slow += u64::from(slow);
        if grant.term != self.term {
            self.counters.late += 1;
            return None;
        }
        match &mut self.phase {
            Phase::Closed => {
                self.window.record(call, now);
                let seen = self.window.counted(now);
                let enough = seen.calls >= self.options.minimum_calls;
                (enough && self.is_too_bad(seen, seen.calls)).then(|| self.open(seen, now))
            }
            Phase::HalfOpen(trials) => {
                trials.leave(grant);
                trials.ended.add(call);
                let seen = trials.ended;
                // Measured by all trial calls, also those to come: too bad means that they could not mend it.
                if self.is_too_bad(seen, self.options.trial_calls) {
                    Some(self.open(seen, now))
                } else if seen.calls == self.options.trial_calls {
                    self.window.clear();
                    Some(self.enter(Phase::Closed, seen, now))
                } else {
                    None
                }
            }
            // Nobody gets a permit while it is open.
            Phase::Open { .. } => None,
        }
    }

    /// Takes a permit back that says nothing.
    pub(super) fn release(&mut self, grant: Grant) {
        self.counters.in_flight -= 1;
        self.counters.ignored += 1;
        if let Phase::HalfOpen(trials) = &mut self.phase
            && grant.term == self.term
        {
            trials.leave(grant);
        }
    }

    pub(super) fn trip(&mut self, now: Moment) -> Option<Transition> {
        let now = self.advance(now);
        if let Phase::Open { until } = &mut self.phase {
            *until = now + self.options.open_for;
            return None;
        }
        Some(self.open(Counted::default(), now))
    }

    pub(super) fn reset(&mut self, now: Moment) -> Option<Transition> {
        let now = self.advance(now);
        self.window.clear();
        match self.phase {
            Phase::Closed => None,
            Phase::Open { .. } | Phase::HalfOpen(_) => Some(self.enter(Phase::Closed, Counted::default(), now)),
        }
    }

    pub(super) fn state(&self, now: Moment) -> State {
        match self.phase {
            Phase::Closed => State::Closed,
            Phase::Open { until } if now.max(self.latest) < until => State::Open,
            // Open until somebody asks, but whoever asks gets through.
            Phase::Open { .. } | Phase::HalfOpen(_) => State::HalfOpen,
        }
    }

    pub(super) fn counters(&mut self, now: Moment) -> Counters {
        let now = self.advance(now);
        let window = match &self.phase {
            Phase::Closed => self.window.counted(now),
            Phase::Open { .. } => Counted::default(),
            Phase::HalfOpen(trials) => trials.ended,
        };
        Counters {
            window,
            ..self.counters
        }
    }

    /// What can be told without a clock.
    pub(super) fn glance(&self) -> (Phase, Counters) {
        (self.phase, self.counters)
    }

    fn advance(&mut self, now: Moment) -> Moment {
        self.latest = self.latest.max(now);
        self.latest
    }

    /// Whether too many of `of` calls failed or were slow.
    fn is_too_bad(&self, seen: Counted, of: u32) -> bool {
        let reaches = |part: u32, percent: u8| u64::from(part) * 100 >= u64::from(percent) * u64::from(of);
        let slow = self.options.slow;
        reaches(seen.failures, self.options.failure_percent)
            || slow.is_some_and(|slow| reaches(seen.slow, slow.percent))
    }

    fn open(&mut self, seen: Counted, now: Moment) -> Transition {
        let until = now + self.options.open_for;
        self.counters.opened += 1;
        self.window.clear();
        self.enter(Phase::Open { until }, seen, now)
    }

    fn enter(&mut self, phase: Phase, seen: Counted, now: Moment) -> Transition {
        let from = self.phase.state();
        self.phase = phase;
        self.term += 1;
        Transition {
            from,
            to: self.phase.state(),
            at: now,
            seen,
            number: self.term,
        }
    }
}

impl Phase {
    fn state(&self) -> State {
        match self {
            Self::Closed => State::Closed,
            Self::Open { .. } => State::Open,
            Self::HalfOpen(_) => State::HalfOpen,
        }
    }
}
