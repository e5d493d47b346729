//! The event of a group.

use std::convert::Infallible;

use crate::actor::Message;
use crate::reference::ActorId;
use crate::tree::Path;

/// What happened to a membership.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// use volary_core::groups::{Change, GroupChanged};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let changes = system.events().subscribe::<GroupChanged>();
/// let accounts = system.groups().of::<Account>("accounts");
/// accounts.join(&alice)?;
/// assert_eq!(changes.next().await?.change, Change::Joined);
/// alice.stop();
/// assert_eq!(changes.next().await?.change, Change::Left);
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Change {
    /// The actor is a member now.
    Joined,
    /// The actor is no member any more: it left, or it ended.
    Left,
}

/// An actor has joined or left a group: on the event stream, and for those who [watch](crate::groups::Group::watch) it.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// use volary_core::groups::GroupChanged;
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let changes = system.events().subscribe::<GroupChanged>();
/// system.groups().of::<Account>("accounts").join(&alice)?;
/// let changed = changes.next().await?;
/// assert_eq!((changed.group.as_str(), changed.id), ("accounts", alice.id()));
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupChanged {
    /// The scope of the group; empty unless one was named.
    pub scope: String,
    /// The name of the group.
    pub group: String,
    /// What happened.
    pub change: Change,
    /// Where the member lives, or lived.
    pub path: Path,
    /// Its incarnation.
    pub id: ActorId,
}

impl Message for GroupChanged {
    type Reply = ();
    type Rejection = Infallible;
}
