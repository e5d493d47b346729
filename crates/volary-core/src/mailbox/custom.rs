//! Mailboxes of the user's own.
//!
//! Such a mailbox decides which message is next. The log stays in front of it as a doorbell: for
//! each letter that is taken, a short record rings, and each ring makes the actor pop one letter.
//! So scheduling, closing and accounting are those of every other actor, and the trait stays small.

use std::any::Any;
use std::ptr::NonNull;

use super::freight::Freight;
use super::record::{Envelope, INLINE_BYTES, Incoming, MessageTable, RecordKind};
use crate::cell::{CellRef, Header};
use crate::dispatch::{Host, Step};
use crate::events::DeadReason;
use crate::reference::{ActorId, ReplySlot};

/// A queue of letters with a rule of its own. It is shared between senders and the actor, so its
/// methods take `&self`.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// use std::sync::Mutex;
///
/// /// Newest first.
/// #[derive(Default)]
/// struct Stack(Mutex<Vec<Letter>>);
///
/// impl Mailbox for Stack {
///     fn push(&self, letter: Letter) -> Result<(), Letter> {
///         self.0.lock().unwrap().push(letter);
///         Ok(())
///     }
///     fn pop(&self) -> Option<Letter> {
///         self.0.lock().unwrap().pop()
///     }
///     fn len(&self) -> usize {
///         self.0.lock().unwrap().len()
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let bob = system.spawn(Account::default).mailbox(MailboxKind::custom(Stack::default)).await?;
/// let first = bob.ask(Deposit(5)).into_future();
/// let second = bob.ask(Deposit(6)).into_future();
/// assert_eq!(second.await?, 6);
/// assert_eq!(first.await?, 11);
/// # system.stop().await?; Ok(()) }
/// ```
pub trait Mailbox: Send + Sync + 'static {
    /// Takes a letter.
    ///
    /// # Errors
    /// The letter itself when there is no room; the sender is told.
    fn push(&self, letter: Letter) -> Result<(), Letter>;

    /// The next letter. Called by the actor alone, once for each letter that was taken.
    fn pop(&self) -> Option<Letter>;

    /// How many letters wait.
    fn len(&self) -> usize;

    /// Whether no letter waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A message on its way through a [`Mailbox`] of one's own.
///
/// A letter that is dropped instead of being kept becomes a dead letter: nothing is lost in
/// silence.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// use std::sync::Mutex;
///
/// #[derive(Default)]
/// struct Single(Mutex<Option<Letter>>);
///
/// impl Mailbox for Single {
///     /// A full one gives the letter back, and its sender is told.
///     fn push(&self, letter: Letter) -> Result<(), Letter> {
///         match &mut *self.0.lock().unwrap() {
///             Some(_) => return Err(letter),
///             empty => *empty = Some(letter),
///         }
///         Ok(())
///     }
///     # fn pop(&self) -> Option<Letter> { self.0.lock().unwrap().take() }
///     # fn len(&self) -> usize { usize::from(self.0.lock().unwrap().is_some()) }
///     // …
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let bob = system.spawn(Account::default).mailbox(MailboxKind::custom(Single::default)).await?;
/// bob.tell(Deposit(5))?;
/// assert!(bob.tell(Deposit(6)).is_err());
/// # system.stop().await?; Ok(()) }
/// ```
pub struct Letter {
    number: u64,
    receiver: CellRef,
    table: &'static MessageTable,
    envelope: Envelope,
    message: Option<Box<dyn Any + Send>>,
}

// SAFETY: the reply slot is made to be used by another thread than the asker's, and the message and what travels along
// are `Send`.
unsafe impl Send for Letter {}

impl Letter {
    pub(crate) fn new<M: Any + Send>(
        receiver: CellRef,
        table: &'static MessageTable,
        envelope: Envelope,
        message: M,
    ) -> Self {
        static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        Letter {
            number: NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed),
            receiver,
            table,
            envelope,
            message: Some(Box::new(message)),
        }
    }

    /// The message, if it is an `M`: for rules that look inside.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/letters.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # posted(|letter| {
    /// assert_eq!(letter.message::<Deposit>(), Some(&Deposit(5)));
    /// assert!(letter.message::<Balance>().is_none());
    /// # }).await }
    /// ```
    #[must_use]
    pub fn message<M: 'static>(&self) -> Option<&M> {
        self.message.as_ref().and_then(|message| message.downcast_ref())
    }

    /// Who sent it; `None` from outside of any actor.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/letters.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # posted(|letter| {
    /// assert_eq!(letter.sender(), None, "whoever tells is no actor");
    /// # }).await }
    /// ```
    #[must_use]
    pub fn sender(&self) -> Option<ActorId> {
        ActorId::from_raw(self.envelope.sender)
    }

    /// Name of the message's type, for logs.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/letters.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # posted(|letter| {
    /// assert!(letter.type_name().ends_with("Deposit"));
    /// # }).await }
    /// ```
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        (self.table.name)()
    }

    /// Whoever asked waits for this letter to be handled.
    pub(crate) fn set_reply(&mut self, reply: NonNull<ReplySlot>) {
        self.envelope.reply = Some(reply);
    }

    /// Hands the message to its handler.
    pub(crate) fn hand_over(self, handle: impl FnOnce(Incoming) -> Step) -> Step {
        self.open(handle).unwrap_or(Step::Done)
    }

    /// Tells one letter from another.
    pub(crate) fn identity(&self) -> u64 {
        self.number
    }

    /// Ends a letter that will not be delivered.
    pub(crate) fn discard(self, cell: &Header, reason: DeadReason) {
        // SAFETY: an undelivered letter, discarded once.
        self.open(|incoming| unsafe { incoming.discard(cell, reason) });
    }

    /// Takes the message back out: it was refused, and goes to its sender.
    pub(crate) fn into_message<M: 'static>(mut self) -> Option<M> {
        self.envelope.reply = None;
        self.envelope.drop_carried();
        self.message
            .take()
            .and_then(|message| message.downcast::<M>().ok())
            .map(|message| *message)
    }

    /// Hands the message to `act` as if it lay in the log.
    fn open<R>(mut self, act: impl FnOnce(Incoming) -> R) -> Option<R> {
        let message = self.message.take()?;
        let envelope = std::mem::replace(&mut self.envelope, Envelope::OUTSIDE);
        let mut place = [0_u64; INLINE_BYTES / 8];
        // SAFETY: the table belongs to the message, and its payload fits the place.
        unsafe { (self.table.unbox)(message, place.as_mut_ptr()) };
        Some(act(Incoming::from_parts(self.table, envelope, place.as_mut_ptr())))
    }
}

impl Drop for Letter {
    fn drop(&mut self) {
        let Some(message) = self.message.take() else { return };
        let receiver = self.receiver.clone();
        let rest = Letter {
            number: self.number,
            receiver: receiver.clone(),
            table: self.table,
            envelope: std::mem::replace(&mut self.envelope, Envelope::OUTSIDE),
            message: Some(message),
        };
        // SAFETY: the letter was not delivered and is discarded once.
        rest.open(|incoming| unsafe { incoming.discard(&receiver, DeadReason::Discarded) });
    }
}

impl std::fmt::Debug for Letter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Letter")
            .field("message", &self.type_name())
            .field("sender", &self.sender())
            .finish_non_exhaustive()
    }
}

/// The doorbell: the record that stands for one letter.
pub(crate) static BELL: MessageTable = MessageTable {
    run: ring,
    discard: ring_in_vain,
    view: |_, _| None,
    unbox: |_, _| unreachable!("a bell is never boxed"),
    words: 0,
    kind: RecordKind::Message,
    message: std::any::TypeId::of::<()>,
    name: || "a letter",
};

unsafe fn ring(
    cell: &Header,
    host: &Host,
    _: *mut u64,
    _: u64,
    _: Option<NonNull<ReplySlot>>,
    _: Option<Freight>,
) -> Step {
    let Some(letter) = cell.next_letter() else {
        return Step::Done;
    };
    letter.hand_over(|incoming| crate::dispatch::deliver(cell, host, incoming))
}

unsafe fn ring_in_vain(cell: &Header, _: Incoming, reason: DeadReason) {
    if let Some(letter) = cell.next_letter() {
        letter.discard(cell, reason);
    }
}
