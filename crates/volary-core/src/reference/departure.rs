//! Seeing off a message: what it carries, whether it is measured, and what layers say to it.

use std::ptr::NonNull;

use crate::actor::Message;
use crate::baggage::Carried;
use crate::cell::Header;
use crate::dispatch::Host;
use crate::intercept::{Departing, Layers};
use crate::mailbox::Envelope;
use crate::reference::ActorId;

/// What goes along with everything that is sent from here.
#[cold]
#[inline(never)]
pub(crate) fn carried_from_here() -> Option<NonNull<Carried>> {
    let carried = Host::with(|host| {
        let receipt = host.take_receipt();
        // If somebody looks at what this actor sends, the word makes sure that they are asked.
        if host.baggage().is_none() && host.layers().is_none() && receipt.is_none() {
            return None;
        }
        let baggage = host.baggage().cloned().unwrap_or_default();
        Some(Box::new(Carried {
            receipt,
            ..Carried::new(baggage)
        }))
    });
    carried.flatten().map(|carried| NonNull::from(Box::leak(carried)))
}

/// The envelope with what goes along with everything that is sent from here.
#[cold]
pub(crate) fn carrying(envelope: Envelope) -> Envelope {
    match carried_from_here() {
        carried @ Some(_) => Envelope { carried, ..envelope },
        None => envelope,
    }
}

/// Whether nobody looks at a message that carries nothing, into a mailbox where somebody may: no layer, and it is not
/// the one in so many that is measured. Most messages are not, and should pay for little more than the count.
#[inline(always)]
pub(super) fn passes_unseen(cell: &Header) -> bool {
    let every = cell.system().looks_at_one_in();
    // Where a thread is being torn down nothing is measured, but layers are asked.
    Host::with(|host| host.passes_unmeasured(every)).unwrap_or(every != 0)
}

/// Completes the envelope of a message that does not go through `post`; the reason if a layer refuses it.
#[inline]
pub(crate) fn depart<M: Message>(cell: &Header, envelope: &mut Envelope, message: &M) -> Result<(), &'static str> {
    if envelope.carried.is_none() && (!cell.log.marks().is_seen() || passes_unseen(cell)) {
        return Ok(());
    }
    see_off(cell, envelope, message)
}

/// Completes the envelope of a message; the reason if a layer refuses it, and the envelope is empty then.
#[cold]
pub(super) fn see_off<M: Message>(cell: &Header, envelope: &mut Envelope, message: &M) -> Result<(), &'static str> {
    let mut carried = envelope.take_carried();
    stamp(cell, &mut carried);
    ask_layers(cell, envelope, &mut carried, message).inspect_err(|reason| {
        let message_type = std::any::type_name::<M>();
        tracing::debug!(receiver = %cell.path(), message_type, reason, "an interceptor refused a message");
    })?;
    *envelope = envelope.carry(carried.filter(|carried| !carried.is_spent() || carried.receipt.is_some()));
    Ok(())
}

/// Completes the envelope of a message that nobody sends, such as a timer's: it is measured, and layers hear of it when
/// it arrives.
pub(crate) fn stamped(cell: &Header, mut envelope: Envelope) -> Envelope {
    if cell.system().meter().is_none() {
        return envelope;
    }
    let mut carried = envelope.take_carried();
    stamp(cell, &mut carried);
    envelope.carry(carried)
}

/// Notes when the message was sent, if it is one of those that are measured.
fn stamp(cell: &Header, carried: &mut Option<Box<Carried>>) {
    let system = cell.system();
    let Some(meter) = system.meter() else { return };
    let traced = |carried: &Carried| carried.baggage.trace.is_some_and(|trace| trace.is_sampled());
    let is_measured = || Host::with(|host| meter.every() != 0 && host.is_measured(meter.every())).unwrap_or(false);
    if !carried.as_deref().is_some_and(traced) && !is_measured() {
        return;
    }
    let carried = carried.get_or_insert_default();
    carried.sent_at = Some(system.now());
    if carried.baggage.trace.is_none() {
        carried.baggage.trace = meter.new_trace(&**system.env());
        carried.begins_trace = carried.baggage.trace.is_some();
    }
}

fn ask_layers<M: Message>(
    cell: &Header,
    envelope: &Envelope,
    carried: &mut Option<Box<Carried>>,
    message: &M,
) -> Result<(), &'static str> {
    let everywhere = cell.system().layers();
    let mut ask = |own: Option<&Layers>| {
        if everywhere.is_empty() && own.is_none() {
            return Ok(());
        }
        let mut departing = Departing {
            message,
            type_name: std::any::type_name::<M>(),
            sender: ActorId::from_raw(envelope.sender),
            receiver: cell,
            asked: envelope.reply.is_some(),
            baggage: &mut carried.get_or_insert_default().baggage,
        };
        everywhere.sending(&mut departing)?;
        own.map_or(Ok(()), |own| own.sending(&mut departing))
    };
    // The thread is being torn down: nobody's turn, and nobody's layers.
    Host::with(|host| ask(host.layers())).unwrap_or(Ok(()))
}
