//! The place of an actor below its system.
//!
//! ```text
//! /                 the root guardian
//! ├── /user         guardian of what the application spawns     /user/bank/alice
//! └── /system       guardian of what the runtime spawns         /system/volary-registry
//! ```
//! A path is one shared text; cloning it copies a pointer.

use std::{
    cmp::Ordering,
    fmt,
    str::FromStr,
    sync::{Arc, LazyLock},
};

use thiserror::Error;

use super::name::{NameError, validate_segment};

/// The longest path, in bytes. An address made of any path stays below
/// [`Address::MAX_BYTES`](super::Address::MAX_BYTES).
///
/// ```
/// use volary_core::tree::{MAX_PATH_BYTES, Path};
///
/// let deep = format!("/user{}", "/a".repeat(MAX_PATH_BYTES));
/// assert!(deep.parse::<Path>().is_err());
/// ```
pub const MAX_PATH_BYTES: usize = 7 * 1024;

const GUARDIANS: [&str; 2] = ["user", "system"];

static ROOT: LazyLock<Arc<str>> = LazyLock::new(|| "/".into());
static USER: LazyLock<Arc<str>> = LazyLock::new(|| "/user".into());
static SYSTEM: LazyLock<Arc<str>> = LazyLock::new(|| "/system".into());

/// The way from the root of a system to an actor, e.g. `/user/bank/alice`.
///
/// Paths are ordered segment by segment, so a parent comes right before all of its descendants.
///
/// ```
/// use volary_core::tree::Path;
///
/// let alice = Path::user().child("bank")?.child("alice")?;
/// assert_eq!(alice.to_string(), "/user/bank/alice");
/// assert_eq!(alice, "/user/bank/alice".parse()?);
/// assert_eq!(alice.name(), "alice");
/// assert!(Path::user().is_ancestor_of(&alice));
/// # Ok::<(), volary_core::tree::PathError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Path(Arc<str>);

impl Path {
    /// `/`, the guardian of guardians.
    ///
    /// ```
    /// # use volary_core::tree::Path;
    /// assert_eq!(Path::root().to_string(), "/");
    /// assert!(Path::root().parent().is_none());
    /// ```
    #[must_use]
    pub fn root() -> Self {
        Self(Arc::clone(&ROOT))
    }

    /// `/user`, below which the application's actors live.
    ///
    /// ```
    /// # use volary_core::tree::Path;
    /// assert_eq!(Path::user().parent(), Some(Path::root()));
    /// ```
    #[must_use]
    pub fn user() -> Self {
        Self(Arc::clone(&USER))
    }

    /// `/system`, below which the runtime's actors live.
    ///
    /// ```
    /// # use volary_core::tree::Path;
    /// assert_eq!(Path::system().name(), "system");
    /// ```
    #[must_use]
    pub fn system() -> Self {
        Self(Arc::clone(&SYSTEM))
    }

    /// The path of a child.
    ///
    /// Names of the runtime's own are accepted here. Check what a user chose with
    /// [`validate_name`](super::validate_name) first.
    ///
    /// ```
    /// # use volary_core::tree::Path;
    /// assert_eq!(Path::user().child("$2f")?.to_string(), "/user/$2f");
    /// assert!(Path::user().child("a/b").is_err());
    /// assert!(Path::root().child("bank").is_err());
    /// # Ok::<(), volary_core::tree::PathError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the name breaks the grammar, the path gets too long, or the root would get a child that is no guardian.
    pub fn child(&self, name: &str) -> Result<Self, PathError> {
        let position = if self.is_root() { 1 } else { self.0.len() + 1 };
        let length = position + name.len();
        if length > MAX_PATH_BYTES {
            return Err(PathError::TooLong { length });
        }
        validate_segment(name).map_err(|source| PathError::Segment {
            position: position + source.position(),
            source,
        })?;
        if self.is_root() {
            return guardian(name).ok_or(PathError::Guardian { position });
        }
        Ok(Self(format!("{self}/{name}").into()))
    }

    /// The path one step up; none for the root.
    ///
    /// ```
    /// # use volary_core::tree::Path;
    /// let alice: Path = "/user/alice".parse()?;
    /// assert_eq!(alice.parent(), Some(Path::user()));
    /// # Ok::<(), volary_core::tree::PathError>(())
    /// ```
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        let (above, last) = self.0.rsplit_once('/')?;
        if last.is_empty() {
            return None;
        }
        let first = above.strip_prefix('/').unwrap_or_default();
        Some(match first {
            "" => Self::root(),
            _ => guardian(first).unwrap_or_else(|| Self(above.into())),
        })
    }

    /// The last segment; empty for the root.
    ///
    /// ```
    /// # use volary_core::tree::Path;
    /// assert_eq!(Path::user().name(), "user");
    /// assert_eq!(Path::root().name(), "");
    /// ```
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }

    /// The segments from the root down.
    ///
    /// ```
    /// # use volary_core::tree::Path;
    /// let alice: Path = "/user/bank/alice".parse()?;
    /// assert_eq!(alice.segments().collect::<Vec<_>>(), ["user", "bank", "alice"]);
    /// assert_eq!(Path::root().segments().count(), 0);
    /// # Ok::<(), volary_core::tree::PathError>(())
    /// ```
    #[must_use]
    pub fn segments(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/').filter(|segment| !segment.is_empty())
    }

    /// Whether `other` lies below this path. No path is its own ancestor.
    ///
    /// ```
    /// # use volary_core::tree::Path;
    /// let bank: Path = "/user/bank".parse()?;
    /// assert!(bank.is_ancestor_of(&bank.child("alice")?));
    /// assert!(!bank.is_ancestor_of(&"/user/bank-eu".parse()?));
    /// assert!(!bank.is_ancestor_of(&bank));
    /// # Ok::<(), volary_core::tree::PathError>(())
    /// ```
    #[must_use]
    pub fn is_ancestor_of(&self, other: &Self) -> bool {
        if self.is_root() {
            return !other.is_root();
        }
        other.0.strip_prefix(&*self.0).is_some_and(|rest| rest.starts_with('/'))
    }

    /// Whether this is `/`.
    ///
    /// ```
    /// # use volary_core::tree::Path;
    /// assert!(Path::root().is_root());
    /// assert!(!Path::user().is_root());
    /// ```
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.len() == 1
    }

    /// The path as text.
    ///
    /// ```
    /// # use volary_core::tree::Path;
    /// assert_eq!(Path::user().as_str(), "/user");
    /// ```
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn guardian(name: &str) -> Option<Path> {
    match name {
        "user" => Some(Path::user()),
        "system" => Some(Path::system()),
        _ => None,
    }
}

impl FromStr for Path {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        if text.len() > MAX_PATH_BYTES {
            return Err(PathError::TooLong { length: text.len() });
        }
        let below = text.strip_prefix('/').ok_or(PathError::NotAbsolute)?;
        if below.is_empty() {
            return Ok(Self::root());
        }
        let mut position = 1;
        for segment in below.split('/') {
            validate_segment(segment).map_err(|source| PathError::Segment {
                position: position + source.position(),
                source,
            })?;
            if position == 1 && !GUARDIANS.contains(&segment) {
                return Err(PathError::Guardian { position });
            }
            position += segment.len() + 1;
        }
        Ok(guardian(below).unwrap_or_else(|| Self(text.into())))
    }
}

impl Ord for Path {
    fn cmp(&self, other: &Self) -> Ordering {
        // A slash counts as the smallest byte: plain text order would put `/user/a-b` between `/user/a` and `/user/a/b`.
        let rank = |byte: u8| if byte == b'/' { 0 } else { byte };
        self.0.bytes().map(rank).cmp(other.0.bytes().map(rank))
    }
}

impl PartialOrd for Path {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Path({self})")
    }
}

/// Why a text is no path. Positions are bytes from the start of the path, for [`Path::child`] of the path to be made.
///
/// ```
/// use volary_core::tree::{Path, PathError};
///
/// assert_eq!("user/a".parse::<Path>(), Err(PathError::NotAbsolute));
/// assert_eq!("/cluster/a".parse::<Path>(), Err(PathError::Guardian { position: 1 }));
/// assert_eq!(
///     "/user//a".parse::<Path>().unwrap_err().to_string(),
///     "invalid path at byte 6: a name needs at least one character",
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PathError {
    /// Begin the path with `/user` or `/system`.
    #[error("invalid path at byte 0: {}", self.reason())]
    NotAbsolute,
    /// Put the actor below `/user` (or `/system`, when it belongs to the runtime).
    #[error("invalid path at byte {position}: {}", self.reason())]
    Guardian {
        /// Where the first segment begins.
        position: usize,
    },
    /// Choose another name for this segment.
    #[error("invalid path at byte {position}: {}", source.reason())]
    Segment {
        /// Where the mistake is.
        position: usize,
        /// What is wrong with the name; its own positions count from the start of the segment.
        source: NameError,
    },
    /// Use shorter names or fewer levels.
    #[error("path is {length} bytes long; at most {MAX_PATH_BYTES} are allowed")]
    TooLong {
        /// How long the path is, in bytes.
        length: usize,
    },
}

impl PathError {
    /// Where the mistake is, in bytes.
    ///
    /// ```
    /// # use volary_core::tree::Path;
    /// assert_eq!("/user/a b".parse::<Path>().unwrap_err().position(), 7);
    /// ```
    #[must_use]
    pub fn position(&self) -> usize {
        match self {
            Self::NotAbsolute => 0,
            Self::Guardian { position } | Self::Segment { position, .. } => *position,
            Self::TooLong { .. } => MAX_PATH_BYTES,
        }
    }

    /// The message without the position, for errors that give a position of their own.
    pub(super) fn reason(&self) -> String {
        match self {
            Self::NotAbsolute => "expected '/'".to_owned(),
            Self::Guardian { .. } => "expected \"user\" or \"system\", the only children of the root".to_owned(),
            Self::Segment { source, .. } => source.reason(),
            Self::TooLong { .. } => self.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Path {
        text.parse().expect("a path written in a test is valid")
    }

    #[test]
    fn trailing_and_double_slashes_are_refused() {
        for text in [
            "",
            "/user/",
            "//",
            "/user//a",
            "/user/a/",
            "user",
            "/users",
            "/volary-x",
        ] {
            assert!(text.parse::<Path>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_parent_stands_right_before_its_descendants() {
        let mut paths = [
            "/user/a-b",
            "/user/a/b",
            "/user/a",
            "/user/a.b",
            "/user/a/$1",
            "/user",
            "/",
            "/system",
        ]
        .map(path);
        paths.sort();
        let sorted: Vec<_> = paths.iter().map(Path::as_str).collect();
        assert_eq!(
            sorted,
            [
                "/",
                "/system",
                "/user",
                "/user/a",
                "/user/a/$1",
                "/user/a/b",
                "/user/a-b",
                "/user/a.b"
            ]
        );
    }

    #[test]
    fn guardians_share_their_text() {
        assert!(Arc::ptr_eq(&path("/user").0, &Path::user().0));
        assert!(Arc::ptr_eq(
            &path("/user/a").parent().expect("has a parent").0,
            &Path::user().0
        ));
    }

    #[test]
    fn child_and_parse_agree_on_positions() {
        let built = Path::user().child("a b").expect_err("a space is refused");
        let parsed = "/user/a b".parse::<Path>().expect_err("a space is refused");
        assert_eq!(built, parsed);
        assert!(matches!(
            path(&format!("/user{}", "/a".repeat(3000))).child(&"b".repeat(MAX_PATH_BYTES)),
            Err(PathError::TooLong { .. })
        ));
    }
}
