//! Why something cannot be published to or subscribed to under a name.

use std::fmt;
use std::sync::Arc;

use thiserror::Error;

/// The topic carries messages of another type. Use that type, or another name.
///
/// ```
/// # fn f(error: volary_core::TopicTypeError) {
/// println!("{} carries {}, not {}", error.topic, error.carries, error.given);
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the topic `{topic}` carries {carries}, not {given}")]
#[non_exhaustive]
pub struct TopicTypeError {
    /// The topic.
    pub topic: Arc<str>,
    /// What its subscribers take.
    pub carries: &'static str,
    /// What was published, or asked for.
    pub given: &'static str,
}

/// A message that was not published. It comes back.
///
/// ```
/// # use volary_core::PublishError;
/// # fn f(error: PublishError<String>) {
/// println!("{error}");
/// let message = error.into_message();
/// # }
/// ```
#[non_exhaustive]
pub enum PublishError<M> {
    /// The topic carries messages of another type; nobody got it.
    OtherType(TopicTypeError, M),
}

impl<M> PublishError<M> {
    /// The message.
    ///
    /// ```
    /// # use volary_core::PublishError;
    /// # fn f(error: PublishError<String>) -> String {
    /// error.into_message()
    /// # }
    /// ```
    pub fn into_message(self) -> M {
        let PublishError::OtherType(_, message) = self;
        message
    }
}

impl<M> fmt::Debug for PublishError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PublishError::OtherType(error, _) = self;
        f.debug_tuple("OtherType").field(error).finish()
    }
}

impl<M> fmt::Display for PublishError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PublishError::OtherType(error, _) = self;
        error.fmt(f)
    }
}

impl<M> std::error::Error for PublishError<M> {}
