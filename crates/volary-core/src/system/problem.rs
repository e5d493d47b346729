//! What can go wrong on the way down.

use std::fmt;
use std::time::Duration;

use super::shutdown::CutShort;
use crate::cell::CellRef;

/// A problem on the way down. The stop goes on after it.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let hook = ShutdownHook::new(shutdown::DRAIN, "queue", || async { Err("the broker is away") });
/// system.on_shutdown(hook)?;
/// let error = system.stop().await.expect_err("a hook fails");
/// for problem in error.problems() {
///     println!("{problem}");
///     assert!(matches!(problem, StopProblem::HookFailed { hook, .. } if hook == "queue"));
/// }
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StopProblem {
    /// Actors did not stop in time and were killed.
    #[error("{count} actors did not stop within {within:?} and were killed, among them {}", examples.join(", "))]
    Killed {
        /// How many.
        count: usize,
        /// The time they had.
        within: Duration,
        /// Some of them.
        examples: Vec<String>,
    },
    /// Actors did not even end when killed: their handlers block a thread.
    #[error("{count} actors are stuck in a handler that blocks, among them {}", examples.join(", "))]
    Stuck {
        /// How many.
        count: usize,
        /// Some of them.
        examples: Vec<String>,
    },
    /// The tokio runtime was shut down before the system was stopped.
    #[error("the runtime is gone: {count} actors were left where they were, without their hooks")]
    RuntimeGone {
        /// How many.
        count: usize,
    },
    /// A hook, or the drop of an actor, failed on the way down.
    #[error("the `{hook}` of {path} failed: {fault}")]
    Hook {
        /// Whose.
        path: String,
        /// Which.
        hook: &'static str,
        /// What it said.
        fault: String,
    },
    /// Actors still had work when the time for draining was over. They were stopped as they were.
    #[error("{count} actors still had work {within:?} after the drain began, among them {}", examples.join(", "))]
    NotDrained {
        /// How many.
        count: usize,
        /// The time they had.
        within: Duration,
        /// Some of them.
        examples: Vec<String>,
    },
    /// A shutdown hook returned an error, or panicked.
    #[error("shutdown hook {hook:?} of phase {phase:?} failed{}: {fault}", after(*attempts))]
    HookFailed {
        /// Its phase.
        phase: String,
        /// Its name.
        hook: String,
        /// How often it was tried.
        attempts: u32,
        /// What it said the last time.
        fault: String,
    },
    /// A shutdown hook did not end within its timeout and was dropped where it waited.
    #[error("shutdown hook {hook:?} of phase {phase:?} did not end within {within:?} and was cut off{}", after(*attempts))]
    HookTimedOut {
        /// Its phase.
        phase: String,
        /// Its name.
        hook: String,
        /// How often it was tried.
        attempts: u32,
        /// The time it had, each time.
        within: Duration,
    },
    /// A shutdown hook was dropped where it waited, because there was no time left for anybody.
    #[error("shutdown hook {hook:?} of phase {phase:?} was cut off: {why}")]
    HookCutOff {
        /// Its phase.
        phase: String,
        /// Its name.
        hook: String,
        /// What happened.
        why: CutShort,
    },
    /// A shutdown hook was not run.
    #[error("shutdown hook {hook:?} of phase {phase:?} was not run: {why}")]
    HookNotRun {
        /// Its phase.
        phase: String,
        /// Its name.
        hook: String,
        /// What happened.
        why: CutShort,
    },
    /// A shutdown hook that was cut off blocks its thread and goes on.
    #[error("shutdown hook {hook:?} of phase {phase:?} is stuck: it blocks a thread")]
    HookStuck {
        /// Its phase.
        phase: String,
        /// Its name.
        hook: String,
    },
    /// Threads of a dispatcher were still busy.
    #[error("{count} threads of the {dispatcher} dispatcher are still busy")]
    Threads {
        /// Which dispatcher.
        dispatcher: String,
        /// How many threads.
        count: usize,
    },
}

/// What went wrong while stopping. The system is down nevertheless, as far as it can be.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let hook = ShutdownHook::new(shutdown::DRAIN, "queue", || async { Err("the broker is away") });
/// system.on_shutdown(hook)?;
/// let error: StopError = system.stop().await.expect_err("a hook fails");
/// assert!(error.to_string().contains("the broker is away"));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StopError(pub(super) Vec<StopProblem>);

impl StopError {
    /// Every problem, in the order in which they arose.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let hook = ShutdownHook::new(shutdown::DRAIN, "queue", || async { Err("the broker is away") });
    /// system.on_shutdown(hook)?;
    /// let error = system.stop().await.expect_err("a hook fails");
    /// assert_eq!(error.problems().len(), 1);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn problems(&self) -> &[StopProblem] {
        &self.0
    }
}

impl fmt::Display for StopError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the system did not stop cleanly")?;
        for problem in &self.0 {
            write!(f, "; {problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for StopError {}

/// Some of them by their paths.
pub(super) fn examples(cells: &[CellRef]) -> Vec<String> {
    cells.iter().take(5).map(|cell| cell.path().to_string()).collect()
}

fn after(attempts: u32) -> String {
    match attempts {
        0 | 1 => String::new(),
        several => format!(" after {several} attempts"),
    }
}
