//! Why a pipe has no result to send.

use std::time::Duration;

use thiserror::Error;

use crate::actor::Fault;
use crate::breaker::{CallError, Open};

/// Why the future of a [pipe](crate::Context::pipe) brought nothing.
///
/// ```
/// use std::io::{Error, ErrorKind};
/// use volary_core::PipeError;
///
/// fn show(error: PipeError<Error>) -> String {
///     match error {
///         PipeError::Failed(error) => format!("it said {error}"),
///         PipeError::Timeout { after } => format!("nothing within {after:?}"),
///         PipeError::Refused(open) => format!("not even tried: {open}"),
///         other => other.to_string(),
///     }
/// }
/// assert_eq!(show(PipeError::Failed(ErrorKind::NotFound.into())), "it said entity not found");
/// ```
#[derive(Debug, Clone, Error)]
#[non_exhaustive]
pub enum PipeError<E> {
    /// The future ended with this error.
    #[error("{0}")]
    Failed(#[source] E),
    /// The future did not end in time, and was dropped.
    #[error("no answer within {after:?}")]
    Timeout {
        /// The time it was given.
        after: Duration,
    },
    /// The circuit breaker is open: the future was not polled. Do without it, or try again later.
    #[error("{0}")]
    Refused(#[source] Open),
    /// The future, or the fallback, panicked. It was reported as a failure of the actor already.
    #[error("{0}")]
    Panicked(#[source] Fault),
}

/// The call of a pipe has contained its panics already.
impl<E> From<CallError<PipeError<E>>> for PipeError<E> {
    fn from(error: CallError<PipeError<E>>) -> Self {
        match error {
            CallError::Failed(error) => error,
            CallError::Timeout { after } => PipeError::Timeout { after },
            CallError::Refused(open) => PipeError::Refused(open),
        }
    }
}
