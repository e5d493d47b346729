//! Messages of the peer that come in pieces and are not whole yet.
//!
//! They take of the room that the node has for the mail of all peers, as they arrive and before they are messages. One for
//! which there is no more, or of which nothing comes any more, is given up: its sender hears that there was no room, and the
//! rest of it is read over.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering::*;

use volary_wire::native::{Assembler, Beginning, Chunk, ChunkError, Frame, FrameKind, Limits};

use super::Link;
use super::inbox::{LAST_NUMBER, UNIT};
use crate::peer::Inflow;

/// How many may be read over at a time; who leaves more of them half said does not mean to end any.
const MOST_SKIPPED: usize = 256;

pub(super) struct Pieces {
    assembler: Assembler,
    /// What is being put together.
    begun: BTreeMap<u64, Begun>,
    /// How much is left of what was given up.
    skipped: BTreeMap<u64, u64>,
    /// What was taken for all of it, in units.
    charged: u64,
}

#[derive(Clone, Copy)]
struct Begun {
    beginning: Option<Beginning>,
    left: u64,
    /// It is taken whether there is room or not.
    was_asked_for: bool,
}

/// What became of a piece.
#[expect(clippy::large_enum_variant, reason = "it is looked at where it is made")]
pub(super) enum Taken {
    /// It was the last one.
    Whole(Frame),
    Part,
    /// This was given up.
    GivenUp(Option<Beginning>),
}

impl Pieces {
    pub(super) fn new(limits: Limits) -> Self {
        Pieces {
            assembler: Assembler::new(limits),
            begun: BTreeMap::new(),
            skipped: BTreeMap::new(),
            charged: 0,
        }
    }

    /// Takes a piece. For one reader at a time.
    pub(super) fn accept(
        &mut self,
        chunk: Chunk,
        now: u64,
        inflow: &Inflow,
        was_asked_for: impl FnOnce(Beginning) -> bool,
    ) -> Result<Taken, ChunkError> {
        let (transfer, length) = (chunk.transfer, chunk.payload.len() as u64);
        if let Some(left) = self.skipped.get_mut(&transfer) {
            *left = left.saturating_sub(length.max(1));
            if *left == 0 {
                self.skipped.remove(&transfer);
            }
            return Ok(Taken::Part);
        }
        if chunk.offset == 0 {
            let beginning = chunk.begins();
            let begun = Begun {
                beginning,
                left: chunk.total,
                was_asked_for: beginning.is_some_and(was_asked_for),
            };
            self.begun.entry(transfer).or_insert(begun);
        }
        let whole = self.assembler.accept(chunk, now)?;
        if let Some(whole) = whole {
            self.begun.remove(&transfer);
            self.charge(inflow);
            return Ok(Taken::Whole(whole));
        }
        let Some(begun) = self.begun.get_mut(&transfer) else {
            return Ok(Taken::Part);
        };
        begun.left -= length;
        let begun = *begun;
        if self.charge(inflow) {
            return Ok(Taken::Part);
        }
        if begun.was_asked_for {
            let missing = self.units().saturating_sub(self.charged);
            inflow.charge_anyway(missing);
            self.charged += missing;
            return Ok(Taken::Part);
        }
        self.give_up(transfer, begun)?;
        self.charge(inflow);
        Ok(Taken::GivenUp(begun.beginning))
    }

    /// The rest of it will not come.
    pub(super) fn abort(&mut self, transfer: u64, inflow: &Inflow) {
        self.assembler.abort(transfer);
        self.begun.remove(&transfer);
        self.skipped.remove(&transfer);
        self.charge(inflow);
    }

    /// Gives up those to which nothing was added since `before`, and says what they were.
    fn give_up_idle(&mut self, before: u64, inflow: &Inflow) -> Result<Vec<Option<Beginning>>, ChunkError> {
        let idle = self.assembler.give_up_idle(before);
        let mut beginnings = Vec::new();
        for transfer in idle {
            if let Some(begun) = self.begun.get(&transfer).copied() {
                self.give_up(transfer, begun)?;
                beginnings.push(begun.beginning);
            }
        }
        self.charge(inflow);
        Ok(beginnings)
    }

    fn give_up(&mut self, transfer: u64, begun: Begun) -> Result<(), ChunkError> {
        self.assembler.abort(transfer);
        self.begun.remove(&transfer);
        self.skipped.insert(transfer, begun.left);
        match self.skipped.len() > MOST_SKIPPED {
            true => Err(ChunkError::Budget {
                what: "a number",
                limit: MOST_SKIPPED,
            }),
            false => Ok(()),
        }
    }

    /// Nothing more comes.
    pub(super) fn clear(&mut self, inflow: &Inflow) {
        for transfer in std::mem::take(&mut self.begun).into_keys() {
            self.assembler.abort(transfer);
        }
        self.charge(inflow);
    }

    fn units(&self) -> u64 {
        self.assembler.buffered_bytes().div_ceil(UNIT) as u64
    }

    /// Takes room for what is there by now, or gives some back; false if there is none.
    fn charge(&mut self, inflow: &Inflow) -> bool {
        let units = self.units();
        if units > self.charged && !inflow.charge(units - self.charged) {
            return false;
        }
        if units < self.charged {
            inflow.discharge(self.charged - units);
        }
        self.charged = units;
        true
    }
}

impl Link {
    /// Whether this node has asked for what begins so.
    pub(super) fn has_asked_for(&self, beginning: Beginning) -> bool {
        match beginning.kind {
            FrameKind::Reply => self.peer.outbound.lock().has_asked(beginning.number),
            FrameKind::Answer => self.peer.shared.waiting.has_asked(&self.peer.node, beginning.number),
            _ => false,
        }
    }

    /// Something that came in pieces was given up: whoever has sent it hears so, if anybody is to hear.
    pub(super) fn abandoned(&self, beginning: Option<Beginning>) {
        self.peer.counters.abandoned.fetch_add(1, Relaxed);
        match beginning {
            Some(Beginning {
                kind: FrameKind::Tell | FrameKind::Ask,
                number: sequence @ 1..=LAST_NUMBER,
            }) => {
                self.peer.counters.one_received();
                self.peer.counters.refused.fetch_add(1, Relaxed);
                self.write_first(&Frame::Busy { sequence });
                self.settle(sequence);
            }
            _ => {
                let why = "there was no room for something in pieces that is no message, or it never ended";
                self.peer.shared.report_refused(&self.peer.node, why);
            }
        }
    }

    /// Gives up what came in pieces of which none has come since `before`.
    pub(super) fn give_up_pieces(&self, before: u64) {
        // Nobody reads meanwhile. Whoever does may be in code of the user, which others must not wait for.
        let Some(_turn) = self.peer.reading.try_lock() else {
            return;
        };
        let given_up = self.pieces.lock().give_up_idle(before, &self.peer.inflow);
        match given_up {
            Ok(given_up) => given_up.into_iter().for_each(|beginning| self.abandoned(beginning)),
            Err(why) => self.close(&why.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    use bytes::BytesMut;
    use volary_wire::CodecId;
    use volary_wire::native::{Chunks, FrameDecoder, FrameWriter, Outcome, Reply};

    use super::*;

    const LENGTH: usize = 100_000;

    /// The pieces of the answer to this ask.
    fn pieces(transfer: u64) -> Vec<Chunk> {
        let mut out = BytesMut::new();
        let (codec, payload) = (CodecId::JSON, vec![7; LENGTH].into());
        let outcome = Outcome::Ok { codec, payload };
        let reply = Frame::Reply(Reply {
            correlation: transfer,
            outcome,
        });
        FrameWriter::new(&mut out).frame(&reply).unwrap();
        let mut chunks = Chunks::new(transfer, out.freeze(), 30_000);
        let mut cut = BytesMut::new();
        while chunks.write_next(&mut cut).unwrap() {}
        let mut decoder = FrameDecoder::new(Limits::default());
        decoder.feed(&cut);
        let next = || match decoder.next_frame().unwrap()? {
            Frame::Chunk(chunk) => Some(chunk),
            other => panic!("{other:?}"),
        };
        std::iter::from_fn(next).collect()
    }

    struct Node {
        all: Arc<AtomicU64>,
        inflow: Inflow,
        pieces: Pieces,
    }

    impl Node {
        fn with_room_for(units: u64) -> Self {
            let all = Arc::new(AtomicU64::new(0));
            Node {
                inflow: Inflow::new(all.clone(), 2 * units, 1_000_000),
                all,
                pieces: Pieces::new(Limits::default()),
            }
        }

        fn accept(&mut self, chunk: Chunk, was_asked_for: bool) -> Taken {
            self.pieces.accept(chunk, 1, &self.inflow, |_| was_asked_for).unwrap()
        }

        fn taken(&self) -> u64 {
            self.all.load(Relaxed) - self.inflow.unused()
        }
    }

    #[test]
    fn s20_pieces_take_room_as_they_come_and_give_it_back_when_they_are_whole() {
        let mut node = Node::with_room_for(10_000);
        for (number, chunk) in pieces(1).into_iter().enumerate() {
            let taken = node.accept(chunk, false);
            assert_eq!(matches!(taken, Taken::Whole(_)), number == 3);
            let held = node.pieces.assembler.buffered_bytes();
            assert_eq!(node.taken(), held.div_ceil(UNIT) as u64);
            assert_eq!(held > 0, number < 3);
        }
    }

    #[test]
    fn s20_what_there_is_no_room_for_is_read_over_and_what_was_asked_for_is_taken() {
        let mut node = Node::with_room_for(100);
        let mut chunks = pieces(1).into_iter();
        let first = node.accept(chunks.next().unwrap(), false);
        let beginning = Beginning {
            kind: FrameKind::Reply,
            number: 1,
        };
        assert!(matches!(first, Taken::GivenUp(Some(what)) if what == beginning));
        assert_eq!(node.taken(), 0);
        assert!(chunks.all(|chunk| matches!(node.accept(chunk, false), Taken::Part)));
        assert!(node.pieces.skipped.is_empty() && node.pieces.begun.is_empty());
        let mut chunks = pieces(2).into_iter();
        assert!(
            chunks
                .by_ref()
                .take(3)
                .all(|chunk| matches!(node.accept(chunk, true), Taken::Part))
        );
        assert!(node.taken() > 300);
        assert!(matches!(node.accept(chunks.next().unwrap(), true), Taken::Whole(_)));
        assert_eq!(node.taken(), 0);
    }

    #[test]
    fn s20_pieces_that_nothing_is_added_to_are_given_up_and_none_outlives_its_connection() {
        let mut node = Node::with_room_for(10_000);
        let chunks = pieces(1);
        node.accept(chunks[0].clone(), false);
        assert!(node.pieces.give_up_idle(1, &node.inflow).unwrap().is_empty());
        assert_eq!(node.pieces.give_up_idle(2, &node.inflow).unwrap().len(), 1);
        assert_eq!(node.taken(), 0);
        assert!(
            matches!(node.accept(chunks[1].clone(), false), Taken::Part),
            "it comes too late"
        );
        node.accept(pieces(2).remove(0), false);
        node.pieces.clear(&node.inflow);
        assert_eq!(node.taken(), 0);
        // Nobody may begin without end.
        let end = (3..1_000).find(|transfer| {
            node.accept(pieces(*transfer).remove(0), false);
            node.pieces.give_up_idle(2, &node.inflow).is_err()
        });
        assert_eq!(end, Some(2 + MOST_SKIPPED as u64));
    }
}
