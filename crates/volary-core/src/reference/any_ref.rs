//! A reference to an actor whose type is found out at run time, for those who have no more than an address.

use std::any::TypeId;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr;

use super::actor_ref::ActorRef;
use super::found::Found;
use super::id::ActorId;
use super::recipient::Recipient;
use super::status::ActorStatus;
use super::target::Target;
use super::watch::Termination;
use crate::actor::{Actor, Message};
use crate::cell::state::DEAD;
use crate::cell::{CellRef, absent_table};
use crate::tree::{Address, Path};

/// Some actor. Nothing can be sent to it before it is known what it is.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let some = AnyRef::from(&alice);
/// assert_eq!(some.downcast::<Account>(), Some(alice.clone()));
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Clone, PartialEq)]
pub struct AnyRef {
    pub(super) cell: CellRef,
}

impl AnyRef {
    pub(crate) fn new(cell: CellRef) -> Self {
        AnyRef { cell }
    }

    /// The type of the actor.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let some = AnyRef::from(&alice);
    /// assert_eq!(some.actor_type(), std::any::TypeId::of::<Account>());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn actor_type(&self) -> TypeId {
        (self.cell.table.actor_type)()
    }

    /// The typed reference, if the actor is of that type. Of one that lives elsewhere that is not known here: it is seen
    /// when messages arrive.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # struct Safe; impl Actor for Safe {}
    /// let some = AnyRef::from(&alice);
    /// assert!(some.downcast::<Account>().is_some());
    /// assert!(some.downcast::<Safe>().is_none());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn downcast<A: Actor>(&self) -> Option<ActorRef<A>> {
        self.with(ActorRef::clone)
    }

    /// Calls with the typed reference, if the actor is of that type as [`downcast`](AnyRef::downcast) sees it. It is lent:
    /// no reference is counted, which matters to those who tell many.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let some = AnyRef::from(&alice);
    /// let told = some.with(|account: &ActorRef<Account>| account.tell(Deposit(5)));
    /// assert!(told.is_some_and(|told| told.is_ok()));
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[inline]
    pub fn with<A: Actor, R>(&self, call: impl FnOnce(&ActorRef<A>) -> R) -> Option<R> {
        let is = self.cell.foreign().is_some() || self.actor_type() == TypeId::of::<A>();
        is.then(|| {
            // SAFETY: a second reference that was not counted, and is not dropped; the first is borrowed meanwhile.
            let cell = unsafe { ptr::read(&self.cell) };
            call(&ManuallyDrop::new(ActorRef::from_cell(cell, ())))
        })
    }

    /// The same for whatever a reference may be typed by: a protocol too, if [`Actor::messages`] lists all of its messages,
    /// or the actor lives elsewhere.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let some = AnyRef::from(&alice);
    /// let till: Option<ActorRef<Takes<Deposit>>> = some.target();
    /// assert_eq!(till.expect("it takes deposits").ask(Deposit(5)).await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn target<T: Target>(&self) -> Option<ActorRef<T>> {
        let via = match self.cell.foreign() {
            Some(_) => T::abroad(),
            None => T::found(&Found::new(&self.cell))?,
        };
        Some(ActorRef::from_cell(self.cell.clone(), via))
    }

    /// A reference for one message, if [`Actor::messages`] lists it, or the actor lives elsewhere.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let till = AnyRef::from(&alice).recipient().expect("it takes deposits");
    /// assert_eq!(till.ask(Deposit(5)).await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn recipient<M: Message>(&self) -> Option<Recipient<M>> {
        let table = match self.cell.foreign() {
            Some(_) => absent_table::<M>(),
            None => (self.cell.table.accepts)(TypeId::of::<M>())?,
        };
        Some(Recipient::new(self.cell.clone(), table))
    }

    /// The id of the incarnation.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert_eq!(AnyRef::from(&alice).id(), alice.id());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn id(&self) -> ActorId {
        ActorId::of(self.cell.id)
    }

    /// Where it lives.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert_eq!(AnyRef::from(&alice).path().to_string(), "/user/alice");
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
    /// assert_eq!(AnyRef::from(&alice).address(), alice.address());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn address(&self) -> Address {
        self.cell.system().address_of(&self.cell)
    }

    /// As [`ActorRef::stop`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let any = AnyRef::from(&alice);
    /// any.stop();
    /// alice.terminated().await;
    /// assert!(!any.is_alive());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn stop(&self) {
        self.reference().stop();
    }

    /// As [`ActorRef::kill`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let any = AnyRef::from(&alice);
    /// any.kill();
    /// alice.terminated().await;
    /// assert!(!any.is_alive());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn kill(&self) {
        self.reference().kill();
    }

    /// As [`ActorRef::restart`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// alice.ask(Deposit(5)).await?;
    /// AnyRef::from(&alice).restart();
    /// assert_eq!(alice.ask(Balance).await?, 0);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn restart(&self) {
        self.reference().restart();
    }

    /// As [`ActorRef::reinstate`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let events = system.events().subscribe::<ActorSuspended>();
    /// let bob = system.spawn(Account::default).on_fault(Directive::Suspend).await?;
    /// # let _ = inside(&bob, |_| Err("out of ink".into())).await;
    /// events.next().await?; // he has crashed, and waits
    /// AnyRef::from(&bob).reinstate();
    /// assert_eq!(bob.ask(Deposit(5)).await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn reinstate(&self) {
        self.reference().reinstate();
    }

    /// As [`ActorRef::drain`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let any = AnyRef::from(&alice);
    /// any.drain();
    /// alice.terminated().await;
    /// assert!(!any.is_alive());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn drain(&self) {
        self.reference().drain();
    }

    /// As [`ActorRef::passivate`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// AnyRef::from(&alice).passivate();
    /// assert_eq!(alice.ask(Balance).await?, 0, "it is woken by a message");
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn passivate(&self) {
        self.reference().passivate();
    }

    /// As [`ActorRef::terminated`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let any = AnyRef::from(&alice);
    /// alice.stop();
    /// any.terminated().await;
    /// assert!(!alice.is_alive());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn terminated(&self) -> Termination {
        Termination::new(self.cell.clone())
    }

    /// As [`ActorRef::status`].
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert!(AnyRef::from(&alice).status().running);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn status(&self) -> ActorStatus {
        ActorStatus::of(&self.cell)
    }

    /// A reference by which nothing can be sent.
    fn reference(&self) -> ActorRef<Nothing> {
        ActorRef::from_cell(self.cell.clone(), ())
    }

    /// Whether the actor has not ended yet.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert!(AnyRef::from(&alice).is_alive());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn is_alive(&self) -> bool {
        !self.cell.state.has(DEAD)
    }
}

impl<A: Actor> From<&ActorRef<A>> for AnyRef {
    fn from(actor: &ActorRef<A>) -> Self {
        AnyRef::new(actor.cell().clone())
    }
}

/// The target of a reference by which nothing can be sent.
enum Nothing {}
impl Target for Nothing {
    type Via = ();

    fn abroad() -> Self::Via {}

    fn found(_: &Found<'_>) -> Option<Self::Via> {
        None
    }
}

impl Eq for AnyRef {}

impl fmt::Debug for AnyRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AnyRef({})", self.path())
    }
}
