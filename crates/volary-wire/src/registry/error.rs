//! How registration, sending and delivery can fail, and what to do then.

use crate::codec::{CodecId, DecodeError, EncodeError};

/// A type could not be registered. A mistake in the program: fail the start.
///
/// ```
/// use volary_wire::RegisterError;
/// let error = RegisterError::DuplicateMessage { name: "a.B".into(), first: "one::B", second: "two::B" };
/// assert_eq!(
///     error.to_string(),
///     "the message name `a.B` is taken by `one::B`: give `two::B` another with `#[message(remote = \"…\")]`"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// Two messages with one name. Rename one, or register one by [`Registry::message_as`](crate::Registry::message_as).
    #[error(
        "the message name `{name}` is taken by `{first}`: give `{second}` another with `#[message(remote = \"…\")]`"
    )]
    DuplicateMessage {
        /// The name.
        name: String,
        /// The type that has it.
        first: &'static str,
        /// The type that wants it too.
        second: &'static str,
    },
    /// Two actors with one name. Rename one, or register one by [`Registry::kind_as`](crate::Registry::kind_as).
    #[error("the kind `{name}` is taken by `{first}`: give `{second}` another with `#[actor(kind = \"…\")]`")]
    DuplicateKind {
        /// The name.
        name: String,
        /// The type that has it.
        first: &'static str,
        /// The type that wants it too.
        second: &'static str,
    },
    /// One type under two names. Register it once.
    #[error("`{type_name}` is registered as `{first}` already, and cannot be `{second}` as well")]
    TwoNames {
        /// The type.
        type_name: &'static str,
        /// The name that it has.
        first: String,
        /// The other.
        second: String,
    },
    /// A name that nobody should have. Use letters, digits, `.`, `_`, `-`, `/` and `:`.
    #[error("`{name}` cannot be the name of `{type_name}`: 1 to 255 letters, digits or `._-/:` are needed")]
    BadName {
        /// The name.
        name: String,
        /// The type.
        type_name: &'static str,
    },
}

/// A message of this node could not be written.
///
/// ```
/// # use volary_wire::Registry;
/// # struct Deposit;
/// # impl volary_core::Message for Deposit { type Reply = (); type Rejection = std::convert::Infallible; }
/// let error = Registry::new().entry::<Deposit>().unwrap_err();
/// assert!(error.to_string().contains("Deposit` is not registered"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SendEncodeError {
    /// The type is not registered. A mistake in the program; the text says what to write.
    #[error(
        "`{type_name}` is not registered, so it cannot leave this node: give it a name with \
         `#[message(remote = \"…\")]` and register it with `registry.message::<…>()` or the kind of its receiver"
    )]
    Unregistered {
        /// The type.
        type_name: &'static str,
    },
    /// The value cannot be written. Give the message back to whoever sends it.
    #[error(transparent)]
    Codec(#[from] EncodeError),
    /// The codec panicked. Give the message back.
    #[error("the codec of `{type_name}` panicked: {text}")]
    Panicked {
        /// The type.
        type_name: &'static str,
        /// What it said.
        text: String,
    },
}

/// A message from another node could not be handed to its receiver. It was not handled.
///
/// ```
/// use volary_wire::DeliverError;
/// assert_eq!(DeliverError::Full.to_string(), "the mailbox is full");
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeliverError {
    /// No such type here. Tell the sender so.
    #[error("no message `{name}` is registered here{near}")]
    UnknownMessage {
        /// What the peer called it.
        name: String,
        /// Names that are registered and look like it, as part of a sentence.
        near: String,
    },
    /// The receiver does not take this type from other nodes. Tell the sender so.
    #[error("other nodes may not send `{name}` to `{kind}`: list it in its `#[actor(remote(…))]`")]
    NotListed {
        /// The type.
        name: String,
        /// The kind of the receiver.
        kind: String,
    },
    /// The receiver is of no registered kind, or its kind changed. Tell the sender so.
    #[error("other nodes may send nothing to this actor: register its kind with `registry.kind::<…>()`")]
    UnknownKind,
    /// Written in another codec than this node reads. Tell the sender so; the two nodes declare the type differently.
    #[error("`{name}` is written in {expected} here, and came in {found}")]
    Codec {
        /// The type.
        name: &'static str,
        /// What this node reads.
        expected: CodecId,
        /// What came.
        found: CodecId,
    },
    /// The bytes are no such message. Tell the sender so.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The codec panicked. Tell the sender so.
    #[error("the codec of `{name}` panicked")]
    Panicked {
        /// The type.
        name: &'static str,
    },
    /// The receiver has stopped. A dead letter.
    #[error("the actor has stopped")]
    Stopped,
    /// It was not let out of this node, or not into the mailbox: it cannot be written for its receiver, which lives
    /// elsewhere, or an interceptor refused it.
    #[error("the message was refused on its way")]
    Refused,
    /// The receiver's mailbox is full. Answer that it is busy.
    #[error("the mailbox is full")]
    Full,
}
