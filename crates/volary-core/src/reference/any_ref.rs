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
/// # use volary_core::{Actor, ActorRef, AnyRef};
/// fn back<A: Actor>(actor: &ActorRef<A>) -> Option<ActorRef<A>> {
///     AnyRef::from(actor).downcast::<A>()
/// }
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
    /// # use volary_core::{Actor, AnyRef};
    /// # fn f<A: Actor>(some: &AnyRef) -> bool {
    /// some.actor_type() == std::any::TypeId::of::<A>()
    /// # }
    /// ```
    #[must_use]
    pub fn actor_type(&self) -> TypeId {
        (self.cell.table.actor_type)()
    }

    /// The typed reference, if the actor is of that type. Of one that lives elsewhere that is not known here: it is seen
    /// when messages arrive.
    ///
    /// ```
    /// # use volary_core::{Actor, ActorRef, AnyRef};
    /// # fn f<A: Actor>(some: &AnyRef) -> Option<ActorRef<A>> {
    /// some.downcast()
    /// # }
    /// ```
    #[must_use]
    pub fn downcast<A: Actor>(&self) -> Option<ActorRef<A>> {
        self.with(ActorRef::clone)
    }

    /// Calls with the typed reference, if the actor is of that type as [`downcast`](AnyRef::downcast) sees it. It is lent:
    /// no reference is counted, which matters to those who tell many.
    ///
    /// ```
    /// # use volary_core::{Accepts, Actor, AnyRef, Message};
    /// fn tell<A: Actor + Accepts<M>, M: Message>(some: &AnyRef, message: M) -> bool {
    ///     some.with(|actor: &volary_core::ActorRef<A>| actor.tell(message).is_ok()).unwrap_or(false)
    /// }
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
    /// # use volary_core::{ActorRef, AnyRef, Target};
    /// # fn f<T: Target>(some: &AnyRef) -> Option<ActorRef<T>> {
    /// some.target()
    /// # }
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
    /// # use volary_core::{AnyRef, Message, Recipient};
    /// # fn f<M: Message>(some: &AnyRef) -> Option<Recipient<M>> {
    /// some.recipient()
    /// # }
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
    /// # fn f(some: &volary_core::AnyRef) {
    /// println!("{}", some.id());
    /// # }
    /// ```
    #[must_use]
    pub fn id(&self) -> ActorId {
        ActorId::of(self.cell.id)
    }

    /// Where it lives.
    ///
    /// ```
    /// # fn f(some: &volary_core::AnyRef) {
    /// println!("{}", some.path());
    /// # }
    /// ```
    #[must_use]
    pub fn path(&self) -> Path {
        self.cell.path()
    }

    /// The address of this incarnation: path and uid.
    ///
    /// ```
    /// # fn f(some: &volary_core::AnyRef) {
    /// println!("{}", some.address());
    /// # }
    /// ```
    #[must_use]
    pub fn address(&self) -> Address {
        self.cell.system().address_of(&self.cell)
    }

    /// As [`ActorRef::stop`].
    ///
    /// ```
    /// # fn f(some: &volary_core::AnyRef) {
    /// some.stop();
    /// # }
    /// ```
    pub fn stop(&self) {
        self.reference().stop();
    }

    /// As [`ActorRef::kill`].
    ///
    /// ```
    /// # fn f(some: &volary_core::AnyRef) {
    /// some.kill();
    /// # }
    /// ```
    pub fn kill(&self) {
        self.reference().kill();
    }

    /// As [`ActorRef::restart`].
    ///
    /// ```
    /// # fn f(some: &volary_core::AnyRef) {
    /// some.restart();
    /// # }
    /// ```
    pub fn restart(&self) {
        self.reference().restart();
    }

    /// As [`ActorRef::reinstate`].
    ///
    /// ```
    /// # fn f(some: &volary_core::AnyRef) {
    /// some.reinstate();
    /// # }
    /// ```
    pub fn reinstate(&self) {
        self.reference().reinstate();
    }

    /// As [`ActorRef::drain`].
    ///
    /// ```
    /// # fn f(some: &volary_core::AnyRef) {
    /// some.drain();
    /// # }
    /// ```
    pub fn drain(&self) {
        self.reference().drain();
    }

    /// As [`ActorRef::passivate`].
    ///
    /// ```
    /// # fn f(some: &volary_core::AnyRef) {
    /// some.passivate();
    /// # }
    /// ```
    pub fn passivate(&self) {
        self.reference().passivate();
    }

    /// As [`ActorRef::terminated`].
    ///
    /// ```
    /// # async fn f(some: &volary_core::AnyRef) {
    /// some.terminated().await;
    /// # }
    /// ```
    pub fn terminated(&self) -> Termination {
        Termination::new(self.cell.clone())
    }

    /// As [`ActorRef::status`].
    ///
    /// ```
    /// # fn f(some: &volary_core::AnyRef) -> bool {
    /// some.status().running
    /// # }
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
    /// # fn f(some: &volary_core::AnyRef) -> bool {
    /// some.is_alive()
    /// # }
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
