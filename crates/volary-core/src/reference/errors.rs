//! How sending, asking and spawning can fail, and what to do then.

use std::convert::Infallible;
use std::fmt;
use std::time::Duration;

use super::cycle::Cycle;
use crate::actor::{Fault, Rejection};
use crate::mailbox::{Reason, Refusal};
use crate::tree::{NameError, Path};

/// A `tell` that was refused. The message comes back.
///
/// ```
/// # use volary_core::TellError;
/// let error = TellError::Full("hello");
/// assert_eq!(error.into_message(), "hello");
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TellError<M> {
    /// The actor has stopped, or is about to. Look it up again or give up.
    Stopped(M),
    /// The mailbox is full. Use `send(..).await` to wait for room, or shed load.
    Full(M),
    /// An [interceptor](crate::Interceptor) did not let it pass. Its reason is in the log; whoever asks is told.
    Refused(M),
    /// The receiver lives elsewhere, and the message cannot be written for other machines: its type is not registered, its
    /// codec fails, or it is too large. The log says which, and whoever asks is told.
    Unsendable(M),
    /// A router could not tell whose it is: its key function panicked on this message. That is a bug of the key
    /// function, reported as a fault of the router; another attempt ends the same way.
    Unroutable(M),
}

impl<M> TellError<M> {
    pub(crate) fn new(refusal: Refusal, message: M) -> Self {
        match refusal {
            Refusal::Closed => TellError::Stopped(message),
            Refusal::Full | Refusal::Denied => TellError::Full(message),
            Refusal::Intercepted => TellError::Refused(message),
            Refusal::Unsendable => TellError::Unsendable(message),
        }
    }

    /// The message that was not sent.
    ///
    /// ```
    /// # use volary_core::TellError;
    /// assert_eq!(TellError::Stopped(7).into_message(), 7);
    /// ```
    pub fn into_message(self) -> M {
        match self {
            TellError::Stopped(message)
            | TellError::Full(message)
            | TellError::Refused(message)
            | TellError::Unsendable(message)
            | TellError::Unroutable(message) => message,
        }
    }

    /// Whether the mailbox was full, so that trying again may help.
    ///
    /// ```
    /// # use volary_core::TellError;
    /// assert!(TellError::Full(7).is_full());
    /// ```
    pub fn is_full(&self) -> bool {
        matches!(self, TellError::Full(_))
    }
}

impl<M> fmt::Debug for TellError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = std::any::type_name::<M>();
        match self {
            TellError::Stopped(_) => write!(f, "Stopped({name})"),
            TellError::Full(_) => write!(f, "Full({name})"),
            TellError::Refused(_) => write!(f, "Refused({name})"),
            TellError::Unsendable(_) => write!(f, "Unsendable({name})"),
            TellError::Unroutable(_) => write!(f, "Unroutable({name})"),
        }
    }
}

impl<M> fmt::Display for TellError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TellError::Stopped(_) => f.write_str("the actor has stopped"),
            TellError::Full(_) => f.write_str("the mailbox is full"),
            TellError::Refused(_) => f.write_str("an interceptor refused the message"),
            TellError::Unsendable(_) => write!(
                f,
                "the receiver lives on another node, and this {} cannot be sent there: it is not registered with the \
                 remoting, its codec fails, or it is too large; the log says which",
                std::any::type_name::<M>()
            ),
            TellError::Unroutable(_) => f.write_str("the router's key function panicked on the message"),
        }
    }
}

impl<M> std::error::Error for TellError<M> {}

/// A `send` that was refused. The message comes back.
///
/// ```
/// # use volary_core::{SendError, TellError};
/// let error = SendError::Refused(TellError::Full("hello"));
/// assert_eq!(error.into_message(), "hello");
/// ```
#[non_exhaustive]
pub enum SendError<M> {
    /// As for `tell`.
    Refused(TellError<M>),
    /// There was no room within the deadline.
    Timeout(M),
}

impl<M> SendError<M> {
    /// The message that was not sent.
    ///
    /// ```
    /// # use volary_core::SendError;
    /// assert_eq!(SendError::Timeout(7).into_message(), 7);
    /// ```
    pub fn into_message(self) -> M {
        match self {
            SendError::Refused(error) => error.into_message(),
            SendError::Timeout(message) => message,
        }
    }
}

impl<M> fmt::Debug for SendError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SendError::Refused(error) => write!(f, "Refused({error:?})"),
            SendError::Timeout(_) => write!(f, "Timeout({})", std::any::type_name::<M>()),
        }
    }
}

impl<M> fmt::Display for SendError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SendError::Refused(error) => error.fmt(f),
            SendError::Timeout(_) => f.write_str("the mailbox had no room within the deadline"),
        }
    }
}

impl<M> std::error::Error for SendError<M> {}

/// An `ask` that got no answer of the expected kind. It ends exactly once, in one of these ways.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// #[derive(Debug)]
/// struct Overdrawn { missing: i64 }
/// # impl Rejection for Overdrawn {}
/// # struct Withdraw(i64); impl Message for Withdraw { type Reply = i64; type Rejection = Overdrawn; }
/// # impl SyncHandler<Withdraw> for Account {
/// #     fn handle(&mut self, withdraw: Withdraw, _: &mut Context<Self>) -> Result<i64, Failure<Overdrawn>> {
/// #         Err(Failure::Rejected(Overdrawn { missing: withdraw.0 - self.cents }))
/// #     }
/// # }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// match alice.ask(Withdraw(15)).await.expect_err("she has nothing") {
///     AskError::Rejected(Overdrawn { missing }) => assert_eq!(missing, 15),
///     AskError::Timeout { after } => panic!("no answer within {after:?}"),
///     other => panic!("{other}"),
/// }
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskError<R: Rejection = Infallible> {
    /// The actor answered "no".
    #[error("rejected: {0:?}")]
    Rejected(R),
    /// The actor crashed on this very message.
    #[error("the actor failed on this message: {0}")]
    Failed(#[source] Fault),
    /// The message was handled and its `ReplyTo` dropped unused.
    #[error("the message was handled without an answer")]
    NoReply,
    /// The mailbox was full: the message was not taken.
    #[error("the mailbox is full")]
    Full,
    /// An [interceptor](crate::Interceptor) did not let the message pass; it was not handled.
    #[error("refused by an interceptor: {reason}")]
    Refused {
        /// What it wants.
        reason: &'static str,
    },
    /// The actor had stopped, or stopped before it came to the message.
    #[error("the actor has stopped")]
    Stopped,
    /// No answer came in time. The message is not handled any more if it was not begun.
    #[error("no answer within {after:?}")]
    Timeout {
        /// How long the asker was willing to wait.
        after: Duration,
    },
    /// Something went wrong between the nodes. In a box, since answers should stay small.
    #[error("{0}")]
    Remote(Box<RemoteError>),
    /// Waiting would never end: the actors named wait for each other.
    #[error("{0}")]
    Cycle(Cycle),
}

impl<R: Rejection> AskError<R> {
    /// The target lives elsewhere, and `M` cannot be written.
    pub(crate) fn unsendable<M>(why: Reason) -> Self {
        let name = std::any::type_name::<M>().to_owned();
        AskError::Remote(Box::new(match why {
            Reason::Said(why) => RemoteError::Unsendable {
                name,
                why: why.to_owned(),
            },
            Reason::TooLarge { bytes, most } => {
                let [bytes, most] = [bytes, most].map(|count| count as usize);
                RemoteError::TooLarge { name, bytes, most }
            }
        }))
    }
}

/// What can go wrong between two nodes.
///
/// ```
/// # use volary_core::RemoteError;
/// let lost = RemoteError::Unconfirmed { node: "10.0.0.7:4242".to_owned() };
/// assert!(!lost.is_certainly_not_handled());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// There is no connection to the node, and none could be made in time. The message was not sent; try again.
    #[error("{node} cannot be reached: {why}")]
    Unreachable {
        /// Which node.
        node: String,
        /// What is known of the reason.
        why: String,
    },
    /// The connection broke before the message was confirmed: it may have been handled. Ask whether it was.
    #[error("the connection to {node} broke before the message was confirmed: it may have been handled")]
    Unconfirmed {
        /// Which node.
        node: String,
    },
    /// The receiver has more mail than its share there. Send less, or later.
    #[error("{node} is busy: the receiver has more mail than its share")]
    Busy {
        /// Which node.
        node: String,
    },
    /// The node there does not know the message, or that actor does not take it from other nodes.
    #[error("{node} does not take {name}: {why}")]
    NotTaken {
        /// Which node.
        node: String,
        /// The name of the message.
        name: String,
        /// What it says.
        why: String,
    },
    /// The message cannot be sent to that node, and was not: it is not registered, it cannot be written, or what travels
    /// along with it is more than the node takes.
    #[error("{name} cannot be sent to that node: {why}")]
    Unsendable {
        /// The name of the message.
        name: String,
        /// What is wrong.
        why: String,
    },
    /// The answer cannot be read. The message was handled.
    #[error("the answer to {name} cannot be read: {why}")]
    Codec {
        /// The name of the message.
        name: String,
        /// What is wrong.
        why: String,
    },
    /// The message is longer than that node, or this one, lets pass. It was not sent; send less at a time.
    #[error("{name} is too large for that node: it has {bytes} bytes, and {most} are taken")]
    TooLarge {
        /// The name of the message.
        name: String,
        /// How many bytes it has as it is written.
        bytes: usize,
        /// How many it may have.
        most: usize,
    },
}

impl RemoteError {
    /// Whether the message was certainly not handled, so that sending it again does no harm.
    ///
    /// ```
    /// # use volary_core::RemoteError;
    /// assert!(RemoteError::Busy { node: "a:1".to_owned() }.is_certainly_not_handled());
    /// let (name, why) = ("shop.Order".to_owned(), "it has too many headers".to_owned());
    /// assert!(RemoteError::Unsendable { name, why }.is_certainly_not_handled());
    /// ```
    #[must_use]
    pub fn is_certainly_not_handled(&self) -> bool {
        !matches!(self, RemoteError::Unconfirmed { .. } | RemoteError::Codec { .. })
    }
}

/// Some messages of a batch were not sent.
///
/// ```
/// # use volary_core::{TellAllError, TellError};
/// let error = TellAllError { error: TellError::Full('c'), rest: vec!['d', 'e'] };
/// assert_eq!(error.into_messages(), ['c', 'd', 'e']);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct TellAllError<M> {
    /// The first that was refused.
    pub error: TellError<M>,
    /// Those behind it, which were not tried.
    pub rest: Vec<M>,
}

impl<M> TellAllError<M> {
    /// Everything that was not sent, in order.
    ///
    /// ```
    /// # use volary_core::{TellAllError, TellError};
    /// let error = TellAllError { error: TellError::Stopped(1), rest: vec![2] };
    /// assert_eq!(error.into_messages(), [1, 2]);
    /// ```
    pub fn into_messages(self) -> Vec<M> {
        let mut all = self.rest;
        all.insert(0, self.error.into_message());
        all
    }
}

impl<M> fmt::Debug for TellAllError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rest = self.rest.len();
        f.debug_struct("TellAllError")
            .field("error", &self.error)
            .field("rest", &rest)
            .finish()
    }
}

impl<M> fmt::Display for TellAllError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {} more behind it were not sent", self.error, self.rest.len())
    }
}

impl<M> std::error::Error for TellAllError<M> {}

/// A `spawn` that did not lead to a running actor. Nothing is left behind.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let twice = system.spawn(Account::default).named("alice").await;
/// assert!(matches!(twice, Err(SpawnError::Duplicate { .. })));
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// The name cannot be used; the reason says why.
    #[error("cannot name an actor {name:?}: {reason}")]
    Name {
        /// The name that was asked for.
        name: String,
        /// What is wrong with it.
        #[source]
        reason: NameError,
    },
    /// A sibling has this name. Choose another, or look that one up.
    #[error("an actor named {path} exists already")]
    Duplicate {
        /// Where it lives.
        path: Path,
    },
    /// The parent, or the whole system, is stopping.
    #[error("cannot spawn below {parent}: it is stopping")]
    Stopping {
        /// The parent.
        parent: Path,
    },
    /// The parent is passivated, or about to be: it has children again once a message has woken it.
    #[error("cannot spawn below {parent}: it is asleep")]
    Asleep {
        /// The parent.
        parent: Path,
    },
    /// The factory or the `started` hook failed as often as the settings allow.
    #[error("{path} did not start after {attempts} attempts: {fault}")]
    Start {
        /// Where it would have lived.
        path: Path,
        /// How often it was tried.
        attempts: u32,
        /// The last fault.
        #[source]
        fault: Fault,
    },
    /// No dispatcher of this name was given to the builder.
    #[error("there is no dispatcher named {name:?}; the builder knows {known}")]
    UnknownDispatcher {
        /// The name that was asked for.
        name: String,
        /// Those there are.
        known: String,
    },
    /// A bounded mailbox needs room for at least one message.
    #[error("a bounded mailbox needs a capacity of at least 1, not {capacity}")]
    Capacity {
        /// What was asked for.
        capacity: usize,
    },
    /// A stash needs room for at least one message.
    #[error("a stash needs a capacity of at least 1, not 0")]
    Stash,
    /// An option of the actor has a value that it cannot have.
    #[error("`{option}` cannot be {value}: {allowed}")]
    Option {
        /// Which option.
        option: &'static str,
        /// What was asked for.
        value: String,
        /// What it can be.
        allowed: &'static str,
    },
    /// The supervision makes no sense.
    #[error(transparent)]
    Supervision(#[from] crate::supervision::SupervisionError),
    /// There are more actors than ids (2^24 on each of eight shelves).
    #[error("the system has no id left for another actor")]
    Exhausted,
}
