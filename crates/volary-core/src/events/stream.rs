//! The event stream: publish a value, and everybody who subscribed to its type gets a copy.
//!
//! Nobody is ever waited for. A subscriber that reads too slowly loses the oldest events and is told
//! how many; an actor that subscribed gets events like any other mail, and refuses them like any
//! other mail.

use std::any::{Any, TypeId};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Weak};
use std::task::{Poll, Waker};

use parking_lot::RwLock;

use crate::dispatch::wake;
use crate::sync::Mutex;

use crate::actor::Message;
use crate::reference::Recipient;
use crate::sync::atomic::{AtomicU64, Ordering::*};

/// How many events wait for a slow subscriber.
const CAPACITY: usize = 1024;

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
    topics: RwLock<BTreeMap<TypeId, Arc<dyn Any + Send + Sync>>>,
    /// One bit per type that was ever subscribed to, by hash: lets publishers skip the map.
    interest: AtomicU64,
}

struct Topic<E> {
    /// Replaced as a whole when it changes, so that publishers keep what they began with.
    subscribers: Mutex<Arc<Vec<Subscriber<E>>>>,
}

impl<E: Event> Topic<E> {
    fn change(&self, change: impl FnOnce(&mut Vec<Subscriber<E>>)) {
        let mut subscribers = self.subscribers.lock();
        let mut changed = Vec::clone(&subscribers);
        change(&mut changed);
        let before = std::mem::replace(&mut *subscribers, Arc::new(changed));
        drop(subscribers);
        drop(before);
    }
}

enum Subscriber<E> {
    Queue(Weak<Queue<E>>),
    Actor {
        id: u64,
        tell: Arc<TellFn<E>>,
        is_there: Arc<dyn Fn() -> bool + Send + Sync>,
    },
}

type TellFn<E> = dyn Fn(E) -> bool + Send + Sync;

impl<E> Clone for Subscriber<E> {
    fn clone(&self) -> Self {
        match self {
            Subscriber::Queue(queue) => Subscriber::Queue(queue.clone()),
            Subscriber::Actor { id, tell, is_there } => Subscriber::Actor {
                id: *id,
                tell: tell.clone(),
                is_there: is_there.clone(),
            },
        }
    }
}

impl<E: Event> Subscriber<E> {
    /// False: the subscriber is gone.
    fn deliver(&self, event: &E) -> bool {
        match self {
            Subscriber::Queue(queue) => match queue.upgrade() {
                Some(queue) => {
                    queue.push(event.clone());
                    true
                }
                None => false,
            },
            Subscriber::Actor { tell, .. } => tell(event.clone()),
        }
    }

    fn is_there(&self) -> bool {
        match self {
            Subscriber::Queue(queue) => queue.strong_count() > 0,
            Subscriber::Actor { is_there, .. } => is_there(),
        }
    }

    fn is_actor(&self, actor: u64) -> bool {
        matches!(self, Subscriber::Actor { id, .. } if *id == actor)
    }
}

struct Queue<E> {
    inner: Mutex<Inner<E>>,
}

struct Inner<E> {
    events: VecDeque<E>,
    lost: u64,
    waker: Option<Waker>,
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
        if !self.has_subscribers::<E>() {
            return;
        }
        let Some(topic) = self.topic_if_any::<E>() else { return };
        // Outside of the lock: telling, cloning and dropping may run anything, publishing included.
        let subscribers = topic.subscribers.lock().clone();
        let mut gone = false;
        for subscriber in &*subscribers {
            gone |= !subscriber.deliver(&event);
        }
        if gone {
            topic.change(|subscribers| subscribers.retain(Subscriber::is_there));
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
        let inner = Inner {
            events: VecDeque::new(),
            lost: 0,
            waker: None,
        };
        let queue = Arc::new(Queue {
            inner: Mutex::new(inner),
        });
        let topic = self.topic::<E>();
        topic.change(|subscribers| subscribers.push(Subscriber::Queue(Arc::downgrade(&queue))));
        Subscription { queue, topic }
    }

    /// Subscribes an actor: events arrive as messages, until it stops or is unsubscribed.
    ///
    /// ```
    /// # use volary_core::{ActorRef, ActorStopped, ActorSystem, Accepts};
    /// # fn f<T: Accepts<ActorStopped>>(system: &ActorSystem, registrar: &ActorRef<T>) {
    /// system.events().subscribe_actor::<ActorStopped>(&registrar.recipient());
    /// # }
    /// ```
    pub fn subscribe_actor<E: Event + Message>(&self, actor: &Recipient<E>) {
        let id = actor.id().raw();
        let (teller, watched) = (actor.clone(), actor.clone());
        let tell = Arc::new(move |event| match teller.tell(event) {
            Ok(()) => true,
            Err(error) => error.is_full(), // it lags: the refusal is counted; gone: forget it
        });
        let is_there = Arc::new(move || watched.is_alive());
        self.topic::<E>().change(|subscribers| {
            subscribers.retain(|other| !other.is_actor(id));
            subscribers.push(Subscriber::Actor { id, tell, is_there });
        });
    }

    /// Ends an actor's subscription.
    ///
    /// ```
    /// # use volary_core::{ActorRef, ActorStopped, ActorSystem, Accepts};
    /// # fn f<T: Accepts<ActorStopped>>(system: &ActorSystem, registrar: &ActorRef<T>) {
    /// system.events().unsubscribe_actor::<ActorStopped>(&registrar.recipient());
    /// # }
    /// ```
    pub fn unsubscribe_actor<E: Event + Message>(&self, actor: &Recipient<E>) {
        let id = actor.id().raw();
        if let Some(topic) = self.topic_if_any::<E>() {
            topic.change(|subscribers| subscribers.retain(|other| !other.is_actor(id)));
        }
    }

    fn topic_if_any<E: Event>(&self) -> Option<Arc<Topic<E>>> {
        self.topics.read().get(&TypeId::of::<E>()).cloned()?.downcast().ok()
    }

    fn topic<E: Event>(&self) -> Arc<Topic<E>> {
        if let Some(topic) = self.topic_if_any::<E>() {
            return topic;
        }
        let fresh: Arc<Topic<E>> = Arc::new(Topic {
            subscribers: Mutex::new(Arc::default()),
        });
        // First the bit, then the topic: who finds the topic must not be skipped by publishers.
        self.interest.fetch_or(bit_of::<E>(), SeqCst);
        let kept = self
            .topics
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
            .field("types", &self.topics.read().len())
            .finish()
    }
}

impl<E> Queue<E> {
    fn push(&self, event: E) {
        let mut inner = self.inner.lock();
        let evicted = if inner.events.len() == CAPACITY {
            inner.lost += 1;
            inner.events.pop_front()
        } else {
            None
        };
        inner.events.push_back(event);
        let waker = inner.waker.take();
        drop(inner);
        drop(evicted);
        if let Some(waker) = waker {
            wake(waker);
        }
    }
}

/// So many events were lost because they were not read in time; those that follow are the newest.
///
/// ```
/// assert_eq!(volary_core::Lagged(3).to_string(), "3 events were lost to a slow subscriber");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} events were lost to a slow subscriber")]
pub struct Lagged(
    /// How many.
    pub u64,
);

/// A subscription to events of one type. Holds up to 1,024 unread events.
///
/// ```
/// # async fn f(system: &volary_core::ActorSystem) {
/// let letters = system.events().subscribe::<volary_core::DeadLetter>();
/// match letters.next().await {
///     Ok(letter) => println!("{letter:?}"),
///     Err(lagged) => println!("{lagged}"),
/// }
/// # }
/// ```
#[must_use = "dropping a subscription ends it"]
pub struct Subscription<E: Event> {
    queue: Arc<Queue<E>>,
    topic: Arc<Topic<E>>,
}

impl<E: Event> Drop for Subscription<E> {
    fn drop(&mut self) {
        let mine = Arc::as_ptr(&self.queue);
        let is_mine = |other: &Subscriber<E>| matches!(other, Subscriber::Queue(queue) if queue.as_ptr() == mine);
        self.topic
            .change(|subscribers| subscribers.retain(|other| !is_mine(other)));
    }
}

impl<E: Event> Subscription<E> {
    /// The next event, waiting for it. Cancel safe.
    ///
    /// ```
    /// # async fn f(events: volary_core::Subscription<String>) -> Result<(), volary_core::Lagged> {
    /// let event = events.next().await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// How many events were lost since the last one, if any were; call again for the next.
    pub async fn next(&self) -> Result<E, Lagged> {
        poll_fn(|task| {
            let mut inner = self.queue.inner.lock();
            if inner.lost > 0 {
                return Poll::Ready(Err(Lagged(std::mem::take(&mut inner.lost))));
            }
            match inner.events.pop_front() {
                Some(event) => Poll::Ready(Ok(event)),
                None => {
                    inner.waker = Some(task.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }

    /// The next event, if it is there.
    ///
    /// ```
    /// # fn f(events: &volary_core::Subscription<String>) {
    /// while let Some(event) = events.try_next() {
    ///     println!("{event:?}");
    /// }
    /// # }
    /// ```
    pub fn try_next(&self) -> Option<Result<E, Lagged>> {
        let mut inner = self.queue.inner.lock();
        if inner.lost > 0 {
            return Some(Err(Lagged(std::mem::take(&mut inner.lost))));
        }
        inner.events.pop_front().map(Ok)
    }
}

impl<E: Event> fmt::Debug for Subscription<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription")
            .field("waiting", &self.queue.inner.lock().events.len())
            .finish()
    }
}
