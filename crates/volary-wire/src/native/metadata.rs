//! What may travel beside a message: a deadline, a trace, headers. A flag in the frame says whether there is any, so
//! that a message without costs nothing.
//!
//! ```text
//!   field   ┌ tag u8 ┬ length ┬ value … ┐     1 deadline · 2 trace · 3 header: length, key, value …
//! ```
//! Fields of unknown tags are skipped.

use std::fmt;
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};

use super::read::Reader;
use super::write::{number_length, put_number};
use super::{FrameError, FrameKind, Limits};

const DEADLINE: u8 = 1;
const TRACE: u8 = 2;
const HEADER: u8 = 3;
const TRACE_BYTES: usize = 25;

/// What travels beside a message.
///
/// ```
/// use std::time::Duration;
/// use volary_wire::native::Metadata;
///
/// let metadata = Metadata::builder().deadline(Duration::from_millis(250)).header("tenant", b"acme").build();
/// assert_eq!(metadata.deadline(), Some(Duration::from_millis(250)));
/// assert_eq!(metadata.header("tenant"), Some(&b"acme"[..]));
/// ```
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Metadata {
    fields: Bytes,
    deadline: Option<Duration>,
    trace: Option<TraceContext>,
}

/// Where a trace stands, as W3C has it. The `tracestate` is a header like any other.
///
/// ```
/// use volary_wire::native::TraceContext;
/// let _ = TraceContext { trace: [1; 16], span: [2; 8], flags: 1 };
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TraceContext {
    /// The id of the whole trace.
    pub trace: [u8; 16],
    /// The id of the span that sent the message.
    pub span: [u8; 8],
    /// 1 when it is sampled.
    pub flags: u8,
}

impl Metadata {
    /// Nothing yet.
    ///
    /// ```
    /// # use volary_wire::native::Metadata;
    /// assert_eq!(Metadata::builder().build().headers().count(), 0);
    /// ```
    pub fn builder() -> MetadataBuilder {
        MetadataBuilder::default()
    }

    /// How much time was left when the message was sent. Relative, since two nodes have two clocks.
    ///
    /// ```
    /// # use volary_wire::native::Metadata;
    /// assert_eq!(Metadata::default().deadline(), None);
    /// ```
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        self.deadline
    }

    /// The trace that the message is part of.
    ///
    /// ```
    /// # use volary_wire::native::Metadata;
    /// assert_eq!(Metadata::default().trace(), None);
    /// ```
    #[must_use]
    pub fn trace(&self) -> Option<TraceContext> {
        self.trace
    }

    /// The first header of that name.
    ///
    /// ```
    /// # use volary_wire::native::Metadata;
    /// assert_eq!(Metadata::default().header("tenant"), None);
    /// ```
    #[must_use]
    pub fn header(&self, key: &str) -> Option<&[u8]> {
        self.headers().find(|(name, _)| *name == key).map(|(_, value)| value)
    }

    /// All headers, in the order in which they were added.
    ///
    /// ```
    /// # use volary_wire::native::Metadata;
    /// let metadata = Metadata::builder().header("a", b"1").header("b", b"2").build();
    /// assert_eq!(metadata.headers().map(|(key, _)| key).collect::<String>(), "ab");
    /// ```
    pub fn headers(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let mut left = &self.fields[..];
        std::iter::from_fn(move || {
            loop {
                let (&tag, rest) = left.split_first()?;
                let (length, rest) = split_number(rest)?;
                let (value, rest) = rest.split_at_checked(length)?;
                left = rest;
                if tag == HEADER {
                    let (length, rest) = split_number(value)?;
                    let (key, value) = rest.split_at_checked(length)?;
                    return Some((std::str::from_utf8(key).ok()?, value));
                }
            }
        })
    }

    pub(crate) fn fields(&self) -> &[u8] {
        &self.fields
    }

    /// Checks what a peer sent.
    pub(crate) fn checked(kind: FrameKind, fields: Bytes, limits: &Limits) -> Result<Self, FrameError> {
        let mut metadata = Metadata {
            fields: fields.clone(),
            deadline: None,
            trace: None,
        };
        let mut left = Reader::new(kind, fields);
        let mut headers = 0;
        while !left.is_empty() {
            let tag = left.u8("metadata")?;
            let mut value = Reader::new(kind, left.counted(limits.max_metadata, "metadata")?);
            match tag {
                DEADLINE if metadata.deadline.is_none() => {
                    metadata.deadline = Some(Duration::from_micros(value.number("deadline")?));
                    value.end()?;
                }
                TRACE if metadata.trace.is_none() => {
                    metadata.trace = Some(trace(&value.bytes(TRACE_BYTES, "trace")?));
                    value.end()?;
                }
                DEADLINE | TRACE => return Err(left.unfit("metadata", tag.into())),
                HEADER => {
                    headers += 1;
                    left.within(headers, limits.max_headers, "headers")?;
                    value.text(limits.max_metadata, "header")?;
                }
                _ => {}
            }
        }
        Ok(metadata)
    }
}

impl fmt::Debug for Metadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metadata")
            .field("deadline", &self.deadline)
            .field("trace", &self.trace)
            .field("headers", &self.headers().map(|(key, _)| key).collect::<Vec<_>>())
            .finish()
    }
}

/// Makes [`Metadata`].
///
/// ```
/// use volary_wire::native::{Metadata, TraceContext};
/// let trace = TraceContext { trace: [1; 16], span: [2; 8], flags: 1 };
/// assert_eq!(Metadata::builder().trace(trace).build().trace(), Some(trace));
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "`build` makes the metadata"]
pub struct MetadataBuilder {
    deadline: Option<Duration>,
    trace: Option<TraceContext>,
    headers: BytesMut,
}

impl MetadataBuilder {
    /// How much time is left, to the microsecond.
    ///
    /// ```
    /// # use volary_wire::native::Metadata;
    /// let _ = Metadata::builder().deadline(std::time::Duration::from_secs(5));
    /// ```
    pub fn deadline(mut self, left: Duration) -> Self {
        let micros = u64::try_from(left.as_micros()).unwrap_or(u64::MAX);
        self.deadline = Some(Duration::from_micros(micros));
        self
    }

    /// The trace that the message is part of.
    ///
    /// ```
    /// # use volary_wire::native::{Metadata, TraceContext};
    /// let _ = Metadata::builder().trace(TraceContext { trace: [1; 16], span: [2; 8], flags: 0 });
    /// ```
    pub fn trace(mut self, trace: TraceContext) -> Self {
        self.trace = Some(trace);
        self
    }

    /// One more header. How many there may be, and how long, is the receiver's [`Limits`] to say.
    ///
    /// ```
    /// # use volary_wire::native::Metadata;
    /// let _ = Metadata::builder().header("tenant", b"acme");
    /// ```
    pub fn header(mut self, key: &str, value: &[u8]) -> Self {
        let length = number_length(key.len() as u64) + key.len() + value.len();
        self.headers.put_u8(HEADER);
        put_number(&mut self.headers, length as u64);
        put_number(&mut self.headers, key.len() as u64);
        self.headers.put_slice(key.as_bytes());
        self.headers.put_slice(value);
        self
    }

    /// The metadata.
    ///
    /// ```
    /// # use volary_wire::native::Metadata;
    /// let _ = Metadata::builder().build();
    /// ```
    #[must_use]
    pub fn build(self) -> Metadata {
        let mut fields = BytesMut::with_capacity(self.headers.len() + 12 + 2 + TRACE_BYTES);
        if let Some(left) = self.deadline {
            let micros = u64::try_from(left.as_micros()).unwrap_or(u64::MAX);
            fields.put_u8(DEADLINE);
            put_number(&mut fields, number_length(micros) as u64);
            put_number(&mut fields, micros);
        }
        if let Some(TraceContext { trace, span, flags }) = self.trace {
            fields.put_u8(TRACE);
            put_number(&mut fields, TRACE_BYTES as u64);
            fields.put_slice(&trace);
            fields.put_slice(&span);
            fields.put_u8(flags);
        }
        fields.put_slice(&self.headers);
        Metadata {
            fields: fields.freeze(),
            deadline: self.deadline,
            trace: self.trace,
        }
    }
}

fn trace(bytes: &[u8]) -> TraceContext {
    let mut context = TraceContext {
        trace: [0; 16],
        span: [0; 8],
        flags: bytes[24],
    };
    context.trace.copy_from_slice(&bytes[..16]);
    context.span.copy_from_slice(&bytes[16..24]);
    context
}

/// A number and what is behind it, in fields that were checked or built here.
fn split_number(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut value = 0_usize;
    for (place, &byte) in bytes.iter().take(9).enumerate() {
        value |= usize::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return Some((value, &bytes[place + 1..]));
        }
    }
    None
}
