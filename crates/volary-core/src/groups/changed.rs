//! The event of a group.

use std::convert::Infallible;

use crate::actor::Message;
use crate::reference::ActorId;
use crate::tree::Path;

/// What happened to a membership.
///
/// ```
/// # use volary_core::groups::{Change, GroupChanged};
/// fn is_new(event: &GroupChanged) -> bool { event.change == Change::Joined }
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
/// # fn f(system: &volary_core::ActorSystem) {
/// let changes = system.events().subscribe::<volary_core::groups::GroupChanged>();
/// # }
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
