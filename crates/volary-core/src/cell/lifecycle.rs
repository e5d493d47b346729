//! The life of an actor: start, restart, stop, end. Everything here runs in the actor's own turn.
//!
//! ```text
//!   Starting ──▶ Running ──▶ Stopping ──▶ Ending ──▶ (gone)
//!      ▲          │ ▲        (hook, then   (stopped
//!      │          ▼ │         children)     hook)
//!      ├───────── Held    (crashed: waits for the time or the word to go on)
//!      └─ Clearing ◀┘     (children, before a restart)
//! ```

use std::time::Duration;

use super::header::Header;
use super::passivate::finish;
use super::state::{
    ALARM, CONTROL, DRAIN, ESCALATED, GRACE_OVER, HELD, IDLE_OVER, KILL, PASSIVATE, PAUSED, REINSTATE, RESTART, SEALED,
    SLEEPY, STOP, SUSPENDED, WOKEN,
};
use super::{grace_waker, passivate, supervise};
use crate::actor::{Fault, MadeOnce};
use crate::dispatch::{Ending, Host, Step, contain, discard, resume};
use crate::env::What;
use crate::events::Lifecycle;
use crate::reference::StartError;

/// Where in its life an actor is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Phase {
    /// Made, and waiting for its own dispatcher to start it.
    Unborn,
    /// The factory or the `started` hook runs, for the n-th time.
    Starting,
    /// It handles messages.
    Running,
    /// It has crashed, and waits for the time or the word to go on.
    Held,
    /// It restarts and waits for its children to end.
    Clearing,
    /// The `stopping` hook runs.
    Stopping,
    /// Children are ending.
    Emptying,
    /// The `stopped` hook runs.
    Ending,
    /// It is passivated: no actor is there until a message comes.
    Asleep,
    /// Gone.
    Gone,
}

/// Whether the cell still exists for its owner.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub(crate) enum Alive {
    Yes,
    No,
}

/// The first start. The caller made the cell and owns it.
pub(crate) fn begin(cell: &Header, host: &Host) -> Alive {
    attempt_start(cell, host, 0)
}

/// Tries to start once more, after `before` failed attempts.
pub(super) fn attempt_start(cell: &Header, host: &Host, before: u32) -> Alive {
    attempt_start_after(cell, host, before, None)
}

/// The same; the last of those attempts failed for that reason.
fn attempt_start_after(cell: &Header, host: &Host, before: u32, last: Option<Fault>) -> Alive {
    let attempt = before + 1;
    // SAFETY: we own the actor and its place is empty.
    let built = unsafe { (cell.table.build)(cell) };
    let fault = match (built, last) {
        // There was one attempt, and why it failed is what matters.
        (Err(fault), Some(last)) if fault.is::<MadeOnce>() => return fail_start(cell, host, before, last),
        (Err(fault), _) => fault,
        // SAFETY: we own the actor, which was just built.
        (Ok(()), _) => match unsafe { (cell.table.started)(cell, host) } {
            Step::Done => return finish_start(cell),
            Step::Suspended => {
                cell.state.set(SUSPENDED);
                cell.with_links(|links| links.attempt = attempt);
                set_alarm(cell, cell.system().settings().init_timeout());
                return Alive::Yes;
            }
            Step::Faulted(fault) => {
                drop_actor(cell, host);
                fault
            }
        },
    };
    after_failed_attempt(cell, host, attempt, fault)
}

/// What a failed attempt has begun is undone before the next one, or before giving up.
fn after_failed_attempt(cell: &Header, host: &Host, attempt: u32, fault: Fault) -> Alive {
    abort_tasks(cell);
    let retries = cell.system().settings().init_retries() as u32;
    if attempt > retries || cell.state.has(STOP | KILL) {
        return fail_start(cell, host, attempt, fault);
    }
    if !has_children(cell) || supervise::keeps_children(cell) {
        return attempt_start_after(cell, host, attempt, Some(fault));
    }
    cell.with_links(|links| links.attempt = attempt);
    cell.phase.set(Phase::Clearing);
    stop_children(cell, STOP);
    continue_after_children(cell, host)
}

fn has_children(cell: &Header) -> bool {
    cell.child_count() > 0
}

fn finish_start(cell: &Header) -> Alive {
    let (news, starter) = cell.extras_if_any().map_or((Lifecycle::Started, None), |extras| {
        let mut links = extras.links.lock();
        let woken = std::mem::take(&mut links.waking);
        links.crash = None;
        let news = match std::mem::take(&mut links.restarting) {
            true => Lifecycle::Restarted,
            false if woken => Lifecycle::Woken,
            false => Lifecycle::Started,
        };
        (news, links.starter.take())
    });
    if let Some(starter) = starter {
        starter.send(Ok(())); // wakes somebody, so not under the lock
    }
    if cell.state.clear_if_set(IDLE_OVER) & PASSIVATE != 0 {
        cell.with_links(|links| links.fresh = true);
    }
    cell.phase.set(Phase::Running);
    cell.state.clear_if_set(PAUSED);
    cell.wakeful();
    cell.system().publish_lifecycle(cell, news);
    Alive::Yes
}

fn fail_start(cell: &Header, host: &Host, attempts: u32, fault: Fault) -> Alive {
    cell.system().report_start_failure(cell, attempts, &fault);
    give_up_start(cell, StartError { attempts, fault });
    cell.phase.set(Phase::Emptying);
    cell.close_mailbox();
    stop_children(cell, STOP);
    continue_after_children(cell, host)
}

/// There is no actor, and will not be. The spawner hears of it when nothing is left behind.
fn give_up_start(cell: &Header, error: StartError) {
    cell.with_links(|links| {
        links.start_fault = Some(error);
        links.without_actor = true;
    });
}

/// Looks at the control bits. Called when `CONTROL` was set, after it was cleared.
pub(crate) fn control(cell: &Header, host: &Host) -> Alive {
    cell.mark_layers(); // somebody may have begun or ceased to look
    let state = cell.state.load();
    if state & GRACE_OVER != 0 {
        cell.state.clear(GRACE_OVER);
    }
    if state & GRACE_OVER != 0 && is_alarm_due(cell) {
        if state & SUSPENDED != 0 && is_overdue(cell) && abandon(cell, host) == Alive::No {
            return Alive::No;
        }
        if cell.phase.get() == Phase::Held && state & (STOP | KILL) == 0 {
            return begin_restart(cell, host); // the delay is over
        }
    }
    if state & KILL != 0 && cell.phase.get() != Phase::Asleep {
        return kill(cell, host);
    }
    if cell.phase.get() == Phase::Unborn {
        cell.phase.set(Phase::Starting);
        let alive = begin(cell, host);
        if alive == Alive::Yes {
            recheck(cell);
        }
        return alive;
    }
    match cell.phase.get() {
        Phase::Asleep => passivate::control_asleep(cell, host),
        Phase::Running | Phase::Starting | Phase::Held if state & STOP != 0 => begin_stop(cell, host),
        // Before anything else that leaves it running: nobody would come back to it.
        phase if supervise::may_take_escalated(state, phase) => {
            let alive = supervise::take_escalated(cell, host);
            if alive == Alive::Yes {
                recheck(cell);
            }
            alive
        }
        Phase::Running | Phase::Starting if state & DRAIN != 0 => {
            cell.close_mailbox();
            Alive::Yes // the turn comes back when the log is empty
        }
        Phase::Running if state & RESTART != 0 => {
            cell.state.clear(RESTART);
            if state & SUSPENDED != 0 {
                cell.state.set(RESTART);
                begin_grace(cell);
                return Alive::Yes;
            }
            begin_restart(cell, host)
        }
        Phase::Running if state & (PASSIVATE | IDLE_OVER) != 0 => passivate::consider(cell, host),
        // It cannot handle what waits, and nobody may ever reinstate it.
        Phase::Held if state & DRAIN != 0 => begin_stop(cell, host),
        Phase::Held if state & RESTART != 0 => {
            cell.state.clear(RESTART);
            begin_restart(cell, host)
        }
        _ if state & REINSTATE != 0 => supervise::reinstate(cell),
        // New messages are refused from the stop on, though the hooks of a sleep still run.
        Phase::Stopping | Phase::Emptying | Phase::Ending if state & (STOP | SLEEPY) == STOP | SLEEPY => {
            cell.close_mailbox();
            continue_after_children(cell, host)
        }
        Phase::Clearing | Phase::Emptying => continue_after_children(cell, host),
        _ => Alive::Yes,
    }
}

/// A drain was asked for and the log is empty now.
pub(crate) fn drained(cell: &Header, host: &Host) -> Alive {
    begin_stop(cell, host)
}

pub(super) fn begin_stop(cell: &Header, host: &Host) -> Alive {
    cell.close_mailbox();
    if cell.state.has(SUSPENDED) {
        // Something of the actor is waiting: it may end in its own time, up to the grace.
        cell.state.set(PAUSED);
        if cell.phase.get() == Phase::Running {
            begin_grace(cell);
        }
        return Alive::Yes;
    }
    match cell.phase.get() {
        Phase::Running | Phase::Held => {}
        _ => return Alive::Yes,
    }
    begin_hooks(cell, host)
}

/// The way down of an actor that is not suspended.
pub(super) fn begin_hooks(cell: &Header, host: &Host) -> Alive {
    cell.state.seal(PAUSED);
    cell.state.clear_if_set(HELD);
    cancel_alarm(cell);
    cell.phase.set(Phase::Stopping);
    cell.system().publish_lifecycle(cell, Lifecycle::Stopping);
    // SAFETY: we own the actor, which is there in these phases.
    let step = unsafe { (cell.table.stopping)(cell, host) };
    after_step(cell, host, step)
}

fn kill(cell: &Header, host: &Host) -> Alive {
    cell.close_mailbox();
    cell.state.seal(PAUSED | STOP);
    let phase = cell.phase.get();
    if cell.state.has(SUSPENDED) {
        drop_frame(cell, host, Ending::Stopped);
        match phase {
            Phase::Ending => return finish(cell, host), // its `stopped` hook was all that was left
            Phase::Starting => drop_actor(cell, host),
            _ => {}
        }
    }
    match phase {
        Phase::Ending | Phase::Gone | Phase::Asleep => return Alive::Yes,
        Phase::Starting | Phase::Clearing | Phase::Unborn => {
            let fault = Fault::msg("killed while it was starting");
            give_up_start(cell, StartError { attempts: 1, fault });
        }
        Phase::Running | Phase::Held | Phase::Stopping | Phase::Emptying => {}
    }
    cell.phase.set(Phase::Emptying);
    stop_children(cell, KILL);
    continue_after_children(cell, host)
}

/// What a handler or hook that has just been polled means for the actor.
pub(crate) fn after_step(cell: &Header, host: &Host, step: Step) -> Alive {
    match step {
        Step::Suspended => {
            cell.state.set(SUSPENDED);
            let phase = cell.phase.get();
            if matches!(phase, Phase::Stopping | Phase::Ending) {
                set_alarm(cell, cell.system().settings().stop_grace());
            }
            Alive::Yes
        }
        Step::Done => completed(cell, host, None),
        Step::Faulted(fault) => completed(cell, host, Some(fault)),
    }
}

/// Continues a suspended handler or hook that was woken.
pub(crate) fn resume_frame(cell: &Header, host: &Host) -> Alive {
    cell.system().show(cell, What::Continues);
    // SAFETY: we own the actor and SUSPENDED says that there is a frame.
    let step = unsafe { resume(cell, host) };
    if matches!(step, Step::Suspended) {
        return Alive::Yes;
    }
    cell.state.clear(SUSPENDED | WOKEN);
    cancel_alarm(cell);
    completed(
        cell,
        host,
        match step {
            Step::Faulted(fault) => Some(fault),
            _ => None,
        },
    )
}

fn completed(cell: &Header, host: &Host, fault: Option<Fault>) -> Alive {
    match (cell.phase.get(), fault) {
        (Phase::Running, None) | (Phase::Gone, _) => recheck(cell),
        (Phase::Running, Some(fault)) => supervise::faulted(cell, host, fault),
        (Phase::Starting, None) => {
            let alive = finish_start(cell);
            recheck(cell);
            alive
        }
        (Phase::Starting, Some(fault)) => retry_start(cell, host, fault),
        (Phase::Stopping, fault) => {
            report_hook(cell, "stopping", fault);
            cell.phase.set(Phase::Emptying);
            stop_children(cell, STOP);
            continue_after_children(cell, host)
        }
        (Phase::Ending, fault) => {
            report_hook(cell, "stopped", fault);
            finish(cell, host)
        }
        (Phase::Unborn | Phase::Held | Phase::Clearing | Phase::Emptying | Phase::Asleep, _) => Alive::Yes,
    }
}

/// A stop may have been waiting for the handler that has just ended.
pub(super) fn recheck(cell: &Header) -> Alive {
    if cell
        .state
        .has(STOP | KILL | DRAIN | RESTART | REINSTATE | ESCALATED | PASSIVATE | IDLE_OVER)
    {
        cell.state.set(CONTROL);
    }
    Alive::Yes
}

fn retry_start(cell: &Header, host: &Host, fault: Fault) -> Alive {
    drop_actor(cell, host);
    let attempt = cell.with_links(|links| links.attempt);
    after_failed_attempt(cell, host, attempt, fault)
}

fn report_hook(cell: &Header, hook: &'static str, fault: Option<Fault>) {
    if let Some(fault) = fault {
        cell.system().report_hook_fault(cell, hook, &fault);
    }
}

pub(super) fn begin_restart(cell: &Header, host: &Host) -> Alive {
    cell.state.set(PAUSED);
    cell.state.clear_if_set(HELD);
    cancel_alarm(cell);
    drop_actor(cell, host);
    abort_tasks(cell);
    cell.unstash(usize::MAX); // the next incarnation has it first
    cell.with_links(|links| {
        links.restarting = true;
        links.attempt = 0;
    });
    if supervise::keeps_children(cell) {
        supervise::release_children(cell, RESTART);
        cell.phase.set(Phase::Starting);
        let alive = attempt_start(cell, host, 0);
        if alive == Alive::Yes {
            recheck(cell);
        }
        return alive;
    }
    cell.phase.set(Phase::Clearing);
    stop_children(cell, STOP);
    continue_after_children(cell, host)
}

/// Goes on if all children are gone.
fn continue_after_children(cell: &Header, host: &Host) -> Alive {
    if has_children(cell) {
        return Alive::Yes; // the last child brings us back
    }
    match cell.phase.get() {
        Phase::Clearing if cell.state.has(STOP | KILL) => {
            let fault = Fault::msg("stopped while it was starting");
            give_up_start(cell, StartError { attempts: 1, fault });
            cell.close_mailbox();
            cell.phase.set(Phase::Emptying);
            continue_ending(cell, host)
        }
        Phase::Clearing => {
            supervise::forget_escalated(cell); // of children that are gone
            cell.phase.set(Phase::Starting);
            cell.state.clear(SEALED);
            let before = cell.with_links(|links| links.attempt);
            let alive = attempt_start(cell, host, before);
            if alive == Alive::Yes {
                recheck(cell);
            }
            alive
        }
        Phase::Emptying => continue_ending(cell, host),
        _ => Alive::Yes,
    }
}

fn continue_ending(cell: &Header, host: &Host) -> Alive {
    cell.phase.set(Phase::Ending);
    if cell
        .extras_if_any()
        .is_some_and(|extras| extras.links.lock().without_actor)
    {
        return finish(cell, host);
    }
    // SAFETY: we own the actor, which is there: `without_actor` says when not.
    let step = unsafe { (cell.table.stopped)(cell, host) };
    after_step(cell, host, step)
}

/// A handler or hook was given up after its grace.
fn abandon(cell: &Header, host: &Host) -> Alive {
    drop_frame(cell, host, Ending::Stopped);
    match cell.phase.get() {
        Phase::Running => recheck(cell),
        Phase::Starting => {
            let patience = cell.system().settings().init_timeout();
            retry_start(
                cell,
                host,
                Fault::msg(format!("`started` took longer than {patience:?}")),
            )
        }
        phase => {
            let hook = if phase == Phase::Stopping {
                "stopping"
            } else {
                "stopped"
            };
            let grace = cell.system().settings().stop_grace();
            completed(
                cell,
                host,
                Some(Fault::msg(format!(
                    "the `{hook}` hook took longer than {grace:?} and was dropped"
                ))),
            )
        }
    }
}

/// Whether whatever is suspended is to be given up when its time is over.
fn is_overdue(cell: &Header) -> bool {
    match cell.phase.get() {
        Phase::Running => cell.state.has(STOP | RESTART),
        _ => true,
    }
}

fn drop_frame(cell: &Header, host: &Host, ending: Ending) {
    // SAFETY: we own the actor.
    let dropped = unsafe { discard(cell, host, ending) };
    cell.state.clear(SUSPENDED | WOKEN);
    cancel_alarm(cell);
    if let Err(fault) = dropped {
        cell.report_drop(&fault);
    }
}

pub(super) fn drop_actor(cell: &Header, host: &Host) {
    let dropped = host.with_ending(Ending::Stopped, || {
        // SAFETY: we own the actor, which is there, and it is dropped once: the phases see to it.
        contain(|| unsafe { (cell.table.drop_actor)(cell) })
    });
    if let Err(fault) = dropped {
        cell.report_drop(&fault);
    }
}

fn stop_children(cell: &Header, how: u32) {
    // Youngest first: what was started later may lean on what was there before.
    for child in cell.seal().iter().rev() {
        child.control(how);
    }
}

/// Ends what the incarnation has begun beside its handlers.
pub(super) fn abort_tasks(cell: &Header) {
    cell.cancel_timers();
    cell.unbecome_all();
    cell.cancel_requests();
    let Some(extras) = cell.extras_if_any() else { return };
    let tasks = std::mem::take(&mut extras.links.lock().tasks);
    for abort in tasks.into_values() {
        abort();
    }
}

/// Starts the grace of a suspended handler, once: asking again does not prolong it.
fn begin_grace(cell: &Header) {
    if !cell.state.has(ALARM) {
        set_alarm(cell, cell.system().settings().stop_grace());
    }
}

pub(super) fn set_alarm(cell: &Header, time: Duration) {
    let system = cell.system();
    cell.state.clear(GRACE_OVER);
    let at = system.now() + time;
    let id = system.timers().insert(at, grace_waker(cell));
    cell.state.set(ALARM);
    let before = cell.with_links(|links| links.alarm.replace((id, at)));
    if let Some((before, _)) = before {
        system.timers().cancel(before);
    }
}

/// Whether it is the alarm that is set now, and not one before it that was late.
fn is_alarm_due(cell: &Header) -> bool {
    let now = cell.system().now();
    cell.with_links(|links| links.alarm.is_some_and(|(_, at)| at <= now))
}

pub(super) fn cancel_alarm(cell: &Header) {
    if !cell.state.has(ALARM) {
        return;
    }
    cell.state.clear(ALARM);
    let alarm = cell.with_links(|links| links.alarm.take());
    if let Some((alarm, _)) = alarm {
        cell.system().timers().cancel(alarm);
    }
}
