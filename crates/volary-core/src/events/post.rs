//! Subscriptions of actors: events that arrive as messages.
//!
//! What waits for an actor is counted here and not by its mailbox, which may be unbounded. When as many wait as may, the
//! next are lost; the actor is told how many by a [`Missed`], in their place: after what came before them and before what
//! comes after. One lock per subscriber keeps the count and the order in the mailbox the same thing.

use std::any::{TypeId, type_name};
use std::convert::Infallible;
use std::sync::{Arc, Weak};

use super::Event;
use super::channel::{Member, Published, SubscriberInfo, let_go};
use super::options::{CAPACITY, Filter, SubscriptionOptions, Verdict};
use crate::actor::Message;
use crate::cell::state::DEAD;
use crate::cell::{Arrival, Header, Membership, Parcel, post_parcel};
use crate::dispatch::Step;
use crate::mailbox::Envelope;
use crate::reference::{ActorId, Recipient, depart, envelope_from_here, untimed};
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};
use crate::sync::{Guard, Mutex};
use crate::tree::Path;

use super::DeadReason;

/// Events or messages of a topic that an actor was too slow for. Arrives in their place, if the actor handles this type
/// and lists it in its [`messages`](crate::Actor::messages), as `#[actor]` does.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/board.rs"));
/// impl SyncHandler<Missed> for Board {
///     fn handle(&mut self, missed: Missed, _: &mut Context<Self>) -> Result<(), Failure> {
///         self.lost += missed.lost;
///         Ok(())
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, board) = board().await?;
/// for number in 0..3 {
///     system.events().publish(Price(number)); // of which one may wait
/// }
/// # while board.ask(Lost).await? == 0 { tokio::task::yield_now().await; }
/// assert_eq!(board.ask(Lost).await?, 2);
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Missed {
    /// The topic; `None` for the event stream.
    pub topic: Option<Arc<str>>,
    /// The Rust type of what was lost.
    pub message_type: &'static str,
    /// How many.
    pub lost: u64,
}

impl Message for Missed {
    type Reply = ();
    type Rejection = Infallible;
}

/// An actor was too slow for what it has subscribed to. Published when what was lost is known, whether or not the actor
/// handles [`Missed`].
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/board.rs"));
/// # impl SyncHandler<Missed> for Board {
/// #     fn handle(&mut self, missed: Missed, _: &mut Context<Self>) -> Result<(), Failure> {
/// #         self.lost += missed.lost;
/// #         Ok(())
/// #     }
/// # }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, board) = board().await?;
/// let events = system.events().subscribe::<SubscriberLagged>();
/// for number in 0..3 {
///     system.events().publish(Price(number)); // of which one may wait
/// }
/// # board.ask(Lost).await?;
/// assert_eq!(events.next().await?.id, board.id());
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SubscriberLagged {
    /// Where the actor lives.
    pub path: Path,
    /// Its incarnation.
    pub id: ActorId,
    /// What it has lost.
    pub missed: Missed,
}

impl Message for SubscriberLagged {
    type Reply = ();
    type Rejection = Infallible;
}

/// The place of an actor among the subscribers.
pub(crate) struct Post<E: Event + Message> {
    /// This place, for what is put into the mailbox.
    me: Weak<Self>,
    to: Recipient<E>,
    /// If the actor wants to know what it has lost.
    missed: Option<Recipient<Missed>>,
    topic: Option<Arc<str>>,
    capacity: u64,
    filter: Filter<E>,
    flow: Mutex<Flow>,
    dismissed: AtomicBool,
    lost: AtomicU64,
    lost_by_all: Arc<AtomicU64>,
    /// Takes it off the list.
    leave: Box<dyn Fn(u64) + Send + Sync>,
}

#[derive(Default)]
struct Flow {
    /// Events in the mailbox.
    waiting: u64,
    /// Since the actor was told last.
    lost: u64,
    /// Notices of losses in the mailbox.
    notices: u64,
}

impl<E: Event + Message> Post<E> {
    pub(crate) fn new(
        to: Recipient<E>,
        topic: Option<Arc<str>>,
        options: SubscriptionOptions<E>,
        lost_by_all: Arc<AtomicU64>,
        leave: impl Fn(u64) + Send + Sync + 'static,
    ) -> Arc<Self> {
        let cell = to.cell();
        let missed = (cell.table.accepts)(TypeId::of::<Missed>()).map(|table| Recipient::new(cell.clone(), table));
        let held = cell.bound().map_or(CAPACITY as u64, |bound| bound.capacity);
        Arc::new_cyclic(|me| Post {
            me: me.clone(),
            capacity: options
                .capacity
                .map_or(held.clamp(1, CAPACITY as u64), |capacity| capacity as u64),
            missed,
            to,
            topic,
            filter: options.filter,
            flow: Mutex::default(),
            dismissed: AtomicBool::new(false),
            lost: AtomicU64::new(0),
            lost_by_all,
            leave: Box::new(leave),
        })
    }

    /// Sees to it that the actor leaves when it ends. False: it has ended.
    pub(crate) fn hold_on(self: &Arc<Self>) -> bool {
        let cell = self.to.cell();
        cell.with_links(|links| {
            if links.ended || cell.state.has(DEAD) {
                return false;
            }
            links.memberships().subscriptions.push(self.clone());
            true
        })
    }

    fn count_lost(&self) {
        self.lost.fetch_add(1, Relaxed);
        self.lost_by_all.fetch_add(1, Relaxed);
        self.to.cell().system().count_refused();
    }

    /// Posts the notice of what was lost, under the lock of the flow. True: the actor is to be scheduled.
    fn tell_lost(self: &Arc<Self>, flow: &mut Flow) -> bool {
        let lost = std::mem::take(&mut flow.lost);
        if self.missed.is_none() {
            return false;
        }
        let notice = Delivery {
            post: self.clone(),
            inside: Inside::Missed(lost),
        };
        let posted = post_parcel(self.to.cell(), Envelope::OUTSIDE, notice);
        flow.notices += u64::from(posted.is_ok());
        posted.unwrap_or(false) // if the mailbox is closed, nobody is left to be told
    }

    fn notice(&self, lost: u64) -> Missed {
        Missed {
            topic: self.topic.clone(),
            message_type: type_name::<E>(),
            lost,
        }
    }

    /// Lets others know. Not under the lock: that publishes.
    fn report(&self, lost: u64) {
        if TypeId::of::<E>() != TypeId::of::<SubscriberLagged>() {
            self.to.cell().system().report_lag(self.to.cell(), self.notice(lost));
        }
    }

    /// One event was taken out of the mailbox.
    fn taken(self: &Arc<Self>) {
        let mut flow = self.flow.lock();
        flow.waiting -= 1;
        self.tell_if_empty(flow);
    }

    /// With nothing left in the mailbox perhaps no later event would bring the news of what was lost.
    fn tell_if_empty(self: &Arc<Self>, mut flow: Guard<'_, Flow>) {
        if flow.waiting > 0 || flow.notices > 0 || flow.lost == 0 {
            return;
        }
        let lost = flow.lost;
        let schedule = self.tell_lost(&mut flow);
        drop(flow);
        if schedule {
            self.to.cell().schedule();
        }
        self.report(lost);
    }
}

impl<E: Event + Message> Member<E> for Post<E> {
    fn deliver(&self, event: &Published<E>) -> bool {
        let verdict = self.filter.judge(event.event());
        if verdict == Verdict::Unwanted {
            return false;
        }
        let cell = self.to.cell();
        // Not under the lock: it may be the user's clone.
        let mine = match verdict {
            Verdict::Wanted => event.share().ok(),
            _ => None,
        };
        let Some(post) = self.me.upgrade() else { return false };
        let mut envelope = envelope_from_here(cell);
        // Events are the runtime's voice, and tell of layers too: what these say to them would be heard by them again.
        if self.topic.is_none() {
            envelope = untimed(envelope);
        } else if depart(cell, &mut envelope, event.event()).is_err() {
            cell.system().count_refused();
            return false;
        }
        let mut flow = self.flow.lock();
        let Some(mine) = mine.filter(|_| flow.waiting < self.capacity) else {
            flow.lost += 1;
            envelope.drop_carried();
            self.count_lost();
            post.tell_if_empty(flow);
            return false;
        };
        let lost = flow.lost;
        let mut schedule = lost > 0 && post.tell_lost(&mut flow);
        let inside = Inside::Event(mine);
        let delivery = Delivery { post, inside };
        let posted = post_parcel(cell, envelope, delivery);
        flow.waiting += u64::from(posted.is_ok());
        drop(flow);
        if lost > 0 {
            self.report(lost);
        }
        let taken = match posted {
            Ok(idle) => {
                schedule |= idle;
                true
            }
            Err(_) => {
                self.count_lost(); // it takes no mail any more, and will leave
                false
            }
        };
        if schedule {
            cell.schedule();
        }
        taken
    }

    fn actor(&self) -> Option<ActorId> {
        Some(self.to.id())
    }

    fn dismiss(&self) {
        self.dismissed.store(true, Release);
        let me = std::ptr::from_ref(self).cast::<()>();
        let _gone = self.to.cell().with_links(|links| {
            let mine = |other: &Arc<dyn Membership>| Arc::as_ptr(other).cast::<()>() == me;
            let subscriptions = &mut links.memberships.as_mut()?.subscriptions;
            let at = subscriptions.iter().position(mine)?;
            Some(subscriptions.swap_remove(at))
        });
    }

    fn info(&self) -> SubscriberInfo {
        SubscriberInfo {
            path: Some(self.to.path()),
            id: Some(self.to.id()),
            waiting: usize::try_from(self.flow.lock().waiting).unwrap_or(usize::MAX),
            capacity: usize::try_from(self.capacity).unwrap_or(usize::MAX),
            lost: self.lost.load(Relaxed),
        }
    }
}

impl<E: Event + Message> Membership for Post<E> {
    fn leave(&self) {
        (self.leave)(self.to.id().raw());
    }
}

/// An event on its way to one actor.
struct Delivery<E: Event + Message> {
    post: Arc<Post<E>>,
    inside: Inside<E>,
}

enum Inside<E> {
    Event(Published<E>),
    /// So many were lost here.
    Missed(u64),
}

impl<E: Event + Message> Parcel for Delivery<E> {
    fn open(self, arrival: &Arrival<'_>) -> Step {
        let post = self.post;
        let event = match self.inside {
            Inside::Event(event) => event,
            Inside::Missed(lost) => {
                let mut flow = post.flow.lock();
                flow.notices -= 1;
                post.tell_if_empty(flow);
                return match &post.missed {
                    Some(to) if !post.dismissed.load(Acquire) => arrival.deliver(to, post.notice(lost)),
                    _ => Step::Done,
                };
            }
        };
        post.taken();
        if post.dismissed.load(Acquire) {
            let_go(event);
            return Step::Done;
        }
        match event.own() {
            Ok(event) => arrival.deliver(&post.to, event),
            Err(fault) => {
                post.count_lost();
                let mut flow = post.flow.lock();
                flow.lost += 1;
                post.tell_if_empty(flow);
                let cell = arrival.cell();
                cell.system().report_hook_fault(cell, "event", &fault);
                Step::Done
            }
        }
    }

    fn discard(self, cell: &Header, sender: u64, reason: DeadReason) {
        let Inside::Event(event) = self.inside else { return };
        if self.post.dismissed.load(Acquire) {
            return let_go(event);
        }
        match event.own() {
            Ok(event) => cell.system().dead_letter(cell, sender, reason, event),
            Err(_) => self.post.count_lost(),
        }
    }
}
