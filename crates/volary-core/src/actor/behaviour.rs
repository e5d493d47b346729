//! Behaviours: functions that take the place of a handler for a while.
//!
//! They are functions, not closures: a behaviour is known by its type alone, so switching allocates nothing
//! for it, and its future lives where a handler's does.

use std::fmt;
use std::future::Future;

use super::answer::Answering;
use super::context::Context;
use super::fault::{Failure, Fault};
use super::message::Message;
use super::traits::{Actor, Respond};
use crate::events::DeadReason;
use crate::reference::ReplyTo;

/// A plain function of actor, message and context.
#[doc(hidden)]
#[derive(Debug)]
pub struct Plain;

/// An `async fn` of actor, message and context.
#[doc(hidden)]
#[derive(Debug)]
pub struct Awaiting;

/// An `async fn` of actor, message, [`ReplyTo`] and context.
#[doc(hidden)]
#[derive(Debug)]
pub struct Replying;

/// A function that handles `M` in the place of the actor's handler; see [`Context::becomes`].
///
/// Implemented for functions of three shapes: `fn(&mut A, M, &mut Context<A>) -> Result<Reply, Failure<Rejection>>`,
/// the same as `async fn`, and an `async fn` that is given the [`ReplyTo`] before the context and returns
/// `Result<(), Fault>`. `Shape` says which of them it is, and is always inferred.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// fn frozen(_: &mut Account, _: Deposit, _: &mut Context<Account>) -> Result<i64, Failure> {
///     Ok(0)
/// }
/// async fn thawed(account: &mut Account, deposit: Deposit, ctx: &mut Context<Account>) -> Result<i64, Failure> {
///     SyncHandler::handle(account, deposit, ctx)
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// # inside(&alice, |ctx| {
/// ctx.becomes(frozen);
/// # Ok(()) }).await?;
/// assert_eq!(alice.ask(Deposit(5)).await?, 0);
/// # inside(&alice, |ctx| {
/// ctx.becomes(thawed);
/// # Ok(()) }).await?;
/// assert_eq!(alice.ask(Deposit(5)).await?, 5);
/// # system.stop().await?; Ok(()) }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot handle `{M}` for `{A}`",
    label = "not a behaviour of `{A}` for `{M}`",
    note = "a behaviour is `fn(&mut {A}, {M}, &mut Context<{A}>) -> Result<Reply, Failure<Rejection>>`, or such an `async fn`"
)]
pub trait Behaviour<A: Actor, M: Message, Shape>: Copy + Send + Sync + 'static {
    #[doc(hidden)]
    const IMMEDIATE: bool = false;

    #[doc(hidden)]
    fn now(self, actor: &mut A, message: M, ctx: &mut Context<A>) -> Result<M::Reply, Failure<M::Rejection>> {
        let _ = (actor, message, ctx);
        unreachable!("only called where IMMEDIATE says so")
    }

    #[doc(hidden)]
    fn later<'a>(
        self,
        actor: &'a mut A,
        message: M,
        reply: ReplyTo<M::Reply, M::Rejection>,
        ctx: &'a mut Context<A>,
    ) -> impl Future<Output = Result<(), Fault>> + Send + 'a;
}

impl<A: Actor, M: Message, F> Behaviour<A, M, Plain> for F
where
    F: Fn(&mut A, M, &mut Context<A>) -> Result<M::Reply, Failure<M::Rejection>> + Copy + Send + Sync + 'static,
{
    const IMMEDIATE: bool = true;

    fn now(self, actor: &mut A, message: M, ctx: &mut Context<A>) -> Result<M::Reply, Failure<M::Rejection>> {
        self(actor, message, ctx)
    }

    fn later<'a>(
        self,
        actor: &'a mut A,
        message: M,
        reply: ReplyTo<M::Reply, M::Rejection>,
        ctx: &'a mut Context<A>,
    ) -> impl Future<Output = Result<(), Fault>> + Send + 'a {
        Answering::new(std::future::ready(self(actor, message, ctx)), reply)
    }
}

/// An `async fn` seen for one lifetime, which is the only way to say that its future is `Send`.
#[doc(hidden)]
pub trait Flow<'a, A: 'a, M: Message>: Fn(&'a mut A, M, &'a mut Context<A>) -> Self::Future {
    type Future: Future<Output = Result<M::Reply, Failure<M::Rejection>>> + Send + 'a;
}

impl<'a, A, M, F, U> Flow<'a, A, M> for F
where
    A: 'a,
    M: Message,
    F: Fn(&'a mut A, M, &'a mut Context<A>) -> U,
    U: Future<Output = Result<M::Reply, Failure<M::Rejection>>> + Send + 'a,
{
    type Future = U;
}

impl<A: Actor, M: Message, F> Behaviour<A, M, Awaiting> for F
where
    F: for<'a> Flow<'a, A, M> + Copy + Send + Sync + 'static,
{
    fn later<'a>(
        self,
        actor: &'a mut A,
        message: M,
        reply: ReplyTo<M::Reply, M::Rejection>,
        ctx: &'a mut Context<A>,
    ) -> impl Future<Output = Result<(), Fault>> + Send + 'a {
        Answering::new(self(actor, message, ctx), reply)
    }
}

/// As [`Flow`], with the place of the answer.
#[doc(hidden)]
pub trait ReplyFlow<'a, A: 'a, M: Message>:
    Fn(&'a mut A, M, ReplyTo<M::Reply, M::Rejection>, &'a mut Context<A>) -> Self::Future
{
    type Future: Future<Output = Result<(), Fault>> + Send + 'a;
}

impl<'a, A, M, F, U> ReplyFlow<'a, A, M> for F
where
    A: 'a,
    M: Message,
    F: Fn(&'a mut A, M, ReplyTo<M::Reply, M::Rejection>, &'a mut Context<A>) -> U,
    U: Future<Output = Result<(), Fault>> + Send + 'a,
{
    type Future = U;
}

impl<A: Actor, M: Message, F> Behaviour<A, M, Replying> for F
where
    F: for<'a> ReplyFlow<'a, A, M> + Copy + Send + Sync + 'static,
{
    fn later<'a>(
        self,
        actor: &'a mut A,
        message: M,
        reply: ReplyTo<M::Reply, M::Rejection>,
        ctx: &'a mut Context<A>,
    ) -> impl Future<Output = Result<(), Fault>> + Send + 'a {
        self(actor, message, reply, ctx)
    }
}

/// A message was not handled, and published as such. Returned as a [`Failure`], it ends the ask with
/// [`NoReply`](crate::AskError::NoReply).
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// fn broken(_: &mut Account, deposit: Deposit, ctx: &mut Context<Account>) -> Result<i64, Failure> {
///     Err(ctx.unhandled(deposit).into())
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// # inside(&alice, |ctx| {
/// ctx.becomes(broken);
/// # Ok(()) }).await?;
/// assert!(matches!(alice.ask(Deposit(5)).await, Err(AskError::NoReply)));
/// # system.stop().await?; Ok(()) }
/// ```
#[must_use = "return it as a `Failure`, or the asker is answered"]
#[derive(Debug)]
pub struct Unhandled(());

impl<R> From<Unhandled> for Failure<R> {
    fn from(unhandled: Unhandled) -> Self {
        Failure::Unhandled(unhandled)
    }
}

impl fmt::Display for Unhandled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the actor did not handle the message")
    }
}

impl<A: Actor> Context<A> {
    /// From the next message on, `behaviour` handles `M` in the place of whatever handled it so far, for this
    /// incarnation of the actor. Other messages go where they went.
    ///
    /// ```
    /// use volary_core::*;
    /// # use std::convert::Infallible;
    /// struct Door { knocks: u32 }
    /// impl Actor for Door {}
    ///
    /// struct Lock;
    /// # impl Message for Lock { type Reply = (); type Rejection = Infallible; }
    /// struct Knock;
    /// # impl Message for Knock { type Reply = &'static str; type Rejection = Infallible; }
    ///
    /// impl SyncHandler<Knock> for Door {
    ///     fn handle(&mut self, _: Knock, _: &mut Context<Self>) -> Result<&'static str, Failure> {
    ///         Ok("come in")
    ///     }
    /// }
    ///
    /// async fn locked(door: &mut Door, _: Knock, ctx: &mut Context<Door>) -> Result<&'static str, Failure> {
    ///     door.knocks += 1;
    ///     if door.knocks == 2 {
    ///         ctx.unbecome::<Knock>();
    ///     }
    ///     Ok("go away")
    /// }
    ///
    /// impl SyncHandler<Lock> for Door {
    ///     fn handle(&mut self, _: Lock, ctx: &mut Context<Self>) -> Result<(), Failure> {
    ///         ctx.becomes(locked);
    ///         Ok(())
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let system = ActorSystem::builder("house").start().await?;
    /// let door = system.spawn(|| Door { knocks: 0 }).await?;
    /// assert_eq!(door.ask(Knock).await?, "come in");
    /// door.tell(Lock)?;
    /// assert_eq!(door.ask(Knock).await?, "go away");
    /// assert_eq!(door.ask(Knock).await?, "go away");
    /// assert_eq!(door.ask(Knock).await?, "come in");
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn becomes<M: Message, Shape: 'static>(&mut self, behaviour: impl Behaviour<A, M, Shape>)
    where
        A: Respond<M>,
    {
        self.here().becomes(behaviour, false);
    }

    /// As [`becomes`](Context::becomes), on top of what handles `M` now: that is back after
    /// [`unbecome_stacked`](Context::unbecome_stacked).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// fn closed(_: &mut Account, _: Deposit, ctx: &mut Context<Account>) -> Result<i64, Failure> {
    ///     ctx.unbecome_stacked::<Deposit>(); // this one opened it
    ///     Ok(0)
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// ctx.becomes_stacked(closed);
    /// # Ok(()) }).await?;
    /// assert_eq!(alice.ask(Deposit(5)).await?, 0);
    /// assert_eq!(alice.ask(Deposit(5)).await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn becomes_stacked<M: Message, Shape: 'static>(&mut self, behaviour: impl Behaviour<A, M, Shape>)
    where
        A: Respond<M>,
    {
        self.here().becomes(behaviour, true);
    }

    /// Takes off the behaviour that was put on last for `M`. False: the actor's own handler was in place.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// assert!(!ctx.unbecome_stacked::<Deposit>(), "it is as it was");
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn unbecome_stacked<M: Message>(&mut self) -> bool {
        self.here().unbecome::<M>(false)
    }

    /// Takes off all behaviours for `M`: the actor's own handler is back. False: it was in place.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// assert!(!ctx.unbecome::<Deposit>(), "it is as it was");
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn unbecome<M: Message>(&mut self) -> bool {
        self.here().unbecome::<M>(true)
    }

    /// Takes off all behaviours for all messages.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// ctx.becomes(unhandled::<Account, Deposit>);
    /// ctx.unbecome_all();
    /// assert_eq!(ctx.behaviours::<Deposit>(), 0);
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn unbecome_all(&mut self) {
        self.here().unbecome_all();
    }

    /// How many behaviours are stacked for `M`; 0: the actor's own handler is in place.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// assert_eq!(ctx.behaviours::<Deposit>(), 0, "its own handler");
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn behaviours<M: Message>(&self) -> usize {
        self.here().behaviours::<M>()
    }

    /// Says that this actor does not handle the message, as it is now: a dead letter tells of it
    /// ([`DeadReason::Unhandled`]), and the asker hears [`NoReply`](crate::AskError::NoReply) if the [`Unhandled`] is
    /// returned.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let letters = system.events().subscribe::<DeadLetter>();
    /// # inside(&alice, |ctx| {
    /// let _unhandled = ctx.unhandled(Deposit(5));
    /// # Ok(()) }).await?;
    /// assert_eq!(letters.next().await?.reason(), DeadReason::Unhandled);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn unhandled<M: Message>(&mut self, message: M) -> Unhandled {
        let cell = self.here();
        cell.system()
            .dead_letter(cell, self.sender_id(), DeadReason::Unhandled, message);
        Unhandled(())
    }
}

/// A behaviour that handles nothing: `M` is [unhandled](Context::unhandled) while it is in place.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// # inside(&alice, |ctx| {
/// ctx.becomes(unhandled::<Account, Deposit>);
/// # Ok(()) }).await?;
/// assert!(alice.ask(Deposit(5)).await.is_err());
/// # system.stop().await?; Ok(()) }
/// ```
///
/// # Errors
/// Always [`Failure::Unhandled`].
pub fn unhandled<A: Actor, M: Message>(
    _: &mut A,
    message: M,
    ctx: &mut Context<A>,
) -> Result<M::Reply, Failure<M::Rejection>> {
    Err(ctx.unhandled(message).into())
}
