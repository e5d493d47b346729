//! What is on its way to a peer, and what was not confirmed yet. No I/O, and no clock but the one it is handed: senders put
//! messages in, a link takes batches out and brings confirmations.
//!
//! How a message gets in here is in [`ship`](super::ship), what is lost with a connection in [`lose`](super::lose).

use std::any::TypeId;
use std::collections::BTreeSet;

use bytes::BytesMut;
use hashbrown::HashMap;
use volary_core::foreign::{PendingReply, Undeliverable};
use volary_core::{ActorId, DeadReason};
use volary_wire::native::{Confirm, Frame, FrameWriter};

use super::batch::Batch;
use super::large::{LargeFrames, Pace};
use super::ledger::Ledger;
use super::lost::{Lost, Unreported};
use super::names::Names;
use super::terms::Terms;
use crate::options::{Overflow, RemoteOptions};

/// A buffer that has grown beyond this is kept only as long as batches are not much smaller: to have memory cleared and
/// handed out again for every batch costs more than to write one.
const KEPT_BUFFER: usize = 1 << 20;
/// And beyond this not at all.
const LARGEST_KEPT: usize = 16 << 20;
/// Which part of how long batches were is forgotten with each. Those of a busy connection differ by a hundred times, as senders
/// come and wait; a few short ones do not mean that there will be no long one.
const FORGOTTEN_AT_ONCE: usize = 64;

pub(super) struct Asked {
    pub(super) reply: PendingReply,
    pub(super) message: TypeId,
}

/// The peer said something that cannot be true. Its connection is to be closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Breach {
    #[error("it speaks of a message that it was not sent")]
    NotSent,
}

pub(crate) struct Outbound {
    /// The number of the connection; counts up.
    pub(super) epoch: u64,
    pub(super) connected: bool,
    pub(super) closed: bool,
    pub(super) wanted: bool,
    /// Before everything else: never charged, and in no order with messages.
    pub(super) first: BytesMut,
    pub(super) ready: BytesMut,
    /// How many bytes of that are answers, which the peer decides on, and not this node.
    pub(super) answers: usize,
    /// The writer was told that there is something, and has not come yet.
    pub(super) told: bool,
    /// How large batches were lately.
    usual: usize,
    /// A batch is being written.
    pub(super) writing: bool,
    pub(super) large: LargeFrames,
    pub(super) names: Names,
    pub(super) sequence: u64,
    /// The last message that was given to a connection.
    pub(super) written: u64,
    pub(super) ledger: Ledger,
    pub(super) asks: HashMap<u64, Asked, foldhash::fast::FixedState>,
    /// Askers whose message arrived and whose answer will not.
    pub(super) unanswered: Vec<PendingReply>,
    pub(super) unreported: Unreported,
    /// How many errands were lost and not counted yet.
    pub(super) unsaid: u64,
    pub(super) correlation: u64,
    pub(super) most_bytes: usize,
    pub(super) window: u64,
    /// How long it may be, with the connection there is.
    pub(super) terms: Terms,
    /// The same without one.
    pub(super) own_terms: Terms,
    pub(super) overflow: Overflow,
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
            told: false,
            answers: 0,
            usual: 0,
            writing: false,
            large: LargeFrames::new(options.large_window, options.chunk_bytes),
            names: Names::new(),
            sequence: 0,
            written: 0,
            ledger: Ledger::default(),
            asks: HashMap::default(),
            unanswered: Vec::new(),
            unreported: Unreported::default(),
            unsaid: 0,
            correlation: 0,
            most_bytes: options.outbound_bytes,
            window: options.window,
            terms: Terms::new(options),
            own_terms: Terms::new(options),
            overflow: options.overflow,
        }
    }

    /// Whether somebody waits for a connection to whoever is there.
    pub(crate) fn is_wanted(&self) -> bool {
        self.wanted
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

    /// How many bytes are kept, of messages that are on their way and of all that is not written yet.
    pub(crate) fn kept_bytes(&self) -> usize {
        self.ledger.bytes().max(self.waiting_bytes())
    }

    /// How many bytes are not written yet.
    pub(crate) fn waiting_bytes(&self) -> usize {
        self.first.len() + self.ready.len() + self.large.bytes()
    }

    /// How many asks are not answered yet.
    pub(crate) fn open_asks(&self) -> usize {
        self.asks.len()
    }

    /// Whether nothing is on its way, and nobody waits for an answer.
    pub(crate) fn is_settled(&self) -> bool {
        self.ledger.under_way() == 0 && self.asks.is_empty()
    }

    /// Goes with a message that is lost.
    pub(super) fn unreported(&self) -> Unreported {
        self.unreported.clone()
    }

    /// Whether a message is lost and it was not said yet.
    pub(super) fn is_reporting(&self) -> bool {
        self.unreported.is_held()
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
    pub(super) fn is_full(&self) -> bool {
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

    /// Writes a frame behind everything that was written before; without a connection it is not needed.
    pub(crate) fn write_in_order(&mut self, frame: &Frame) {
        if let Err(why) = self.write_if_connected(frame) {
            tracing::error!(%why, "what is said beside messages cannot be sent");
        }
    }

    /// The same for what may be long; the number of the connection, if there is one.
    pub(crate) fn write_if_connected(&mut self, frame: &Frame) -> Result<Option<u64>, Undeliverable> {
        match self.connected {
            true => self.write_behind(frame).map(|()| Some(self.epoch)),
            false => Ok(None),
        }
    }

    /// The same; without a connection it waits for one, if there is room.
    pub(crate) fn write_in_time(&mut self, frame: &Frame) {
        let has_room = self.connected || (!self.closed && self.ready.len() < self.most_bytes);
        if !has_room {
            self.unsaid += u64::from(matches!(frame, Frame::Operation(errand) if errand.correlation == 0));
        } else if let Err(why) = self.write_behind(frame) {
            tracing::error!(%why, "what is said beside messages cannot be sent");
        }
    }

    fn write_behind(&mut self, frame: &Frame) -> Result<(), Undeliverable> {
        let start = self.ready.len();
        put(&mut self.ready, frame);
        let length = self.ready.len() - start;
        let is_answer = matches!(frame, Frame::Answer(_));
        if length > self.terms.chunk && (is_answer || matches!(frame, Frame::Operation(_))) {
            let frame = self.ready.split_off(start).freeze();
            self.must_be_taken(frame.len() - 4)?;
            self.large.push_answer(frame);
        } else if !self.large.is_empty() {
            let frame = self.ready.split_off(start).freeze();
            self.large.push_other(frame);
        } else if is_answer {
            self.answers += length;
        }
        Ok(())
    }

    /// Whether the peer takes a frame of so many bytes.
    pub(super) fn must_be_taken(&self, bytes: usize) -> Result<(), Undeliverable> {
        let most = self.terms.longest;
        match bytes > most {
            true => Err(Undeliverable::TooLarge { bytes, most }),
            false => Ok(()),
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
    pub(crate) fn answer(&mut self, frame: &[u8]) -> Result<(), Undeliverable> {
        self.must_be_taken(frame.len() - 4)?;
        if !self.connected {
        } else if frame.len() > self.terms.chunk {
            self.large.push_answer(frame.to_vec().into());
        } else {
            self.first.extend_from_slice(frame);
            self.large.mind_others();
        }
        Ok(())
    }

    /// The peer has read so many bytes of what went in pieces on the connection `epoch`.
    pub(crate) fn pieces_read(&mut self, epoch: u64, bytes: u64, clock: impl FnOnce() -> u64) {
        if self.is_on(epoch) {
            self.large.read(bytes, clock);
        }
    }

    /// What is to be written next on the connection `epoch`. `spare` is a batch that was written; `clock` counts nanoseconds.
    pub(crate) fn next_batch(&mut self, epoch: u64, mut spare: Batch, clock: impl Fn() -> u64) -> Batch {
        if !spare.is_empty() {
            self.usual = spare.rest.len().max(self.usual - self.usual / FORGOTTEN_AT_ONCE);
        }
        if spare.rest.capacity() > KEPT_BUFFER.max(8 * self.usual).min(LARGEST_KEPT) {
            spare.rest = BytesMut::new();
        }
        spare.first.clear();
        spare.rest.clear();
        spare.pieces.clear();
        if !self.connected || epoch != self.epoch {
            return spare;
        }
        self.told = false;
        let pace = self.pace();
        self.answers = 0;
        std::mem::swap(&mut spare.first, &mut self.first);
        std::mem::swap(&mut spare.rest, &mut self.ready);
        if !spare.rest.is_empty() {
            self.large.mind_others();
        }
        self.large.take_pieces(&mut spare.pieces, pace, clock);
        self.written = self.sequence;
        self.writing = !spare.is_empty();
        spare
    }

    /// Who does not listen until this is written cannot wait for a word of the other side.
    fn pace(&self) -> Pace {
        match self.is_overfull() {
            true => Pace::Any,
            false => Pace::Measured,
        }
    }

    /// Whether so much waits to be written that nothing more should be heard, which would only bring more to say: what
    /// answers and tells of ends is not charged to anybody else.
    pub(crate) fn is_overfull(&self) -> bool {
        self.first.len() + self.answers + self.large.other_bytes() > self.most_bytes
            || self.ready.len() / 2 > self.most_bytes
            || self.large.len() as u64 / 2 > self.window
    }

    /// Whether so many bytes are about to be written, after which [`next_batch`](Outbound::next_batch) is called.
    pub(crate) fn has_ready(&self, bytes: usize) -> bool {
        self.connected && self.ready.len() >= bytes
    }

    /// Whether there is something that may be written on the connection `epoch` now.
    pub(crate) fn has_to_write(&self, epoch: u64) -> bool {
        self.is_on(epoch) && !(self.first.is_empty() && self.ready.is_empty() && !self.large.may_go(self.pace()))
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

    pub(super) fn refused(&mut self, sequence: u64) -> Option<Lost> {
        let sent = self.ledger.settle(sequence)?;
        let (receiver, sender, type_name, correlation) = (sent.receiver, sent.sender, sent.type_name, sent.correlation);
        let reply = self.asks.remove(&correlation).map(|asked| asked.reply);
        Some(Lost {
            receiver,
            sender,
            type_name,
            reason: DeadReason::Full,
            reply,
            unfit: None,
            unreported: self.unreported.clone(),
        })
    }

    /// Whoever waits for this answer, and the type of the message that it is to.
    pub(crate) fn take_ask(&mut self, correlation: u64) -> Option<(PendingReply, TypeId)> {
        let asked = self.asks.remove(&correlation)?;
        Some((asked.reply, asked.message))
    }

    /// Whether somebody waits for this answer.
    pub(crate) fn has_asked(&self, correlation: u64) -> bool {
        self.asks.contains_key(&correlation)
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
}

pub(super) fn put(out: &mut BytesMut, frame: &Frame) {
    if let Err(error) = FrameWriter::new(out).frame(frame) {
        tracing::error!(%error, "a frame of our own is too large");
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use volary_wire::native::{Bounds, Capabilities};

    use super::*;

    #[test]
    fn r3_nothing_that_was_written_for_one_connection_goes_to_the_next() {
        let mut outbound = Outbound::new(&RemoteOptions::new());
        let (first, _) = outbound.connect(Capabilities::all(), Bounds::default(), Duration::ZERO);
        outbound.write_in_order(&Frame::Heartbeat { nonce: 1 });
        assert!(outbound.has_more());
        // Whoever closes the first has not come yet.
        let (second, _) = outbound.connect(Capabilities::all(), Bounds::default(), Duration::ZERO);
        assert!(!outbound.has_more());
        outbound.write_in_order(&Frame::Heartbeat { nonce: 2 });
        outbound.disconnect(first);
        assert!(outbound.is_on(second) && outbound.has_more());
    }

    #[test]
    fn r8_what_the_last_connection_said_does_not_count_on_the_next() {
        let mut outbound = Outbound::new(&RemoteOptions::new());
        let (first, _) = outbound.connect(Capabilities::all(), Bounds::default(), Duration::ZERO);
        outbound.connect(Capabilities::all(), Bounds::default(), Duration::ZERO);
        let confirm = Confirm::new(9, &[]).unwrap_or_else(|| unreachable!("no ranges"));
        assert_eq!(outbound.confirm(first, &confirm), Ok(0));
        assert_eq!(outbound.confirm(first + 1, &confirm), Err(Breach::NotSent));
        assert!(outbound.busy(first + 1, 1).is_err());
    }

    #[test]
    fn r3_a_long_buffer_is_kept_while_batches_differ_and_let_go_of_when_they_stay_short() {
        let mut outbound = Outbound::new(&RemoteOptions::new());
        let (epoch, _) = outbound.connect(Capabilities::all(), Bounds::default(), Duration::ZERO);
        let (mut spare, mut largest) = (Batch::default(), Vec::new());
        for batch in 0..1_000 {
            let heartbeats = if batch < 500 && batch % 50 == 0 { 500_000 } else { 10 };
            (0..heartbeats).for_each(|nonce| outbound.write_in_order(&Frame::Heartbeat { nonce }));
            spare = outbound.next_batch(epoch, spare, || 0);
            largest.push(spare.rest.capacity().max(outbound.ready.capacity()));
        }
        assert!(
            largest[..500].iter().all(|capacity| *capacity > 2 * KEPT_BUFFER),
            "{largest:?}"
        );
        assert!(largest[999] <= KEPT_BUFFER, "{}", largest[999]);
        // Nothing to write says nothing of how much there will be.
        (0..500_000).for_each(|nonce| outbound.write_in_order(&Frame::Heartbeat { nonce }));
        for _ in 0..1_000 {
            spare = outbound.next_batch(epoch, spare, || 0);
        }
        assert!(spare.rest.capacity().max(outbound.ready.capacity()) > 2 * KEPT_BUFFER);
    }

    #[test]
    fn r3_a_way_that_is_closed_keeps_no_buffers() {
        let mut outbound = Outbound::new(&RemoteOptions::new());
        outbound.connect(Capabilities::all(), Bounds::default(), Duration::ZERO);
        (0..10_000).for_each(|nonce| outbound.write_in_order(&Frame::Heartbeat { nonce }));
        (0..10_000).for_each(|nonce| outbound.write_first(&Frame::Heartbeat { nonce }));
        outbound.names.message_type(TypeId::of::<()>(), "nothing");
        assert!(outbound.ready.capacity() > 10_000 && outbound.first.capacity() > 10_000 && !outbound.names.is_bare());
        outbound.close();
        assert_eq!((outbound.first.capacity(), outbound.ready.capacity()), (0, 0));
        assert!(outbound.names.is_bare());
    }
}
