//! The event that a topic has come to be, or has vanished.

use std::convert::Infallible;
use std::sync::Arc;

use crate::actor::Message;

/// Whether anybody subscribes to a topic now.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let changes = system.events().subscribe::<TopicInterest>();
/// let gifts = system.topics().listen::<Deposit>("gifts")?;
/// assert_eq!(changes.next().await?.interest, Interest::Begun);
/// # drop(gifts);
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Interest {
    /// The first subscriber has come.
    Begun,
    /// The last subscriber has gone, and the topic with it.
    Ended,
}

/// A topic got its first subscriber, or lost its last. Of two about the same topic the one with the greater revision is
/// the newer, whichever arrives first.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let changes = system.events().subscribe::<TopicInterest>();
/// let gifts = system.topics().listen::<Deposit>("gifts")?;
/// let change = changes.next().await?;
/// assert_eq!((&*change.topic, change.interest), ("gifts", Interest::Begun));
/// drop(gifts);
/// assert_eq!(changes.next().await?.interest, Interest::Ended);
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TopicInterest {
    /// The topic.
    pub topic: Arc<str>,
    /// The Rust type of its messages.
    pub message_type: &'static str,
    /// What has changed.
    pub interest: Interest,
    /// Grows with every change in this system.
    pub revision: u64,
}

impl Message for TopicInterest {
    type Reply = ();
    type Rejection = Infallible;
}
