//! Timers of an actor: messages that it will send to itself.
//!
//! A timer is an entry in the actor's links and a waker on the system's wheel. When the wheel wakes it, it
//! puts a message into the mailbox, with the number under which it was set. The turn that comes to that
//! message looks whether the timer is still set under this number: one that was cancelled, set anew, or
//! belongs to an incarnation that is gone says nothing any more. At most one message of each timer waits
//! at a time, so no bound applies to them.

use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Wake, Waker};
use std::time::Duration;

use super::header::{CellRef, Header, WeakCell};
use super::state::SUSPENDED;
use crate::actor::{Fault, Message, Respond};
use crate::baggage::{Baggage, Carried};
use crate::dispatch::contain;
use crate::mailbox::{Envelope, MessageTable};
use crate::reference::{post_exempt, stamped};
use crate::sync::Mutex;
use crate::time::{Moment, TimerId, next_at_rate};

/// What a timer is set under.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TimerName {
    Named(Cow<'static, str>),
    /// The receive timeout, which no name can be mistaken for.
    ReceiveTimeout,
    /// The timeout of a state machine: a number that no other timer of the actor has.
    Numbered(u64),
}

/// A timer that is set.
pub(crate) struct Armed {
    number: u64,
    timer: TimerId,
    next: Moment,
    /// Its message is in the mailbox.
    queued: bool,
    repeats: bool,
}

/// When a timer goes off.
#[derive(Clone, Copy)]
pub(crate) enum Plan {
    Once(Duration),
    Every(Duration),
    /// After so long without a message, and again.
    Idle(Duration),
}

/// A message from a timer, on its way through the mailbox.
pub(crate) struct Timed<M> {
    name: TimerName,
    number: u64,
    pub(crate) message: M,
}

impl<M: Message> Message for Timed<M> {
    type Reply = ();
    type Rejection = Infallible;
}

struct Alarm<M> {
    /// Not the actor itself: a timer does not keep it.
    cell: WeakCell,
    table: &'static MessageTable,
    name: TimerName,
    number: u64,
    plan: Plan,
    /// What to send: for one time, or to copy from.
    message: Mutex<Option<M>>,
    copy: fn(&M) -> Option<M>,
    /// What went with the message in whose turn it was set.
    baggage: Option<Box<Baggage>>,
}

impl<M: Message> Alarm<M> {
    fn take(&self) -> Option<M> {
        let mut message = self.message.lock();
        match self.plan {
            Plan::Once(_) => message.take(),
            Plan::Every(_) | Plan::Idle(_) => message.as_ref().and_then(self.copy),
        }
    }

    /// Sets the wheel for the next time.
    fn rearm(self: &Arc<Self>, cell: &Header, at: Moment) {
        let timers = cell.system().timers();
        let timer = timers.insert(at, Waker::from(self.clone()));
        let kept = cell.with_links(|links| match links.timers.get_mut(&self.name) {
            Some(armed) if armed.number == self.number => {
                armed.timer = timer;
                armed.next = at;
                true
            }
            _ => false, // cancelled meanwhile
        });
        if !kept {
            timers.cancel(timer);
        }
    }

    fn post(&self, cell: &CellRef) {
        // Copying it is user code.
        let message = contain(|| self.take()).unwrap_or_else(|fault| {
            cell.system().report_hook_fault(cell, "timer", &fault);
            None
        });
        let Some(message) = message else {
            return self.nothing_queued(cell);
        };
        let timed = Timed {
            name: self.name.clone(),
            number: self.number,
            message,
        };
        let envelope = Envelope {
            sender: cell.id,
            ..Envelope::OUTSIDE
        };
        let baggage = self.baggage.as_deref().cloned();
        let envelope = match baggage {
            Some(baggage) => envelope.carry(Some(Box::new(Carried::new(baggage)))),
            None => envelope,
        };
        let envelope = stamped(cell, envelope);
        if post_exempt(cell, self.table, envelope, timed).is_ok() && cell.state.mail() {
            cell.schedule();
        }
    }

    /// There was nothing to send; the next time there may be.
    fn nothing_queued(&self, cell: &Header) {
        cell.with_links(|links| {
            if let Some(armed) = links.timers.get_mut(&self.name)
                && armed.number == self.number
            {
                armed.queued = false;
            }
        });
    }

    /// When it should go off instead, if it is not time yet.
    fn not_before(&self, cell: &Header, now: Moment) -> Option<Moment> {
        let Plan::Idle(patience) = self.plan else { return None };
        if cell.state.has(SUSPENDED) {
            return Some(now + patience); // a handler is at work
        }
        let due = cell.last_active() + patience;
        (due > now).then_some(due)
    }
}

impl<M: Message> Wake for Alarm<M> {
    fn wake(self: Arc<Self>) {
        let Some(cell) = self.cell.upgrade() else { return };
        let now = cell.system().now();
        if let Some(later) = self.not_before(&cell, now) {
            return self.rearm(&cell, later);
        }
        let armed = cell.with_links(|links| {
            let armed = links
                .timers
                .get_mut(&self.name)
                .filter(|armed| armed.number == self.number)?;
            Some((std::mem::replace(&mut armed.queued, true), armed.next))
        });
        let Some((queued, planned)) = armed else { return };
        match self.plan {
            Plan::Once(_) => {}
            Plan::Every(period) => self.rearm(&cell, next_at_rate(planned, period, now)),
            Plan::Idle(patience) => {
                cell.touch(now);
                self.rearm(&cell, now + patience);
            }
        }
        if !queued {
            self.post(&cell);
        }
    }
}

impl Header {
    /// Sets a timer, in the place of one of the same name. Called by the actor itself.
    pub(crate) fn set_timer<A: Respond<M>, M: Message>(
        &self,
        name: TimerName,
        plan: Plan,
        message: M,
        copy: fn(&M) -> Option<M>,
    ) {
        self.cancel_timer(&name);
        let system = self.system();
        let now = system.now();
        let at = match plan {
            Plan::Once(time) | Plan::Every(time) | Plan::Idle(time) => now + time,
        };
        if matches!(plan, Plan::Idle(_)) {
            self.touch(now);
        }
        let number = self.number_for_timer();
        let alarm = Arc::new(Alarm {
            cell: self.to_ref().downgrade(),
            table: super::typed::timed_table::<A, M>(),
            name: name.clone(),
            number,
            plan,
            message: Mutex::new(Some(message)),
            copy,
            baggage: Baggage::to_keep(),
        });
        // Under the lock: should the wheel be quick, it finds the entry.
        self.with_links(|links| {
            let timer = system.timers().insert(at, Waker::from(alarm));
            let armed = Armed {
                number,
                timer,
                next: at,
                queued: false,
                repeats: !matches!(plan, Plan::Once(_)),
            };
            links.timers.insert(name, armed);
        });
    }

    /// A number for a timer, never given to another one of this actor.
    pub(crate) fn number_for_timer(&self) -> u64 {
        self.with_links(|links| {
            links.next_timer += 1;
            links.next_timer
        })
    }

    /// False: there is no such timer.
    pub(crate) fn cancel_timer(&self, name: &TimerName) -> bool {
        let Some(extras) = self.extras_if_any() else {
            return false;
        };
        let armed = extras.links.lock().timers.remove(name);
        match armed {
            Some(armed) => {
                self.disarm(&armed);
                true
            }
            None => false,
        }
    }

    /// Takes a timer off the wheel, and drops its message, which is user code.
    fn disarm(&self, armed: &Armed) {
        if let Err(fault) = contain(|| self.system().timers().cancel(armed.timer)) {
            self.report_drop(&fault);
        }
    }

    pub(super) fn report_drop(&self, fault: &Fault) {
        self.system().report_hook_fault(self, "drop", fault);
    }

    /// Ends all timers, the receive timeout included. Called by the owner.
    pub(crate) fn cancel_timers(&self) {
        let Some(extras) = self.extras_if_any() else { return };
        let timers = std::mem::take(&mut extras.links.lock().timers);
        self.await_messages(false);
        for (_, armed) in timers.iter() {
            self.disarm(armed);
        }
    }

    pub(crate) fn timer_names(&self) -> Vec<String> {
        let Some(extras) = self.extras_if_any() else {
            return Vec::new();
        };
        let links = extras.links.lock();
        let names = links.timers.iter().filter_map(|(name, _)| match name {
            TimerName::Named(name) => Some(name.clone().into_owned()),
            TimerName::ReceiveTimeout | TimerName::Numbered(_) => None,
        });
        names.collect()
    }

    /// Whether this timer is still set, for one who only looks.
    pub(super) fn is_set<M>(&self, timed: &Timed<M>) -> bool {
        self.with_links(|links| {
            let armed = links.timers.get_mut(&timed.name);
            armed.is_some_and(|armed| armed.number == timed.number)
        })
    }

    /// Whether the message of this timer is still wanted. One that goes off once is not set any more then.
    pub(crate) fn is_wanted<M>(&self, timed: &Timed<M>) -> bool {
        self.with_links(|links| {
            let Some(armed) = links.timers.get_mut(&timed.name) else {
                return false;
            };
            if armed.number != timed.number {
                return false;
            }
            armed.queued = false;
            if !armed.repeats {
                links.timers.remove(&timed.name);
            }
            true
        })
    }
}
