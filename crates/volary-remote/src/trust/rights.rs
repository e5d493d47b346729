//! What a peer may do here.

use std::fmt;

/// Something that a peer may do here, or not.
///
/// ```
/// use volary_remote::{Right, Rights};
/// assert!(!Rights::none().tell().allows(Right::Control));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Right {
    /// Send messages to actors, and ask them.
    Tell,
    /// Hear of the end of actors.
    Watch,
    /// Look: lookup, kinds, parents, children, status, metrics.
    Inspect,
    /// Stop, drain, kill, restart, reinstate and passivate actors below `/user`.
    Control,
    /// Start actors of the kinds that are [spawnable](crate::RemoteBuilder::spawnable).
    Spawn,
    /// Say that messages are from actors of other nodes, and not only its own: for bridges. Without it, they arrive as from
    /// outside of any actor.
    Relay,
}

impl Right {
    const ALL: [Right; 6] = [
        Right::Tell,
        Right::Watch,
        Right::Inspect,
        Right::Control,
        Right::Spawn,
        Right::Relay,
    ];

    /// As another node says it; none if that knows rights which this one does not.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Right::ALL.into_iter().find(|right| right.name() == name)
    }

    const fn name(self) -> &'static str {
        match self {
            Right::Tell => "tell",
            Right::Watch => "watch",
            Right::Inspect => "inspect",
            Right::Control => "control",
            Right::Spawn => "spawn",
            Right::Relay => "relay",
        }
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

impl fmt::Display for Right {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a peer may do here; given per peer with [`RemoteBuilder::rights`](crate::RemoteBuilder::rights).
///
/// ```
/// use volary_remote::{Right, Rights};
/// let guest = Rights::none().tell().watch();
/// let friend = Rights::all().without(Right::Spawn);
/// assert!(friend.covers(guest) && !guest.covers(friend));
/// assert!(guest.allows(Right::Tell) && !guest.allows(Right::Control) && friend.allows(Right::Control));
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct Rights(u8);

impl Rights {
    /// Everything.
    ///
    /// ```
    /// # use volary_remote::{Right, Rights};
    /// assert!(Rights::all().allows(Right::Spawn));
    /// ```
    pub const fn all() -> Self {
        Rights::none().tell().watch().inspect().control().spawn().relay()
    }

    /// Nothing. Such a peer can be sent to, and answers; no more.
    ///
    /// ```
    /// # use volary_remote::{Right, Rights};
    /// assert!(!Rights::none().allows(Right::Tell));
    /// ```
    pub const fn none() -> Self {
        Rights(0)
    }

    /// Also to send messages to actors of [registered](crate::RemoteBuilder::kind) kinds, and ask them.
    ///
    /// ```
    /// # use volary_remote::{Right, Rights};
    /// assert!(Rights::none().tell().allows(Right::Tell));
    /// ```
    pub const fn tell(self) -> Self {
        self.and(Right::Tell)
    }

    /// Also to hear of the end of actors.
    ///
    /// ```
    /// # use volary_remote::{Right, Rights};
    /// assert!(Rights::none().watch().allows(Right::Watch));
    /// ```
    pub const fn watch(self) -> Self {
        self.and(Right::Watch)
    }

    /// Also to look: lookup, kinds, parents, children, status, metrics.
    ///
    /// ```
    /// # use volary_remote::{Right, Rights};
    /// assert!(Rights::none().inspect().allows(Right::Inspect));
    /// ```
    pub const fn inspect(self) -> Self {
        self.and(Right::Inspect)
    }

    /// Also to stop, drain, kill, restart, reinstate and passivate actors below `/user`.
    ///
    /// ```
    /// # use volary_remote::{Right, Rights};
    /// assert!(Rights::none().control().allows(Right::Control));
    /// ```
    pub const fn control(self) -> Self {
        self.and(Right::Control)
    }

    /// Also to start actors of the kinds that are [spawnable](crate::RemoteBuilder::spawnable).
    ///
    /// ```
    /// # use volary_remote::{Right, Rights};
    /// assert!(Rights::none().spawn().allows(Right::Spawn));
    /// ```
    pub const fn spawn(self) -> Self {
        self.and(Right::Spawn)
    }

    /// Also to pass on messages in the name of actors of other nodes.
    ///
    /// ```
    /// # use volary_remote::{Right, Rights};
    /// assert!(Rights::none().relay().allows(Right::Relay));
    /// ```
    pub const fn relay(self) -> Self {
        self.and(Right::Relay)
    }

    /// One less.
    ///
    /// ```
    /// # use volary_remote::{Right, Rights};
    /// assert!(!Rights::all().without(Right::Control).allows(Right::Control));
    /// ```
    pub const fn without(self, right: Right) -> Self {
        Rights(self.0 & !right.bit())
    }

    /// Whether this is among them.
    ///
    /// ```
    /// # use volary_remote::{Right, Rights};
    /// assert!(Rights::all().allows(Right::Inspect));
    /// ```
    #[must_use]
    pub const fn allows(self, right: Right) -> bool {
        self.0 & right.bit() != 0
    }

    /// Whether these hold all of the others.
    ///
    /// ```
    /// # use volary_remote::Rights;
    /// assert!(Rights::all().covers(Rights::none().tell()));
    /// ```
    #[must_use]
    pub const fn covers(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }

    const fn and(self, right: Right) -> Self {
        Rights(self.0 | right.bit())
    }
}

impl fmt::Debug for Rights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(Right::ALL.into_iter().filter(|right| self.allows(*right)))
            .finish()
    }
}
