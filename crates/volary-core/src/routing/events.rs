//! What routers tell on the event stream.

use std::convert::Infallible;

use crate::actor::Message;
use crate::reference::ActorId;
use crate::tree::Path;

/// What a router did about a routee that was lost.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # use volary_core::routing::{FailedRoutee, Loss, Pool, RoundRobin, RouteeLost};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let pool = Pool::of(2, Account::default).on_failure(FailedRoutee::Replace);
/// # let accounts = system.router(RoundRobin, pool).await?;
/// let losses = system.events().subscribe::<RouteeLost>();
/// let first = accounts.routees()[0].path.to_string();
/// system.lookup::<Account>(&first).expect("it lives").stop();
/// assert_eq!(losses.next().await?.loss, Loss::Replaced);
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Loss {
    /// Another has its seat.
    Replaced,
    /// Another will have its seat: it could not be started yet.
    Delayed,
    /// Its seat is gone.
    Dropped,
}

/// A routee has ended, and its router had not told it to.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # use volary_core::routing::{FailedRoutee, Pool, RoundRobin, RouteeLost};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let pool = Pool::of(2, Account::default).on_failure(FailedRoutee::Drop);
/// # let accounts = system.router(RoundRobin, pool).await?;
/// let losses = system.events().subscribe::<RouteeLost>();
/// let first = accounts.routees()[0].path.to_string();
/// system.lookup::<Account>(&first).expect("it lives").stop();
/// assert_eq!(losses.next().await?.left, 1);
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RouteeLost {
    /// Where the router lives.
    pub router: Path,
    /// Where the routee lived.
    pub path: Path,
    /// Its incarnation.
    pub id: ActorId,
    /// What was done about it.
    pub loss: Loss,
    /// How many routees are left, or there again.
    pub left: usize,
}

impl Message for RouteeLost {
    type Reply = ();
    type Rejection = Infallible;
}

/// A router has another number of routees, by its own measure or because it was told to.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # use volary_core::routing::{Pool, RoundRobin, RouterResized};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// # let accounts = system.router(RoundRobin, Pool::of(2, Account::default)).await?;
/// let sizes = system.events().subscribe::<RouterResized>();
/// accounts.resize(4).await?;
/// let resized = sizes.next().await?;
/// assert_eq!((resized.from, resized.to), (2, 4));
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RouterResized {
    /// Where the router lives.
    pub router: Path,
    /// How many routees there were.
    pub from: usize,
    /// How many there are.
    pub to: usize,
}

impl Message for RouterResized {
    type Reply = ();
    type Rejection = Infallible;
}
