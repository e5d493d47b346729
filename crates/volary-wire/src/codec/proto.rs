//! Protocol Buffers.

use bytes::{Bytes, BytesMut};
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

    fn decode(bytes: Bytes) -> Result<T, DecodeError> {
        T::decode(bytes).map_err(|error| DecodeError::new::<T>(CodecId::PROTO, error))
    }
}
