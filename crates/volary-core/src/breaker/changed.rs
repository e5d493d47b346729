//! A change of state as the world hears of it.

use std::convert::Infallible;

use super::handle::CircuitBreaker;
use super::machine::{State, Transition};
use crate::actor::Message;
use crate::system::ActorSystem;

/// A circuit breaker has changed its state. Published on the event stream of the system in which a
/// [`call`](CircuitBreaker::call) or a [pipe](crate::Context::pipe) caused the change.
///
/// Who asks for permits by hand, or trips and resets a breaker, is handed the [`Transition`] and may publish it too:
///
/// ```
/// use volary_core::{ActorSystem, BreakerChanged, BreakerOptions, CircuitBreaker};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let system = ActorSystem::builder("demo").start().await?;
/// let breaker = CircuitBreaker::new(BreakerOptions::default().named("payments"))?;
/// let changes = system.events().subscribe::<BreakerChanged>();
/// if let Some(transition) = breaker.trip(system.now()) {
///     system.events().publish(BreakerChanged::new(&breaker, transition));
/// }
/// let change = changes.next().await?;
/// assert_eq!(change.to_string(), "circuit breaker payments: Closed -> Open");
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct BreakerChanged {
    /// The breaker, to look at its counters.
    pub breaker: CircuitBreaker,
    /// What changed.
    pub transition: Transition,
}

impl BreakerChanged {
    /// The event of a change.
    ///
    /// ```
    /// # use volary_core::{BreakerChanged, BreakerOptions, CircuitBreaker, Moment};
    /// let breaker = CircuitBreaker::new(BreakerOptions::default())?;
    /// let change = breaker.trip(Moment::ZERO).map(|transition| BreakerChanged::new(&breaker, transition));
    /// assert!(change.is_some());
    /// # Ok::<(), volary_core::BreakerOptionsError>(())
    /// ```
    #[must_use]
    pub fn new(breaker: &CircuitBreaker, transition: Transition) -> Self {
        Self {
            breaker: breaker.clone(),
            transition,
        }
    }
}

impl std::fmt::Display for BreakerChanged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Transition { from, to, .. } = self.transition;
        write!(f, "circuit breaker {}: {from:?} -> {to:?}", self.breaker.name())
    }
}

impl Message for BreakerChanged {
    type Reply = ();
    type Rejection = Infallible;
}

/// Tells of a change in the log and on the event stream.
pub(super) fn announce(system: &ActorSystem, breaker: &CircuitBreaker, transition: Transition) {
    let Transition { from, to, seen, .. } = transition;
    let name = breaker.name();
    match to {
        State::Open => tracing::warn!(breaker = name, ?from, ?to, ?seen, "circuit breaker changed"),
        State::Closed | State::HalfOpen => {
            tracing::info!(breaker = name, ?from, ?to, ?seen, "circuit breaker changed");
        }
    }
    system.events().publish(BreakerChanged::new(breaker, transition));
}
