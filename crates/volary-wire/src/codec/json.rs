//! JSON.

use bytes::{BufMut, Bytes, BytesMut};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Codec, CodecId, DecodeError, EncodeError};

/// JSON, for everything that serde serializes. Read to a depth of one less than [`MAX_DEPTH`](super::MAX_DEPTH), which
/// is serde_json's own limit.
///
/// Fields are found by name: a reader skips what it does not know, and needs `#[serde(default)]` or `Option` for what
/// an older writer does not send.
///
/// JSON has no word for infinity and for what is no number: such a float is written as `null`, and only an `Option` reads
/// that. Choose another codec where they may occur.
///
/// ```
/// use bytes::BytesMut;
/// use volary_wire::{Codec, Json};
///
/// let mut out = BytesMut::new();
/// Json::encode(&vec![1, 2], &mut out)?;
/// assert_eq!(out, "[1,2]");
/// # let back: Vec<u8> = Json::decode(out.freeze())?;
/// # assert_eq!(back, [1, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub enum Json {}

impl<T: Serialize + DeserializeOwned> Codec<T> for Json {
    const ID: CodecId = CodecId::JSON;

    fn encode(value: &T, out: &mut BytesMut) -> Result<(), EncodeError> {
        serde_json::to_writer(out.writer(), value).map_err(|error| EncodeError::new::<T>(CodecId::JSON, error))
    }

    fn decode(bytes: Bytes) -> Result<T, DecodeError> {
        serde_json::from_slice(&bytes).map_err(|error| DecodeError::new::<T>(CodecId::JSON, error))
    }
}
