//! Topics and events as a handler sees them.

use super::errors::{PublishError, TopicTypeError};
use crate::actor::{Actor, Context, Message, Respond};
use crate::events::{Event, SubscriptionOptions};

impl<A: Actor> Context<A> {
    /// Subscribes this actor to a topic; see [`Topics::subscribe`](crate::Topics::subscribe).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// ctx.subscribe::<Deposit>("gifts")?;
    /// # Ok(()) }).await?;
    /// system.topics().publish("gifts", Deposit(5))?;
    /// assert_eq!(alice.ask(Balance).await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The topic carries another type.
    pub fn subscribe<M: Event + Message>(&self, topic: &str) -> Result<(), TopicTypeError>
    where
        A: Respond<M>,
    {
        self.subscribe_with(topic, SubscriptionOptions::<M>::new())
    }

    /// The same, with a capacity or a filter.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// ctx.subscribe_with("gifts", SubscriptionOptions::<Deposit>::new().capacity(16))?;
    /// # Ok(()) }).await?;
    /// assert_eq!(system.topics().subscribers("gifts")[0].capacity, 16);
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The topic carries another type.
    pub fn subscribe_with<M: Event + Message>(
        &self,
        topic: &str,
        options: SubscriptionOptions<M>,
    ) -> Result<(), TopicTypeError>
    where
        A: Respond<M>,
    {
        self.system().topics().subscribe_with(topic, &self.me(), options)
    }

    /// Ends this actor's subscription to a topic; nothing more of it arrives. False: there was none.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// ctx.subscribe::<Deposit>("gifts")?;
    /// assert!(ctx.unsubscribe("gifts"));
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[allow(clippy::must_use_candidate, reason = "leaving is what it is called for")]
    pub fn unsubscribe(&self, topic: &str) -> bool {
        self.system().topics().unsubscribe(topic, self.id())
    }

    /// Publishes to a topic, as this actor; see [`Topics::publish`](crate::Topics::publish).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// assert_eq!(ctx.publish("gifts", Deposit(5))?, 0, "nobody listens");
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The message, if the topic carries another type.
    pub fn publish<M: Event>(&self, topic: &str, message: M) -> Result<usize, PublishError<M>> {
        self.system().topics().publish(topic, message)
    }

    /// Subscribes this actor to events of a type; see
    /// [`EventStream::subscribe_actor`](crate::EventStream::subscribe_actor).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// ctx.subscribe_event::<ActorStopped>();
    /// # Ok(()) }).await?;
    /// assert_eq!(system.events().subscribers::<ActorStopped>()[0].id, Some(alice.id()));
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn subscribe_event<E: Event + Message>(&self)
    where
        A: Respond<E>,
    {
        self.system().events().subscribe_actor::<E>(&self.me().recipient());
    }

    /// Ends this actor's subscription to events of a type; none of them arrives any more. False: there was none.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// ctx.subscribe_event::<ActorStopped>();
    /// assert!(ctx.unsubscribe_event::<ActorStopped>());
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[allow(clippy::must_use_candidate, reason = "leaving is what it is called for")]
    pub fn unsubscribe_event<E: Event>(&self) -> bool {
        self.system().events().unsubscribe::<E>(self.id().raw())
    }
}
