//! The book of a recording: turns in memory, within limits.
//!
//! Only this is touched in the actor's turns; files are written from it by whoever asks for one.

use std::collections::VecDeque;
use std::sync::Arc;

use volary::{Origin, What};

use super::recorder::Keep;

/// What one message brought about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) message: String,
    /// The id of the sender; 0 from outside of any actor.
    pub(super) sender: u64,
    pub(super) origin: Source,
    /// Nanoseconds of the system's clock.
    pub(super) now: u64,
    /// Nanoseconds since 1970.
    pub(super) wall: i128,
    pub(super) size: u64,
    pub(super) payload: Payload,
    pub(super) marks: Vec<Mark>,
    /// Not all of its readings are here: it was under way when the recording ended, or there was no room.
    pub(super) open: bool,
}

/// Where a message came from; see [`Origin`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Sent,
    Timer,
    Stash,
    Answer,
}

impl From<Origin> for Source {
    fn from(origin: Origin) -> Self {
        match origin {
            Origin::Timer => Source::Timer,
            Origin::Stash => Source::Stash,
            Origin::Answer => Source::Answer,
            _ => Source::Sent,
        }
    }
}

/// What is known of what a message says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Payload {
    Bytes(Vec<u8>),
    /// There was no encoder for it.
    Redacted,
    /// The encoder panicked.
    Failed,
    /// It alone is larger than the whole recording may be.
    TooLarge,
}

/// Something that a handler read, or that happened to the actor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Now(u64),
    Wall(i128),
    Random(u64),
    Failed,
    Restarted,
    Passivated,
    Woken,
    Stopped,
}

impl Mark {
    /// What is kept of what happens to an actor.
    pub(super) fn of(what: &What<'_>) -> Option<Mark> {
        Some(match what {
            What::Failed { .. } => Mark::Failed,
            What::Restarted => Mark::Restarted,
            What::Passivated => Mark::Passivated,
            What::Woken => Mark::Woken,
            What::Stopped => Mark::Stopped,
            _ => return None,
        })
    }
}

/// What a mark and a turn without its words take, roughly, in memory.
const MARK_BYTES: usize = size_of::<Mark>();
const TURN_BYTES: usize = size_of::<Turn>() + size_of::<Arc<Turn>>();

impl Turn {
    fn bytes(&self) -> usize {
        let payload = match &self.payload {
            Payload::Bytes(bytes) => bytes.len(),
            Payload::Redacted | Payload::Failed | Payload::TooLarge => 0,
        };
        TURN_BYTES + self.message.len() + payload + self.marks.len() * MARK_BYTES
    }
}

pub(super) struct Book {
    turns: VecDeque<Arc<Turn>>,
    keep: Keep,
    most_turns: usize,
    most_bytes: usize,
    bytes: usize,
    dropped: u64,
    /// The last turn is the one under way: it was not dropped.
    current: bool,
}

impl Book {
    pub(super) fn new(keep: Keep, most_turns: usize, most_bytes: usize) -> Self {
        Book {
            turns: VecDeque::new(),
            keep,
            most_turns,
            most_bytes,
            bytes: 0,
            dropped: 0,
            current: false,
        }
    }

    pub(super) fn begin(&mut self, mut turn: Turn) {
        if turn.bytes() > self.most_bytes {
            turn.payload = Payload::TooLarge;
        }
        let bytes = turn.bytes();
        if self.keep == Keep::Last {
            while !self.turns.is_empty() && !self.has_room(bytes) {
                self.drop_oldest();
            }
        }
        // Once a turn of the first ones is missing, the later ones are not the first any more.
        self.current = self.has_room(bytes) && (self.keep == Keep::Last || self.dropped == 0);
        if self.current {
            self.bytes += bytes;
            self.turns.push_back(Arc::new(turn));
        } else {
            self.dropped += 1;
        }
    }

    pub(super) fn note(&mut self, mark: Mark) {
        if !self.current {
            return;
        }
        while self.keep == Keep::Last && self.turns.len() > 1 && self.bytes + MARK_BYTES > self.most_bytes {
            self.drop_oldest();
        }
        let Some(turn) = self.turns.back_mut() else { return };
        let turn = Arc::make_mut(turn);
        if self.bytes + MARK_BYTES > self.most_bytes || turn.open {
            turn.open = true;
            return;
        }
        self.bytes += MARK_BYTES;
        turn.marks.push(mark);
    }

    /// The turns so far, and how many are not among them. Cheap: they are shared until the last one changes.
    pub(super) fn pages(&self) -> (Vec<Arc<Turn>>, u64) {
        (self.turns.iter().cloned().collect(), self.dropped)
    }

    pub(super) fn len(&self) -> usize {
        self.turns.len()
    }

    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }

    fn has_room(&self, bytes: usize) -> bool {
        self.turns.len() < self.most_turns && self.bytes + bytes <= self.most_bytes
    }

    fn drop_oldest(&mut self) {
        if let Some(oldest) = self.turns.pop_front() {
            self.bytes -= oldest.bytes();
            self.dropped += 1;
        }
    }
}
