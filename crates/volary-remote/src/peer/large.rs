//! Frames that are too large to stand in the way of others, and what must not pass them: they leave in pieces, a few
//! with each batch.

use std::collections::{BTreeMap, VecDeque};

use bytes::{Bytes, BytesMut};
use volary_core::ActorId;
use volary_wire::native::Chunks;

/// How much of a large frame goes with one batch, beside everything else.
const PIECES_PER_BATCH: usize = 2;

enum Large {
    Pieces {
        receiver: ActorId,
        chunks: Chunks,
    },
    /// Without a receiver: not a message, but behind those that were written before it.
    Whole {
        receiver: Option<ActorId>,
        frame: Bytes,
    },
}

#[derive(Default)]
pub(super) struct LargeFrames {
    queue: VecDeque<Large>,
    /// Receivers with frames in the queue.
    behind: BTreeMap<ActorId, usize>,
    transfer: u64,
}

impl LargeFrames {
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether something to this receiver waits here, which what comes after it must not pass.
    pub(super) fn is_behind(&self, receiver: ActorId) -> bool {
        !self.behind.is_empty() && self.behind.contains_key(&receiver)
    }

    /// A message, in pieces of `chunk` bytes if it is larger.
    pub(super) fn push(&mut self, receiver: ActorId, frame: Bytes, chunk: usize) {
        *self.behind.entry(receiver).or_default() += 1;
        self.queue.push_back(if frame.len() > chunk {
            self.transfer += 1;
            let chunks = Chunks::new(self.transfer, frame, chunk);
            Large::Pieces { receiver, chunks }
        } else {
            let receiver = Some(receiver);
            Large::Whole { receiver, frame }
        });
    }

    /// A frame that is no message.
    pub(super) fn push_other(&mut self, frame: Bytes) {
        self.queue.push_back(Large::Whole { receiver: None, frame });
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
        let (receiver, over) = match large {
            Large::Whole { receiver, frame } => {
                out.extend_from_slice(frame);
                (*receiver, true)
            }
            Large::Pieces { receiver, chunks } => {
                let more = chunks.write_next(out).unwrap_or(false);
                (Some(*receiver), !more)
            }
        };
        if over {
            self.queue.pop_front();
            if let Some(receiver) = receiver
                && let Some(count) = self.behind.get_mut(&receiver)
            {
                *count -= 1;
                if *count == 0 {
                    self.behind.remove(&receiver);
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
