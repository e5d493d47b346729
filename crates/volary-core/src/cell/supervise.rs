//! Carrying out what supervision says: in the turn of the actor that failed, and in its parent's when
//! it hands its fault up.
//!
//! ```text
//!             crash                       too many restarts, or a delay before the next
//!   Running ─────────▶ verdict ──▶ resume │ restart │ stop │ Held ──▶ reinstated, restarted or stopped
//!                                                   escalate: Held, and the parent crashes with this fault
//! ```

use std::any::TypeId;
use std::time::Duration;

use super::header::{CellRef, Header};
use super::lifecycle::{self, Alive, Phase};
use super::state::{ESCALATED, HELD, KILL, PAUSED, REINSTATE, RESTART, STOP, SUSPENDED};
use crate::actor::Fault;
use crate::dispatch::Host;
use crate::events::{ChildFailed, Lifecycle};
use crate::mailbox::Envelope;
use crate::reference::{ActorId, post_exempt};
use crate::supervision::{Directive, Strategy, Supervision, Verdict};
use crate::tree::Path;

/// A child could not be helped by its own supervision.
#[derive(Debug, thiserror::Error)]
#[error("{child} failed")]
struct Escalated {
    child: Path,
    #[source]
    fault: Fault,
}

/// A handler crashed, or a child handed its fault up.
pub(super) fn faulted(cell: &Header, host: &Host, fault: Fault) -> Alive {
    let verdict = judge(cell, &fault);
    let directive = match verdict {
        Verdict::Resume => Directive::Resume,
        Verdict::Restart | Verdict::RestartAfter(_) => Directive::Restart,
        Verdict::Stop => Directive::Stop,
        Verdict::Escalate => Directive::Escalate,
        Verdict::Suspend => Directive::Suspend,
    };
    cell.system().report_fault(cell, &fault, directive);
    tell_parent(cell, &fault, directive);
    if cell.state.has(STOP | KILL) {
        return lifecycle::recheck(cell);
    }
    include_siblings(cell, directive);
    if !matches!(verdict, Verdict::Resume) {
        // What it began and will not finish ends with this.
        cell.with_links(|links| links.crash = Some(fault.clone()));
    }
    match verdict {
        Verdict::Resume => {
            release_children(cell, REINSTATE);
            lifecycle::recheck(cell)
        }
        Verdict::Restart => lifecycle::begin_restart(cell, host),
        Verdict::RestartAfter(delay) => hold(cell, Some(delay)),
        Verdict::Stop => {
            cell.state.set(STOP);
            lifecycle::begin_stop(cell, host)
        }
        Verdict::Suspend => {
            hold(cell, None);
            cell.system().publish_lifecycle(cell, Lifecycle::Suspended);
            lifecycle::recheck(cell)
        }
        Verdict::Escalate => escalate(cell, host, fault),
    }
}

fn policy(cell: &Header) -> Option<&Supervision> {
    cell.extras_if_any()?.supervision.as_deref()
}

pub(super) fn keeps_children(cell: &Header) -> bool {
    policy(cell).is_some_and(Supervision::keeps_children)
}

fn judge(cell: &Header, fault: &Fault) -> Verdict {
    let Some(policy) = policy(cell) else {
        return match cell.on_fault {
            Directive::Resume => Verdict::Resume,
            Directive::Restart => Verdict::Restart,
            Directive::Stop => Verdict::Stop,
            Directive::Escalate => Verdict::Escalate,
            Directive::Suspend => Verdict::Suspend,
        };
    };
    let system = cell.system();
    let (now, random) = (system.now(), system.env().random());
    cell.with_links(|links| {
        let history = links.history.get_or_insert_default();
        history.judge(policy, fault, now, random)
    })
}

/// The supervisor hears of every failure, whatever is done about it.
fn tell_parent(cell: &Header, fault: &Fault, directive: Directive) {
    let Some(parent) = cell.parent() else { return };
    let Some(table) = (parent.table.accepts)(TypeId::of::<ChildFailed>()) else {
        return;
    };
    let message = ChildFailed {
        path: cell.path(),
        id: ActorId::of(cell.id),
        fault: fault.clone(),
        directive,
    };
    let envelope = Envelope {
        sender: cell.id,
        ..Envelope::OUTSIDE
    };
    if post_exempt(parent, table, envelope, message).is_ok() && parent.state.mail() {
        parent.schedule();
    }
}

/// A restart or stop of one may concern others of the family.
fn include_siblings(cell: &Header, directive: Directive) {
    let how = match directive {
        Directive::Restart => RESTART,
        Directive::Stop => STOP,
        Directive::Resume | Directive::Escalate | Directive::Suspend => return,
    };
    let strategy = policy(cell).map_or(Strategy::OneForOne, Supervision::whom);
    let (Some(parent), true) = (cell.parent(), strategy != Strategy::OneForOne) else {
        return;
    };
    let siblings = parent.children(); // oldest first
    let me = siblings.iter().position(|other| other.id == cell.id);
    let first = match strategy {
        Strategy::RestForOne => me.map_or(siblings.len(), |me| me + 1),
        _ => 0,
    };
    for sibling in siblings.iter().skip(first).filter(|other| other.id != cell.id) {
        sibling.control(how);
    }
}

/// The mail waits until the delay is over, or somebody decides.
fn hold(cell: &Header, delay: Option<Duration>) -> Alive {
    cell.state.set(PAUSED | HELD);
    cell.phase.set(Phase::Held);
    if let Some(delay) = delay {
        lifecycle::set_alarm(cell, delay);
    }
    lifecycle::recheck(cell)
}

/// The actor waits, and its parent fails in its place.
fn escalate(cell: &Header, host: &Host, fault: Fault) -> Alive {
    let above = cell.parent().filter(|parent| !is_guardian(parent));
    let Some(parent) = above else {
        cell.state.set(STOP);
        return lifecycle::begin_stop(cell, host);
    };
    hold(cell, None);
    let child = cell.path();
    let fault = Fault::new(Escalated { child, fault });
    parent.with_links(|links| links.escalated.push((cell.to_ref(), Some(fault))));
    parent.control(ESCALATED);
    lifecycle::recheck(cell)
}

/// `/`, `/user` and `/system` are not the user's, and do not fail.
fn is_guardian(cell: &Header) -> bool {
    cell.parent().is_none_or(|parent| parent.parent().is_none())
}

/// Faults that children have handed up. Called in the parent's turn, when no handler of it waits.
pub(super) fn take_escalated(cell: &Header, host: &Host) -> Alive {
    cell.state.clear(ESCALATED);
    let fault = cell.with_links(|links| links.escalated.iter_mut().find_map(|(_, fault)| fault.take()));
    let Some(fault) = fault else { return Alive::Yes };
    let more = cell.with_links(|links| links.escalated.iter().any(|(_, fault)| fault.is_some()));
    if more {
        cell.control(ESCALATED);
    }
    faulted(cell, host, fault)
}

/// Children that waited for this actor's fate have ended; what they handed up is over.
pub(super) fn forget_escalated(cell: &Header) {
    let Some(extras) = cell.extras_if_any() else { return };
    cell.state.clear_if_set(ESCALATED);
    let _waiting = std::mem::take(&mut extras.links.lock().escalated);
}

/// Children that wait for this actor's fate share it.
pub(super) fn release_children(cell: &Header, how: u32) {
    let Some(extras) = cell.extras_if_any() else { return };
    let waiting: Vec<(CellRef, Option<Fault>)> = std::mem::take(&mut extras.links.lock().escalated);
    for (child, _) in waiting {
        child.control(how);
    }
}

/// Somebody has decided that the actor may go on as it is.
pub(super) fn reinstate(cell: &Header) -> Alive {
    cell.state.clear(REINSTATE);
    if cell.phase.get() != Phase::Held {
        return Alive::Yes;
    }
    lifecycle::cancel_alarm(cell);
    cell.with_links(|links| {
        links.crash = None;
        if let Some(history) = &mut links.history {
            history.forgive();
        }
    });
    cell.phase.set(Phase::Running);
    cell.state.clear(PAUSED | HELD);
    cell.system().publish_lifecycle(cell, Lifecycle::Reinstated);
    release_children(cell, REINSTATE);
    lifecycle::recheck(cell)
}

/// Whether the parent may take up what its children handed it.
pub(super) fn may_take_escalated(state: u32, phase: Phase) -> bool {
    state & ESCALATED != 0 && state & SUSPENDED == 0 && phase == Phase::Running
}
