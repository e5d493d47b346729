//! What users hold to publish, subscribe and look.

use std::fmt;
use std::sync::Arc;

use super::errors::{PublishError, TopicTypeError};
use crate::actor::Message;
use crate::events::{Event, SubscriberInfo, Subscription, SubscriptionOptions};
use crate::reference::Recipient;
use crate::system::SystemCore;

/// The topics of a system; see [`ActorSystem::topics`](crate::ActorSystem::topics).
///
/// A topic is a name. It is there while somebody subscribes to it, and carries messages of one type. Publishing never
/// blocks: each subscriber has room for so many messages, and one that is too slow loses some and is told how many. An
/// actor hears of it by [`Missed`](crate::Missed), a [`Subscription`] by [`Lagged`](crate::Lagged). Every subscriber gets
/// a clone, made in its own turn; a large message is best an `Arc`.
///
/// ```
/// # use volary_core::*;
/// #[derive(Clone, PartialEq, Debug)]
/// struct Price { cents: u32 }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let system = ActorSystem::builder("demo").start().await?;
/// let prices = system.topics().listen::<Price>("prices")?;
/// assert_eq!(system.topics().publish("prices", Price { cents: 250 })?, 1);
/// assert_eq!(prices.next().await?, Price { cents: 250 });
///
/// let error = system.topics().publish("prices", "cheap").unwrap_err();
/// assert!(error.to_string().contains("Price") && error.to_string().contains("str"));
///
/// drop(prices);
/// assert!(system.topics().list().is_empty());
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Clone)]
pub struct Topics {
    core: Arc<SystemCore>,
}

/// A topic that somebody subscribes to.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// system.topics().subscribe::<Deposit>("gifts", &alice)?;
/// for topic in system.topics().list() {
///     assert_eq!((&*topic.name, topic.subscribers), ("gifts", 1));
/// }
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TopicInfo {
    /// Its name.
    pub name: Arc<str>,
    /// The Rust type of its messages.
    pub message_type: &'static str,
    /// How many subscribe to it.
    pub subscribers: usize,
    /// How many messages were published to it.
    pub published: u64,
}

impl Topics {
    pub(crate) fn new(core: Arc<SystemCore>) -> Self {
        Topics { core }
    }

    /// Gives a message to everybody who subscribes to the topic; how many took it. Nobody subscribing is no error.
    /// Never blocks. An [`Interceptor`](crate::Interceptor) is asked for each actor; to one that it refuses the message is
    /// not delivered, which is no loss that the actor hears of.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// system.topics().subscribe::<Deposit>("gifts", &alice)?;
    /// assert_eq!(system.topics().publish("gifts", Deposit(5))?, 1);
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The message, if the topic carries another type.
    pub fn publish<M: Event>(&self, topic: &str, message: M) -> Result<usize, PublishError<M>> {
        self.core.topics().publish(topic, message)
    }

    /// Subscribes an actor: what is published arrives as messages, until it stops or is unsubscribed. Restarts and
    /// passivation do not end it. Subscribing again changes nothing.
    ///
    /// No capacity of the mailbox applies. Up to 1,024 messages of a topic wait for one actor, or as many as its mailbox
    /// holds if that is less.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// system.topics().subscribe::<Deposit>("gifts", &alice)?;
    /// system.topics().publish("gifts", Deposit(5))?;
    /// assert_eq!(alice.ask(Balance).await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The topic carries another type.
    pub fn subscribe<M: Event + Message>(
        &self,
        topic: &str,
        actor: impl Into<Recipient<M>>,
    ) -> Result<(), TopicTypeError> {
        self.subscribe_with(topic, actor, SubscriptionOptions::new())
    }

    /// The same, with a capacity or a filter.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let large = SubscriptionOptions::new().filter(|deposit: &Deposit| deposit.0 > 1_000);
    /// system.topics().subscribe_with("gifts", &alice, large)?;
    /// system.topics().publish("gifts", Deposit(5))?;
    /// assert_eq!(alice.ask(Balance).await?, 0);
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The topic carries another type.
    pub fn subscribe_with<M: Event + Message>(
        &self,
        topic: &str,
        actor: impl Into<Recipient<M>>,
        options: SubscriptionOptions<M>,
    ) -> Result<(), TopicTypeError> {
        self.core.topics().subscribe(&self.core, topic, actor.into(), options)
    }

    /// Ends an actor's subscription: nothing of it that still waits in the mailbox is handled. False: there was none.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// system.topics().subscribe::<Deposit>("gifts", &alice)?;
    /// assert!(system.topics().unsubscribe("gifts", alice.id()));
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[allow(clippy::must_use_candidate, reason = "leaving is what it is called for")]
    pub fn unsubscribe(&self, topic: &str, actor: crate::ActorId) -> bool {
        self.core.topics().dismiss(&self.core, topic, actor.raw())
    }

    /// Subscribes somebody who is no actor. Dropping the subscription ends it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let gifts = system.topics().listen::<Deposit>("gifts")?;
    /// system.topics().publish("gifts", Deposit(5))?;
    /// assert_eq!(gifts.next().await?, Deposit(5));
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The topic carries another type.
    pub fn listen<M: Event>(&self, topic: &str) -> Result<Subscription<M>, TopicTypeError> {
        self.listen_with(topic, SubscriptionOptions::new())
    }

    /// The same, with a capacity or a filter.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let lines = system.topics().listen_with("log", SubscriptionOptions::<String>::new().capacity(64))?;
    /// system.topics().publish("log", "open".to_owned())?;
    /// assert_eq!(lines.next().await?, "open");
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The topic carries another type.
    pub fn listen_with<M: Event>(
        &self,
        topic: &str,
        options: SubscriptionOptions<M>,
    ) -> Result<Subscription<M>, TopicTypeError> {
        self.core.topics().listen(&self.core, topic, options)
    }

    /// All topics that somebody subscribes to, by name.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert!(system.topics().list().is_empty());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn list(&self) -> Vec<TopicInfo> {
        self.core.topics().list()
    }

    /// Who subscribes to a topic, in the order in which they came.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// system.topics().subscribe::<Deposit>("gifts", &alice)?;
    /// assert_eq!(system.topics().subscribers("gifts").len(), 1);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn subscribers(&self, topic: &str) -> Vec<SubscriberInfo> {
        self.core.topics().subscribers(topic)
    }
}

impl fmt::Debug for Topics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.list()).finish()
    }
}
