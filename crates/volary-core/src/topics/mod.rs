//! Topics: messages to whoever subscribed to a name.
//!
//! A topic is there while somebody subscribes to it, and carries messages of one type: that of its first subscriber.
//! [`book`] knows all topics of a system; who subscribes to one is a channel, as for an event. [`handle`] is what users
//! hold, [`interest`] the event from which other nodes will learn which topics are wanted here.

mod book;
mod context;
mod errors;
mod handle;
mod interest;

pub(crate) use book::TopicBook;
pub use errors::{PublishError, TopicTypeError};
pub use handle::{TopicInfo, Topics};
pub use interest::{Interest, TopicInterest};
