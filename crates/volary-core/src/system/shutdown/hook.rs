//! A hook of the program's own, and what is done when it fails.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use super::course::CutShort;
use crate::dispatch::contain;
use crate::system::problem::StopProblem;

const DAY: Duration = Duration::from_hours(24);
const MAX_ATTEMPTS: u32 = 100;
/// What a hook gets unless it says otherwise.
const TIMEOUT: Duration = Duration::from_secs(10);

/// An error as hooks return it.
pub(super) type BoxError = Box<dyn Error + Send + Sync>;
/// One run of a hook.
pub(super) type BoxRun = Pin<Box<dyn Future<Output = Result<(), BoxError>> + Send>>;

/// What makes the runs of a hook. Wherever it is dropped, a panic in what it holds harms nobody.
pub(super) struct Action(Option<Box<dyn FnMut() -> BoxRun + Send>>);

impl Action {
    pub(super) fn run(&mut self) -> BoxRun {
        match &mut self.0 {
            Some(action) => action(),
            None => unreachable!("it is taken out by the drop alone"),
        }
    }
}

impl Drop for Action {
    fn drop(&mut self) {
        let action = self.0.take();
        if let Err(fault) = contain(|| drop(action)) {
            tracing::error!(%fault, "the drop of a shutdown hook failed");
        }
    }
}

/// What the future of a [`ShutdownHook`] ends with: nothing, or a result.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let plain = ShutdownHook::new(shutdown::INTAKE, "say so", || async { println!("closing") });
/// let fallible = ShutdownHook::new(shutdown::AFTER_ACTORS, "clean up", || async {
///     std::fs::remove_file("/there/is/no/such.lock")
/// });
/// system.on_shutdown(plain)?;
/// system.on_shutdown(fallible)?;
/// assert_eq!(system.stop().await.expect_err("one fails").problems().len(), 1);
/// # Ok(()) }
/// ```
pub trait HookOutcome {
    /// The error, if there is one.
    ///
    /// ```
    /// use volary_core::HookOutcome;
    /// assert!(().into_outcome().is_ok());
    /// assert_eq!(Err("no room").into_outcome().unwrap_err().to_string(), "no room");
    /// ```
    ///
    /// # Errors
    /// That of the hook.
    fn into_outcome(self) -> Result<(), Box<dyn Error + Send + Sync>>;
}

impl HookOutcome for () {
    fn into_outcome(self) -> Result<(), BoxError> {
        Ok(())
    }
}

impl<E: Into<BoxError>> HookOutcome for Result<(), E> {
    fn into_outcome(self) -> Result<(), BoxError> {
        self.map_err(Into::into)
    }
}

/// What is done when a shutdown hook fails: it returns an error, panics, or does not end within its timeout.
///
/// However it ends, the failure is in the [`StopError`](crate::StopError), and the runtime does its own part: the
/// actors are stopped. A failure that a later attempt has made good is in the log alone.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let mut attempts = 0;
/// let flush = ShutdownHook::new(shutdown::AFTER_ACTORS, "flush", move || {
///     attempts += 1;
///     async move { if attempts == 3 { Ok(()) } else { Err("the disk is busy") } }
/// });
/// let thrice = HookRecovery::RetrySkip { attempts: 3, delay: Duration::from_millis(2) };
/// system.on_shutdown(flush.recovery(thrice))?;
/// assert!(system.stop().await.is_ok());
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum HookRecovery {
    /// No other hook is run, of this phase or a later one: they are named as not run.
    Fail,
    /// The next hook is run.
    #[default]
    Skip,
    /// It is run again, and then as `Fail`.
    RetryFail {
        /// How often it is run, the first time included; 1 to 100.
        attempts: u32,
        /// How long to wait in between; up to a day.
        delay: Duration,
    },
    /// It is run again, and then as `Skip`.
    RetrySkip {
        /// How often it is run, the first time included; 1 to 100.
        attempts: u32,
        /// How long to wait in between; up to a day.
        delay: Duration,
    },
}

/// What follows from a failure.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Run the hook again after this time.
    Again(Duration),
    /// Run no other hook.
    Fail,
    /// Go on with the next hook.
    Skip,
}

impl HookRecovery {
    /// After the hook has failed so many times.
    pub(super) fn verdict(self, failures: u32) -> Verdict {
        match self {
            HookRecovery::RetryFail { attempts, delay } | HookRecovery::RetrySkip { attempts, delay }
                if failures < attempts =>
            {
                Verdict::Again(delay)
            }
            other => other.last_verdict(),
        }
    }

    /// When it cannot be run again.
    pub(super) fn last_verdict(self) -> Verdict {
        match self {
            HookRecovery::Fail | HookRecovery::RetryFail { .. } => Verdict::Fail,
            HookRecovery::Skip | HookRecovery::RetrySkip { .. } => Verdict::Skip,
        }
    }

    fn retries(self) -> Option<(u32, Duration)> {
        match self {
            HookRecovery::Fail | HookRecovery::Skip => None,
            HookRecovery::RetryFail { attempts, delay } | HookRecovery::RetrySkip { attempts, delay } => {
                Some((attempts, delay))
            }
        }
    }
}

/// Something to be done on the way down; given to
/// [`SystemBuilder::on_shutdown`](crate::SystemBuilder::on_shutdown) or
/// [`ActorSystem::on_shutdown`](crate::ActorSystem::on_shutdown).
///
/// It runs on a task of the system's runtime, once for each attempt. A run that does not end in time is dropped where
/// it waits; one that blocks its thread cannot be, and is named as stuck. It must not wait for the stop that it is
/// part of.
///
/// ```
/// # use std::time::Duration;
/// use volary_core::{ActorSystem, ShutdownHook, shutdown};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let system = ActorSystem::builder("shop")
///     .on_shutdown(
///         ShutdownHook::new(shutdown::AFTER_ACTORS, "database", || async { println!("pool closed") })
///             .timeout(Duration::from_secs(3)),
///     )
///     .start()
///     .await?;
/// system.stop().await?; // prints it
/// # Ok(()) }
/// ```
#[must_use = "a hook is run when it was given to a system"]
pub struct ShutdownHook {
    pub(super) phase: String,
    pub(super) name: String,
    pub(super) timeout: Duration,
    pub(super) recovery: HookRecovery,
    pub(super) action: Action,
    once: bool,
}

impl ShutdownHook {
    /// A hook of a phase. The name is what errors and logs call it. It has ten seconds, and if it fails the next one
    /// is run.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let hook = ShutdownHook::new(shutdown::DRAIN, "queue", || async { Err("the broker is away") });
    /// system.on_shutdown(hook)?;
    /// assert!(system.stop().await.is_err());
    /// # Ok(()) }
    /// ```
    pub fn new<R>(
        phase: impl Into<String>,
        name: impl Into<String>,
        mut action: impl FnMut() -> R + Send + 'static,
    ) -> Self
    where
        R: Future<Output: HookOutcome> + Send + 'static,
    {
        ShutdownHook {
            phase: phase.into(),
            name: name.into(),
            timeout: TIMEOUT,
            recovery: HookRecovery::default(),
            action: Action(Some(Box::new(move || {
                let run = action();
                Box::pin(async move { run.await.into_outcome() })
            }))),
            once: false,
        }
    }

    /// The same from a closure that can be called once only, and so cannot be tried again.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let (close, closed) = tokio::sync::oneshot::channel::<()>();
    /// let server = tokio::spawn(async move {
    ///     let _ = closed.await; // and serves requests until then
    /// });
    /// let hook = ShutdownHook::once(shutdown::INTAKE, "http", move || async move {
    ///     let _ = close.send(());
    ///     server.await // the last request was answered
    /// });
    /// system.on_shutdown(hook)?;
    /// assert!(system.stop().await.is_ok());
    /// # Ok(()) }
    /// ```
    pub fn once<R>(
        phase: impl Into<String>,
        name: impl Into<String>,
        action: impl FnOnce() -> R + Send + 'static,
    ) -> Self
    where
        R: Future<Output: HookOutcome> + Send + 'static,
    {
        let mut action = Some(action);
        let run = move || {
            let run = action.take().map(|action| action());
            async move {
                match run {
                    Some(run) => run.await.into_outcome(),
                    None => unreachable!("a recovery that tries again was refused"),
                }
            }
        };
        ShutdownHook {
            once: true,
            ..ShutdownHook::new(phase, name, run)
        }
    }

    /// How long one attempt may take; more than 0, up to a day.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let hook = ShutdownHook::new(shutdown::DRAIN, "queue", std::future::pending::<()>);
    /// system.on_shutdown(hook.timeout(Duration::from_millis(5)))?;
    /// assert!(system.stop().await.is_err());
    /// # Ok(()) }
    /// ```
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// What is done when it fails.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let hook = ShutdownHook::new(shutdown::DRAIN, "queue", || async { Err("the broker is away") });
    /// system.on_shutdown(hook.recovery(HookRecovery::Fail))?;
    /// system.on_shutdown(ShutdownHook::new(shutdown::DRAIN, "log", || async {}))?;
    /// let error = system.stop().await.expect_err("a hook fails");
    /// assert_eq!(error.problems().len(), 2); // the second was not run
    /// # Ok(()) }
    /// ```
    pub fn recovery(mut self, recovery: HookRecovery) -> Self {
        self.recovery = recovery;
        self
    }

    /// How it is told that it was not run.
    pub(in crate::system) fn not_run(self, phase: String, why: CutShort) -> StopProblem {
        let hook = self.name;
        StopProblem::HookNotRun { phase, hook, why }
    }

    pub(super) fn check(&self) -> Result<(), HookError> {
        let option = |fits: bool, setting, value: String, allowed| match fits {
            true => Ok(()),
            false => Err(HookError::Option {
                hook: self.name.clone(),
                setting,
                value,
                allowed,
            }),
        };
        let value = format!("{:?}", self.name);
        option(!self.name.is_empty(), "name", value, "any text that is not empty")?;
        let fits = !self.timeout.is_zero() && self.timeout <= DAY;
        let value = format!("{:?}", self.timeout);
        option(fits, "timeout", value, "more than 0 and at most a day")?;
        let Some((attempts, delay)) = self.recovery.retries() else {
            return Ok(());
        };
        let value = format!("{:?}", self.recovery);
        option(
            !self.once,
            "recovery",
            value,
            "Fail or Skip, since it can be run only once",
        )?;
        let fits = (1..=MAX_ATTEMPTS).contains(&attempts);
        option(fits, "recovery.attempts", attempts.to_string(), "1 to 100")?;
        option(delay <= DAY, "recovery.delay", format!("{delay:?}"), "at most a day")
    }
}

impl fmt::Debug for ShutdownHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShutdownHook")
            .field("phase", &self.phase)
            .field("name", &self.name)
            .field("timeout", &self.timeout)
            .field("recovery", &self.recovery)
            .finish_non_exhaustive()
    }
}

/// Why a shutdown hook was not taken.
///
/// ```
/// # use std::time::Duration;
/// # use volary_core::{ActorSystem, ShutdownHook, shutdown};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let system = ActorSystem::builder("shop").start().await?;
/// let hook = ShutdownHook::new(shutdown::DRAIN, "queue", || async {}).timeout(Duration::ZERO);
/// let error = system.on_shutdown(hook).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "shutdown hook \"queue\": timeout is 0ns, allowed is more than 0 and at most a day",
/// );
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HookError {
    /// Give the option a value that is allowed.
    #[error("shutdown hook {hook:?}: {setting} is {value}, allowed is {allowed}")]
    Option {
        /// The hook.
        hook: String,
        /// Which option.
        setting: &'static str,
        /// What it was.
        value: String,
        /// What it may be.
        allowed: &'static str,
    },
    /// Name a phase that exists, or declare it with
    /// [`SystemBuilder::shutdown_phase`](crate::SystemBuilder::shutdown_phase).
    #[error("shutdown hook {hook:?}: phase is {phase:?}, allowed is one of {known}")]
    UnknownPhase {
        /// The hook.
        hook: String,
        /// The phase that it named.
        phase: String,
        /// The phases there are.
        known: String,
    },
    /// The stop has gone past the phase: the hook would never run. Do now what it would have done.
    #[error("shutdown hook {hook:?}: the stop is past its phase {phase:?}")]
    TooLate {
        /// The hook.
        hook: String,
        /// Its phase.
        phase: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l27_a_recovery_says_whether_to_try_again_and_what_then() {
        let delay = Duration::from_secs(1);
        let fail = HookRecovery::RetryFail { attempts: 3, delay };
        let skip = HookRecovery::RetrySkip { attempts: 3, delay };
        let verdicts = |recovery: HookRecovery| [1, 2, 3].map(|failures| recovery.verdict(failures));
        use Verdict::*;
        assert_eq!(verdicts(fail), [Again(delay), Again(delay), Fail]);
        assert_eq!(verdicts(skip), [Again(delay), Again(delay), Skip]);
        assert_eq!(HookRecovery::Fail.verdict(1), Fail);
        assert_eq!(HookRecovery::default().verdict(1), Skip);
        assert_eq!((fail.last_verdict(), skip.last_verdict()), (Fail, Skip));
    }

    #[test]
    fn l27_absurd_options_of_a_hook_are_named() {
        let hook = || ShutdownHook::new("drain", "queue", || async {});
        let text = |hook: ShutdownHook| hook.check().expect_err("it is refused").to_string();
        let retry = |attempts, delay| HookRecovery::RetrySkip { attempts, delay };
        assert!(text(hook().timeout(Duration::ZERO)).contains("\"queue\": timeout is 0ns"));
        assert!(text(hook().timeout(2 * DAY)).contains("timeout is 172800s"));
        assert!(text(hook().recovery(retry(0, DAY))).contains("recovery.attempts is 0, allowed is 1 to 100"));
        assert!(text(hook().recovery(retry(101, DAY))).contains("recovery.attempts is 101"));
        assert!(text(hook().recovery(retry(1, 2 * DAY))).contains("recovery.delay is 172800s"));
        assert!(text(ShutdownHook::new("drain", "", || async {})).contains("name is \"\""));
        let once = ShutdownHook::once("drain", "once", || async {}).recovery(retry(2, Duration::ZERO));
        assert!(text(once).contains("recovery is RetrySkip"));
        assert_eq!(hook().timeout(DAY).recovery(retry(100, DAY)).check(), Ok(()));
    }
}
