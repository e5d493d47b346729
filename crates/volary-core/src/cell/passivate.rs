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
    ASLEEP, CONTROL, DRAIN, HELD, IDLE_OVER, KILL, PASSIVATE, PAUSED, REINSTATE, RESTART, RETURNED, SEALED, SLEEPY,
    SLOW, STOP, SUSPENDED, TIMED,
};
use super::supervise;
use crate::dispatch::{Host, contain};
use crate::events::{DeadReason, Lifecycle};
use crate::mailbox::{BELL, Incoming, Peek, RecordKind};
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
    /// When it handled a message last that did not come from a timer of its own; nanoseconds. Written by the owner.
    last_used: AtomicU64,
    /// Messages of timers since that was noted.
    from_timers: AtomicU64,
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
            last_used: AtomicU64::new(0),
            from_timers: AtomicU64::new(0),
            handled: AtomicU64::new(0),
        })
    }

    fn is_paused(&self) -> bool {
        self.paused.load(Relaxed)
    }

    fn use_at(&self, now: Moment) {
        self.last_used.store(now.nanos(), Relaxed);
    }

    fn last_used(&self) -> Moment {
        Moment::from_nanos(self.last_used.load(Relaxed))
    }

    /// Whether it has handled as many messages as it may.
    fn has_enough(&self) -> bool {
        let handled = self.handled.load(Relaxed);
        self.policy.messages.is_some_and(|most| handled >= most)
    }
}

/// When somebody who could not go is looked at again.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

impl Header {
    fn wakefulness(&self) -> Option<&Wakefulness> {
        self.extras_if_any()?.wakefulness.as_ref()
    }

    pub(crate) fn passivation_policy(&self) -> Passivation {
        self.wakefulness()
            .map(|wakefulness| wakefulness.policy)
            .unwrap_or_default()
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
        let wakefulness = self.wakefulness()?;
        if wakefulness.is_paused() || self.state.is_busy() || self.state.has(PAUSED | ASLEEP) || self.log.has_mail() {
            return None;
        }
        Some((wakefulness.last_used.load(Relaxed), wakefulness.handled.load(Relaxed)))
    }

    /// Stops or lets go on the passivation of this actor. False: it never is.
    pub(crate) fn pause_passivation(&self, paused: bool) -> bool {
        let Some(wakefulness) = self.wakefulness() else {
            return false;
        };
        wakefulness.paused.store(paused, Relaxed);
        if !paused {
            wakefulness.use_at(self.system().now());
            self.arm_idle();
            if wakefulness.has_enough() {
                self.control(IDLE_OVER);
            }
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
        wakefulness.heap.store(0, Relaxed);
        wakefulness.from_timers.store(0, Relaxed);
        if wakefulness.evicted.swap(false, Relaxed) {
            self.system().keeper().spared(self);
        }
        self.log.watch_activity(true);
        if self.is_timed(wakefulness) {
            wakefulness.use_at(self.system().now());
            self.arm_idle();
            self.weigh();
        }
    }

    /// Tells the keeper of the actor. If there are too many and nobody can go, they are looked at again.
    fn weigh(&self) {
        let system = self.system();
        if !system.keeper().update(self, self.weight()) {
            self.set_idle_timer(system.now() + LOOK_AGAIN);
        }
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
            self.weigh();
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
        let timed = self.is_timed(wakefulness);
        let awaited = wakefulness.awaited.load(Relaxed);
        let messages = u64::from(messages);
        let own = wakefulness.from_timers.swap(0, Relaxed) >= messages;
        if awaited || timed && !own {
            let now = self.system().now();
            self.touch(now);
            if !own {
                wakefulness.use_at(now);
            }
        }
        let handled = wakefulness.handled.load(Relaxed) + messages;
        wakefulness.handled.store(handled, Relaxed);
        if wakefulness.has_enough() && !wakefulness.is_paused() && self.is_running() {
            self.state.set(IDLE_OVER | CONTROL);
        }
    }

    /// A message of a timer is handled: it does not keep the actor awake.
    pub(super) fn note_timer(&self) {
        if let Some(wakefulness) = self.wakefulness() {
            wakefulness.from_timers.fetch_add(1, Relaxed);
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
            self.set_idle_timer(wakefulness.last_used() + idle);
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
    if cell.state.has(ASLEEP) {
        return;
    }
    let system = cell.system();
    let now = system.now();
    if !system.keeper().look() {
        cell.set_idle_timer(now + LOOK_AGAIN);
    }
    if wakefulness.is_paused() {
        return;
    }
    if wakefulness.has_enough() {
        return cell.control(IDLE_OVER);
    }
    let Some(idle) = wakefulness.policy.idle else { return };
    let due = wakefulness.last_used() + idle;
    if due > now {
        cell.set_idle_timer(due);
    } else {
        cell.control(IDLE_OVER);
    }
}

/// Somebody wants the actor to go. It looks whether it can.
pub(super) fn consider(cell: &Header, host: &Host) -> Alive {
    let now = cell.system().now();
    if cell.state.has(SUSPENDED) {
        if cell.state.clear(IDLE_OVER) & IDLE_OVER != 0 {
            stay(cell, now);
        }
        return Alive::Yes; // one that was told so goes after the handler
    }
    let told = cell.state.clear(IDLE_OVER | PASSIVATE) & PASSIVATE != 0;
    if told && must_wait(cell) {
        cell.state.set(PASSIVATE); // whatever it waits for brings it back here
        return Alive::Yes;
    }
    if !told && !may_go(cell) {
        stay(cell, now);
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

/// Whether one that was told to go has tasks or answers to wait for, or a message that it was started for.
fn must_wait(cell: &Header) -> bool {
    let Some(extras) = cell.extras_if_any() else {
        return false;
    };
    let mut links = extras.links.lock();
    let started_for_it = std::mem::take(&mut links.fresh) && cell.log.has_mail();
    started_for_it || !links.tasks.is_empty() || !links.requests.is_empty()
}

/// The actor has something to do after all.
fn stay(cell: &Header, now: Moment) {
    let Some(wakefulness) = cell.wakefulness() else { return };
    let evicted = wakefulness.evicted.swap(false, Relaxed);
    if evicted {
        cell.system().keeper().spared(cell);
    }
    if wakefulness.is_paused() {
        return;
    }
    let again = (evicted || wakefulness.has_enough()).then(|| now + look_again(cell, LOOK_AGAIN));
    let idle = wakefulness.policy.idle.map(|idle| {
        let due = wakefulness.last_used() + idle;
        if due > now { due } else { now + look_again(cell, idle) }
    });
    if let Some(at) = again.into_iter().chain(idle).min() {
        cell.set_idle_timer(at);
    }
}

/// When to look again: not always at the same pace, which may be that of its own timers.
fn look_again(cell: &Header, idle: Duration) -> Duration {
    let longest = idle.min(LOOK_AGAIN);
    let part = cell.system().env().random() % 512;
    longest / 2 + longest * part as u32 / 1_024
}

/// Whether its time has come, and nothing is left to do.
fn may_go(cell: &Header) -> bool {
    let Some(wakefulness) = cell.wakefulness() else {
        return false;
    };
    if wakefulness.is_paused() || has_work(cell) {
        return false;
    }
    if wakefulness.has_enough() {
        return true;
    }
    let idle_for = |idle: Duration| wakefulness.last_used() + idle <= cell.system().now();
    let evicted = wakefulness.evicted.load(Relaxed);
    !cell.log.has_mail() && (evicted || wakefulness.policy.idle.is_some_and(idle_for))
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
    /// A task or a request of the actor has ended: it may have been told to go, and waited for that.
    pub(crate) fn work_ended(&self) {
        if self.state.has(PASSIVATE) {
            self.control(PASSIVATE);
        }
    }

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
    cell.with_links(|links| links.without_actor = true);
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
    cell.state.clear(ASLEEP | SEALED);
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
        let mut discarded = false;
        let waiting = self.skip_the_unwanted(&mut discarded);
        if discarded && self.log.reader_is_guarded() {
            self.made_room(false);
        }
        waiting
    }

    /// Whether a mailbox of the user's own is empty.
    fn has_no_letter(&self) -> bool {
        self.custom_mailbox()
            .is_some_and(|mailbox| contain(|| mailbox.len()).is_ok_and(|length| length == 0))
    }

    /// Discards what nobody wants any more, up to a message.
    fn skip_the_unwanted(&self, discarded: &mut bool) -> bool {
        loop {
            // SAFETY: we own the actor and so are the one reader of its log.
            let Peek::Record(first, place) = (unsafe { self.log.peek(self) }) else {
                return self.log.has_mail();
            };
            // SAFETY: just peeked; the payload is taken by `discard`, or left where it is.
            let (incoming, words) = unsafe { Incoming::read(first, place) };
            let in_vain = std::ptr::eq(incoming.table, &BELL) && self.has_no_letter();
            if matches!(incoming.table.kind, RecordKind::Message | RecordKind::Parcel) && !in_vain {
                return true;
            }
            *discarded = true;
            // From a timer or a request of an incarnation that is gone, or a bell without a letter.
            // SAFETY: the length of that record, which is discarded once.
            unsafe {
                self.log.advance(words);
                incoming.discard(self, DeadReason::Stopped);
            }
        }
    }
}
