//! Subscriptions that somebody reads: a queue of what was published and not read yet.

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread::ThreadId;

use futures_core::Stream;

use super::Event;
use super::channel::{Member, Published, SubscriberInfo, let_go};
use super::options::{CAPACITY, Filter, SubscriptionOptions, Verdict};
use crate::dispatch::wake;
use crate::reference::ActorId;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicU64, Ordering::*};

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

pub(crate) struct Queue<E> {
    capacity: usize,
    filter: Filter<E>,
    inner: Mutex<Inner<E>>,
    lost: AtomicU64,
    lost_by_all: Arc<AtomicU64>,
}

struct Inner<E> {
    events: VecDeque<Published<E>>,
    /// Since the reader was told last.
    lost: u64,
    waker: Option<Waker>,
    closed: bool,
    /// Who is dropping what had to go. The drop of an event may publish, which makes another one go: that is left to
    /// the drop under way, since a queue full of such events would be deeper than the stack.
    dropping: Option<ThreadId>,
    gone: Vec<Published<E>>,
}

impl<E: Event> Queue<E> {
    pub(crate) fn new(options: SubscriptionOptions<E>, lost_by_all: Arc<AtomicU64>) -> Self {
        Queue {
            capacity: options.capacity.unwrap_or(CAPACITY),
            filter: options.filter,
            inner: Mutex::new(Inner {
                events: VecDeque::new(),
                lost: 0,
                waker: None,
                closed: false,
                dropping: None,
                gone: Vec::new(),
            }),
            lost: AtomicU64::new(0),
            lost_by_all,
        }
    }

    fn count_lost(&self) {
        self.lost.fetch_add(1, Relaxed);
        self.lost_by_all.fetch_add(1, Relaxed);
    }

    /// Drops what had to go, and what had to go because of that.
    fn let_go(&self, evicted: Published<E>) {
        let me = std::thread::current().id();
        {
            let mut inner = self.inner.lock();
            if inner.dropping == Some(me) {
                inner.gone.push(evicted);
                return;
            }
            if inner.dropping.is_none() {
                inner.dropping = Some(me);
            }
        }
        let_go(evicted);
        loop {
            let mut inner = self.inner.lock();
            if inner.dropping != Some(me) {
                return; // somebody else is at it, and will see to theirs
            }
            let Some(next) = inner.gone.pop() else {
                inner.dropping = None;
                return;
            };
            drop(inner);
            let_go(next);
        }
    }

    fn take(&self) -> Option<Result<E, Lagged>> {
        let mut inner = self.inner.lock();
        if inner.lost > 0 {
            return Some(Err(Lagged(std::mem::take(&mut inner.lost))));
        }
        let event = inner.events.pop_front()?;
        drop(inner);
        Some(event.own().map_err(|fault| {
            tracing::warn!(event = std::any::type_name::<E>(), %fault, "an event could not be cloned");
            self.count_lost();
            Lagged(1)
        }))
    }

    fn poll(&self, task: &Context<'_>) -> Poll<Result<E, Lagged>> {
        if let Some(event) = self.take() {
            return Poll::Ready(event);
        }
        let waker = task.waker().clone();
        let before = self.inner.lock().waker.replace(waker);
        drop(before);
        // It may have come between the look and the waker.
        match self.take() {
            Some(event) => Poll::Ready(event),
            None => Poll::Pending,
        }
    }
}

impl<E: Event> Member<E> for Queue<E> {
    fn deliver(&self, event: &Published<E>) -> bool {
        let verdict = self.filter.judge(event.event());
        if verdict == Verdict::Unwanted {
            return false;
        }
        // Not under the lock: it may be the user's clone.
        let mine = match verdict {
            Verdict::Wanted => event.share().ok(),
            _ => None,
        };
        let mut inner = self.inner.lock();
        if inner.closed {
            return false;
        }
        let (mut evicted, mut lost) = (None, 0);
        let taken = mine.is_some();
        match mine {
            None => lost = 1,
            Some(mine) => {
                if inner.events.len() >= self.capacity {
                    lost = 1;
                    evicted = inner.events.pop_front();
                }
                inner.events.push_back(mine);
            }
        }
        inner.lost += lost;
        let waker = inner.waker.take();
        drop(inner);
        if let Some(evicted) = evicted {
            self.let_go(evicted);
        }
        if lost > 0 {
            self.count_lost();
        }
        if let Some(waker) = waker {
            wake(waker);
        }
        taken
    }

    fn actor(&self) -> Option<ActorId> {
        None
    }

    fn dismiss(&self) {
        let mut inner = self.inner.lock();
        inner.closed = true;
        let events = std::mem::take(&mut inner.events);
        drop(inner);
        events.into_iter().for_each(let_go);
    }

    fn info(&self) -> SubscriberInfo {
        SubscriberInfo {
            path: None,
            id: None,
            waiting: self.inner.lock().events.len(),
            capacity: self.capacity,
            lost: self.lost.load(Relaxed),
        }
    }
}

/// A subscription to events of one type, or to a topic. Holds up to 1,024 unread events unless told otherwise; when
/// one more comes the oldest is lost, and the next read says how many were.
///
/// Also a [`Stream`] of the same results.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let words: Subscription<String> = system.events().subscribe();
/// system.events().publish("hello".to_owned());
/// match words.next().await {
///     Ok(word) => assert_eq!(word, "hello"),
///     Err(lagged) => println!("{lagged}"),
/// }
/// # system.stop().await?; Ok(()) }
/// ```
#[must_use = "dropping a subscription ends it"]
pub struct Subscription<E: Event> {
    queue: Arc<Queue<E>>,
    leave: Option<Box<dyn FnOnce() + Send + Sync>>,
}

impl<E: Event> Subscription<E> {
    pub(crate) fn new(queue: Arc<Queue<E>>, leave: impl FnOnce() + Send + Sync + 'static) -> Self {
        Subscription {
            queue,
            leave: Some(Box::new(leave)),
        }
    }

    /// The next event, waiting for it. Cancel safe.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let words = system.events().subscribe::<String>();
    /// system.events().publish("hello".to_owned());
    /// assert_eq!(words.next().await?, "hello");
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// How many events were lost since the last one, if any were; call again for the next.
    pub async fn next(&self) -> Result<E, Lagged> {
        poll_fn(|task| self.queue.poll(task)).await
    }

    /// The next event, if it is there.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let words = system.events().subscribe::<String>();
    /// assert!(words.try_next().is_none());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn try_next(&self) -> Option<Result<E, Lagged>> {
        self.queue.take()
    }

    /// How many events wait to be read.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let words = system.events().subscribe::<String>();
    /// system.events().publish("hello".to_owned());
    /// assert_eq!(words.waiting(), 1);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.queue.info().waiting
    }

    /// How many events it has lost so far.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let words = system.events().subscribe::<String>();
    /// assert_eq!(words.lost(), 0);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.queue.lost.load(Relaxed)
    }
}

impl<E: Event> Stream for Subscription<E> {
    type Item = Result<E, Lagged>;

    /// Never ends.
    fn poll_next(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.queue.poll(task).map(Some)
    }
}

impl<E: Event> Drop for Subscription<E> {
    fn drop(&mut self) {
        if let Some(leave) = self.leave.take() {
            leave();
        }
        self.queue.dismiss();
    }
}

impl<E: Event> fmt::Debug for Subscription<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription")
            .field("waiting", &self.waiting())
            .field("lost", &self.lost())
            .finish()
    }
}
