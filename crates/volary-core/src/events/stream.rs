//! The event stream: publish a value, and everybody who subscribed to its type gets a copy.
//!
//! Nobody is ever waited for. A subscriber that is too slow loses events and is told how many: a
//! [`Subscription`] loses the oldest, an actor those for which there was no room.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use parking_lot::RwLock;

use super::channel::{AnyChannel, Channel, SubscriberInfo};
use super::options::SubscriptionOptions;
use super::post::Post;
use super::reader::{Queue, Subscription};
use crate::actor::Message;
use crate::reference::Recipient;
use crate::sync::atomic::{AtomicU64, Ordering::*};

/// Anything that can be published.
///
/// ```
/// #[derive(Clone)]
/// struct PriceChanged { cents: u32 }
/// # fn is<E: volary_core::Event>() {}
/// # is::<PriceChanged>();
/// ```
pub trait Event: Clone + Send + Sync + 'static {}
impl<E: Clone + Send + Sync + 'static> Event for E {}

/// The event stream of a system; see [`ActorSystem::events`](crate::ActorSystem::events).
///
/// ```
/// # use volary_core::ActorSystem;
/// #[derive(Clone, PartialEq, Debug)]
/// struct Deployed(&'static str);
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let system = ActorSystem::builder("demo").start().await?;
/// let deployments = system.events().subscribe::<Deployed>();
/// system.events().publish(Deployed("v2"));
/// assert_eq!(deployments.next().await, Ok(Deployed("v2")));
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Default)]
pub struct EventStream {
    channels: RwLock<BTreeMap<TypeId, Arc<dyn Any + Send + Sync>>>,
    /// One bit per type that was ever subscribed to, by hash: lets publishers skip the map.
    interest: AtomicU64,
    /// Events and messages of topics that were lost to slow subscribers.
    lost: Arc<AtomicU64>,
}

fn bit_of<E: 'static>() -> u64 {
    use std::hash::BuildHasher;
    1 << (foldhash::fast::FixedState::with_seed(0).hash_one(TypeId::of::<E>()) % 64)
}

impl EventStream {
    /// Whether anybody may be listening: cheap, for publishers whose events cost something to make.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert!(!system.events().has_subscribers::<String>(), "nobody would read what costs so much to write");
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[inline]
    pub fn has_subscribers<E: Event>(&self) -> bool {
        self.interest.load(Relaxed) & bit_of::<E>() != 0
    }

    /// Publishes an event to everybody who subscribed to its type. Never blocks.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let greetings = system.events().subscribe::<&str>();
    /// system.events().publish("good morning");
    /// assert_eq!(greetings.next().await?, "good morning");
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn publish<E: Event>(&self, event: E) {
        if self.has_subscribers::<E>()
            && let Some(channel) = self.channel_if_any::<E>()
        {
            channel.publish(event);
        }
    }

    /// Subscribes to events of type `E`. Dropping the subscription ends it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let stops = system.events().subscribe::<ActorStopped>();
    /// alice.stop();
    /// assert_eq!(stops.next().await?.path, alice.path());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn subscribe<E: Event>(&self) -> Subscription<E> {
        self.subscribe_with(SubscriptionOptions::new())
    }

    /// The same, with a capacity or a filter.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let short = SubscriptionOptions::new().filter(|text: &String| text.len() < 5);
    /// let words = system.events().subscribe_with(short);
    /// for word in ["morning", "noon"] {
    ///     system.events().publish(word.to_owned());
    /// }
    /// assert_eq!(words.next().await?, "noon");
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn subscribe_with<E: Event>(&self, options: SubscriptionOptions<E>) -> Subscription<E> {
        let channel = self.channel::<E>();
        let queue = Arc::new(Queue::new(options, self.lost.clone()));
        let place = channel.add(queue.clone());
        Subscription::new(queue, move || {
            let _gone = place.and_then(|place| channel.remove(place));
        })
    }

    /// Subscribes an actor: events arrive as messages, until it stops or is unsubscribed. Restarts and passivation do
    /// not end it. Subscribing again changes nothing.
    ///
    /// No capacity of the mailbox applies to events. Up to 1,024 wait for one actor, or as many as its mailbox holds if
    /// that is less; what comes then is lost, and the actor hears of it by [`Missed`](crate::Missed).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// system.events().subscribe_actor::<ActorStopped>(&alice.recipient());
    /// assert_eq!(system.events().subscribers::<ActorStopped>().len(), 1);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn subscribe_actor<E: Event + Message>(&self, actor: &Recipient<E>) {
        self.subscribe_actor_with(actor, SubscriptionOptions::new());
    }

    /// The same, with a capacity or a filter.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let few = SubscriptionOptions::<ActorStopped>::new().capacity(16);
    /// system.events().subscribe_actor_with(&alice.recipient(), few);
    /// assert_eq!(system.events().subscribers::<ActorStopped>().len(), 1);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn subscribe_actor_with<E: Event + Message>(&self, actor: &Recipient<E>, options: SubscriptionOptions<E>) {
        let channel = self.channel::<E>();
        let home = Arc::downgrade(&channel);
        let post = Post::new(actor.clone(), None, options, self.lost.clone(), move |id| {
            let _gone = home.upgrade().and_then(|channel| channel.remove_actor(id));
        });
        if channel.add(post.clone()).is_some() && !post.hold_on() {
            let _gone = channel.dismiss_actor(actor.id().raw());
        }
    }

    /// Ends an actor's subscription: nothing of it that still waits in the mailbox is handled.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// system.events().subscribe_actor::<ActorStopped>(&alice.recipient());
    /// system.events().unsubscribe_actor::<ActorStopped>(&alice.recipient());
    /// assert!(system.events().subscribers::<ActorStopped>().is_empty());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn unsubscribe_actor<E: Event + Message>(&self, actor: &Recipient<E>) {
        self.unsubscribe::<E>(actor.id().raw());
    }

    pub(crate) fn unsubscribe<E: Event>(&self, actor: u64) -> bool {
        self.channel_if_any::<E>()
            .is_some_and(|channel| channel.dismiss_actor(actor).is_some())
    }

    /// Who subscribes to events of type `E`, in the order in which they came.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let letters = system.events().subscribe::<DeadLetter>();
    /// assert_eq!(system.events().subscribers::<DeadLetter>().len(), 1);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn subscribers<E: Event>(&self) -> Vec<SubscriberInfo> {
        self.channel_if_any::<E>()
            .map_or_else(Vec::new, |channel| channel.subscribers())
    }

    /// What was lost to slow subscribers, to events and topics alike.
    pub(crate) fn lost(&self) -> &Arc<AtomicU64> {
        &self.lost
    }

    fn channel_if_any<E: Event>(&self) -> Option<Arc<Channel<E>>> {
        self.channels.read().get(&TypeId::of::<E>()).cloned()?.downcast().ok()
    }

    fn channel<E: Event>(&self) -> Arc<Channel<E>> {
        if let Some(channel) = self.channel_if_any::<E>() {
            return channel;
        }
        let fresh: Arc<Channel<E>> = Arc::new(Channel::new());
        // First the bit, then the channel: who finds the channel must not be skipped by publishers.
        self.interest.fetch_or(bit_of::<E>(), SeqCst);
        let kept = self
            .channels
            .write()
            .entry(TypeId::of::<E>())
            .or_insert_with(|| fresh.clone())
            .clone();
        kept.downcast().unwrap_or(fresh)
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream")
            .field("types", &self.channels.read().len())
            .finish()
    }
}
