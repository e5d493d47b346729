//! One turn of one actor: control first, then messages up to the budget, then rest or yield.

use std::time::Duration;

use super::Step;
use super::contain::contain;
use super::host::{Ambient, Host, Surroundings};
use crate::actor::Fault;
use crate::cell::lifecycle::{self, Alive};
use crate::cell::passivate;
use crate::cell::state::{
    ASLEEP, CONTINUED, CONTROL, DEAD, DRAIN, HIGH, HOLDING, KILL, PASSIVATE, PAUSED, RETURNED, Rest, SLOW, SUSPENDED,
    WOKEN,
};
use crate::cell::{Course, Header, Here, Phase};
use crate::events::DeadReason;
use crate::mailbox::{Envelope, First, Freight, Goods, HEAD_WORDS, Incoming, Notices, Peek, Word};

/// How a turn ended.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub(crate) enum TurnEnd {
    /// The actor is idle; it is no longer ours and must not be touched.
    Rested,
    /// There is more to do: the caller queues the actor again.
    Yielded,
    /// The actor has ended and may be gone.
    Gone,
}

/// How often a turn looks again for a record that is being written just now.
const PATIENCE: u32 = 64;
/// After how many messages a reader that caught up lingers, and for how long.
const LINGER_AFTER: u32 = 16;
#[cfg(not(any(volary_loom, volary_shuttle)))]
const LINGER: u32 = 16;
#[cfg(any(volary_loom, volary_shuttle))]
const LINGER: u32 = 0;
/// An actor that was seen to be slow is so no more after so many messages in a row that took less than this.
const SHORT_TURN: Duration = Duration::from_micros(200);
const FORGIVEN_AFTER: u32 = 64;
/// With one of these a turn is not about mail, or not only.
const UNUSUAL: u32 = CONTROL | SUSPENDED | PAUSED | ASLEEP | CONTINUED | HOLDING | RETURNED;
/// Messages that the maker of an actor handles for it.
const START_BUDGET: u32 = 4;

/// Runs an actor that the caller owns (its state is ACTIVE). Afterwards it is not the caller's any
/// more, and may be gone.
#[inline(always)]
pub(crate) fn run_turn(here: Here, host: &Host, budget: u32) -> TurnEnd {
    let before = enter(&here, host);
    // User code is contained where it is called. Should a panic get here nevertheless, it costs the
    // actor, which is still ours, and not the worker.
    let end = contain(|| turn(here, host, budget)).unwrap_or_else(|fault| survive(&here, host, &fault));
    leave(host, before);
    end
}

/// A panic came out of the turn itself. An actor that has ended is kept until the turn is over.
#[cold]
fn survive(cell: &Header, host: &Host, fault: &Fault) -> TurnEnd {
    host.taken.say();
    cell.system().report_hook_fault(cell, "turn", fault);
    if cell.state.has(DEAD) {
        return TurnEnd::Gone;
    }
    cell.state.set(KILL | CONTROL);
    yielded(cell)
}

/// Starts a new actor that the caller has made and therefore owns. `look` is called after the first
/// attempt, while it is still owned.
pub(crate) fn start_turn(cell: &Header, host: &Host, look: impl FnOnce(Phase)) -> TurnEnd {
    let before = enter(cell, host);
    let end = contain(|| match lifecycle::begin(cell, host) {
        Alive::No => {
            look(Phase::Gone);
            TurnEnd::Gone
        }
        Alive::Yes => {
            look(cell.phase.get());
            // SAFETY: the caller owns the actor.
            turn(unsafe { Here::new(cell) }, host, START_BUDGET)
        }
    });
    let end = end.unwrap_or_else(|fault| survive(cell, host, &fault));
    leave(host, before);
    end
}

#[inline]
fn leave(host: &Host, (ambient, surroundings): (Ambient, Surroundings)) {
    host.set_ambient(ambient);
    host.swap_surroundings(surroundings);
}

#[inline]
fn enter(cell: &Header, host: &Host) -> (Ambient, Surroundings) {
    let before = host.ambient();
    host.set_ambient(Ambient {
        actor: cell.raw().as_ptr(),
        id: cell.id,
        deadline: 0,
        patience: 0,
        asked: false,
        depth: before.depth + 1,
        in_turn: true,
    });
    host.attention.turn_begins();
    (before, host.swap_surroundings(Surroundings::of(cell, None)))
}

/// Runs an idle actor on the thread of somebody who waits for its answer, and queues it if it has
/// more to do. The caller has claimed it.
#[inline(always)]
pub(crate) fn run_inline(cell: &Header, host: &Host, budget: u32) {
    let (pulse, graves) = (host.pulse(), host.graves());
    let before = pulse.begin(cell);
    // SAFETY: the caller has claimed the actor, and keeps its cell.
    let end = run_turn(unsafe { Here::new(cell) }, host, budget);
    pulse.end(before);
    if end == TurnEnd::Yielded {
        cell.schedule();
    }
    host.bury(graves);
}

fn turn(here: Here, host: &Host, budget: u32) -> TurnEnd {
    let cell: &Header = &here;
    let mut mail = Mail::new(cell, budget);
    let mut patience = PATIENCE;
    loop {
        mail.noticed = cell.log.notices(); // before what they are about
        let state = cell.state.load();
        if state & UNUSUAL != 0 {
            if state & (CONTROL | SUSPENDED | PAUSED) != 0 {
                if state & CONTROL != 0 {
                    cell.state.clear(CONTROL);
                    if lifecycle::control(cell, host) == Alive::No {
                        return TurnEnd::Gone;
                    }
                    continue;
                }
                if state & (SUSPENDED | WOKEN) == SUSPENDED | WOKEN {
                    if mail.left == 0 {
                        return yielded(cell);
                    }
                    mail.left -= 1;
                    mail.handled += 1;
                    mail.others += 1;
                    cell.state.clear(WOKEN);
                    if lifecycle::resume_frame(cell, host) == Alive::No {
                        return TurnEnd::Gone;
                    }
                    continue;
                }
                // Only a wake-up or a control message brings it on.
                mail.note(cell);
                cell.state.begin_rest();
                if cell.state.finish_rest() == Rest::Idle {
                    return TurnEnd::Rested;
                }
                continue;
            }
            if state & ASLEEP != 0 {
                if cell.has_waiting_mail() {
                    // A start is work: one that falls asleep at once must not keep the worker.
                    if mail.left == 0 {
                        return yielded(cell);
                    }
                    mail.left -= 1;
                    if passivate::wake_up(cell, host) == Alive::No {
                        return TurnEnd::Gone;
                    }
                    continue;
                }
                if rest(cell) {
                    return TurnEnd::Rested;
                }
                continue;
            }
            // An answer that went round a closed mailbox waits until that is empty, as it would have in it.
            let answers = state & (CONTINUED | HOLDING) == CONTINUED | HOLDING
                || state & (CONTINUED | RETURNED) == CONTINUED && !cell.log.has_mail();
            if answers || state & (HOLDING | RETURNED) != 0 {
                if !answers && state & HOLDING != 0 {
                    // Only an answer brings it on.
                    mail.note(cell);
                    cell.state.begin_rest();
                    if cell.state.finish_rest() == Rest::Idle {
                        return TurnEnd::Rested;
                    }
                    continue;
                }
                if mail.left == 0 {
                    mail.note(cell);
                    return yielded(cell);
                }
                mail.left -= 1;
                mail.handled += 1;
                let step = if answers {
                    mail.others += 1;
                    cell.run_continued(host)
                } else {
                    cell.run_returned(host)
                };
                if !matches!(step, Step::Done) && lifecycle::after_step(cell, host, step) == Alive::No {
                    return TurnEnd::Gone;
                }
                continue;
            }
        }
        let pause = if state & SLOW == 0 {
            mail.read(cell, host)
        } else {
            // One message at a time, so that others need not wait for many.
            mail.left = mail.left.min(u32::from(mail.handled == 0));
            mail.read_slowly(cell, host)
        };
        // While it is ours: who hears of it may look who is running.
        host.taken.say();
        if cell.log.reader_is_guarded() && !matches!(pause, Pause::Gone) {
            // One that has only used up its budget comes again at once.
            let busy = matches!(pause, Pause::Budget) && state & SLOW == 0;
            cell.made_room(busy);
        }
        match pause {
            Pause::Look => {}
            Pause::Budget => {
                mail.note(cell);
                return yielded(cell);
            }
            Pause::Gone => return TurnEnd::Gone,
            Pause::Pending => {
                // A sender is between reserving and publishing; if it was put to sleep there,
                // others have their turn first.
                if patience == 0 {
                    return yielded(cell);
                }
                patience -= 1;
                std::hint::spin_loop();
            }
            Pause::Empty => {
                if mail.linger() || state & CONTINUED != 0 {
                    continue;
                }
                if state & (PASSIVATE | DRAIN) != 0 {
                    if state & PASSIVATE != 0 && mail.handled > mail.others && !mail.told {
                        // It was told to go, and has handled the message that it was started for.
                        mail.told = true;
                        cell.state.set(CONTROL);
                        continue;
                    }
                    if state & DRAIN != 0 && cell.phase.get() == Phase::Running && cell.requests() == 0 {
                        if lifecycle::drained(cell, host) == Alive::No {
                            return TurnEnd::Gone;
                        }
                        continue;
                    }
                }
                mail.note(cell);
                if state & HIGH != 0 {
                    cell.state.clear(HIGH);
                }
                if rest(cell) {
                    return TurnEnd::Rested;
                }
            }
        }
    }
}

/// Gives up an actor whose mailbox is empty; false if something came meanwhile. True: it is not ours any more.
#[inline]
fn rest(cell: &Header) -> bool {
    // SAFETY: we own the actor, so we are the one reader of its log.
    unsafe { cell.log.settle(cell) };
    cell.state.begin_rest();
    if cell.log.has_mail() {
        cell.state.cancel_rest();
        return false;
    }
    cell.state.finish_rest() == Rest::Idle
}

/// Why the reading of mail was interrupted.
enum Pause {
    /// There is something else to look at.
    Look,
    Budget,
    Empty,
    Pending,
    Gone,
}

/// The messages of one turn.
struct Mail {
    /// How many more may be handled.
    left: u32,
    /// Steps that were taken: messages, answers, and handlers that went on.
    handled: u32,
    /// How many of these were no messages.
    others: u32,
    /// It was looked at whether one that was told to go can.
    told: bool,
    /// How many of them were noted as activity.
    noted: u32,
    /// How many there were when the turn began. More than these came while it lasted, from another
    /// thread.
    expected: u64,
    lingered_at: u32,
    /// How many until senders that wait for room are looked for.
    before_look: u64,
    /// What the state was looked at for.
    noticed: Notices,
}

impl Mail {
    fn new(cell: &Header, budget: u32) -> Self {
        let left = if cell.log.is_watched() {
            u64::from(budget).min(cell.messages_left()) as u32
        } else {
            budget
        };
        Mail {
            left,
            handled: 0,
            others: 0,
            told: false,
            noted: 0,
            expected: if budget > LINGER_AFTER { cell.log.depth() } else { 0 },
            lingered_at: 0,
            before_look: cell.look_every(),
            noticed: cell.log.notices(),
        }
    }

    /// Handles messages for as long as nothing else is to be looked at. Touches nothing that senders
    /// write but the messages themselves.
    #[inline(always)]
    fn read(&mut self, cell: &Header, host: &Host) -> Pause {
        loop {
            // SAFETY: we own the actor, so we are the one reader of its log.
            match unsafe { cell.log.peek(cell) } {
                Peek::Record(first, place) => {
                    if self.left == 0 {
                        return Pause::Budget;
                    }
                    self.left -= 1;
                    self.handled += 1;
                    // SAFETY: we own the actor, and this is the record at the head of its log.
                    let step = unsafe {
                        if Incoming::is_bare(first) {
                            deliver_bare(cell, host, first, place)
                        } else {
                            self.deliver(cell, host, first, place)
                        }
                    };
                    self.before_look -= 1;
                    if self.before_look == 0 {
                        self.before_look = cell.look_every();
                        cell.made_room(true);
                    }
                    if !matches!(step, Step::Done) {
                        host.taken.say(); // before anybody hears that it has ended
                        return match lifecycle::after_step(cell, host, step) {
                            Alive::Yes => Pause::Look,
                            Alive::No => Pause::Gone,
                        };
                    }
                    if cell.log.has_notice_since(self.noticed) {
                        return Pause::Look;
                    }
                }
                Peek::Pending => return Pause::Pending,
                Peek::Empty => return Pause::Empty,
            }
        }
    }

    /// Takes a record out of the log and hands its message to its handler.
    ///
    /// # Safety
    /// We own the actor, and the record is the one at the head of its log.
    #[inline(always)]
    unsafe fn deliver(&self, cell: &Header, host: &Host, first: First, place: *const Word) -> Step {
        // SAFETY: the caller's promise; the payload is taken once, by `deliver_again`.
        unsafe {
            let (incoming, words) = Incoming::read(first, place);
            cell.log.advance(words);
            deliver_again::<false>(cell, host, incoming, self.left > 0)
        }
    }

    /// Handles a message of an actor that was seen to be slow, and looks whether it still is: a worker that was put
    /// to sleep in the middle of a turn looks the same from outside.
    #[cold]
    fn read_slowly(&mut self, cell: &Header, host: &Host) -> Pause {
        let before = cell.system().now();
        let handled = self.handled;
        let pause = self.read(cell, host);
        if self.handled > handled && !matches!(pause, Pause::Gone) {
            let short = cell.system().now().since(before) < SHORT_TURN;
            if host.count_short(short) >= FORGIVEN_AFTER {
                host.count_short(false);
                cell.state.clear(SLOW);
            }
        }
        pause
    }

    /// Notes that messages were handled, for those who wait for the actor to be idle.
    #[inline]
    fn note(&mut self, cell: &Header) {
        if self.handled > self.noted && cell.log.is_watched() {
            cell.note_activity(self.handled - self.noted - std::mem::take(&mut self.others));
            self.noted = self.handled;
        }
    }

    /// An actor that is faster than whoever fills its mailbox from another thread would read each
    /// message while it is still warm over there, and both would wait for the cache line. It lets the
    /// sender get ahead for a moment instead. True: look again.
    fn linger(&mut self) -> bool {
        if self.handled < self.lingered_at + LINGER_AFTER || u64::from(self.handled) <= self.expected {
            return false;
        }
        self.lingered_at = self.handled;
        for _ in 0..LINGER {
            std::hint::spin_loop();
        }
        true
    }
}

/// Takes a record out of the log that brings nothing along, as most do, and hands its message to its handler. Word by word:
/// an [`Incoming`] would be written to memory for those who come to see it seldom.
///
/// # Safety
/// We own the actor, and the record is the one at the head of its log, and bare.
#[inline(always)]
unsafe fn deliver_bare(cell: &Header, host: &Host, first: First, place: *const Word) -> Step {
    // SAFETY: the caller's promise; the record is handled once.
    unsafe {
        let (table, sender, payload) = Incoming::read_bare(first, place);
        cell.log.advance(HEAD_WORDS + table.words);
        host.set_request(0, 0, false);
        if cell.log.is_layered() {
            let incoming = Incoming::from_parts(table, Envelope::of((sender, 0), (None, None)), payload);
            return deliver_layered::<false>(cell, host, incoming);
        }
        (table.run)(cell, host, payload, sender, None, None)
    }
}

/// Hands one message to its handler, unless nobody waits for the answer any more.
#[inline(always)]
pub(crate) fn deliver(cell: &Header, host: &Host, incoming: Incoming) -> Step {
    deliver_again::<false>(cell, host, incoming, false)
}

/// The same for a message that the actor had put aside, if `RETURNED` says so; or for one that another comes `after`, in
/// this turn, if there is one.
#[inline(always)]
pub(crate) fn deliver_again<const RETURNED: bool>(
    cell: &Header,
    host: &Host,
    mut incoming: Incoming,
    after: bool,
) -> Step {
    match incoming.envelope.reply {
        None => host.set_request(incoming.envelope.deadline, 0, false),
        Some(slot) => {
            // SAFETY: the record holds the replier's share, so the slot is alive.
            let slot = unsafe { slot.as_ref() };
            let deadline = slot.deadline();
            let reason = if deadline != 0 && cell.system().now().nanos() >= deadline {
                Some(DeadReason::Expired)
            } else if slot.is_abandoned() {
                Some(DeadReason::Abandoned)
            } else {
                None
            };
            if let Some(reason) = reason {
                // SAFETY: an undelivered record of this cell, discarded once.
                unsafe { incoming.discard(cell, reason) };
                return Step::Done;
            }
            host.set_request(deadline, if deadline == 0 { slot.patience() } else { 0 }, true);
        }
    }
    if cell.log.is_layered() {
        return deliver_layered::<RETURNED>(cell, host, incoming);
    }
    if let Some(freight) = incoming.envelope.carried {
        if !freight.is_receipt() {
            return deliver_layered::<RETURNED>(cell, host, incoming);
        }
        incoming.envelope.carried = None;
        // It has left the mailbox, and carries nothing else.
        // SAFETY: the envelope does not have it any more; and we own the actor, so we are the one reader of its log.
        unsafe { take(host, freight, after && cell.log.is_followed()) };
    }
    let run = incoming.table.run;
    // SAFETY: we own the actor, and the record is handled once.
    unsafe { incoming.handle(run, cell, host) }
}

/// A message from another node has left its mailbox. That is said at once, but on workers, where handlers are quick: there
/// it is said of a few together while others follow.
///
/// # Safety
/// It is a receipt, and the caller lets go of it.
#[cold]
#[inline(never)]
unsafe fn take(host: &Host, freight: Freight, is_followed: bool) {
    // SAFETY: the caller's promise.
    if let Goods::Receipt(receipt) = unsafe { freight.take_apart() } {
        host.taken.put(receipt, is_followed && host.worker().is_some());
    }
}

/// By value: a reference to the message would keep it in memory where the usual way has it in registers.
#[cold]
#[inline(never)]
fn deliver_layered<const RETURNED: bool>(cell: &Header, host: &Host, incoming: Incoming) -> Step {
    let course = if cell.log.is_layered() {
        cell.behaviour_for(&incoming, RETURNED)
    } else {
        Course::Run(incoming.table.run)
    };
    // SAFETY: we own the actor, and the record is handled once; a behaviour is for the same message.
    unsafe { cell.attend(host, incoming, course) }
}

/// There is more to do: the actor stays active, and goes to the back of a queue.
fn yielded(cell: &Header) -> TurnEnd {
    cell.state.in_hand();
    TurnEnd::Yielded
}
