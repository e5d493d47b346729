//! What is on its way to a peer, and what was not confirmed yet. No I/O and no clock: senders put messages in, a link
//! takes batches out and brings confirmations.
//!
//! Messages are written where they are sent, into one buffer that the link takes as a whole. A frame that is too large
//! goes into a queue of its own, in pieces, and so does everything to the same receiver behind it, so that the order of
//! a pair survives. While there is no connection names stand in full, since numbers belong to a connection.

use std::any::TypeId;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering::*};

use bytes::BytesMut;
use hashbrown::HashMap;
use volary_core::foreign::{Parcel, PendingReply, Undeliverable};
use volary_core::{ActorId, DeadReason};
use volary_wire::native::{
    Confirm, Frame, FrameKind, FrameWriter, Head, Intern, InternSpace, Limits, Metadata, NameRef,
};
use volary_wire::{MessageEntry, SendEncodeError};

use super::batch::Batch;
use super::large::{LargeFrames, Pace};
use super::ledger::{Ledger, Sent};
use super::lost::Lost;
use super::names::{ADDRESS, Called, Names, TYPE};
use crate::options::RemoteOptions;

/// A buffer that has grown beyond this is not kept.
const KEPT_BUFFER: usize = 1 << 20;

struct Asked {
    reply: PendingReply,
    message: TypeId,
}

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
}

/// The peer said something that cannot be true. Its connection is to be closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Breach {
    #[error("it speaks of a message that it was not sent")]
    NotSent,
}

pub(crate) struct Outbound {
    /// The number of the connection; counts up.
    epoch: u64,
    connected: bool,
    closed: bool,
    wanted: bool,
    /// Before everything else: never charged, and in no order with messages.
    first: BytesMut,
    ready: BytesMut,
    /// How many bytes of that are answers, which the peer decides on, and not this node.
    answers: usize,
    /// A batch is being written.
    writing: bool,
    large: LargeFrames,
    names: Names,
    sequence: u64,
    /// The last message that was given to a connection.
    written: u64,
    ledger: Ledger,
    asks: HashMap<u64, Asked, foldhash::fast::FixedState>,
    /// Askers whose message arrived and whose answer will not.
    unanswered: Vec<PendingReply>,
    correlation: u64,
    most_bytes: usize,
    window: u64,
    chunk: usize,
}

impl Outbound {
    pub(crate) fn new(options: &RemoteOptions) -> Self {
        Outbound {
            epoch: 0,
            connected: false,
            closed: false,
            wanted: false,
            first: BytesMut::new(),
            ready: BytesMut::new(),
            answers: 0,
            writing: false,
            large: LargeFrames::new(options.large_window),
            names: Names::new(),
            sequence: 0,
            written: 0,
            ledger: Ledger::default(),
            asks: HashMap::default(),
            unanswered: Vec::new(),
            correlation: 0,
            most_bytes: options.outbound_bytes,
            window: options.window,
            chunk: options.chunk_bytes,
        }
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.connected
    }

    /// The number of the connection there is, or was last.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch
    }

    pub(crate) fn under_way(&self) -> u64 {
        self.ledger.under_way()
    }

    /// Whether nothing is on its way, and nobody waits for an answer.
    pub(crate) fn is_settled(&self) -> bool {
        self.ledger.under_way() == 0 && self.asks.is_empty()
    }

    /// Those to whom something is on its way.
    pub(crate) fn receivers(&self) -> BTreeSet<ActorId> {
        self.ledger.receivers().collect()
    }

    /// How many more messages there is room for. When nothing is taken any more, everybody may hear so.
    pub(crate) fn room(&self) -> u64 {
        if self.closed {
            u64::MAX
        } else if self.is_full() {
            0
        } else {
            self.window - self.ledger.under_way()
        }
    }

    /// What is kept until it is confirmed has a bound, and what is not written yet: a peer may confirm early.
    fn is_full(&self) -> bool {
        self.ledger.under_way() >= self.window
            || self.ledger.bytes() >= self.most_bytes
            || self.ready.len() + self.large.bytes() >= self.most_bytes
    }

    /// A connection is wanted, although nothing is to be sent yet.
    pub(crate) fn want_connection(&mut self) {
        self.wanted = true;
    }

    /// Whether there is anything that needs a connection.
    pub(crate) fn needs_connection(&self) -> bool {
        self.wanted || !self.ready.is_empty() || !self.large.is_empty() || !self.asks.is_empty()
    }

    /// Takes a message; true: the link is to be told.
    pub(crate) fn ship(&mut self, parcel: &mut Parcel<'_>, shipment: &Shipment<'_>) -> Result<bool, Undeliverable> {
        if self.closed {
            return Err(Undeliverable::Gone);
        }
        if self.is_full() {
            return Err(Undeliverable::Full);
        }
        let idle = self.ready.is_empty() && self.large.is_empty();
        let mark = self.ready.len();
        match self.write(parcel, shipment) {
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
        if length > self.chunk || self.large.is_behind(shipment.place) {
            self.move_to_large(mark, parcel, shipment)?;
        }
        self.sequence = sequence;
        if let Some(reply) = parcel.take_reply() {
            self.correlation = correlation;
            let message = parcel.message_type();
            self.asks.insert(correlation, Asked { reply, message });
        }
        self.ledger.push(Sent {
            sequence,
            receiver: shipment.receiver,
            sender: parcel.sender(),
            type_name: parcel.type_name(),
            bytes: u32::try_from(length).unwrap_or(u32::MAX),
            correlation,
            settled: false,
        });
        Ok(idle && self.connected)
    }

    /// Writes a message into the ready buffer, with the names that it needs.
    fn write(&mut self, parcel: &Parcel<'_>, shipment: &Shipment<'_>) -> Result<(), Undeliverable> {
        let receiver = self.receiver(shipment);
        let type_name = self.message_type(parcel.message_type(), shipment.entry.name());
        let sender_text;
        let sender = match parcel.sender() {
            None => None,
            Some(id) => match self.connected.then(|| self.names.known_sender(id)).flatten() {
                Some(number) => Some(NameRef::Id(number)),
                None => {
                    sender_text = shipment.sender.and_then(|address| address());
                    sender_text.as_deref().map(|text| self.sender(id, text))
                }
            },
        };
        let head = Head {
            sequence: self.sequence + 1,
            receiver,
            sender,
            type_name,
            codec: shipment.entry.codec(),
            metadata: shipment.metadata.as_ref(),
        };
        self.write_head(parcel, shipment, &head)
    }

    fn write_head(
        &mut self,
        parcel: &Parcel<'_>,
        shipment: &Shipment<'_>,
        head: &Head<'_>,
    ) -> Result<(), Undeliverable> {
        let encode = |out: &mut BytesMut| shipment.entry.encode(parcel.message(), out);
        let mut writer = FrameWriter::new(&mut self.ready);
        let written = if parcel.is_asked() {
            writer.ask(self.correlation + 1, head, encode)
        } else {
            writer.tell(head, encode)
        };
        match written {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => {
                report_unsendable(parcel, &error);
                Err(Undeliverable::Unsendable)
            }
            Err(_) => Err(Undeliverable::Unsendable),
        }
    }

    fn receiver<'a>(&mut self, shipment: &Shipment<'a>) -> NameRef<'a> {
        if !self.connected {
            return NameRef::Text(shipment.address);
        }
        let kept = shipment.number.load(Relaxed);
        if kept >> 32 == self.epoch {
            return NameRef::Id(kept as u32);
        }
        match self.names.receiver(shipment.address) {
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

    fn sender<'a>(&mut self, id: ActorId, address: &'a str) -> NameRef<'a> {
        if !self.connected {
            return NameRef::Text(address);
        }
        match self.names.sender(id, address) {
            Called::From(number) => {
                self.define(ADDRESS, number, address);
                NameRef::Id(number)
            }
            _ => NameRef::Text(address),
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
    fn move_to_large(
        &mut self,
        mark: usize,
        parcel: &Parcel<'_>,
        shipment: &Shipment<'_>,
    ) -> Result<(), Undeliverable> {
        // Definitions stay where they are, and so they go before it.
        let definitions = self.definitions_behind(mark);
        let frame = self.ready.split_off(definitions).freeze();
        let (length, limit) = (frame.len() - 4, Limits::default().max_message);
        if length > limit {
            tracing::error!(
                message = parcel.type_name(),
                length,
                limit,
                "a message is too large for other nodes"
            );
            return Err(Undeliverable::Unsendable);
        }
        self.large.push(shipment.place, frame, self.chunk);
        Ok(())
    }

    /// Where the definitions that were written from `mark` on end.
    fn definitions_behind(&self, mark: usize) -> usize {
        let mut at = mark;
        while let Some(head) = self.ready.get(at..at + 5)
            && head[4] == volary_wire::native::FrameKind::Intern as u8
        {
            at += 4 + u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
        }
        at
    }

    /// Writes a frame behind everything that was written before; without a connection it is not needed.
    pub(crate) fn write_in_order(&mut self, frame: &Frame) {
        if self.connected {
            self.write_behind(frame);
        }
    }

    /// The same; the number of the connection, if there is one.
    pub(crate) fn write_if_connected(&mut self, frame: &Frame) -> Option<u64> {
        self.write_in_order(frame);
        self.connected.then_some(self.epoch)
    }

    /// The same; without a connection it waits for one, if there is room.
    pub(crate) fn write_in_time(&mut self, frame: &Frame) {
        if self.connected || (!self.closed && self.ready.len() < self.most_bytes) {
            self.write_behind(frame);
        }
    }

    fn write_behind(&mut self, frame: &Frame) {
        let start = self.ready.len();
        put(&mut self.ready, frame);
        let length = self.ready.len() - start;
        let is_answer = matches!(frame, Frame::Answer(_));
        if length > self.chunk && (is_answer || matches!(frame, Frame::Operation(_))) {
            let frame = self.ready.split_off(start).freeze();
            self.large.push_answer(frame, self.chunk);
        } else if !self.large.is_empty() {
            let frame = self.ready.split_off(start).freeze();
            self.large.push_other(frame);
        } else if is_answer {
            self.answers += length;
        }
    }

    /// Whether the connection of this number is the present one.
    pub(crate) fn is_on(&self, epoch: u64) -> bool {
        self.connected && self.epoch == epoch
    }

    /// Writes a frame before everything that waits.
    pub(crate) fn write_first(&mut self, frame: &Frame) {
        if self.connected {
            put(&mut self.first, frame);
        }
    }

    /// Writes the answer to an ask before everything that waits, or in pieces beside it if it is large.
    pub(crate) fn answer(&mut self, frame: &[u8]) {
        if !self.connected {
        } else if frame.len() > self.chunk {
            self.large.push_answer(frame.to_vec().into(), self.chunk);
        } else {
            self.first.extend_from_slice(frame);
            self.large.mind_others();
        }
    }

    /// The peer has read so many bytes of what went in pieces on the connection `epoch`.
    pub(crate) fn pieces_read(&mut self, epoch: u64, bytes: u64) {
        if self.is_on(epoch) {
            self.large.read(bytes);
        }
    }

    /// What is to be written next on the connection `epoch`. `spare` is a batch that was written.
    pub(crate) fn next_batch(&mut self, epoch: u64, mut spare: Batch) -> Batch {
        spare.first.clear();
        spare.rest.clear();
        spare.pieces.clear();
        if spare.rest.capacity() > KEPT_BUFFER {
            spare.rest = BytesMut::new();
        }
        if !self.connected || epoch != self.epoch {
            return spare;
        }
        // Who does not listen until this is written cannot wait for a word of the other side.
        let pace = if self.is_overfull() { Pace::Any } else { Pace::Measured };
        self.answers = 0;
        std::mem::swap(&mut spare.first, &mut self.first);
        std::mem::swap(&mut spare.rest, &mut self.ready);
        if !spare.rest.is_empty() {
            self.large.mind_others();
        }
        self.large.take_pieces(&mut spare.pieces, pace);
        self.written = self.sequence;
        self.writing = !spare.is_empty();
        spare
    }

    /// Whether so much waits to be written that nothing more should be heard, which would only bring more to say: what
    /// answers and tells of ends is not charged to anybody else.
    pub(crate) fn is_overfull(&self) -> bool {
        self.first.len() + self.answers + self.large.other_bytes() > self.most_bytes
            || self.ready.len() > 2 * self.most_bytes
            || self.large.len() as u64 > 2 * self.window
    }

    /// Whether there is anything that was not written to its end.
    pub(crate) fn has_more(&self) -> bool {
        self.writing || !self.first.is_empty() || !self.ready.is_empty() || !self.large.is_empty()
    }

    /// The peer says on the connection `epoch` which messages have left their mailboxes; how many these are.
    pub(crate) fn confirm(&mut self, epoch: u64, confirm: &Confirm) -> Result<u64, Breach> {
        if !self.is_on(epoch) {
            return Ok(0);
        }
        let last = confirm.beyond().last().map_or(confirm.up_to, |run| *run.end());
        if last > self.written {
            return Err(Breach::NotSent);
        }
        Ok(self.ledger.confirm(confirm))
    }

    /// The receiver of this message had too much mail, it says on the connection `epoch`.
    pub(crate) fn busy(&mut self, epoch: u64, sequence: u64) -> Result<Option<Lost>, Breach> {
        if !self.is_on(epoch) {
            return Ok(None);
        }
        if sequence > self.written {
            return Err(Breach::NotSent);
        }
        Ok(self.refused(sequence))
    }

    fn refused(&mut self, sequence: u64) -> Option<Lost> {
        let sent = self.ledger.settle(sequence)?;
        let (receiver, sender, type_name, correlation) = (sent.receiver, sent.sender, sent.type_name, sent.correlation);
        let reply = self.asks.remove(&correlation).map(|asked| asked.reply);
        Some(Lost {
            receiver,
            sender,
            type_name,
            reason: DeadReason::Full,
            reply,
        })
    }

    /// Whoever waits for this answer, and the type of the message that it is to.
    pub(crate) fn take_ask(&mut self, correlation: u64) -> Option<(PendingReply, TypeId)> {
        let asked = self.asks.remove(&correlation)?;
        Some((asked.reply, asked.message))
    }

    /// Asks whose askers have given up, to be cancelled.
    pub(crate) fn take_unwanted(&mut self) -> Vec<u64> {
        let mut unwanted: Vec<u64> = self
            .asks
            .iter()
            .filter(|(_, asked)| !asked.reply.is_wanted())
            .map(|(correlation, _)| *correlation)
            .collect();
        unwanted.sort_unstable();
        for correlation in &unwanted {
            self.asks.remove(correlation);
        }
        unwanted
    }

    /// A connection was made; its number, and what is lost by that. One that there was is over, even if whoever closes
    /// it has not come here yet: what was written for it means something else on the next.
    pub(crate) fn connect(&mut self) -> (u64, Vec<Lost>) {
        let mut lost = self.disconnect(self.epoch);
        lost.extend(self.take_given_up());
        self.epoch += 1;
        self.connected = true;
        self.wanted = false;
        self.names = Names::new();
        self.first.clear();
        (self.epoch, lost)
    }

    /// Takes out the asks that have waited for a connection longer than their askers: they are not to be handled after
    /// their deadline. Their numbers stay unused.
    fn take_given_up(&mut self) -> Vec<Lost> {
        let unwanted = |(correlation, asked): (&u64, &Asked)| (!asked.reply.is_wanted()).then_some(*correlation);
        let given_up: BTreeSet<u64> = self.asks.iter().filter_map(unwanted).collect();
        if given_up.is_empty() {
            return Vec::new();
        }
        let mut lost = Vec::new();
        let waiting = std::mem::take(&mut self.ready);
        for frame in frames(&waiting) {
            let expired = asked(frame).filter(|(_, correlation)| given_up.contains(correlation));
            match expired.and_then(|(sequence, _)| self.refused(sequence)) {
                Some(expired) => lost.push(Lost {
                    reason: DeadReason::Expired,
                    ..expired
                }),
                None => self.ready.extend_from_slice(frame),
            }
        }
        lost
    }

    /// The connection `epoch` is gone.
    pub(crate) fn disconnect(&mut self, epoch: u64) -> Vec<Lost> {
        if epoch != self.epoch || !self.connected {
            return Vec::new();
        }
        self.connected = false;
        let written = self.written;
        self.lose_all(|sequence| {
            if sequence <= written {
                DeadReason::Unconfirmed
            } else {
                DeadReason::Unreachable
            }
        })
    }

    /// What waits for a connection waits no longer. Not while there is one: what it was told of would be forgotten.
    pub(crate) fn give_up(&mut self, reason: DeadReason) -> Vec<Lost> {
        let written = if self.connected { self.written } else { 0 };
        self.lose_all(|sequence| {
            if sequence <= written {
                DeadReason::Unconfirmed
            } else {
                reason
            }
        })
    }

    pub(crate) fn close(&mut self) -> Vec<Lost> {
        self.closed = true;
        let lost = self.give_up(DeadReason::Unreachable);
        self.connected = false;
        lost
    }

    fn lose_all(&mut self, reason: impl Fn(u64) -> DeadReason) -> Vec<Lost> {
        self.wanted = false;
        self.first.clear();
        self.ready.clear();
        self.answers = 0;
        self.writing = false;
        self.large.clear();
        // Each connection counts from 1, so that the other side knows what it has not got yet.
        self.sequence = 0;
        self.written = 0;
        let mut asks = std::mem::take(&mut self.asks);
        let lost: Vec<Lost> = self
            .ledger
            .take_all()
            .map(|sent| Lost {
                receiver: sent.receiver,
                sender: sent.sender,
                type_name: sent.type_name,
                reason: reason(sent.sequence),
                reply: asks.remove(&sent.correlation).map(|asked| asked.reply),
            })
            .collect();
        // Messages that were confirmed, whose answers will not come any more: no dead letters, but ends of asks.
        let asks: BTreeMap<u64, Asked> = asks.into_iter().collect();
        self.unanswered.extend(asks.into_values().map(|asked| asked.reply));
        lost
    }

    /// Askers whose message arrived and whose answer will not.
    pub(crate) fn take_unanswered(&mut self) -> Vec<PendingReply> {
        std::mem::take(&mut self.unanswered)
    }
}

/// The frames in a buffer, one after the other.
fn frames(mut left: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let length = u32::from_be_bytes(*left.first_chunk()?) as usize;
        let (frame, rest) = left.split_at_checked(4 + length)?;
        left = rest;
        Some(frame)
    })
}

/// Sequence and correlation of a frame that is an ask.
fn asked(frame: &[u8]) -> Option<(u64, u64)> {
    let (&kind, fields) = frame.get(4..)?.split_first()?;
    if kind != FrameKind::Ask as u8 {
        return None;
    }
    let (sequence, fields) = number(fields.get(1..)?)?;
    Some((sequence, number(fields)?.0))
}

fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let last = bytes.iter().take(10).position(|byte| byte & 0x80 == 0)?;
    let (number, rest) = bytes.split_at_checked(last + 1)?;
    let add = |value, (place, byte): (usize, &u8)| value | u64::from(byte & 0x7f) << (7 * place);
    Some((number.iter().enumerate().fold(0, add), rest))
}

fn put(out: &mut BytesMut, frame: &Frame) {
    if let Err(error) = FrameWriter::new(out).frame(frame) {
        tracing::error!(%error, "a frame of our own is too large");
    }
}

/// A message that cannot be written is the program's mistake, and is said so.
fn report_unsendable(parcel: &Parcel<'_>, error: &SendEncodeError) {
    tracing::error!(message = parcel.type_name(), %error, "a message cannot be sent to another node");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r3_nothing_that_was_written_for_one_connection_goes_to_the_next() {
        let mut outbound = Outbound::new(&RemoteOptions::new());
        let (first, _) = outbound.connect();
        outbound.write_in_order(&Frame::Heartbeat { nonce: 1 });
        assert!(outbound.has_more());
        // Whoever closes the first has not come yet.
        let (second, _) = outbound.connect();
        assert!(!outbound.has_more());
        outbound.write_in_order(&Frame::Heartbeat { nonce: 2 });
        outbound.disconnect(first);
        assert!(outbound.is_on(second) && outbound.has_more());
    }

    #[test]
    fn r8_what_the_last_connection_said_does_not_count_on_the_next() {
        let mut outbound = Outbound::new(&RemoteOptions::new());
        let (first, _) = outbound.connect();
        outbound.connect();
        let confirm = Confirm::new(9, &[]).unwrap_or_else(|| unreachable!("no ranges"));
        assert_eq!(outbound.confirm(first, &confirm), Ok(0));
        assert_eq!(outbound.confirm(first + 1, &confirm), Err(Breach::NotSent));
        assert!(outbound.busy(first + 1, 1).is_err());
    }

    #[test]
    fn asks_are_found_among_frames() {
        let mut out = BytesMut::new();
        put(&mut out, &Frame::Heartbeat { nonce: 300 });
        let head = Head {
            sequence: 300,
            receiver: NameRef::Id(1),
            sender: None,
            type_name: NameRef::Id(1),
            codec: volary_wire::CodecId::PROTO,
            metadata: None,
        };
        let _ = FrameWriter::new(&mut out).ask(70_000, &head, |_| Ok::<(), ()>(()));
        let found: Vec<_> = frames(&out).map(asked).collect();
        assert_eq!(found, [None, Some((300, 70_000))]);
    }
}
