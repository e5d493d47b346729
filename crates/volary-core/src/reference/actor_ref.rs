//! The reference to an actor: which one it is, and what can be told of it. Sending is in `sending.rs`, stopping and the
//! like in `command.rs`.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

use super::foreign::StandIn;
use super::id::ActorId;
use super::recipient::Recipient;
use super::status::ActorStatus;
use super::target::{Accepts, Covers, Target};
use super::watch::Termination;
use super::weak_ref::WeakRef;
use crate::actor::{Actor, Message};
use crate::cell::CellRef;
use crate::cell::state::DEAD;
use crate::mailbox::MessageTable;
use crate::system::ActorSystem;
use crate::tree::{Address, Path};

/// A typed reference to an actor: cheap to clone, free to send anywhere.
///
/// It names one incarnation: once that has stopped, messages are refused even if another actor
/// lives under the same name. Dropping references never stops an actor.
///
/// ```
/// # use std::convert::Infallible;
/// # use volary_core::*;
/// # struct Tally(u64); impl Actor for Tally {}
/// # struct Add(u64); impl Message for Add { type Reply = u64; type Rejection = Infallible; }
/// # impl SyncHandler<Add> for Tally {
/// #   fn handle(&mut self, a: Add, _: &mut Context<Self>) -> Result<u64, Failure> { self.0 += a.0; Ok(self.0) } }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let system = ActorSystem::builder("demo").start().await?;
/// let tally = system.spawn(|| Tally(0)).named("tally").await?;
/// tally.tell(Add(1))?;
/// tally.send(Add(2)).await?;
/// assert_eq!(tally.ask(Add(3)).await?, 6);
/// tally.stop();
/// tally.terminated().await;
/// assert!(tally.tell(Add(4)).is_err());
/// # system.stop().await?; Ok(()) }
/// ```
pub struct ActorRef<T: Target> {
    cell: CellRef,
    via: T::Via,
    target: PhantomData<fn(T)>,
}

impl<T: Target> ActorRef<T> {
    pub(crate) fn from_cell(cell: CellRef, via: T::Via) -> Self {
        ActorRef {
            cell,
            via,
            target: PhantomData,
        }
    }

    pub(crate) fn cell(&self) -> &CellRef {
        &self.cell
    }

    /// The stand-in behind this, if the actor lives elsewhere.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert!(alice.stand_in().is_none(), "alice lives here");
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn stand_in(&self) -> Option<StandIn> {
        StandIn::of(&self.cell)
    }

    /// The function table of `M` for whoever this leads to.
    #[inline]
    pub(crate) fn table_for<M: Message>(&self) -> &'static MessageTable
    where
        T: Accepts<M>,
    {
        T::table(self.via)
    }

    /// Waits until the actor has ended; at once if it has. Cancel safe.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// alice.stop();
    /// alice.terminated().await;
    /// assert!(!alice.is_alive());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn terminated(&self) -> Termination {
        Termination::new(self.cell.clone())
    }

    /// Whether the actor has not ended yet.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert!(alice.is_alive());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn is_alive(&self) -> bool {
        !self.cell.state.has(DEAD)
    }

    /// Its flags: running, busy, stopping and so on, as they are just now.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert!(alice.status().running);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn status(&self) -> ActorStatus {
        ActorStatus::of(&self.cell)
    }

    /// How many messages wait in the mailbox.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// alice.tell(Deposit(5))?;
    /// println!("{} wait", alice.mailbox_len());
    /// # alice.ask(Balance).await?;
    /// # assert_eq!(alice.mailbox_len(), 0);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn mailbox_len(&self) -> usize {
        usize::try_from(self.cell.log.depth()).unwrap_or(usize::MAX)
    }

    /// The id of this incarnation.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert_eq!(alice.id(), alice.clone().id());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn id(&self) -> ActorId {
        ActorId::of(self.cell.id)
    }

    /// The name among its siblings.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert_eq!(alice.name(), "alice");
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn name(&self) -> String {
        self.cell.name()
    }

    /// Where the actor lives in its system.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert_eq!(alice.path().to_string(), "/user/alice");
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn path(&self) -> Path {
        self.cell.path()
    }

    /// The address of this incarnation: path and uid.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// println!("{}", alice.address()); // volary://bank/user/alice#100000000
    /// # assert!(alice.address().to_string().starts_with("volary://bank/user/alice#"));
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn address(&self) -> Address {
        self.cell.system().address_of(&self.cell)
    }

    /// The system that the actor lives in.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert_eq!(alice.system().name(), "bank");
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn system(&self) -> ActorSystem {
        self.cell.system().handle()
    }

    /// A reference for one message alone, which knows nothing of the actor's type.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let till: Recipient<Deposit> = alice.recipient();
    /// assert_eq!(till.ask(Deposit(5)).await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn recipient<M: Message>(&self) -> Recipient<M>
    where
        T: Accepts<M>,
    {
        Recipient::new(self.cell.clone(), T::table(self.via))
    }

    /// A reference that does not keep the actor's memory once it has ended.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let weak = alice.downgrade();
    /// assert!(weak.upgrade().is_some());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn downgrade(&self) -> WeakRef<T> {
        WeakRef::new(self.cell.downgrade(), self.via)
    }
}

impl<A: Actor> ActorRef<A> {
    /// The same actor, typed by a protocol that it speaks.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/till.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let till: ActorRef<Till> = alice.narrow(); // made by `protocol!(Till { Deposit })`
    /// assert_eq!(till.ask(Deposit(5)).await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn narrow<P: Covers<A>>(&self) -> ActorRef<P> {
        ActorRef::from_cell(self.cell.clone(), P::table())
    }
}

impl<T: Target> Clone for ActorRef<T> {
    fn clone(&self) -> Self {
        ActorRef {
            cell: self.cell.clone(),
            via: self.via,
            target: PhantomData,
        }
    }
}

impl<T: Target> PartialEq for ActorRef<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cell == other.cell
    }
}

impl<T: Target> Eq for ActorRef<T> {}

impl<T: Target> Hash for ActorRef<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.cell.id.hash(state);
    }
}

impl<T: Target> fmt::Display for ActorRef<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.address().fmt(f)
    }
}

impl<T: Target> fmt::Debug for ActorRef<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ActorRef({})", self.address())
    }
}
