//! Getting at extensions and dependencies.

use std::sync::Arc;

use super::dependency::Dependency;
use crate::actor::Context;
use crate::system::ActorSystem;

impl ActorSystem {
    /// What the builder was given under this type; see [`SystemBuilder::extension`](crate::SystemBuilder::extension).
    ///
    /// ```
    /// # struct Prices;
    /// # fn f(system: &volary_core::ActorSystem) {
    /// let prices = system.extension::<Prices>().expect("the builder was given prices");
    /// # }
    /// ```
    #[must_use]
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.core.extensions().get()
    }

    /// The types of all extensions.
    ///
    /// ```
    /// # fn f(system: &volary_core::ActorSystem) { println!("{:?}", system.extensions()); }
    /// ```
    #[must_use]
    pub fn extensions(&self) -> Vec<&'static str> {
        self.core.extensions().names()
    }
}

impl<A> Context<A> {
    /// As [`ActorSystem::extension`].
    ///
    /// ```
    /// # struct Prices;
    /// # use volary_core::{Actor, Context};
    /// # fn in_a_handler<A: Actor>(ctx: &mut Context<A>) {
    /// let prices = ctx.extension::<Prices>();
    /// # }
    /// ```
    #[must_use]
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.here().system().extensions().get()
    }

    /// What this actor was given under this type; see [`Props::dependency`](crate::Props::dependency).
    ///
    /// ```
    /// # use volary_core::{Actor, Context, Dependency};
    /// # fn in_a_handler<A: Actor, Database: Dependency>(ctx: &mut Context<A>) {
    /// let database = ctx.dependency::<Database>();
    /// # }
    /// ```
    #[must_use]
    pub fn dependency<D: Dependency>(&self) -> Option<Arc<D>> {
        self.here().extras_if_any()?.dependencies.as_ref()?.get()
    }

    /// The kinds of what this actor was given.
    ///
    /// ```
    /// # use volary_core::{Actor, Context};
    /// # fn in_a_handler<A: Actor>(ctx: &mut Context<A>) { println!("{:?}", ctx.dependency_kinds()); }
    /// ```
    #[must_use]
    pub fn dependency_kinds(&self) -> Vec<&'static str> {
        let given = self
            .here()
            .extras_if_any()
            .and_then(|extras| extras.dependencies.as_ref());
        given.map_or_else(Vec::new, |given| given.kinds())
    }
}
