//! What can be told of an actor, and started below it, by whoever has no more than an [`AnyRef`] to it.
//!
//! Of an actor of another node nothing is known here; remoting asks that node.

use super::any_ref::AnyRef;
use super::spawn::Spawn;
use crate::actor::Product;
use crate::passivation::Passivation;
use crate::system::ActorInfo;

impl AnyRef {
    /// What [`ActorSystem::actors`](crate::ActorSystem::actors) says of an actor.
    ///
    /// ```
    /// # fn f(some: &volary_core::AnyRef) {
    /// println!("{} messages wait for {}", some.info().waiting, some.path());
    /// # }
    /// ```
    #[must_use]
    pub fn info(&self) -> ActorInfo {
        ActorInfo::of(&self.cell, self.cell.children().len())
    }

    /// Whoever it lives below; `None` for the root, and for an actor of another node.
    ///
    /// ```
    /// # fn f(some: &volary_core::AnyRef) { println!("{:?}", some.parent()); }
    /// ```
    #[must_use]
    pub fn parent(&self) -> Option<AnyRef> {
        (!self.is_elsewhere()).then(|| self.cell.parent().cloned().map(AnyRef::new))?
    }

    /// Those who live below it.
    ///
    /// ```
    /// # fn f(some: &volary_core::AnyRef) { println!("{:?}", some.children()); }
    /// ```
    #[must_use]
    pub fn children(&self) -> Vec<AnyRef> {
        self.cell.children().into_iter().map(AnyRef::new).collect()
    }

    /// What part it plays, if it was given one with [`Props::role`](crate::Props::role).
    ///
    /// ```
    /// # fn f(some: &volary_core::AnyRef) { println!("{:?}", some.role()); }
    /// ```
    #[must_use]
    pub fn role(&self) -> Option<&str> {
        self.cell.extras_if_any()?.role.as_deref()
    }

    /// The kinds of what it was given with [`Props::dependency`](crate::Props::dependency).
    ///
    /// ```
    /// # fn f(some: &volary_core::AnyRef) { println!("{:?}", some.dependency_kinds()); }
    /// ```
    #[must_use]
    pub fn dependency_kinds(&self) -> Vec<&'static str> {
        let extras = self.cell.extras_if_any();
        let given = extras.and_then(|extras| extras.dependencies.as_ref());
        given.map_or_else(Vec::new, |given| given.kinds())
    }

    /// When it lets go of its state.
    ///
    /// ```
    /// # use volary_core::{AnyRef, Passivation};
    /// # fn f(some: &AnyRef) -> bool {
    /// some.passivation() == Passivation::never()
    /// # }
    /// ```
    pub fn passivation(&self) -> Passivation {
        self.cell.passivation_policy()
    }

    /// Begins to start an actor below this one, from outside. It ends in an error if this one is stopping, asleep, or
    /// of another node.
    ///
    /// ```
    /// # use volary_core::{Actor, AnyRef, SpawnError};
    /// # struct Door; impl Actor for Door {}
    /// # async fn f(house: &AnyRef) -> Result<(), SpawnError> {
    /// let door = house.spawn(|| Door).named("front").await?;
    /// # Ok(()) }
    /// ```
    pub fn spawn<P, F>(&self, factory: F) -> Spawn<F>
    where
        P: Product,
        F: Fn() -> P + Send + Sync + 'static,
    {
        Spawn::new((!self.is_elsewhere()).then(|| self.cell.clone()), factory)
    }

    /// Whether it lives on another node, and this is a stand-in for it.
    ///
    /// ```
    /// # fn f(some: &volary_core::AnyRef) { println!("{}", some.is_elsewhere()); }
    /// ```
    #[must_use]
    pub fn is_elsewhere(&self) -> bool {
        self.cell.foreign().is_some()
    }
}
