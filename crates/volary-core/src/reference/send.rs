//! Sending to a bounded mailbox and waiting for room, without blocking a thread.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use super::errors::{SendError, TellError};
use super::foreign::Room;
use super::post::{envelope_from_here, post, post_within};
use crate::actor::Message;
use crate::cell::CellRef;
use crate::dispatch::contain;
use crate::mailbox::{Bound, MessageTable, Refusal};
use crate::time::{Moment, TimerId};

/// A `send` under way.
///
/// Cancel safe: dropped before it is ready, the message was not sent and goes with it.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let sending: SendFuture<'_, Deposit> = alice.send(Deposit(5));
/// sending.await?; // when there is room
/// assert_eq!(alice.ask(Balance).await?, 5);
/// # system.stop().await?; Ok(()) }
/// ```
#[must_use = "futures do nothing unless polled"]
pub struct SendFuture<'a, M: Message> {
    target: &'a CellRef,
    table: &'static MessageTable,
    message: Option<M>,
    timeout: Option<Duration>,
    /// Nearly always there is room at once, and nothing of this is written or looked at.
    patience: Option<Patience>,
}

/// What a sender has while it waits for room.
#[derive(Default)]
struct Patience {
    deadline: Option<Moment>,
    timer: Option<TimerId>,
    /// The place among those who wait.
    ticket: Option<u64>,
    /// The line that the place is in, if the target lives elsewhere.
    line: Option<Arc<dyn Room>>,
}

impl<'a, M: Message> SendFuture<'a, M> {
    pub(crate) fn new(target: &'a CellRef, table: &'static MessageTable, message: M) -> Self {
        SendFuture {
            target,
            table,
            message: Some(message),
            timeout: None,
            patience: None,
        }
    }

    /// How long to wait for room; otherwise the system's `ask-timeout`, and never longer than what is
    /// left of the request that the sending handler serves.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let sent = alice.send(Deposit(5)).timeout(Duration::from_millis(50)).await;
    /// assert!(sent.is_ok());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sends if there is room and nobody waits, as nearly always; false if nothing has happened. It calls nobody, as
    /// [`post_at_once`](super::post::post_at_once).
    #[inline(always)]
    fn goes_at_once(&mut self) -> bool {
        let Some(bound) = self.target.lone_bound() else {
            return false;
        };
        if !bound.waits || self.message.is_none() || self.patience.is_some() || !bound.may_try(None) {
            return false;
        }
        let message = &mut self.message;
        let take = || match message.take() {
            Some(message) => message,
            None => unreachable!("looked at just before"),
        };
        post_within(self.target, bound, self.table, take)
    }

    #[inline(never)]
    fn attempt(&mut self) -> Option<Result<(), (Refusal, M)>> {
        let message = self.message.take()?;
        let envelope = envelope_from_here(self.target);
        let sent = post(self.target, self.table, envelope, message);
        if sent.is_ok() && self.target.state.mail() {
            self.target.schedule();
        }
        Some(sent)
    }

    /// The bound to wait at, if this mailbox lets senders wait.
    #[inline]
    fn waits(&self) -> Option<&'a Bound> {
        self.target.bound().filter(|bound| bound.waits)
    }
}

impl<M: Message> Unpin for SendFuture<'_, M> {}

impl<M: Message> Future for SendFuture<'_, M> {
    type Output = Result<(), SendError<M>>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        if self.goes_at_once() {
            if self.target.state.mail() {
                self.target.schedule();
            }
            return Poll::Ready(Ok(()));
        }
        self.poll_otherwise(task)
    }
}

impl<M: Message> SendFuture<'_, M> {
    #[inline(never)]
    fn poll_otherwise(&mut self, task: &mut Context<'_>) -> Poll<Result<(), SendError<M>>> {
        if self.target.foreign().is_some() {
            return self.poll_abroad(task);
        }
        if self.patience.is_none() && self.waits().is_none_or(|bound| bound.may_try(None)) {
            match self.attempt() {
                Some(Ok(())) => return Poll::Ready(Ok(())),
                Some(Err((Refusal::Full, message))) => self.message = Some(message),
                Some(Err((refusal, message))) => return Poll::Ready(Err(self.refused(refusal, message))),
                None => panic!("a send was polled after it had ended"),
            }
        }
        self.poll_slowly(task)
    }

    #[cold]
    fn refused(&mut self, refusal: Refusal, message: M) -> SendError<M> {
        self.target.system().count_refused();
        self.leave();
        SendError::Refused(TellError::new(refusal, message))
    }

    #[cold]
    fn poll_slowly(&mut self, task: &mut Context<'_>) -> Poll<Result<(), SendError<M>>> {
        loop {
            let waits = self.waits();
            let ticket = self.ticket();
            if waits.is_none_or(|bound| bound.may_try(ticket)) || self.target.log.is_closed() {
                let Some(attempted) = self.attempt() else {
                    panic!("a send was polled after it had ended")
                };
                match (attempted, waits) {
                    (Ok(()), _) => {
                        self.leave();
                        return Poll::Ready(Ok(()));
                    }
                    (Err((Refusal::Full, message)), Some(_)) => self.message = Some(message),
                    (Err((refusal, message)), _) => return Poll::Ready(Err(self.refused(refusal, message))),
                }
            }
            let Some(bound) = waits else { continue };
            let ticket = Some(bound.wait(ticket, task.waker()));
            self.patience().ticket = ticket;
            // Room that was made just before may have been announced to nobody.
            self.target.made_room(false);
            if bound.may_try(ticket) || self.target.log.is_closed() {
                continue;
            }
            return self.pause(task);
        }
    }

    /// The same towards an actor elsewhere, where room is on the way out.
    #[cold]
    fn poll_abroad(&mut self, task: &mut Context<'_>) -> Poll<Result<(), SendError<M>>> {
        loop {
            let ticket = self.ticket();
            let mut line = self.patience.as_ref().and_then(|patience| patience.line.clone());
            if line.is_none() {
                let foreign = self.target.foreign();
                line = foreign.and_then(|foreign| contain(|| foreign.outlet.room()).ok().flatten());
            }
            if line.as_ref().is_none_or(|line| line.may_try(ticket)) || self.target.log.is_closed() {
                let Some(attempted) = self.attempt() else {
                    panic!("a send was polled after it had ended")
                };
                match (attempted, &line) {
                    (Ok(()), _) => {
                        self.leave();
                        return Poll::Ready(Ok(()));
                    }
                    (Err((Refusal::Full, message)), Some(_)) => self.message = Some(message),
                    (Err((refusal, message)), _) => return Poll::Ready(Err(self.refused(refusal, message))),
                }
            }
            let Some(line) = line else { continue };
            let ticket = Some(line.wait(ticket, task.waker()));
            let patience = self.patience();
            patience.ticket = ticket;
            // Kept before it is asked, so that the place is given up even if the line panics.
            if patience.line.insert(line).may_try(ticket) || self.target.log.is_closed() {
                continue;
            }
            return self.pause(task);
        }
    }

    /// Waits to be called, or until it is too late.
    fn pause(&mut self, task: &mut Context<'_>) -> Poll<Result<(), SendError<M>>> {
        if self.is_late()
            && let Some(message) = self.message.take()
        {
            self.target.system().count_refused();
            self.leave();
            return Poll::Ready(Err(SendError::Timeout(message)));
        }
        self.set_timer(task);
        Poll::Pending
    }
}

impl<M: Message> SendFuture<'_, M> {
    /// Whether the time to wait is over. It begins with the first look.
    fn is_late(&mut self) -> bool {
        let system = self.target.system();
        let now = system.now();
        let timeout = self.timeout;
        let deadline = *self.patience().deadline.get_or_insert_with(|| {
            let patience = timeout.unwrap_or_else(|| system.send_patience());
            now + system.time_left().map_or(patience, |left| left.min(patience))
        });
        now >= deadline
    }

    fn patience(&mut self) -> &mut Patience {
        self.patience.get_or_insert_default()
    }

    fn ticket(&self) -> Option<u64> {
        self.patience.as_ref()?.ticket
    }

    fn set_timer(&mut self, task: &mut Context<'_>) {
        let timers = self.target.system().timers();
        let patience = self.patience();
        if let Some(timer) = patience.timer.take() {
            timers.cancel(timer);
        }
        patience.timer = patience
            .deadline
            .map(|deadline| timers.insert(deadline, task.waker().clone()));
    }

    /// Gives up the place among those who wait.
    #[cold]
    fn leave(&mut self) {
        let Some(patience) = self.patience.take() else { return };
        if let Some(timer) = patience.timer {
            self.target.system().timers().cancel(timer);
        }
        let Some(ticket) = patience.ticket else { return };
        if let Some(line) = patience.line {
            line.leave(ticket);
        } else if let Some(bound) = self.waits() {
            bound.leave(ticket);
            self.target.made_room(false);
        }
    }
}

impl<M: Message> Drop for SendFuture<'_, M> {
    #[inline]
    fn drop(&mut self) {
        if self.patience.is_some() {
            self.leave();
        }
    }
}

impl<M: Message> std::fmt::Debug for SendFuture<'_, M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SendFuture")
            .field("target", &self.target.path())
            .finish_non_exhaustive()
    }
}
