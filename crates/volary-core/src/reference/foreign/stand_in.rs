//! Cells that stand for actors elsewhere.

use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use super::outlet::{Foreign, Outlet};
use crate::actor::{Actor, Message};
use crate::cell::CellRef;
use crate::cell::state::{DEAD, KILL};
use crate::events::DeadReason;
use crate::reference::spawn::spawn_stand_in;
use crate::reference::{ActorId, ActorRef, AnyRef, Recipient, Target};
use crate::system::ActorSystem;
use crate::tree::Address;

/// The actor in the cell of a stand-in: it does nothing, and no message gets here.
pub(crate) struct Absent;
impl Actor for Absent {}

/// A cell that stands for an actor elsewhere, made by [`ActorSystem::stand_in`]. The transport keeps it for as long as
/// anybody here refers to that actor.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let address: Address = "volary://bank@10.0.0.7:4242/user/bob".parse()?;
/// # let outlet = Arc::new(Out(|_: &mut Parcel<'_>| Ok(())));
/// let bob: StandIn = system.stand_in(address.clone(), outlet).expect("the system runs");
/// let account: ActorRef<Account> = bob.actor_ref();
/// assert_eq!(account.stand_in().map(|bob| bob.address()), Some(address));
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Clone)]
pub struct StandIn(CellRef);

impl ActorSystem {
    /// Makes a stand-in for an actor elsewhere. `None`: the system is stopping, or has no id left.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let address: Address = "volary://bank@10.0.0.7:4242/user/bob".parse()?;
    /// # let outlet = Arc::new(Out(|_: &mut Parcel<'_>| Ok(())));
    /// let bob = system.stand_in(address.clone(), outlet).expect("the system runs");
    /// assert_eq!(bob.address(), address);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn stand_in(&self, address: Address, outlet: Arc<dyn Outlet>) -> Option<StandIn> {
        let foreign = Foreign { address, outlet };
        spawn_stand_in(NonNull::from(&*self.core), &self.core, foreign).map(StandIn)
    }
}

impl StandIn {
    pub(crate) fn of(cell: &CellRef) -> Option<Self> {
        cell.foreign().map(|_| StandIn(cell.clone()))
    }

    /// A reference to the actor. Whether it takes the messages of `T` is seen when they arrive.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let bob = bob(&system, |_| Ok(()))?;
    /// let account: ActorRef<Account> = bob.actor_ref();
    /// account.tell(Deposit(5))?; // goes to the outlet
    /// # assert_eq!(account.id(), bob.id());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn actor_ref<T: Target>(&self) -> ActorRef<T> {
        ActorRef::from_cell(self.0.clone(), T::abroad())
    }

    /// A reference without a type.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let bob = bob(&system, |_| Ok(()))?;
    /// assert_eq!(bob.any_ref().id(), bob.id());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn any_ref(&self) -> AnyRef {
        AnyRef::new(self.0.clone())
    }

    /// A reference for one message.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let bob = bob(&system, |parcel| if parcel.message().is::<Deposit>() { Ok(()) } else { Err(Undeliverable::Unsendable) })?;
    /// let till: Recipient<Deposit> = bob.recipient();
    /// till.tell(Deposit(5))?; // goes to the outlet
    /// # assert!(bob.recipient::<Balance>().tell(Balance).is_err());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn recipient<M: Message>(&self) -> Recipient<M> {
        Recipient::new(self.0.clone(), crate::cell::absent_table::<M>())
    }

    /// Its id here, as the sender of what comes from there.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let bob = bob(&system, |_| Ok(()))?;
    /// assert_eq!(bob.id(), bob.actor_ref::<Account>().id());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn id(&self) -> ActorId {
        ActorId::of(self.0.id)
    }

    /// Where the actor lives.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let bob = bob(&system, |_| Ok(()))?;
    /// assert_eq!(bob.address().to_string(), "volary://bank@10.0.0.7:4242/user/bob");
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn address(&self) -> Address {
        match self.0.foreign() {
            Some(foreign) => foreign.address.clone(),
            None => unreachable!("it was made with an address"),
        }
    }

    /// The actor there has ended, or is lost: whoever watches it here hears so, after everything that was told before.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let bob = bob(&system, |_| Ok(()))?;
    /// let account = bob.actor_ref::<Account>();
    /// bob.end();
    /// account.terminated().await;
    /// assert!(!account.is_alive());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn end(&self) {
        self.0.close_mailbox();
        self.0.control(KILL);
    }

    /// A message to it that was taken, and got lost on the way: a dead letter.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let bob = bob(&system, |_| Ok(()))?;
    /// let letters = system.events().subscribe::<DeadLetter>();
    /// bob.dead_letter(None, DeadReason::Unconfirmed, "bank.Deposit");
    /// assert_eq!(letters.next().await?.message_type(), "bank.Deposit");
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn dead_letter(&self, sender: Option<ActorId>, reason: DeadReason, message_type: &'static str) {
        let sender = sender.map_or(0, ActorId::raw);
        self.0
            .system()
            .dead_letter_abroad(&self.0, sender, reason, message_type);
    }

    /// Whether it has ended.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let bob = bob(&system, |_| Ok(()))?;
    /// assert!(!bob.has_ended());
    /// bob.end();
    /// bob.actor_ref::<Account>().terminated().await;
    /// assert!(bob.has_ended());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.0.state.has(DEAD)
    }

    /// Whether anybody here waits to hear of its end.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let bob = bob(&system, |_| Ok(()))?;
    /// assert!(!bob.is_watched());
    /// # let account = bob.actor_ref::<Account>();
    /// # inside(&alice, move |ctx| {
    /// ctx.watch(&account); // in a handler of alice
    /// # Ok(()) }).await?;
    /// assert!(bob.is_watched());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.0.is_watched_by_anybody()
    }

    /// Whether nobody but the transport, which keeps `kept` of them, refers to it, so that it may be let go.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let bob = bob(&system, |_| Ok(()))?;
    /// assert!(bob.is_unused(1), "it is all there is of him");
    /// let account = bob.actor_ref::<Account>();
    /// assert!(!bob.is_unused(1));
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn is_unused(&self, kept: u32) -> bool {
        // One count is the parent's.
        self.0.strong_count() <= kept + 1 && !self.0.is_watched_by_anybody()
    }
}

impl fmt::Debug for StandIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StandIn").field(&self.address()).finish()
    }
}

/// Finds actors elsewhere by their addresses; given to a system by
/// [`ActorSystem::set_abroad`](crate::ActorSystem::set_abroad).
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// use volary_core::foreign::{Abroad, StandIn};
///
/// struct Island;
/// impl Abroad for Island {
///     fn resolve(&self, _: &Address) -> Option<StandIn> { None }
///     fn here(&self) -> Option<Address> { None }
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// assert!(system.set_abroad(Arc::new(Island)));
/// let far = "volary://bank@10.0.0.7:4242/user/bob".parse()?;
/// assert!(system.resolve(&far).is_none());
/// # system.stop().await?; Ok(()) }
/// ```
pub trait Abroad: Send + Sync + 'static {
    /// A stand-in for the actor at an address of another node; `None` if nothing leads there.
    fn resolve(&self, address: &Address) -> Option<StandIn>;

    /// The address of this system's root as others know it.
    fn here(&self) -> Option<Address>;

    /// A handler keeps its thread, and with it tasks that were to run there next: time to look for those. Called by the
    /// clock every ten milliseconds or so, while that is the case; no timer fires before this returns, so it must not wait
    /// for anything.
    fn relieve(&self) {}
}

impl ActorSystem {
    /// Says how actors of other nodes are found; false if somebody has said so before.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
    /// # struct Island;
    /// # impl Abroad for Island {
    /// #     fn resolve(&self, _: &Address) -> Option<StandIn> { None }
    /// #     fn here(&self) -> Option<Address> { None }
    /// # }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert!(system.set_abroad(Arc::new(Island)));
    /// assert!(!system.set_abroad(Arc::new(Island)), "it was said before");
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn set_abroad(&self, abroad: Arc<dyn Abroad>) -> bool {
        self.core.set_abroad(abroad)
    }
}
