//! How a message gets on its way: it is written where it is sent, into one buffer that the link takes as a whole. A frame
//! that is too large goes into a queue of its own, in pieces, and so does everything to the same receiver behind it, so
//! that the order of a pair survives. While there is no connection names stand in full, since numbers belong to a
//! connection.

use std::any::TypeId;
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering::*};
use std::time::Duration;

use bytes::BytesMut;
use volary_core::foreign::{Parcel, Undeliverable};
use volary_core::{ActorId, DeadReason};
use volary_wire::MessageEntry;
use volary_wire::native::{Frame, FrameKind, FrameWriter, Head, Intern, InternSpace, Metadata, NameRef};

use super::ledger::Sent;
use super::lost::Lost;
use super::names::{ADDRESS, Called, Hands, TYPE};
use super::outbound::{Asked, Outbound, put};
use crate::options::Overflow;

/// What a message is addressed with.
pub(crate) struct Shipment<'a> {
    pub(crate) entry: &'a MessageEntry,
    pub(crate) receiver: ActorId,
    pub(crate) address: &'a str,
    /// The same for all references to the actor there, those that have ended as well.
    pub(crate) place: u64,
    /// The number of the address on the connection of an epoch, as `epoch << 32 | number`.
    pub(crate) number: &'a AtomicU64,
    pub(crate) sender: Option<&'a dyn Fn() -> Option<String>>,
    pub(crate) metadata: Option<Metadata>,
    /// The time on the clock of this node.
    pub(crate) clock: &'a dyn Fn() -> Duration,
}

/// What became of a message that was to be taken.
pub(crate) struct Shipped {
    /// Taken, or dropped: whether the link is to be told. Or else it is refused.
    pub(crate) taken: Result<bool, Undeliverable>,
    /// What was dropped for want of room, the message itself perhaps.
    pub(crate) dropped: Vec<Lost>,
}

impl Outbound {
    /// Whether one more message would be taken.
    pub(crate) fn must_have_room(&self) -> Result<(), Undeliverable> {
        if self.closed {
            return Err(Undeliverable::Gone);
        }
        if self.is_full() {
            return Err(Undeliverable::Full);
        }
        Ok(())
    }

    /// Whether a message would be given back to whoever sends it, before it is written for nothing.
    pub(crate) fn would_refuse(&self) -> Result<(), Undeliverable> {
        match self.must_have_room() {
            Err(Undeliverable::Full) if self.overflow != Overflow::Refuse => Ok(()),
            room => room,
        }
    }

    /// Takes a message that was written as `payload`, if need be in the place of others.
    pub(crate) fn ship(&mut self, parcel: &mut Parcel<'_>, shipment: &Shipment<'_>, payload: &[u8]) -> Shipped {
        let mut dropped = Vec::new();
        while let Err(why) = self.must_have_room() {
            let is_dropped = why == Undeliverable::Full && self.overflow != Overflow::Refuse;
            if is_dropped && let Some(oldest) = self.drop_oldest() {
                dropped.push(oldest);
                continue;
            }
            let taken = match is_dropped {
                true => {
                    dropped.push(self.dropped(parcel, shipment));
                    Ok(false)
                }
                false => Err(why),
            };
            return Shipped { taken, dropped };
        }
        let taken = self.take(parcel, shipment, payload);
        Shipped { taken, dropped }
    }

    /// What has waited longest for a connection, taken out. Not while there is one: the numbers of messages that are on their
    /// way have no gaps.
    fn drop_oldest(&mut self) -> Option<Lost> {
        if self.overflow != Overflow::DropOldest || self.connected {
            return None;
        }
        let oldest = self.ledger.oldest()?;
        self.withdraw_oldest(oldest)
    }

    /// A message that is not taken, of which nobody is told but by a dead letter.
    fn dropped(&self, parcel: &mut Parcel<'_>, shipment: &Shipment<'_>) -> Lost {
        Lost {
            receiver: shipment.receiver,
            sender: parcel.sender(),
            type_name: parcel.type_name(),
            reason: DeadReason::Full,
            reply: parcel.take_reply(),
            unfit: None,
            unreported: self.unreported(),
        }
    }

    /// Takes a message for which there is room; true: the link is to be told.
    fn take(
        &mut self,
        parcel: &mut Parcel<'_>,
        shipment: &Shipment<'_>,
        payload: &[u8],
    ) -> Result<bool, Undeliverable> {
        self.must_be_taken(payload.len())?; // before it is copied for nothing
        if !self.terms.takes(shipment.metadata.as_ref()) {
            return Err(Undeliverable::TooManyHeaders);
        }
        let mark = self.ready.len();
        match self.write(parcel, shipment, payload) {
            Ok(()) => {}
            Err(why) => {
                // The names that were defined for it are known as such from now on.
                let definitions = self.definitions_behind(mark);
                self.ready.truncate(definitions);
                return Err(why);
            }
        }
        let sequence = self.sequence + 1;
        let correlation = if parcel.is_asked() { self.correlation + 1 } else { 0 };
        let length = self.ready.len() - mark;
        if length > self.terms.chunk || self.large.is_behind(shipment.place) {
            self.move_to_large(mark, sequence, shipment)?;
        }
        self.sequence = sequence;
        if let Some(reply) = parcel.take_reply() {
            self.correlation = correlation;
            let message = parcel.message_type();
            self.asks.insert(correlation, Asked { reply, message });
        }
        let sent = Sent {
            sequence,
            receiver: shipment.receiver,
            sender: parcel.sender(),
            type_name: parcel.type_name(),
            correlation,
        };
        self.ledger.push(sent, length);
        // Once, until the writer comes. What waits for others to be read does not keep it from coming.
        let wake = self.connected && !std::mem::replace(&mut self.told, self.connected);
        Ok(wake)
    }

    /// Writes a message into the ready buffer, with the names that it needs.
    fn write(&mut self, parcel: &Parcel<'_>, shipment: &Shipment<'_>, payload: &[u8]) -> Result<(), Undeliverable> {
        let receiver = self.receiver(shipment);
        let type_name = self.message_type(parcel.message_type(), shipment.entry.name());
        let sender_text;
        let sender = match parcel.sender() {
            None => None,
            Some(id) => match self.connected.then(|| self.names.known_sender(id)).flatten() {
                Some(number) => Some(NameRef::Id(number)),
                None => {
                    sender_text = shipment.sender.and_then(|address| address());
                    sender_text.as_deref().map(|text| self.sender(id, text, &receiver))
                }
            },
        };
        let waiting = (!self.connected).then(|| due(shipment)).flatten();
        let head = Head {
            sequence: self.sequence + 1,
            receiver,
            sender,
            type_name,
            codec: shipment.entry.codec(),
            metadata: waiting.as_ref().or(shipment.metadata.as_ref()),
        };
        let copy = |out: &mut BytesMut| -> Result<(), Infallible> {
            out.extend_from_slice(payload);
            Ok(())
        };
        let mut writer = FrameWriter::new(&mut self.ready);
        let written = if parcel.is_asked() {
            writer.ask(self.correlation + 1, &head, copy)
        } else {
            writer.tell(&head, copy)
        };
        written.map(|Ok(())| ()).map_err(|too_long| Undeliverable::TooLarge {
            bytes: too_long.length,
            most: too_long.limit.min(self.terms.longest),
        })
    }

    fn receiver<'a>(&mut self, shipment: &Shipment<'a>) -> NameRef<'a> {
        if !self.connected {
            return NameRef::Text(shipment.address);
        }
        let kept = shipment.number.load(Relaxed);
        if kept >> 32 == self.epoch && self.names.is_called(shipment.receiver, kept as u32) {
            return NameRef::Id(kept as u32);
        }
        let hands = self.hands(0);
        match self.names.receiver(shipment.receiver, shipment.address, hands) {
            Called::From(number) => {
                self.define(ADDRESS, number, shipment.address);
                shipment.number.store(self.epoch << 32 | u64::from(number), Relaxed);
                NameRef::Id(number)
            }
            _ => NameRef::Text(shipment.address),
        }
    }

    fn message_type<'a>(&mut self, id: TypeId, name: &'a str) -> NameRef<'a> {
        if !self.connected {
            return NameRef::Text(name);
        }
        match self.names.message_type(id, name) {
            Called::By(number) => NameRef::Id(number),
            Called::From(number) => {
                self.define(TYPE, number, name);
                NameRef::Id(number)
            }
            Called::InFull => NameRef::Text(name),
        }
    }

    fn sender<'a>(&mut self, id: ActorId, address: &'a str, receiver: &NameRef<'_>) -> NameRef<'a> {
        if !self.connected {
            return NameRef::Text(address);
        }
        let hands = match receiver {
            NameRef::Id(number) => self.hands(*number),
            NameRef::Text(_) => self.hands(0),
        };
        match self.names.sender(id, address, hands) {
            Called::From(number) => {
                self.define(ADDRESS, number, address);
                NameRef::Id(number)
            }
            _ => NameRef::Text(address),
        }
    }

    /// What waits in pieces, or behind them, leaves later than what is written now, and uses the numbers of its time.
    fn hands(&self, but: u32) -> Hands {
        if self.large.is_empty() {
            Hands::Open { but }
        } else {
            Hands::Tied
        }
    }

    fn define(&mut self, space: InternSpace, id: u32, text: &str) {
        let intern = Frame::Intern(Intern {
            space,
            id,
            text: text.into(),
        });
        put(&mut self.ready, &intern);
    }

    /// The frame that was just written is too large, or must not pass one that is.
    fn move_to_large(&mut self, mark: usize, sequence: u64, shipment: &Shipment<'_>) -> Result<(), Undeliverable> {
        // Definitions stay where they are, and so they go before it.
        let definitions = self.definitions_behind(mark);
        let frame = self.ready.split_off(definitions).freeze();
        self.must_be_taken(frame.len() - 4)?;
        self.large.push(shipment.place, sequence, frame);
        Ok(())
    }

    /// Where the definitions that were written from `mark` on end.
    fn definitions_behind(&self, mark: usize) -> usize {
        let mut at = mark;
        while let Some(head) = self.ready.get(at..at + 5)
            && head[4] == FrameKind::Intern as u8
        {
            at += 4 + u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
        }
        at
    }
}

/// What travels along with a message that has to wait: when its time is over, on the clock of this node, in the place of how
/// much it has. How much is left is seen when there is a connection.
fn due(shipment: &Shipment<'_>) -> Option<Metadata> {
    let metadata = shipment.metadata.as_ref()?;
    let mut due = Metadata::builder().deadline((shipment.clock)().saturating_add(metadata.deadline()?));
    if let Some(trace) = metadata.trace() {
        due = due.trace(trace);
    }
    let due = metadata
        .headers()
        .fold(due, |due, (name, value)| due.header(name, value));
    Some(due.build())
}
