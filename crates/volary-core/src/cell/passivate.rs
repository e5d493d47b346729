//! Falling asleep and waking up.
//!
//! ```text
//!   Running ──▶ Stopping ─▶ Emptying ─▶ Ending ──▶ Asleep ──▶ Starting ──▶ Running
//!       (idle, enough messages,  (hooks and children,     (a message)
//!        evicted, or told so)     as for a stop)
//! ```
//!
//! The mailbox stays open all the while, so a message that races with it waits there and wakes the actor. Whether it
//! is time to go is looked at by the actor itself, in its own turn: what others say is a hint.

use std::time::Duration;

use super::end::end;
use super::header::Header;
use super::idle_waker;
use super::lifecycle::{Alive, Phase, abort_tasks, attempt_start, begin_hooks, drop_actor, recheck};
use super::state::{
    ASLEEP, CONTROL, DRAIN, HELD, IDLE_OVER, KILL, PASSIVATE, PAUSED, REINSTATE, RESTART, RETURNED, SLEEPY, SLOW, STOP,
    SUSPENDED, TIMED,
};
use super::supervise;
use crate::dispatch::Host;
use crate::events::{DeadReason, Lifecycle};
use crate::mailbox::{Incoming, Peek, RecordKind};
use crate::passivation::Passivation;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};
use crate::time::Moment;

/// So that sums of them do not overflow.
const MOST_BYTES: u64 = 1 << 40;

/// What is kept of an actor that may be passivated.
pub(crate) struct Wakefulness {
    policy: Passivation,
    paused: AtomicBool,
    /// It has a receive timeout.
    awaited: AtomicBool,
    /// The system wants its room.
    evicted: AtomicBool,
    /// What it says to hold beside its own size.
    heap: AtomicU64,
    /// Messages handled since it started. Written by the owner.
    handled: AtomicU64,
}

impl Wakefulness {
    pub(crate) fn new(policy: Passivation) -> Option<Self> {
        policy.allowed.then(|| Wakefulness {
            policy,
            paused: AtomicBool::new(false),
            awaited: AtomicBool::new(false),
            evicted: AtomicBool::new(false),
            heap: AtomicU64::new(0),
            handled: AtomicU64::new(0),
        })
    }

    fn is_paused(&self) -> bool {
        self.paused.load(Relaxed)
    }
}

impl Header {
    fn wakefulness(&self) -> Option<&Wakefulness> {
        self.extras_if_any()?.wakefulness.as_ref()
    }

    /// Whether the actor must note when it was active, for its own sake.
    pub(crate) fn may_passivate(&self) -> bool {
        self.wakefulness().is_some()
    }

    /// Asks the actor to go to sleep after the message at hand.
    pub(crate) fn passivate(&self) {
        self.control(PASSIVATE);
    }

    /// The system wants its room, if it has nothing to do.
    pub(crate) fn evict(&self) {
        if let Some(wakefulness) = self.wakefulness() {
            wakefulness.evicted.store(true, Relaxed);
            self.control(IDLE_OVER);
        }
    }

    /// When it was active last and how much; `None`: it cannot be evicted now.
    pub(crate) fn use_so_far(&self) -> Option<(u64, u64)> {
        let extras = self.extras_if_any()?;
        let wakefulness = extras.wakefulness.as_ref()?;
        if wakefulness.is_paused() || self.state.is_busy() || self.log.has_mail() {
            return None;
        }
        Some((extras.last_active.load(Relaxed), wakefulness.handled.load(Relaxed)))
    }

    /// Stops or lets go on the passivation of this actor. False: it never is.
    pub(crate) fn pause_passivation(&self, paused: bool) -> bool {
        let Some(wakefulness) = self.wakefulness() else {
            return false;
        };
        wakefulness.paused.store(paused, Relaxed);
        if !paused {
            self.touch(self.system().now());
            self.arm_idle();
        }
        true
    }

    /// How many messages the actor may handle before it is passivated.
    pub(crate) fn messages_left(&self) -> u64 {
        self.wakefulness()
            .filter(|wakefulness| !wakefulness.is_paused())
            .and_then(|wakefulness| {
                Some(
                    wakefulness
                        .policy
                        .messages?
                        .saturating_sub(wakefulness.handled.load(Relaxed)),
                )
            })
            .map_or(u64::MAX, |left| left.max(1))
    }

    /// The actor has started: its time begins.
    pub(super) fn wakeful(&self) {
        let Some(wakefulness) = self.wakefulness() else { return };
        wakefulness.handled.store(0, Relaxed);
        wakefulness.evicted.store(false, Relaxed);
        wakefulness.heap.store(0, Relaxed);
        self.log.watch_activity(true);
        if self.is_timed(wakefulness) {
            self.touch(self.system().now());
            self.arm_idle();
        }
        self.system().keeper().update(self, self.weight());
    }

    fn weight(&self) -> u64 {
        if !self.system().keeper().weighs() {
            return 0;
        }
        let said = self
            .wakefulness()
            .map_or(0, |wakefulness| wakefulness.heap.load(Relaxed));
        (self.table.size as u64).saturating_add(said)
    }

    /// The actor says how much memory it holds beside its own size.
    pub(crate) fn set_heap_bytes(&self, bytes: u64) {
        let Some(wakefulness) = self.wakefulness() else { return };
        wakefulness.heap.store(bytes.min(MOST_BYTES), Relaxed);
        if self.is_running() {
            self.system().keeper().update(self, self.weight());
        }
    }

    pub(super) fn touch(&self, now: Moment) {
        self.extras().last_active.store(now.nanos(), Relaxed);
    }

    pub(super) fn last_active(&self) -> Moment {
        Moment::from_nanos(self.extras().last_active.load(Relaxed))
    }

    /// The actor has handled something; for those who wait for it to be idle.
    #[cold]
    pub(crate) fn note_activity(&self, messages: u32) {
        let Some(wakefulness) = self.wakefulness() else {
            return self.touch(self.system().now()); // for its receive timeout
        };
        if self.is_timed(wakefulness) || wakefulness.awaited.load(Relaxed) {
            self.touch(self.system().now());
        }
        let handled = wakefulness.handled.load(Relaxed) + u64::from(messages);
        wakefulness.handled.store(handled, Relaxed);
        let enough = wakefulness.policy.messages.is_some_and(|most| handled >= most);
        if enough && !wakefulness.is_paused() && self.is_running() {
            self.state.set(IDLE_OVER | CONTROL);
        }
    }

    fn is_running(&self) -> bool {
        self.phase.get() == Phase::Running
    }

    /// Whether it matters to its passivation when the actor was active last.
    fn is_timed(&self, wakefulness: &Wakefulness) -> bool {
        wakefulness.policy.idle.is_some() || self.system().keeper().is_limited()
    }

    /// Whether there is a receive timeout.
    pub(crate) fn await_messages(&self, awaited: bool) {
        if let Some(wakefulness) = self.wakefulness() {
            wakefulness.awaited.store(awaited, Relaxed);
        }
        self.log.watch_activity(awaited || self.may_passivate());
    }

    /// Sets the wheel for when the actor would have been idle for long enough.
    fn arm_idle(&self) {
        let Some(wakefulness) = self.wakefulness() else { return };
        let Some(idle) = wakefulness.policy.idle else { return };
        if !wakefulness.is_paused() && !self.state.has(super::state::DEAD) {
            self.set_idle_timer(self.last_active() + idle);
        }
    }

    fn set_idle_timer(&self, at: Moment) {
        let timers = self.system().timers();
        let timer = timers.insert(at, idle_waker(self));
        let before = self.with_links(|links| links.idle_timer.replace(timer));
        if let Some(before) = before {
            timers.cancel(before);
        }
    }

    pub(super) fn cancel_idle_timer(&self) {
        let Some(extras) = self.extras_if_any() else { return };
        let timer = extras.links.lock().idle_timer.take();
        if let Some(timer) = timer {
            self.system().timers().cancel(timer);
        }
    }
}

/// The wheel says that the actor may have been idle for long enough.
pub(super) fn idle_is_over(cell: &Header) {
    let Some(wakefulness) = cell.wakefulness() else { return };
    let Some(idle) = wakefulness.policy.idle else { return };
    if wakefulness.is_paused() || cell.state.has(ASLEEP) {
        return;
    }
    let now = cell.system().now();
    let due = if cell.state.is_busy() { now } else { cell.last_active() } + idle;
    if due > now {
        cell.set_idle_timer(due);
    } else {
        cell.control(IDLE_OVER);
    }
}

/// Somebody wants the actor to go. It looks whether it can.
pub(super) fn consider(cell: &Header, host: &Host) -> Alive {
    let state = cell.state.load();
    if state & SUSPENDED != 0 {
        if state & IDLE_OVER != 0 {
            stay(cell, cell.system().now());
        }
        return Alive::Yes; // one that was told so goes after the handler
    }
    cell.state.clear(IDLE_OVER | PASSIVATE);
    let told = state & PASSIVATE != 0;
    if !told && !may_go(cell) {
        stay(cell, cell.system().now());
        return Alive::Yes;
    }
    if cell.wakefulness().is_some_and(|wakefulness| wakefulness.policy.ends) {
        cell.system().publish_lifecycle(cell, Lifecycle::Passivated);
        cell.state.set(DRAIN | CONTROL);
        return Alive::Yes;
    }
    cell.state.set(SLEEPY);
    begin_hooks(cell, host)
}

/// The actor has something to do after all.
fn stay(cell: &Header, now: Moment) {
    cell.state.clear(IDLE_OVER);
    let Some(wakefulness) = cell.wakefulness() else { return };
    if wakefulness.evicted.swap(false, Relaxed) {
        cell.system().keeper().spared(cell);
    }
    if let Some(idle) = wakefulness.policy.idle
        && !wakefulness.is_paused()
    {
        let due = cell.last_active() + idle;
        cell.set_idle_timer(if due > now { due } else { now + idle });
    }
}

/// Whether its time has come, and nothing is left to do.
fn may_go(cell: &Header) -> bool {
    let Some(wakefulness) = cell.wakefulness() else {
        return false;
    };
    if wakefulness.is_paused() || has_work(cell) {
        return false;
    }
    let policy = &wakefulness.policy;
    let enough = |most: u64| wakefulness.handled.load(Relaxed) >= most;
    if policy.messages.is_some_and(enough) {
        return true;
    }
    let idle_for = |idle: Duration| cell.last_active() + idle <= cell.system().now();
    !cell.log.has_mail() && (wakefulness.evicted.load(Relaxed) || policy.idle.is_some_and(idle_for))
}

/// Whether the actor has begun something that is not finished, or one of those below it has.
fn has_work(cell: &Header) -> bool {
    if cell.has_unfinished() {
        return true;
    }
    let mut below = cell.children();
    while let Some(child) = below.pop() {
        if child.state.is_busy() || child.log.has_mail() || child.has_unfinished() {
            return true;
        }
        below.extend(child.children());
    }
    false
}

impl Header {
    /// Whether messages are put aside, tasks run, or answers are due.
    fn has_unfinished(&self) -> bool {
        self.extras_if_any().is_some_and(|extras| {
            let links = extras.links.lock();
            !(links.stash.is_empty()
                && links.returned.is_empty()
                && links.tasks.is_empty()
                && links.requests.is_empty())
        })
    }
}

/// The last hook has run. The actor ends, or falls asleep if that was what it went for.
pub(super) fn finish(cell: &Header, host: &Host) -> Alive {
    if cell.state.has(SLEEPY) && !cell.state.has(STOP | KILL) {
        return fall_asleep(cell, host);
    }
    end(cell, host)
}

fn fall_asleep(cell: &Header, host: &Host) -> Alive {
    drop_actor(cell, host);
    abort_tasks(cell);
    cell.cancel_idle_timer();
    supervise::forget_escalated(cell);
    cell.unstash(usize::MAX); // the next incarnation has it first
    cell.with_links(|links| {
        links.without_actor = true;
        links.sealed = false;
    });
    cell.system().keeper().left(cell);
    cell.phase.set(Phase::Asleep);
    cell.state.set(ASLEEP);
    cell.state
        .clear(PAUSED | SLEEPY | SLOW | TIMED | HELD | RESTART | REINSTATE);
    cell.system().publish_lifecycle(cell, Lifecycle::Passivated);
    recheck(cell)
}

/// There is mail for an actor that sleeps.
pub(crate) fn wake_up(cell: &Header, host: &Host) -> Alive {
    cell.state.set(PAUSED);
    cell.state.clear(ASLEEP);
    cell.phase.set(Phase::Starting);
    cell.with_links(|links| {
        links.without_actor = false;
        links.waking = true;
        links.attempt = 0;
    });
    let alive = attempt_start(cell, host, 0);
    if alive == Alive::Yes {
        recheck(cell);
    }
    alive
}

/// A sleeping actor was told something. Its hooks have run, so ending it is short.
pub(super) fn control_asleep(cell: &Header, host: &Host) -> Alive {
    let state = cell.state.load();
    cell.state.clear(RESTART | REINSTATE | IDLE_OVER | PASSIVATE);
    if state & (STOP | KILL) != 0 {
        cell.state.clear(ASLEEP);
        return end(cell, host);
    }
    if state & DRAIN != 0 {
        cell.close_mailbox();
        if !cell.has_waiting_mail() {
            cell.state.clear(ASLEEP);
            return end(cell, host);
        }
    }
    Alive::Yes
}

impl Header {
    /// Whether something waits for a sleeping actor. Called by the owner.
    pub(crate) fn has_waiting_mail(&self) -> bool {
        if self.state.has(RETURNED) {
            return true;
        }
        loop {
            // SAFETY: we own the actor and so are the one reader of its log.
            let Peek::Record(first, place) = (unsafe { self.log.peek(self) }) else {
                return self.log.has_mail();
            };
            // SAFETY: just peeked; the payload is taken by `discard`, or left where it is.
            let (incoming, words) = unsafe { Incoming::read(first, place) };
            if incoming.table.kind == RecordKind::Message {
                return true;
            }
            // From a timer or a request of an incarnation that is gone: nobody wants it.
            // SAFETY: the length of that record, which is discarded once.
            unsafe {
                self.log.advance(words);
                (incoming.table.discard)(self, incoming, DeadReason::Stopped);
            }
        }
    }
}
