//! Frames that are too large to stand in the way of others, and what must not pass them: they leave in pieces, a few
//! with each batch.

use std::collections::{BTreeMap, VecDeque};

use bytes::{Bytes, BytesMut};
use volary_wire::native::Chunks;

/// How much of a large frame goes with one batch, beside everything else.
const PIECES_PER_BATCH: usize = 2;

enum Large {
    Pieces {
        place: u64,
        chunks: Chunks,
    },
    /// Without a place: not a message, but behind those that were written before it.
    Whole {
        place: Option<u64>,
        frame: Bytes,
    },
}

#[derive(Default)]
pub(super) struct LargeFrames {
    queue: VecDeque<Large>,
    /// Places with frames in the queue.
    behind: BTreeMap<u64, usize>,
    transfer: u64,
}

impl LargeFrames {
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

    /// A message, in pieces of `chunk` bytes if it is larger.
    pub(super) fn push(&mut self, place: u64, frame: Bytes, chunk: usize) {
        *self.behind.entry(place).or_default() += 1;
        self.queue.push_back(if frame.len() > chunk {
            self.transfer += 1;
            let chunks = Chunks::new(self.transfer, frame, chunk);
            Large::Pieces { place, chunks }
        } else {
            let place = Some(place);
            Large::Whole { place, frame }
        });
    }

    /// A frame that is no message.
    pub(super) fn push_other(&mut self, frame: Bytes) {
        self.queue.push_back(Large::Whole { place: None, frame });
    }

    /// Writes what goes with one batch.
    pub(super) fn write_pieces(&mut self, out: &mut BytesMut) {
        for _ in 0..PIECES_PER_BATCH {
            if !self.next_piece(out) {
                break;
            }
        }
    }

    /// One piece of what is large; false if there is none.
    fn next_piece(&mut self, out: &mut BytesMut) -> bool {
        let Some(large) = self.queue.front_mut() else {
            return false;
        };
        let (place, over) = match large {
            Large::Whole { place, frame } => {
                out.extend_from_slice(frame);
                (*place, true)
            }
            Large::Pieces { place, chunks } => {
                let more = chunks.write_next(out).unwrap_or(false);
                (Some(*place), !more)
            }
        };
        if over {
            self.queue.pop_front();
            if let Some(place) = place
                && let Some(count) = self.behind.get_mut(&place)
            {
                *count -= 1;
                if *count == 0 {
                    self.behind.remove(&place);
                }
            }
        }
        true
    }

    /// Forgets what waits; the numbers of transfers go on.
    pub(super) fn clear(&mut self) {
        self.queue.clear();
        self.behind.clear();
    }
}
