//! The last step of an actor's life, and who hears of it.

use std::collections::BTreeMap;

use super::header::{CellRef, Header};
use super::lifecycle::{Alive, Phase, abort_tasks, cancel_alarm, drop_actor};
use super::state::{HELD, PAUSED, SUSPENDED};
use super::{Links, Memberships, Watcher, supervise};
use crate::actor::Fault;
use crate::dispatch::{Ending, Host, discard, wake};
use crate::events::{DeadReason, Lifecycle};
use crate::mailbox::{Incoming, Peek};
use crate::reference::StartError;
use crate::sync::Spin;

/// The last step. The cell is kept until the turn is over, and not touched again.
pub(super) fn end(cell: &Header, host: &Host) -> Alive {
    let system = cell.system();
    if !cell
        .extras_if_any()
        .is_some_and(|extras| extras.links.lock().without_actor)
    {
        drop_actor(cell, host);
    }
    abort_tasks(cell);
    cancel_alarm(cell);
    cell.cancel_idle_timer();
    system.keeper().left(cell);
    supervise::forget_escalated(cell);
    cell.state.clear_if_set(HELD);
    cell.close_mailbox();
    cell.discard_stash();
    drain_as_dead_letters(cell);
    while let Some(letter) = cell.next_letter() {
        // Left behind by a mailbox that once gave nothing when it was asked.
        letter.discard(cell, DeadReason::Stopped);
    }

    let (watchers, watching, mourners, memberships) = match cell.extras_if_any() {
        None => Default::default(),
        Some(extras) => {
            let mut links = extras.links.lock();
            links.ended = true;
            (
                std::mem::take(&mut links.watchers),
                std::mem::take(&mut links.watching),
                std::mem::take(&mut links.mourners),
                links.memberships.take(),
            )
        }
    };
    leave(cell, memberships);
    for other in watching.into_values() {
        let _me = other.with_links(|links| links.watchers.remove(&cell.id));
    }
    system.publish_lifecycle(cell, Lifecycle::Stopped);
    if let Some(meter) = system.meter() {
        meter.ended(cell);
    }
    cell.phase.set(Phase::Gone);
    system.directory().remove(cell.id);
    system.schedules().receiver_ended(cell);
    // Out of the table first: whoever hears of the end may use the name again. Everything below still needs the memory,
    // and so does whoever looks at the cell in this turn: what the table held is kept that long.
    let (held, last) = leave_parent(cell);
    host.mourn(held);
    cell.state.die();
    notify(cell, watchers);
    if last {
        tell_parent(cell);
    }
    if let Some(thread) = cell.extras_if_any().and_then(|extras| extras.own_dispatcher.as_ref()) {
        thread.close(); // it was for this actor alone
    }
    if let Some(extras) = cell.extras_if_any() {
        // Made or filled late, between the first look and the death.
        let (watchers, mourners, memberships, starter, start_fault) = {
            let mut links = extras.links.lock();
            links.ended = true;
            let starter = links.starter.take();
            let fault = if starter.is_some() {
                links.start_fault.take()
            } else {
                None
            };
            (
                std::mem::take(&mut links.watchers),
                std::mem::take(&mut links.mourners),
                links.memberships.take(),
                starter,
                fault,
            )
        };
        leave(cell, memberships);
        notify(cell, watchers);
        if let Some(starter) = starter {
            let stopped = || StartError {
                attempts: 1,
                fault: Fault::msg("stopped while it was starting"),
            };
            starter.send(Err(start_fault.unwrap_or_else(stopped)));
        }
        mourners.into_iter().for_each(|(_, waker)| wake(waker));
    }
    mourners.into_iter().for_each(|(_, waker)| wake(waker));
    Alive::No
}

/// The end of an actor whose world is gone, as if its process had been killed: no hook runs, no watcher hears of it, and
/// nothing is left. Used by simulations.
///
/// # Safety
/// Nobody runs the actor, and nobody will.
unsafe fn demolish(cell: &Header, host: &Host) {
    let there = match cell.phase.get() {
        Phase::Unborn | Phase::Clearing | Phase::Gone => false,
        Phase::Starting => cell.state.has(SUSPENDED),
        _ => !cell
            .extras_if_any()
            .is_some_and(|extras| extras.links.lock().without_actor),
    };
    cell.state.die();
    // SAFETY: the caller's promise: it is ours as much as anybody's.
    let _ = unsafe { discard(cell, host, Ending::Stopped) };
    if there {
        drop_actor(cell, host);
    }
    cell.phase.set(Phase::Gone);
    abort_tasks(cell);
    cancel_alarm(cell);
    cell.cancel_idle_timer();
    cell.system().keeper().left(cell);
    cell.close_mailbox();
    cell.discard_stash();
    drain_as_dead_letters(cell);
    if let Some(extras) = cell.extras_if_any() {
        let links = {
            let mut links = extras.links.lock();
            let gone = Links {
                ended: true,
                ..Links::default()
            };
            std::mem::replace(&mut *links, gone)
        };
        extras.family.clear();
        for (_, waker) in links.mourners {
            wake(waker);
        }
        for subscription in links.memberships.into_iter().flat_map(|all| all.subscriptions) {
            subscription.leave();
        }
    }
    cell.system().directory().remove(cell.id);
}

/// Demolishes all actors of a system whose workers are gone.
pub(crate) fn demolish_all(cells: &[CellRef]) {
    Host::with(|host| {
        for cell in cells {
            // SAFETY: only workers run actors in simulation, and the caller has dropped those before.
            unsafe { demolish(cell, host) };
        }
    });
}

fn notify(cell: &Header, watchers: BTreeMap<u64, Watcher>) {
    for watcher in watchers.into_values() {
        crate::reference::post_terminated(cell, &watcher);
    }
}

/// Takes an ended actor off everything that it belongs to.
fn leave(cell: &Header, memberships: Option<Box<Memberships>>) {
    let Some(memberships) = memberships else { return };
    for subscription in memberships.subscriptions {
        subscription.leave();
    }
    if memberships.groups.is_empty() {
        return;
    }
    let register = cell.system().groups();
    register.ended(memberships.groups, cell);
    register.announce(cell.system().events());
}

/// What the parent held of it, and whether it was the last child.
fn leave_parent(cell: &Header) -> (CellRef, bool) {
    let Some(parent) = cell.parent() else {
        return (cell.to_ref(), false);
    };
    let (held, last) = parent.extras().family.remove(cell);
    (held.unwrap_or_else(|| cell.to_ref()), last)
}

fn tell_parent(cell: &Header) {
    let Some(parent) = cell.parent() else { return };
    if matches!(parent.state.load() & (PAUSED), PAUSED) {
        // It may be waiting for this; if it is not, a look costs little.
        parent.control(0);
    }
}

fn drain_as_dead_letters(cell: &Header) {
    let mut spin = Spin::new();
    loop {
        // SAFETY: we own the actor and so are the one reader.
        match unsafe { cell.log.peek(cell) } {
            Peek::Record(first, place) => {
                // SAFETY: peeked, and its payload is taken by `discard`.
                unsafe {
                    let (incoming, words) = Incoming::read(first, place);
                    cell.log.advance(words);
                    incoming.discard(cell, DeadReason::Stopped);
                }
            }
            Peek::Pending => spin.pause(),
            Peek::Empty => {
                // SAFETY: as above.
                unsafe { cell.log.settle(cell) };
                return;
            }
        }
    }
}
