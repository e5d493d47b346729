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
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert_eq!(AnyRef::from(&alice).info().waiting, 0);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn info(&self) -> ActorInfo {
        ActorInfo::of(&self.cell, self.cell.children().len())
    }

    /// Whoever it lives below; `None` for the root, and for an actor of another node.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let parent = AnyRef::from(&alice).parent().expect("all but the root have one");
    /// assert_eq!(parent.path().to_string(), "/user");
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn parent(&self) -> Option<AnyRef> {
        (!self.is_elsewhere()).then(|| self.cell.parent().cloned().map(AnyRef::new))?
    }

    /// Those who live below it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert!(AnyRef::from(&alice).children().is_empty());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn children(&self) -> Vec<AnyRef> {
        self.cell.children().into_iter().map(AnyRef::new).collect()
    }

    /// What part it plays, if it was given one with [`Props::role`](crate::Props::role).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert_eq!(AnyRef::from(&alice).role(), None);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn role(&self) -> Option<&str> {
        self.cell.extras_if_any()?.role.as_deref()
    }

    /// The kinds of what it was given with [`Props::dependency`](crate::Props::dependency).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert!(AnyRef::from(&alice).dependency_kinds().is_empty());
    /// # system.stop().await?; Ok(()) }
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
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert_eq!(AnyRef::from(&alice).passivation(), Passivation::never());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn passivation(&self) -> Passivation {
        self.cell.passivation_policy()
    }

    /// Begins to start an actor below this one, from outside. It ends in an error if this one is ending, asleep, or of
    /// another node.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let savings = AnyRef::from(&alice).spawn(Account::default).named("savings").await?;
    /// assert_eq!(savings.path().to_string(), "/user/alice/savings");
    /// # system.stop().await?; Ok(()) }
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
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert!(!AnyRef::from(&alice).is_elsewhere());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn is_elsewhere(&self) -> bool {
        self.cell.foreign().is_some()
    }
}
