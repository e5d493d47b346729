//! Putting messages aside until the actor can handle them.

use std::fmt;

use super::context::Context;
use super::fault::{Failure, Fault};
use super::message::{Message, Rejection};
use super::traits::{Actor, Respond};
use crate::cell::{CellRef, message_table};
use crate::reference::ReplyTo;

/// A message was put aside. Returned as a [`Failure`], it leaves the asker waiting for the answer to come.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// fn closed(_: &mut Account, deposit: Deposit, ctx: &mut Context<Account>) -> Result<i64, Failure> {
///     Err(ctx.stash(deposit).map_err(Fault::from)?.into()) // crashes if the stash is full
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// # inside(&alice, |ctx| {
/// ctx.becomes(closed);
/// # Ok(()) }).await?;
/// let deposit = alice.ask(Deposit(5)).into_future(); // waits
/// # alice.ask(Balance).await?;
/// # inside(&alice, |ctx| {
/// ctx.unbecome::<Deposit>();
/// ctx.unstash_all();
/// # Ok(()) }).await?;
/// assert_eq!(deposit.await?, 5);
/// # system.stop().await?; Ok(()) }
/// ```
#[must_use = "return it as a `Failure`, or the asker is answered now"]
pub struct Stashed {
    cell: CellRef,
    number: u64,
}

impl Stashed {
    /// The asker waits for the message that was put aside.
    pub(crate) fn keep<T: Send + 'static, R: Rejection>(self, reply: ReplyTo<T, R>) {
        let Some(slot) = reply.into_slot() else { return };
        if !self.cell.attach(self.number, slot) {
            drop(ReplyTo::<T, R>::from_slot(Some(slot))); // taken back meanwhile: nobody answers
        }
    }
}

impl fmt::Debug for Stashed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stashed")
    }
}

impl<R> From<Stashed> for Failure<R> {
    fn from(stashed: Stashed) -> Self {
        Failure::Stashed(stashed)
    }
}

/// The stash is full; here is the message.
///
/// ```
/// let full = volary_core::StashFull(7);
/// assert_eq!(full.to_string(), "the stash is full");
/// assert_eq!(full.0, 7);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct StashFull<M>(pub M);

impl<M> fmt::Debug for StashFull<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StashFull({})", std::any::type_name::<M>())
    }
}

impl<M> fmt::Display for StashFull<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the stash is full")
    }
}

impl<M> std::error::Error for StashFull<M> {}

impl<M> From<StashFull<M>> for Fault {
    fn from(full: StashFull<M>) -> Self {
        Fault::msg(full.to_string())
    }
}

impl<A: Actor> Context<A> {
    /// Puts a message aside, the one at hand or any other that this actor handles. Whoever asked goes on waiting
    /// if the [`Stashed`] is returned as a [`Failure`].
    ///
    /// What is put aside comes back by [`unstash`](Context::unstash) or [`unstash_all`](Context::unstash_all), and
    /// before the mailbox when the actor restarts; when it ends it becomes dead letters.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// let _stashed = ctx.stash(Deposit(5))?;
    /// assert_eq!(ctx.stashed(), 1);
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The message, if the stash is full: 1,024 messages, or what [`Props::stash`](crate::Props::stash) says.
    pub fn stash<M: Message>(&mut self, message: M) -> Result<Stashed, StashFull<M>>
    where
        A: Respond<M>,
    {
        let cell = self.here();
        let number = cell
            .stash(message_table::<A, M>(), self.envelope(), message)
            .map_err(StashFull)?;
        Ok(Stashed {
            cell: cell.to_ref(),
            number,
        })
    }

    /// Puts a message aside together with its asker: for handlers of the trait [`Respond`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// struct Audit;
    /// # impl Message for Audit { type Reply = i64; type Rejection = Infallible; }
    /// impl Respond<Audit> for Account {
    ///     async fn respond(&mut self, audit: Audit, reply: ReplyTo<i64>, ctx: &mut Context<Self>) -> Result<(), Fault> {
    ///         match self.cents {
    ///             0 => ctx.stash_with(audit, reply)?, // until there is something
    ///             cents => reply.send(cents),
    ///         }
    ///         Ok(())
    ///     }
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let audit = alice.ask(Audit).into_future(); // waits
    /// alice.ask(Deposit(5)).await?;
    /// # inside(&alice, |ctx| {
    /// ctx.unstash_all();
    /// # Ok(()) }).await?;
    /// assert_eq!(audit.await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The message, if the stash is full; the asker hears `NoReply`.
    pub fn stash_with<M: Message>(
        &mut self,
        message: M,
        reply: ReplyTo<M::Reply, M::Rejection>,
    ) -> Result<(), StashFull<M>>
    where
        A: Respond<M>,
    {
        self.stash(message)?.keep(reply);
        Ok(())
    }

    /// Takes back the oldest message; it is handled next. False: there is none.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// let _stashed = ctx.stash(Deposit(5))?;
    /// assert!(ctx.unstash());
    /// assert!(!ctx.unstash(), "there was one");
    /// # Ok(()) }).await?;
    /// assert_eq!(alice.ask(Balance).await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn unstash(&mut self) -> bool {
        self.here().unstash(1) == 1
    }

    /// Takes back all messages, in the order in which they were put aside; they are handled before the mailbox.
    /// Returns how many there were.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// let _stashed = [ctx.stash(Deposit(5))?, ctx.stash(Deposit(6))?];
    /// assert_eq!(ctx.unstash_all(), 2);
    /// # Ok(()) }).await?;
    /// assert_eq!(alice.ask(Balance).await?, 11);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn unstash_all(&mut self) -> usize {
        self.here().unstash(usize::MAX)
    }

    /// How many messages are put aside.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// assert_eq!(ctx.stashed(), 0);
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn stashed(&self) -> usize {
        self.here().stashed()
    }
}
