//! How values become bytes. A codec is a type without values, chosen per message at compile time; its id travels in
//! the frame, so that both sides notice when they do not mean the same.

#[cfg(any(feature = "cbor", feature = "postcard"))]
mod depth;
mod error;

#[cfg(feature = "cbor")]
mod cbor;
#[cfg(feature = "json")]
mod json;
#[cfg(feature = "postcard")]
mod postcard;
#[cfg(feature = "proto")]
mod proto;

use std::convert::Infallible;
use std::fmt;

use bytes::{Bytes, BytesMut};

#[cfg(feature = "cbor")]
pub use self::cbor::Cbor;
pub use self::error::{DecodeError, EncodeError};
#[cfg(feature = "json")]
pub use self::json::Json;
#[cfg(feature = "postcard")]
pub use self::postcard::Postcard;
#[cfg(feature = "proto")]
pub use self::proto::Proto;

/// How deep values may be nested in the codecs whose depth the sender chooses.
///
/// ```
/// assert_eq!(volary_wire::codec::MAX_DEPTH, 128);
/// ```
pub const MAX_DEPTH: usize = 128;

/// A way to write values of type `T` and to read them again.
///
/// Whatever `decode` is given came from the network: it must not panic, and must not allocate much more than it was
/// given. A panic is contained all the same, and reported as an error.
///
/// ```
/// use bytes::{BufMut, Bytes, BytesMut};
/// use volary_wire::{Codec, CodecId, DecodeError, EncodeError};
///
/// struct Celsius(i16);
/// struct TwoBytes;
///
/// impl Codec<Celsius> for TwoBytes {
///     const ID: CodecId = CodecId::own(0);
///     fn encode(value: &Celsius, out: &mut BytesMut) -> Result<(), EncodeError> {
///         out.put_i16(value.0);
///         Ok(())
///     }
///     fn decode(bytes: Bytes) -> Result<Celsius, DecodeError> {
///         let bytes = bytes[..].try_into().map_err(|_| DecodeError::new::<Celsius>(Self::ID, "not two bytes"))?;
///         Ok(Celsius(i16::from_be_bytes(bytes)))
///     }
/// }
/// # let mut out = BytesMut::new();
/// # TwoBytes::encode(&Celsius(-4), &mut out)?;
/// # assert_eq!(TwoBytes::decode(out.freeze())?.0, -4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "the codec `{Self}` cannot write and read `{T}`",
    note = "`Proto` needs a prost message; `Json`, `Cbor` and `Postcard` need `serde::Serialize` and \
            `serde::Deserialize`: derive them, choose another codec, or implement `Codec<{T}>` for one of your own"
)]
pub trait Codec<T> {
    /// What frames call this codec.
    const ID: CodecId;

    /// Appends the value.
    ///
    /// # Errors
    /// When the value cannot be written this way. What was appended by then is taken back by the caller.
    fn encode(value: &T, out: &mut BytesMut) -> Result<(), EncodeError>;

    /// Reads the value; all of `bytes` belongs to it.
    ///
    /// # Errors
    /// When the bytes are not what this codec writes for such a value.
    fn decode(bytes: Bytes) -> Result<T, DecodeError>;

    /// The same from bytes of the caller's, which are of no use to it afterwards. For codecs that read faster where the
    /// bytes lie than when they are moved; there is no other reason to write one.
    ///
    /// ```
    /// use bytes::Bytes;
    /// use volary_wire::{Codec, Proto};
    ///
    /// let mut bytes = Bytes::from_static(&[0x08, 0x96, 0x01]);
    /// let number: i64 = Proto::decode_in_place(&mut bytes)?;
    /// assert_eq!(number, 150);
    /// # Ok::<(), volary_wire::DecodeError>(())
    /// ```
    ///
    /// # Errors
    /// As [`decode`](Codec::decode).
    #[inline]
    fn decode_in_place(bytes: &mut Bytes) -> Result<T, DecodeError> {
        Self::decode(std::mem::take(bytes))
    }
}

/// The number of a codec in a frame.
///
/// ```
/// use volary_wire::CodecId;
/// assert_eq!(CodecId::JSON.to_string(), "json");
/// assert_eq!(CodecId::own(3).number(), 131);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CodecId(u8);

impl CodecId {
    /// No payload at all.
    ///
    /// ```
    /// # use volary_wire::CodecId;
    /// assert_eq!(CodecId::NONE.to_string(), "none");
    /// ```
    pub const NONE: Self = CodecId(0);
    /// Protocol Buffers.
    ///
    /// ```
    /// # use volary_wire::CodecId;
    /// assert_eq!(CodecId::PROTO.to_string(), "proto");
    /// ```
    pub const PROTO: Self = CodecId(1);
    /// JSON.
    ///
    /// ```
    /// # use volary_wire::CodecId;
    /// assert_eq!(CodecId::JSON.to_string(), "json");
    /// ```
    pub const JSON: Self = CodecId(2);
    /// CBOR.
    ///
    /// ```
    /// # use volary_wire::CodecId;
    /// assert_eq!(CodecId::CBOR.to_string(), "cbor");
    /// ```
    pub const CBOR: Self = CodecId(3);
    /// Postcard.
    ///
    /// ```
    /// # use volary_wire::CodecId;
    /// assert_eq!(CodecId::POSTCARD.to_string(), "postcard");
    /// ```
    pub const POSTCARD: Self = CodecId(4);

    /// One of the 128 numbers that Volary never takes; which means what is between your nodes.
    ///
    /// # Panics
    /// From 128 on; in a `const` that is a compile error.
    ///
    /// ```
    /// # use volary_wire::CodecId;
    /// const OURS: CodecId = CodecId::own(0);
    /// assert_eq!(OURS.number(), 128);
    /// ```
    #[must_use]
    pub const fn own(number: u8) -> Self {
        assert!(number < 128, "the numbers of own codecs are 0 to 127");
        CodecId(128 + number)
    }

    /// The number as it stands in a frame.
    ///
    /// ```
    /// # use volary_wire::CodecId;
    /// assert_eq!(CodecId::PROTO.number(), 1);
    /// ```
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }

    pub(crate) const fn from_number(number: u8) -> Self {
        CodecId(number)
    }
}

impl fmt::Display for CodecId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NONE => f.write_str("none"),
            Self::PROTO => f.write_str("proto"),
            Self::JSON => f.write_str("json"),
            Self::CBOR => f.write_str("cbor"),
            Self::POSTCARD => f.write_str("postcard"),
            CodecId(number) => write!(f, "codec {number}"),
        }
    }
}

/// The codec of what there is never a value of: the rejection of a message that has none.
///
/// ```
/// use std::convert::Infallible;
/// use volary_wire::{Codec, Never};
/// assert!(<Never as Codec<Infallible>>::decode(Default::default()).is_err());
/// ```
pub enum Never {}

impl Codec<Infallible> for Never {
    const ID: CodecId = CodecId::NONE;

    fn encode(value: &Infallible, _out: &mut BytesMut) -> Result<(), EncodeError> {
        match *value {}
    }

    fn decode(_bytes: Bytes) -> Result<Infallible, DecodeError> {
        Err(DecodeError::new::<Infallible>(
            CodecId::NONE,
            "this message has no rejection: the other node declares it otherwise",
        ))
    }
}
