//! Getting at extensions and dependencies.

use std::sync::Arc;

use super::dependency::Dependency;
use crate::actor::Context;
use crate::system::ActorSystem;

impl ActorSystem {
    /// What the builder was given under this type; see [`SystemBuilder::extension`](crate::SystemBuilder::extension).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// struct Prices { bread: u64 }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # system.stop().await?;
    /// let builder = ActorSystem::builder("shop").extension(Prices { bread: 3 });
    /// let system = builder.start().await?;
    /// let prices = system.extension::<Prices>().expect("the builder was given prices");
    /// assert_eq!(prices.bread, 3);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.core.extensions().get()
    }

    /// The types of all extensions.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert!(system.extensions().is_empty());
    /// # system.stop().await?; Ok(()) }
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
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// struct Prices;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// assert!(ctx.extension::<Prices>().is_none(), "the builder was given none");
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.here().system().extensions().get()
    }

    /// What this actor was given under this type; see [`Props::dependency`](crate::Props::dependency).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # struct Database { url: &'static str }
    /// # impl Dependency for Database {
    /// #     const KIND: &'static str = "bank.Database";
    /// #     fn to_bytes(&self) -> Result<Vec<u8>, Fault> { Ok(self.url.into()) }
    /// #     fn from_bytes(_: &[u8]) -> Result<Self, Fault> { Ok(Database { url: "db:5432" }) }
    /// # }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let props = Props::new().dependency(Database { url: "db:5432" });
    /// let bob = system.spawn(Account::default).props(props).await?;
    /// # inside(&bob, |ctx| {
    /// let database = ctx.dependency::<Database>().expect("it is among the props");
    /// assert_eq!(database.url, "db:5432");
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn dependency<D: Dependency>(&self) -> Option<Arc<D>> {
        self.here().extras_if_any()?.dependencies.as_ref()?.get()
    }

    /// The kinds of what this actor was given.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// assert!(ctx.dependency_kinds().is_empty());
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
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
