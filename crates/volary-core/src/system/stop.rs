//! The way down: the phases of the shutdown with the actors among them, then dispatchers, threads,
//! runtime. Best effort within the timeouts, and every problem is reported.

use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, Ordering::SeqCst};

use super::core::{Guardians, SystemCore};
use super::problem::{StopError, StopProblem, examples};
use super::shutdown::{self, LAST_PATIENCE, Step, Work};
use super::sleep::Sleep;
use crate::cell::state::{KILL, STOP};
use crate::cell::{CellRef, demolish_all};
use crate::dispatch::{Host, wake};
use crate::reference::{Termination, wake_askers_of};

/// What threads get to come to the end of what they do.
const THREAD_PATIENCE: Duration = Duration::from_secs(3);
/// Failed hooks of actors are listed up to here; the log has them all.
const MOST_FAULTS: usize = 100;

/// Whether the system is going down, and who waits for it.
#[derive(Default)]
pub(super) struct Stopping {
    inner: Mutex<Inner>,
    /// No clock looks after those who wait.
    ended: AtomicBool,
}

#[derive(Default)]
struct Inner {
    begun: bool,
    result: Option<Result<(), StopError>>,
    /// Who waits for the end, by their numbers.
    waiting: BTreeMap<u64, Waker>,
    next: u64,
    problems: Vec<StopProblem>,
    faults: usize,
}

impl Stopping {
    /// True for the first caller, who does the work.
    fn begin(&self) -> bool {
        !std::mem::replace(&mut self.inner.lock().begun, true)
    }

    pub(super) fn has_begun(&self) -> bool {
        self.inner.lock().begun
    }

    /// A hook of an actor failed; it counts if the system is going down.
    pub(super) fn note(&self, path: &str, hook: &'static str, fault: &str) {
        let mut inner = self.inner.lock();
        if inner.begun && inner.faults < MOST_FAULTS {
            inner.faults += 1;
            let (path, fault) = (path.to_owned(), fault.to_owned());
            inner.problems.push(StopProblem::Hook { path, hook, fault });
        }
    }

    /// Something went wrong on the way down.
    pub(super) fn report(&self, problem: StopProblem) {
        tracing::error!(%problem, "the stop goes on");
        self.inner.lock().problems.push(problem);
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended.load(SeqCst)
    }

    fn is_finished(&self) -> bool {
        self.inner.lock().result.is_some()
    }

    fn finish(&self) {
        let waiting = {
            let mut inner = self.inner.lock();
            let problems = std::mem::take(&mut inner.problems);
            inner.result = Some(if problems.is_empty() {
                Ok(())
            } else {
                Err(StopError(problems))
            });
            std::mem::take(&mut inner.waiting)
        };
        waiting.into_values().for_each(wake);
    }

    /// Waits for the end.
    pub(super) fn ended(&self) -> Ending<'_> {
        Ending {
            stopping: self,
            place: None,
        }
    }
}

/// Waits for the stop of a system; given up, it leaves nothing behind.
pub(super) struct Ending<'a> {
    stopping: &'a Stopping,
    place: Option<u64>,
}

impl Future for Ending<'_> {
    type Output = Result<(), StopError>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        let waker = task.waker().clone(); // not under the lock: it is anybody's code
        let (result, before) = {
            let inner = &mut *self.stopping.inner.lock();
            match &inner.result {
                Some(result) => (Some(result.clone()), None),
                None => {
                    let place = self.place.unwrap_or_else(|| {
                        inner.next += 1;
                        inner.next
                    });
                    let before = inner.waiting.insert(place, waker);
                    self.place = Some(place);
                    (None, before)
                }
            }
        };
        drop(before);
        result.map_or(Poll::Pending, Poll::Ready)
    }
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            let waker = self.stopping.inner.lock().waiting.remove(&place);
            drop(waker);
        }
    }
}

/// Stops the system and waits for it; from inside a handler, which must itself end first, it only
/// begins.
pub(super) async fn stop(core: Arc<SystemCore>) -> Result<(), StopError> {
    let inside = Host::with(|host| host.ambient().id != 0 || host.is_in_hook()).unwrap_or(false);
    if core.stopping.begin() {
        core.shutdown.begin(core.now(), core.settings().shutdown_timeout());
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
    core.stopping.ended().await
}

/// Ends a stop whose task was dropped: the runtime it should have run on is gone.
struct Unfinished(Arc<SystemCore>);

impl Drop for Unfinished {
    fn drop(&mut self) {
        let core = &self.0;
        if core.stopping.is_finished() {
            return;
        }
        for problem in core.shutdown.abandon(core.now()) {
            core.stopping.report(problem);
        }
        core.schedules().close();
        let count = core.directory().len().saturating_sub(3);
        core.stopping.report(StopProblem::RuntimeGone { count });
        core.keeper().forget_all();
        core.groups().forget_all();
        core.guardians.store(None);
        core.env().retire();
        finish(core);
    }
}

/// Takes a system away as the death of its process would. Its tasks must be gone, and its handles not be used any more.
pub(crate) fn abandon(core: &Arc<SystemCore>) {
    core.stopping.begin();
    core.schedules().close();
    core.pools().for_each(|pool| pool.close());
    let Some(guardians) = core.guardians.swap(None) else {
        return;
    };
    let mut all = below(&guardians.root);
    all.push(guardians.root.clone());
    demolish_all(&all);
    drop(core.shutdown.abandon(core.now()));
    let count = all.len().saturating_sub(3);
    core.keeper().forget_all();
    core.groups().forget_all();
    core.env().retire();
    core.stopping.report(StopProblem::RuntimeGone { count });
    finish(core);
}

async fn go_down(core: Arc<SystemCore>) {
    core.schedules().close();
    loop {
        match core.shutdown.next(core.now()) {
            Step::Run { phase, hook } => shutdown::run(&core, &phase, hook).await,
            Step::Pass { phase, hook, why } => shutdown::pass(&core, phase, hook, why).await,
            Step::Work(work) => {
                if let Some(guardians) = core.guardians() {
                    do_work(&core, work, &guardians).await;
                }
            }
            Step::Done => break,
        }
    }
    close_dispatchers(&core).await;
    crate::mailbox::pool::trim();
    core.env().retire();
    finish(&core);
}

/// Says that it is over, and ends the asks that are still waited for: their answers are in the hands of somebody who is none
/// of ours, and no clock would tell their askers that the time is over; nor those who sleep.
fn finish(core: &SystemCore) {
    // A virtual clock goes on.
    if !core.env().is_simulated() {
        core.stopping.ended.store(true, SeqCst);
        wake_askers_of(core.number);
        core.timers().wake_all();
    }
    core.stopping.finish();
}

/// What the runtime does in a phase.
async fn do_work(core: &Arc<SystemCore>, work: Work, guardians: &Guardians) {
    match work {
        Work::Drain => shutdown::drain(core, &guardians.user).await,
        Work::Actors => {
            stop_tree(core, guardians).await;
            core.guardians.store(None);
        }
    }
}

async fn close_dispatchers(core: &Arc<SystemCore>) {
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
            core.stopping.report(StopProblem::Threads {
                dispatcher: name.to_owned(),
                count: pool.live(),
            });
        }
    }
    for (dispatcher, threads) in
        std::iter::once(("blocking", core.blocking.clone())).chain(pinned.into_iter().map(|t| ("pinned", t)))
    {
        if !closed_before(&mut over, |task| threads.poll_closed(task)).await {
            core.stopping.report(StopProblem::Threads {
                dispatcher: dispatcher.to_owned(),
                count: threads.threads(),
            });
        }
    }
}

/// Stops what users made, then what serves them, then the root; one `stop-timeout` for all, as far as the
/// shutdown as a whole has that much time left.
async fn stop_tree(core: &Arc<SystemCore>, guardians: &Guardians) {
    // Those who have not been told yet get at least a moment to end well, whoever has used up the time.
    let within = core.settings().stop_timeout().min(core.left().max(LAST_PATIENCE));
    let until = core.now() + within;
    let users_ended = stop_branch(core, &guardians.user, within).await;
    let rest = until.since(core.now()).max(LAST_PATIENCE);
    let all_ended = stop_branch(core, &guardians.system, rest).await && users_ended;
    guardians.root.control(STOP);
    if all_ended {
        let mut ended = Termination::new(guardians.root.clone());
        shutdown::last_wait(core, |task| Pin::new(&mut ended).poll(task)).await;
    }
}

/// False: something below does not even end when killed.
async fn stop_branch(core: &Arc<SystemCore>, guardian: &CellRef, within: Duration) -> bool {
    let begun = core.now();
    let mut ended = Termination::new(guardian.clone());
    guardian.control(STOP);
    let in_time = shutdown::wait(core, within, |task| Pin::new(&mut ended).poll(task)).await;
    if in_time.is_some() {
        return true;
    }
    let left = below(guardian);
    core.stopping.report(StopProblem::Killed {
        count: left.len(),
        within: core.now().since(begun).min(within), // less if somebody was in a hurry
        examples: examples(&left),
    });
    guardian.control(KILL);
    let killed = shutdown::last_wait(core, |task| Pin::new(&mut ended).poll(task)).await;
    if killed.is_some() {
        return true;
    }
    let left = below(guardian);
    core.stopping.report(StopProblem::Stuck {
        count: left.len(),
        examples: examples(&left),
    });
    false
}

/// All that live below `guardian`.
pub(super) fn below(guardian: &CellRef) -> Vec<CellRef> {
    let mut above = guardian.children();
    let mut all = Vec::new();
    while let Some(cell) = above.pop() {
        above.extend(cell.children());
        all.push(cell);
    }
    all
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
