//! Feeding a stream to an actor.

use std::fmt;
use std::sync::Arc;

use futures_core::Stream;

use super::errors::StreamEnd;
use super::pump::{OnEnd, Pump};
use super::window::Inlet;
use crate::actor::{Actor, Context, Message};
use crate::reference::{Accepts, ActorRef, Target};
use crate::system::{TaskState, spawn_beside, spawn_for};

/// How many elements an actor may have before it, unless told otherwise.
const WINDOW: usize = 64;

impl<A: Actor> Context<A> {
    /// Feeds a stream to this actor: each element becomes a message, in order, and no more of them wait at a time than
    /// the [window](Attach::window) allows, so that a slow actor slows the stream. It ends with the stream, when the
    /// actor stops or restarts, or when it is [cancelled](Attached::cancel).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/flow.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// ctx.attach(amounts()).window(16).on_end(|_| Deposit(100)).each(Deposit); // 5 and 6
    /// # Ok(()) }).await?;
    /// # saved(&alice, 111).await?;
    /// assert_eq!(alice.ask(Balance).await?, 111);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn attach<S>(&self, stream: S) -> Attach<A, S>
    where
        S: Stream + Send + 'static,
    {
        Attach::new(self.me(), stream, Scope::Incarnation)
    }
}

impl<T: Target> ActorRef<T> {
    /// Feeds a stream to the actor, as [`Context::attach`] does from inside. Restarts do not end it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/flow.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let attached = alice.attach(amounts()).each(Deposit);
    /// attached.cancel(); // changed our mind
    /// # while !attached.is_finished() { tokio::task::yield_now().await; }
    /// assert_eq!(alice.ask(Balance).await?, 0);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn attach<S>(&self, stream: S) -> Attach<T, S>
    where
        S: Stream + Send + 'static,
    {
        Attach::new(self.clone(), stream, Scope::Life)
    }
}

/// How long a stream stays attached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// Until the actor stops or restarts.
    Incarnation,
    /// Until the actor stops.
    Life,
}

/// A stream that is about to be attached; nothing happens before [`each`](Attach::each).
///
/// No capacity of the mailbox applies to elements, the window does. They keep their place among other messages. One that
/// an [`Interceptor`](crate::Interceptor) refuses is a dead letter, and the stream goes on.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/flow.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let attach: Attach<Account, _> = alice.attach(amounts()).window(16); // 5 and 6
/// attach.each(Deposit); // now
/// # saved(&alice, 11).await?;
/// assert_eq!(alice.ask(Balance).await?, 11);
/// # system.stop().await?; Ok(()) }
/// ```
#[must_use = "a stream is attached by `each`"]
pub struct Attach<T: Target, S> {
    actor: ActorRef<T>,
    stream: S,
    scope: Scope,
    window: usize,
    on_end: Option<OnEnd>,
}

impl<T: Target, S> Attach<T, S>
where
    S: Stream + Send + 'static,
{
    fn new(actor: ActorRef<T>, stream: S, scope: Scope) -> Self {
        Attach {
            actor,
            stream,
            scope,
            window: WINDOW,
            on_end: None,
        }
    }

    /// How many elements may wait or be handled at a time; 64 unless said otherwise, at least one.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/flow.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// alice.attach(amounts()).window(1).each(Deposit); // one at a time: 5, and then 6
    /// # saved(&alice, 11).await?;
    /// assert_eq!(alice.ask(Balance).await?, 11);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn window(mut self, elements: usize) -> Self {
        self.window = elements.max(1);
        self
    }

    /// The message that says how the stream has ended by itself. It comes once, behind the last element. When the
    /// stream is cancelled or the actor ends there is none.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/flow.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// alice
    ///     .attach(amounts()) // 5 and 6
    ///     .on_end(|end| Deposit(if matches!(end, StreamEnd::Completed) { 100 } else { 0 }))
    ///     .each(Deposit);
    /// # saved(&alice, 111).await?;
    /// assert_eq!(alice.ask(Balance).await?, 111);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn on_end<M: Message>(mut self, message: impl FnOnce(StreamEnd) -> M + Send + 'static) -> Self
    where
        T: Accepts<M>,
    {
        let to = self.actor.recipient::<M>();
        self.on_end = Some(Box::new(move |end| to.deliver_exempt(message(end))));
        self
    }

    /// Attaches the stream; `message` makes a message of each element. A stream of results hands it errors as well as
    /// values. Should it panic, or the stream, that is reported as a failure of the actor and ends the stream.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/flow.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let attached = alice.attach(amounts()).each(|cents| Deposit(2 * cents)); // 5 and 6
    /// # saved(&alice, 22).await?;
    /// assert_eq!(alice.ask(Balance).await?, 22);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[allow(clippy::must_use_candidate, reason = "most streams are never cancelled")]
    pub fn each<M: Message>(self, message: impl FnMut(S::Item) -> M + Send + 'static) -> Attached
    where
        T: Accepts<M>,
    {
        let inlet = Arc::new(Inlet::new(self.actor.recipient::<M>(), self.window));
        let pump = Pump::new(self.stream, message, inlet, self.on_end, self.actor.terminated());
        Attached(match self.scope {
            Scope::Incarnation => spawn_for(self.actor.cell(), pump),
            Scope::Life => spawn_beside(self.actor.cell(), pump),
        })
    }
}

impl<T: Target, S> fmt::Debug for Attach<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attach")
            .field("window", &self.window)
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}

/// A stream that feeds an actor. Dropping this leaves it attached.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/flow.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let attached: Attached = alice.attach(Flow(1..)).each(Deposit); // for ever
/// if !attached.is_finished() {
///     attached.cancel();
/// }
/// # while !attached.is_finished() { tokio::task::yield_now().await; }
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Clone)]
pub struct Attached(Arc<TaskState>);

impl Attached {
    /// Drops the stream. Elements that are in the mailbox already are handled.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/flow.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let attached = alice.attach(Flow(1..)).each(Deposit); // for ever
    /// attached.cancel();
    /// # while !attached.is_finished() { tokio::task::yield_now().await; }
    /// assert!(attached.is_finished());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn cancel(&self) {
        self.0.abort();
    }

    /// Whether the stream was dropped: it has ended, was cancelled, or its actor is gone.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/flow.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let attached = alice.attach(amounts()).each(Deposit); // 5 and 6
    /// assert!(!attached.is_finished());
    /// # saved(&alice, 11).await?;
    /// # while !attached.is_finished() { tokio::task::yield_now().await; }
    /// assert_eq!(alice.ask(Balance).await?, 11);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }
}

impl fmt::Debug for Attached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attached")
            .field("finished", &self.is_finished())
            .finish()
    }
}
