//! Sending by a reference: to tell, to send, to ask, to forward.
//!
//! All of it comes down to [`post`]; what waits has a future of its own, [`SendFuture`] or
//! [`AskFuture`](super::ask::AskFuture).

use std::future::IntoFuture;

use super::actor_ref::ActorRef;
use super::ask::Ask;
use super::batch::AskAll;
use super::errors::{TellAllError, TellError};
use super::post::{envelope_from_here, post, post_at_once, post_within};
use super::reply_to::ReplyTo;
use super::send::SendFuture;
use super::target::{Accepts, Target};
use crate::actor::Message;
use crate::cell::CellRef;
use crate::dispatch::{Ending, Host};
use crate::mailbox::{MessageTable, Refusal};

impl<T: Target> ActorRef<T> {
    /// Sends a message and goes on. Never blocks, never waits.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// alice.tell(Deposit(5))?;
    /// assert_eq!(alice.ask(Balance).await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The message, if the actor has stopped or its mailbox is full.
    #[inline]
    pub fn tell<M: Message>(&self, message: M) -> Result<(), TellError<M>>
    where
        T: Accepts<M>,
    {
        tell(self.cell(), self.table_for::<M>(), message)
    }

    /// Sends several messages, in order. Stops at the first that is refused.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// alice.tell_all([Deposit(5), Deposit(6)])?;
    /// assert_eq!(alice.ask(Balance).await?, 11);
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The first message that was refused and all behind it; those before it were sent.
    pub fn tell_all<M: Message>(&self, messages: impl IntoIterator<Item = M>) -> Result<(), TellAllError<M>>
    where
        T: Accepts<M>,
    {
        let mut messages = messages.into_iter();
        while let Some(message) = messages.next() {
            if let Err(error) = self.tell(message) {
                let rest = messages.collect();
                return Err(TellAllError { error, rest });
            }
        }
        Ok(())
    }

    /// Sends a message, waiting for room in a bounded mailbox up to the system's `ask-timeout`.
    ///
    /// Cancel safe: dropped before it is ready, the message was not sent.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// alice.send(Deposit(5)).await?;
    /// assert_eq!(alice.ask(Balance).await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn send<M: Message>(&self, message: M) -> SendFuture<'_, M>
    where
        T: Accepts<M>,
    {
        SendFuture::new(self.cell(), self.table_for::<M>(), message)
    }

    /// Sends a message and waits for its answer.
    ///
    /// Cancel safe: dropping it cancels the ask; a message that was not begun is not handled.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let cents = alice.ask(Deposit(5)).await?;
    /// assert_eq!(cents, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[inline]
    pub fn ask<M: Message>(&self, message: M) -> Ask<'_, M>
    where
        T: Accepts<M>,
    {
        Ask::new(self.cell(), self.table_for::<M>(), message)
    }

    /// Asks several questions at once; the answers come in the same order.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let answers = alice.ask_all([Deposit(5), Deposit(6)]).await;
    /// let cents: Vec<i64> = answers.into_iter().flatten().collect();
    /// assert_eq!(cents, [5, 11]);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn ask_all<M: Message>(&self, messages: impl IntoIterator<Item = M>) -> AskAll<'_, M>
    where
        T: Accepts<M>,
    {
        AskAll::new(messages.into_iter().map(|message| self.ask(message).into_future()))
    }

    /// Sends a message whose answer goes to somebody who has asked before: "you answer this one".
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// /// Knows somebody who knows.
    /// struct Clerk(ActorRef<Account>);
    /// # impl Actor for Clerk {}
    /// impl Respond<Balance> for Clerk {
    ///     async fn respond(&mut self, balance: Balance, reply: ReplyTo<i64>, _: &mut Context<Self>) -> Result<(), Fault> {
    ///         self.0.forward(balance, reply).or_fault()
    ///     }
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let account = alice.clone();
    /// let clerk = system.spawn(move || Clerk(account.clone())).await?;
    /// alice.tell(Deposit(5))?;
    /// assert_eq!(clerk.ask(Balance).await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The message, if it was refused; the waiting asker hears why.
    pub fn forward<M: Message>(&self, message: M, reply: ReplyTo<M::Reply, M::Rejection>) -> Result<(), TellError<M>>
    where
        T: Accepts<M>,
    {
        let slot = reply.into_slot();
        let mut envelope = envelope_from_here(self.cell());
        envelope.reply = slot;
        let sent = post(self.cell(), self.table_for::<M>(), envelope, message);
        finish_tell(self.cell(), sent).inspect_err(|error| {
            let reply = ReplyTo::<M::Reply, M::Rejection>::from_slot(slot);
            let ending = if error.is_full() { Ending::Full } else { Ending::Stopped };
            Host::with(|host| host.with_ending(ending, || drop(reply)));
        })
    }
}

#[inline]
pub(super) fn tell<M: Message>(cell: &CellRef, table: &'static MessageTable, message: M) -> Result<(), TellError<M>> {
    match post_at_once(cell, table, message) {
        Ok(()) => {
            if cell.state.mail() {
                cell.schedule();
            }
            Ok(())
        }
        Err(message) => tell_otherwise(cell, table, message),
    }
}

#[inline(never)]
fn tell_otherwise<M: Message>(cell: &CellRef, table: &'static MessageTable, message: M) -> Result<(), TellError<M>> {
    let mut message = Some(message);
    if let Some(bound) = cell.lone_bound() {
        // Nobody who tells waits.
        let take = || match message.take() {
            Some(message) => message,
            None => unreachable!("put there just before"),
        };
        if post_within(cell, bound, table, take) {
            return finish_tell(cell, Ok(()));
        }
    }
    let Some(message) = message else {
        unreachable!("it was not sent")
    };
    let sent = post(cell, table, envelope_from_here(cell), message);
    finish_tell(cell, sent)
}

#[inline]
fn finish_tell<M: Message>(cell: &CellRef, sent: Result<(), (Refusal, M)>) -> Result<(), TellError<M>> {
    match sent {
        Ok(()) => {
            if cell.state.mail() {
                cell.schedule();
            }
            Ok(())
        }
        Err((refusal, message)) => {
            cell.system().count_refused();
            Err(TellError::new(refusal, message))
        }
    }
}
