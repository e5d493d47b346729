//! Why something cannot be published to or subscribed to under a name.

use std::fmt;
use std::sync::Arc;

use thiserror::Error;

/// The topic carries messages of another type. Use that type, or another name.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let gifts = system.topics().listen::<Deposit>("gifts")?;
/// let error: TopicTypeError = system.topics().listen::<String>("gifts").map(drop).unwrap_err();
/// println!("{error}");
/// # assert!(error.to_string().contains("gifts"));
/// # drop(gifts);
/// # system.stop().await?; Ok(()) }
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
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let gifts = system.topics().listen::<Deposit>("gifts")?;
/// let error: PublishError<&str> = system.topics().publish("gifts", "a cake").unwrap_err();
/// assert_eq!(error.into_message(), "a cake");
/// # drop(gifts);
/// # system.stop().await?; Ok(()) }
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
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// system.topics().subscribe::<Deposit>("gifts", &alice)?;
    /// let error = system.topics().publish("gifts", "a pony".to_owned()).unwrap_err();
    /// assert_eq!(error.into_message(), "a pony");
    /// # system.stop().await?; Ok(()) }
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
