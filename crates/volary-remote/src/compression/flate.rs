//! Gzip and deflate, as one stream without end.

use std::io;

use flate2::{Compress, Decompress, FlushCompress, FlushDecompress, Status};

use super::{Grow, Shrink, append, ended, stuck};

/// All of the past that the format can remember.
const WINDOW_BITS: u8 = 15;

pub(super) fn gzip() -> Compress {
    Compress::new_gzip(flate2::Compression::fast(), WINDOW_BITS)
}

pub(super) fn deflate() -> Compress {
    Compress::new(flate2::Compression::fast(), false)
}

pub(super) fn gunzip() -> Decompress {
    Decompress::new_gzip(WINDOW_BITS)
}

pub(super) fn inflate() -> Decompress {
    Decompress::new(false)
}

impl Shrink for Compress {
    fn write(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        while !bytes.is_empty() {
            append(out, |room| {
                let (taken, made) = (self.total_in(), self.total_out());
                self.compress(bytes, room, FlushCompress::None)?;
                bytes = &bytes[count(self.total_in() - taken)..];
                Ok(count(self.total_out() - made))
            })?;
        }
        Ok(())
    }

    fn flush(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        let mut full = true;
        while full {
            append(out, |room| {
                let made = self.total_out();
                self.compress(&[], room, FlushCompress::Sync)?;
                let made = count(self.total_out() - made);
                full = made == room.len();
                Ok(made)
            })?;
        }
        Ok(())
    }
}

impl Grow for Decompress {
    fn read(&mut self, from: &mut &[u8], out: &mut [u8]) -> io::Result<usize> {
        loop {
            let (before_in, before_out) = (self.total_in(), self.total_out());
            let status = self.decompress(from, out, FlushDecompress::None)?;
            let (taken, made) = (count(self.total_in() - before_in), count(self.total_out() - before_out));
            *from = &from[taken..];
            if status == Status::StreamEnd {
                return Err(ended());
            }
            if made > 0 || from.is_empty() {
                return Ok(made);
            }
            if taken == 0 {
                return Err(stuck());
            }
        }
    }
}

/// What one call did, which fits the slices that it was given.
fn count(difference: u64) -> usize {
    usize::try_from(difference).unwrap_or(usize::MAX)
}
