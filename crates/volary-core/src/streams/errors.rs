//! How streams end, and why an element is not taken.

use std::fmt;
use std::time::Duration;

use thiserror::Error;

use crate::actor::Fault;

/// How a stream that was [attached](crate::Context::attach) to an actor has ended by itself.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/flow.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// alice
///     .attach(Flow([0].into_iter().map(|zero| 1 / zero)))
///     .on_end(|end| match end {
///         StreamEnd::Completed => Deposit(100),
///         StreamEnd::Panicked(fault) => {
///             println!("there will be no more: {fault}");
///             Deposit(1)
///         }
///         _ => Deposit(0),
///     })
///     .each(Deposit);
/// # saved(&alice, 1).await?;
/// assert_eq!(alice.ask(Balance).await?, 1);
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum StreamEnd {
    /// It had no more elements.
    Completed,
    /// The stream, or what makes messages of its elements, panicked. It was reported as a failure of the actor already.
    Panicked(Fault),
}

/// Why a [`Streaming`](crate::Streaming) ends without being complete. It comes once, after the last element; then there is
/// nothing more.
///
/// ```
/// # use volary_core::{Fault, StreamError, Streaming};
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let (reply, mut numbers) = Streaming::<u32>::channel(4);
/// reply.fail(&Fault::msg("the backend is gone"));
/// match numbers.next().await.expect("it says why it ends").expect_err("there was no number") {
///     StreamError::Failed(fault) => assert_eq!(fault.to_string(), "the backend is gone"),
///     other => panic!("ask again for the rest: {other}"),
/// }
/// # }
/// ```
#[derive(Debug, Clone, Error)]
#[non_exhaustive]
pub enum StreamError {
    /// The producer crashed, or said that it failed. What came before is good; the rest is not known.
    #[error("the producer failed: {0}")]
    Failed(#[source] Fault),
    /// The producer stopped, restarted without a crash or was aborted before it was done. Ask again, or somebody else.
    #[error("the producer stopped before it was done")]
    Stopped,
    /// No element came in time. The stream is closed, and the producer will notice. Ask again with more patience.
    #[error("no element within {after:?}")]
    Idle {
        /// The time it was given.
        after: Duration,
    },
}

/// Nobody reads the stream any more: stop producing. The element comes back.
///
/// ```
/// # use volary_core::StreamClosed;
/// assert_eq!(StreamClosed(7).0, 7);
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct StreamClosed<T>(
    /// The element.
    pub T,
);

impl<T> fmt::Debug for StreamClosed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StreamClosed({})", std::any::type_name::<T>())
    }
}

impl<T> fmt::Display for StreamClosed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nobody reads the stream any more")
    }
}

impl<T> std::error::Error for StreamClosed<T> {}

/// An element that was not taken at once. It comes back.
///
/// ```
/// # use volary_core::TrySendItemError;
/// assert_eq!(TrySendItemError::Full(7).into_item(), 7);
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrySendItemError<T> {
    /// The reader is behind. Use `send(..).await` to wait, or drop the element.
    Full(T),
    /// Nobody reads any more: stop producing.
    Closed(T),
}

impl<T> TrySendItemError<T> {
    /// The element.
    ///
    /// ```
    /// # use volary_core::TrySendItemError;
    /// assert_eq!(TrySendItemError::Closed(7).into_item(), 7);
    /// ```
    pub fn into_item(self) -> T {
        match self {
            TrySendItemError::Full(item) | TrySendItemError::Closed(item) => item,
        }
    }
}

impl<T> fmt::Debug for TrySendItemError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = std::any::type_name::<T>();
        match self {
            TrySendItemError::Full(_) => write!(f, "Full({name})"),
            TrySendItemError::Closed(_) => write!(f, "Closed({name})"),
        }
    }
}

impl<T> fmt::Display for TrySendItemError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TrySendItemError::Full(_) => "the reader of the stream is behind",
            TrySendItemError::Closed(_) => "nobody reads the stream any more",
        })
    }
}

impl<T> std::error::Error for TrySendItemError<T> {}
