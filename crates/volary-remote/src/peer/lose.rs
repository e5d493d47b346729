//! What becomes of messages when a connection is made or ends.

use std::collections::{BTreeMap, BTreeSet};

use bytes::{Buf, BytesMut};
use volary_core::foreign::PendingReply;
use volary_core::{ActorId, DeadReason};
use volary_wire::native::{Capabilities, Capability, Frame, FrameDecoder, FrameKind, Limits};

use super::lost::Lost;
use super::names::Names;
use super::outbound::{Asked, Outbound};

impl Outbound {
    /// A connection was made; its number, and what is lost by that. One that there was is over, even if whoever closes
    /// it has not come here yet: what was written for it means something else on the next.
    pub(crate) fn connect(&mut self, capabilities: Capabilities) -> (u64, Vec<Lost>) {
        let mut lost = self.disconnect(self.epoch);
        lost.extend(self.take_given_up());
        if !capabilities.contains(Capability::Chunks) {
            lost.extend(self.speak_in_whole_frames());
        }
        self.epoch += 1;
        self.connected = true;
        self.wanted = false;
        self.names = Names::new();
        self.first.clear();
        (self.epoch, lost)
    }

    /// The peer puts no pieces together: what waits goes as it is, or not at all.
    fn speak_in_whole_frames(&mut self) -> Vec<Lost> {
        self.longest = self.longest_whole;
        self.chunk = 4 + self.longest;
        self.large.set_chunk(self.chunk);
        let too_long = self.large.longer_than(self.chunk).collect();
        self.withdraw(&too_long, DeadReason::Unsendable)
    }

    /// Takes out the asks that have waited for a connection longer than their askers: they are not to be handled after
    /// their deadline.
    fn take_given_up(&mut self) -> Vec<Lost> {
        let unwanted = |(correlation, asked): (&u64, &Asked)| (!asked.reply.is_wanted()).then_some(*correlation);
        let given_up: BTreeSet<u64> = self.asks.iter().filter_map(unwanted).collect();
        if given_up.is_empty() {
            return Vec::new();
        }
        let expired = self.ledger.open().filter(|sent| given_up.contains(&sent.correlation));
        let expired = expired.map(|sent| sent.sequence).collect();
        self.withdraw(&expired, DeadReason::Expired)
    }

    /// Takes out what has waited for a connection on its way to these.
    pub(crate) fn take_back(&mut self, receivers: &BTreeSet<ActorId>) -> Vec<Lost> {
        let theirs = self.ledger.open().filter(|sent| receivers.contains(&sent.receiver));
        let theirs = theirs.map(|sent| sent.sequence).collect();
        self.withdraw(&theirs, DeadReason::Unreachable)
    }

    /// Takes out messages of which nothing was written to a connection. Their numbers stay unused.
    fn withdraw(&mut self, sequences: &BTreeSet<u64>, reason: DeadReason) -> Vec<Lost> {
        if sequences.is_empty() {
            return Vec::new();
        }
        let waiting = std::mem::take(&mut self.ready);
        for frame in frames(&waiting) {
            if !numbered(frame).is_some_and(|sequence| sequences.contains(&sequence)) {
                self.ready.extend_from_slice(frame);
            }
        }
        self.large.withdraw(|sequence| sequences.contains(&sequence));
        let lost = sequences.iter().filter_map(|sequence| self.refused(*sequence));
        lost.map(|lost| Lost { reason, ..lost }).collect()
    }

    /// The same for the one of all that is open which has waited longest: it stands before the others, so that those need not be
    /// looked at.
    pub(super) fn withdraw_oldest(&mut self, oldest: u64) -> Option<Lost> {
        if !self.large.withdraw_first(oldest) {
            let mut at = 0;
            let found = frames(&self.ready).find_map(|frame| {
                at += frame.len();
                (numbered(frame) == Some(oldest)).then_some(frame.len())
            });
            if let Some(length) = found {
                // What is said beside messages, and was before it, is still.
                self.ready.copy_within(..at - length, length);
                self.ready.advance(length);
            }
        }
        self.refused(oldest)
    }

    /// The connection `epoch` is gone.
    pub(crate) fn disconnect(&mut self, epoch: u64) -> Vec<Lost> {
        if epoch != self.epoch || !self.connected {
            return Vec::new();
        }
        self.connected = false;
        self.chunk = self.usual_chunk;
        self.longest = self.longest_in_pieces;
        self.large.set_chunk(self.chunk);
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
        // Whoever has a reference to somebody there may keep it for long.
        (self.first, self.ready) = (BytesMut::new(), BytesMut::new());
        self.names = Names::new();
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
        let unreported = &self.unreported;
        let lost: Vec<Lost> = self
            .ledger
            .take_all()
            .into_iter()
            .map(|sent| Lost {
                receiver: sent.receiver,
                sender: sent.sender,
                type_name: sent.type_name,
                reason: reason(sent.sequence),
                reply: asks.remove(&sent.correlation).map(|asked| asked.reply),
                unreported: unreported.clone(),
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

/// The number of a frame that is a message.
fn numbered(frame: &[u8]) -> Option<u64> {
    let kind = *frame.get(4)?;
    if kind != FrameKind::Ask as u8 && kind != FrameKind::Tell as u8 {
        return None;
    }
    let mut decoder = FrameDecoder::new(Limits::default());
    decoder.feed(frame);
    match decoder.next_frame() {
        Ok(Some(Frame::Ask { envelope, .. } | Frame::Tell(envelope))) => Some(envelope.sequence),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;
    use volary_wire::native::{FrameWriter, Head, NameRef};

    use super::super::outbound::put;
    use super::*;

    #[test]
    fn messages_are_found_among_frames() {
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
        let _ = FrameWriter::new(&mut out).tell(&Head { sequence: 9, ..head }, |_| Ok::<(), ()>(()));
        let found: Vec<_> = frames(&out).map(numbered).collect();
        assert_eq!(found, [None, Some(300), Some(9)]);
    }
}
