//! What a router can be told besides the messages that it spreads.

use std::convert::Infallible;

use crate::actor::{Fault, Message, Rejection};
use crate::reference::{ActorRef, Target};

/// Why a router did not change its routees.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # use volary_core::routing::{ChangeError, RoundRobin};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let accounts = system.router(RoundRobin, vec![alice.clone()]).await?;
/// match accounts.resize(8).await {
///     Ok(size) => println!("now {size}"),
///     Err(AskError::Rejected(ChangeError::Start { size, .. })) => println!("no more than {size}"),
///     Err(error) => println!("{error}"), // those that it was given are all there are
/// }
/// # assert!(matches!(accounts.resize(8).await, Err(AskError::Rejected(ChangeError::NoPool))));
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeError {
    /// The router was given its routees: add and remove them instead.
    #[error("the router has no pool; add or remove routees instead")]
    NoPool,
    /// The router starts its routees itself: resize it instead.
    #[error("the router has a pool; resize it instead")]
    Pool,
    /// The router follows a group: let actors join or leave that.
    #[error("the router follows a group; actors join or leave that")]
    Group,
    /// The router is being drained. Nothing changes any more.
    #[error("the router is being drained")]
    Draining,
    /// A new routee did not start. Those that did are there.
    #[error("there are {size} routees now, since another did not start: {fault}")]
    Start {
        /// How many there are.
        size: usize,
        /// Why there are not more.
        #[source]
        fault: Fault,
    },
}

impl Rejection for ChangeError {}

macro_rules! orders {
    ($($name:ident $(<$target:ident>)? => $reply:ty, $rejection:ty;)*) => {$(
        impl $(<$target: Target>)? Message for $name $(<$target>)? {
            type Reply = $reply;
            type Rejection = $rejection;
        }
    )*};
}

pub(super) struct Resize(pub(super) usize);
pub(super) struct Add<T: Target>(pub(super) ActorRef<T>);
pub(super) struct Remove<T: Target>(pub(super) ActorRef<T>);
pub(super) struct Drain;
/// Time to measure.
#[derive(Clone)]
pub(super) struct Measure;
/// Time to fill seats that could not be filled before.
pub(super) struct Refill;

orders! {
    Resize => usize, ChangeError;
    Add<T> => usize, ChangeError;
    Remove<T> => usize, ChangeError;
    Drain => (), Infallible;
    Measure => (), Infallible;
    Refill => (), Infallible;
}
