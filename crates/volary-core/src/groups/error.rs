//! How joining can fail.

use crate::tree::Path;

/// Why an actor did not join a group.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// use volary_core::groups::JoinError;
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// alice.stop();
/// alice.terminated().await;
/// let joined = system.groups().of::<Account>("accounts").join(&alice);
/// assert!(matches!(joined, Err(JoinError::Ended { .. })));
/// # system.stop().await?; Ok(()) }
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
