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
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// struct Names;
/// impl Tap for Names {
///     fn input(&self, input: &Input<'_>) -> Passage {
///         println!("{}", input.type_name());
///         Passage::Handle
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let tapped = alice.tap(Arc::new(Names))?;
/// let again = alice.tap(Arc::new(Names));
/// assert!(matches!(again, Err(TapError::Taken { .. })));
/// # system.stop().await?; Ok(()) }
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
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// struct Names;
    /// impl Tap for Names {
    ///     fn input(&self, input: &Input<'_>) -> Passage {
    ///         println!("{}", input.type_name());
    ///         Passage::Handle
    ///     }
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let tapped = alice.tap(Arc::new(Names))?;
    /// alice.ask(Deposit(5)).await?;
    /// drop(tapped); // nobody looks any more
    /// # system.stop().await?; Ok(()) }
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
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// struct Names;
/// impl Tap for Names {
///     fn input(&self, input: &Input<'_>) -> Passage {
///         println!("{}", input.type_name());
///         Passage::Handle
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let tapped = alice.tap(Arc::new(Names))?;
/// drop(tapped);
/// assert!(alice.tap(Arc::new(Names)).is_ok(), "there is room for the next");
/// # system.stop().await?; Ok(()) }
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
