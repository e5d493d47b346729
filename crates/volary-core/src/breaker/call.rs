//! A call through a circuit breaker, on the clock of a system.
//!
//! The one place of the breaker that knows a clock. It asks for the permit when it is first polled and gives it back
//! however it ends: recorded if there is an answer, none in time, or a panic; unrecorded if it is dropped.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use pin_project_lite::pin_project;
use thiserror::Error;

use super::changed::announce;
use super::handle::{CircuitBreaker, Permit};
use super::machine::{Open, Outcome};
use crate::system::{ActorSystem, Sleep};

/// Why a call through a circuit breaker brought nothing.
///
/// ```
/// use std::time::Duration;
/// use volary_core::breaker::CallError;
///
/// let error: CallError<std::fmt::Error> = CallError::Timeout { after: Duration::from_secs(2) };
/// assert_eq!(error.to_string(), "no answer within 2s");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CallError<E> {
    /// The call ended with this error.
    #[error("{0}")]
    Failed(#[source] E),
    /// It did not end in time, and was dropped.
    #[error("no answer within {after:?}")]
    Timeout {
        /// The time it was given.
        after: Duration,
    },
    /// The breaker is open: the call was not made. Do without it, or try again later.
    #[error("{0}")]
    Refused(#[source] Open),
}

type Judge<E> = Box<dyn FnOnce(&E) -> Outcome + Send>;

pin_project! {
    /// A call under way; see [`CircuitBreaker::call`].
    ///
    /// Cancel safe: dropped before it has ended, the call counts for nothing, and its place among the trial calls is
    /// free again.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let breaker = CircuitBreaker::new(BreakerOptions::default())?;
    /// let call = breaker.call(&system, async { "7".parse::<u32>() }); // nothing has happened yet
    /// assert_eq!(breaker.counters(system.now()).permitted, 0);
    /// assert_eq!(call.await?, 7);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use = "futures do nothing unless polled"]
    pub struct Call<F, E> {
        #[pin]
        future: Option<F>,
        system: ActorSystem,
        stage: Stage,
        timeout: Option<Duration>,
        judge: Option<Judge<E>>,
    }
}

enum Stage {
    /// Nobody has polled it yet.
    Fresh(Option<CircuitBreaker>),
    Begun {
        guard: Guard,
        sleep: Option<Sleep>,
    },
    Ended,
}

/// The permit of a call, if there is a breaker.
#[derive(Default)]
struct Guard(Option<(CircuitBreaker, Permit)>);

impl Guard {
    fn acquire(system: &ActorSystem, breaker: Option<CircuitBreaker>) -> Result<Self, Open> {
        let Some(breaker) = breaker else { return Ok(Guard(None)) };
        let permit = breaker.try_acquire(system.now())?;
        if let Some(transition) = permit.transition() {
            announce(system, &breaker, transition);
        }
        Ok(Guard(Some((breaker, permit))))
    }

    fn record(&mut self, system: &ActorSystem, outcome: Outcome) {
        let Some((breaker, permit)) = self.0.take() else { return };
        if let Some(transition) = permit.record(outcome, system.now()) {
            announce(system, &breaker, transition);
        }
    }
}

/// Holds the permit while the call's own code runs: that it panics is a failure, too.
struct Watched<'a> {
    guard: Guard,
    system: &'a ActorSystem,
}

impl Watched<'_> {
    fn into_guard(mut self) -> Guard {
        std::mem::take(&mut self.guard)
    }
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        self.guard.record(self.system, Outcome::Failure);
    }
}

impl<F, E> Call<F, E> {
    pub(crate) fn new(system: ActorSystem, breaker: Option<CircuitBreaker>, future: F) -> Self {
        Call {
            future: Some(future),
            system,
            stage: Stage::Fresh(breaker),
            timeout: None,
            judge: None,
        }
    }

    /// How long the call may take. Longer is a failure, and the future is dropped then.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use volary_core::{ActorSystem, BreakerOptions, CircuitBreaker};
    /// # use volary_core::breaker::CallError;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let system = ActorSystem::builder("demo").start().await?;
    /// # let breaker = CircuitBreaker::new(BreakerOptions::default())?;
    /// let silent = std::future::pending::<Result<(), std::io::Error>>();
    /// let error = breaker.call(&system, silent).timeout(Duration::from_millis(5)).await.unwrap_err();
    /// assert!(matches!(error, CallError::Timeout { .. }));
    /// assert_eq!(breaker.counters(system.now()).failed, 1);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn timeout(mut self, after: Duration) -> Self {
        self.timeout = Some(after);
        self
    }

    /// What an error says about the called side. Without a judge every error is a failure.
    ///
    /// ```
    /// # use volary_core::{ActorSystem, BreakerOptions, CircuitBreaker};
    /// # use volary_core::breaker::Outcome;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let system = ActorSystem::builder("demo").start().await?;
    /// # let breaker = CircuitBreaker::new(BreakerOptions::default())?;
    /// // Our own mistake says nothing about them.
    /// let call = breaker.call(&system, async { "seven".parse::<u32>() }).judge(|_| Outcome::Ignored);
    /// assert!(call.await.is_err());
    /// assert_eq!(breaker.counters(system.now()).failed, 0);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn judge(mut self, judge: impl FnOnce(&E) -> Outcome + Send + 'static) -> Self {
        self.judge = Some(Box::new(judge));
        self
    }
}

impl<F, T, E> Future for Call<F, E>
where
    F: Future<Output = Result<T, E>>,
{
    type Output = Result<T, CallError<E>>;

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let system = &*this.system;
        let (guard, mut sleep) = match std::mem::replace(this.stage, Stage::Ended) {
            Stage::Begun { guard, sleep } => (guard, sleep),
            Stage::Fresh(breaker) => match Guard::acquire(system, breaker) {
                Ok(guard) => (guard, this.timeout.map(|time| system.sleep(time))),
                Err(open) => {
                    this.future.set(None);
                    return Poll::Ready(Err(CallError::Refused(open)));
                }
            },
            Stage::Ended => panic!("a call was polled after it had ended"),
        };
        let mut watched = Watched { guard, system };
        let Some(future) = this.future.as_mut().as_pin_mut() else {
            unreachable!("the future is there until the call has ended")
        };
        let (answer, outcome) = match future.poll(task) {
            Poll::Ready(Ok(value)) => (Ok(value), Outcome::Success),
            Poll::Ready(Err(error)) => {
                let outcome = this.judge.take().map_or(Outcome::Failure, |judge| judge(&error));
                (Err(CallError::Failed(error)), outcome)
            }
            Poll::Pending => {
                let is_late = sleep
                    .as_mut()
                    .is_some_and(|sleep| Pin::new(sleep).poll(task).is_ready());
                match *this.timeout {
                    Some(after) if is_late => (Err(CallError::Timeout { after }), Outcome::Failure),
                    _ => {
                        let guard = watched.into_guard();
                        *this.stage = Stage::Begun { guard, sleep };
                        return Poll::Pending;
                    }
                }
            }
        };
        watched.guard.record(system, outcome);
        this.future.set(None);
        Poll::Ready(answer)
    }
}

impl<F, E> std::fmt::Debug for Call<F, E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Call")
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
