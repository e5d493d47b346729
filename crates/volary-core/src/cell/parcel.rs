//! Parcels: records that bring a message along with somebody who wants to know when it is taken.
//!
//! Events, topics and streams bound what waits in a mailbox by counting it themselves. So what they put there is not the
//! message but a parcel, which no capacity of the mailbox applies to. The turn that comes to it opens it: whoever packed it
//! takes note, and hands the message inside to its handler as if it had lain in the mailbox itself. Taps, behaviours and
//! the stash see that message and never the parcel.

use std::any::TypeId;
use std::cell::Cell;
use std::ptr::NonNull;

use super::header::Header;
use crate::actor::Message;
use crate::dispatch::{Host, Step, deliver};
use crate::events::DeadReason;
use crate::mailbox::{
    Envelope, Freight, INLINE_BYTES, Incoming, MessageTable, RecordKind, payload_words, take_payload, write_payload,
};
use crate::reference::foreign::post_out;
use crate::reference::{Recipient, ReplySlot, post_exempt};

/// What can be put into a mailbox instead of a message.
pub(crate) trait Parcel: Send + Sized + 'static {
    /// The actor has come to it.
    fn open(self, arrival: &Arrival<'_>) -> Step;

    /// The actor will never come to it.
    fn discard(self, cell: &Header, sender: u64, reason: DeadReason);
}

/// The turn that has come to a parcel.
pub(crate) struct Arrival<'a> {
    cell: &'a Header,
    host: &'a Host,
    /// Goes to the one message that is handed over, with what it carries.
    envelope: Cell<Envelope>,
}

impl Drop for Arrival<'_> {
    fn drop(&mut self) {
        self.envelope.get_mut().drop_carried();
    }
}

impl Arrival<'_> {
    pub(crate) fn cell(&self) -> &Header {
        self.cell
    }

    /// Hands a message to the actor. `to` must be that actor.
    pub(crate) fn deliver<M: Message>(&self, to: &Recipient<M>, message: M) -> Step {
        assert!(
            std::ptr::eq(self.cell, &raw const **to.cell()),
            "a parcel is opened by the actor that it was sent to"
        );
        let envelope = self.envelope.replace(Envelope::OUTSIDE);
        if self.cell.log.marks().is_guarded()
            && let Some(foreign) = self.cell.foreign()
        {
            // What is here stands for the actor, and the table is for the actor itself.
            if let Err((refusal, message)) = post_out(self.cell, foreign, envelope, message) {
                let system = self.cell.system();
                system.dead_letter(self.cell, envelope.sender, refusal.dead_reason(), message);
            }
            return Step::Done;
        }
        let mut place = [0_u64; INLINE_BYTES / size_of::<u64>()];
        // SAFETY: a payload takes at most `INLINE_BYTES`; a larger message takes one word, for its box.
        unsafe { write_payload(place.as_mut_ptr(), message) };
        // The table of a `Recipient<M>` is that of `M` to this actor, and the payload is taken once, by `deliver`.
        let incoming = Incoming::from_parts(to.table(), envelope, place.as_mut_ptr());
        deliver(self.cell, self.host, incoming)
    }
}

/// Puts a parcel into the mailbox. True: the caller schedules the actor.
///
/// # Errors
/// The parcel, if the mailbox is closed.
pub(crate) fn post_parcel<P: Parcel>(cell: &Header, envelope: Envelope, parcel: P) -> Result<bool, P> {
    match post_exempt(cell, table::<P>(), envelope, parcel) {
        Ok(()) => Ok(cell.state.mail()),
        Err((_, parcel)) => Err(parcel),
    }
}

const fn table<P: Parcel>() -> &'static MessageTable {
    const {
        &MessageTable {
            run: open::<P>,
            discard: discard::<P>,
            view: |_, _| None,
            unbox: |_, _| unreachable!("a parcel is never boxed"),
            words: payload_words::<P>(),
            kind: RecordKind::Parcel,
            message: TypeId::of::<P>,
            name: || "a parcel",
        }
    }
}

unsafe fn open<P: Parcel>(
    cell: &Header,
    host: &Host,
    payload: *mut u64,
    sender: u64,
    reply: Option<NonNull<ReplySlot>>,
    carried: Option<Freight>,
) -> Step {
    // SAFETY: the table in the record is this one, so the payload is a `P`, taken once.
    let parcel: P = unsafe { take_payload(payload) };
    let (deadline, _) = host.time_given(); // what the parcel brought along
    parcel.open(&Arrival {
        cell,
        host,
        envelope: Cell::new(Envelope::of((sender, deadline), (reply, carried))),
    })
}

unsafe fn discard<P: Parcel>(cell: &Header, incoming: Incoming, reason: DeadReason) {
    // SAFETY: as in `open`.
    let parcel: P = unsafe { incoming.take() };
    parcel.discard(cell, incoming.envelope.sender, reason);
}
