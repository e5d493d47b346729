//! A hook from its first attempt to its end, and what is said about it.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::attempt::{Attempt, Ended};
use super::course::CutShort;
use super::hook::{Action, ShutdownHook, Verdict};
use super::patience::{last_wait, wait};
use crate::dispatch::wake;
use crate::sync::Mutex;
use crate::system::core::SystemCore;
use crate::system::problem::StopProblem;

/// How an attempt did not succeed.
enum Failure {
    Fault(String),
    /// It did not end in its time.
    Overdue,
    /// There is no time for anybody any more.
    CutShort(CutShort),
}

/// Runs a hook as often as its recovery says; all that goes wrong is reported.
pub(in crate::system) async fn run(core: &Arc<SystemCore>, phase: &str, hook: ShutdownHook) {
    let ShutdownHook {
        name,
        timeout,
        recovery,
        mut action,
        ..
    } = hook;
    let mut attempts = 0;
    let (verdict, rest) = loop {
        attempts += 1;
        let (outcome, rest) = attempt(core, action, timeout).await;
        let Err(failure) = outcome else {
            break (Verdict::Skip, rest);
        };
        let verdict = match (&failure, &rest) {
            (Failure::CutShort(_), _) => Verdict::Skip, // the course has ended by itself
            (_, Some(_)) => recovery.verdict(attempts),
            (_, None) => recovery.last_verdict(),
        };
        let problem = problem_of(phase, &name, timeout, attempts, failure);
        let Verdict::Again(delay) = verdict else {
            core.stopping.report(problem);
            break (verdict, rest);
        };
        tracing::warn!(system = %core.name, %problem, "a shutdown hook is tried again");
        let _: Option<()> = wait(core, delay.min(core.left()), |_| Poll::Pending).await;
        if core.shutdown.cut_short(core.now()).is_some() {
            core.stopping.report(problem);
            break (Verdict::Skip, rest);
        }
        match rest {
            Some(again) => action = again,
            None => unreachable!("without its action it was not to be tried again"),
        }
    };
    match rest {
        Some(action) => dismiss(core, phase, &name, action).await,
        None => core.stopping.report(stuck(phase, &name)),
    }
    if verdict == Verdict::Fail {
        core.shutdown.fail(name);
    }
}

/// A hook is not run. What it holds is dropped as if it had been.
pub(in crate::system) async fn pass(core: &Arc<SystemCore>, phase: String, hook: ShutdownHook, why: CutShort) {
    let ShutdownHook { name, action, .. } = hook;
    dismiss(core, &phase, &name, action).await;
    let hook = name;
    core.stopping.report(StopProblem::HookNotRun { phase, hook, why });
}

/// Drops what a hook holds, in a task of its own: that is the program's code, and may block.
async fn dismiss(core: &Arc<SystemCore>, phase: &str, name: &str, action: Action) {
    let dropped = Arc::new(Dropped::default());
    let signal = dropped.clone();
    core.env().spawn(Box::pin(async move {
        drop(action);
        signal.set();
    }));
    if last_wait(core, |task| dropped.poll(task)).await.is_none() {
        core.stopping.report(stuck(phase, name));
    }
}

fn stuck(phase: &str, name: &str) -> StopProblem {
    StopProblem::HookStuck {
        phase: phase.to_owned(),
        hook: name.to_owned(),
    }
}

#[derive(Default)]
struct Dropped(Mutex<(bool, Option<Waker>)>);

impl Dropped {
    fn set(&self) {
        let waker = {
            let mut dropped = self.0.lock();
            dropped.0 = true;
            dropped.1.take()
        };
        if let Some(waker) = waker {
            wake(waker);
        }
    }

    fn poll(&self, task: &mut Context<'_>) -> Poll<()> {
        let waker = task.waker().clone();
        let mut dropped = self.0.lock();
        if dropped.0 {
            return Poll::Ready(());
        }
        dropped.1 = Some(waker);
        Poll::Pending
    }
}

/// One attempt. The action is kept by one that cannot be ended.
async fn attempt(core: &Arc<SystemCore>, action: Action, timeout: Duration) -> (Result<(), Failure>, Option<Action>) {
    let attempt = Attempt::begin(core.env(), action);
    let ended = wait(core, timeout.min(core.left()), |task| attempt.poll_ended(task)).await;
    if let Some(Ended { result, action }) = ended {
        return (result.map_err(Failure::Fault), Some(action));
    }
    let failure = match core.shutdown.cut_short(core.now()) {
        Some(why) => Failure::CutShort(why),
        None => Failure::Overdue,
    };
    attempt.cut();
    let ended = last_wait(core, |task| attempt.poll_ended(task)).await;
    (Err(failure), ended.map(|ended| ended.action))
}

fn problem_of(phase: &str, hook: &str, within: Duration, attempts: u32, failure: Failure) -> StopProblem {
    let (phase, hook) = (phase.to_owned(), hook.to_owned());
    match failure {
        Failure::Fault(fault) => StopProblem::HookFailed {
            phase,
            hook,
            attempts,
            fault,
        },
        Failure::Overdue => StopProblem::HookTimedOut {
            phase,
            hook,
            attempts,
            within,
        },
        Failure::CutShort(why) => StopProblem::HookCutOff { phase, hook, why },
    }
}
