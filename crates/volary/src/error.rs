//! One error for programs that only want to pass errors on.

use std::fmt;

/// Any error of this crate, and any of yours: what `?` turns them into in `main`.
///
/// ```
/// fn parse(text: &str) -> volary::Result<u32> {
///     Ok(text.parse::<u32>()?)
/// }
/// assert!(parse("seven").is_err());
/// ```
pub struct Error(Box<dyn std::error::Error + Send + Sync>);

/// A result with this crate's [`Error`].
///
/// ```
/// fn fine() -> volary::Result<()> { Ok(()) }
/// # fine().unwrap();
/// ```
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The error inside, if it is an `E`.
    ///
    /// ```
    /// let error = volary::Error::from("x".parse::<u32>().unwrap_err());
    /// assert!(error.downcast_ref::<std::num::ParseIntError>().is_some());
    /// ```
    #[must_use]
    pub fn downcast_ref<E: std::error::Error + 'static>(&self) -> Option<&E> {
        self.0.downcast_ref()
    }
}

impl<E: std::error::Error + Send + Sync + 'static> From<E> for Error {
    fn from(error: E) -> Self {
        Error(Box::new(error))
    }
}

impl From<Error> for Box<dyn std::error::Error + Send + Sync> {
    fn from(error: Error) -> Self {
        error.0
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What `main` prints when it returns an error: the sentence, then its causes.
        fmt::Display::fmt(&self.0, f)?;
        let mut source = self.0.source();
        while let Some(cause) = source {
            write!(f, "\n  because: {cause}")?;
            source = cause.source();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_shown_as_a_sentence_and_its_causes() {
        #[derive(Debug)]
        struct Late(std::num::ParseIntError);
        impl fmt::Display for Late {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("no time was given")
            }
        }
        impl std::error::Error for Late {
            fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
                Some(&self.0)
            }
        }
        let cause = "noon".parse::<u32>().expect_err("not a number");
        let error = Error::from(Late(cause));
        assert_eq!(error.to_string(), "no time was given");
        assert_eq!(
            format!("{error:?}"),
            "no time was given\n  because: invalid digit found in string"
        );
    }
}
