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
    /// # fn f(system: &volary_core::ActorSystem) {
    /// if system.events().has_subscribers::<String>() {
    ///     system.events().publish(format!("costly {}", 42));
    /// }
    /// # }
    /// ```
    #[inline]
    pub fn has_subscribers<E: Event>(&self) -> bool {
        self.interest.load(Relaxed) & bit_of::<E>() != 0
    }

    /// Publishes an event to everybody who subscribed to its type. Never blocks.
    ///
    /// ```
    /// # fn f(system: &volary_core::ActorSystem) {
    /// system.events().publish("good morning");
    /// # }
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
    /// # async fn f(system: &volary_core::ActorSystem) {
    /// let failures = system.events().subscribe::<volary_core::ActorFailed>();
    /// while let Ok(failed) = failures.next().await {
    ///     println!("{}: {}", failed.path, failed.fault);
    /// }
    /// # }
    /// ```
    pub fn subscribe<E: Event>(&self) -> Subscription<E> {
        self.subscribe_with(SubscriptionOptions::new())
    }

    /// The same, with a capacity or a filter.
    ///
    /// ```
    /// # use volary_core::{ActorFailed, SubscriptionOptions};
    /// # fn f(system: &volary_core::ActorSystem) {
    /// let of_bank = SubscriptionOptions::new().filter(|failed: &ActorFailed| failed.path.as_str().starts_with("/user/bank"));
    /// let failures = system.events().subscribe_with(of_bank);
    /// # }
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
    /// # use volary_core::{ActorRef, ActorStopped, ActorSystem, Accepts};
    /// # fn f<T: Accepts<ActorStopped>>(system: &ActorSystem, registrar: &ActorRef<T>) {
    /// system.events().subscribe_actor::<ActorStopped>(&registrar.recipient());
    /// # }
    /// ```
    pub fn subscribe_actor<E: Event + Message>(&self, actor: &Recipient<E>) {
        self.subscribe_actor_with(actor, SubscriptionOptions::new());
    }

    /// The same, with a capacity or a filter.
    ///
    /// ```
    /// # use volary_core::{ActorRef, ActorStopped, ActorSystem, Accepts, SubscriptionOptions};
    /// # fn f<T: Accepts<ActorStopped>>(system: &ActorSystem, registrar: &ActorRef<T>) {
    /// let few = SubscriptionOptions::<ActorStopped>::new().capacity(16);
    /// system.events().subscribe_actor_with(&registrar.recipient(), few);
    /// # }
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
    /// # use volary_core::{ActorRef, ActorStopped, ActorSystem, Accepts};
    /// # fn f<T: Accepts<ActorStopped>>(system: &ActorSystem, registrar: &ActorRef<T>) {
    /// system.events().unsubscribe_actor::<ActorStopped>(&registrar.recipient());
    /// # }
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
    /// # fn f(system: &volary_core::ActorSystem) {
    /// println!("{}", system.events().subscribers::<volary_core::DeadLetter>().len());
    /// # }
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
