//! Messages, replies and rejections: the vocabulary of an actor.
//!
//! Reply and rejection belong to the message, like the result of an RPC method, so that a
//! [`Recipient`](crate::Recipient) or a test double can be written without naming the actor.

use std::convert::Infallible;
use std::fmt;

/// Something an actor can be sent.
///
/// `#[actor]` makes these for you, and `#[derive(Message)]` turns any struct into one. Written by
/// hand it is two lines:
///
/// ```
/// use std::convert::Infallible;
/// use volary_core::Message;
///
/// struct Balance;
///
/// impl Message for Balance {
///     type Reply = i64;
///     type Rejection = Infallible; // it has an answer, always
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let system = volary_core::ActorSystem::builder("doc").start().await?;
/// # let account = system.spawn(volary_core::function(|| 5, |cents: &mut i64, Balance, _ctx| Ok(*cents))).await?;
/// assert_eq!(account.ask(Balance).await?, 5);
/// # system.stop().await?; Ok(()) }
/// ```
///
/// A message need not be `Sync`, `Clone` or small: up to [`INLINE_BYTES`](crate::INLINE_BYTES) it
/// travels inside the mailbox, larger ones are boxed without being asked.
pub trait Message: Send + 'static {
    /// What an `ask` answers.
    type Reply: Send + 'static;
    /// The answer "no": see [`Rejection`]. [`Infallible`] when there is none.
    type Rejection: Rejection;
}

/// A refusal that is part of the conversation, such as "the account is overdrawn".
///
/// A rejection goes to the asker as [`AskError::Rejected`](crate::AskError::Rejected) and never to
/// the supervisor. What should crash the actor is a [`Fault`](crate::Fault) instead.
///
/// ```
/// use volary_core::{AskError, Message, Rejection};
///
/// #[derive(Debug)]
/// struct Overdrawn { missing: i64 }
/// impl Rejection for Overdrawn {}
///
/// struct Withdraw(i64);
/// impl Message for Withdraw {
///     type Reply = ();
///     type Rejection = Overdrawn;
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let system = volary_core::ActorSystem::builder("doc").start().await?;
/// # let account = system.spawn(volary_core::function(|| (), |(), Withdraw(cents), _ctx| {
/// #     Err(volary_core::Failure::Rejected(Overdrawn { missing: cents }))
/// # })).await?;
/// let answer = account.ask(Withdraw(5)).await;
/// assert!(matches!(answer, Err(AskError::Rejected(Overdrawn { missing: 5 }))));
/// # system.stop().await?; Ok(()) }
/// ```
pub trait Rejection: fmt::Debug + Send + 'static {}

impl Rejection for Infallible {}
