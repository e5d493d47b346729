//! Values that cannot be written, and bytes that cannot be read.

use std::any::type_name;
use std::error::Error;

use super::CodecId;

type Cause = Box<dyn Error + Send + Sync>;

/// A value could not be written. The value is at fault, not the connection: report it to whoever sent it.
///
/// ```
/// use volary_wire::{CodecId, EncodeError};
/// let error = EncodeError::new::<f64>(CodecId::JSON, "not a number");
/// assert_eq!(error.to_string(), "cannot write a f64 as json: not a number");
/// ```
#[derive(Debug, thiserror::Error)]
#[error("cannot write a {type_name} as {codec}: {cause}")]
pub struct EncodeError {
    type_name: &'static str,
    codec: CodecId,
    #[source]
    cause: Cause,
}

impl EncodeError {
    /// For codecs of one's own.
    ///
    /// ```
    /// # use volary_wire::{CodecId, EncodeError};
    /// let _ = EncodeError::new::<u8>(CodecId::own(0), "too large");
    /// ```
    pub fn new<T: ?Sized>(codec: CodecId, cause: impl Into<Cause>) -> Self {
        EncodeError {
            type_name: type_name::<T>(),
            codec,
            cause: cause.into(),
        }
    }
}

/// Bytes are not a value of the expected type. The sender is at fault: refuse the message, keep the connection.
///
/// ```
/// use volary_wire::{CodecId, DecodeError};
/// let error = DecodeError::new::<f64>(CodecId::JSON, "unexpected end");
/// assert_eq!(error.to_string(), "these bytes are no f64 in json: unexpected end");
/// ```
#[derive(Debug, thiserror::Error)]
#[error("these bytes are no {type_name} in {codec}: {cause}")]
pub struct DecodeError {
    type_name: &'static str,
    codec: CodecId,
    #[source]
    cause: Cause,
}

impl DecodeError {
    /// For codecs of one's own.
    ///
    /// ```
    /// # use volary_wire::{CodecId, DecodeError};
    /// let _ = DecodeError::new::<u8>(CodecId::own(0), "empty");
    /// ```
    pub fn new<T: ?Sized>(codec: CodecId, cause: impl Into<Cause>) -> Self {
        DecodeError {
            type_name: type_name::<T>(),
            codec,
            cause: cause.into(),
        }
    }
}
