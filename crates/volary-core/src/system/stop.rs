//! The way down: user actors, system actors, dispatchers, threads, runtime. Best effort within the
//! timeout, and every problem is reported.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::sync::Mutex;

use super::builder::THREAD_PATIENCE;
use super::core::{Guardians, SystemCore};
use super::handle::Sleep;
use crate::cell::CellRef;
use crate::cell::state::{KILL, STOP};
use crate::dispatch::{Host, Pool};
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
    #[error("the runtime is gone: {count} actors ended with it, without their hooks")]
    RuntimeGone {
        /// How many.
        count: usize,
    },
    /// Threads of a dispatcher were still busy.
    #[error("{count} threads of the {dispatcher} dispatcher are still busy")]
    Threads {
        /// Which dispatcher.
        dispatcher: &'static str,
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
}

impl Stopping {
    /// True for the first caller, who does the work.
    fn begin(&self) -> bool {
        !std::mem::replace(&mut self.inner.lock().begun, true)
    }

    pub(super) fn has_begun(&self) -> bool {
        self.inner.lock().begun
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
        waiting.into_iter().for_each(Waker::wake);
    }

    fn poll(&self, task: &mut Context<'_>) -> Poll<Result<(), StopError>> {
        let mut inner = self.inner.lock();
        match &inner.result {
            Some(result) => Poll::Ready(result.clone()),
            None => {
                inner.waiting.push(task.waker().clone());
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
        *core.guardians.lock() = None;
        core.stopping.finish(Err(StopError(vec![StopProblem::RuntimeGone { count }])));
        core.env().retire();
    }
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
    let pinned: Vec<_> = core.pinned.lock().drain(..).filter_map(|thread| thread.upgrade()).collect();
    for thread in &pinned {
        thread.close();
    }
    for (number, pool) in core.pools().enumerate() {
        if !closed_within(&core, pool, THREAD_PATIENCE).await {
            let dispatcher = if number == 0 { "default" } else { "own" };
            problems.push(StopProblem::Threads { dispatcher, count: pool.live() });
        }
    }
    if !core.blocking.join(THREAD_PATIENCE) {
        problems.push(StopProblem::Threads { dispatcher: "blocking", count: core.blocking.threads() });
    }
    for thread in pinned {
        if !thread.join(THREAD_PATIENCE) {
            problems.push(StopProblem::Threads { dispatcher: "pinned", count: 1 });
        }
    }
    crate::mailbox::pool::trim();
    let result = if problems.is_empty() { Ok(()) } else { Err(StopError(problems)) };
    core.stopping.finish(result);
    core.env().retire();
}

async fn stop_tree(core: &Arc<SystemCore>, guardians: &Guardians, problems: &mut Vec<StopProblem>) {
    let within = core.settings().stop_timeout();
    for guardian in [&guardians.user, &guardians.system, &guardians.root] {
        guardian.control(STOP);
        if ended_within(core, guardian, within).await {
            continue;
        }
        let left = survivors(core);
        problems.push(StopProblem::Killed { count: left.len(), within, examples: examples(&left) });
        guardian.control(KILL);
        if !ended_within(core, guardian, THREAD_PATIENCE).await {
            let left = survivors(core);
            problems.push(StopProblem::Stuck { count: left.len(), examples: examples(&left) });
        }
    }
}

/// Live actors but the guardians.
fn survivors(core: &SystemCore) -> Vec<CellRef> {
    let Some(guardians) = core.guardians() else { return Vec::new() };
    let mut above = guardians.user.children();
    above.extend(guardians.system.children());
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

/// True: all workers of the pool have left in time.
async fn closed_within(core: &Arc<SystemCore>, pool: &Arc<Pool>, time: Duration) -> bool {
    let mut over = Sleep::new(core.clone(), time);
    poll_fn(|task| {
        if pool.poll_closed(task).is_ready() {
            return Poll::Ready(true);
        }
        Pin::new(&mut over).poll(task).map(|()| false)
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
