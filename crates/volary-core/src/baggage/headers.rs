//! Headers of a request: few and small, shared until somebody changes them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// How many headers a request may have.
///
/// ```
/// assert!(volary_core::MAX_HEADERS >= 32);
/// ```
pub const MAX_HEADERS: usize = 64;

/// How many bytes all names and values of a request may take together.
///
/// ```
/// assert!(volary_core::MAX_HEADER_BYTES >= 4096);
/// ```
pub const MAX_HEADER_BYTES: usize = 16 * 1024;

/// Why a header was not set. Nothing was changed.
///
/// ```
/// # use volary_core::{Baggage, HeaderError, MAX_HEADER_BYTES};
/// let error = Baggage::new().with_header("blob", vec![0; MAX_HEADER_BYTES]).unwrap_err();
/// assert!(matches!(error, HeaderError::TooLarge { .. }));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HeaderError {
    /// A header needs a name.
    #[error("a header needs a name")]
    NoName,
    /// Send larger things as part of the message.
    #[error("headers would take {bytes} bytes together, and at most {MAX_HEADER_BYTES} are allowed")]
    TooLarge {
        /// What they would take.
        bytes: usize,
    },
    /// Put several values into one header, or into the message.
    #[error("more than {MAX_HEADERS} headers are not allowed")]
    TooMany,
}

/// The headers of a request, by name; see [`Baggage`](crate::Baggage).
///
/// ```
/// # use volary_core::Headers;
/// let mut headers = Headers::default();
/// headers.set("tenant", "blue").unwrap();
/// assert_eq!(headers.get("tenant"), Some(&b"blue"[..]));
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Headers(Option<Arc<BTreeMap<String, Box<[u8]>>>>);

impl Headers {
    /// Sets a header, in the place of one of the same name.
    ///
    /// ```
    /// # use volary_core::Headers;
    /// let mut headers = Headers::default();
    /// headers.set("attempt", "1").unwrap();
    /// headers.set("attempt", "2").unwrap();
    /// assert_eq!(headers.len(), 1);
    /// ```
    ///
    /// # Errors
    /// If there are too many, or they are too large.
    pub fn set(&mut self, name: impl Into<String>, value: impl AsRef<[u8]>) -> Result<(), HeaderError> {
        let (name, value) = (name.into(), value.as_ref());
        if name.is_empty() {
            return Err(HeaderError::NoName);
        }
        let replaced = self.get(&name).map(|before| name.len() + before.len());
        let bytes = self.bytes() + name.len() + value.len() - replaced.unwrap_or(0);
        if bytes > MAX_HEADER_BYTES {
            return Err(HeaderError::TooLarge { bytes });
        }
        if replaced.is_none() && self.len() >= MAX_HEADERS {
            return Err(HeaderError::TooMany);
        }
        let map = Arc::make_mut(self.0.get_or_insert_default());
        map.insert(name, value.into());
        Ok(())
    }

    /// Takes a header out; false if there was none.
    ///
    /// ```
    /// assert!(!volary_core::Headers::default().remove("tenant"));
    /// ```
    pub fn remove(&mut self, name: &str) -> bool {
        if self.get(name).is_none() {
            return false;
        }
        let Some(map) = &mut self.0 else { return false };
        let map = Arc::make_mut(map);
        map.remove(name);
        if map.is_empty() {
            self.0 = None;
        }
        true
    }

    /// A header by its name.
    ///
    /// ```
    /// assert_eq!(volary_core::Headers::default().get("tenant"), None);
    /// ```
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.0.as_ref()?.get(name).map(|value| &**value)
    }

    /// All of them, by name.
    ///
    /// ```
    /// assert_eq!(volary_core::Headers::default().iter().count(), 0);
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0
            .iter()
            .flat_map(|map| map.iter())
            .map(|(name, value)| (name.as_str(), &**value))
    }

    /// How many there are.
    ///
    /// ```
    /// assert_eq!(volary_core::Headers::default().len(), 0);
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |map| map.len())
    }

    /// Whether there are none.
    ///
    /// ```
    /// assert!(volary_core::Headers::default().is_empty());
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    fn bytes(&self) -> usize {
        self.iter().map(|(name, value)| name.len() + value.len()).sum()
    }
}

impl fmt::Debug for Headers {
    /// Names only: values may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|(name, _)| name)).finish()
    }
}
