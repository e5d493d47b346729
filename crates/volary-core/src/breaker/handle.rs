//! The circuit breaker as many actors share it: a handle, and the permits it gives.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use super::call::Call;
use super::machine::{Counters, Grant, Machine, Open, Outcome, State, Transition};
use super::options::{BreakerOptions, BreakerOptionsError};
use crate::sync::Mutex;
use crate::system::ActorSystem;
use crate::time::Moment;

/// Stops calling what fails, and tries again after a while. Clones are handles to the same breaker.
///
/// Let it make a [`call`](CircuitBreaker::call), or hand it to a [pipe](crate::Context::pipe). Or do it by hand: ask for
/// a [`Permit`] before a call and record in it how the call ended. Each method takes a lock for a few instructions and
/// waits for nothing else.
///
/// What it does can be seen at any time: [`state`](CircuitBreaker::state), [`counters`](CircuitBreaker::counters), and
/// the event [`BreakerChanged`](crate::BreakerChanged) for each change of state.
///
/// ```
/// use std::time::Duration;
/// use volary_core::{BreakerOptions, CircuitBreaker, Moment};
/// use volary_core::breaker::{Outcome, State, Window};
///
/// let options = BreakerOptions::default()
///     .window(Window::Calls(4))
///     .minimum_calls(4)
///     .failure_percent(50)
///     .open_for(Duration::from_secs(10))
///     .trial_calls(1);
/// let breaker = CircuitBreaker::new(options)?;
///
/// let now = Moment::ZERO;
/// for outcome in [Outcome::Success, Outcome::Failure, Outcome::Success, Outcome::Failure] {
///     if let Some(transition) = breaker.try_acquire(now)?.record(outcome, now) {
///         println!("{:?} -> {:?}", transition.from, transition.to);
///     }
/// }
/// let open = breaker.try_acquire(now).unwrap_err();
///
/// let later = open.retry_at.expect("a time to try again");
/// let trial = breaker.try_acquire(later)?;
/// assert_eq!(trial.transition().map(|transition| transition.to), Some(State::HalfOpen));
/// let closed = trial.record(Outcome::Success, later).expect("a change of state");
/// assert_eq!(closed.to, State::Closed);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct CircuitBreaker {
    shared: Arc<Shared>,
}

struct Shared {
    name: Cow<'static, str>,
    machine: Mutex<Machine>,
}

impl CircuitBreaker {
    /// A closed breaker.
    ///
    /// ```
    /// # use volary_core::{BreakerOptions, CircuitBreaker};
    /// assert!(CircuitBreaker::new(BreakerOptions::default()).is_ok());
    /// assert!(CircuitBreaker::new(BreakerOptions::default().minimum_calls(0)).is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// Names the option whose value is refused.
    pub fn new(options: BreakerOptions) -> Result<Self, BreakerOptionsError> {
        options.check()?;
        let name = options.name.clone();
        let machine = Mutex::new(Machine::new(options));
        Ok(Self {
            shared: Arc::new(Shared { name, machine }),
        })
    }

    /// What it is called in logs and events.
    ///
    /// ```
    /// # use volary_core::{BreakerOptions, CircuitBreaker};
    /// assert_eq!(CircuitBreaker::new(BreakerOptions::default())?.name(), "unnamed");
    /// # Ok::<(), volary_core::BreakerOptionsError>(())
    /// ```
    #[must_use]
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// Makes a call: `future` is polled if the breaker permits it, and how it ends is recorded. Time is that of `system`,
    /// whose event stream hears of changes of state.
    ///
    /// An error, a panic, or none of them within the [`timeout`](Call::timeout) is a failure; [`judge`](Call::judge) may
    /// see errors otherwise. Cancel safe: dropped before it has ended, the call counts for nothing.
    ///
    /// ```
    /// use volary_core::{ActorSystem, BreakerOptions, CircuitBreaker};
    /// use volary_core::breaker::CallError;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let system = ActorSystem::builder("demo").start().await?;
    /// let breaker = CircuitBreaker::new(BreakerOptions::default().minimum_calls(1))?;
    /// assert_eq!(breaker.call(&system, async { "7".parse::<u32>() }).await?, 7);
    /// let failed = breaker.call(&system, async { "seven".parse::<u32>() }).await; // half of two calls
    /// assert!(matches!(failed, Err(CallError::Failed(_))));
    /// let refused = breaker.call(&system, async { "8".parse::<u32>() }).await;
    /// assert!(matches!(refused, Err(CallError::Refused(_))));
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn call<F, T, E>(&self, system: &ActorSystem, future: F) -> Call<F, E>
    where
        F: Future<Output = Result<T, E>>,
    {
        Call::new(system.clone(), Some(self.clone()), future)
    }

    /// Asks whether a call may be made at `now`.
    ///
    /// ```
    /// # use volary_core::{BreakerOptions, CircuitBreaker, Moment};
    /// # use volary_core::breaker::Outcome;
    /// let breaker = CircuitBreaker::new(BreakerOptions::default())?;
    /// match breaker.try_acquire(Moment::ZERO) {
    ///     Ok(permit) => {
    ///         let outcome = Outcome::Success; // of the call
    ///         permit.record(outcome, Moment::ZERO);
    ///     }
    ///     Err(open) => println!("{open}"),
    /// }
    /// # Ok::<(), volary_core::BreakerOptionsError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Open`] if the breaker is open, or half-open with all trial calls under way.
    pub fn try_acquire(&self, now: Moment) -> Result<Permit, Open> {
        let (grant, transition) = self.shared.machine.lock().try_acquire(now)?;
        Ok(Permit {
            breaker: self.clone(),
            grant: Some(grant),
            transition,
        })
    }

    /// The state at `now`. Half-open begins when the open duration is over, whether or not anybody has called yet.
    ///
    /// ```
    /// # use volary_core::{BreakerOptions, CircuitBreaker, Moment};
    /// # use volary_core::breaker::State;
    /// let breaker = CircuitBreaker::new(BreakerOptions::default())?;
    /// assert_eq!(breaker.state(Moment::ZERO), State::Closed);
    /// # Ok::<(), volary_core::BreakerOptionsError>(())
    /// ```
    #[must_use]
    pub fn state(&self, now: Moment) -> State {
        self.shared.machine.lock().state(now)
    }

    /// What has been counted, the window as of `now`.
    ///
    /// ```
    /// # use volary_core::{BreakerOptions, CircuitBreaker, Moment};
    /// let breaker = CircuitBreaker::new(BreakerOptions::default())?;
    /// let _permit = breaker.try_acquire(Moment::ZERO)?;
    /// assert_eq!(breaker.counters(Moment::ZERO).in_flight, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn counters(&self, now: Moment) -> Counters {
        self.shared.machine.lock().counters(now)
    }

    /// Opens it by hand, for one open duration from now. None if it was open already.
    ///
    /// ```
    /// # use volary_core::{BreakerOptions, CircuitBreaker, Moment};
    /// let breaker = CircuitBreaker::new(BreakerOptions::default())?;
    /// assert!(breaker.trip(Moment::ZERO).is_some());
    /// assert!(breaker.try_acquire(Moment::ZERO).is_err());
    /// # Ok::<(), volary_core::BreakerOptionsError>(())
    /// ```
    pub fn trip(&self, now: Moment) -> Option<Transition> {
        self.shared.machine.lock().trip(now)
    }

    /// Closes it by hand and forgets the calls of the window. None if it is closed already.
    ///
    /// ```
    /// # use volary_core::{BreakerOptions, CircuitBreaker, Moment};
    /// let breaker = CircuitBreaker::new(BreakerOptions::default())?;
    /// let _ = breaker.trip(Moment::ZERO);
    /// assert!(breaker.reset(Moment::ZERO).is_some());
    /// assert!(breaker.try_acquire(Moment::ZERO).is_ok());
    /// # Ok::<(), volary_core::BreakerOptionsError>(())
    /// ```
    pub fn reset(&self, now: Moment) -> Option<Transition> {
        self.shared.machine.lock().reset(now)
    }
}

impl fmt::Debug for CircuitBreaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Looked at before it is written: writing may run anything.
        let (phase, counters) = self.shared.machine.lock().glance();
        f.debug_struct("CircuitBreaker")
            .field("name", &self.name())
            .field("phase", &phase)
            .field("counters", &counters)
            .finish_non_exhaustive()
    }
}

/// One call that may be made. Record in it how the call ended; a permit that is dropped counts for nothing and gives its
/// place among the trial calls to another.
///
/// ```
/// use volary_core::{BreakerOptions, CircuitBreaker, Moment};
/// use volary_core::breaker::Outcome;
///
/// let breaker = CircuitBreaker::new(BreakerOptions::default())?;
/// let permit = breaker.try_acquire(Moment::ZERO)?;
/// // … the call …
/// permit.record(Outcome::Success, Moment::ZERO);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a permit that is dropped counts for nothing"]
pub struct Permit {
    breaker: CircuitBreaker,
    /// None once it is recorded.
    grant: Option<Grant>,
    transition: Option<Transition>,
}

impl Permit {
    /// The change of state that asking for this permit caused: from open to half-open, for the first trial call.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use volary_core::{BreakerOptions, CircuitBreaker, Moment};
    /// # use volary_core::breaker::State;
    /// let breaker = CircuitBreaker::new(BreakerOptions::default().open_for(Duration::from_secs(1)))?;
    /// let _ = breaker.trip(Moment::ZERO);
    /// let trial = breaker.try_acquire(Moment::ZERO + Duration::from_secs(1))?;
    /// assert_eq!(trial.transition().map(|change| (change.from, change.to)), Some((State::Open, State::HalfOpen)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn transition(&self) -> Option<Transition> {
        self.transition
    }

    /// Says how the call ended, and when. How long it took is counted from the moment the permit was given. Returns
    /// the change of state that this caused.
    ///
    /// ```
    /// # use volary_core::{BreakerOptions, CircuitBreaker, Moment};
    /// # use volary_core::breaker::Outcome;
    /// let breaker = CircuitBreaker::new(BreakerOptions::default())?;
    /// assert_eq!(breaker.try_acquire(Moment::ZERO)?.record(Outcome::Failure, Moment::ZERO), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn record(mut self, outcome: Outcome, now: Moment) -> Option<Transition> {
        let grant = self.grant.take()?;
        self.breaker.shared.machine.lock().record(grant, outcome, now)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(grant) = self.grant.take() {
            self.breaker.shared.machine.lock().release(grant);
        }
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit")
            .field("grant", &self.grant)
            .field("transition", &self.transition)
            .finish_non_exhaustive()
    }
}
