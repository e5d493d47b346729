//! An ask answered with a stream: a bounded queue between the producer and whoever asked.
//!
//! The handler answers with the reading half at once and keeps the other: in a task that it spawns, or in its state, to
//! be fed as things happen. Either way the actor goes on with its other messages.

use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_core::Stream;

use super::errors::{StreamClosed, StreamError, TrySendItemError};
use crate::actor::Fault;
use crate::dispatch::{Ending, Host, wake};
use crate::sync::Mutex;
use crate::system::{ActorSystem, Sleep};

struct Shared<T> {
    capacity: usize,
    state: Mutex<State<T>>,
}

struct State<T> {
    items: VecDeque<T>,
    end: Option<End>,
    unread: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

/// The producer is gone.
enum End {
    Complete,
    Broken(StreamError),
    /// The reader knows.
    Told,
}

/// The reading half of a stream that answers an ask. Also a [`Stream`] of the same results.
///
/// The deadline of the ask is for this answer only, not for the elements; see
/// [`idle_timeout`](Streaming::idle_timeout) for those. Dropping it ends the producer, at its next `send`.
///
/// ```
/// # use std::convert::Infallible;
/// # use volary_core::*;
/// struct CountTo(u32);
/// impl Message for CountTo {
///     type Reply = Streaming<u32>;
///     type Rejection = Infallible;
/// }
///
/// struct Counter;
/// # impl Actor for Counter {}
/// impl SyncHandler<CountTo> for Counter {
///     fn handle(&mut self, to: CountTo, ctx: &mut Context<Self>) -> Result<Streaming<u32>, Failure> {
///         let (mut reply, stream) = Streaming::channel(16);
///         ctx.spawn(async move {
///             for n in 1..=to.0 {
///                 if reply.send(n).await.is_err() {
///                     return; // nobody reads any more
///                 }
///             }
///         });
///         Ok(stream)
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let system = ActorSystem::builder("demo").start().await?;
/// let counter = system.spawn(|| Counter).await?;
/// let mut numbers = counter.ask(CountTo(100)).await?;
/// let mut sum = 0;
/// while let Some(number) = numbers.next().await {
///     sum += number?;
/// }
/// assert_eq!(sum, 5_050);
/// # system.stop().await?; Ok(()) }
/// ```
#[must_use = "dropping it ends the stream"]
pub struct Streaming<T> {
    shared: Arc<Shared<T>>,
    idle: Option<Idle>,
}

struct Idle {
    system: ActorSystem,
    after: Duration,
    alarm: Option<Sleep>,
}

impl<T> Streaming<T> {
    /// Both halves of a stream of which up to `capacity` elements wait to be read; at least one.
    ///
    /// ```
    /// # use volary_core::Streaming;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() {
    /// let (mut reply, mut stream) = Streaming::channel(4);
    /// reply.try_send("first").unwrap();
    /// drop(reply);
    /// assert_eq!(stream.next().await.unwrap().unwrap(), "first");
    /// assert!(stream.next().await.is_none());
    /// # }
    /// ```
    pub fn channel(capacity: usize) -> (StreamReply<T>, Streaming<T>) {
        let shared = Arc::new(Shared {
            capacity: capacity.max(1),
            state: Mutex::new(State {
                items: VecDeque::new(),
                end: None,
                unread: false,
                reader: None,
                writer: None,
            }),
        });
        let reply = StreamReply { shared: shared.clone() };
        (reply, Streaming { shared, idle: None })
    }

    /// How long to wait for each element, on the clock of the system. When none comes in time the stream ends with
    /// [`StreamError::Idle`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let (reply, numbers) = Streaming::<u32>::channel(4);
    /// let mut numbers = numbers.idle_timeout(&system, Duration::from_millis(5));
    /// assert!(matches!(numbers.next().await, Some(Err(StreamError::Idle { .. }))));
    /// # drop(reply);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn idle_timeout(mut self, system: &ActorSystem, after: Duration) -> Self {
        self.idle = Some(Idle {
            system: system.clone(),
            after,
            alarm: None,
        });
        self
    }

    /// The next element, waiting for it; `None` when there will be no more. Cancel safe.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), volary_core::StreamError> {
    /// # let (mut reply, mut numbers) = volary_core::Streaming::channel(4);
    /// # assert!(reply.try_send(3).is_ok() && reply.try_send(4).is_ok());
    /// # reply.finish();
    /// let mut sum = 0; // of the numbers 3 and 4
    /// while let Some(number) = numbers.next().await {
    ///     sum += number?;
    /// }
    /// assert_eq!(sum, 7);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Once, if the producer went away before it was done.
    pub async fn next(&mut self) -> Option<Result<T, StreamError>> {
        poll_fn(|task| self.poll_item(task)).await
    }

    fn poll_item(&mut self, task: &mut Context<'_>) -> Poll<Option<Result<T, StreamError>>> {
        let waker = task.waker().clone();
        let mut state = self.shared.state.lock();
        let item = state.items.pop_front();
        if let Some(item) = item {
            let writer = state.writer.take();
            drop(state);
            if let Some(idle) = &mut self.idle {
                idle.alarm = None;
            }
            if let Some(writer) = writer {
                wake(writer);
            }
            return Poll::Ready(Some(Ok(item)));
        }
        if let Some(end) = state.end.replace(End::Told) {
            return Poll::Ready(match end {
                End::Broken(error) => Some(Err(error)),
                End::Complete | End::Told => None,
            });
        }
        state.end = None;
        let before = state.reader.replace(waker);
        drop(state);
        drop(before);
        self.poll_idle(task)
    }

    fn poll_idle(&mut self, task: &mut Context<'_>) -> Poll<Option<Result<T, StreamError>>> {
        let Some(Idle { system, after, alarm }) = &mut self.idle else {
            return Poll::Pending;
        };
        let after = *after;
        let alarm = alarm.get_or_insert_with(|| system.sleep(after));
        if Pin::new(alarm).poll(task).is_pending() {
            return Poll::Pending;
        }
        self.close(End::Told);
        Poll::Ready(Some(Err(StreamError::Idle { after })))
    }

    /// Nobody reads any more.
    fn close(&mut self, end: End) {
        let mut state = self.shared.state.lock();
        state.unread = true;
        state.end = Some(end);
        let items = std::mem::take(&mut state.items);
        let writer = state.writer.take();
        drop(state);
        if let Some(writer) = writer {
            wake(writer);
        }
        drop(items);
    }
}

impl<T> Unpin for Streaming<T> {}

impl<T> Stream for Streaming<T> {
    type Item = Result<T, StreamError>;

    fn poll_next(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_item(task)
    }
}

impl<T> Drop for Streaming<T> {
    fn drop(&mut self) {
        self.close(End::Told);
    }
}

impl<T> fmt::Debug for Streaming<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Streaming")
            .field("waiting", &self.shared.state.lock().items.len())
            .finish_non_exhaustive()
    }
}

/// The producing half of a stream that answers an ask; see [`Streaming`].
///
/// Dropping it completes the stream, except where it goes down with its actor: if that crashes, or the task that holds it
/// panics, the reader hears [`StreamError::Failed`]; if the actor stops or the task is aborted, [`StreamError::Stopped`].
/// A handler that holds it as a local and returns a fault has dropped it before anybody knows of that; such a handler
/// says so itself, with [`fail`](StreamReply::fail).
///
/// ```
/// # use volary_core::{StreamReply, Streaming};
/// async fn produce(mut reply: StreamReply<u32>) {
///     for n in 0.. {
///         if reply.send(n).await.is_err() {
///             return;
///         }
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (reply, mut numbers) = Streaming::channel(4);
/// let producer = tokio::spawn(produce(reply));
/// assert!(matches!(numbers.next().await, Some(Ok(0))));
/// drop(numbers);
/// producer.await?; // it has noticed
/// # Ok(()) }
/// ```
#[must_use = "dropping it completes the stream"]
pub struct StreamReply<T> {
    shared: Arc<Shared<T>>,
}

impl<T> StreamReply<T> {
    /// Adds an element, waiting for room for as long as it takes. Cancel safe: dropped before it is ready, the element
    /// was not sent and goes with it.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), volary_core::StreamClosed<u32>> {
    /// # let (mut reply, mut numbers) = volary_core::Streaming::channel(4);
    /// reply.send(7).await?;
    /// assert!(matches!(numbers.next().await, Some(Ok(7))));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The element, if nobody reads any more.
    pub async fn send(&mut self, item: T) -> Result<(), StreamClosed<T>> {
        let mut item = Some(item);
        poll_fn(|task| {
            let waker = task.waker().clone();
            let Some(offered) = item.take() else {
                panic!("a send was polled after it had ended")
            };
            match self.offer(offered, Some(waker)) {
                Ok(()) => Poll::Ready(Ok(())),
                Err(TrySendItemError::Closed(back)) => Poll::Ready(Err(StreamClosed(back))),
                Err(TrySendItemError::Full(back)) => {
                    item = Some(back);
                    Poll::Pending
                }
            }
        })
        .await
    }

    /// Adds an element if there is room.
    ///
    /// ```
    /// # use volary_core::{Streaming, TrySendItemError};
    /// let (mut reply, stream) = Streaming::channel(1);
    /// assert!(reply.try_send(1).is_ok());
    /// assert_eq!(reply.try_send(2), Err(TrySendItemError::Full(2)));
    /// drop(stream);
    /// assert_eq!(reply.try_send(3), Err(TrySendItemError::Closed(3)));
    /// ```
    ///
    /// # Errors
    /// The element, if the reader is behind or gone.
    pub fn try_send(&mut self, item: T) -> Result<(), TrySendItemError<T>> {
        self.offer(item, None)
    }

    fn offer(&mut self, item: T, waker: Option<Waker>) -> Result<(), TrySendItemError<T>> {
        let mut state = self.shared.state.lock();
        if state.unread {
            return Err(TrySendItemError::Closed(item));
        }
        if state.items.len() >= self.shared.capacity {
            let before = waker.and_then(|waker| state.writer.replace(waker));
            drop(state);
            drop(before);
            return Err(TrySendItemError::Full(item));
        }
        state.items.push_back(item);
        let reader = state.reader.take();
        drop(state);
        if let Some(reader) = reader {
            wake(reader);
        }
        Ok(())
    }

    /// Whether somebody still reads.
    ///
    /// ```
    /// # use volary_core::Streaming;
    /// let (reply, stream) = Streaming::<u32>::channel(1);
    /// assert!(reply.is_wanted());
    /// drop(stream);
    /// assert!(!reply.is_wanted());
    /// ```
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        !self.shared.state.lock().unread
    }

    /// Completes the stream, wherever that happens.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() {
    /// # let (reply, mut numbers) = volary_core::Streaming::<u32>::channel(4);
    /// reply.finish();
    /// assert!(numbers.next().await.is_none());
    /// # }
    /// ```
    pub fn finish(self) {
        self.end(End::Complete);
    }

    /// Ends the stream with a failure, without crashing the actor that says so.
    ///
    /// ```
    /// # use volary_core::{Fault, StreamError};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() {
    /// # let (reply, mut numbers) = volary_core::Streaming::<u32>::channel(4);
    /// reply.fail(&Fault::msg("the backend is gone"));
    /// assert!(matches!(numbers.next().await, Some(Err(StreamError::Failed(_)))));
    /// # }
    /// ```
    pub fn fail(self, fault: &Fault) {
        self.end(End::Broken(StreamError::Failed(fault.clone())));
    }

    /// The first end counts.
    fn end(&self, end: End) {
        let mut state = self.shared.state.lock();
        if state.end.is_some() {
            return;
        }
        state.end = Some(end);
        let reader = state.reader.take();
        drop(state);
        if let Some(reader) = reader {
            wake(reader);
        }
    }
}

impl<T> Drop for StreamReply<T> {
    fn drop(&mut self) {
        self.end(end_of_here());
    }
}

/// How a stream ends whose producer is dropped just now.
fn end_of_here() -> End {
    let ending = Host::with(|host| {
        let ending = host.ending();
        match ending {
            Ending::Stopped => Ending::Aborted(host.current().and_then(crate::cell::Header::crash)),
            other => other,
        }
    });
    match ending {
        Some(Ending::Failed(fault) | Ending::Aborted(Some(fault))) => End::Broken(StreamError::Failed(fault)),
        Some(Ending::Aborted(None) | Ending::Stopped) => End::Broken(StreamError::Stopped),
        _ if std::thread::panicking() => End::Broken(StreamError::Failed(Fault::msg("the producer panicked"))),
        _ => End::Complete,
    }
}

impl<T> fmt::Debug for StreamReply<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamReply")
            .field("wanted", &self.is_wanted())
            .finish()
    }
}
