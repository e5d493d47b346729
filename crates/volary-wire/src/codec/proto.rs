//! Protocol Buffers.

use bytes::{Buf, Bytes, BytesMut};
use prost::Message;

use super::{Codec, CodecId, DecodeError, EncodeError};

/// Protocol Buffers, for everything that prost derives or generates, and for `()`, numbers, `bool`, `String`,
/// `Vec<u8>` and `Bytes` as the well-known wrappers. Nested messages are read to a depth of 100.
///
/// Fields may be added and removed freely while their numbers are never used again: what a reader does not know it
/// skips, what it misses has its default.
///
/// ```
/// use bytes::BytesMut;
/// use volary_wire::{Codec, Proto};
///
/// let mut out = BytesMut::new();
/// Proto::encode(&150_i64, &mut out)?;
/// assert_eq!(out[..], [0x08, 0x96, 0x01]);
/// let back: i64 = Proto::decode(out.freeze())?;
/// assert_eq!(back, 150);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub enum Proto {}

impl<T: Message + Default> Codec<T> for Proto {
    const ID: CodecId = CodecId::PROTO;

    fn encode(value: &T, out: &mut BytesMut) -> Result<(), EncodeError> {
        value
            .encode(out)
            .map_err(|error| EncodeError::new::<T>(CodecId::PROTO, error))
    }

    fn decode(mut bytes: Bytes) -> Result<T, DecodeError> {
        Self::decode_in_place(&mut bytes)
    }

    #[inline]
    fn decode_in_place(bytes: &mut Bytes) -> Result<T, DecodeError> {
        T::decode(InPlace { bytes, at: 0 }).map_err(|error| DecodeError::new::<T>(CodecId::PROTO, error))
    }
}

/// Reads bytes without changing them. `Bytes` writes down where it is after every field, and to move it right after that
/// takes longer than to read the field.
struct InPlace<'a> {
    bytes: &'a mut Bytes,
    at: usize,
}

impl Buf for InPlace<'_> {
    #[inline]
    fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }

    #[inline]
    fn chunk(&self) -> &[u8] {
        &self.bytes[self.at..]
    }

    #[inline]
    fn advance(&mut self, count: usize) {
        assert!(count <= self.remaining(), "beyond the end");
        self.at += count;
    }

    /// Shares the bytes; the last of them takes all there is along.
    #[inline]
    fn copy_to_bytes(&mut self, length: usize) -> Bytes {
        let end = self.at + length;
        if end != self.bytes.len() {
            let part = self.bytes.slice(self.at..end);
            self.at = end;
            return part;
        }
        let mut rest = std::mem::take(self.bytes);
        rest.advance(std::mem::take(&mut self.at));
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, PartialEq, prost::Message)]
    struct Parts {
        #[prost(bytes = "bytes", tag = "1")]
        first: Bytes,
        #[prost(message, optional, boxed, tag = "2")]
        inside: Option<Box<Parts>>,
        #[prost(bytes = "bytes", tag = "3")]
        last: Bytes,
        #[prost(string, tag = "4")]
        text: String,
        #[prost(bytes = "vec", tag = "5")]
        copied: Vec<u8>,
    }

    fn parts(depth: usize, text: &str) -> Parts {
        Parts {
            first: Bytes::from(vec![1; depth]),
            inside: (depth > 0).then(|| Box::new(parts(depth - 1, text))),
            last: Bytes::from(vec![2; 300 * depth]),
            text: text.to_owned(),
            copied: vec![3; depth],
        }
    }

    #[test]
    fn r2_bytes_inside_of_messages_share_the_frame_wherever_they_are() {
        // With something behind the last bytes, and with nothing.
        for text in ["behind", ""] {
            for depth in 0..5 {
                let written = parts(depth, text);
                let bytes = Bytes::from(written.encode_to_vec());
                let range = bytes.as_ptr_range();
                let read: Parts = Proto::decode(bytes.clone()).unwrap();
                assert_eq!(read, written);
                if depth > 0 {
                    assert!(range.contains(&read.first.as_ptr()) && range.contains(&read.last.as_ptr()));
                }
                let cut = bytes.slice(..bytes.len().saturating_sub(1));
                let same = Parts::decode(cut.clone()).ok();
                assert_eq!(Proto::decode(cut).ok(), same, "what prost reads, and no more");
            }
        }
    }

    #[test]
    fn r2_no_bytes_are_the_default() {
        let read: Parts = Proto::decode(Bytes::new()).unwrap();
        assert_eq!(read, Parts::default());
    }
}
