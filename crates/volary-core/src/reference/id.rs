//! The identity of one incarnation of one actor.

use std::fmt;
use std::num::NonZeroU64;

use crate::tree::Uid;

/// Identifies one incarnation of an actor within its system; it is never used again.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let id: ActorId = alice.id();
/// assert_eq!(system.path_of(id), Some(alice.path()));
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActorId(NonZeroU64);

impl ActorId {
    pub(crate) fn from_raw(id: u64) -> Option<Self> {
        NonZeroU64::new(id).map(ActorId)
    }

    /// Ids from the directory have a generation of at least one, so they are never zero.
    pub(crate) fn of(id: u64) -> Self {
        ActorId(NonZeroU64::new(id).unwrap_or(NonZeroU64::MIN))
    }

    pub(crate) fn raw(self) -> u64 {
        self.0.get()
    }

    /// The id as it stands in an address behind `#`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert_eq!(alice.address().uid(), Some(alice.id().uid()));
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn uid(self) -> Uid {
        Uid::new(self.0.get())
    }
}

impl fmt::Display for ActorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:x}", self.0)
    }
}

impl fmt::Debug for ActorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
