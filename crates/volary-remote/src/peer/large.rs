//! Frames that are too large to stand in the way of others, and what must not pass them: they leave in pieces, a few
//! with each batch.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use volary_wire::native::{Addressed, Chunks};

use super::distance::Distance;

/// How much of a large frame goes with one batch, beside everything else.
const PIECES_PER_BATCH: usize = 2;
/// How fast pieces are written.
#[derive(Clone, Copy)]
pub(super) enum Pace {
    /// As the other side reads them.
    Measured,
    /// As fast as can be: this side does not hear what the other has read.
    Any,
}

/// What a piece begins with: length, kind, flags and three numbers.
const HEAD: usize = 4 + 2 + 3 * 10;
/// How many bytes go after the last small frame before there is taken to be nobody to be considerate of.
const BESIDE: usize = 4 << 20;
/// How much more may be on its way then.
const ALONE: usize = 16;
/// Shorter pieces cost more than they spare others, and two of them are on their way if the window has room.
const SHORTEST_PIECE: usize = 8 << 10;

/// How many bytes may be on their way, and how long a piece is at the most.
struct Allowed {
    most: usize,
    piece: usize,
}

struct Large {
    /// Without: not a message, but behind those that were written before it.
    message: Option<Numbered>,
    frame: Bytes,
    form: Form,
}

/// A message that waits here.
struct Numbered {
    place: u64,
    sequence: u64,
}

enum Form {
    /// Never in pieces, however long it is.
    Whole,
    /// In pieces if it is longer than one; which that is, is seen when there is a connection.
    Divisible,
    /// Some pieces are on their way.
    Begun(Chunks),
}

pub(super) struct LargeFrames {
    queue: VecDeque<Large>,
    /// Places with frames in the queue.
    behind: BTreeMap<u64, usize>,
    transfer: u64,
    /// How many bytes wait here, and how many of them are no messages.
    bytes: usize,
    other_bytes: usize,
    /// How many bytes of pieces were written and not read by the other side yet. What small frames stand behind is all
    /// that: the buffers between the two nodes are large.
    unread: usize,
    window: usize,
    distance: Distance,
    /// The length of a piece at the most.
    chunk: usize,
    /// For how many more bytes there are small frames beside them.
    beside: usize,
}

impl LargeFrames {
    /// With so many bytes on their way at most while small frames go beside them, in pieces of at most `chunk` bytes.
    pub(super) fn new(window: usize, chunk: usize) -> Self {
        LargeFrames {
            queue: VecDeque::new(),
            behind: BTreeMap::new(),
            transfer: 0,
            bytes: 0,
            other_bytes: 0,
            unread: 0,
            window,
            distance: Distance::default(),
            chunk,
            beside: 0,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether something to this place waits here, which what comes after it must not pass.
    pub(super) fn is_behind(&self, place: u64) -> bool {
        !self.behind.is_empty() && self.behind.contains_key(&place)
    }

    /// How many bytes wait here.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many of them are no messages.
    pub(super) fn other_bytes(&self) -> usize {
        self.other_bytes
    }

    /// The length of a piece at the most from now on; nothing is on its way.
    pub(super) fn set_chunk(&mut self, chunk: usize) {
        self.chunk = chunk;
    }

    /// A message.
    pub(super) fn push(&mut self, place: u64, sequence: u64, frame: Bytes) {
        *self.behind.entry(place).or_default() += 1;
        self.put(Some(Numbered { place, sequence }), frame, Form::Divisible);
    }

    /// A frame that is no message, as a whole.
    pub(super) fn push_other(&mut self, frame: Bytes) {
        self.other_bytes += frame.len();
        self.put(None, frame, Form::Whole);
    }

    /// The same for a frame that may be in pieces.
    pub(super) fn push_answer(&mut self, frame: Bytes) {
        self.other_bytes += frame.len();
        self.put(None, frame, Form::Divisible);
    }

    fn put(&mut self, message: Option<Numbered>, frame: Bytes, form: Form) {
        self.bytes += frame.len();
        self.queue.push_back(Large { message, frame, form });
    }

    /// The messages that wait here, with their numbers.
    pub(super) fn messages(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let messages = self.queue.iter();
        messages.filter_map(|large| Some((large.message.as_ref()?.sequence, &*large.frame)))
    }

    /// What waits here and is no message.
    pub(super) fn others(&self) -> impl Iterator<Item = &[u8]> {
        let others = self.queue.iter().filter(|large| large.message.is_none());
        others.map(|large| &*large.frame)
    }

    /// What is put in by this stands before all that is there.
    pub(super) fn put_before(&mut self, put: impl FnOnce(&mut Self)) {
        let rest = std::mem::take(&mut self.queue);
        put(self);
        self.queue.extend(rest);
    }

    /// Of none of them a piece has gone: each message has so much less time.
    pub(super) fn count_down(&mut self, by: Duration) {
        for large in self.queue.iter_mut().filter(|large| large.message.is_some()) {
            let mut out = BytesMut::new();
            if Addressed::count_down(&large.frame, by, &mut out) {
                self.bytes = self.bytes - large.frame.len() + out.len();
                large.frame = out.freeze();
            }
        }
    }

    /// Takes out messages that have not begun to go.
    pub(super) fn withdraw(&mut self, is_withdrawn: impl Fn(u64) -> bool) {
        let waiting = std::mem::take(&mut self.queue);
        for large in waiting {
            match &large.message {
                Some(message) if is_withdrawn(message.sequence) => self.forget(&large),
                _ => self.queue.push_back(large),
            }
        }
    }

    /// Takes out the first message here, if it is this one and has not begun to go.
    pub(super) fn withdraw_first(&mut self, sequence: u64) -> bool {
        let is_it = |large: &Large| {
            large
                .message
                .as_ref()
                .is_some_and(|message| message.sequence == sequence)
        };
        let first = self.queue.iter().position(|large| large.message.is_some());
        let Some(large) = first
            .filter(|first| is_it(&self.queue[*first]))
            .and_then(|first| self.queue.remove(first))
        else {
            return false;
        };
        self.forget(&large);
        true
    }

    fn forget(&mut self, large: &Large) {
        self.bytes -= large.frame.len();
        let Some(message) = &large.message else {
            self.other_bytes -= large.frame.len();
            return;
        };
        if let Some(count) = self.behind.get_mut(&message.place) {
            *count -= 1;
            if *count == 0 {
                self.behind.remove(&message.place);
            }
        }
    }

    /// Small frames go as well.
    pub(super) fn mind_others(&mut self) {
        self.beside = BESIDE;
    }

    /// The other side has read so many bytes of pieces.
    pub(super) fn read(&mut self, bytes: u64, clock: impl FnOnce() -> u64) {
        self.distance.read(bytes, clock);
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        self.unread = self.unread.saturating_sub(bytes);
    }

    /// Whether there is something of which a piece may go before the peer has read more.
    pub(super) fn may_go(&self, pace: Pace) -> bool {
        !self.queue.is_empty() && self.fits(&self.allowed(pace))
    }

    fn allowed(&self, pace: Pace) -> Allowed {
        let (most, piece) = match (pace, self.beside) {
            (Pace::Any, _) => (usize::MAX, self.chunk),
            (Pace::Measured, 0) => (ALONE.saturating_mul(self.window), self.chunk),
            (Pace::Measured, _) => {
                let least = self.window.min(2 * SHORTEST_PIECE);
                let most = self.distance.enough_of(self.window).max(least);
                // Two on their way: one is read while the other is written.
                (most, (most / 2).max(SHORTEST_PIECE).min(self.chunk))
            }
        };
        Allowed { most, piece }
    }

    /// Whether another piece may go. It may be larger than the window, and then it goes alone.
    fn fits(&self, allowed: &Allowed) -> bool {
        self.unread == 0 || self.unread.saturating_add(allowed.piece) <= allowed.most
    }

    /// Takes what goes with one batch, in parts: large ones are not copied to stand behind the others.
    pub(super) fn take_pieces(&mut self, out: &mut Vec<Bytes>, pace: Pace, clock: impl Fn() -> u64) {
        if self.queue.is_empty() {
            return; // as nearly always
        }
        let allowed = self.allowed(pace);
        for _ in 0..PIECES_PER_BATCH {
            if self.queue.is_empty() || !self.fits(&allowed) {
                break;
            }
            let length = self.next_piece(out, allowed.piece);
            if length > 0 {
                self.unread += length;
                self.distance.wrote(length, &clock);
            }
            self.beside = self.beside.saturating_sub(length);
        }
    }

    /// One piece of what is large, of `longest` bytes at the most; its length, without what goes as a whole.
    fn next_piece(&mut self, out: &mut Vec<Bytes>, longest: usize) -> usize {
        let Some(large) = self.queue.front_mut() else {
            return 0;
        };
        if matches!(large.form, Form::Divisible) && large.frame.len() > self.chunk {
            self.transfer += 1;
            large.form = Form::Begun(Chunks::new(self.transfer, large.frame.clone(), self.chunk));
        }
        let (over, length) = match &mut large.form {
            Form::Whole | Form::Divisible => {
                out.push(large.frame.clone());
                (true, 0)
            }
            Form::Begun(chunks) => {
                let mut head = BytesMut::with_capacity(HEAD);
                chunks.set_piece(longest);
                let mut length = 0;
                if let Ok(Some(payload)) = chunks.write_next_head(&mut head) {
                    length = payload.len();
                    out.extend([head.freeze(), payload]);
                }
                (chunks.is_empty(), length)
            }
        };
        if over && let Some(large) = self.queue.pop_front() {
            self.forget(&large);
        }
        length
    }

    /// Forgets what waits; the numbers of transfers go on.
    pub(super) fn clear(&mut self) {
        self.queue = VecDeque::new(); // it may have been long
        self.behind.clear();
        self.distance = Distance::default();
        self.unread = 0;
        self.bytes = 0;
        self.other_bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many pieces of 1,000 bytes are taken until no more are.
    fn taken(large: &mut LargeFrames, pace: Pace) -> usize {
        let mut out = Vec::new();
        loop {
            let (before, may_go) = (out.len(), large.may_go(pace));
            large.take_pieces(&mut out, pace, || 0);
            assert_eq!(may_go, out.len() > before);
            if !may_go {
                return out.len() / 2;
            }
        }
    }

    #[test]
    fn r3_pieces_wait_for_the_reader_while_others_go_beside_them() {
        let mut large = LargeFrames::new(64_000, 1_000);
        large.push(1, 1, vec![0; 10_000_004].into());
        large.mind_others();
        assert_eq!(taken(&mut large, Pace::Measured), 16, "enough for a short way");
        large.read(1_000, || 0);
        assert_eq!(taken(&mut large, Pace::Measured), 1);
        // Whoever does not listen would wait for ever.
        let mut out = Vec::new();
        large.take_pieces(&mut out, Pace::Any, || 0);
        assert_eq!(out.len(), 2 * PIECES_PER_BATCH);
        // Nobody else for long.
        while large.beside > 0 {
            large.read(u64::MAX, || 0);
            large.take_pieces(&mut out, Pace::Measured, || 0);
        }
        large.read(u64::MAX, || 0);
        assert_eq!(taken(&mut large, Pace::Measured), 64 * ALONE);
    }

    #[test]
    fn r3_a_piece_that_is_larger_than_the_window_goes_alone() {
        let mut large = LargeFrames::new(1, 20_000);
        large.push(1, 1, vec![0; 20_005].into());
        for left in [20_001 - SHORTEST_PIECE, 20_001 - 2 * SHORTEST_PIECE, 0] {
            large.mind_others();
            assert_eq!(taken(&mut large, Pace::Measured), 1, "{left} are left");
            large.read(SHORTEST_PIECE as u64, || 0);
        }
        assert!(large.is_empty());
    }

    #[test]
    fn r3_what_the_last_connection_has_not_read_is_no_distance_on_the_next() {
        let mut large = LargeFrames::new(100_000, 63_000);
        let mut out = Vec::new();
        let mut begin = |large: &mut LargeFrames| {
            large.push(1, 1, vec![0; 1_000_004].into());
            large.mind_others();
            large.take_pieces(&mut out, Pace::Measured, || 0);
        };
        begin(&mut large);
        large.clear();
        begin(&mut large);
        large.read(12_500, || 400_000);
        let long = large.distance.enough_of(100_000);
        assert_eq!(long, 100_000, "the first piece was timed");
    }

    #[test]
    fn r3_pieces_are_as_long_as_the_way_and_half_of_what_may_be_on_it() {
        let mut large = LargeFrames::new(100_000, 63_000);
        large.push(1, 1, vec![0; 100_000_004].into());
        let mut next = |minds: bool, took: u64| {
            if minds {
                large.mind_others();
            }
            let mut out = Vec::new();
            large.take_pieces(&mut out, Pace::Measured, || 0);
            large.read(u64::MAX, || took);
            (out.len() / 2, out[1].len())
        };
        assert_eq!(next(false, 1), (2, 63_000), "nobody else");
        assert_eq!(next(true, 1), (2, 12_500));
        for _ in 0..500 {
            next(true, 200_000);
        }
        assert_eq!(next(true, 200_000), (2, 40_000), "a longer way");
    }

    #[test]
    fn r3_whether_a_frame_goes_in_pieces_is_seen_when_it_goes() {
        let mut large = LargeFrames::new(4_000, 1_000);
        large.push(1, 1, vec![0; 3_004].into());
        large.push_answer(vec![0; 3_004].into());
        large.set_chunk(usize::MAX);
        let mut out = Vec::new();
        while !large.is_empty() {
            large.next_piece(&mut out, usize::MAX);
        }
        assert_eq!(out.iter().map(Bytes::len).collect::<Vec<_>>(), [3_004, 3_004], "whole");
        assert_eq!((large.bytes(), large.other_bytes()), (0, 0));
    }

    #[test]
    fn r3_what_is_withdrawn_holds_nobody_up() {
        let mut large = LargeFrames::new(4_000, 1_000);
        large.push(1, 1, vec![0; 3_004].into());
        large.push_other(vec![0; 10].into());
        large.push(2, 2, vec![0; 9_004].into());
        let messages: Vec<_> = large.messages().map(|(number, frame)| (number, frame.len())).collect();
        assert_eq!(messages, [(1, 3_004), (2, 9_004)]);
        large.withdraw(|sequence| sequence == 2);
        assert!(large.is_behind(1) && !large.is_behind(2));
        assert_eq!((large.len(), large.bytes(), large.other_bytes()), (2, 3_014, 10));
        large.withdraw(|sequence| sequence == 1);
        assert_eq!((large.len(), large.bytes(), large.other_bytes()), (1, 10, 10));
    }
}
