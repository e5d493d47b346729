//! What a node can do beyond the version of the dialect, and need not.
//!
//! ```text
//!   hello    what the caller can          welcome    what both can
//! ```
//!
//! They travel by name, so that a node of a later version can say more: a name that is not known here is passed over, and
//! what only one side can is not used. What every node of a version must understand is no capability.

use std::fmt;

use super::Text;

/// Something that a node can do, or not.
///
/// ```
/// use volary_wire::native::Capability;
///
/// assert_eq!(Capability::named("chunks"), Some(Capability::Chunks));
/// assert_eq!(Capability::named("of a later version"), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Capability {
    /// Puts frames together that come in [pieces](super::Chunk). Who cannot is sent whole ones, and none that is longer
    /// than a frame may be.
    Chunks,
}

impl Capability {
    /// All that are known here.
    ///
    /// ```
    /// # use volary_wire::native::Capability;
    /// assert!(Capability::ALL.contains(&Capability::Chunks));
    /// ```
    pub const ALL: [Capability; 1] = [Capability::Chunks];

    /// What it is called on the wire.
    ///
    /// ```
    /// # use volary_wire::native::Capability;
    /// assert_eq!(Capability::Chunks.name(), "chunks");
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Capability::Chunks => "chunks",
        }
    }

    /// The one of this name, if it is known here.
    ///
    /// ```
    /// # use volary_wire::native::Capability;
    /// assert!(Capability::ALL.iter().all(|one| Capability::named(one.name()) == Some(*one)));
    /// ```
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Capability::ALL.into_iter().find(|one| one.name() == name)
    }

    const fn bit(self) -> u64 {
        1 << self as u32
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Some of the capabilities that are known here.
///
/// ```
/// use volary_wire::native::{Capabilities, Capability, Text};
///
/// // What a peer says may be of a later version.
/// let theirs = Capabilities::of(&[Text::from("chunks"), Text::from("telepathy")]);
/// let both = theirs & Capabilities::all();
/// assert!(both.contains(Capability::Chunks));
/// assert_eq!(both.to_string(), "chunks");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Capabilities(u64);

impl Capabilities {
    /// None of them.
    ///
    /// ```
    /// # use volary_wire::native::{Capabilities, Capability};
    /// assert!(!Capabilities::none().contains(Capability::Chunks));
    /// ```
    #[must_use]
    pub const fn none() -> Self {
        Capabilities(0)
    }

    /// All that are known here.
    ///
    /// ```
    /// # use volary_wire::native::{Capabilities, Capability};
    /// assert!(Capabilities::all().contains(Capability::Chunks));
    /// ```
    #[must_use]
    pub fn all() -> Self {
        Capability::ALL.into_iter().collect()
    }

    /// Those that a handshake names; names that are not known here are passed over.
    ///
    /// ```
    /// # use volary_wire::native::{Capabilities, Text};
    /// assert_eq!(Capabilities::of(&[Text::from("telepathy")]), Capabilities::none());
    /// ```
    #[must_use]
    pub fn of(names: &[Text]) -> Self {
        names
            .iter()
            .filter_map(|name| Capability::named(name.as_str()))
            .collect()
    }

    /// Whether this is one of them.
    ///
    /// ```
    /// # use volary_wire::native::{Capabilities, Capability};
    /// assert!(Capabilities::all().contains(Capability::Chunks));
    /// ```
    #[must_use]
    pub const fn contains(self, one: Capability) -> bool {
        self.0 & one.bit() != 0
    }

    /// One after the other.
    ///
    /// ```
    /// # use volary_wire::native::{Capabilities, Capability};
    /// assert_eq!(Capabilities::all().iter().count(), Capability::ALL.len());
    /// ```
    pub fn iter(self) -> impl Iterator<Item = Capability> {
        Capability::ALL.into_iter().filter(move |one| self.contains(*one))
    }

    /// As a handshake names them.
    ///
    /// ```
    /// # use volary_wire::native::Capabilities;
    /// assert_eq!(Capabilities::of(&Capabilities::all().names()), Capabilities::all());
    /// ```
    #[must_use]
    pub fn names(self) -> Vec<Text> {
        self.iter().map(|one| one.name().into()).collect()
    }
}

impl std::ops::BitAnd for Capabilities {
    type Output = Self;

    /// Those that both have.
    fn bitand(self, other: Self) -> Self {
        Capabilities(self.0 & other.0)
    }
}

impl FromIterator<Capability> for Capabilities {
    fn from_iter<I: IntoIterator<Item = Capability>>(some: I) -> Self {
        Capabilities(some.into_iter().fold(0, |bits, one| bits | one.bit()))
    }
}

impl fmt::Display for Capabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, one) in self.iter().enumerate() {
            write!(f, "{}{one}", if at == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl fmt::Debug for Capabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
