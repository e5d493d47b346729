//! CBOR.

use bytes::{BufMut, Bytes, BytesMut};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};

use super::{Codec, CodecId, DecodeError, EncodeError, MAX_DEPTH, depth};

/// CBOR, for everything that serde serializes. Read to a depth of [`MAX_DEPTH`]; bytes behind the value are an error.
///
/// Evolves as [`Json`](crate::codec) does: fields are found by name.
///
/// ```
/// use bytes::BytesMut;
/// use volary_wire::{Cbor, Codec};
///
/// let mut out = BytesMut::new();
/// Cbor::encode(&"hi".to_owned(), &mut out)?;
/// assert_eq!(out[..], [0x62, b'h', b'i']);
/// # let back: String = Cbor::decode(out.freeze())?;
/// # assert_eq!(back, "hi");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub enum Cbor {}

impl<T: Serialize + DeserializeOwned> Codec<T> for Cbor {
    const ID: CodecId = CodecId::CBOR;

    fn encode(value: &T, out: &mut BytesMut) -> Result<(), EncodeError> {
        ciborium::into_writer(value, out.writer())
            .map_err(|error| EncodeError::new::<T>(CodecId::CBOR, error.to_string()))
    }

    fn decode(bytes: Bytes) -> Result<T, DecodeError> {
        let mut left = &bytes[..];
        let Doubting(value) = ciborium::de::from_reader_with_recursion_limit(&mut left, MAX_DEPTH)
            .map_err(|error| DecodeError::new::<T>(CodecId::CBOR, error.to_string()))?;
        match left.len() {
            0 => Ok(value),
            more => {
                let cause = format!("{more} bytes too many");
                Err(DecodeError::new::<T>(CodecId::CBOR, cause))
            }
        }
    }
}

/// A value whose lengths are not believed.
struct Doubting<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Doubting<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        depth::read(from, depth::COUNTED_ELSEWHERE).map(Doubting)
    }
}
