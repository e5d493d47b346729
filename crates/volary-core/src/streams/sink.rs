//! An actor as the end of somebody's stream.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_sink::Sink;

use crate::actor::Message;
use crate::mailbox::Refusal;
use crate::reference::{Accepts, ActorRef, Recipient, SendError, Target, TellError};

impl<T: Target> ActorRef<T> {
    /// The actor as a [`Sink`]: elements are sent as [`send`](ActorRef::send) does, waiting for room in a bounded
    /// mailbox. Closing it does not stop the actor. An element that waits for room when the sink is dropped was not sent,
    /// as one of a `send` that is given up: flush or close it first.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/feed.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let sink: ActorSink<Deposit> = alice.clone().into_sink();
    /// // deposits.map(Ok).forward(sink).await?
    /// # feed(sink, Deposit(5)).await?;
    /// # assert_eq!(alice.ask(Balance).await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn into_sink<M: Message>(self) -> ActorSink<M>
    where
        T: Accepts<M>,
    {
        ActorSink::new(self.recipient())
    }
}

impl<M: Message> Recipient<M> {
    /// As [`ActorRef::into_sink`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/feed.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let sink: ActorSink<Deposit> = alice.recipient().into_sink();
    /// // deposits.map(Ok).forward(sink).await?
    /// # feed(sink, Deposit(5)).await?;
    /// # assert_eq!(alice.ask(Balance).await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn into_sink(self) -> ActorSink<M> {
        ActorSink::new(self)
    }
}

type Sending<M> = Pin<Box<dyn Future<Output = Result<(), SendError<M>>> + Send>>;

/// A [`Sink`] that sends what it is given to an actor, with backpressure; see [`ActorRef::into_sink`].
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/feed.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let sink: ActorSink<Deposit> = alice.clone().into_sink();
/// // deposits.map(Ok).forward(sink).await?
/// # feed(sink, Deposit(5)).await?;
/// # assert_eq!(alice.ask(Balance).await?, 5);
/// # system.stop().await?; Ok(()) }
/// ```
#[must_use = "a sink does nothing unless it is fed"]
pub struct ActorSink<M: Message> {
    to: Recipient<M>,
    /// The message for which there was no room.
    sending: Option<Sending<M>>,
}

impl<M: Message> ActorSink<M> {
    fn new(to: Recipient<M>) -> Self {
        ActorSink { to, sending: None }
    }

    fn poll_sent(&mut self, task: &mut Context<'_>) -> Poll<Result<(), SendError<M>>> {
        let Some(sending) = &mut self.sending else {
            return Poll::Ready(Ok(()));
        };
        let sent = ready!(sending.as_mut().poll(task));
        self.sending = None;
        Poll::Ready(sent)
    }
}

impl<M: Message> Sink<M> for ActorSink<M> {
    type Error = SendError<M>;

    fn poll_ready(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Result<(), SendError<M>>> {
        self.get_mut().poll_sent(task)
    }

    fn start_send(mut self: Pin<&mut Self>, message: M) -> Result<(), SendError<M>> {
        if self.sending.is_some() {
            return Err(SendError::Refused(TellError::Full(message))); // it was not ready
        }
        match self.to.attempt(message) {
            Ok(()) => Ok(()),
            Err((Refusal::Full, message)) => {
                let to = self.to.clone();
                self.sending = Some(Box::pin(async move { to.send(message).await }));
                Ok(())
            }
            Err((refusal, message)) => {
                self.to.cell().system().count_refused();
                Err(SendError::Refused(TellError::new(refusal, message)))
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Result<(), SendError<M>>> {
        self.get_mut().poll_sent(task)
    }

    fn poll_close(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Result<(), SendError<M>>> {
        self.get_mut().poll_sent(task)
    }
}

impl<M: Message> fmt::Debug for ActorSink<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ActorSink")
            .field("to", &self.to)
            .field("waits", &self.sending.is_some())
            .finish()
    }
}
