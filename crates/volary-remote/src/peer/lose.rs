//! What becomes of messages when a connection is made or ends.

use std::collections::{BTreeMap, BTreeSet};

use bytes::{Buf, BytesMut};
use volary_core::foreign::{PendingReply, Undeliverable};
use volary_core::{ActorId, DeadReason};
use volary_wire::native::{Bounds, Capabilities, Envelope, Frame, FrameDecoder, FrameKind, Limits, Name};

use super::lost::Lost;
use super::names::Names;
use super::outbound::{Asked, Outbound};
use crate::outlet::place;

impl Outbound {
    /// A connection was made; its number, and what is lost by that. One that there was is over, even if whoever closes
    /// it has not come here yet: what was written for it means something else on the next.
    pub(crate) fn connect(&mut self, capabilities: Capabilities, bounds: Bounds) -> (u64, Vec<Lost>) {
        let mut lost = self.disconnect(self.epoch);
        lost.extend(self.take_given_up());
        let terms = self.own_terms.with(capabilities, bounds);
        if terms != self.own_terms {
            self.terms = terms;
            self.large.set_chunk(terms.chunk);
            lost.extend(self.take_unfit());
            self.cut_what_waits();
        }
        self.epoch += 1;
        self.connected = true;
        self.wanted = false;
        self.names = Names::new();
        self.first.clear();
        (self.epoch, lost)
    }

    /// Takes out what has waited for a connection and is more than the peer takes.
    fn take_unfit(&mut self) -> Vec<Lost> {
        let terms = self.terms;
        let why_not = |frame: &[u8]| {
            let bytes = frame.len() - 4;
            if bytes > terms.longest {
                let most = terms.longest;
                return Some(Undeliverable::TooLarge { bytes, most });
            }
            let is_taken = !terms.counts_headers() || terms.takes(message(frame)?.metadata.as_ref());
            (!is_taken).then_some(Undeliverable::TooManyHeaders)
        };
        let small = frames(&self.ready).filter_map(|frame| Some((numbered(frame)?, why_not(frame)?)));
        let large = self.large.messages();
        let large = large.filter_map(|(sequence, frame)| Some((sequence, why_not(frame)?)));
        let unfit: BTreeMap<u64, Undeliverable> = small.chain(large).collect();
        let sequences = unfit.keys().copied().collect();
        let reason = |sequence| (DeadReason::Unsendable, unfit.get(&sequence).copied());
        self.withdraw(&sequences, reason)
    }

    /// What has waited is longer than the peer takes it as a whole: it goes in pieces, and what was written behind it does not
    /// pass it. Before what waits to go in pieces anyway, which is behind all that is to the same receivers.
    fn cut_what_waits(&mut self) {
        if frames(&self.ready).all(|frame| frame.len() <= self.terms.chunk) {
            return;
        }
        let waiting = std::mem::take(&mut self.ready).freeze();
        self.large.put_before(|large| {
            for frame in frames(&waiting) {
                let copy = waiting.slice_ref(frame);
                match message(frame) {
                    Some(Envelope {
                        sequence,
                        receiver: Name::Text(receiver),
                        ..
                    }) => large.push(place(&receiver), sequence, copy),
                    _ => large.push_answer(copy),
                }
            }
        });
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
        self.withdraw(&expired, |_| (DeadReason::Expired, None))
    }

    /// Takes out what has waited for a connection on its way to these.
    pub(crate) fn take_back(&mut self, receivers: &BTreeSet<ActorId>) -> Vec<Lost> {
        let theirs = self.ledger.open().filter(|sent| receivers.contains(&sent.receiver));
        let theirs = theirs.map(|sent| sent.sequence).collect();
        self.withdraw(&theirs, |_| (DeadReason::Unreachable, None))
    }

    /// Takes out messages of which nothing was written to a connection. Their numbers stay unused.
    fn withdraw(
        &mut self,
        sequences: &BTreeSet<u64>,
        why: impl Fn(u64) -> (DeadReason, Option<Undeliverable>),
    ) -> Vec<Lost> {
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
        let lost = sequences.iter().filter_map(|sequence| {
            let (reason, unfit) = why(*sequence);
            let lost = self.refused(*sequence)?;
            Some(Lost { reason, unfit, ..lost })
        });
        lost.collect()
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
        self.terms = self.own_terms;
        self.large.set_chunk(self.terms.chunk);
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
                unfit: None,
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
    Some(message(frame)?.sequence)
}

/// What is in a frame that is a message.
fn message(frame: &[u8]) -> Option<Envelope> {
    let kind = *frame.get(4)?;
    if kind != FrameKind::Ask as u8 && kind != FrameKind::Tell as u8 {
        return None;
    }
    let mut limits = Limits::default();
    limits.max_frame = limits.max_frame.max(frame.len());
    let mut decoder = FrameDecoder::new(limits);
    decoder.feed(frame);
    match decoder.next_frame() {
        Ok(Some(Frame::Ask { envelope, .. } | Frame::Tell(envelope))) => Some(envelope),
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
