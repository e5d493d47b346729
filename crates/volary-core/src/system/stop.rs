//! The way down: user actors, system actors, dispatchers, threads, runtime. Best effort within the
//! timeout, and every problem is reported.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::sync::Mutex;

use super::core::{Guardians, SystemCore};
use super::handle::Sleep;
use crate::cell::state::{KILL, STOP};
use crate::cell::{CellRef, demolish_all};
use crate::dispatch::{Host, wake};
use crate::reference::Termination;

/// A problem on the way down. The stop goes on after it.
///
/// ```
/// # use volary_core::StopError;
/// # fn f(error: &StopError) {
/// for problem in error.problems() {
///     eprintln!("{problem}");
/// }
/// # }
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
/// # async fn f(system: volary_core::ActorSystem) {
/// if let Err(error) = system.stop().await {
///     eprintln!("{error}");
/// }
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StopError(Vec<StopProblem>);

impl StopError {
    /// Every problem, in order.
    ///
    /// ```
    /// # fn f(error: &volary_core::StopError) { assert!(!error.problems().is_empty()); }
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

/// What threads get to come to the end of what they do.
const THREAD_PATIENCE: Duration = Duration::from_secs(3);
/// What a killed actor gets to come to the end of a poll.
const LAST_PATIENCE: Duration = Duration::from_secs(1);
/// Failed hooks are listed up to here; the log has them all.
const MOST_FAULTS: usize = 100;

/// Whether the system is going down, and who waits for it.
#[derive(Default)]
pub(super) struct Stopping {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    begun: bool,
    result: Option<Result<(), StopError>>,
    waiting: Vec<Waker>,
    faults: Vec<StopProblem>,
}

impl Stopping {
    /// True for the first caller, who does the work.
    fn begin(&self) -> bool {
        !std::mem::replace(&mut self.inner.lock().begun, true)
    }

    pub(super) fn has_begun(&self) -> bool {
        self.inner.lock().begun
    }

    /// A hook failed; it counts if the system is going down.
    pub(super) fn note(&self, path: &str, hook: &'static str, fault: &str) {
        let mut inner = self.inner.lock();
        if inner.begun && inner.faults.len() < MOST_FAULTS {
            let (path, fault) = (path.to_owned(), fault.to_owned());
            inner.faults.push(StopProblem::Hook { path, hook, fault });
        }
    }

    fn take_faults(&self) -> Vec<StopProblem> {
        std::mem::take(&mut self.inner.lock().faults)
    }

    fn is_finished(&self) -> bool {
        self.inner.lock().result.is_some()
    }

    fn finish(&self, result: Result<(), StopError>) {
        let waiting = {
            let mut inner = self.inner.lock();
            inner.result = Some(result);
            std::mem::take(&mut inner.waiting)
        };
        waiting.into_iter().for_each(wake);
    }

    pub(super) fn poll(&self, task: &mut Context<'_>) -> Poll<Result<(), StopError>> {
        let mut inner = self.inner.lock();
        match &inner.result {
            Some(result) => Poll::Ready(result.clone()),
            None => {
                if !inner.waiting.iter().any(|waker| waker.will_wake(task.waker())) {
                    inner.waiting.push(task.waker().clone());
                }
                Poll::Pending
            }
        }
    }
}

/// Stops the system and waits for it; from inside a handler, which must itself end first, it only
/// begins.
pub(super) async fn stop(core: Arc<SystemCore>) -> Result<(), StopError> {
    let inside = Host::with(|host| host.ambient().id != 0).unwrap_or(false);
    if core.stopping.begin() {
        let unfinished = Unfinished(core.clone());
        let work = async move {
            go_down(unfinished.0.clone()).await;
            drop(unfinished);
        };
        core.env().spawn(Box::pin(work));
    }
    if inside {
        return Ok(());
    }
    poll_fn(|task| core.stopping.poll(task)).await
}

/// Ends a stop whose task was dropped: the runtime it should have run on is gone.
struct Unfinished(Arc<SystemCore>);

impl Drop for Unfinished {
    fn drop(&mut self) {
        let core = &self.0;
        if core.stopping.is_finished() {
            return;
        }
        let count = core.directory().len().saturating_sub(3);
        core.keeper().forget_all();
        *core.guardians.lock() = None;
        core.env().retire();
        core.stopping
            .finish(Err(StopError(vec![StopProblem::RuntimeGone { count }])));
    }
}

/// Takes a system away as the death of its process would. Its tasks must be gone, and its handles not be used any more.
pub(crate) fn abandon(core: &Arc<SystemCore>) {
    core.stopping.begin();
    core.pools().for_each(|pool| pool.close());
    let Some(guardians) = core.guardians.lock().take() else {
        return;
    };
    let mut all = below(&guardians.root);
    all.push(guardians.root.clone());
    demolish_all(&all);
    let count = all.len().saturating_sub(3);
    core.keeper().forget_all();
    core.env().retire();
    core.stopping
        .finish(Err(StopError(vec![StopProblem::RuntimeGone { count }])));
}

async fn go_down(core: Arc<SystemCore>) {
    let mut problems = Vec::new();
    let guardians = core.guardians();
    if let Some(guardians) = &guardians {
        stop_tree(&core, guardians, &mut problems).await;
    }
    *core.guardians.lock() = None;
    drop(guardians);

    core.default_pool.close();
    for (_, pool) in &core.own_pools {
        pool.close();
    }
    core.blocking.close();
    let pinned = std::mem::take(&mut *core.pinned.lock());
    for thread in &pinned {
        thread.close();
    }
    // One patience for all of them together.
    let mut over = Sleep::new(core.clone(), THREAD_PATIENCE);
    let own = core.own_pools.iter().map(|(name, pool)| (name.as_str(), pool));
    for (name, pool) in std::iter::once(("default", &core.default_pool)).chain(own) {
        if !closed_before(&mut over, |task| pool.poll_closed(task)).await {
            let dispatcher = name.to_owned();
            problems.push(StopProblem::Threads {
                dispatcher,
                count: pool.live(),
            });
        }
    }
    for (dispatcher, threads) in
        std::iter::once(("blocking", core.blocking.clone())).chain(pinned.into_iter().map(|t| ("pinned", t)))
    {
        if !closed_before(&mut over, |task| threads.poll_closed(task)).await {
            problems.push(StopProblem::Threads {
                dispatcher: dispatcher.to_owned(),
                count: threads.threads(),
            });
        }
    }
    problems.extend(core.stopping.take_faults());
    crate::mailbox::pool::trim();
    let result = if problems.is_empty() {
        Ok(())
    } else {
        Err(StopError(problems))
    };
    core.env().retire();
    core.stopping.finish(result);
}

/// Stops what users made, then what serves them, then the root; one `stop-timeout` for all.
async fn stop_tree(core: &Arc<SystemCore>, guardians: &Guardians, problems: &mut Vec<StopProblem>) {
    let within = core.settings().stop_timeout();
    let until = core.now() + within;
    let users_ended = stop_branch(core, &guardians.user, within, problems).await;
    // The guardian needs hardly any time, but users' actors may have taken it all.
    let rest = until.since(core.now()).max(LAST_PATIENCE);
    let all_ended = stop_branch(core, &guardians.system, rest, problems).await && users_ended;
    guardians.root.control(STOP);
    if all_ended {
        ended_within(core, &guardians.root, LAST_PATIENCE).await;
    }
}

/// False: something below does not even end when killed.
async fn stop_branch(
    core: &Arc<SystemCore>,
    guardian: &CellRef,
    patience: Duration,
    problems: &mut Vec<StopProblem>,
) -> bool {
    guardian.control(STOP);
    if ended_within(core, guardian, patience).await {
        return true;
    }
    let left = below(guardian);
    let (count, examples) = (left.len(), self::examples(&left));
    let within = core.settings().stop_timeout();
    problems.push(StopProblem::Killed {
        count,
        within,
        examples,
    });
    guardian.control(KILL);
    if ended_within(core, guardian, LAST_PATIENCE).await {
        return true;
    }
    let left = below(guardian);
    let (count, examples) = (left.len(), self::examples(&left));
    problems.push(StopProblem::Stuck { count, examples });
    false
}

/// All that live below `guardian`.
fn below(guardian: &CellRef) -> Vec<CellRef> {
    let mut above = guardian.children();
    let mut all = Vec::new();
    while let Some(cell) = above.pop() {
        above.extend(cell.children());
        all.push(cell);
    }
    all
}

fn examples(cells: &[CellRef]) -> Vec<String> {
    cells.iter().take(5).map(|cell| cell.path().to_string()).collect()
}

/// True: everybody has left before the time was over.
async fn closed_before(over: &mut Sleep, poll_closed: impl Fn(&mut Context<'_>) -> Poll<()>) -> bool {
    poll_fn(|task| {
        if poll_closed(task).is_ready() {
            return Poll::Ready(true);
        }
        Pin::new(&mut *over).poll(task).map(|()| false)
    })
    .await
}

/// True: it ended in time.
async fn ended_within(core: &Arc<SystemCore>, cell: &CellRef, time: Duration) -> bool {
    let mut ended = Termination::new(cell.clone());
    let mut over = Sleep::new(core.clone(), time);
    poll_fn(|task| {
        if Pin::new(&mut ended).poll(task).is_ready() {
            return Poll::Ready(true);
        }
        Pin::new(&mut over).poll(task).map(|()| false)
    })
    .await
}
