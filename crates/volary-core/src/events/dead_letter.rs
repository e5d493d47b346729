//! Dead letters: messages that could not be delivered and that nobody was there to take back.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::sync::Mutex;

use crate::reference::ActorId;
use crate::tree::{Address, Path};

/// Why a message was not delivered.
///
/// ```
/// # use volary_core::DeadReason;
/// assert_eq!(DeadReason::Stopped.to_string(), "the receiver stopped");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeadReason {
    /// The receiver stopped before it came to the message.
    Stopped,
    /// An ask whose deadline had passed before it was begun.
    Expired,
    /// An ask whose asker had given up before it was begun.
    Abandoned,
    /// A mailbox of the user's own dropped the letter.
    Discarded,
    /// The receiver said that it does not handle the message, as it is now.
    Unhandled,
    /// A scheduled message, or the result of a [pipe](crate::Context::pipe), for which the mailbox had no room.
    Full,
    /// A scheduled message, or the result of a [pipe](crate::Context::pipe), to a path where nobody takes it.
    Nobody,
    /// An [interceptor](crate::Interceptor) did not let it pass, for this reason.
    Intercepted(&'static str),
    /// The receiver lives elsewhere, and the message cannot be written for other machines.
    Unsendable,
    /// The receiver lives elsewhere, and its node could not be reached. It was not handled.
    Unreachable,
    /// The connection to the receiver's node broke before the message was confirmed. It may have been handled.
    Unconfirmed,
}

impl fmt::Display for DeadReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DeadReason::Intercepted(reason) => return write!(f, "an interceptor refused it: {reason}"),
            DeadReason::Stopped => "the receiver stopped",
            DeadReason::Expired => "its deadline had passed",
            DeadReason::Abandoned => "its asker had given up",
            DeadReason::Discarded => "the mailbox dropped it",
            DeadReason::Unhandled => "the receiver did not handle it",
            DeadReason::Full => "the mailbox was full",
            DeadReason::Nobody => "nobody there takes it",
            DeadReason::Unsendable => "it cannot be written for other machines",
            DeadReason::Unreachable => "the receiver's node could not be reached",
            DeadReason::Unconfirmed => "the connection broke before it was confirmed",
        })
    }
}

/// A message that was accepted and could not be delivered; published on the event stream. So is the result of a
/// [pipe](crate::Context::pipe) that was refused: whoever began it is not there to take it back.
///
/// Exactly one is published for each such message. The message itself is kept for the first
/// subscriber that takes it, unless it had left for another node, or had come from one and could not be read: of such a
/// message no more is known here than what it was and whom it was for.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// # let letters = system.events().subscribe::<DeadLetter>();
/// alice.tell(Deposit(5))?;
/// alice.kill(); // before she comes to it
/// let letter: DeadLetter = letters.next().await?;
/// assert_eq!((letter.receiver(), letter.reason()), (&alice.path(), DeadReason::Stopped));
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Clone)]
pub struct DeadLetter {
    pub(crate) reason: DeadReason,
    pub(crate) sender: Option<ActorId>,
    pub(crate) sender_path: Option<Path>,
    pub(crate) receiver: Path,
    pub(crate) receiver_id: Option<ActorId>,
    pub(crate) address: Option<Address>,
    pub(crate) message_type: Cow<'static, str>,
    pub(crate) message: Arc<Mutex<Option<Box<dyn Any + Send>>>>,
}

impl DeadLetter {
    /// Why it was not delivered.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let letters = system.events().subscribe::<DeadLetter>();
    /// # alice.tell(Deposit(5))?;
    /// # alice.kill();
    /// # let letter = letters.next().await?;
    /// assert_eq!(letter.reason(), DeadReason::Stopped);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn reason(&self) -> DeadReason {
        self.reason
    }

    /// Who sent it; `None` from outside of any actor.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let letters = system.events().subscribe::<DeadLetter>();
    /// # alice.tell(Deposit(5))?;
    /// # alice.kill();
    /// # let letter = letters.next().await?;
    /// assert_eq!(letter.sender(), None, "no actor has sent it");
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn sender(&self) -> Option<ActorId> {
        self.sender
    }

    /// Where the sender lives, if it is still there.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let letters = system.events().subscribe::<DeadLetter>();
    /// # alice.tell(Deposit(5))?;
    /// # alice.kill();
    /// # let letter = letters.next().await?;
    /// assert_eq!(letter.sender_path(), None, "no actor has sent it");
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn sender_path(&self) -> Option<&Path> {
        self.sender_path.as_ref()
    }

    /// Whom it was for.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let letters = system.events().subscribe::<DeadLetter>();
    /// # alice.tell(Deposit(5))?;
    /// # alice.kill();
    /// # let letter = letters.next().await?;
    /// assert_eq!(letter.receiver().to_string(), "/user/alice");
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn receiver(&self) -> &Path {
        &self.receiver
    }

    /// The incarnation that it was for; `None` if nobody lived there.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let letters = system.events().subscribe::<DeadLetter>();
    /// # alice.tell(Deposit(5))?;
    /// # alice.kill();
    /// # let letter = letters.next().await?;
    /// assert_eq!(letter.receiver_id(), Some(alice.id()));
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn receiver_id(&self) -> Option<ActorId> {
        self.receiver_id
    }

    /// Where it was for, with the node, if that is another one; `None` for actors of this system.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let letters = system.events().subscribe::<DeadLetter>();
    /// # alice.tell(Deposit(5))?;
    /// # alice.kill();
    /// # let letter = letters.next().await?;
    /// assert_eq!(letter.address(), None, "the receiver was here");
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn address(&self) -> Option<&Address> {
        self.address.as_ref()
    }

    /// The Rust type of the message, for logs; of one that came from another node and is not known here, the name that it
    /// was sent under.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let letters = system.events().subscribe::<DeadLetter>();
    /// # alice.tell(Deposit(5))?;
    /// # alice.kill();
    /// # let letter = letters.next().await?;
    /// assert!(letter.message_type().ends_with("Deposit"));
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn message_type(&self) -> &str {
        &self.message_type
    }

    /// Takes the message out, if it is an `M` and nobody has taken it before.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let letters = system.events().subscribe::<DeadLetter>();
    /// # alice.tell(Deposit(5))?;
    /// # alice.kill();
    /// # let letter = letters.next().await?;
    /// assert_eq!(letter.take::<Deposit>(), Some(Deposit(5)));
    /// assert_eq!(letter.take::<Deposit>(), None, "it was taken");
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn take<M: 'static>(&self) -> Option<M> {
        let mut message = self.message.lock();
        match message.take()?.downcast::<M>() {
            Ok(found) => Some(*found),
            Err(other) => {
                *message = Some(other);
                None
            }
        }
    }
}

impl fmt::Debug for DeadLetter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeadLetter")
            .field("message", &self.message_type)
            .field("reason", &self.reason)
            .field("sender", &self.sender_path)
            .field("receiver", &self.receiver)
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}
