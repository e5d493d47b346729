//! One schedule: what the wheel wakes.
//!
//! ```text
//!             ┌──── resume ────┐
//!             ▼                │
//!   made ──▶ Due ── pause ──▶ Paused
//!             │ ▲              │
//!        goes │ │ goes on      │ cancel
//!         off ▼ │              ▼
//!          sending ─────────▶ Ended      by cancel, the last time, a fault, the receiver's or the system's end
//! ```
//! Whoever moves it to the end takes it out of the book, so that happens once. While it sends, the message is out of
//! its place: copying, sending and dropping it run without the lock.

use std::sync::{Arc, Weak};
use std::task::{Wake, Waker};
use std::time::Duration;

use super::aim::{Aim, Found};
use super::failed::ScheduleFailed;
use super::handle::ScheduleId;
use super::rhythm::{Clocks, Date, Next, Rhythm};
use super::task::Task;
use crate::actor::{Fault, Message};
use crate::baggage::{Baggage, Carried};
use crate::cell::Header;
use crate::dispatch::contain;
use crate::events::DeadReason;
use crate::mailbox::{Envelope, Refusal};
use crate::reference::{counted, post};
use crate::sync::Mutex;
use crate::sync::atomic::AtomicU32;
use crate::system::SystemCore;
use crate::time::{Moment, TimerId, nanos};

pub(super) struct Alarm<M, A> {
    core: Weak<SystemCore>,
    id: ScheduleId,
    /// The actor that made the schedule; 0 if it was made outside of any.
    sender: u64,
    /// What went with the message in whose turn it was made.
    baggage: Option<Box<Baggage>>,
    aim: A,
    /// Nothing for what goes off once and has no name: there may be a million of those.
    plan: Option<Box<Plan<M>>>,
    /// Where it stands in the book; written by the book before anybody finds it there.
    place: AtomicU32,
    state: Mutex<State<M>>,
}

// A pending schedule is this, forty bytes on the wheel, and what the book writes down.
#[cfg(not(any(volary_loom, volary_shuttle)))]
const _: () = assert!(size_of::<Alarm<u64, super::aim::ToActor>>() <= 136);

pub(super) struct Plan<M> {
    pub(super) name: Option<Box<str>>,
    pub(super) rhythm: Rhythm,
    /// How often it may go off.
    pub(super) most: u64,
    /// For what goes off more than once.
    pub(super) copy: Option<fn(&M) -> M>,
}

/// What was asked for, and when it is due first.
pub(super) type Planned<M> = (Option<Box<Plan<M>>>, Next);

struct State<M> {
    phase: Phase,
    /// What to send, for one time or to copy from. None while it is being sent, and at the end.
    message: Option<M>,
    timer: Option<TimerId>,
    date: Option<Box<Date>>,
    fired: u64,
}

#[derive(Clone, Copy)]
enum Phase {
    Due(Moment),
    /// So many nanoseconds were left.
    Paused {
        left: u64,
    },
    Ended,
    /// Ended because the receiver did, while it was sending.
    Orphaned,
}

impl Phase {
    fn is_over(self) -> bool {
        matches!(self, Phase::Ended | Phase::Orphaned)
    }
}

/// A schedule that is due.
enum Turn<M> {
    Last(M),
    /// The message is to be copied, and put back.
    OneOfMany(M, fn(&M) -> M),
}

impl<M: Message, A: Aim> Alarm<M, A> {
    pub(super) fn new(
        core: Weak<SystemCore>,
        id: ScheduleId,
        sender: u64,
        aim: A,
        plan: Option<Box<Plan<M>>>,
        first: Next,
        message: M,
    ) -> Self {
        Alarm {
            core,
            id,
            sender,
            baggage: Baggage::to_keep(),
            aim,
            plan,
            place: AtomicU32::new(0),
            state: Mutex::new(State {
                phase: Phase::Due(first.at),
                message: Some(message),
                timer: None,
                date: first.date,
                fired: 0,
            }),
        }
    }

    fn rhythm(&self) -> &Rhythm {
        self.plan.as_ref().map_or(&Rhythm::Once, |plan| &plan.rhythm)
    }

    /// Sets the wheel, unless it is paused or has ended meanwhile.
    pub(super) fn arm(self: &Arc<Self>, core: &SystemCore) {
        self.arm_locked(core, &mut self.state.lock());
    }

    fn arm_locked(self: &Arc<Self>, core: &SystemCore, state: &mut State<M>) {
        if let Phase::Due(next) = state.phase {
            let at = match &state.date {
                Some(_) => Date::next_look(next, core.now()),
                None => next,
            };
            state.timer = Some(core.timers().insert(at, Waker::from(self.clone())));
        }
    }

    /// Takes what is to be sent now, and plans the next time.
    fn begin(self: &Arc<Self>, core: &SystemCore) -> Option<Turn<M>> {
        let (turn, early) = {
            let mut state = self.state.lock();
            let Phase::Due(planned) = state.phase else { return None };
            let clocks = Clocks::read(core);
            let State { date, timer, .. } = &mut *state;
            match date {
                Some(date) => {
                    if let Some(later) = self.rhythm().still_to_come(date, clocks) {
                        let early = timer.take();
                        state.phase = Phase::Due(later);
                        self.arm_locked(core, &mut state);
                        (None, early)
                    } else {
                        (self.take(&mut state, planned, clocks), None)
                    }
                }
                // A wake-up that was on its way when it was paused.
                None if clocks.now < planned => (None, None),
                None => (self.take(&mut state, planned, clocks), None),
            }
        };
        if let Some(timer) = early {
            core.timers().cancel(timer);
        }
        turn
    }

    fn take(&self, state: &mut State<M>, planned: Moment, clocks: Clocks) -> Option<Turn<M>> {
        let most = self.plan.as_ref().map_or(1, |plan| plan.most);
        let copy = self.plan.as_ref().and_then(|plan| plan.copy);
        let next = self.rhythm().following(planned, clocks);
        let message = state.message.take()?; // being sent by somebody else
        state.timer = None;
        state.fired += 1;
        match (next, copy) {
            (Some(next), Some(copy)) if state.fired < most => {
                state.phase = Phase::Due(next.at);
                state.date = next.date;
                Some(Turn::OneOfMany(message, copy))
            }
            _ => {
                state.phase = Phase::Ended;
                Some(Turn::Last(message))
            }
        }
    }

    fn go_off(self: &Arc<Self>, core: &SystemCore) {
        let found = self.aim.find::<M>(core);
        if matches!(found, Found::Ended) {
            return;
        }
        match self.begin(core) {
            None => {}
            Some(Turn::Last(message)) => {
                self.leave(core);
                self.deliver(core, &found, message);
            }
            Some(Turn::OneOfMany(message, copy)) => match contain(|| copy(&message)) {
                Err(fault) => {
                    self.end(core);
                    self.report(core, fault);
                    self.drop_message(core, message);
                }
                Ok(copy) => {
                    if self.deliver(core, &found, copy) {
                        self.put_back(core, &found, message);
                    } else {
                        // The copy is the dead letter that says so.
                        self.end(core);
                        self.drop_message(core, message);
                    }
                }
            },
        }
    }

    /// False: the receiver takes nothing any more.
    fn deliver(&self, core: &SystemCore, found: &Found<'_>, message: M) -> bool {
        let (cell, table) = match found {
            Found::Receiver(cell, table) => (cell, *table),
            Found::Nobody(path) => {
                core.dead_letter_to_nobody(path, self.sender, message);
                return true;
            }
            Found::Ended => unreachable!("nothing is taken out for an actor that has ended"),
        };
        let envelope = Envelope {
            sender: self.sender,
            ..Envelope::OUTSIDE
        };
        let envelope = match self.baggage.as_deref() {
            Some(baggage) => envelope.carry(Some(Box::new(Carried::new(baggage.clone())))),
            None => envelope,
        };
        match post(cell, table, counted(cell, envelope), message) {
            Ok(()) => {
                if cell.state.mail() {
                    cell.schedule();
                }
                true
            }
            Err((Refusal::Closed, message)) => {
                core.dead_letter(cell, self.sender, DeadReason::Stopped, message);
                // Somebody else may come to live at a path.
                self.aim.actor() == 0
            }
            Err((refusal, message)) => {
                core.dead_letter(cell, self.sender, refusal.dead_reason(), message);
                true
            }
        }
    }

    /// The original is needed again, unless the schedule has ended while a copy was sent.
    fn put_back(self: &Arc<Self>, core: &SystemCore, found: &Found<'_>, message: M) {
        let (message, phase) = {
            let mut state = self.state.lock();
            if !state.phase.is_over() {
                state.message = Some(message);
                return self.arm_locked(core, &mut state);
            }
            (message, state.phase)
        };
        match (phase, found) {
            (Phase::Orphaned, Found::Receiver(cell, _)) => {
                core.dead_letter(cell, self.sender, DeadReason::Stopped, message);
            }
            _ => self.drop_message(core, message),
        }
    }

    /// Moves it to its end. None: it was there already. Otherwise what was in the way of it.
    fn finish(&self, core: &SystemCore, end: Phase) -> Option<Option<M>> {
        let (timer, message) = {
            let mut state = self.state.lock();
            if state.phase.is_over() {
                return None;
            }
            state.phase = end;
            state.date = None;
            (state.timer.take(), state.message.take())
        };
        if let Some(timer) = timer {
            core.timers().cancel(timer);
        }
        self.leave(core);
        Some(message)
    }

    fn end(&self, core: &SystemCore) -> bool {
        match self.finish(core, Phase::Ended) {
            Some(message) => {
                if let Some(message) = message {
                    self.drop_message(core, message);
                }
                true
            }
            None => false,
        }
    }

    fn leave(&self, core: &SystemCore) {
        core.schedules().remove(self);
    }

    fn drop_message(&self, core: &SystemCore, message: M) {
        if let Err(fault) = contain(|| drop(message)) {
            self.report(core, fault);
        }
    }

    fn report(&self, core: &SystemCore, fault: Fault) {
        core.report_schedule_fault(ScheduleFailed {
            id: self.id,
            name: self.name().map(str::to_owned),
            message_type: self.message_type(),
            fault,
        });
    }
}

impl<M: Message, A: Aim> Wake for Alarm<M, A> {
    fn wake(self: Arc<Self>) {
        if let Some(core) = self.core.upgrade() {
            self.go_off(&core);
        }
    }
}

impl<M: Message, A: Aim> Task for Alarm<M, A> {
    fn id(&self) -> ScheduleId {
        self.id
    }

    fn name(&self) -> Option<&str> {
        self.plan.as_ref()?.name.as_deref()
    }

    fn message_type(&self) -> &'static str {
        std::any::type_name::<M>()
    }

    fn receiver(&self) -> u64 {
        self.aim.actor()
    }

    fn place(&self) -> &AtomicU32 {
        &self.place
    }

    fn is_active(&self) -> bool {
        !self.state.lock().phase.is_over()
    }

    fn is_paused(&self) -> bool {
        matches!(self.state.lock().phase, Phase::Paused { .. })
    }

    fn next(&self) -> Option<Moment> {
        match self.state.lock().phase {
            Phase::Due(next) => Some(next),
            Phase::Paused { .. } | Phase::Ended | Phase::Orphaned => None,
        }
    }

    fn fired(&self) -> u64 {
        self.state.lock().fired
    }

    fn pause(&self) -> bool {
        let Some(core) = self.core.upgrade() else { return false };
        let timer = {
            let mut state = self.state.lock();
            let Phase::Due(next) = state.phase else { return false };
            let left = nanos(next.since(core.now()));
            state.phase = Phase::Paused { left };
            state.timer.take()
        };
        if let Some(timer) = timer {
            core.timers().cancel(timer);
        }
        true
    }

    fn resume(self: Arc<Self>) -> bool {
        let Some(core) = self.core.upgrade() else { return false };
        let mut state = self.state.lock();
        let Phase::Paused { left } = state.phase else {
            return false;
        };
        let date = state.date.take();
        let next = self
            .rhythm()
            .resumed(Duration::from_nanos(left), Clocks::read(&core), date);
        state.phase = Phase::Due(next.at);
        state.date = next.date;
        // While it is being sent, whoever sends it sets the wheel afterwards.
        if state.message.is_some() {
            self.arm_locked(&core, &mut state);
        }
        true
    }

    fn cancel(&self) -> bool {
        self.core.upgrade().is_some_and(|core| self.end(&core))
    }

    fn receiver_ended(&self, receiver: &Header) {
        let core = receiver.system();
        if let Some(Some(message)) = self.finish(core, Phase::Orphaned) {
            core.dead_letter(receiver, self.sender, DeadReason::Stopped, message);
        }
    }
}
