//! Whoever subscribed to one thing: a type of event, or a topic.
//!
//! Publishers work on a snapshot of the members, made when there is none, so that publishing holds no lock and whoever
//! is called may subscribe, leave and publish. What is published is shared by all members until one takes its copy.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::Event;
use crate::actor::Fault;
use crate::dispatch::contain;
use crate::reference::ActorId;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicU64, Ordering::*};
use crate::tree::Path;

/// One subscriber.
pub(crate) trait Member<E>: Send + Sync {
    /// Puts the event where the subscriber will find it. False: it is lost to this one, or not wanted.
    fn deliver(&self, event: &Published<E>) -> bool;

    /// The actor, if it is one.
    fn actor(&self) -> Option<ActorId>;

    /// It was taken off the list: what it was not given yet it does not want any more.
    fn dismiss(&self);

    fn info(&self) -> SubscriberInfo;
}

/// A subscriber to an event or a topic, as it is just now.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let letters = system.events().subscribe::<DeadLetter>();
/// for subscriber in system.events().subscribers::<DeadLetter>() {
///     println!("{:?}: {} waiting, {} lost", subscriber.path, subscriber.waiting, subscriber.lost);
///     assert_eq!(subscriber.path, None, "it is no actor");
/// }
/// # assert_eq!(system.events().subscribers::<DeadLetter>().len(), 1);
/// # drop(letters);
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SubscriberInfo {
    /// Where the actor lives; `None` for a [`Subscription`](crate::Subscription).
    pub path: Option<Path>,
    /// Its incarnation.
    pub id: Option<ActorId>,
    /// How many events wait for it.
    pub waiting: usize,
    /// How many may.
    pub capacity: usize,
    /// How many it has lost so far.
    pub lost: u64,
}

/// The largest event that is copied instead of shared.
const PLAIN_BYTES: usize = 32;

pub(crate) struct Channel<E> {
    members: Mutex<Members<E>>,
    published: AtomicU64,
}

type Snapshot<E> = Arc<[Arc<dyn Member<E>>]>;

struct Members<E> {
    next: u64,
    /// In the order in which they came.
    by_place: BTreeMap<u64, Arc<dyn Member<E>>>,
    /// The places of actors, by their ids.
    actors: BTreeMap<u64, u64>,
    snapshot: Option<Snapshot<E>>,
}

impl<E: Event> Channel<E> {
    pub(crate) fn new() -> Self {
        Channel {
            members: Mutex::new(Members {
                next: 0,
                by_place: BTreeMap::new(),
                actors: BTreeMap::new(),
                snapshot: None,
            }),
            published: AtomicU64::new(0),
        }
    }

    /// Gives an event to all members; how many took it.
    pub(crate) fn publish(&self, event: E) -> usize {
        let members = self.snapshot();
        self.published.fetch_add(1, Relaxed);
        let event = Published::new(event);
        let mut taken = 0;
        for member in &*members {
            taken += usize::from(member.deliver(&event));
        }
        let_go(event);
        taken
    }

    fn snapshot(&self) -> Snapshot<E> {
        let members = &mut *self.members.lock();
        members
            .snapshot
            .get_or_insert_with(|| members.by_place.values().cloned().collect())
            .clone()
    }

    /// Adds a member; `None` if it is an actor that is there already.
    pub(crate) fn add(&self, member: Arc<dyn Member<E>>) -> Option<u64> {
        let actor = member.actor().map(ActorId::raw);
        let mut members = self.members.lock();
        if actor.is_some_and(|id| members.actors.contains_key(&id)) {
            return None;
        }
        let place = members.next;
        members.next += 1;
        if let Some(id) = actor {
            members.actors.insert(id, place);
        }
        members.by_place.insert(place, member);
        let before = members.snapshot.take();
        drop(members);
        drop(before);
        Some(place)
    }

    /// Takes a member off the list.
    pub(crate) fn remove(&self, place: u64) -> Option<Arc<dyn Member<E>>> {
        let mut members = self.members.lock();
        let gone = members.by_place.remove(&place)?;
        if let Some(id) = gone.actor() {
            members.actors.remove(&id.raw());
        }
        let before = members.snapshot.take();
        drop(members);
        drop(before);
        Some(gone)
    }

    pub(crate) fn remove_actor(&self, id: u64) -> Option<Arc<dyn Member<E>>> {
        let place = self.members.lock().actors.get(&id).copied()?;
        self.remove(place)
    }
}

/// A channel, whatever it carries.
pub(crate) trait AnyChannel: Send + Sync {
    fn len(&self) -> usize;
    fn published(&self) -> u64;
    fn subscribers(&self) -> Vec<SubscriberInfo>;
    /// Takes an actor off the list; `None`: it was not there. What is returned is the user's in part, to be dropped
    /// outside of any lock.
    fn dismiss_actor(&self, id: u64) -> Option<Box<dyn Send>>;
}

impl<E: Event> AnyChannel for Channel<E> {
    fn len(&self) -> usize {
        self.members.lock().by_place.len()
    }

    fn published(&self) -> u64 {
        self.published.load(Relaxed)
    }

    fn subscribers(&self) -> Vec<SubscriberInfo> {
        self.snapshot().iter().map(|member| member.info()).collect()
    }

    fn dismiss_actor(&self, id: u64) -> Option<Box<dyn Send>> {
        let gone = self.remove_actor(id)?;
        gone.dismiss();
        Some(Box::new(gone))
    }
}

impl<E> fmt::Debug for Channel<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channel").finish_non_exhaustive()
    }
}

/// An event on its way to many: shared by them, or small and plain enough to be copied to each at once, which spares
/// them the count that all would write to.
pub(crate) enum Published<E> {
    Plain(E),
    Shared(Arc<E>),
}

impl<E: Event> Published<E> {
    const IS_PLAIN: bool = !std::mem::needs_drop::<E>() && size_of::<E>() <= PLAIN_BYTES;

    fn new(event: E) -> Self {
        if Self::IS_PLAIN {
            Published::Plain(event)
        } else {
            Published::Shared(Arc::new(event))
        }
    }

    pub(super) fn event(&self) -> &E {
        match self {
            Published::Plain(event) => event,
            Published::Shared(event) => event,
        }
    }

    /// For one more subscriber.
    pub(super) fn share(&self) -> Result<Self, Fault> {
        match self {
            Published::Plain(event) => contain(|| event.clone()).map(Published::Plain),
            Published::Shared(event) => Ok(Published::Shared(event.clone())),
        }
    }

    /// Takes a subscriber's own; the last of those who share gets the original.
    pub(super) fn own(self) -> Result<E, Fault> {
        match self {
            Published::Plain(event) => Ok(event),
            Published::Shared(event) => contain(|| Arc::try_unwrap(event).unwrap_or_else(|shared| E::clone(&shared))),
        }
    }
}

/// Drops what may be the last of an event: a panic in that is nobody else's.
pub(super) fn let_go<T>(event: T) {
    if let Err(fault) = contain(|| drop(event)) {
        tracing::warn!(event = std::any::type_name::<T>(), %fault, "the drop of an event failed");
    }
}
