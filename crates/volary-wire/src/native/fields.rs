//! Texts and names as they stand in frames.

use std::fmt;
use std::ops::Deref;

use bytes::Bytes;

/// Text that shares the buffer it arrived in.
///
/// ```
/// use volary_wire::native::Text;
/// let text = Text::from("bank.v1.Deposit");
/// assert!(text.starts_with("bank."));
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Text(Bytes);

impl Text {
    /// The text in these bytes, if it is UTF-8.
    pub(crate) fn checked(bytes: Bytes) -> Option<Self> {
        std::str::from_utf8(&bytes).ok()?;
        Some(Text(bytes))
    }

    /// The text itself.
    ///
    /// ```
    /// # use volary_wire::native::Text;
    /// assert_eq!(Text::from("a").as_str(), "a");
    /// ```
    #[must_use]
    pub fn as_str(&self) -> &str {
        // Checked once more rather than trusted: this crate has no `unsafe`.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl Deref for Text {
    type Target = str;
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Text(Bytes::copy_from_slice(text.as_bytes()))
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Text(text.into())
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

/// A name in a frame that was read: in full, or the id of one that the peer has interned.
///
/// ```
/// use volary_wire::native::Name;
/// assert_ne!(Name::Id(1), Name::from("/user/alice"));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Name {
    /// Interned before; see [`InternTable`](super::InternTable).
    Id(u32),
    /// In full.
    Text(Text),
}

impl Name {
    /// The same, borrowed, for writing.
    ///
    /// ```
    /// # use volary_wire::native::{Name, NameRef};
    /// assert_eq!(Name::Id(1).borrowed(), NameRef::Id(1));
    /// ```
    #[must_use]
    pub fn borrowed(&self) -> NameRef<'_> {
        match self {
            Name::Id(id) => NameRef::Id(*id),
            Name::Text(text) => NameRef::Text(text),
        }
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Self {
        Name::Text(text.into())
    }
}

/// A name to be written: in full, or the id that [`Interner`](super::Interner) gave it.
///
/// ```
/// use volary_wire::native::NameRef;
/// let receiver = NameRef::Text("volary://bank/user/alice");
/// # assert_ne!(receiver, NameRef::Id(1));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NameRef<'a> {
    /// Interned. Never 0.
    Id(u32),
    /// In full.
    Text(&'a str),
}
