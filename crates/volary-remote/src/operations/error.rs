//! Why an operation came to nothing.

use volary_core::{RemoteError, UndescribableProps};

/// An operation on another node that did not work.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # use volary_remote::OperationError;
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (remote, bank) = two_nodes().await?;
/// match remote.at("10.0.0.7:4242").stop("/user/nobody").await {
///     Err(OperationError::Nobody { who, .. }) => println!("{who} was gone already"),
///     other => panic!("{other:?}"),
/// }
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OperationError {
    /// The node could not be reached, or the connection broke; that says whether it may have been done.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// Nobody lives there. Look for somebody else.
    #[error("nobody lives at {who} of {node}")]
    Nobody {
        /// Which node.
        node: String,
        /// Who was meant.
        who: String,
    },
    /// This node does not have the right there. Ask whoever runs that node, see [`Rights`](crate::Rights).
    #[error("{node} forbids `{operation}`: {why}")]
    Forbidden {
        /// Which node.
        node: String,
        /// What was asked for.
        operation: &'static str,
        /// What it says.
        why: String,
    },
    /// The node does not know the operation: it runs another version.
    #[error("{node} does not know the operation `{operation}`")]
    Unknown {
        /// Which node.
        node: String,
        /// What was asked for.
        operation: &'static str,
    },
    /// The node can make no sense of what was asked: correct it.
    #[error("{node} can make no sense of `{operation}`: {why}")]
    BadRequest {
        /// Which node.
        node: String,
        /// What was asked for.
        operation: &'static str,
        /// What it says.
        why: String,
    },
    /// It was tried and failed there; the reason says whether trying again may help.
    #[error("`{operation}` failed at {node}: {why}")]
    Failed {
        /// Which node.
        node: String,
        /// What was asked for.
        operation: &'static str,
        /// What it says.
        why: String,
    },
    /// The answer cannot be read: the node runs another version, or is no node. The operation may have been done.
    #[error("the answer of {node} to `{operation}` cannot be read: {why}")]
    Unreadable {
        /// Which node.
        node: String,
        /// What was asked for.
        operation: &'static str,
        /// What is wrong.
        why: String,
    },
}

/// An actor was not started on another node.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # use volary_remote::RemoteSpawnError;
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (remote, bank) = two_nodes().await?;
/// match remote.spawn::<Account>("10.0.0.7:4242", "alice").await {
///     Err(RemoteSpawnError::Taken { why, .. }) => println!("choose another name: {why}"),
///     other => panic!("{other:?}"),
/// }
/// # Ok(()) }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteSpawnError {
    /// The operation came to nothing: out of reach, forbidden, no such parent.
    #[error(transparent)]
    Operation(#[from] OperationError),
    /// The options hold what cannot travel. Nothing was sent.
    #[error("the options cannot travel: {0}")]
    Props(#[from] UndescribableProps),
    /// The options hold something newer than what travels between nodes. Nothing was sent.
    #[error("the {option} cannot travel")]
    Option {
        /// Which one.
        option: &'static str,
    },
    /// Actors of this kind are not [spawnable](crate::RemoteBuilder::spawnable) there.
    #[error("{kind} cannot be started at {node}: {why}")]
    NotSpawnable {
        /// Which node.
        node: String,
        /// The kind.
        kind: String,
        /// What the node says.
        why: String,
    },
    /// Somebody there has the name: choose another, or look that one up.
    #[error("the name is taken at {node}: {why}")]
    Taken {
        /// Which node.
        node: String,
        /// What the node says.
        why: String,
    },
    /// The name cannot be one.
    #[error("{node} does not take the name: {why}")]
    Name {
        /// Which node.
        node: String,
        /// What the node says.
        why: String,
    },
    /// The factory or the `started` hook failed there. Nothing is left behind.
    #[error("it did not start at {node}: {why}")]
    Start {
        /// Which node.
        node: String,
        /// What the node says.
        why: String,
    },
    /// The parent is stopping or asleep there, or the whole node is stopping.
    #[error("nothing can be started there at {node}: {why}")]
    Parent {
        /// Which node.
        node: String,
        /// What the node says.
        why: String,
    },
    /// The node cannot give what the options ask for: a dispatcher or a dependency that it does not have, a value out
    /// of bounds.
    #[error("{node} cannot start it with these options: {why}")]
    Options {
        /// Which node.
        node: String,
        /// What the node says.
        why: String,
    },
}
