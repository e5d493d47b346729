//! Postcard.

use bytes::{BufMut, Bytes, BytesMut};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Codec, CodecId, DecodeError, EncodeError, MAX_DEPTH, depth};

/// Postcard, for everything that serde serializes without asking what comes next: the most compact of the four.
///
/// Nothing in it says which field is which, so both sides must have the same type to the letter: a field added, removed
/// or moved is a new message with a new name. Bytes behind the value are an error, so that most mistakes show. Options,
/// sequences, maps and enums inside each other are read to a depth of [`MAX_DEPTH`].
///
/// ```
/// use bytes::BytesMut;
/// use volary_wire::{Codec, Postcard};
///
/// let mut out = BytesMut::new();
/// Postcard::encode(&(300_u32, true), &mut out)?;
/// assert_eq!(out[..], [0xac, 0x02, 1]);
/// # let back: (u32, bool) = Postcard::decode(out.freeze())?;
/// # assert_eq!(back, (300, true));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub enum Postcard {}

impl<T: Serialize + DeserializeOwned> Codec<T> for Postcard {
    const ID: CodecId = CodecId::POSTCARD;

    fn encode(value: &T, out: &mut BytesMut) -> Result<(), EncodeError> {
        postcard::to_io(value, out.writer())
            .map(drop)
            .map_err(|error| EncodeError::new::<T>(CodecId::POSTCARD, error))
    }

    fn decode(bytes: Bytes) -> Result<T, DecodeError> {
        let unreadable = |error| DecodeError::new::<T>(CodecId::POSTCARD, error);
        let mut from = postcard::Deserializer::from_bytes(&bytes);
        let value = depth::read(&mut from, MAX_DEPTH).map_err(unreadable)?;
        match from.finalize().map_err(unreadable)?.len() {
            0 => Ok(value),
            more => {
                let cause = format!("{more} bytes too many");
                Err(DecodeError::new::<T>(CodecId::POSTCARD, cause))
            }
        }
    }
}
