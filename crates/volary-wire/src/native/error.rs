//! How a peer can break the rules.

use super::FrameKind;

/// Bytes that no Volary node writes. The connection cannot go on: what follows cannot be told apart from what came.
///
/// ```
/// use volary_wire::native::{FrameDecoder, Limits};
/// let mut decoder = FrameDecoder::new(Limits::default());
/// decoder.feed(b"GET / HTTP/1.1\r\n");
/// let error = decoder.next_frame().unwrap_err();
/// assert_eq!(error.to_string(), "a frame of 1195725856 bytes, where 16777216 are allowed");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// The length is beyond the limit. Close; a peer that sends large messages must cut them in pieces.
    #[error("a frame of {length} bytes, where {limit} are allowed")]
    TooLong {
        /// What the peer announced.
        length: usize,
        /// What is allowed.
        limit: usize,
    },
    /// The length leaves no room for kind and flags. Close.
    #[error("a frame of {length} bytes, which is no frame")]
    TooShort {
        /// What the peer announced.
        length: usize,
    },
    /// A kind this version does not know, not marked as one to skip. Close; the handshake should have prevented it.
    #[error("a frame of the unknown kind {0}")]
    UnknownKind(u8),
    /// A flag that this kind does not have. Close.
    #[error("{kind} with the flags {flags:#04x}")]
    Flags {
        /// The kind of the frame.
        kind: FrameKind,
        /// All of its flags.
        flags: u8,
    },
    /// The frame ends inside a field. Close.
    #[error("{kind} ends within `{field}`")]
    Truncated {
        /// The kind of the frame.
        kind: FrameKind,
        /// The field that is cut off.
        field: &'static str,
    },
    /// The frame goes on behind its last field. Close.
    #[error("{kind} has {left} bytes too many")]
    Trailing {
        /// The kind of the frame.
        kind: FrameKind,
        /// How many bytes are left.
        left: usize,
    },
    /// A number that is too large, or longer than need be. Close.
    #[error("{kind} has a malformed number in `{field}`")]
    Number {
        /// The kind of the frame.
        kind: FrameKind,
        /// The field.
        field: &'static str,
    },
    /// A text that is not UTF-8. Close.
    #[error("{kind} has a `{field}` that is not UTF-8")]
    NotText {
        /// The kind of the frame.
        kind: FrameKind,
        /// The field.
        field: &'static str,
    },
    /// A field beyond its limit. Close.
    #[error("{kind} has a `{field}` of {length}, where {limit} are allowed")]
    Field {
        /// The kind of the frame.
        kind: FrameKind,
        /// The field.
        field: &'static str,
        /// How long or how many.
        length: usize,
        /// What is allowed.
        limit: usize,
    },
    /// A value that the field cannot have. Close.
    #[error("{kind} cannot have {value} as `{field}`")]
    Value {
        /// The kind of the frame.
        kind: FrameKind,
        /// The field.
        field: &'static str,
        /// What the peer sent.
        value: u64,
    },
    /// A frame that may not come in pieces did. Close.
    #[error("{0} in pieces")]
    NotInPieces(FrameKind),
}

/// A frame longer than the other side takes was not written; what had been written of it is gone again.
///
/// Cut it in pieces with [`Chunks`](super::Chunks), or give the message back.
///
/// ```
/// # use bytes::BytesMut;
/// use volary_wire::native::{Frame, FrameWriter};
/// let mut out = BytesMut::new();
/// let too_long = FrameWriter::new(&mut out).at_most(2).frame(&Frame::Heartbeat { nonce: 7 }).unwrap_err();
/// assert_eq!(too_long.to_string(), "a frame of 3 bytes, where 2 are allowed");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a frame of {length} bytes, where {limit} are allowed")]
#[non_exhaustive]
pub struct Oversize {
    /// How long it would have been.
    pub length: usize,
    /// What is allowed.
    pub limit: usize,
}
