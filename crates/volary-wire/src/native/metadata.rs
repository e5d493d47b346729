//! What may travel beside a message: a deadline, a trace, headers. A flag in the frame says whether there is any, so
//! that a message without costs nothing.
//!
//! ```text
//!   field   ┌ tag u8 ┬ length ┬ value … ┐     1 deadline · 2 trace · 3 header: length, key, value …
//! ```
//! Fields of unknown tags are skipped.

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};

use super::read::number;
use super::write::{number_length, put_number};
use super::{FrameError, FrameKind, Limits};

pub(super) const DEADLINE: u8 = 1;
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
    deadline: Option<Duration>,
    trace: Option<TraceContext>,
    /// The fields of headers, and those that are not known here.
    others: Bytes,
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
        let mut left = &self.others[..];
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

    /// Writes its fields, behind their length.
    pub(crate) fn write(&self, out: &mut BytesMut) {
        let deadline = self.deadline.map(micros);
        let length = deadline.map_or(0, |micros| 2 + number_length(micros))
            + self.trace.map_or(0, |_| 2 + TRACE_BYTES)
            + self.others.len();
        put_number(out, length as u64);
        if let Some(micros) = deadline {
            out.put_slice(&[DEADLINE, number_length(micros) as u8]);
            put_number(out, micros);
        }
        if let Some(TraceContext { trace, span, flags }) = self.trace {
            out.put_slice(&[TRACE, TRACE_BYTES as u8]);
            out.put_slice(&trace);
            out.put_slice(&span);
            out.put_u8(flags);
        }
        out.put_slice(&self.others);
    }

    /// Checks what a peer sent.
    pub(crate) fn checked(kind: FrameKind, fields: Bytes, limits: &Limits) -> Result<Self, FrameError> {
        let mut metadata = Metadata::default();
        let mut others = Others::default();
        let mut headers = 0;
        let mut left = &fields[..];
        while let Some((&tag, behind)) = left.split_first() {
            let start = fields.len() - left.len();
            let (value, behind) = counted(behind, kind, limits)?;
            left = behind;
            match tag {
                DEADLINE if metadata.deadline.is_none() => {
                    let (micros, length) = number(value, kind, "deadline")?;
                    nothing_behind(value, length, kind)?;
                    metadata.deadline = Some(Duration::from_micros(micros));
                }
                TRACE if metadata.trace.is_none() => {
                    let field = "trace";
                    let bytes = value.first_chunk().ok_or(FrameError::Truncated { kind, field })?;
                    nothing_behind(value, TRACE_BYTES, kind)?;
                    metadata.trace = Some(trace(bytes));
                }
                DEADLINE | TRACE => {
                    let (field, value) = ("metadata", tag.into());
                    return Err(FrameError::Value { kind, field, value });
                }
                _ => {
                    if tag == HEADER {
                        headers += 1;
                        within(headers, limits.max_headers, kind, "headers")?;
                        check_key(value, kind, limits)?;
                    }
                    others.add(start..fields.len() - left.len());
                }
            }
        }
        metadata.others = others.of(&fields);
        Ok(metadata)
    }
}

/// Where fields are that are kept as they came: nearly always all in one place, or nowhere.
#[derive(Default)]
struct Others {
    first: Range<usize>,
    scattered: Vec<Range<usize>>,
}

impl Others {
    fn add(&mut self, field: Range<usize>) {
        if self.first.is_empty() {
            self.first = field;
        } else if self.scattered.is_empty() && self.first.end == field.start {
            self.first.end = field.end;
        } else {
            self.scattered.push(field);
        }
    }

    fn of(self, fields: &Bytes) -> Bytes {
        if self.first.is_empty() {
            return Bytes::new();
        }
        if self.scattered.is_empty() {
            return fields.slice(self.first);
        }
        let mut together = BytesMut::from(&fields[self.first]);
        for range in self.scattered {
            together.put_slice(&fields[range]);
        }
        together.freeze()
    }
}

/// What a length counts, and what is behind it.
fn counted<'a>(bytes: &'a [u8], kind: FrameKind, limits: &Limits) -> Result<(&'a [u8], &'a [u8]), FrameError> {
    let field = "metadata";
    let (length, taken) = number(bytes, kind, field)?;
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    within(length, limits.max_metadata, kind, field)?;
    let split = bytes[taken..].split_at_checked(length);
    split.ok_or(FrameError::Truncated { kind, field })
}

fn check_key(header: &[u8], kind: FrameKind, limits: &Limits) -> Result<(), FrameError> {
    let field = "header";
    let (length, taken) = number(header, kind, field)?;
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    within(length, limits.max_metadata, kind, field)?;
    let key = header[taken..].get(..length);
    let key = key.ok_or(FrameError::Truncated { kind, field })?;
    match std::str::from_utf8(key) {
        Ok(_) => Ok(()),
        Err(_) => Err(FrameError::NotText { kind, field }),
    }
}

fn within(length: usize, limit: usize, kind: FrameKind, field: &'static str) -> Result<(), FrameError> {
    if length <= limit {
        return Ok(());
    }
    Err(FrameError::Field {
        kind,
        field,
        length,
        limit,
    })
}

fn nothing_behind(value: &[u8], length: usize, kind: FrameKind) -> Result<(), FrameError> {
    match value.len().saturating_sub(length) {
        0 => Ok(()),
        left => Err(FrameError::Trailing { kind, left }),
    }
}

pub(super) fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
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
        self.deadline = Some(Duration::from_micros(micros(left)));
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
        Metadata {
            deadline: self.deadline,
            trace: self.trace,
            others: match self.headers.is_empty() {
                true => Bytes::new(),
                false => self.headers.freeze(),
            },
        }
    }
}

fn trace(bytes: &[u8; TRACE_BYTES]) -> TraceContext {
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
