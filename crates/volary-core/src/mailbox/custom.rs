//! Mailboxes of the user's own.
//!
//! Such a mailbox decides which message is next. The log stays in front of it as a doorbell: for
//! each letter that is taken, a short record rings, and each ring makes the actor pop one letter.
//! So scheduling, closing and accounting are those of every other actor, and the trait stays small.

use std::any::Any;
use std::ptr::NonNull;

use super::record::{Envelope, INLINE_BYTES, Incoming, MessageTable, RecordKind};
use crate::cell::{CellRef, Header};
use crate::dispatch::{Host, Step};
use crate::events::DeadReason;
use crate::reference::{ActorId, ReplySlot};

/// A queue of letters with a rule of its own. It is shared between senders and the actor, so its
/// methods take `&self`.
///
/// ```
/// use std::collections::VecDeque;
/// use std::sync::Mutex;
/// use volary_core::{Letter, Mailbox};
///
/// /// Newest first.
/// #[derive(Default)]
/// struct Stack(Mutex<VecDeque<Letter>>);
///
/// impl Mailbox for Stack {
///     fn push(&self, letter: Letter) -> Result<(), Letter> {
///         self.0.lock().unwrap().push_back(letter);
///         Ok(())
///     }
///     fn pop(&self) -> Option<Letter> {
///         self.0.lock().unwrap().pop_back()
///     }
///     fn len(&self) -> usize {
///         self.0.lock().unwrap().len()
///     }
/// }
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
/// use std::collections::VecDeque;
/// use volary_core::Letter;
///
/// /// A full queue gives the letter back, and its sender is told.
/// fn keep(queue: &mut VecDeque<Letter>, letter: Letter) -> Result<(), Letter> {
///     if queue.len() == 100 {
///         return Err(letter);
///     }
///     queue.push_back(letter);
///     Ok(())
/// }
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
    /// # use volary_core::Letter;
    /// struct Alarm(u8);
    /// fn urgency(letter: &Letter) -> u8 {
    ///     letter.message::<Alarm>().map_or(0, |alarm| alarm.0)
    /// }
    /// ```
    #[must_use]
    pub fn message<M: 'static>(&self) -> Option<&M> {
        self.message.as_ref().and_then(|message| message.downcast_ref())
    }

    /// Who sent it; `None` from outside of any actor.
    ///
    /// ```
    /// # use volary_core::{ActorId, Letter};
    /// fn lane(letter: &Letter) -> Option<ActorId> { letter.sender() }
    /// ```
    #[must_use]
    pub fn sender(&self) -> Option<ActorId> {
        ActorId::from_raw(self.envelope.sender)
    }

    /// Name of the message's type, for logs.
    ///
    /// ```
    /// # use volary_core::Letter;
    /// fn show(letter: &Letter) -> String { letter.type_name().to_owned() }
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

unsafe fn ring(cell: &Header, host: &Host, _: Incoming) -> Step {
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
