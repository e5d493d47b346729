//! The event that a topic has come to be, or has vanished.

use std::convert::Infallible;
use std::sync::Arc;

use crate::actor::Message;

/// Whether anybody subscribes to a topic now.
///
/// ```
/// # use volary_core::Interest;
/// assert_ne!(Interest::Begun, Interest::Ended);
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
/// # use volary_core::{ActorSystem, TopicInterest};
/// # async fn f(system: &ActorSystem) {
/// let changes = system.events().subscribe::<TopicInterest>();
/// while let Ok(change) = changes.next().await {
///     println!("{}: {:?}", change.topic, change.interest);
/// }
/// # }
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
