//! Requests of an actor: asks whose answers come back as messages to itself.
//!
//! A request is an entry in the actor's links, and a future whose waker leads back here. When that is woken it puts
//! a record into the mailbox, which keeps its place among the messages there and no bound applies to; the turn that
//! comes to it polls the future and calls the continuation with the answer. While a request holds other messages, or
//! when the mailbox takes no more, it goes round the mailbox: into a list that the turn looks at first.

use std::any::TypeId;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::ptr::NonNull;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, Wake, Waker};

use super::header::{Header, WeakCell};
use super::state::{CONTINUED, HOLDING};
use super::typed::with_actor;
use crate::actor::{Actor, Context, Fault, Reentrancy};
use crate::baggage::Baggage;
use crate::dispatch::{Ending, Host, Step, beside_turn, contain};
use crate::events::DeadReason;
use crate::mailbox::{Envelope, Freight, Incoming, MessageTable, RecordKind, payload_words, take_payload};
use crate::reference::{ReplySlot, post_exempt};
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, Ordering::*};

/// What becomes of a request, whatever it is about.
pub(crate) trait Due: Send + Sync {
    /// Drops future and continuation. The caller has taken the request out of the links.
    fn forget(&self, cell: &Header);

    /// Looks whether the answer is there, and if so continues the actor with it.
    ///
    /// # Safety
    /// The caller owns the actor, which is the one that made the request.
    unsafe fn resume(self: Arc<Self>, cell: &Header, host: &Host) -> Step;
}

/// A request as the actor's links know it.
pub(crate) struct Entry {
    due: Arc<dyn Due>,
    holds_others: bool,
}

/// A request under way.
pub(crate) struct Asked<A, Q: Future, F> {
    cell: WeakCell,
    number: u64,
    /// Of the message whose handler made the request.
    sender: u64,
    deadline: u64,
    /// What went with the message in whose turn it was made.
    baggage: Option<Box<Baggage>>,
    holds_others: bool,
    /// It is in the mailbox, or in the list that goes round it.
    queued: AtomicBool,
    work: Mutex<Option<Work<Q, F>>>,
    actor: PhantomData<fn(A)>,
}

enum Work<Q: Future, F> {
    Waiting(Pin<Box<Q>>, F),
    Answered(Q::Output, F),
}

impl<A, Q, F> Asked<A, Q, F>
where
    A: Actor,
    Q: Future<Output: Send> + Send + 'static,
    F: FnOnce(&mut A, Q::Output, &mut Context<A>) -> Result<(), Fault> + Send + 'static,
{
    const TABLE: &'static MessageTable = &MessageTable {
        run: run::<A, Q, F>,
        discard: discard::<A, Q, F>,
        view: |_, _| None,
        unbox: |_, _| unreachable!("an answer is never boxed"),
        words: payload_words::<Arc<Self>>(),
        kind: RecordKind::Answer,
        message: TypeId::of::<Entry>,
        name: || "an answer",
    };

    /// Makes the request. Called by the actor in its own turn.
    pub(crate) fn begin(cell: &Header, envelope: Envelope, holds_others: bool, ask: Q, then: F) -> RequestHandle {
        let weak = cell.to_ref().downgrade();
        let asked = cell.with_links(|links| {
            links.next_request += 1;
            let asked = Arc::new(Asked {
                cell: weak.clone(),
                number: links.next_request,
                sender: envelope.sender,
                deadline: envelope.deadline,
                baggage: Baggage::to_keep(),
                holds_others,
                queued: AtomicBool::new(false),
                work: Mutex::new(None),
                actor: PhantomData,
            });
            let due = asked.clone();
            links.requests.insert(asked.number, Entry { due, holds_others });
            links.holding += u32::from(holds_others);
            asked
        });
        if holds_others {
            cell.set_noticed(HOLDING);
        }
        let number = asked.number;
        let begun = Begun(cell, number);
        let work = asked.poll(Box::pin(ask), then);
        std::mem::forget(begun);
        let answered = matches!(work, Work::Answered(..));
        asked.keep(cell, work);
        if answered {
            Waker::from(asked).wake(); // it keeps its place among the messages nevertheless
        }
        RequestHandle { cell: weak, number }
    }

    fn poll(self: &Arc<Self>, mut ask: Pin<Box<Q>>, then: F) -> Work<Q, F> {
        let waker = Waker::from(self.clone());
        let mut task = TaskContext::from_waker(&waker);
        // An actor that handles other messages meanwhile does not wait, so no ring of asks goes through it.
        let polled = if self.holds_others {
            ask.as_mut().poll(&mut task)
        } else {
            beside_turn(|| ask.as_mut().poll(&mut task))
        };
        match polled {
            Poll::Ready(answer) => Work::Answered(answer, then),
            Poll::Pending => Work::Waiting(ask, then),
        }
    }

    /// Keeps what is left to do, unless the request was cancelled while it was polled.
    fn keep(&self, cell: &Header, work: Work<Q, F>) {
        let before = self.work.lock().replace(work);
        drop(before);
        if !cell.with_links(|links| links.requests.contains_key(&self.number)) {
            self.forget(cell);
        }
    }
}

impl<A, Q, F> Due for Asked<A, Q, F>
where
    A: Actor,
    Q: Future<Output: Send> + Send + 'static,
    F: FnOnce(&mut A, Q::Output, &mut Context<A>) -> Result<(), Fault> + Send + 'static,
{
    fn forget(&self, cell: &Header) {
        let work = self.work.lock().take();
        if let Err(fault) = contain(|| drop(work)) {
            cell.report_drop(&fault);
        }
    }

    unsafe fn resume(self: Arc<Self>, cell: &Header, host: &Host) -> Step {
        // From here on a wake-up is a new one. A swap and no store: it sees what those had to tell who found the mark set.
        self.queued.swap(false, SeqCst);
        let work = self.work.lock().take();
        let work = match work {
            None => return Step::Done, // cancelled, or woken twice
            Some(Work::Waiting(ask, then)) => match contain(|| self.poll(ask, then)) {
                Ok(work) => work,
                Err(fault) => {
                    cell.finish_request(self.number);
                    return Step::Faulted(fault);
                }
            },
            Some(answered) => answered,
        };
        match work {
            Work::Answered(answer, then) if cell.finish_request(self.number) => {
                host.set_request(self.deadline, 0, false);
                // SAFETY: the caller's promise: the actor that made the request is an `A`.
                let run = || unsafe { with_actor::<A>(cell, host, self.sender, |actor, ctx| then(actor, answer, ctx)) };
                match &self.baggage {
                    Some(baggage) => baggage.in_scope(run),
                    None => run(),
                }
            }
            work => {
                self.keep(cell, work);
                Step::Done
            }
        }
    }
}

impl<A, Q, F> Wake for Asked<A, Q, F>
where
    A: Actor,
    Q: Future<Output: Send> + Send + 'static,
    F: FnOnce(&mut A, Q::Output, &mut Context<A>) -> Result<(), Fault> + Send + 'static,
{
    fn wake(self: Arc<Self>) {
        if self.queued.swap(true, SeqCst) {
            return;
        }
        let Some(cell) = self.cell.upgrade() else { return };
        if self.holds_others {
            return cell.continue_soon(self);
        }
        let envelope = Envelope {
            sender: self.sender,
            deadline: self.deadline,
            ..Envelope::OUTSIDE
        };
        match post_exempt(&cell, Self::TABLE, envelope, self) {
            Ok(()) if cell.state.mail() => cell.schedule(),
            Ok(()) => {}
            Err((_, asked)) => cell.continue_soon(asked), // no mail is taken any more
        }
    }
}

unsafe fn run<A, Q, F>(
    cell: &Header,
    host: &Host,
    payload: *mut u64,
    _: u64,
    _: Option<NonNull<ReplySlot>>,
    _: Option<Freight>,
) -> Step
where
    A: Actor,
    Q: Future<Output: Send> + Send + 'static,
    F: FnOnce(&mut A, Q::Output, &mut Context<A>) -> Result<(), Fault> + Send + 'static,
{
    // SAFETY: the table in the record is that of these types, the record is taken once, and the caller owns the actor.
    unsafe { take_payload::<Arc<Asked<A, Q, F>>>(payload).resume(cell, host) }
}

/// The request itself ends with the actor's links.
unsafe fn discard<A, Q: Future, F>(_: &Header, incoming: Incoming, _: DeadReason) {
    // SAFETY: as in `run`.
    drop(unsafe { incoming.take::<Arc<Asked<A, Q, F>>>() });
}

impl Header {
    pub(crate) fn reentrancy(&self) -> Reentrancy {
        self.extras_if_any()
            .map_or_else(Reentrancy::default, |extras| extras.reentrancy)
    }

    /// How many answers are due.
    pub(crate) fn requests(&self) -> usize {
        self.extras_if_any()
            .map_or(0, |extras| extras.links.lock().requests.len())
    }

    /// An answer that goes round the mailbox.
    fn continue_soon(&self, due: Arc<dyn Due>) {
        self.with_links(|links| links.continued.push_back(due));
        self.control(CONTINUED);
    }

    /// Continues with the next answer that went round the mailbox. Called by the owner.
    pub(crate) fn run_continued(&self, host: &Host) -> Step {
        self.state.clear(CONTINUED);
        let (due, more) = self.with_links(|links| (links.continued.pop_front(), !links.continued.is_empty()));
        if more {
            self.state.set(CONTINUED);
        }
        match due {
            // SAFETY: we own the actor, and only its own requests are in its links.
            Some(due) => unsafe { due.resume(self, host) },
            None => Step::Done,
        }
    }

    /// Takes a request out of the links. False: it is not there any more.
    fn finish_request(&self, number: u64) -> bool {
        self.take_request(number).is_some()
    }

    fn take_request(&self, number: u64) -> Option<Arc<dyn Due>> {
        let extras = self.extras_if_any()?;
        let due = {
            let links = &mut *extras.links.lock();
            let entry = links.requests.remove(&number)?;
            links.holding -= u32::from(entry.holds_others);
            if entry.holds_others && links.holding == 0 {
                self.state.clear(HOLDING);
            }
            entry.due
        };
        self.work_ended();
        Some(due)
    }

    /// Ends all requests without an answer. Called by the owner.
    pub(crate) fn cancel_requests(&self) {
        let Some(extras) = self.extras_if_any() else { return };
        let (requests, continued) = {
            let links = &mut *extras.links.lock();
            links.holding = 0;
            (
                std::mem::take(&mut links.requests),
                std::mem::take(&mut links.continued),
            )
        };
        self.state.clear(HOLDING);
        drop(continued);
        let forget = || requests.values().for_each(|entry| entry.due.forget(self));
        // Whoever waits for what a continuation would have answered hears that the actor is gone.
        Host::with(|host| host.with_ending(Ending::Stopped, forget));
    }
}

/// A request whose first poll is under way: should that panic, there is no request.
struct Begun<'a>(&'a Header, u64);

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        drop(self.0.take_request(self.1));
    }
}

/// A way to cancel a request.
pub(crate) struct RequestHandle {
    cell: WeakCell,
    number: u64,
}

impl RequestHandle {
    pub(crate) fn cancel(&self) -> bool {
        let Some(cell) = self.cell.upgrade() else {
            return false;
        };
        let Some(due) = cell.take_request(self.number) else {
            return false;
        };
        due.forget(&cell);
        cell.control(0); // messages may have waited for this one, or a drain
        true
    }

    pub(crate) fn is_pending(&self) -> bool {
        let pending = |cell: super::CellRef| cell.with_links(|links| links.requests.contains_key(&self.number));
        self.cell.upgrade().is_some_and(pending)
    }
}
