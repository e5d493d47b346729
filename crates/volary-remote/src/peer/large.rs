//! Frames that are too large to stand in the way of others, and what must not pass them: they leave in pieces, a few
//! with each batch.

use std::collections::{BTreeMap, VecDeque};

use bytes::{Bytes, BytesMut};
use volary_wire::native::Chunks;

/// How much of a large frame goes with one batch, beside everything else.
const PIECES_PER_BATCH: usize = 2;
/// What a piece begins with: length, kind, flags and three numbers.
const HEAD: usize = 4 + 2 + 3 * 10;

enum Large {
    Pieces {
        place: Option<u64>,
        length: usize,
        chunks: Chunks,
    },
    /// Without a place: not a message, but behind those that were written before it.
    Whole { place: Option<u64>, frame: Bytes },
}

#[derive(Default)]
pub(super) struct LargeFrames {
    queue: VecDeque<Large>,
    /// Places with frames in the queue.
    behind: BTreeMap<u64, usize>,
    transfer: u64,
    /// How many bytes wait here, and how many of them are no messages.
    bytes: usize,
    other_bytes: usize,
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

    /// How many bytes wait here.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many of them are no messages.
    pub(super) fn other_bytes(&self) -> usize {
        self.other_bytes
    }

    /// A message, in pieces of `chunk` bytes if it is larger.
    pub(super) fn push(&mut self, place: u64, frame: Bytes, chunk: usize) {
        *self.behind.entry(place).or_default() += 1;
        self.put(Some(place), frame, chunk);
    }

    /// A frame that is no message, as a whole.
    pub(super) fn push_other(&mut self, frame: Bytes) {
        self.push_answer(frame, usize::MAX);
    }

    /// The same for a frame that may be in pieces.
    pub(super) fn push_answer(&mut self, frame: Bytes, chunk: usize) {
        self.other_bytes += frame.len();
        self.put(None, frame, chunk);
    }

    fn put(&mut self, place: Option<u64>, frame: Bytes, chunk: usize) {
        let length = frame.len();
        self.bytes += length;
        self.queue.push_back(if length > chunk {
            self.transfer += 1;
            let chunks = Chunks::new(self.transfer, frame, chunk);
            Large::Pieces { place, length, chunks }
        } else {
            Large::Whole { place, frame }
        });
    }

    /// Takes what goes with one batch, in parts: large ones are not copied to stand behind the others.
    pub(super) fn take_pieces(&mut self, out: &mut Vec<Bytes>) {
        for _ in 0..PIECES_PER_BATCH {
            if !self.next_piece(out) {
                break;
            }
        }
    }

    /// One piece of what is large; false if there is none.
    fn next_piece(&mut self, out: &mut Vec<Bytes>) -> bool {
        let Some(large) = self.queue.front_mut() else {
            return false;
        };
        let (place, length, over) = match large {
            Large::Whole { place, frame } => {
                out.push(frame.clone());
                (*place, frame.len(), true)
            }
            Large::Pieces { place, length, chunks } => {
                let mut head = BytesMut::with_capacity(HEAD);
                if let Ok(Some(payload)) = chunks.write_next_head(&mut head) {
                    out.extend([head.freeze(), payload]);
                }
                (*place, *length, chunks.is_empty())
            }
        };
        if over {
            self.queue.pop_front();
            self.bytes -= length;
            match place {
                None => self.other_bytes -= length,
                Some(place) => {
                    if let Some(count) = self.behind.get_mut(&place) {
                        *count -= 1;
                        if *count == 0 {
                            self.behind.remove(&place);
                        }
                    }
                }
            }
        }
        true
    }

    /// Forgets what waits; the numbers of transfers go on.
    pub(super) fn clear(&mut self) {
        self.queue.clear();
        self.behind.clear();
        self.bytes = 0;
        self.other_bytes = 0;
    }
}
