//! Asks with a deadline: each ends once, in time, and what the asker hears is true.

use std::future::{IntoFuture, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use volary::{Accepts, ActorRef, ActorSystem, AskError, Message};

use super::super::LATEST;
use super::{Books, Paper};

/// An ask that is to be made.
pub(in super::super) struct Question<M> {
    pub(in super::super) life: usize,
    pub(in super::super) id: u64,
    /// What is to be answered.
    pub(in super::super) number: u64,
    pub(in super::super) message: M,
    pub(in super::super) patience: Duration,
}

impl Paper {
    /// Asks somebody elsewhere, and writes down what came of it.
    pub(in super::super) async fn ask<T, M>(self, system: ActorSystem, who: ActorRef<T>, question: Question<M>)
    where
        T: Accepts<M>,
        M: Message<Reply = u64>,
    {
        let Question { life, id, number, .. } = question;
        self.open().lives[life].asks.begun += 1;
        let deadline = system.now() + question.patience;
        let mut asking = pin!(who.ask(question.message).timeout(question.patience).into_future());
        // It is on its way before anybody waits, or refused at once.
        let first = poll_fn(|task| Poll::Ready(asking.as_mut().poll(task))).await;
        if first.is_pending() {
            self.open().taken(id);
        }
        let answer = match first {
            Poll::Ready(answer) => answer,
            Poll::Pending => asking.await,
        };
        let late = system.now().since(deadline);
        let mut books = self.open();
        books.lives[life].asks.ended += 1;
        books.check_answer(id, number, answer);
        if late > LATEST {
            books.wrong(format!("an ask ends {late:?} after its deadline"));
        }
    }
}

impl Books {
    fn check_answer<R: volary::Rejection>(&mut self, id: u64, number: u64, answer: Result<u64, AskError<R>>) {
        match answer {
            Ok(answered) if answered != number || !self.was_handled(id) => {
                self.wrong(format!("message {id} has the answer {answered} of another"));
            }
            Err(AskError::Remote(error)) if error.is_certainly_not_handled() => self.never(id, error.to_string()),
            Err(error @ (AskError::Full | AskError::Stopped | AskError::Refused { .. })) => {
                self.never(id, error.to_string());
            }
            // It is not known: the deadline was over, or the connection gone.
            Ok(_) | Err(_) => {}
        }
    }
}
