//! Zstandard, as one frame without end.

use std::io;

use zstd::stream::raw::{CParameter, DParameter, Decoder, Encoder, InBuffer, Operation, OutBuffer};

use super::{Grow, Shrink, append, stuck};

const LEVEL: i32 = 3;
/// Half a mebibyte of the past is enough for messages, and is what each connection costs.
const WINDOW_LOG: u32 = 19;
/// What a peer may make us remember.
const MOST_WINDOW_LOG: u32 = 21;

pub(super) struct Shrinking(Encoder<'static>);

pub(super) fn shrink() -> io::Result<Shrinking> {
    let mut encoder = Encoder::new(LEVEL)?;
    encoder.set_parameter(CParameter::WindowLog(WINDOW_LOG))?;
    Ok(Shrinking(encoder))
}

impl Shrink for Shrinking {
    fn write(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        while !bytes.is_empty() {
            append(out, |room| {
                let status = self.0.run_on_buffers(bytes, room)?;
                bytes = &bytes[status.bytes_read..];
                Ok(status.bytes_written)
            })?;
        }
        Ok(())
    }

    fn flush(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        let mut left = 1;
        while left > 0 {
            append(out, |room| {
                let mut room = OutBuffer::around(room);
                left = self.0.flush(&mut room)?;
                Ok(room.pos())
            })?;
        }
        Ok(())
    }
}

pub(super) struct Growing(Decoder<'static>);

pub(super) fn grow() -> io::Result<Growing> {
    let mut decoder = Decoder::new()?;
    decoder.set_parameter(DParameter::WindowLogMax(MOST_WINDOW_LOG))?;
    Ok(Growing(decoder))
}

impl Grow for Growing {
    fn read(&mut self, from: &mut &[u8], out: &mut [u8]) -> io::Result<usize> {
        loop {
            let mut input = InBuffer::around(from);
            let mut room = OutBuffer::around(&mut *out);
            self.0.run(&mut input, &mut room)?;
            let (taken, made) = (input.pos(), room.pos());
            *from = &from[taken..];
            if made > 0 || from.is_empty() {
                return Ok(made);
            }
            if taken == 0 {
                return Err(stuck());
            }
        }
    }
}
