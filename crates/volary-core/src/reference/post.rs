//! Putting a message into a mailbox: the bottom of `tell`, `ask` and everything that sends.

use super::departure::{is_looked_at, look_up, see_off};
use super::foreign::post_out;
use crate::actor::Message;
use crate::cell::{Header, MailboxRule};
use crate::dispatch::{Host, contain};
use crate::mailbox::{
    Along, BELL, Bound, Envelope, Growth, Letter, Mailbox, MessageTable, Origin, Reason, Refusal, Room,
};

/// Queues a message from here if nothing is due but that, and nothing stands in its way: nearly always. Otherwise nothing
/// has happened. It calls nobody, so that whoever tells saves no registers for what is seldom.
#[inline(always)]
pub(super) fn post_at_once<M: Message>(cell: &Header, table: &'static MessageTable, message: M) -> Result<(), M> {
    match room_at_once::<M>(|words| cell.log.reserve_at_once(words)) {
        Some((envelope, room)) => {
            fill(room, &envelope, table, message);
            Ok(())
        }
        None => Err(message),
    }
}

/// The same for a mailbox whose bound is its only rule.
#[inline(always)]
pub(super) fn post_within<M: Message>(
    cell: &Header,
    bound: &Bound,
    table: &'static MessageTable,
    message: impl FnOnce() -> M,
) -> bool {
    let found = room_at_once::<M>(|words| cell.log.reserve_within(words, bound));
    if let Some((envelope, room)) = found {
        fill(room, &envelope, table, message());
        return true;
    }
    false
}

#[inline(always)]
fn room_at_once<M>(reserve: impl FnOnce(usize) -> Option<Room>) -> Option<(Envelope, Room)> {
    let find = |host: &Host| {
        if !host.attention.has_leave() {
            return None;
        }
        let envelope = Envelope::of(host.known_origin()?, (None, None));
        let room = reserve(envelope.record_words::<M>())?;
        host.attention.use_leave();
        Some((envelope, room))
    };
    Host::with(find).flatten()
}

/// Queues a message. The caller then sees to it that the actor runs.
#[inline(always)]
pub(crate) fn post<M: Message>(
    cell: &Header,
    table: &'static MessageTable,
    envelope: Envelope,
    message: M,
) -> Result<(), (Refusal, M)> {
    if envelope.carried.is_none() {
        // Said once more, so that no instruction is spent on it.
        let envelope = Envelope {
            carried: None,
            ..envelope
        };
        if let Some(room) = cell.log.reserve_at_once(envelope.record_words::<M>()) {
            fill(room, &envelope, table, message);
            return Ok(());
        }
    }
    let (origin, along) = envelope.apart();
    post_otherwise(cell, table, origin, along, message)
}

/// Queues a message that something stands in the way of. Apart, so that the way of most messages stays short.
#[inline(never)]
fn post_otherwise<M: Message>(
    cell: &Header,
    table: &'static MessageTable,
    origin: Origin,
    along: Along,
    message: M,
) -> Result<(), (Refusal, M)> {
    if !cell.log.marks().are_none() || along.1.is_some() {
        return post_guarded(cell, table, origin, along, message);
    }
    let envelope = Envelope::of(origin, along);
    cell.log.stand_back(envelope.record_words::<M>());
    write(cell, table, envelope, message, None, cell)
}

/// Queues a message and sees to it that the actor runs. Refused, it comes back and is not counted.
#[inline]
pub(crate) fn offer<M: Message>(
    cell: &Header,
    table: &'static MessageTable,
    envelope: Envelope,
    message: M,
) -> Result<(), (Refusal, M)> {
    post(cell, table, envelope, message)?;
    if cell.state.mail() {
        cell.schedule();
    }
    Ok(())
}

/// Queues a message that no bound applies to, wherever its receiver lives.
pub(crate) fn post_unbounded<M: Message>(
    cell: &Header,
    table: &'static MessageTable,
    envelope: Envelope,
    message: M,
) -> Result<(), (Refusal, M)> {
    match cell.foreign() {
        Some(foreign) => post_out(cell, foreign, envelope, message),
        None => post_exempt(cell, table, envelope, message),
    }
}

/// Queues a message that no bound applies to, such as `Terminated`, to an actor that lives here: the table must be one
/// of its own.
pub(crate) fn post_exempt<M>(
    cell: &Header,
    table: &'static MessageTable,
    envelope: Envelope,
    message: M,
) -> Result<(), (Refusal, M)> {
    refused(envelope, write(cell, table, envelope, message, None, &Unlimited(cell)))
}

/// Grows whatever the budget says, by as little as possible: what else is told fills the rest.
struct Unlimited<'a>(&'a Header);

impl Growth for Unlimited<'_> {
    fn may_grow(&self, _: u64, blocks: u64) -> bool {
        if blocks > 1 {
            return self.0.system().take_blocks(blocks);
        }
        self.0.system().take_block_unasked();
        true
    }
    fn shrunk(&self, blocks: u64) {
        self.0.system().give_blocks(blocks);
    }
}

#[inline(always)]
fn write<M>(
    cell: &Header,
    table: &'static MessageTable,
    envelope: Envelope,
    message: M,
    bound: Option<&Bound>,
    growth: &impl Growth,
) -> Result<(), (Refusal, M)> {
    match cell.log.reserve(envelope.record_words::<M>(), bound, growth) {
        Ok(room) => {
            fill(room, &envelope, table, message);
            Ok(())
        }
        Err(refusal) => Err((refusal, message)),
    }
}

/// Writes a record where room was reserved for it.
#[inline(always)]
fn fill<M>(room: Room, envelope: &Envelope, table: &'static MessageTable, message: M) {
    // SAFETY: the room was reserved for the length of this record, and all of it is written before it is published.
    unsafe {
        let first = envelope.write(room.as_ptr(), table, message);
        room.publish(first);
    }
}

/// Lets go of what a message carried that was not taken.
#[inline]
fn refused<M>(mut envelope: Envelope, written: Result<(), (Refusal, M)>) -> Result<(), (Refusal, M)> {
    if written.is_err() {
        envelope.drop_carried();
    }
    written
}

/// Queues a message that carries something, or that somebody looks at, or into a mailbox with a rule of its own.
#[inline(always)]
fn post_guarded<M: Message>(
    cell: &Header,
    table: &'static MessageTable,
    origin: Origin,
    along: Along,
    message: M,
) -> Result<(), (Refusal, M)> {
    if is_looked_at(cell, along.1) {
        return post_watched(cell, table, origin, along, message);
    }
    let envelope = Envelope::of(origin, along);
    // Most rules are a bound.
    match cell.mailbox_rule() {
        Some(MailboxRule {
            bound: Some(bound),
            custom: None,
            foreign: None,
        }) => refused(envelope, write(cell, table, envelope, message, Some(bound), cell)),
        None => refused(envelope, write(cell, table, envelope, message, None, cell)),
        _ => post_by_rule(cell, table, envelope, message),
    }
}

/// Queues a message that is looked at on its way.
#[cold]
#[inline(never)]
fn post_watched<M: Message>(
    cell: &Header,
    table: &'static MessageTable,
    origin: Origin,
    along: Along,
    message: M,
) -> Result<(), (Refusal, M)> {
    let mut envelope = Envelope::of(origin, along);
    match see_off(cell, &mut envelope, &message) {
        Ok(()) => post_by_rule(cell, table, envelope, message),
        Err(reason) => {
            Host::with(|host| host.set_refusal(Reason::Said(reason)));
            Err((Refusal::Intercepted, message))
        }
    }
}

#[inline(never)]
fn post_by_rule<M: Message>(
    cell: &Header,
    table: &'static MessageTable,
    envelope: Envelope,
    message: M,
) -> Result<(), (Refusal, M)> {
    match cell.mailbox_rule() {
        Some(MailboxRule {
            foreign: Some(foreign), ..
        }) => post_out(cell, foreign, envelope, message),
        Some(MailboxRule {
            bound, custom: None, ..
        }) => refused(envelope, write(cell, table, envelope, message, bound.as_ref(), cell)),
        Some(MailboxRule {
            custom: Some(mailbox), ..
        }) => post_letter(cell, &**mailbox, table, envelope, message),
        None => refused(envelope, write(cell, table, envelope, message, None, cell)),
    }
}

/// Queues a message in a mailbox of the user's own.
#[cold]
#[inline(never)]
fn post_letter<M: Message>(
    cell: &Header,
    mailbox: &dyn Mailbox,
    table: &'static MessageTable,
    envelope: Envelope,
    message: M,
) -> Result<(), (Refusal, M)> {
    let bell = Envelope {
        sender: envelope.sender,
        ..Envelope::OUTSIDE
    };
    let room = match cell.log.reserve(bell.record_words::<()>(), cell.bound(), cell) {
        Ok(room) => room,
        Err(refusal) => {
            let mut envelope = envelope;
            envelope.drop_carried();
            return Err((refusal, message));
        }
    };
    let letter = Letter::new(cell.to_ref(), table, envelope, message);
    let sent = letter.identity();
    let pushed = contain(|| mailbox.push(letter));
    // The bell rings in any case: its room is reserved. In vain, it is simply ignored.
    // SAFETY: as in `write`.
    unsafe {
        let first = bell.write(room.as_ptr(), &BELL, ());
        room.publish(first);
    }
    match pushed {
        Ok(Err(letter)) if letter.identity() == sent => match letter.into_message() {
            Some(message) => {
                ring_in_vain(cell);
                Err((Refusal::Denied, message))
            }
            None => Ok(()),
        },
        // Another letter came back in its place, or was dropped by the panic: that one is a dead
        // letter now, and the mailbox is to blame, not the sender.
        Ok(_) => Ok(()),
        Err(fault) => {
            cell.system().report_hook_fault(cell, "mailbox", &fault);
            Ok(())
        }
    }
}

/// Lets the actor clear away a bell for which there is no letter; the sender, refused, will not wake it.
fn ring_in_vain(cell: &Header) {
    if cell.state.mail() {
        cell.schedule();
    }
}

/// What goes with a message sent from here: the running actor, what is left of its time, and its baggage.
#[inline(always)]
pub(crate) fn envelope_from_here(cell: &Header) -> Envelope {
    let here = Host::with(|host| {
        let carried = match host.attention.passes() {
            true => None,
            false => look_up(host, cell),
        };
        (origin(host, cell), carried)
    });
    let (origin, carried) = here.unwrap_or(((0, 0), None));
    Envelope::of(origin, (None, carried))
}

#[inline(always)]
fn origin(host: &Host, cell: &Header) -> Origin {
    let sender = host.running();
    if sender == 0 {
        return (0, 0);
    }
    (sender, cell.system().carried_deadline(host))
}

#[cfg(all(test, not(any(volary_loom, volary_shuttle))))]
mod tests {
    use super::*;
    use crate::mailbox::BLOCK_BYTES;
    use crate::settings::ByteSize;
    use crate::{Actor, ActorSystem};

    struct Desk;

    impl Actor for Desk {}

    /// What one of these takes others fill, who are not exempt.
    #[tokio::test]
    async fn what_no_budget_applies_to_goes_beyond_it_by_one_block() {
        let budget = ByteSize::new(8 * BLOCK_BYTES);
        let builder = ActorSystem::builder("tight").ignore_environment();
        let system = builder
            .settings(|s| s.mailbox_budget(budget))
            .start()
            .await
            .expect("a system");
        let desk = system.spawn(|| Desk).await.expect("a desk");
        let cell = desk.cell();
        let before = cell.system().blocks();
        let unlimited = Unlimited(cell);
        while cell.may_grow(2_000, 1) {}
        let spent = cell.system().blocks();
        assert_eq!(spent, 8, "a large one does not come into it");
        assert!(!cell.may_grow(2_000, 32) && !unlimited.may_grow(2_000, 32));
        assert!(unlimited.may_grow(2_000, 1));
        assert_eq!(cell.system().blocks(), spent + 1);
        cell.shrunk(spent + 1 - before);
        system.stop().await.expect("a stop");
    }
}
