//! The traits beneath `#[actor]`: an actor, and the three ways to handle a message.
//!
//! [`SyncHandler`] is for handlers that never wait and costs no future; [`Handler`] is the usual
//! `async fn`; [`Respond`] hands over the [`ReplyTo`], to answer later or to let somebody else
//! answer. Each is a blanket case of the next, so a message is handled in exactly one way.

use std::future::Future;

use super::answer::Answering;
use super::context::Context;
use super::fault::{Failure, Fault};
use super::message::Message;
use crate::reference::ReplyTo;

/// A unit of state with a mailbox, run by one thread at a time.
///
/// All methods have defaults. `#[actor]` writes this impl, taking hooks from methods that bear
/// their names.
///
/// ```
/// use volary_core::{Actor, Context, Fault};
/// # use volary_core::ActorSystem;
///
/// struct Session { log: Vec<&'static str> }
///
/// impl Actor for Session {
///     async fn started(&mut self, _ctx: &mut Context<Self>) -> Result<(), Fault> {
///         self.log.push("hello");
///         Ok(())
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let system = ActorSystem::builder("doc").start().await?;
/// let session = system.spawn(|| Session { log: Vec::new() }).await?; // it has started
/// # assert!(session.status().running);
/// # system.stop().await?; Ok(()) }
/// ```
pub trait Actor: Sized + Send + 'static {
    /// Runs before the first message. An error fails the start, which is retried as configured.
    fn started(&mut self, ctx: &mut Context<Self>) -> impl Future<Output = Result<(), Fault>> + Send {
        let _ = ctx;
        std::future::ready(Ok(()))
    }

    /// Runs when the actor is asked to stop, before its children stop. It takes no new ones any more.
    fn stopping(&mut self, ctx: &mut Context<Self>) -> impl Future<Output = Result<(), Fault>> + Send {
        let _ = ctx;
        std::future::ready(Ok(()))
    }

    /// Runs exactly once, after the last message and after all children have stopped.
    fn stopped(&mut self, ctx: &mut Context<Self>) -> impl Future<Output = Result<(), Fault>> + Send {
        let _ = ctx;
        std::future::ready(Ok(()))
    }

    /// Lists the messages that can reach this actor by address alone, through a
    /// [`Recipient`](crate::Recipient). `#[actor]` fills it in.
    ///
    /// ```
    /// use std::convert::Infallible;
    /// use volary_core::{Actor, Context, Failure, Message, MessageList, SyncHandler};
    /// # use volary_core::ActorSystem;
    ///
    /// struct Lamp;
    /// struct Toggle;
    /// impl Message for Toggle { type Reply = (); type Rejection = Infallible; }
    /// impl Actor for Lamp {
    ///     fn messages(list: &mut MessageList<Self>) { list.add::<Toggle>(); }
    /// }
    /// impl SyncHandler<Toggle> for Lamp {
    ///     fn handle(&mut self, _: Toggle, _: &mut Context<Self>) -> Result<(), Failure> { Ok(()) }
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let system = ActorSystem::builder("doc").start().await?;
    /// system.spawn(|| Lamp).named("lamp").await?;
    /// assert!(system.recipient::<Toggle>("/user/lamp").is_some());
    /// # system.stop().await?; Ok(()) }
    /// ```
    fn messages(list: &mut crate::cell::MessageList<Self>) {
        let _ = list;
    }
}

/// Handles `M` in an `async fn`.
///
/// The future lives in a block lent by the worker, so it is not boxed; if it never suspends,
/// nothing is allocated at all. While it is suspended no other message of this actor runs.
///
/// ```
/// use std::convert::Infallible;
/// use volary_core::{Actor, Context, Failure, Handler, Message};
/// # use volary_core::ActorSystem;
///
/// struct Echo;
/// impl Actor for Echo {}
///
/// struct Say(String);
/// impl Message for Say { type Reply = String; type Rejection = Infallible; }
///
/// impl Handler<Say> for Echo {
///     async fn handle(&mut self, say: Say, _: &mut Context<Self>) -> Result<String, Failure> {
///         Ok(say.0)
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let system = ActorSystem::builder("doc").start().await?;
/// # let echo = system.spawn(|| Echo).await?;
/// assert_eq!(echo.ask(Say("hello".to_owned())).await?, "hello");
/// # system.stop().await?; Ok(()) }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not handle the message `{M}`",
    label = "no handler for `{M}`",
    note = "write a method for it in the `#[actor]` block of `{Self}`, or implement `Handler<{M}>`"
)]
pub trait Handler<M: Message>: Actor {
    /// Handles one message and answers it.
    fn handle(
        &mut self,
        message: M,
        ctx: &mut Context<Self>,
    ) -> impl Future<Output = Result<M::Reply, Failure<M::Rejection>>> + Send;

    /// Set by [`SyncHandler`]: the handler ends within the call.
    #[doc(hidden)]
    const IMMEDIATE: bool = false;

    #[doc(hidden)]
    fn handle_now(&mut self, message: M, ctx: &mut Context<Self>) -> Result<M::Reply, Failure<M::Rejection>> {
        let _ = (message, ctx);
        unreachable!("only called where IMMEDIATE says so")
    }
}

/// Handles `M` in a plain `fn`: no future, no state machine.
///
/// ```
/// use std::convert::Infallible;
/// use volary_core::{Actor, Context, Failure, Message, SyncHandler};
/// # use volary_core::ActorSystem;
///
/// struct Counter(u64);
/// impl Actor for Counter {}
///
/// struct Add(u64);
/// impl Message for Add { type Reply = u64; type Rejection = Infallible; }
///
/// impl SyncHandler<Add> for Counter {
///     fn handle(&mut self, add: Add, _: &mut Context<Self>) -> Result<u64, Failure> {
///         self.0 += add.0;
///         Ok(self.0)
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let system = ActorSystem::builder("doc").start().await?;
/// # let counter = system.spawn(|| Counter(0)).await?;
/// assert_eq!(counter.ask(Add(3)).await?, 3);
/// # system.stop().await?; Ok(()) }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not handle the message `{M}`",
    label = "no handler for `{M}`",
    note = "write a method for it in the `#[actor]` block of `{Self}`, or implement `Handler<{M}>`"
)]
pub trait SyncHandler<M: Message>: Actor {
    /// Handles one message and answers it.
    ///
    /// # Errors
    /// A rejection goes to the asker, a fault to the supervisor.
    fn handle(&mut self, message: M, ctx: &mut Context<Self>) -> Result<M::Reply, Failure<M::Rejection>>;
}

impl<A: SyncHandler<M>, M: Message> Handler<M> for A {
    const IMMEDIATE: bool = true;

    async fn handle(&mut self, message: M, ctx: &mut Context<Self>) -> Result<M::Reply, Failure<M::Rejection>> {
        SyncHandler::handle(self, message, ctx)
    }

    fn handle_now(&mut self, message: M, ctx: &mut Context<Self>) -> Result<M::Reply, Failure<M::Rejection>> {
        SyncHandler::handle(self, message, ctx)
    }
}

/// Handles `M` and answers when, or through whom, it likes.
///
/// Keep the [`ReplyTo`] in your state, move it into a task, or hand it on with
/// [`ActorRef::forward`](crate::ActorRef::forward). Dropped unused it ends the ask with
/// [`AskError::NoReply`](crate::AskError::NoReply).
///
/// ```
/// use std::convert::Infallible;
/// use volary_core::{Actor, Context, Fault, Message, ReplyTo, Respond};
/// # use volary_core::ActorSystem;
///
/// struct Gate { waiting: Vec<ReplyTo<()>> }
/// impl Actor for Gate {}
///
/// struct Pass;
/// impl Message for Pass { type Reply = (); type Rejection = Infallible; }
///
/// impl Respond<Pass> for Gate {
///     async fn respond(&mut self, _: Pass, reply: ReplyTo<()>, _: &mut Context<Self>) -> Result<(), Fault> {
///         self.waiting.push(reply); // answered when two are there
///         if self.waiting.len() == 2 {
///             self.waiting.drain(..).for_each(|reply| reply.send(()));
///         }
///         Ok(())
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let system = ActorSystem::builder("doc").start().await?;
/// # let gate = system.spawn(|| Gate { waiting: Vec::new() }).await?;
/// let answers = gate.ask_all([Pass, Pass]).await;
/// assert!(answers.iter().all(|answer| answer.is_ok()));
/// # system.stop().await?; Ok(()) }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not handle the message `{M}`",
    label = "no handler for `{M}`",
    note = "write a method for it in the `#[actor]` block of `{Self}`, or implement `Handler<{M}>`"
)]
pub trait Respond<M: Message>: Actor {
    /// Handles one message; the answer goes through `reply`.
    fn respond(
        &mut self,
        message: M,
        reply: ReplyTo<M::Reply, M::Rejection>,
        ctx: &mut Context<Self>,
    ) -> impl Future<Output = Result<(), Fault>> + Send;

    #[doc(hidden)]
    const IMMEDIATE: bool = false;

    #[doc(hidden)]
    fn handle_now(&mut self, message: M, ctx: &mut Context<Self>) -> Result<M::Reply, Failure<M::Rejection>> {
        let _ = (message, ctx);
        unreachable!("only called where IMMEDIATE says so")
    }
}

impl<A: Handler<M>, M: Message> Respond<M> for A {
    const IMMEDIATE: bool = <A as Handler<M>>::IMMEDIATE;

    fn respond(
        &mut self,
        message: M,
        reply: ReplyTo<M::Reply, M::Rejection>,
        ctx: &mut Context<Self>,
    ) -> impl Future<Output = Result<(), Fault>> + Send {
        Answering::new(Handler::handle(self, message, ctx), reply)
    }

    fn handle_now(&mut self, message: M, ctx: &mut Context<Self>) -> Result<M::Reply, Failure<M::Rejection>> {
        Handler::handle_now(self, message, ctx)
    }
}

/// What a factory may return: the actor, or a result of building it.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// struct Worker { id: u32 }
/// impl Actor for Worker {}
///
/// fn always() -> Worker { Worker { id: 1 } }
/// fn perhaps(id: &str) -> Result<Worker, Fault> { Ok(Worker { id: id.parse().or_fault()? }) }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// assert!(system.spawn(always).await.is_ok());
/// assert!(system.spawn(|| perhaps("2")).await.is_ok());
/// assert!(system.spawn(|| perhaps("two")).await.is_err());
/// # assert_eq!(always().id, 1);
/// # system.stop().await?; Ok(()) }
/// ```
pub trait Product {
    /// The actor that is made.
    type Actor: Actor;
    /// The actor, or why it could not be made.
    ///
    /// # Errors
    /// The fault that a fallible factory returned.
    fn into_actor(self) -> Result<Self::Actor, Fault>;
}

impl<A: Actor> Product for A {
    type Actor = A;
    fn into_actor(self) -> Result<A, Fault> {
        Ok(self)
    }
}

impl<A: Actor> Product for Result<A, Fault> {
    type Actor = A;
    fn into_actor(self) -> Result<A, Fault> {
        self
    }
}
