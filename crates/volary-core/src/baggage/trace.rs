//! Trace contexts as W3C writes them: which trace a request is part of, and which span of it sent it.

use std::fmt;
use std::num::{NonZeroU64, NonZeroU128};
use std::str::FromStr;

/// Where a request stands in a trace. Written and read as a W3C `traceparent`.
///
/// ```
/// use volary_core::TraceContext;
///
/// let text = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
/// let trace: TraceContext = text.parse().unwrap();
/// assert!(trace.is_sampled());
/// assert_eq!(trace.to_string(), text);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceContext {
    trace: NonZeroU128,
    span: NonZeroU64,
    flags: u8,
}

const SAMPLED: u8 = 1;

impl TraceContext {
    /// A trace context of these ids.
    ///
    /// ```
    /// # use volary_core::TraceContext;
    /// # use std::num::{NonZeroU64, NonZeroU128};
    /// let trace = TraceContext::new(NonZeroU128::MIN, NonZeroU64::MIN).sampled();
    /// assert_eq!(trace.to_string(), "00-00000000000000000000000000000001-0000000000000001-01");
    /// ```
    #[must_use]
    pub fn new(trace: NonZeroU128, span: NonZeroU64) -> Self {
        TraceContext { trace, span, flags: 0 }
    }

    /// The same, to be recorded by whoever records.
    ///
    /// ```
    /// # use volary_core::TraceContext;
    /// # use std::num::{NonZeroU64, NonZeroU128};
    /// assert!(TraceContext::new(NonZeroU128::MIN, NonZeroU64::MIN).sampled().is_sampled());
    /// ```
    #[must_use]
    pub fn sampled(mut self) -> Self {
        self.flags |= SAMPLED;
        self
    }

    /// The same trace, under another span.
    pub(crate) fn below(mut self, span: NonZeroU64) -> Self {
        self.span = span;
        self
    }

    /// Which trace.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let trace: TraceContext = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".parse().expect("a trace");
    /// assert_eq!(format!("{:032x}", trace.trace_id()), "0af7651916cd43dd8448eb211c80319c");
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn trace_id(&self) -> NonZeroU128 {
        self.trace
    }

    /// The span that sent the request.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let trace: TraceContext = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".parse().expect("a trace");
    /// assert_eq!(format!("{:016x}", trace.span_id()), "b7ad6b7169203331");
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn span_id(&self) -> NonZeroU64 {
        self.span
    }

    /// Whether it is to be recorded.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let trace: TraceContext = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".parse().expect("a trace");
    /// assert!(trace.is_sampled());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn is_sampled(&self) -> bool {
        self.flags & SAMPLED != 0
    }
}

impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{:032x}-{:016x}-{:02x}", self.trace, self.span, self.flags)
    }
}

impl fmt::Debug for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What is wrong with a `traceparent`. Go on without a trace.
///
/// ```
/// # use volary_core::{TraceContext, TraceParseError};
/// assert_eq!("hello".parse::<TraceContext>(), Err(TraceParseError::Shape));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TraceParseError {
    /// It does not have the form `00-<32 hex digits>-<16 hex digits>-<2 hex digits>`.
    #[error("a traceparent looks like 00-<32 hex digits>-<16 hex digits>-<2 hex digits>")]
    Shape,
    /// An id of zeros means that there is none.
    #[error("an id of a traceparent is zero")]
    Zero,
}

impl FromStr for TraceContext {
    type Err = TraceParseError;

    fn from_str(text: &str) -> Result<Self, TraceParseError> {
        let mut parts = text.split('-');
        let mut next = |digits: usize| {
            parts
                .next()
                .filter(|part| part.len() == digits && part.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')))
                .ok_or(TraceParseError::Shape)
        };
        let version = next(2)?;
        let (trace, span, flags) = (next(32)?, next(16)?, next(2)?);
        // A later version may have more parts; this one has not, and ff is none at all.
        if version == "ff" || version == "00" && parts.next().is_some() {
            return Err(TraceParseError::Shape);
        }
        let trace = u128::from_str_radix(trace, 16).map_err(|_| TraceParseError::Shape)?;
        let span = u64::from_str_radix(span, 16).map_err(|_| TraceParseError::Shape)?;
        let flags = u8::from_str_radix(flags, 16).map_err(|_| TraceParseError::Shape)?;
        Ok(TraceContext {
            trace: NonZeroU128::new(trace).ok_or(TraceParseError::Zero)?,
            span: NonZeroU64::new(span).ok_or(TraceParseError::Zero)?,
            flags: flags & SAMPLED,
        })
    }
}
