//! Brotli, as one stream without end.

use std::io::{self, Write};

use brotli::enc::StandardAlloc;
use brotli::{BrotliDecompressStream, BrotliResult, BrotliState, CompressorWriter};

use super::{Grow, Shrink, ended, stuck};

/// Below this it makes nothing smaller, above it takes milliseconds.
const QUALITY: u32 = 5;
const WINDOW_LOG: u32 = 18;
const BUFFER: usize = 4 << 10;

pub(super) struct Shrinking(CompressorWriter<Vec<u8>>);

pub(super) fn shrink() -> Shrinking {
    Shrinking(CompressorWriter::new(Vec::new(), BUFFER, QUALITY, WINDOW_LOG))
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

pub(super) struct Growing(Box<BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>>);

pub(super) fn grow() -> Growing {
    let memory = StandardAlloc::default;
    // Strict: no window of more than the 16 MiB of the standard.
    Growing(Box::new(BrotliState::new_strict(memory(), memory(), memory())))
}

impl Grow for Growing {
    fn read(&mut self, from: &mut &[u8], out: &mut [u8]) -> io::Result<usize> {
        let (mut left, mut taken) = (from.len(), 0);
        let (mut room, mut made) = (out.len(), 0);
        let result = BrotliDecompressStream(
            &mut left,
            &mut taken,
            from,
            &mut room,
            &mut made,
            out,
            &mut 0,
            &mut self.0,
        );
        *from = &from[taken..];
        match result {
            BrotliResult::ResultSuccess => Err(ended()),
            BrotliResult::ResultFailure => Err(io::Error::new(io::ErrorKind::InvalidData, "corrupt")),
            _ if made == 0 && !from.is_empty() => Err(stuck()),
            _ => Ok(made),
        }
    }
}
