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
/// # use std::convert::Infallible;
/// # use volary_core::*;
/// # struct Account { open: bool } impl Actor for Account {}
/// # struct Deposit(u64); impl Message for Deposit { type Reply = u64; type Rejection = Infallible; }
/// impl SyncHandler<Deposit> for Account {
///     fn handle(&mut self, deposit: Deposit, ctx: &mut Context<Self>) -> Result<u64, Failure> {
///         if !self.open {
///             return Err(ctx.stash(deposit).map_err(Fault::from)?.into()); // crashes if the stash is full
///         }
///         Ok(deposit.0)
///     }
/// }
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
    /// # use volary_core::*;
    /// # fn f<A: Actor + Respond<M>, M: Message>(
    /// #   ctx: &mut Context<A>, message: M, reply: ReplyTo<M::Reply, M::Rejection>) -> Result<(), Fault> {
    /// ctx.stash_with(message, reply)?;
    /// # Ok(()) }
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
