//! Several asks of which one answer is enough: all at once, or one after the other.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::actor::Message;
use crate::reference::{AskError, KeptAsk, Recipient, unasked};
use crate::system::Sleep;
use crate::time::Moment;

/// An answer, or why there was none.
pub(super) type Answer<M> = Result<<M as Message>::Reply, AskError<<M as Message>::Rejection>>;

/// Asks until one answers. Dropping it, or its end, cancels all that is still open.
pub(super) struct Race<M: Message> {
    message: M,
    copy: fn(&M) -> Option<M>,
    /// Those who were not asked yet, the next one last.
    next: Vec<Recipient<M>>,
    open: Vec<KeptAsk<M>>,
    /// How long to wait for an answer before the next is asked; `None`: not at all.
    every: Option<Duration>,
    pause: Option<Sleep>,
    timeout: Option<Duration>,
    /// When all of it must be over; known once somebody has to wait.
    deadline: Option<Moment>,
    /// Why the last that ended without an answer did so.
    failure: Option<AskError<M::Rejection>>,
}

impl<M: Message> Race<M> {
    pub(super) fn new(
        mut runners: Vec<Recipient<M>>,
        message: M,
        copy: fn(&M) -> Option<M>,
        every: Option<Duration>,
        timeout: Option<Duration>,
    ) -> Self {
        runners.reverse();
        let mut race = Race {
            message,
            copy,
            next: runners,
            open: Vec::new(),
            every,
            pause: None,
            timeout,
            deadline: None,
            failure: None,
        };
        // Asks take their places when they are made, not when they are looked at.
        match every {
            None => while race.ask_next() {},
            Some(_) => {
                race.ask_next();
            }
        }
        race
    }

    /// Asks the next who takes the question. False: there is nobody left.
    fn ask_next(&mut self) -> bool {
        while let Some(recipient) = self.next.pop() {
            let cell = recipient.cell();
            let timeout = match self.deadline {
                None => self.timeout,
                Some(deadline) => {
                    let left = deadline.since(cell.system().now());
                    if left.is_zero() {
                        return false;
                    }
                    Some(left)
                }
            };
            let Some(copy) = (self.copy)(&self.message) else {
                return false;
            };
            match KeptAsk::begin(cell, recipient.table(), copy, timeout) {
                Ok(ask) => {
                    self.open.push(ask);
                    self.rest(&recipient);
                    return true;
                }
                Err((refusal, _copy)) => {
                    cell.system().count_refused();
                    self.failure = Some(unasked::<M>(refusal));
                }
            }
        }
        self.pause = None;
        false
    }

    /// Begins the time after which the next is asked.
    fn rest(&mut self, asked: &Recipient<M>) {
        let Some(every) = self.every else { return };
        let system = asked.cell().system();
        let patience = self.timeout.unwrap_or(Duration::from_nanos(system.ask_patience()));
        let patience = system.time_left().map_or(patience, |left| left.min(patience));
        self.deadline.get_or_insert(system.now() + patience);
        self.pause = (!self.next.is_empty()).then(|| system.handle().sleep(every));
    }
}

impl<M: Message> Unpin for Race<M> {}

impl<M: Message> Future for Race<M> {
    type Output = Answer<M>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Answer<M>> {
        let this = &mut *self;
        loop {
            let mut at = 0;
            while let Some(ask) = this.open.get_mut(at) {
                match Pin::new(ask).poll(task) {
                    Poll::Pending => at += 1,
                    Poll::Ready(Err(
                        error @ (AskError::Failed(_)
                        | AskError::NoReply
                        | AskError::Full
                        | AskError::Stopped
                        | AskError::Timeout { .. }
                        | AskError::Cycle(_)
                        | AskError::Refused { .. }),
                    )) => {
                        drop(this.open.remove(at));
                        this.failure = Some(error);
                    }
                    Poll::Ready(answer) => {
                        this.open.clear();
                        this.next.clear();
                        this.pause = None;
                        return Poll::Ready(answer);
                    }
                }
            }
            if this.open.is_empty() {
                if this.ask_next() {
                    continue;
                }
                let failure = this.failure.take().unwrap_or(AskError::Stopped);
                return Poll::Ready(Err(failure));
            }
            let Some(pause) = &mut this.pause else {
                return Poll::Pending;
            };
            if Pin::new(pause).poll(task).is_pending() {
                return Poll::Pending;
            }
            this.pause = None;
            this.ask_next();
        }
    }
}
