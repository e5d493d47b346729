//! What becomes of messages when a connection is made or ends.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bytes::{Buf, BytesMut};
use volary_core::foreign::{PendingReply, Undeliverable};
use volary_core::{ActorId, DeadReason};
use volary_wire::native::{Addressed, Bounds, Capabilities, Frame, FrameDecoder, FrameKind, Limits, Metadata, NameRef};

use super::lost::Lost;
use super::names::Names;
use super::outbound::{Asked, Outbound};
use crate::outlet::place;

impl Outbound {
    /// A connection was made; its number, and what is lost by that. One that there was is over, even if whoever closes
    /// it has not come here yet: what was written for it means something else on the next.
    pub(crate) fn connect(&mut self, capabilities: Capabilities, bounds: Bounds, now: Duration) -> (u64, Vec<Lost>) {
        let mut lost = self.disconnect(self.epoch);
        lost.extend(self.take_given_up());
        self.count_down(now);
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

    /// What has waited has as much time as is left of it `now`, on the clock that said when it is over.
    fn count_down(&mut self, now: Duration) {
        self.large.count_down(now);
        let has_metadata = |frame| Addressed::of(frame).is_some_and(|message| message.has_metadata);
        if !frames(&self.ready).any(has_metadata) {
            return;
        }
        let waiting = std::mem::take(&mut self.ready);
        self.ready.reserve(waiting.len());
        for frame in frames(&waiting) {
            if !Addressed::count_down(frame, now, &mut self.ready) {
                self.ready.extend_from_slice(frame);
            }
        }
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
            let is_counted = terms.counts_headers() && Addressed::of(frame)?.has_metadata;
            let is_taken = !is_counted || terms.takes(metadata(frame).as_ref());
            (!is_taken).then_some(Undeliverable::TooManyHeaders)
        };
        let small = frames(&self.ready).filter_map(|frame| {
            let why_not = why_not(frame)?;
            Some((numbered(frame)?, why_not))
        });
        let large = self.large.messages();
        let large = large.filter_map(|(sequence, frame)| Some((sequence, why_not(frame)?)));
        let unfit: BTreeMap<u64, Undeliverable> = small.chain(large).collect();
        let sequences = unfit.keys().copied().collect();
        let reason = |sequence| (DeadReason::Unsendable, unfit.get(&sequence).copied());
        self.withdraw(&sequences, reason)
    }

    /// What has waited is longer than the peer takes it as a whole: it goes in pieces, and what was written behind it to the same
    /// receiver does not pass it, nor does anything pass what is no message. Before what waits to go in pieces anyway, which
    /// is behind all that is to the same receivers. All other messages go as they would have gone.
    fn cut_what_waits(&mut self) {
        if frames(&self.ready).all(|frame| frame.len() <= self.terms.chunk) {
            return;
        }
        let waiting = std::mem::take(&mut self.ready).freeze();
        let (chunk, ready) = (self.terms.chunk, &mut self.ready);
        let mut slow = BTreeSet::new();
        let mut all_are_slow = false;
        self.large.put_before(|large| {
            for frame in frames(&waiting) {
                let is_long = frame.len() > chunk;
                let to = Addressed::of(frame).and_then(|to| match to.receiver {
                    NameRef::Text(receiver) => Some((place(receiver), to.sequence)),
                    NameRef::Id(_) => None,
                });
                match to {
                    Some((place, sequence)) if is_long || all_are_slow || slow.contains(&place) => {
                        slow.insert(place);
                        large.push(place, sequence, waiting.slice_ref(frame));
                    }
                    None if is_long || all_are_slow || !slow.is_empty() => {
                        all_are_slow = true;
                        large.push_answer(waiting.slice_ref(frame));
                    }
                    _ => ready.extend_from_slice(frame),
                }
            }
        });
    }

    /// Without a connection, the asks that have waited for one longer than their askers: what they take others may have.
    pub(crate) fn take_overdue(&mut self) -> Vec<Lost> {
        match self.connected {
            true => Vec::new(),
            false => self.take_given_up(),
        }
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
        let errands = frames(&self.ready).filter(|frame| is_errand(frame)).count();
        self.unsaid += (errands + self.large.others().filter(|frame| is_errand(frame)).count()) as u64;
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

    /// How many errands were lost since it was asked last.
    pub(crate) fn take_unsaid(&mut self) -> u64 {
        std::mem::take(&mut self.unsaid)
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

/// Whether a frame is what a reference was told, as to stop: an operation that nobody waits for.
pub(super) fn is_errand(frame: &[u8]) -> bool {
    frame.get(4) == Some(&(FrameKind::Operation as u8)) && frame.get(6) == Some(&0)
}

/// The number of a frame that is a message.
fn numbered(frame: &[u8]) -> Option<u64> {
    Some(Addressed::of(frame)?.sequence)
}

/// What travels along with a frame that is a message.
fn metadata(frame: &[u8]) -> Option<Metadata> {
    let mut limits = Limits::default();
    limits.max_frame = limits.max_frame.max(frame.len());
    let mut decoder = FrameDecoder::new(limits);
    decoder.feed(frame);
    match decoder.next_frame() {
        Ok(Some(Frame::Ask { envelope, .. } | Frame::Tell(envelope))) => envelope.metadata,
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;
    use volary_wire::native::{FrameWriter, Head, Operation};

    use super::super::outbound::put;
    use super::*;
    use crate::options::RemoteOptions;

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
    fn tell(outbound: &mut Outbound, to: &str, length: usize) {
        outbound.sequence += 1;
        let head = Head {
            sequence: outbound.sequence,
            receiver: NameRef::Text(to),
            sender: None,
            type_name: NameRef::Text("test"),
            codec: volary_wire::CodecId::PROTO,
            metadata: None,
        };
        let payload = |out: &mut BytesMut| {
            out.resize(out.len() + length, 0);
            Ok::<(), ()>(())
        };
        let _ = FrameWriter::new(&mut outbound.ready).tell(&head, payload);
    }

    /// What goes at once, and what goes in pieces or behind them, when whoever comes takes shorter frames.
    fn ways(outbound: &mut Outbound) -> (Vec<u64>, Vec<u64>) {
        let mut bounds = Bounds::default();
        bounds.frame = Some(9 << 10);
        let (_, lost) = outbound.connect(Capabilities::all(), bounds, Duration::ZERO);
        assert!(lost.is_empty());
        let at_once = frames(&outbound.ready).filter_map(numbered).collect();
        (
            at_once,
            outbound.large.messages().map(|(sequence, _)| sequence).collect(),
        )
    }

    #[test]
    fn s3_what_has_waited_to_go_in_pieces_has_less_time_as_well() {
        let mut outbound = Outbound::new(&RemoteOptions::new());
        let time = |seconds| Metadata::builder().deadline(Duration::from_secs(seconds)).build();
        let written = |sequence, seconds| {
            let mut out = BytesMut::new();
            let head = Head {
                sequence,
                receiver: NameRef::Text("a"),
                sender: None,
                type_name: NameRef::Text("test"),
                codec: volary_wire::CodecId::PROTO,
                metadata: Some(&time(seconds)),
            };
            let _ = FrameWriter::new(&mut out).tell(&head, |_| Ok::<(), ()>(()));
            out
        };
        let beside = Frame::Heartbeat { nonce: 1 };
        outbound.ready.extend_from_slice(&written(1, 1_000));
        put(&mut outbound.ready, &beside);
        outbound.large.push(place("a"), 2, written(2, 1_005).freeze());
        outbound.connect(Capabilities::all(), Bounds::default(), Duration::from_secs(999));
        let mut expected = written(1, 1);
        put(&mut expected, &beside);
        assert_eq!(outbound.ready, expected);
        let large: Vec<_> = outbound.large.messages().collect();
        let expected = written(2, 6);
        assert_eq!(large, [(2, &expected[..])]);
        assert_eq!(outbound.large.bytes(), expected.len());
    }

    #[test]
    fn r3_a_long_message_that_has_waited_makes_slow_only_what_must_not_pass_it() {
        let mut outbound = Outbound::new(&RemoteOptions::new());
        for (to, length) in [
            ("volary://x@a:1/user/a", 10),
            ("volary://x@a:1/user/b", 20_000),
            ("volary://x@a:1/user/a", 10),
            ("volary://x@a:1/user/b", 10),
            ("volary://x@a:1/user/b#7f", 10), // the same place
            ("volary://x@a:1/user/c", 10),
        ] {
            tell(&mut outbound, to, length);
        }
        assert_eq!(ways(&mut outbound), (vec![1, 3, 6], vec![2, 4, 5]));
        assert!(outbound.large.is_behind(place("volary://x@a:1/user/b")));
        assert!(!outbound.large.is_behind(place("volary://x@a:1/user/a")));
    }

    #[test]
    fn r3_nothing_that_has_waited_passes_an_operation() {
        let mut outbound = Outbound::new(&RemoteOptions::new());
        let operation = Frame::Operation(Operation {
            correlation: 0,
            name: "stop".into(),
            payload: Default::default(),
        });
        tell(&mut outbound, "a", 10);
        outbound.write_in_time(&operation);
        tell(&mut outbound, "b", 20_000);
        tell(&mut outbound, "a", 10);
        outbound.write_in_time(&operation);
        tell(&mut outbound, "a", 10);
        assert_eq!(ways(&mut outbound), (vec![1, 3], vec![2, 4]));
        let kinds: Vec<u8> = frames(&outbound.ready).map(|frame| frame[4]).collect();
        let (tell, operation) = (FrameKind::Tell as u8, FrameKind::Operation as u8);
        assert_eq!(
            kinds,
            [tell, operation, tell],
            "what was said before the long one stays before it"
        );
        assert_eq!(outbound.large.len(), 3);
    }
}
