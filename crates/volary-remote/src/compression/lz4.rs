//! LZ4, as one frame of linked blocks without end.
//!
//! The decoder of the crate reads whole blocks only, so blocks are put together here.

use std::io::{self, Cursor, Read, Write};

use lz4_flex::frame::{BlockMode, BlockSize, FrameDecoder, FrameEncoder, FrameInfo};

use super::{Grow, Shrink, ended};

/// The head of every frame that is taken: the magic number, linked blocks without checksums, of 64 KiB at most. Its last
/// byte is a checksum, which the decoder looks at.
const HEAD: [u8; 6] = [0x04, 0x22, 0x4d, 0x18, 0x40, 0x40];
const HEAD_LENGTH: usize = 7;
const MOST_IN_BLOCK: usize = 64 << 10;
/// Set in the length of a block that could not be made smaller.
const AS_IT_IS: u32 = 1 << 31;

pub(super) struct Shrinking(FrameEncoder<Vec<u8>>);

pub(super) fn shrink() -> Shrinking {
    let info = FrameInfo::new()
        .block_size(BlockSize::Max64KB)
        .block_mode(BlockMode::Linked);
    Shrinking(FrameEncoder::with_frame_info(info, Vec::new()))
}

impl Shrinking {
    fn give(&mut self, out: &mut Vec<u8>) {
        out.append(self.0.get_mut());
    }
}

impl Shrink for Shrinking {
    fn write(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        self.0.write_all(bytes)?;
        self.give(out);
        Ok(())
    }

    fn flush(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        self.0.flush()?;
        self.give(out);
        Ok(())
    }
}

pub(super) struct Growing {
    decoder: FrameDecoder<Cursor<Vec<u8>>>,
    /// The head or a block, as far as it has come.
    part: Vec<u8>,
    begun: bool,
    /// The decoder may have something to give.
    giving: bool,
}

pub(super) fn grow() -> Growing {
    Growing {
        decoder: FrameDecoder::new(Cursor::default()),
        part: Vec::new(),
        begun: false,
        giving: false,
    }
}

impl Growing {
    /// How long the part must be before it says more of itself, or is whole.
    fn wanted(&self) -> io::Result<usize> {
        let wrong = |what| io::Error::new(io::ErrorKind::InvalidData, what);
        if !self.begun {
            if !self.part.starts_with(&HEAD[..self.part.len().min(HEAD.len())]) {
                return Err(wrong("not the head of a stream that is taken"));
            }
            return Ok(HEAD_LENGTH);
        }
        let Some(length) = self.part.first_chunk::<4>() else {
            return Ok(4);
        };
        let length = u32::from_le_bytes(*length);
        if length == 0 {
            return Err(ended());
        }
        let length = (length & !AS_IT_IS) as usize;
        if length > MOST_IN_BLOCK {
            return Err(wrong("a block is too long"));
        }
        Ok(4 + length)
    }

    /// Takes what belongs to the head or block that is under way; true: it is whole.
    fn take(&mut self, from: &mut &[u8]) -> io::Result<bool> {
        loop {
            let wanted = self.wanted()?;
            let missing = wanted - self.part.len();
            if missing == 0 {
                return Ok(true);
            }
            if from.is_empty() {
                return Ok(false);
            }
            let (taken, rest) = from.split_at(missing.min(from.len()));
            self.part.extend_from_slice(taken);
            *from = rest;
        }
    }
}

impl Grow for Growing {
    fn read(&mut self, from: &mut &[u8], out: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.giving {
                let made = self.decoder.read(out)?;
                if made > 0 {
                    return Ok(made);
                }
                self.giving = false;
            }
            if !self.take(from)? {
                return Ok(0);
            }
            self.begun = true;
            let cursor = self.decoder.get_mut();
            std::mem::swap(cursor.get_mut(), &mut self.part);
            cursor.set_position(0);
            self.part.clear();
            self.giving = true;
        }
    }
}
