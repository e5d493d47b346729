//! What a peer may ask for.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// What another node may do here, beside sending what is [registered](crate::RemoteBuilder::kind). Given per peer with
/// [`RemoteBuilder::rights`](crate::RemoteBuilder::rights).
///
/// ```
/// use volary_remote::Rights;
/// let looks_on = Rights::none().inspect();
/// assert!(Rights::all().covers(looks_on));
/// assert!(!looks_on.covers(Rights::none().control()));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct Rights(u8);

const INSPECT: u8 = 1;
const CONTROL: u8 = 2;
const SPAWN: u8 = 4;

impl Rights {
    /// Everything.
    ///
    /// ```
    /// let _ = volary_remote::Rights::all();
    /// ```
    pub const fn all() -> Self {
        Rights(INSPECT | CONTROL | SPAWN)
    }

    /// Nothing but sending messages.
    ///
    /// ```
    /// let _ = volary_remote::Rights::none();
    /// ```
    pub const fn none() -> Self {
        Rights(0)
    }

    /// Also to look: lookup, kinds, parents, children, status, metrics.
    ///
    /// ```
    /// let _ = volary_remote::Rights::none().inspect();
    /// ```
    pub const fn inspect(self) -> Self {
        Rights(self.0 | INSPECT)
    }

    /// Also to stop, drain, kill, restart, reinstate and passivate actors below `/user`.
    ///
    /// ```
    /// let _ = volary_remote::Rights::none().control();
    /// ```
    pub const fn control(self) -> Self {
        Rights(self.0 | CONTROL)
    }

    /// Also to start actors of the kinds that are [spawnable](crate::RemoteBuilder::spawnable).
    ///
    /// ```
    /// let _ = volary_remote::Rights::none().spawn();
    /// ```
    pub const fn spawn(self) -> Self {
        Rights(self.0 | SPAWN)
    }

    /// Whether these hold all of the others.
    ///
    /// See [`Rights`] for an example.
    #[must_use]
    pub const fn covers(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }
}

/// Says what each peer may do.
pub(crate) struct RightsOf(Box<dyn Fn(&str) -> Rights + Send + Sync>);

impl RightsOf {
    pub(crate) fn new(rights: impl Fn(&str) -> Rights + Send + Sync + 'static) -> Self {
        RightsOf(Box::new(rights))
    }

    /// A rule that panics gives nothing.
    pub(crate) fn of(&self, node: &str) -> Rights {
        catch_unwind(AssertUnwindSafe(|| (self.0)(node))).unwrap_or(Rights::none())
    }
}
