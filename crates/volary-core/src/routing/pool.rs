//! Where routees come from: a pool that the router starts itself, a list of others, or a group that it follows.

use std::fmt;
use std::future::IntoFuture;
use std::sync::Arc;

use super::elastic::Elastic;
use crate::actor::{Actor, Product, Props};
use crate::cell::CellRef;
use crate::groups::Group;
use crate::reference::{ActorRef, Spawn, SpawnError, SpawnFuture, Target};
use crate::supervision::Directive;

/// What a router does about a routee of its pool that crashes or ends. Each end is counted and published as
/// [`RouteeLost`](super::RouteeLost).
///
/// ```
/// # use volary_core::Actor;
/// # struct Worker; impl Actor for Worker {}
/// use volary_core::routing::{FailedRoutee, Pool};
/// let pool = Pool::of(4, || Worker).on_failure(FailedRoutee::Replace);
/// # let _ = pool;
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum FailedRoutee {
    /// A crash restarts it in its place, with its mailbox. One that ends in another way is not replaced.
    #[default]
    Restart,
    /// A crash ends it, and its mail is dead letters. Whichever way it ended, a new one takes its seat: at once, or
    /// after a second if more than ten went within the last one.
    Replace,
    /// A crash ends it, and its seat is gone.
    Drop,
}

/// What a router does when its last routee is gone.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # use volary_core::routing::{FailedRoutee, Pool, RoundRobin, WhenEmpty};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let pool = Pool::of(4, Account::default).on_failure(FailedRoutee::Drop);
/// let accounts = system.router(RoundRobin, pool).when_empty(WhenEmpty::Stop).await?;
/// assert_eq!(accounts.size(), 4);
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum WhenEmpty {
    /// It lives on and refuses messages until there is somebody again.
    #[default]
    Refuse,
    /// It stops.
    Stop,
}

pub(super) type Hatch<A> = Arc<dyn Fn(CellRef, String, Props) -> SpawnFuture<A> + Send + Sync>;

/// Routees that the router starts, supervises and stops: they are its children.
///
/// ```
/// use volary_core::{Actor, MailboxKind, Props};
/// use volary_core::routing::{Elastic, FailedRoutee, Pool};
///
/// struct Worker;
/// impl Actor for Worker {}
///
/// let pool = Pool::of(4, || Worker)
///     .props(Props::new().mailbox(MailboxKind::Bounded(1_000)))
///     .on_failure(FailedRoutee::Replace)
///     .elastic(Elastic::between(2, 16));
/// # let _ = pool;
/// ```
#[must_use]
pub struct Pool<A: Actor> {
    pub(super) size: usize,
    pub(super) hatch: Hatch<A>,
    pub(super) props: Props,
    pub(super) elastic: Option<Elastic>,
    pub(super) on_failure: FailedRoutee,
}

impl<A: Actor> Pool<A> {
    /// So many routees, each made by the factory. A factory that panics fails the start of that routee alone.
    ///
    /// ```
    /// # use volary_core::Actor;
    /// # use volary_core::routing::Pool;
    /// # struct Worker; impl Actor for Worker {}
    /// let _ = Pool::of(4, || Worker);
    /// ```
    pub fn of<P, F>(size: usize, factory: F) -> Self
    where
        P: Product<Actor = A>,
        F: Fn() -> P + Send + Sync + 'static,
    {
        let factory = Arc::new(factory);
        let hatch = move |parent: CellRef, name: String, props: Props| {
            let factory = factory.clone();
            Spawn::new(Some(parent), move || factory())
                .named(name)
                .props(props)
                .into_future()
        };
        Pool {
            size,
            hatch: Arc::new(hatch),
            props: Props::new(),
            elastic: None,
            on_failure: FailedRoutee::default(),
        }
    }

    /// The options of every routee. What happens on a fault is said by [`on_failure`](Pool::on_failure), unless the
    /// options bring a [`Supervision`](crate::Supervision) of their own. A routee that escalates takes the router with it.
    ///
    /// ```
    /// # use volary_core::*;
    /// # use volary_core::routing::Pool;
    /// # struct Worker; impl Actor for Worker {}
    /// let _ = Pool::of(4, || Worker).props(Props::new().mailbox(MailboxKind::Bounded(100)));
    /// ```
    pub fn props(mut self, props: Props) -> Self {
        self.props = props;
        self
    }

    /// What to do about routees that crash or end.
    ///
    /// ```
    /// # use volary_core::Actor;
    /// # use volary_core::routing::{FailedRoutee, Pool};
    /// # struct Worker; impl Actor for Worker {}
    /// let _ = Pool::of(4, || Worker).on_failure(FailedRoutee::Drop);
    /// ```
    pub fn on_failure(mut self, policy: FailedRoutee) -> Self {
        self.on_failure = policy;
        self
    }

    /// Lets the pool grow and shrink by itself.
    ///
    /// ```
    /// # use volary_core::Actor;
    /// # use volary_core::routing::{Elastic, Pool};
    /// # struct Worker; impl Actor for Worker {}
    /// let _ = Pool::of(4, || Worker).elastic(Elastic::between(2, 16));
    /// ```
    pub fn elastic(mut self, elastic: Elastic) -> Self {
        self.elastic = Some(elastic);
        self
    }

    /// The options with what the policy makes of a fault.
    pub(super) fn effective_props(&self) -> Props {
        let props = self.props.clone();
        if props.supervision.is_some() {
            return props;
        }
        props.on_fault(match self.on_failure {
            FailedRoutee::Restart => Directive::Restart,
            FailedRoutee::Replace | FailedRoutee::Drop => Directive::Stop,
        })
    }
}

impl<A: Actor> fmt::Debug for Pool<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("size", &self.size)
            .field("elastic", &self.elastic)
            .field("on_failure", &self.on_failure)
            .finish_non_exhaustive()
    }
}

/// The routees of a router to be, as [`Source`] gives them.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// use volary_core::routing::{Pool, RoundRobin, Routees, Source};
///
/// struct FourAccounts;
/// impl Source for FourAccounts {
///     type Target = Account;
///
///     fn into_routees(self) -> Routees<Account> {
///         Pool::of(4, Account::default).into_routees()
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// assert_eq!(system.router(RoundRobin, FourAccounts).await?.size(), 4);
/// # system.stop().await?; Ok(()) }
/// ```
pub struct Routees<T: Target>(pub(super) Origin<T>);

pub(super) enum Origin<T: Target> {
    Pool(Arc<dyn Nursery<T>>),
    Given(Vec<ActorRef<T>>),
    Group(Group<T>),
}

impl<T: Target> Clone for Origin<T> {
    fn clone(&self) -> Self {
        match self {
            Origin::Pool(pool) => Origin::Pool(pool.clone()),
            Origin::Given(routees) => Origin::Given(routees.clone()),
            Origin::Group(group) => Origin::Group(group.clone()),
        }
    }
}

/// A pool, for a router that knows only what its routees take.
pub(super) trait Nursery<T: Target>: Send + Sync {
    fn size(&self) -> usize;
    fn elastic(&self) -> Option<Elastic>;
    fn on_failure(&self) -> FailedRoutee;
    fn hatch(&self, parent: CellRef, name: String) -> Hatching<T>;
}

pub(super) type Hatching<T> = std::pin::Pin<Box<dyn Future<Output = Result<ActorRef<T>, SpawnError>> + Send>>;

impl<A: Actor> Nursery<A> for Pool<A> {
    fn size(&self) -> usize {
        self.size
    }
    fn elastic(&self) -> Option<Elastic> {
        self.elastic
    }
    fn on_failure(&self) -> FailedRoutee {
        self.on_failure
    }
    fn hatch(&self, parent: CellRef, name: String) -> Hatching<A> {
        Box::pin((self.hatch)(parent, name, self.effective_props()))
    }
}

impl<T: Target> fmt::Debug for Routees<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Origin::Pool(pool) => write!(f, "Routees(a pool of {})", pool.size()),
            Origin::Given(routees) => write!(f, "Routees({routees:?})"),
            Origin::Group(group) => write!(f, "Routees({group:?})"),
        }
    }
}

/// What a router can be made over: a [`Pool`], references to actors that live anyway, or a [`Group`] whose members it
/// follows as they join and leave.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # use volary_core::routing::{RoundRobin};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// # let bob = system.spawn(Account::default).await?;
/// let both = system.router(RoundRobin, vec![alice, bob]).await?;
/// let accounts = system.router(RoundRobin, &system.groups().of::<Account>("accounts")).await?;
/// assert_eq!((both.size(), accounts.size()), (2, 0));
/// # system.stop().await?; Ok(()) }
/// ```
pub trait Source {
    /// What the routees are typed by.
    type Target: Target;
    #[doc(hidden)]
    fn into_routees(self) -> Routees<Self::Target>;
}

impl<A: Actor> Source for Pool<A> {
    type Target = A;
    fn into_routees(self) -> Routees<A> {
        Routees(Origin::Pool(Arc::new(self)))
    }
}

impl<T: Target> Source for Vec<ActorRef<T>> {
    type Target = T;
    fn into_routees(self) -> Routees<T> {
        Routees(Origin::Given(self))
    }
}

impl<T: Target> Source for &Group<T> {
    type Target = T;
    fn into_routees(self) -> Routees<T> {
        Routees(Origin::Group(self.clone()))
    }
}
