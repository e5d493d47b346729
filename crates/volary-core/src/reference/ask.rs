//! Asking: a message with an answer, and a deadline.
//!
//! The message takes its place in the mailbox when the ask is made. On the first poll, if the
//! target is idle, the asking thread runs a few of its messages right there, so the answer is ready
//! without any scheduling; otherwise the target is queued as usual and the asker waits. The
//! deadline is stamped only when somebody has to wait, so an answer that comes at once costs no
//! look at the clock.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::ops::Deref;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::cycle;
use super::errors::AskError;
use super::post::{envelope_from_here, post};
use super::reply_slot::ReplySlot;
use super::reply_to::Answer;
use crate::actor::Message;
use crate::cell::CellRef;
use crate::cell::state::{SLOW, TIMED};
use crate::dispatch::{Host, run_inline};
use crate::mailbox::{MessageTable, Reason, Refusal};
use crate::sync::atomic::Ordering::*;
use crate::time::{Moment, TimerId, nanos};

/// How many turns may be stacked on one thread.
pub(super) const NESTING: u32 = 8;
/// How many messages an asker handles for its target.
const INLINE_BUDGET: u32 = 4;
/// The same for whoever asks for many at once: as many as a turn of a worker handles, roughly.
const CROWD_BUDGET: u32 = 64;
/// One in so many inline turns is timed.
const TIMED_EVERY: u32 = 64;
/// An actor that took longer in such a turn is left to the workers.
const SLOW_TURN: Duration = Duration::from_millis(1);

/// An ask that has not been sent yet: `.await` it, perhaps after [`timeout`](Ask::timeout).
///
/// ```
/// # use std::convert::Infallible;
/// # use std::time::Duration;
/// # use volary_core::*;
/// # struct Echo; impl Actor for Echo {}
/// # struct Say(u8); impl Message for Say { type Reply = u8; type Rejection = Infallible; }
/// # impl SyncHandler<Say> for Echo { fn handle(&mut self, s: Say, _: &mut Context<Self>) -> Result<u8, Failure> { Ok(s.0) } }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let system = ActorSystem::builder("demo").start().await?;
/// let echo = system.spawn(|| Echo).await?;
/// assert_eq!(echo.ask(Say(7)).await?, 7);
/// assert_eq!(echo.ask(Say(8)).timeout(Duration::from_secs(1)).await?, 8);
/// # system.stop().await?; Ok(()) }
/// ```
#[must_use = "an ask is sent when it is awaited"]
pub struct Ask<'a, M: Message> {
    target: &'a CellRef,
    table: &'static MessageTable,
    message: M,
    timeout: Option<Duration>,
}

impl<'a, M: Message> Ask<'a, M> {
    pub(crate) fn new(target: &'a CellRef, table: &'static MessageTable, message: M) -> Self {
        Ask {
            target,
            table,
            message,
            timeout: None,
        }
    }

    /// How long to wait for the answer; otherwise the system's `ask-timeout`, and never longer than
    /// what is left of the request that the asking handler serves.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let answer = alice.ask(Deposit(5)).timeout(Duration::from_secs(2)).await;
    /// assert_eq!(answer?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }
}

impl<'a, M: Message> IntoFuture for Ask<'a, M> {
    type Output = Result<M::Reply, AskError<M::Rejection>>;
    type IntoFuture = AskFuture<'a, M>;

    #[inline]
    fn into_future(self) -> AskFuture<'a, M> {
        let state = match pose(self.target, self.table, self.message, self.timeout) {
            Ok(state) => state,
            Err((refusal, message)) => {
                let reason = Host::refusal();
                self.target.system().count_refused();
                drop(message); // the user's code, and last
                State::Refused(refusal, reason)
            }
        };
        AskFuture(Asking::new(self.target, state))
    }
}

/// Puts a question into the mailbox; refused, it comes back.
#[inline]
fn pose<M: Message>(
    target: &CellRef,
    table: &'static MessageTable,
    message: M,
    timeout: Option<Duration>,
) -> Result<State, (Refusal, M)> {
    let system = target.system();
    let mut envelope = envelope_from_here(target);
    let mut patience = timeout.map_or_else(|| system.ask_patience(), nanos).max(1);
    if envelope.deadline != 0 {
        let left = envelope.deadline.saturating_sub(system.now().nanos());
        match left {
            // What was begun by a request that is over by now is on its own.
            0 if Host::with(|host| system.current_deadline(host)) == Some(0) => {}
            0 => {
                // Nobody waits for what it would lead to.
                envelope.drop_carried();
                drop(message);
                system.count_refused();
                return Ok(State::Late);
            }
            left => patience = patience.min(left),
        }
    }
    let slot = ReplySlot::take(patience, system.number);
    envelope.reply = Some(slot);
    envelope.deadline = 0; // the slot knows
    match post(target, table, envelope, message) {
        Ok(()) => Ok(State::Fresh(slot)),
        Err(refused) => {
            // SAFETY: the record was not written, so both shares are still ours.
            unsafe { ReplySlot::free(slot) };
            Err(refused)
        }
    }
}

impl<M: Message> fmt::Debug for Ask<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ask")
            .field("target", &self.target.path())
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

enum State {
    /// And why, where a refusal has a reason.
    Refused(Refusal, Reason),
    /// The time of the request that is being served was over before.
    Late,
    /// In the mailbox; nobody has been told to run the target.
    Fresh(NonNull<ReplySlot>),
    Waiting(NonNull<ReplySlot>),
    Done,
}

/// An ask under way. Dropping it cancels the ask: if the message was not begun, it will not be.
///
/// Named, not boxed, so an ask allocates nothing.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// # use std::future::IntoFuture;
/// // The message is in the mailbox now, before anybody waits for the answer.
/// let asked: AskFuture<'_, Deposit> = alice.ask(Deposit(5)).into_future();
/// assert_eq!(asked.await?, 5);
/// # system.stop().await?; Ok(()) }
/// ```
#[must_use = "futures do nothing unless polled"]
pub struct AskFuture<'a, M: Message>(Asking<&'a CellRef, M>);

impl<M: Message> Future for AskFuture<'_, M> {
    type Output = Answer<M::Reply, M::Rejection>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(task)
    }
}

impl<M: Message> fmt::Debug for AskFuture<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AskFuture")
            .field("target", &self.0.target.path())
            .finish_non_exhaustive()
    }
}

/// The target of an ask that nobody else keeps.
pub(crate) struct Kept(CellRef);

impl Deref for Kept {
    type Target = CellRef;
    fn deref(&self) -> &CellRef {
        &self.0
    }
}

/// An ask that keeps its target, for askers that were given it for a moment only.
pub(crate) type KeptAsk<M> = Asking<Kept, M>;

/// What an asker hears whose question was refused just now.
pub(crate) fn unasked<M: Message>(refusal: Refusal) -> AskError<M::Rejection> {
    refused::<M>(refusal, Host::refusal())
}

fn refused<M: Message>(refusal: Refusal, reason: Reason) -> AskError<M::Rejection> {
    match refusal {
        Refusal::Closed => AskError::Stopped,
        Refusal::Full | Refusal::Denied => AskError::Full,
        Refusal::Unsendable => AskError::unsendable::<M>(reason),
        Refusal::Intercepted => AskError::Refused { reason: reason.text() },
    }
}

impl<M: Message> KeptAsk<M> {
    /// Asks; a message that is refused comes back and is not counted.
    pub(crate) fn begin(
        target: &CellRef,
        table: &'static MessageTable,
        message: M,
        timeout: Option<Duration>,
    ) -> Result<Self, (Refusal, M)> {
        let state = pose(target, table, message, timeout)?;
        Ok(Asking::new(Kept(target.clone()), state))
    }

    /// As the first poll does, without a waker; whether the answer is there. Whoever calls it sees to it that others
    /// have their turn.
    #[inline]
    pub(crate) fn start_here(&mut self) -> bool {
        let State::Fresh(slot) = self.state else {
            return matches!(self.state, State::Late);
        };
        self.state = State::Waiting(slot);
        // SAFETY: the asker's share keeps the slot alive.
        let slot = unsafe { slot.as_ref() };
        // Those who were asked together are answered together.
        if !slot.is_complete() {
            beside_others(|| {
                start(&self.target, CROWD_BUDGET, None);
            });
        }
        slot.is_complete()
    }

    /// Queues the target, if nobody has been told to run it yet.
    pub(crate) fn start_elsewhere(&mut self) {
        if let State::Fresh(slot) = self.state {
            self.state = State::Waiting(slot);
            if self.target.state.mail() {
                beside_others(|| self.target.schedule());
            }
        }
    }

    /// Its time began at `moment`, whoever comes to it when.
    pub(crate) fn count_from(&self, moment: Moment) {
        if let State::Fresh(slot) = self.state {
            // SAFETY: the asker's share keeps the slot alive.
            let slot = unsafe { slot.as_ref() };
            slot.stamp((moment + Duration::from_nanos(slot.patience())).nanos());
        }
    }
}

/// Calls `f`, which begins with one of many asks: the next may run an actor on this thread that blocks it, and whoever was
/// woken must not wait for that.
fn beside_others(f: impl Fn()) {
    if Host::with(|host| host.running_others(&f)).is_none() {
        f();
    }
}

/// An ask under way, by whatever leads to its target.
pub(crate) struct Asking<C: Deref<Target = CellRef>, M: Message> {
    target: C,
    state: State,
    timer: Option<TimerId>,
    /// The actor whose handler waits here, for finding cycles.
    asker: Option<CellRef>,
    message: std::marker::PhantomData<fn() -> M>,
}

// SAFETY: the slot's asker share may move between threads; the answer is `Send`.
unsafe impl<C: Deref<Target = CellRef> + Send, M: Message> Send for Asking<C, M> {}
// SAFETY: nothing can be done with a shared reference to it.
unsafe impl<C: Deref<Target = CellRef> + Sync, M: Message> Sync for Asking<C, M> {}

impl<C: Deref<Target = CellRef>, M: Message> Unpin for Asking<C, M> {}

impl<C: Deref<Target = CellRef>, M: Message> Future for Asking<C, M> {
    type Output = Answer<M::Reply, M::Rejection>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        match self.state {
            State::Fresh(slot) => {
                // A task that only ever asks actors which answer at once would never let others run:
                // tokio's own budget is charged.
                let Some(progress) = charge(task) else {
                    return Poll::Pending;
                };
                self.state = State::Waiting(slot);
                let looked_at = start(&self.target, INLINE_BUDGET, Some(task.waker()));
                // SAFETY: the asker's share keeps the slot alive.
                if unsafe { slot.as_ref() }.is_complete() {
                    progress.made();
                    self.state = State::Done;
                    // SAFETY: complete was seen, and the slot is not touched again.
                    return Poll::Ready(unsafe { ReplySlot::finish(slot) });
                }
                self.wait(slot, task, looked_at)
            }
            State::Waiting(slot) => self.wait(slot, task, 0),
            State::Refused(refusal, reason) => {
                self.state = State::Done;
                Poll::Ready(Err(refused::<M>(refusal, reason)))
            }
            State::Late => {
                self.state = State::Done;
                Poll::Ready(Err(AskError::Timeout { after: Duration::ZERO }))
            }
            State::Done => panic!("an ask was polled after it had ended"),
        }
    }
}

/// An ask that is answered at once takes a fraction of what the operations do that tokio's budget is made for; and a task
/// that has spent its budget wakes another thread of the runtime, which costs as much as fifty asks.
const ASKS_PER_CHARGE: u32 = 4;

/// A charge to the budget of the surrounding tokio task, if there is one.
struct Progress(Option<tokio::task::coop::RestoreOnPending>);

impl Progress {
    #[inline]
    fn made(self) {
        if let Some(budget) = self.0 {
            budget.made_progress();
        }
    }
}

/// `None`: the budget is spent; the task was told to come again after the others.
#[inline]
fn charge(task: &mut Context<'_>) -> Option<Progress> {
    // Within a worker turns are bounded otherwise.
    let is_charged = |host: &Host| host.worker().is_none() && host.count_asked().is_multiple_of(ASKS_PER_CHARGE);
    if !Host::with(is_charged).unwrap_or(false) {
        return Some(Progress(None));
    }
    match tokio::task::coop::poll_proceed(task) {
        Poll::Ready(budget) => Some(Progress(Some(budget))),
        Poll::Pending => None,
    }
}

/// Runs the target here if that is allowed, and queues it otherwise. Returns the time if its handler had to look at the clock
/// because it waits for something, and 0 otherwise.
fn start(target: &CellRef, budget: u32, task: Option<&Waker>) -> u64 {
    if target.foreign().is_some() {
        return 0; // it is on its way already
    }
    let system = target.system();
    let ran = Host::with(|host| {
        let ambient = host.ambient();
        if ambient.depth >= NESTING || !system.runs_inline(target.dispatcher, host, task) || !target.state.claim() {
            return None;
        }
        let asker = host.current().filter(|_| ambient.in_turn);
        let before = asker.map_or(0, |asker| {
            let before = asker.waits_for.load(Relaxed);
            asker.waits_for.store(target.id, Relaxed);
            before
        });
        host.set_suspended_at(0);
        inline_turn(target, host, budget);
        if let Some(asker) = asker {
            asker.waits_for.store(before, Relaxed);
        }
        Some(host.suspended_at())
    });
    if let Some(Some(suspended)) = ran {
        return suspended;
    }
    if target.state.mail() {
        target.schedule();
        if system.has_own_thread(target.dispatcher) {
            Host::with(|host| host.worker().map(|worker| worker.expect()));
        }
    }
    0
}

#[inline]
fn inline_turn(target: &CellRef, host: &Host, budget: u32) {
    // The first time, and now and then: most actors are known to be quick.
    let known = target.state.has(TIMED) && !host.count_inline().is_multiple_of(TIMED_EVERY);
    let before = if known { None } else { Some(begin_to_time(target)) };
    run_inline(target, host, budget);
    if let Some((before, taken)) = before {
        note_if_slow(target, before, taken);
    }
}

#[cold]
fn begin_to_time(target: &CellRef) -> (Moment, u64) {
    target.state.set(TIMED);
    (target.system().now(), target.log.taken())
}

#[cold]
fn note_if_slow(target: &CellRef, before: Moment, taken: u64) {
    // Of as many messages as one asker may handle; whoever asks for many handles more of them.
    let share = (target.log.taken().saturating_sub(taken) as u32)
        .div_ceil(INLINE_BUDGET)
        .max(1);
    if target.system().now().since(before) / share > SLOW_TURN {
        target.state.set(SLOW);
    }
}

impl<C: Deref<Target = CellRef>, M: Message> Asking<C, M> {
    fn new(target: C, state: State) -> Self {
        Asking {
            target,
            state,
            timer: None,
            asker: None,
            message: std::marker::PhantomData,
        }
    }
}

impl<C: Deref<Target = CellRef>, M: Message> Asking<C, M> {
    /// `now` is 0 if nobody has looked at the clock just now.
    fn wait(
        &mut self,
        slot: NonNull<ReplySlot>,
        task: &mut Context<'_>,
        now: u64,
    ) -> Poll<Answer<M::Reply, M::Rejection>> {
        // SAFETY: our share keeps the slot.
        let shared = unsafe { slot.as_ref() };
        if shared.is_complete() {
            self.end();
            // SAFETY: complete was seen, and the slot is not touched again.
            return Poll::Ready(unsafe { ReplySlot::finish(slot) });
        }
        let system = self.target.system();
        let now = match now {
            0 => system.now(),
            now => Moment::from_nanos(now),
        };
        let is_new = shared.deadline() == 0;
        if is_new {
            shared.stamp((now + Duration::from_nanos(shared.patience())).nanos());
        }
        let deadline = Moment::from_nanos(shared.deadline());
        let is_swept = system.timers().leaves_to_sweep(deadline, now);
        if is_swept {
            shared.leave_to_sweep();
        }
        // SAFETY: we are the asker, the types are those of the record, and after `Ready` the slot
        // is forgotten.
        if let Poll::Ready(answer) = unsafe { ReplySlot::poll(slot, task.waker()) } {
            self.end();
            return Poll::Ready(answer);
        }
        if is_new && let Some(cycle) = self.note_and_follow() {
            return self.give_up(slot, AskError::Cycle(cycle));
        }
        if now >= deadline {
            let after = Duration::from_nanos(shared.patience());
            return self.give_up(slot, AskError::Timeout { after });
        }
        let timers = self.target.system().timers();
        // The waker may be another one than last time.
        if let Some(timer) = self.timer.take() {
            timers.cancel(timer);
        }
        if is_swept {
            shared.tell_page();
        } else {
            self.timer = Some(timers.insert(deadline, task.waker().clone()));
        }
        // Looked at after the slot says that somebody waits: either this is seen, or the waker is.
        if self.target.system().has_ended() {
            return self.give_up(slot, AskError::Stopped);
        }
        Poll::Pending
    }

    /// Writes down whom the asking handler waits for, and looks for a ring.
    fn note_and_follow(&mut self) -> Option<cycle::Cycle> {
        let asker = Host::with(|host| {
            let in_turn = host.ambient().in_turn;
            host.current().filter(|_| in_turn).map(crate::cell::Header::to_ref)
        })
        .flatten()?;
        cycle::note(&asker, self.target.id);
        let found = cycle::find(&asker, &self.target);
        self.asker = Some(asker);
        found
    }

    fn give_up(
        &mut self,
        slot: NonNull<ReplySlot>,
        error: AskError<M::Rejection>,
    ) -> Poll<Answer<M::Reply, M::Rejection>> {
        self.end();
        // SAFETY: we are the asker and forget the slot. An answer of this very moment is taken.
        Poll::Ready(unsafe { ReplySlot::close(slot) }.unwrap_or(Err(error)))
    }

    fn end(&mut self) {
        self.state = State::Done;
        if let Some(timer) = self.timer.take() {
            self.target.system().timers().cancel(timer);
        }
        if let Some(asker) = self.asker.take() {
            cycle::forget(&asker, self.target.id);
        }
    }
}

impl<C: Deref<Target = CellRef>, M: Message> Drop for Asking<C, M> {
    #[inline]
    fn drop(&mut self) {
        let slot = match self.state {
            State::Done | State::Refused(..) | State::Late => return,
            State::Fresh(slot) => {
                // Nobody was told to run the target, and there may be mail behind ours.
                if self.target.state.mail() {
                    self.target.schedule();
                }
                slot
            }
            State::Waiting(slot) => slot,
        };
        self.end();
        // SAFETY: we are the asker and forget the slot.
        drop(unsafe { ReplySlot::close::<Answer<M::Reply, M::Rejection>>(slot) });
    }
}
