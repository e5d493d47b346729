//! What travels with a request: a trace context and headers.
//!
//! A handler that sends or asks passes on what came with the message it serves, without doing anything for it; so do
//! timers, schedules, requests, pipes and spawned tasks. A message without baggage pays nothing: its record has no
//! word for it.

mod carried;
mod headers;
mod scope;
mod trace;

use std::fmt;

pub(crate) use carried::Carried;
pub use headers::{HeaderError, Headers, MAX_HEADER_BYTES, MAX_HEADERS};
pub use scope::WithBaggage;
pub use trace::{TraceContext, TraceParseError};

/// What travels with a request; see [`Baggage::current`].
///
/// ```
/// use volary_core::Baggage;
///
/// let baggage = Baggage::new().with_header("tenant", "blue").unwrap();
/// baggage.in_scope(|| {
///     // whatever is sent here, and by the handlers of that, carries it
///     assert_eq!(Baggage::current().header("tenant"), Some(&b"blue"[..]));
/// });
/// assert!(Baggage::current().is_empty());
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
#[must_use]
pub struct Baggage {
    pub(crate) trace: Option<TraceContext>,
    pub(crate) headers: Headers,
}

impl Baggage {
    /// Nothing.
    ///
    /// ```
    /// assert!(volary_core::Baggage::new().is_empty());
    /// ```
    pub fn new() -> Self {
        Baggage::default()
    }

    /// The same with a trace context.
    ///
    /// ```
    /// # use volary_core::{Baggage, TraceContext};
    /// let trace: TraceContext = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".parse().unwrap();
    /// assert_eq!(Baggage::new().with_trace(trace).trace(), Some(trace));
    /// ```
    pub fn with_trace(mut self, trace: TraceContext) -> Self {
        self.trace = Some(trace);
        self
    }

    /// The same with a header, in the place of one of the same name.
    ///
    /// ```
    /// # use volary_core::Baggage;
    /// let baggage = Baggage::new().with_header("user", "ada").unwrap();
    /// assert_eq!(baggage.header("user"), Some(&b"ada"[..]));
    /// ```
    ///
    /// # Errors
    /// If there are too many headers, or they are too large.
    pub fn with_header(mut self, name: impl Into<String>, value: impl AsRef<[u8]>) -> Result<Self, HeaderError> {
        self.headers.set(name, value)?;
        Ok(self)
    }

    /// The trace that this request is part of.
    ///
    /// ```
    /// assert_eq!(volary_core::Baggage::new().trace(), None);
    /// ```
    #[must_use]
    pub fn trace(&self) -> Option<TraceContext> {
        self.trace
    }

    /// A header by its name.
    ///
    /// ```
    /// assert_eq!(volary_core::Baggage::new().header("user"), None);
    /// ```
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        self.headers.get(name)
    }

    /// All headers.
    ///
    /// ```
    /// assert_eq!(volary_core::Baggage::new().headers().len(), 0);
    /// ```
    pub fn headers(&self) -> &Headers {
        &self.headers
    }

    /// Whether there is nothing in it.
    ///
    /// ```
    /// assert!(volary_core::Baggage::new().is_empty());
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.trace.is_none() && self.headers.is_empty()
    }
}

impl fmt::Debug for Baggage {
    /// Without the values of headers, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Baggage")
            .field("trace", &self.trace)
            .field("headers", &self.headers)
            .finish()
    }
}
