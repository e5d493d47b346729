//! Which mailbox an actor has, as data.

use std::fmt;
use std::sync::Arc;

use super::bound::Bound;
use super::custom::{Letter, Mailbox};
use super::fair::Fair;
use super::priority::{Priority, StablePriority};

type Make = Arc<dyn Fn() -> Box<dyn Mailbox> + Send + Sync>;

/// Which mailbox an actor has.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let bob = system.spawn(Account::default).mailbox(MailboxKind::Bounded(1)).await?;
/// bob.tell(Deposit(5))?;
/// assert!(bob.tell(Deposit(9)).is_err(), "there is room for one");
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum MailboxKind {
    /// Takes everything; the system warns when it grows beyond the high-water mark.
    #[default]
    Unbounded,
    /// The same queue as `Unbounded`, called by what it is made of: a chain of fixed blocks that are
    /// taken from a pool as mail comes and given back as it is read. For those who look for it under
    /// this name.
    Segmented,
    /// Takes so many messages. `tell` is refused when it is full, `send` waits for room.
    Bounded(usize),
    /// Takes so many messages. `tell` and `send` are both refused when it is full.
    BoundedRefusing(usize),
    /// A mailbox of your own, made anew for each actor.
    Custom(Arc<dyn Fn() -> Box<dyn Mailbox> + Send + Sync>),
    /// A mailbox of your own that is given so many messages at a time; full, it is as `Bounded`.
    BoundedCustom(usize, Arc<dyn Fn() -> Box<dyn Mailbox> + Send + Sync>),
    /// A mailbox of your own that is given so many messages at a time; full, it is as
    /// `BoundedRefusing`.
    BoundedRefusingCustom(usize, Arc<dyn Fn() -> Box<dyn Mailbox> + Send + Sync>),
}

impl MailboxKind {
    /// The highest priority first, equals in any order; see [`Priority`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let highest_first = MailboxKind::priority(|letter| letter.message::<Deposit>().map_or(0, |deposit| deposit.0));
    /// let bob = system.spawn(Account::default).mailbox(highest_first).await?;
    /// let (five, nine) = (bob.ask(Deposit(5)).into_future(), bob.ask(Deposit(9)).into_future());
    /// assert_eq!((nine.await?, five.await?), (9, 14));
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn priority<K, F>(priority: F) -> Self
    where
        K: Ord + Send + 'static,
        F: Fn(&Letter) -> K + Send + Sync + 'static,
    {
        let priority = Arc::new(priority);
        MailboxKind::custom(move || {
            let priority = priority.clone();
            Priority::new(move |letter: &Letter| priority(letter))
        })
    }

    /// The highest priority first, equals in the order in which they came; see [`StablePriority`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let balances_last = MailboxKind::stable_priority(|letter| letter.message::<Deposit>().is_some());
    /// let bob = system.spawn(Account::default).mailbox(balances_last).await?;
    /// let (balance, deposit) = (bob.ask(Balance).into_future(), bob.ask(Deposit(5)).into_future());
    /// assert_eq!((deposit.await?, balance.await?), (5, 5));
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn stable_priority<K, F>(priority: F) -> Self
    where
        K: Ord + Send + 'static,
        F: Fn(&Letter) -> K + Send + Sync + 'static,
    {
        let priority = Arc::new(priority);
        MailboxKind::custom(move || {
            let priority = priority.clone();
            StablePriority::new(move |letter: &Letter| priority(letter))
        })
    }

    /// One message of each sender in turn; see [`Fair`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let bob = system.spawn(Account::default).mailbox(MailboxKind::fair()).await?;
    /// let (five, nine) = (bob.ask(Deposit(5)).into_future(), bob.ask(Deposit(9)).into_future());
    /// assert_eq!((five.await?, nine.await?), (5, 14)); // they are of one sender
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn fair() -> Self {
        MailboxKind::custom(Fair::new)
    }

    /// A mailbox of your own, made anew for each actor.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let kind = MailboxKind::custom(Fair::new); // or a type of yours
    /// let bob = system.spawn(Account::default).mailbox(kind).await?;
    /// assert_eq!(bob.ask(Deposit(5)).await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn custom<M: Mailbox>(make: impl Fn() -> M + Send + Sync + 'static) -> Self {
        MailboxKind::Custom(Arc::new(move || Box::new(make())))
    }

    /// The same order, but room for so many messages only: then `tell` and `ask` are refused, and
    /// `send` waits. Another bound is replaced. What waits is counted in front of the mailbox, so the
    /// least urgent message in it takes a place like any other.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let bob = system.spawn(Account::default).mailbox(MailboxKind::fair().bounded(1)).await?;
    /// bob.tell(Deposit(5))?;
    /// assert!(matches!(bob.tell(Deposit(9)), Err(TellError::Full(Deposit(9)))));
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn bounded(self, capacity: usize) -> Self {
        match self.into_make() {
            None => MailboxKind::Bounded(capacity),
            Some(make) => MailboxKind::BoundedCustom(capacity, make),
        }
    }

    /// As [`bounded`](Self::bounded), but `send` is refused too.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let bob = system.spawn(Account::default).mailbox(MailboxKind::fair().bounded_refusing(1)).await?;
    /// bob.tell(Deposit(5))?;
    /// assert!(bob.send(Deposit(9)).await.is_err());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn bounded_refusing(self, capacity: usize) -> Self {
        match self.into_make() {
            None => MailboxKind::BoundedRefusing(capacity),
            Some(make) => MailboxKind::BoundedRefusingCustom(capacity, make),
        }
    }

    /// The bound of a new mailbox of this kind.
    pub(crate) fn bound(&self) -> Option<Bound> {
        match self {
            MailboxKind::Unbounded | MailboxKind::Segmented | MailboxKind::Custom(_) => None,
            MailboxKind::Bounded(capacity) => Some(Bound::new(*capacity as u64, true)),
            MailboxKind::BoundedCustom(capacity, _) => Some(Bound::new(*capacity as u64, true).beside_others()),
            MailboxKind::BoundedRefusing(capacity) => Some(Bound::new(*capacity as u64, false)),
            MailboxKind::BoundedRefusingCustom(capacity, _) => {
                Some(Bound::new(*capacity as u64, false).beside_others())
            }
        }
    }

    /// What orders the letters of a new mailbox of this kind, if not the log. Runs code of the user.
    pub(crate) fn make(&self) -> Option<Box<dyn Mailbox>> {
        self.clone().into_make().map(|make| make())
    }

    fn into_make(self) -> Option<Make> {
        match self {
            MailboxKind::Custom(make)
            | MailboxKind::BoundedCustom(_, make)
            | MailboxKind::BoundedRefusingCustom(_, make) => Some(make),
            _ => None,
        }
    }
}

impl fmt::Debug for MailboxKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MailboxKind::Unbounded => f.write_str("Unbounded"),
            MailboxKind::Segmented => f.write_str("Segmented"),
            MailboxKind::Bounded(n) => write!(f, "Bounded({n})"),
            MailboxKind::BoundedRefusing(n) => write!(f, "BoundedRefusing({n})"),
            MailboxKind::Custom(_) => f.write_str("Custom"),
            MailboxKind::BoundedCustom(n, _) => write!(f, "BoundedCustom({n})"),
            MailboxKind::BoundedRefusingCustom(n, _) => write!(f, "BoundedRefusingCustom({n})"),
        }
    }
}
