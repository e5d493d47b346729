//! Putting a tap on an actor that runs, and taking it off.

use std::fmt;
use std::sync::Arc;

use super::actor_ref::ActorRef;
use super::target::Target;
use crate::actor::Tap;
use crate::cell::CellRef;
use crate::cell::state::DEAD;
use crate::dispatch::contain;
use crate::tree::Path;

/// Why a [`Tap`] was not put on.
///
/// ```
/// # use volary_core::{Actor, ActorRef, Tap, TapError};
/// # fn f<A: Actor>(who: &ActorRef<A>, tap: std::sync::Arc<dyn Tap>) {
/// if let Err(TapError::Taken { path }) = who.tap(tap) {
///     println!("somebody looks at {path} already");
/// }
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TapError {
    /// The actor has ended. Look up who lives there now.
    #[error("{path} has ended, and nobody can look at it")]
    Ended {
        /// Where it lived.
        path: Path,
    },
    /// There is one already. Take that off first.
    #[error("{path} has a tap already, and only one is allowed")]
    Taken {
        /// Where the actor lives.
        path: Path,
    },
}

impl<T: Target> ActorRef<T> {
    /// Lets somebody look at every message from the next one on, and at what handlers read of the clock and of chance.
    /// The tap stays on through restarts, until the [`Tapped`] is dropped.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use volary_core::{ActorRef, Tap, TapError, Target};
    /// # fn f<T: Target>(lamp: &ActorRef<T>, names: Arc<dyn Tap>) -> Result<(), TapError> {
    /// let tapped = lamp.tap(names)?;
    /// drop(tapped); // nobody looks any more
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the actor has ended, or has a tap.
    pub fn tap(&self, tap: Arc<dyn Tap>) -> Result<Tapped, TapError> {
        let cell = self.cell();
        if cell.state.has(DEAD) {
            return Err(TapError::Ended { path: cell.path() });
        }
        if !cell.put_tap(tap) {
            return Err(TapError::Taken { path: cell.path() });
        }
        Ok(Tapped(cell.clone()))
    }
}

/// A [`Tap`] that is on; dropping this takes it off. A look that is under way on another thread goes on to its end.
///
/// ```
/// # use volary_core::{Actor, ActorRef, Tap, TapError};
/// # fn f<A: Actor>(who: &ActorRef<A>, tap: std::sync::Arc<dyn Tap>) -> Result<(), TapError> {
/// let tapped = who.tap(tap)?;
/// // … what is to be seen …
/// drop(tapped);
/// # Ok(()) }
/// ```
#[must_use = "dropping it takes the tap off"]
pub struct Tapped(CellRef);

impl Drop for Tapped {
    fn drop(&mut self) {
        let tap = self.0.remove_tap();
        if let Err(fault) = contain(move || drop(tap)) {
            self.0.system().report_hook_fault(&self.0, "tap", &fault);
        }
    }
}

impl fmt::Debug for Tapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tapped").field(&self.0.path()).finish()
    }
}
