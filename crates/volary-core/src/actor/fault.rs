//! Faults and failures: how a handler ends badly, and how the two ways stay apart.
//!
//! A **fault** crashes the actor and goes to its supervisor, with its type and source kept. A
//! **rejection** is an answer. [`Failure`] is the error type of a handler that can do both; `?`
//! turns a rejection into one, [`OrFault::or_fault`] says "crash", and nothing else converts.

use std::any::Any;
use std::convert::Infallible;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use super::behaviour::Unhandled;
use super::message::Rejection;
use super::stash::Stashed;

/// What made an actor crash: an error it gave up on, or a panic.
///
/// ```
/// use volary_core::{Fault, OrFault};
///
/// fn parse(text: &str) -> Result<u32, Fault> {
///     text.parse::<u32>().or_fault()
/// }
/// let fault = parse("seven").unwrap_err();
/// assert!(fault.is::<std::num::ParseIntError>());
/// assert!(!fault.is_panic());
/// ```
#[derive(Clone)]
pub struct Fault(Arc<Cause>);

enum Cause {
    Error(Box<dyn Error + Send + Sync>),
    Message(String),
    Panic(String),
}

impl Fault {
    /// A fault from an error, keeping its type and its sources.
    ///
    /// ```
    /// use volary_core::Fault;
    /// let fault = Fault::new(std::fmt::Error);
    /// assert!(fault.is::<std::fmt::Error>());
    /// ```
    pub fn new(error: impl Error + Send + Sync + 'static) -> Self {
        Fault(Arc::new(Cause::Error(Box::new(error))))
    }

    /// A fault from a plain sentence, for when there is no error value to keep.
    ///
    /// ```
    /// use volary_core::Fault;
    /// assert_eq!(Fault::msg("ledger is gone").to_string(), "ledger is gone");
    /// ```
    pub fn msg(text: impl Into<String>) -> Self {
        Fault(Arc::new(Cause::Message(text.into())))
    }

    /// A fault from an error in a box, or from what can be put into one: `anyhow::Error`, a text.
    ///
    /// ```
    /// use volary_core::Fault;
    /// let error: Box<dyn std::error::Error + Send + Sync> = Box::new(std::fmt::Error);
    /// assert!(Fault::boxed(error).is::<std::fmt::Error>());
    /// ```
    pub fn boxed(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Fault(Arc::new(Cause::Error(error.into())))
    }

    pub(crate) fn from_panic(payload: &(dyn Any + Send)) -> Self {
        let text = payload
            .downcast_ref::<&'static str>()
            .map(|s| (*s).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "a panic with a payload that is not text".to_owned());
        Fault(Arc::new(Cause::Panic(text)))
    }

    /// Whether the actor panicked, as opposed to returning an error. The two are never confused.
    ///
    /// ```
    /// assert!(!volary_core::Fault::msg("no").is_panic());
    /// ```
    #[must_use]
    pub fn is_panic(&self) -> bool {
        matches!(*self.0, Cause::Panic(_)) || self.find::<Fault>().is_some_and(Fault::is_panic)
    }

    /// Whether the fault, or anything in its source chain, is an `E`.
    ///
    /// ```
    /// let fault = volary_core::Fault::new(std::fmt::Error);
    /// assert!(fault.is::<std::fmt::Error>());
    /// assert!(!fault.is::<std::io::Error>());
    /// ```
    #[must_use]
    pub fn is<E: Error + 'static>(&self) -> bool {
        self.find::<E>().is_some()
    }

    /// The first `E` in the source chain.
    ///
    /// ```
    /// let fault = volary_core::Fault::new("x".parse::<u8>().unwrap_err());
    /// assert!(fault.find::<std::num::ParseIntError>().is_some());
    /// ```
    #[must_use]
    pub fn find<E: Error + 'static>(&self) -> Option<&E> {
        let Cause::Error(error) = &*self.0 else { return None };
        let mut link: Option<&(dyn Error + 'static)> = Some(&**error);
        while let Some(error) = link {
            if let Some(found) = error.downcast_ref::<E>() {
                return Some(found);
            }
            link = error.source();
        }
        None
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Cause::Error(error) => {
                write!(f, "{error}")?;
                let mut source = error.source();
                while let Some(cause) = source {
                    write!(f, ": {cause}")?;
                    if cause.is::<Fault>() {
                        return Ok(()); // it names its own sources
                    }
                    source = cause.source();
                }
                Ok(())
            }
            Cause::Message(text) => f.write_str(text),
            Cause::Panic(text) => write!(f, "panicked: {text}"),
        }
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Cause::Error(error) => f.debug_tuple("Fault").field(error).finish(),
            Cause::Message(text) => f.debug_tuple("Fault").field(text).finish(),
            Cause::Panic(text) => f.debug_tuple("Fault::Panic").field(text).finish(),
        }
    }
}

impl Error for Fault {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &*self.0 {
            Cause::Error(error) => Some(&**error),
            Cause::Message(_) | Cause::Panic(_) => None,
        }
    }
}

/// The error of a handler: a rejection for the asker, or a fault for the supervisor.
///
/// ```
/// use volary_core::{Failure, Fault, OrFault, Rejection};
///
/// #[derive(Debug)]
/// struct TooYoung;
/// impl Rejection for TooYoung {}
///
/// fn admit(age: &str) -> Result<u8, Failure<TooYoung>> {
///     let age: u8 = age.parse().or_fault()?;   // unreadable: crash
///     if age < 18 { return Err(TooYoung.into()) } // readable, and no: an answer
///     Ok(age)
/// }
/// assert!(matches!(admit("12"), Err(Failure::Rejected(TooYoung))));
/// assert!(matches!(admit("??"), Err(Failure::Fault(_))));
/// ```
#[derive(Debug)]
pub enum Failure<R = Infallible> {
    /// An answer: goes to the asker, never to the supervisor.
    Rejected(R),
    /// A crash: goes to the supervisor; the asker hears that it happened.
    Fault(Fault),
    /// Neither: the message was [put aside](crate::Context::stash), and its asker waits.
    Stashed(Stashed),
    /// Neither: the actor [does not handle](crate::Context::unhandled) the message as it is now.
    Unhandled(Unhandled),
}

impl<R: Rejection> From<R> for Failure<R> {
    fn from(rejection: R) -> Self {
        Failure::Rejected(rejection)
    }
}

impl<R> From<Fault> for Failure<R> {
    fn from(fault: Fault) -> Self {
        Failure::Fault(fault)
    }
}

/// Says "let it crash" about a result: `ledger.append(entry).await.or_fault()?`.
///
/// The error may be any that implements `std::error::Error`, or becomes a box of one: `Box<dyn Error + Send + Sync>`, `anyhow::Error`. The
/// fault knows the type of what is in a box; `anyhow` puts its errors into one that says what they say and has their sources, but
/// not their outermost type, so that a directive for that type does not see it.
///
/// ```
/// use volary_core::OrFault;
/// let crash = "x".parse::<i32>().or_fault();
/// assert!(crash.is_err());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be made a fault",
    label = "not a `Result` whose error can be put into a box of errors",
    note = "the error must be `Send + Sync + 'static`, and implement `std::error::Error` or become a `Box<dyn Error + Send + Sync>`",
    note = "of an error that is neither, tell what there is to know: `.map_err(|error| Fault::msg(error.to_string()))`"
)]
pub trait OrFault<T> {
    /// Turns the error into a [`Fault`], keeping it as the source.
    ///
    /// ```
    /// use volary_core::OrFault;
    /// assert_eq!("7".parse::<i32>().or_fault().unwrap(), 7);
    /// ```
    ///
    /// # Errors
    /// The fault, when `self` was an error.
    fn or_fault(self) -> Result<T, Fault>;
}

impl<T, E: Into<Box<dyn Error + Send + Sync>>> OrFault<T> for Result<T, E> {
    #[inline]
    fn or_fault(self) -> Result<T, Fault> {
        self.map_err(Fault::boxed)
    }
}

/// What may stand in the error place of a method under `#[actor]`: a [`Fault`], a [`Failure`], or a
/// rejection on its own.
///
/// `#[derive(Rejection)]` implements it; nobody calls it by hand.
///
/// ```
/// use volary_core::{Failure, Fault, IntoFailure};
///
/// fn crashes<E: IntoFailure>(error: E) -> bool {
///     matches!(error.into_failure(), Failure::Fault(_))
/// }
/// assert!(crashes(Fault::msg("the disk is gone")));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a message handler",
    label = "neither a rejection nor a fault",
    note = "to answer the asker with it, add `#[derive(Rejection)]` to the type",
    note = "to crash the actor with it, return `Result<_, Fault>` and write `.or_fault()?`",
    note = "to do both, return `Result<_, Failure<YourRejection>>`"
)]
pub trait IntoFailure {
    /// The rejection that this error can carry.
    type Rejection: Rejection;
    /// Splits the error into its two meanings.
    ///
    /// ```
    /// use volary_core::{Failure, Fault, IntoFailure};
    /// assert!(matches!(Fault::msg("x").into_failure(), Failure::Fault(_)));
    /// ```
    fn into_failure(self) -> Failure<Self::Rejection>;
}

impl IntoFailure for Fault {
    type Rejection = Infallible;
    fn into_failure(self) -> Failure<Infallible> {
        Failure::Fault(self)
    }
}

impl<R: Rejection> IntoFailure for Failure<R> {
    type Rejection = R;
    fn into_failure(self) -> Failure<R> {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("outer")]
    struct Outer(#[source] std::fmt::Error);

    #[test]
    fn fault_matches_by_type_through_the_source_chain() {
        let fault = Fault::new(Outer(std::fmt::Error));
        assert!(fault.is::<Outer>());
        assert!(fault.is::<std::fmt::Error>());
        assert!(!fault.is::<std::io::Error>());
        assert!(fault.to_string().starts_with("outer: "));
    }

    /// No error, but something that becomes a box of one.
    struct Report(std::fmt::Error);
    impl From<Report> for Box<dyn Error + Send + Sync> {
        fn from(report: Report) -> Self {
            Box::new(report.0)
        }
    }

    #[test]
    fn whatever_becomes_a_box_of_an_error_can_be_a_fault() {
        let boxed: Result<(), Box<dyn Error + Send + Sync>> = Err(Box::new(Outer(std::fmt::Error)));
        assert!(boxed.or_fault().is_err_and(|fault| fault.is::<std::fmt::Error>()));
        let report: Result<(), Report> = Err(Report(std::fmt::Error));
        assert!(report.or_fault().is_err_and(|fault| fault.is::<std::fmt::Error>()));
        let text: Result<(), &str> = Err("the disk is gone");
        assert!(
            text.or_fault()
                .is_err_and(|fault| fault.to_string() == "the disk is gone")
        );
    }

    #[test]
    fn panic_text_is_kept() {
        let owned: Box<dyn Any + Send> = Box::new("boom".to_owned());
        assert_eq!(Fault::from_panic(&*owned).to_string(), "panicked: boom");
        let odd: Box<dyn Any + Send> = Box::new(7_u8);
        assert!(Fault::from_panic(&*odd).is_panic());
    }
}
