//! How an actor that waits for an answer treats other messages.

use std::fmt;

use crate::reference::SpawnError;

/// How many requests may be in flight unless said otherwise.
const IN_FLIGHT: usize = 1_024;
const MOST: usize = 1 << 24;

/// What an actor does while answers to its [requests](crate::Context::request) are due.
///
/// ```
/// use volary_core::{Props, Reentrancy};
///
/// let props = Props::new().reentrancy(Reentrancy::all().at_most(64));
/// # let _ = props;
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct Reentrancy {
    pub(crate) mode: Mode,
    pub(crate) in_flight: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Off,
    All,
    HoldOthers,
}

impl Reentrancy {
    /// Other messages are handled between a request and its answer, as they come. The default.
    ///
    /// ```
    /// assert!(!volary_core::Reentrancy::all().holds_others());
    /// ```
    pub const fn all() -> Self {
        Reentrancy {
            mode: Mode::All,
            in_flight: IN_FLIGHT,
        }
    }

    /// Other messages wait in the mailbox until all answers have come; only continuations run. State that was looked
    /// at before the request is the same after it.
    ///
    /// ```
    /// assert!(volary_core::Reentrancy::hold_others().holds_others());
    /// ```
    pub const fn hold_others() -> Self {
        Reentrancy {
            mode: Mode::HoldOthers,
            in_flight: IN_FLIGHT,
        }
    }

    /// Requests are refused: whoever wants an answer awaits it in the handler.
    ///
    /// ```
    /// assert!(volary_core::Reentrancy::off().is_off());
    /// ```
    pub const fn off() -> Self {
        Reentrancy {
            mode: Mode::Off,
            in_flight: 0,
        }
    }

    /// How many requests may be in flight at a time; 1,024 unless said otherwise. One more is refused.
    ///
    /// ```
    /// assert_eq!(volary_core::Reentrancy::all().at_most(8).most(), 8);
    /// ```
    pub const fn at_most(mut self, requests: usize) -> Self {
        self.in_flight = requests;
        self
    }

    /// Whether the actor can make no requests.
    ///
    /// ```
    /// # use volary_core::Reentrancy;
    /// assert!(Reentrancy::off().is_off());
    /// assert!(Reentrancy::hold_others().holds_others());
    /// assert_eq!(Reentrancy::all().at_most(7).most(), 7);
    /// ```
    #[must_use]
    pub const fn is_off(&self) -> bool {
        matches!(self.mode, Mode::Off)
    }

    /// Whether other messages wait while answers are due; see [`is_off`](Reentrancy::is_off).
    ///
    /// ```
    /// assert!(volary_core::Reentrancy::hold_others().holds_others());
    /// ```
    #[must_use]
    pub const fn holds_others(&self) -> bool {
        matches!(self.mode, Mode::HoldOthers)
    }

    /// How many requests may be in flight; see [`is_off`](Reentrancy::is_off).
    ///
    /// ```
    /// assert_eq!(volary_core::Reentrancy::all().most(), 1_024);
    /// ```
    #[must_use]
    pub const fn most(&self) -> usize {
        self.in_flight
    }

    pub(crate) fn validate(&self) -> Result<(), SpawnError> {
        if self.mode == Mode::Off || (1..=MOST).contains(&self.in_flight) {
            return Ok(());
        }
        Err(SpawnError::Option {
            option: "reentrancy at_most",
            value: self.in_flight.to_string(),
            allowed: "1 to 16,777,216 requests",
        })
    }
}

impl Default for Reentrancy {
    fn default() -> Self {
        Reentrancy::all()
    }
}

/// Why a request was not made; the message comes back.
///
/// ```
/// use volary_core::RequestError;
/// let error = RequestError::TooMany { limit: 8, message: () };
/// assert_eq!(error.to_string(), "8 requests are in flight, which is all that the actor may have");
/// assert_eq!(error.into_message(), ());
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestError<M> {
    /// The actor was started with [`Reentrancy::off`].
    Off(M),
    /// As many answers are due as may be.
    TooMany {
        /// How many.
        limit: usize,
        /// The message.
        message: M,
    },
}

impl<M> RequestError<M> {
    /// The message that was not sent.
    ///
    /// ```
    /// assert_eq!(volary_core::RequestError::Off(7).into_message(), 7);
    /// ```
    pub fn into_message(self) -> M {
        match self {
            RequestError::Off(message) | RequestError::TooMany { message, .. } => message,
        }
    }
}

impl<M> fmt::Debug for RequestError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RequestError::Off(_) => f.write_str("Off"),
            RequestError::TooMany { limit, .. } => write!(f, "TooMany({limit})"),
        }
    }
}

impl<M> fmt::Display for RequestError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RequestError::Off(_) => f.write_str("the actor was started with `Reentrancy::off`"),
            RequestError::TooMany { limit, .. } => {
                write!(
                    f,
                    "{limit} requests are in flight, which is all that the actor may have"
                )
            }
        }
    }
}

impl<M> std::error::Error for RequestError<M> {}

impl<M> From<RequestError<M>> for crate::Fault {
    fn from(error: RequestError<M>) -> Self {
        crate::Fault::msg(error.to_string())
    }
}
