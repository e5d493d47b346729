//! What can be wrong with an address, and where.

use thiserror::Error;

use super::Address;
use crate::tree::{GrainIdError, KindError, NameError, NodeError, PathError};

/// Why something is no address. Positions are bytes from the start of the address, for the methods of [`Address`] of
/// the address to be made.
///
/// ```
/// use volary_core::tree::{Address, AddressError};
///
/// let refused = "volary://bank/user/al ice".parse::<Address>().unwrap_err();
/// assert_eq!(refused.position(), Some(21));
/// assert_eq!(
///     refused.to_string(),
///     "invalid address at byte 21: character ' ' is not allowed in a name; use letters, digits, '_', '.' or '-'",
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AddressError {
    /// Nothing of this length is an address; most likely the text is something else.
    #[error("address is {length} bytes long; at most {} are allowed", Address::MAX_BYTES)]
    TooLong {
        /// How long the text is, in bytes.
        length: usize,
    },
    /// Write what was expected.
    #[error("invalid address at byte {position}: expected {expected}")]
    Expected {
        /// Where it was expected.
        position: usize,
        /// What was expected.
        expected: &'static str,
    },
    /// Mend the name of the system or of the cluster actor.
    #[error("invalid address at byte {position}: {}", source.reason())]
    Name {
        /// Where the mistake is.
        position: usize,
        /// What is wrong with the name; its own positions count from the start of the name.
        source: NameError,
    },
    /// Mend the host or the port.
    #[error("invalid address at byte {position}: {}", source.reason())]
    Node {
        /// Where the mistake is.
        position: usize,
        /// What is wrong with the node; its own positions count from the start of the host.
        source: NodeError,
    },
    /// Mend the path.
    #[error("invalid address at byte {position}: {}", source.reason())]
    Path {
        /// Where the mistake is.
        position: usize,
        /// What is wrong with the path; its own positions count from its first slash.
        source: PathError,
    },
    /// Mend the kind.
    #[error("invalid address at byte {position}: {source}")]
    Kind {
        /// Where the mistake is.
        position: usize,
        /// What is wrong with the kind; its own positions count from the start of the kind.
        source: KindError,
    },
    /// Mend the grain id.
    #[error("invalid address at byte {position}: {source}")]
    GrainId {
        /// Where the mistake is.
        position: usize,
        /// What is wrong with the id; its own positions count from the start of the written id.
        source: GrainIdError,
    },
    /// Ask the cluster where it runs and use that address.
    #[error("a logical address has no node and no children; resolve it first")]
    Logical,
}

impl AddressError {
    /// Where the mistake is, in bytes; none when it is not in the text.
    ///
    /// ```
    /// # use volary_core::tree::Address;
    /// assert_eq!("http://bank/user".parse::<Address>().unwrap_err().position(), Some(0));
    /// ```
    #[must_use]
    pub fn position(&self) -> Option<usize> {
        match self {
            Self::TooLong { .. } => Some(Address::MAX_BYTES),
            Self::Expected { position, .. }
            | Self::Name { position, .. }
            | Self::Node { position, .. }
            | Self::Path { position, .. }
            | Self::Kind { position, .. }
            | Self::GrainId { position, .. } => Some(*position),
            Self::Logical => None,
        }
    }

    pub(super) fn node(start: usize, source: NodeError) -> Self {
        let position = start + source.position();
        Self::Node { position, source }
    }
}
