//! Seeing off a message: what it carries, whether it is measured, and what layers say to it.

use crate::actor::Message;
use crate::baggage::Carried;
use crate::cell::Header;
use crate::dispatch::Host;
use crate::intercept::{Departing, Layers};
use crate::mailbox::{Envelope, Freight};
use crate::reference::ActorId;
use crate::telemetry::Meter;
use crate::time::Moment;

/// What goes along with a message to `cell` that is sent from here, by a thread that is to look up: something is due
/// besides sending.
#[cold]
#[inline(never)]
pub(super) fn look_up(host: &Host, cell: &Header) -> Option<Freight> {
    let system = cell.system();
    let meter = system.meter().filter(|_| cell.log.is_metered());
    let each = !host.surroundings().is_none();
    let every = meter.map_or(0, Meter::every);
    let due = host.attention.look_up(every, each, || system.env().random());
    if due.share
        && let Some(worker) = host.worker()
    {
        worker.share();
    }
    from_here(host, due.measure.then(|| system.now()))
}

/// What goes along with everything that is sent from here.
fn from_here(host: &Host, sent_at: Option<Moment>) -> Option<Freight> {
    // If somebody looks at what this actor sends, the box makes sure that they are asked.
    let needs_box = host.baggage().is_some() || host.layers().is_some();
    match (host.take_receipt(), sent_at) {
        (None, sent_at) if !needs_box => sent_at.map(Freight::sent_at),
        (Some(receipt), None) if !needs_box => Some(Freight::receipt(receipt)),
        (receipt, sent_at) => Some(Freight::boxed(Box::new(Carried {
            receipt,
            sent_at,
            ..Carried::new(host.baggage().cloned().unwrap_or_default())
        }))),
    }
}

/// The envelope with what goes along with everything that is sent from here.
#[cold]
pub(crate) fn carrying(mut envelope: Envelope) -> Envelope {
    if let Some(freight) = Host::with(|host| from_here(host, None)).flatten() {
        envelope.drop_carried();
        envelope.carried = Some(freight);
    }
    envelope
}

/// Whether somebody has to see a message on its way: those who look at its receiver, or at what its sender sends. The
/// sender's are asked of messages that carry a box, as all do that they may see; and the meter of these too, since a
/// trace that is sampled is measured however few others are.
pub(super) fn is_looked_at(cell: &Header, carried: Option<Freight>) -> bool {
    if cell.log.marks().is_seen() {
        return true;
    }
    let Some(carried) = carried else { return false };
    if carried.is_receipt() {
        return false; // from another node, and of no concern to those who look here
    }
    match (carried.time(), cell.system().meter()) {
        // Only to be timed, unless that begins a trace.
        (Some(_), meter) => meter.is_some_and(Meter::begins_traces),
        (None, Some(_)) => true,
        (None, None) => Host::with(|host| host.layers().is_some()).unwrap_or(true),
    }
}

/// Completes the envelope of a message that does not go through `post`; the reason if a layer refuses it.
#[inline]
pub(crate) fn depart<M: Message>(cell: &Header, envelope: &mut Envelope, message: &M) -> Result<(), &'static str> {
    if !is_looked_at(cell, envelope.carried) {
        return Ok(());
    }
    see_off(cell, envelope, message)
}

/// Completes the envelope of a message; the reason if a layer refuses it, and the envelope is empty then.
#[cold]
pub(super) fn see_off<M: Message>(cell: &Header, envelope: &mut Envelope, message: &M) -> Result<(), &'static str> {
    let mut carried = envelope.take_carried();
    let measured = match cell.system().meter() {
        // Where threads count, it was counted when its envelope was made.
        Some(meter) if cell.system().env().is_simulated() => meter.is_next(),
        _ => false,
    };
    stamp(cell, &mut carried, measured);
    ask_layers(cell, envelope, &mut carried, message).inspect_err(|reason| {
        let message_type = std::any::type_name::<M>();
        tracing::debug!(receiver = %cell.path(), message_type, reason, "an interceptor refused a message");
    })?;
    *envelope = envelope.carry(carried.filter(|carried| !carried.is_spent() || carried.receipt.is_some()));
    Ok(())
}

/// Completes the envelope of a message that is posted for somebody who is not here, such as a schedule's. Where threads
/// count it is counted now, as others are when their envelope is made; in a simulation it is when it is seen off.
pub(crate) fn counted(cell: &Header, envelope: Envelope) -> Envelope {
    if cell.log.is_metered() {
        stamped(cell, envelope)
    } else {
        envelope
    }
}

/// The envelope of what is not measured, such as an event: without the time, should it have been chosen.
pub(crate) fn untimed(mut envelope: Envelope) -> Envelope {
    match envelope.carried {
        Some(carried) if carried.is_receipt() => {}
        Some(carried) if carried.time().is_some() => envelope.carried = None,
        Some(_) => {
            if let Some(mut carried) = envelope.take_carried() {
                carried.sent_at = None;
                envelope.carried = Some(Freight::boxed(carried));
            }
        }
        None => {}
    }
    envelope
}

/// Completes the envelope of a message that nobody sends, such as a timer's: it is measured, and layers hear of it when
/// it arrives.
pub(crate) fn stamped(cell: &Header, mut envelope: Envelope) -> Envelope {
    let system = cell.system();
    let Some(meter) = system.meter() else { return envelope };
    let measured = if system.env().is_simulated() {
        meter.is_next()
    } else {
        let random = || system.env().random();
        Host::with(|host| host.attention.is_measured(meter.every(), random)).unwrap_or(false)
    };
    let mut carried = envelope.take_carried();
    stamp(cell, &mut carried, measured);
    envelope.carry(carried)
}

/// Notes when the message was sent, if it is one of those that are measured: chosen here or before, or part of a trace
/// that is sampled.
fn stamp(cell: &Header, carried: &mut Option<Box<Carried>>, measured: bool) {
    let system = cell.system();
    let Some(meter) = system.meter() else { return };
    let chosen =
        |carried: &Carried| carried.sent_at.is_some() || carried.baggage.trace.is_some_and(|trace| trace.is_sampled());
    if !measured && !carried.as_deref().is_some_and(chosen) {
        return;
    }
    let carried = carried.get_or_insert_default();
    carried.sent_at = carried.sent_at.or_else(|| Some(system.now()));
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
