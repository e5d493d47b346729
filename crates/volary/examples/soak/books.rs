//! The books: what became of every message and every ask.
//!
//! A message carries a [`Token`], which knows whether it was handled and counts itself when it is dropped. One that is
//! dropped unhandled was either given up by its sender, who sees that on its own thread (refused, or the `send` was
//! dropped), or it must be a dead letter, of which the runtime keeps a count of its own. So the books need no two
//! figures to be read at the same instant.

use std::cell::Cell;
use std::future::IntoFuture;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::Duration;

use volary::prelude::*;
use volary::{Accepts, AskFuture, SendFuture};

macro_rules! books {
    ($($entry:ident),* $(,)?) => {
        #[derive(Clone, Copy, Debug)]
        pub(crate) enum Entry { $($entry),* }

        pub(crate) const ENTRIES: &[Entry] = &[$(Entry::$entry),*];
        static BOOKS: [AtomicU64; ENTRIES.len()] = [const { AtomicU64::new(0) }; ENTRIES.len()];
    };
}

books! {
    // What became of each message.
    Created, Dropped, Handled, Accepted, Refused, Withdrawn, Lost,
    // How each ask ended.
    Asked, Answered, Rejected, Failed, NoReply, Full, Stopped, TimedOut, Cycle, GivenUp,
    // Actors.
    Spawned, NotStarted, Watched, Terminated, TerminatedTwice, WrongAnswer, OtherAskError,
}

pub(crate) fn count(entry: Entry) -> u64 {
    BOOKS[entry as usize].fetch_add(1, Relaxed)
}

pub(crate) fn read(entry: Entry) -> u64 {
    BOOKS[entry as usize].load(Relaxed)
}

/// What a message carries through the runtime.
pub(crate) struct Token {
    pub(crate) id: u64,
    handled: bool,
}

thread_local! {
    /// The token whose sender is giving it up on this thread right now, and where that is to be counted.
    static GIVEN_UP: Cell<Option<(u64, Entry)>> = const { Cell::new(None) };
}

impl Token {
    pub(crate) fn new() -> Self {
        Token {
            id: count(Entry::Created),
            handled: false,
        }
    }

    /// Called by the handler, before anything else.
    pub(crate) fn handled(mut self) -> u64 {
        self.handled = true;
        count(Entry::Handled);
        self.id
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        count(Entry::Dropped);
        if self.handled {
            return;
        }
        match GIVEN_UP.get() {
            Some((id, entry)) if id == self.id => {
                GIVEN_UP.set(None);
                count(entry)
            }
            _ => count(Entry::Lost),
        };
    }
}

/// Runs `f`. If that drops the token, it is counted as `entry`, and true comes back.
fn giving_up<R>(id: u64, entry: Entry, f: impl FnOnce() -> R) -> (R, bool) {
    GIVEN_UP.set(Some((id, entry)));
    let result = f();
    (result, GIVEN_UP.take().is_none())
}

/// A message with a token in it; the answer is the token's id.
pub(crate) trait Counted: Message<Reply = u64, Rejection = Declined> {
    fn id(&self) -> u64;
}

/// The one rejection there is.
#[derive(Debug, Rejection)]
pub(crate) struct Declined;

pub(crate) fn tell<T: Accepts<M>, M: Counted>(to: &ActorRef<T>, message: M) {
    let id = message.id();
    match to.tell(message) {
        Ok(()) => {
            count(Entry::Accepted);
        }
        Err(error) => {
            giving_up(id, Entry::Refused, || drop(error));
        }
    }
}

/// A `send` that is counted, also when it is dropped on the way.
pub(crate) struct Sending<'a, M: Counted> {
    id: u64,
    future: Option<SendFuture<'a, M>>,
}

pub(crate) fn send<T: Accepts<M>, M: Counted>(to: &ActorRef<T>, message: M) -> Sending<'_, M> {
    Sending {
        id: message.id(),
        future: Some(to.send(message)),
    }
}

impl<M: Counted> Future for Sending<'_, M> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<()> {
        let id = self.id;
        let Some(future) = &mut self.future else {
            return Poll::Ready(());
        };
        match Pin::new(future).poll(task) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Ok(())) => {
                count(Entry::Accepted);
            }
            Poll::Ready(Err(error)) => {
                giving_up(id, Entry::Refused, || drop(error));
            }
        }
        self.future = None;
        Poll::Ready(())
    }
}

impl<M: Counted> Drop for Sending<'_, M> {
    fn drop(&mut self) {
        let future = self.future.take();
        giving_up(self.id, Entry::Withdrawn, || drop(future));
    }
}

/// An `ask` that is counted, also when it is dropped on the way.
pub(crate) struct Asking<'a, M: Counted> {
    id: u64,
    future: Option<AskFuture<'a, M>>,
}

pub(crate) fn ask<T: Accepts<M>, M: Counted>(to: &ActorRef<T>, message: M, patience: Duration) -> Asking<'_, M> {
    let id = message.id();
    count(Entry::Asked);
    // The message is sent, or refused and dropped, within this call.
    let (future, refused) = giving_up(id, Entry::Refused, || to.ask(message).timeout(patience).into_future());
    if !refused {
        count(Entry::Accepted);
    }
    Asking {
        id,
        future: Some(future),
    }
}

impl<M: Counted> Future for Asking<'_, M> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<()> {
        let Some(future) = &mut self.future else {
            return Poll::Ready(());
        };
        let Poll::Ready(answer) = Pin::new(future).poll(task) else {
            return Poll::Pending;
        };
        if answer.as_ref().is_ok_and(|id| *id != self.id) {
            count(Entry::WrongAnswer);
        }
        count(match answer {
            Ok(_) => Entry::Answered,
            Err(AskError::Rejected(Declined)) => Entry::Rejected,
            Err(AskError::Failed(_)) => Entry::Failed,
            Err(AskError::NoReply) => Entry::NoReply,
            Err(AskError::Full) => Entry::Full,
            Err(AskError::Stopped) => Entry::Stopped,
            Err(AskError::Timeout { .. }) => Entry::TimedOut,
            Err(AskError::Cycle(_)) => Entry::Cycle,
            Err(_) => Entry::OtherAskError,
        });
        self.future = None;
        Poll::Ready(())
    }
}

impl<M: Counted> Drop for Asking<'_, M> {
    fn drop(&mut self) {
        if self.future.is_some() {
            count(Entry::GivenUp);
        }
    }
}
