//! The slot of a message: what one record in the log looks like.
//!
//! ```text
//!   word 0   table of this (actor, message) pair, flags in its low bits
//!   word 1   id of the sender, 0 from outside
//!   [word]   DEADLINE: the deadline the sender was working under
//!   [word]   REPLY: where the answer goes (an ask)
//!   [word]   CARRIED: when it was sent, or a box of that and what travels along: trace, headers
//!   payload  the message itself, or a box of it when it is large or over-aligned
//! ```
//!
//! A `tell` of eight bytes from an actor is three words. Who asks pays for a reply word, who works
//! under a deadline for a deadline word, who serves a request with baggage for a word and a box, nobody else for any.

use std::any::TypeId;
use std::mem::{align_of, size_of};
use std::ptr::NonNull;

use super::block::{BLOCK_WORDS, First, Word};
use super::freight::Freight;
use crate::baggage::Carried;
use crate::cell::Header;
use crate::dispatch::Host;
use crate::dispatch::Step;
use crate::events::DeadReason;
use crate::reference::ReplySlot;

/// The largest message that travels inside the mailbox; a larger one is boxed on the way.
///
/// ```
/// assert!(volary_core::INLINE_BYTES >= 64);
/// ```
pub const INLINE_BYTES: usize = 128;

const WORD: usize = size_of::<u64>();
pub(crate) const HEAD_WORDS: usize = 2;
const DEADLINE: usize = 0b001;
const REPLY: usize = 0b010;
const CARRIED: usize = 0b100;
const FLAGS: usize = 0b111;

const _: () = assert!(HEAD_WORDS + 3 + INLINE_BYTES / WORD <= BLOCK_WORDS || cfg!(volary_loom));

/// Handles a message: of a record that was taken, where the payload lies, who sent it, where the reply goes and what it
/// carried. One by one, in registers; together they would be written to memory for each message and read from there.
pub(crate) type RunFn = unsafe fn(&Header, &Host, *mut u64, u64, Option<NonNull<ReplySlot>>, Option<Freight>) -> Step;

/// What the runtime must know of a message of one type to one type of actor: its function table.
///
/// There is one per pair, in static memory; a record carries a pointer to it.
#[repr(C, align(8))]
pub struct MessageTable {
    pub(crate) run: RunFn,
    pub(crate) discard: unsafe fn(&Header, Incoming, DeadReason),
    /// The message where it lies; `None` if it will not be handled, or is nothing that can be shown.
    pub(crate) view: for<'a> unsafe fn(&Header, &'a Incoming) -> Option<&'a dyn std::any::Any>,
    /// Moves a boxed message to where a payload is expected.
    pub(crate) unbox: unsafe fn(Box<dyn std::any::Any + Send>, *mut u64),
    pub(crate) words: usize,
    pub(crate) kind: RecordKind,
    pub(crate) message: fn() -> TypeId,
    pub(crate) name: fn() -> &'static str,
}

/// Where a record comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecordKind {
    /// From somebody, perhaps the actor itself.
    Message,
    /// From a timer of this incarnation: the payload is a message with what is known of that.
    Timer,
    /// An answer to a request of this incarnation.
    Answer,
    /// Something with a message inside, which is what others see.
    Parcel,
}

impl std::fmt::Debug for MessageTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MessageTable")
            .field("message", &(self.name)())
            .finish_non_exhaustive()
    }
}

/// Whether `M` is stored in the record itself.
pub(crate) const fn is_inline<M>() -> bool {
    size_of::<M>() <= INLINE_BYTES && align_of::<M>() <= WORD
}

/// How many words the payload of `M` takes.
pub(crate) const fn payload_words<M>() -> usize {
    if is_inline::<M>() {
        size_of::<M>().div_ceil(WORD)
    } else {
        1
    }
}

/// What goes with a message besides itself.
#[derive(Clone, Copy)]
pub(crate) struct Envelope {
    pub(crate) sender: u64,
    /// Nanoseconds of the system's clock; 0 for none.
    pub(crate) deadline: u64,
    pub(crate) reply: Option<NonNull<ReplySlot>>,
    /// It belongs to whoever has the envelope in hand.
    pub(crate) carried: Option<Freight>,
}

/// Sender and deadline of an envelope.
pub(crate) type Origin = (u64, u64);

/// What of an envelope has to be let go of: where the reply goes, and what travels along.
pub(crate) type Along = (Option<NonNull<ReplySlot>>, Option<Freight>);

impl Envelope {
    /// In two halves that fit into registers. A call that took the whole would have it written to memory, and what is
    /// written word by word and read in one piece holds up the way of every message, also of those that never make
    /// the call.
    #[inline(always)]
    pub(crate) fn apart(self) -> (Origin, Along) {
        ((self.sender, self.deadline), (self.reply, self.carried))
    }

    #[inline(always)]
    pub(crate) fn of((sender, deadline): Origin, (reply, carried): Along) -> Self {
        Envelope {
            sender,
            deadline,
            reply,
            carried,
        }
    }

    /// From outside of any actor.
    pub(crate) const OUTSIDE: Envelope = Envelope {
        sender: 0,
        deadline: 0,
        reply: None,
        carried: None,
    };

    #[inline]
    pub(crate) fn extra_words(&self) -> usize {
        usize::from(self.deadline != 0) + usize::from(self.reply.is_some()) + usize::from(self.carried.is_some())
    }

    /// Lets something travel along, in the place of what did before.
    #[cold]
    pub(crate) fn carry(mut self, carried: Option<Box<Carried>>) -> Self {
        self.drop_carried();
        self.carried = carried.map(Freight::boxed);
        self
    }

    /// Takes out what travels along. An envelope is a plain value: the copy that this is called on must be the one that
    /// the record or letter was made from, or read into.
    #[cold]
    pub(crate) fn take_carried(&mut self) -> Option<Box<Carried>> {
        let carried = self.carried.take()?;
        // SAFETY: each envelope is in one hand at a time, and what it carries is taken out once.
        Some(unsafe { carried.open() })
    }

    /// Nobody will read it.
    #[inline]
    pub(crate) fn drop_carried(&mut self) {
        if let Some(carried) = self.carried.take() {
            // SAFETY: as in `take_carried`.
            unsafe { carried.discard() };
        }
    }

    /// Length of the record that carries `M` under this envelope.
    #[inline]
    pub(crate) fn record_words<M>(&self) -> usize {
        HEAD_WORDS + self.extra_words() + payload_words::<M>()
    }

    /// Writes everything but the first word, which is returned for publishing.
    ///
    /// # Safety
    /// `place` has room for `record_words::<M>()` words, and `table` belongs to `M`.
    #[inline(always)]
    pub(crate) unsafe fn write<M>(&self, place: *mut u64, table: &'static MessageTable, message: M) -> First {
        let mut flags = 0;
        // SAFETY: the caller's promise covers every word written here.
        unsafe {
            place.add(1).write(self.sender);
            let mut at = place.add(HEAD_WORDS);
            if self.deadline != 0 {
                flags |= DEADLINE;
                at.write(self.deadline);
                at = at.add(1);
            }
            if let Some(reply) = self.reply {
                flags |= REPLY;
                at.cast::<NonNull<ReplySlot>>().write(reply);
                at = at.add(1);
            }
            if let Some(carried) = self.carried {
                flags |= CARRIED;
                at.cast::<Freight>().write(carried);
                at = at.add(1);
            }
            write_payload(at, message);
        }
        std::ptr::from_ref(table)
            .cast_mut()
            .cast::<()>()
            .map_addr(|address| address | flags)
    }
}

/// # Safety
/// `place` has room for `payload_words::<M>()` words.
#[inline]
pub(crate) unsafe fn write_payload<M>(place: *mut u64, message: M) {
    // SAFETY: the caller's promise; `is_inline` says that size and alignment fit.
    unsafe {
        if is_inline::<M>() {
            place.cast::<M>().write(message);
        } else {
            place.cast::<Box<M>>().write(Box::new(message));
        }
    }
}

/// Moves a message out of where it lies.
///
/// # Safety
/// `write_payload` put an `M` there that was not taken yet.
#[inline]
pub(crate) unsafe fn take_payload<M>(place: *mut u64) -> M {
    // SAFETY: the counterpart of `write_payload`.
    unsafe {
        if is_inline::<M>() {
            place.cast::<M>().read()
        } else {
            *place.cast::<Box<M>>().read()
        }
    }
}

/// A record that the reader has taken: the envelope, and where the payload still lies.
pub(crate) struct Incoming {
    pub(crate) table: &'static MessageTable,
    pub(crate) envelope: Envelope,
    payload: *mut u64,
}

impl Incoming {
    /// Reads a record and says how long it is.
    ///
    /// # Safety
    /// `place` and `first` come from `Log::peek`, and the payload is taken exactly once.
    #[inline]
    pub(crate) unsafe fn read(first: First, place: *const Word) -> (Self, usize) {
        let place = place.cast_mut().cast::<u64>();
        // SAFETY: the first word was made from such a reference in `Envelope::write`.
        let table: &'static MessageTable =
            unsafe { &*first.map_addr(|address| address & !FLAGS).cast::<MessageTable>() };
        let flags = first.addr() & FLAGS;
        let mut words = HEAD_WORDS;
        // SAFETY: the flags say which words are there.
        let envelope = unsafe {
            let sender = place.add(1).read();
            let mut deadline = 0;
            if flags & DEADLINE != 0 {
                deadline = place.add(words).read();
                words += 1;
            }
            let mut reply = None;
            if flags & REPLY != 0 {
                reply = Some(place.add(words).cast::<NonNull<ReplySlot>>().read());
                words += 1;
            }
            let mut carried = None;
            if flags & CARRIED != 0 {
                carried = Some(place.add(words).cast::<Freight>().read());
                words += 1;
            }
            Envelope {
                sender,
                deadline,
                reply,
                carried,
            }
        };
        // SAFETY: in bounds, the payload follows.
        let payload = unsafe { place.add(words) };
        (
            Incoming {
                table,
                envelope,
                payload,
            },
            words + table.words,
        )
    }

    /// Whether a record has nothing but a sender and a payload.
    #[inline]
    pub(crate) fn is_bare(first: First) -> bool {
        first.addr() & FLAGS == 0
    }

    /// Table, sender and payload of such a record.
    ///
    /// # Safety
    /// As for `read`, and it is bare.
    #[inline]
    pub(crate) unsafe fn read_bare(first: First, place: *const Word) -> (&'static MessageTable, u64, *mut u64) {
        let place = place.cast_mut().cast::<u64>();
        // SAFETY: as in `read`; in bounds, the payload follows.
        unsafe { (&*first.cast(), place.add(1).read(), place.add(HEAD_WORDS)) }
    }

    /// An incoming message whose payload lies somewhere else than in the log.
    pub(crate) fn from_parts(table: &'static MessageTable, envelope: Envelope, payload: *mut u64) -> Self {
        Incoming {
            table,
            envelope,
            payload,
        }
    }

    /// Handles the message as `run` does.
    ///
    /// # Safety
    /// The caller owns the actor, `run` is for the message in this record, and the record is handled once.
    #[inline(always)]
    pub(crate) unsafe fn handle(self, run: RunFn, cell: &Header, host: &Host) -> Step {
        let Envelope {
            sender, reply, carried, ..
        } = self.envelope;
        // SAFETY: the caller's promise.
        unsafe { run(cell, host, self.payload, sender, reply, carried) }
    }

    /// Ends a message that will not be handled.
    ///
    /// # Safety
    /// An undelivered record of `cell`, discarded once.
    pub(crate) unsafe fn discard(mut self, cell: &Header, reason: DeadReason) {
        self.envelope.drop_carried();
        // SAFETY: the caller's promise.
        unsafe { (self.table.discard)(cell, self, reason) }
    }

    /// Looks at the message where it lies.
    ///
    /// # Safety
    /// The record carries an `M` that was not taken yet.
    pub(crate) unsafe fn view<M>(&self) -> &M {
        // SAFETY: the counterpart of `write_payload`; it stays where it is for as long as it is not taken.
        unsafe {
            if is_inline::<M>() {
                &*self.payload.cast::<M>()
            } else {
                &*self.payload.cast::<Box<M>>()
            }
        }
    }

    /// Moves the message out.
    ///
    /// # Safety
    /// The record carries an `M` that was not taken yet.
    #[inline]
    pub(crate) unsafe fn take<M>(&self) -> M {
        // SAFETY: the caller's promise.
        unsafe { take_payload(self.payload) }
    }
}
