//! Topics and events as a handler sees them.

use super::errors::{PublishError, TopicTypeError};
use crate::actor::{Actor, Context, Message, Respond};
use crate::events::{Event, SubscriptionOptions};

impl<A: Actor> Context<A> {
    /// Subscribes this actor to a topic; see [`Topics::subscribe`](crate::Topics::subscribe).
    ///
    /// ```
    /// # use volary_core::*;
    /// # #[derive(Clone)] struct Price;
    /// # impl Message for Price { type Reply = (); type Rejection = std::convert::Infallible; }
    /// # fn in_a_handler<A: Actor + Respond<Price>>(ctx: &mut Context<A>) -> Result<(), TopicTypeError> {
    /// ctx.subscribe::<Price>("prices")?;
    /// # Ok(()) }
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
    /// # use volary_core::*;
    /// # #[derive(Clone)] struct Price;
    /// # impl Message for Price { type Reply = (); type Rejection = std::convert::Infallible; }
    /// # fn in_a_handler<A: Actor + Respond<Price>>(ctx: &mut Context<A>) -> Result<(), TopicTypeError> {
    /// ctx.subscribe_with("prices", SubscriptionOptions::<Price>::new().capacity(16))?;
    /// # Ok(()) }
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
    /// # use volary_core::{Actor, Context};
    /// # fn in_a_handler<A: Actor>(ctx: &mut Context<A>) {
    /// ctx.unsubscribe("prices");
    /// # }
    /// ```
    #[allow(clippy::must_use_candidate, reason = "leaving is what it is called for")]
    pub fn unsubscribe(&self, topic: &str) -> bool {
        self.system().topics().unsubscribe(topic, self.id())
    }

    /// Publishes to a topic, as this actor; see [`Topics::publish`](crate::Topics::publish).
    ///
    /// ```
    /// # use volary_core::*;
    /// # #[derive(Clone)] struct Price;
    /// # fn in_a_handler<A: Actor>(ctx: &mut Context<A>) -> Result<(), PublishError<Price>> {
    /// let reached = ctx.publish("prices", Price)?;
    /// # Ok(()) }
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
    /// # use volary_core::*;
    /// # fn in_a_handler<A: Actor + Respond<ActorStopped>>(ctx: &mut Context<A>) {
    /// ctx.subscribe_event::<ActorStopped>();
    /// # }
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
    /// # use volary_core::*;
    /// # fn in_a_handler<A: Actor>(ctx: &mut Context<A>) {
    /// ctx.unsubscribe_event::<ActorStopped>();
    /// # }
    /// ```
    #[allow(clippy::must_use_candidate, reason = "leaving is what it is called for")]
    pub fn unsubscribe_event<E: Event>(&self) -> bool {
        self.system().events().unsubscribe::<E>(self.id().raw())
    }
}
