//! A reference that does not keep the memory of its actor.

use std::fmt;
use std::marker::PhantomData;

use super::actor_ref::ActorRef;
use super::target::Target;
use crate::cell::WeakCell;
use crate::cell::state::DEAD;

/// A reference that keeps nothing; see [`ActorRef::downgrade`].
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let weak: WeakRef<Account> = alice.downgrade();
/// assert_eq!(weak.upgrade().as_ref(), Some(&alice));
/// # system.stop().await?; Ok(()) }
/// ```
pub struct WeakRef<T: Target> {
    cell: WeakCell,
    via: T::Via,
    target: PhantomData<fn(T)>,
}

impl<T: Target> WeakRef<T> {
    pub(super) fn new(cell: WeakCell, via: T::Via) -> Self {
        WeakRef {
            cell,
            via,
            target: PhantomData,
        }
    }

    /// The actor, unless it has ended.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let weak = alice.downgrade();
    /// alice.stop();
    /// alice.terminated().await;
    /// assert!(weak.upgrade().is_none());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn upgrade(&self) -> Option<ActorRef<T>> {
        let cell = self.cell.upgrade()?;
        (!cell.state.has(DEAD)).then(|| ActorRef::from_cell(cell, self.via))
    }
}

impl<T: Target> Clone for WeakRef<T> {
    fn clone(&self) -> Self {
        WeakRef {
            cell: self.cell.clone(),
            via: self.via,
            target: PhantomData,
        }
    }
}

impl<T: Target> fmt::Debug for WeakRef<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.upgrade() {
            Some(actor) => write!(f, "WeakRef({})", actor.address()),
            None => f.write_str("WeakRef(ended)"),
        }
    }
}
