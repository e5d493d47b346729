//! What has come to a probe and was not looked at yet.
//!
//! The actor puts messages in, the test takes them out. One queue holds messages of all types, so that their order is
//! that of the mailbox.

use std::any::{Any, TypeId};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use volary::{Message, ReplyTo};

use crate::sim::short;

/// A message and the right to answer it, with their types forgotten.
pub(super) struct Arrival {
    pub(super) message: Box<dyn Any + Send>,
    /// A `ReplyTo` of the message's own types.
    pub(super) reply: Box<dyn Any + Send>,
    pub(super) type_name: &'static str,
}

impl Arrival {
    pub(super) fn new<M: Message>(message: M, reply: ReplyTo<M::Reply, M::Rejection>) -> Self {
        Arrival {
            message: Box::new(message),
            reply: Box::new(reply),
            type_name: short(std::any::type_name::<M>()),
        }
    }
}

/// How a message is shown.
pub(super) type Show = fn(&dyn Any) -> Option<String>;

/// Shows a message as its `Debug` does.
pub(super) fn show<M: fmt::Debug + 'static>(message: &dyn Any) -> Option<String> {
    let message = message.downcast_ref::<M>()?;
    // The text of a failure is not the place for a second one.
    catch_unwind(AssertUnwindSafe(|| format!("{message:?}"))).ok()
}

#[derive(Default)]
pub(super) struct Arrivals {
    queue: Mutex<Queue>,
    /// For the types that can be shown; others are named.
    shows: BTreeMap<TypeId, Show>,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Arrival>,
    waker: Option<Waker>,
}

impl Arrivals {
    pub(super) fn new(shows: BTreeMap<TypeId, Show>) -> Self {
        Arrivals {
            queue: Mutex::default(),
            shows,
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn put(&self, arrival: Arrival) {
        let waker = {
            let queue = &mut *self.queue();
            queue.waiting.push_back(arrival);
            queue.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// The oldest, or a promise to wake when there is one.
    pub(super) fn take(&self, waker: &Waker) -> Option<Arrival> {
        let waker = waker.clone();
        let mut queue = self.queue();
        let oldest = queue.waiting.pop_front();
        let before = match oldest {
            Some(_) => queue.waker.take(),
            None => queue.waker.replace(waker),
        };
        drop(queue);
        drop(before);
        oldest
    }

    pub(super) fn show(&self, arrival: &Arrival) -> String {
        let show = self.shows.get(&(*arrival.message).type_id());
        show.and_then(|show| show(&*arrival.message))
            .unwrap_or_else(|| arrival.type_name.to_owned())
    }

    /// What waits, in order, as text. Empties the queue: whoever asks is about to fail.
    pub(super) fn show_rest(&self) -> Vec<String> {
        let rest = std::mem::take(&mut self.queue().waiting);
        rest.iter().map(|arrival| self.show(arrival)).collect()
    }
}
