//! How joining can fail.

use crate::tree::Path;

/// Why an actor did not join a group.
///
/// ```
/// # use volary_core::{Actor, ActorRef};
/// # use volary_core::groups::{Group, JoinError};
/// # fn f<A: Actor>(group: &Group<A>, actor: &ActorRef<A>) {
/// if let Err(JoinError::Ended { path }) = group.join(actor) {
///     println!("{path} is not there any more");
/// }
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JoinError {
    /// The actor has ended. Look it up again or give up.
    #[error("{path} has ended")]
    Ended {
        /// Where it lived.
        path: Path,
    },
    /// The actor lives in another system. Let it join a group of that one.
    #[error("{path} lives in the system {system:?}, not in that of the group")]
    Elsewhere {
        /// Where it lives.
        path: Path,
        /// In which system.
        system: String,
    },
}
