//! Starting routers.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use super::head::Head;
use super::plan::Routing;
use super::pool::{Origin, Routees, Source, WhenEmpty};
use super::router::Router;
use super::switch::Switch;
use crate::actor::{Actor, Context, Props};
use crate::cell::CellRef;
use crate::reference::{Spawn, SpawnError, SpawnFuture, Target};
use crate::supervision::Directive;
use crate::system::ActorSystem;

/// A router about to be started: name it and `.await` it.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # use volary_core::routing::{Pool, RoundRobin, WhenEmpty};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let accounts = system
///     .router(RoundRobin, Pool::of(4, Account::default))
///     .named("accounts")
///     .when_empty(WhenEmpty::Stop)
///     .await?;
/// assert_eq!(accounts.size(), 4);
/// # system.stop().await?; Ok(()) }
/// ```
#[must_use = "a router is started when this is awaited"]
pub struct SpawnRouter<T: Target, S: Routing> {
    parent: Option<CellRef>,
    strategy: S,
    routees: Routees<T>,
    name: Option<String>,
    when_empty: WhenEmpty,
}

impl<T: Target, S: Routing> SpawnRouter<T, S> {
    fn new(parent: Option<CellRef>, strategy: S, routees: Routees<T>) -> Self {
        SpawnRouter {
            parent,
            strategy,
            routees,
            name: None,
            when_empty: WhenEmpty::default(),
        }
    }

    /// Names the router, by the rules for actors. The routees of a pool live below it, under their numbers.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # use volary_core::routing::{Pool, RoundRobin};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let accounts = system.router(RoundRobin, Pool::of(4, Account::default)).named("accounts").await?;
    /// assert!(system.lookup::<Account>("/user/accounts/0").is_some());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// What happens when the last routee is gone.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # use volary_core::routing::{RoundRobin, WhenEmpty};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let accounts = system.router(RoundRobin, vec![alice.clone()]).when_empty(WhenEmpty::Stop).await?;
    /// alice.stop();
    /// accounts.terminated().await;
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn when_empty(mut self, what: WhenEmpty) -> Self {
        self.when_empty = what;
        self
    }
}

impl<T: Target, S: Routing> IntoFuture for SpawnRouter<T, S> {
    type Output = Result<Router<T, S>, SpawnError>;
    type IntoFuture = SpawnRouterFuture<T, S>;

    fn into_future(self) -> SpawnRouterFuture<T, S> {
        let Routees(origin) = self.routees;
        let switch = Arc::new(Switch::new(self.strategy));
        if let Origin::Pool(pool) = &origin
            && let Some((elastic, allowed)) = pool.elastic().and_then(|elastic| Some((elastic, elastic.problem()?)))
        {
            let problem = SpawnError::Option {
                option: "elastic",
                value: format!("{elastic:?}"),
                allowed,
            };
            return SpawnRouterFuture {
                spawn: Err(Some(problem)),
                switch,
            };
        }
        let (shared, when_empty) = (switch.clone(), self.when_empty);
        let factory = move || Head::new(shared.clone(), origin.clone(), when_empty);
        let mut spawn = Spawn::new(self.parent, factory).props(Props::new().on_fault(Directive::Stop));
        if let Some(name) = self.name {
            spawn = spawn.named(name);
        }
        SpawnRouterFuture {
            spawn: Ok(spawn.into_future()),
            switch,
        }
    }
}

impl<T: Target, S: Routing> fmt::Debug for SpawnRouter<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpawnRouter")
            .field("name", &self.name)
            .field("routees", &self.routees)
            .finish_non_exhaustive()
    }
}

/// The start of a router under way. Dropping it does not stop the router: it goes on starting.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # use volary_core::routing::{Pool, RoundRobin, SpawnRouterFuture};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// # use std::future::IntoFuture;
/// let pool = Pool::of(4, Account::default);
/// let begun: SpawnRouterFuture<Account, RoundRobin> = system.router(RoundRobin, pool).into_future();
/// assert_eq!(begun.await?.size(), 4);
/// # system.stop().await?; Ok(()) }
/// ```
#[must_use = "futures do nothing unless polled"]
pub struct SpawnRouterFuture<T: Target, S: Routing> {
    spawn: Result<SpawnFuture<Head<T, S>>, Option<SpawnError>>,
    switch: Arc<Switch<T, S>>,
}

impl<T: Target, S: Routing> Unpin for SpawnRouterFuture<T, S> {}

impl<T: Target, S: Routing> Future for SpawnRouterFuture<T, S> {
    type Output = Result<Router<T, S>, SpawnError>;

    fn poll(mut self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        match &mut this.spawn {
            Ok(spawn) => {
                let started = Pin::new(spawn).poll(task);
                started.map_ok(|head| Router::new(head, this.switch.clone()))
            }
            Err(problem) => match problem.take() {
                Some(problem) => Poll::Ready(Err(problem)),
                None => panic!("a spawn was polled after it had ended"),
            },
        }
    }
}

impl<T: Target, S: Routing> fmt::Debug for SpawnRouterFuture<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SpawnRouterFuture")
    }
}

impl ActorSystem {
    /// Starts a router below `/user`, over a [`Pool`](crate::routing::Pool) of its own, references to actors, or a
    /// [`Group`](crate::groups::Group).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # use volary_core::routing::{Pool, RoundRobin};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let accounts = system.router(RoundRobin, Pool::of(4, Account::default)).named("accounts").await?;
    /// assert_eq!(accounts.size(), 4);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn router<S: Routing, R: Source>(&self, strategy: S, routees: R) -> SpawnRouter<R::Target, S> {
        SpawnRouter::new(self.user_guardian(), strategy, routees.into_routees())
    }
}

impl<A: Actor> Context<A> {
    /// Starts a router as a child of this actor: it stops before its parent does.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// use volary_core::routing::{Pool, RoundRobin};
    ///
    /// struct Branch;
    /// impl Actor for Branch {
    ///     async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
    ///         ctx.router(RoundRobin, Pool::of(4, Account::default)).named("accounts").await.or_fault()?;
    ///         Ok(())
    ///     }
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// system.spawn(|| Branch).named("branch").await?;
    /// assert_eq!(system.actors().iter().filter(|actor| actor.path.to_string().starts_with("/user/branch/accounts/")).count(), 4);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn router<S: Routing, R: Source>(&self, strategy: S, routees: R) -> SpawnRouter<R::Target, S> {
        SpawnRouter::new(Some(self.here().to_ref()), strategy, routees.into_routees())
    }
}
