//! The strategies: who of the routees gets a message.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use super::hash::HashKey;
use super::plan::{Lot, Plan, Plans, Routing};
use crate::actor::{Fault, Message};
use crate::dispatch::contain;

/// A strategy by which a [`Router`](super::Router) can spread messages of type `M`. Those that send a message more
/// than once want it to be `Clone`.
///
/// Implemented by the strategies of [this module](super), and by nothing else.
///
/// ```
/// use volary_core::Message;
/// use volary_core::routing::{FanOut, RoundRobin, Spreads};
/// fn spreads<S: Spreads<M>, M: Message>() {}
///
/// # struct Job; impl Message for Job { type Reply = (); type Rejection = std::convert::Infallible; }
/// # #[derive(Clone)] struct News; impl Message for News { type Reply = (); type Rejection = std::convert::Infallible; }
/// spreads::<RoundRobin, Job>();
/// spreads::<FanOut, News>(); // and not `Job`, which cannot be cloned
/// ```
#[diagnostic::on_unimplemented(
    message = "a router with `{Self}` cannot spread the message `{M}`",
    note = "fan-out, scatter-gather and tail chopping need `{M}: Clone`; consistent hashing needs a key of `{M}`"
)]
pub trait Spreads<M: Message>: Plans<M> {}

/// A strategy under which one answer is expected. With [`FanOut`] there are many:
/// [`Router::ask_each`](super::Router::ask_each).
///
/// ```
/// use volary_core::Message;
/// use volary_core::routing::{Answers, ScatterGather};
/// fn answers<S: Answers<M>, M: Message>() {}
/// # #[derive(Clone)] struct News; impl Message for News { type Reply = (); type Rejection = std::convert::Infallible; }
/// answers::<ScatterGather, News>();
/// ```
#[diagnostic::on_unimplemented(
    message = "a router with `{Self}` has no single answer to `{M}`",
    note = "with fan-out everybody answers: use `ask_each`, or the strategy `ScatterGather` for the first of them",
    note = "scatter-gather and tail chopping need `{M}: Clone`; consistent hashing needs a key of `{M}`"
)]
pub trait Answers<M: Message>: Spreads<M> {}

/// One after the other.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # use volary_core::routing::{Pool, RoundRobin};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let accounts = system.router(RoundRobin, Pool::of(4, Account::default)).await?;
/// accounts.tell(Deposit(5))?;
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct RoundRobin;

impl Routing for RoundRobin {}
impl<M: Message> Plans<M> for RoundRobin {
    #[inline]
    fn plan(&self, _: &M, lot: Lot<'_>) -> Result<Plan, Fault> {
        Ok(Plan::One(lot.next()))
    }
}
impl<M: Message> Spreads<M> for RoundRobin {}
impl<M: Message> Answers<M> for RoundRobin {}

/// Anyone, by the system's source of chance: seeded in simulation.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # use volary_core::routing::{Pool, Random};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let accounts = system.router(Random, Pool::of(4, Account::default)).await?;
/// accounts.tell(Deposit(5))?;
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Random;

impl Routing for Random {}
impl<M: Message> Plans<M> for Random {
    fn plan(&self, _: &M, lot: Lot<'_>) -> Result<Plan, Fault> {
        Ok(Plan::One(lot.random()))
    }
}
impl<M: Message> Spreads<M> for Random {}
impl<M: Message> Answers<M> for Random {}

/// Whoever has the fewest messages waiting, as they stand in that moment; one after the other where several have.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # use volary_core::routing::{Pool, SmallestMailbox};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let accounts = system.router(SmallestMailbox, Pool::of(4, Account::default)).await?;
/// accounts.tell(Deposit(5))?;
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct SmallestMailbox;

impl Routing for SmallestMailbox {}
impl<M: Message> Plans<M> for SmallestMailbox {
    fn plan(&self, _: &M, lot: Lot<'_>) -> Result<Plan, Fault> {
        Ok(Plan::Idlest(lot.next()))
    }
}
impl<M: Message> Spreads<M> for SmallestMailbox {}
impl<M: Message> Answers<M> for SmallestMailbox {}

/// Everybody. Asked with [`ask_each`](super::Router::ask_each), everybody answers.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # use volary_core::routing::{FanOut, Pool};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let accounts = system.router(FanOut, Pool::of(4, Account::default)).await?;
/// assert_eq!(accounts.ask_each(Deposit(5)).await.len(), 4);
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct FanOut;

impl Routing for FanOut {}
impl<M: Message + Clone> Plans<M> for FanOut {
    fn plan(&self, _: &M, _: Lot<'_>) -> Result<Plan, Fault> {
        Ok(Plan::Each)
    }
    fn copy(message: &M) -> Option<M> {
        Some(message.clone())
    }
}
impl<M: Message + Clone> Spreads<M> for FanOut {}

/// Asks everybody; the first answer counts and the other asks are cancelled, so a routee that has not begun never does.
/// A rejection is an answer, a failure is not as long as somebody else may answer. A `tell` goes to everybody.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # use volary_core::routing::{Pool, ScatterGather};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let accounts = system.router(ScatterGather, Pool::of(3, Account::default)).await?;
/// assert_eq!(accounts.ask(Deposit(5)).await?, 5, "whoever is first");
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct ScatterGather;

impl Routing for ScatterGather {}
impl<M: Message + Clone> Plans<M> for ScatterGather {
    fn plan(&self, _: &M, lot: Lot<'_>) -> Result<Plan, Fault> {
        Ok(Plan::First(lot.next()))
    }
    fn copy(message: &M) -> Option<M> {
        Some(message.clone())
    }
}
impl<M: Message + Clone> Spreads<M> for ScatterGather {}
impl<M: Message + Clone> Answers<M> for ScatterGather {}

/// Asks one, and as long as there is no answer another one after each interval, in the order of the list from a random
/// place on. The first answer counts and the others are cancelled. One that fails makes room for the next at once. A
/// `tell`, for whose answer nobody waits, goes to one.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # use volary_core::routing::{Pool, TailChopping};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let chopping = TailChopping::every(Duration::from_millis(20));
/// let accounts = system.router(chopping, Pool::of(3, Account::default)).await?;
/// assert_eq!(accounts.ask(Deposit(5)).await?, 5);
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct TailChopping {
    every: Duration,
}

impl TailChopping {
    /// With this interval between one and the next.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use volary_core::routing::TailChopping;
    /// let _ = TailChopping::every(Duration::from_millis(20));
    /// ```
    #[must_use]
    pub fn every(interval: Duration) -> Self {
        TailChopping { every: interval }
    }
}

impl Routing for TailChopping {}
impl<M: Message + Clone> Plans<M> for TailChopping {
    fn plan(&self, _: &M, lot: Lot<'_>) -> Result<Plan, Fault> {
        Ok(Plan::Chop(lot.random(), self.every))
    }
    fn copy(message: &M) -> Option<M> {
        Some(message.clone())
    }
}
impl<M: Message + Clone> Spreads<M> for TailChopping {}
impl<M: Message + Clone> Answers<M> for TailChopping {}

/// A message that knows its own key for [`ConsistentHash::new`].
///
/// ```
/// use volary_core::routing::{HashKey, Keyed};
///
/// struct Order { customer: String }
/// impl Keyed for Order {
///     fn key(&self) -> HashKey { HashKey::of(&self.customer) }
/// }
///
/// let [one, two] = ["alice", "alice"].map(|name| Order { customer: name.to_owned() });
/// assert_eq!(one.key(), two.key());
/// ```
pub trait Keyed {
    /// The key. Equal keys go to the same routee.
    fn key(&self) -> HashKey;
}

/// How many points a seat has on the ring unless said otherwise.
const POINTS: u32 = 128;

/// The same routee for the same key. When routees come or go only the keys that must move do: about one in *n*.
///
/// The key comes from the message, which is [`Keyed`], or from a function. The place of a routee on the ring follows
/// from its number in a pool, or from its path; a routee that was replaced has the place of the one before it. While a
/// routee is gone its keys go to the next on the ring. One whose mailbox is full keeps its keys: the message is refused.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # use volary_core::routing::{ConsistentHash, Pool};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let by_amount = ConsistentHash::by(|deposit: &Deposit| deposit.0);
/// let accounts = system.router(by_amount, Pool::of(4, Account::default)).await?;
/// accounts.tell(Deposit(5))?;
/// assert_eq!(accounts.ask(Deposit(5)).await?, 10, "the same one again");
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Clone, Copy)]
pub struct ConsistentHash<K = OwnKey> {
    key: K,
    points: u32,
}

/// The key that a [`Keyed`] message has itself.
///
/// ```
/// use volary_core::routing::{ConsistentHash, OwnKey};
/// let strategy: ConsistentHash<OwnKey> = ConsistentHash::new();
/// # let _ = strategy;
/// ```
#[derive(Debug, Clone, Copy)]
pub struct OwnKey;

/// The key that a function finds in a message.
///
/// ```
/// use volary_core::routing::{ConsistentHash, KeyBy};
///
/// struct Put { customer: u64 }
/// let strategy: ConsistentHash<KeyBy<Put, u64, _>> = ConsistentHash::by(|put: &Put| put.customer);
/// # let _ = strategy;
/// ```
#[derive(Clone, Copy)]
pub struct KeyBy<M, K, F> {
    key: F,
    message: PhantomData<fn(&M) -> K>,
}

impl ConsistentHash {
    /// By the key that each message has; see [`Keyed`].
    ///
    /// ```
    /// # use volary_core::routing::ConsistentHash;
    /// let _ = ConsistentHash::new();
    /// ```
    #[must_use]
    pub fn new() -> Self {
        ConsistentHash {
            key: OwnKey,
            points: POINTS,
        }
    }
}

impl Default for ConsistentHash {
    fn default() -> Self {
        ConsistentHash::new()
    }
}

impl<M, K: Into<HashKey>, F: Fn(&M) -> K> ConsistentHash<KeyBy<M, K, F>> {
    /// By a function of the message. One that panics harms nobody: the message is given back as
    /// [`Unroutable`](crate::TellError::Unroutable).
    ///
    /// ```
    /// # use volary_core::routing::{ConsistentHash, HashKey};
    /// # struct Put { customer: String }
    /// let _ = ConsistentHash::by(|put: &Put| HashKey::of(&put.customer));
    /// ```
    pub fn by(key: F) -> Self {
        let message = PhantomData;
        ConsistentHash {
            key: KeyBy { key, message },
            points: POINTS,
        }
    }
}

impl<K> ConsistentHash<K> {
    /// How many points each routee has on the ring (virtual nodes); 128 unless said otherwise. More spread keys more
    /// evenly and cost 12 bytes each.
    ///
    /// ```
    /// # use volary_core::routing::ConsistentHash;
    /// let _ = ConsistentHash::new().points(512);
    /// ```
    #[must_use]
    pub fn points(mut self, points: u32) -> Self {
        self.points = points.clamp(1, 65_536);
        self
    }
}

impl<K: Send + Sync + 'static> Routing for ConsistentHash<K> {
    fn points(&self) -> u32 {
        self.points
    }
}

impl<M: Message + Keyed> Plans<M> for ConsistentHash<OwnKey> {
    fn plan(&self, message: &M, _: Lot<'_>) -> Result<Plan, Fault> {
        contain(|| message.key()).map(|key| Plan::Key(key.hash()))
    }
}
impl<M: Message + Keyed> Spreads<M> for ConsistentHash<OwnKey> {}
impl<M: Message + Keyed> Answers<M> for ConsistentHash<OwnKey> {}

impl<M, K, F> Plans<M> for ConsistentHash<KeyBy<M, K, F>>
where
    M: Message,
    K: Into<HashKey> + 'static,
    F: Fn(&M) -> K + Send + Sync + 'static,
{
    fn plan(&self, message: &M, _: Lot<'_>) -> Result<Plan, Fault> {
        contain(|| (self.key.key)(message).into()).map(|key| Plan::Key(key.hash()))
    }
}
impl<M, K, F> Spreads<M> for ConsistentHash<KeyBy<M, K, F>>
where
    M: Message,
    K: Into<HashKey> + 'static,
    F: Fn(&M) -> K + Send + Sync + 'static,
{
}
impl<M, K, F> Answers<M> for ConsistentHash<KeyBy<M, K, F>>
where
    M: Message,
    K: Into<HashKey> + 'static,
    F: Fn(&M) -> K + Send + Sync + 'static,
{
}

impl<K> fmt::Debug for ConsistentHash<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConsistentHash")
            .field("points", &self.points)
            .finish_non_exhaustive()
    }
}

impl<M, K, F> fmt::Debug for KeyBy<M, K, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyBy")
    }
}
