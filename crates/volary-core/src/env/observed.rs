//! What a simulation gets to see of its actors.

use std::fmt;

use crate::actor::Fault;
use crate::events::DeadReason;
use crate::reference::ActorId;
use crate::tree::Path;

/// Something that happens to an actor; see [`Env::observe`](crate::Env::observe).
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/observed.rs"));
/// # fn main() { observed(|observed| {
/// if let What::Started = observed.what() {
///     println!("{} is there", observed.path());
/// }
/// # }) }
/// ```
pub struct Observed<'a> {
    pub(crate) actor: ActorId,
    pub(crate) path: &'a dyn Fn() -> Path,
    pub(crate) what: What<'a>,
}

impl<'a> Observed<'a> {
    /// Whom it happens to.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/observed.rs"));
    /// # fn main() { observed(|observed| {
    /// println!("{} is there", observed.actor());
    /// # assert!(!observed.actor().to_string().is_empty());
    /// # }) }
    /// ```
    #[must_use]
    pub fn actor(&self) -> ActorId {
        self.actor
    }

    /// Where that actor lives. Worked out when it is asked for.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/observed.rs"));
    /// # fn main() { observed(|observed| {
    /// assert_eq!(observed.path().to_string(), "/user/alice");
    /// # }) }
    /// ```
    #[must_use]
    pub fn path(&self) -> Path {
        (self.path)()
    }

    /// What happens.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/observed.rs"));
    /// # fn main() { observed(|observed| {
    /// assert!(matches!(observed.what(), What::Started));
    /// # }) }
    /// ```
    #[must_use]
    pub fn what(&self) -> &What<'a> {
        &self.what
    }
}

impl fmt::Debug for Observed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.path(), self.what)
    }
}

/// What can be seen of an actor.
///
/// ```
/// # use volary_core::What;
/// assert_eq!(format!("{:?}", What::Started), "Started");
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum What<'a> {
    /// It is about to handle a message.
    Handles {
        /// The type of the message.
        message: &'static str,
        /// Who sent it; `None` from outside of any actor.
        sender: Option<ActorId>,
    },
    /// A suspended handler or hook goes on.
    Continues,
    /// It is ready for messages.
    Started,
    /// It was rebuilt from its factory.
    Restarted,
    /// It is held by supervision.
    Suspended,
    /// It was held, and goes on.
    Reinstated,
    /// It has let go of its state.
    Passivated,
    /// It was passivated, and starts for a message.
    Woken,
    /// It has ended.
    Stopped,
    /// It crashed, or a hook of it failed.
    Failed {
        /// With what.
        fault: &'a Fault,
    },
    /// A message to it was accepted and could not be delivered.
    DeadLetter {
        /// The type of the message.
        message: &'static str,
        /// Why.
        reason: DeadReason,
    },
}
