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
/// # use std::sync::Arc;
/// # use volary_core::{Actor, ActorRef, ActorSystem, Address, foreign::Outlet};
/// fn far_away<A: Actor>(system: &ActorSystem, address: Address, outlet: Arc<dyn Outlet>) -> Option<ActorRef<A>> {
///     Some(system.stand_in(address, outlet)?.actor_ref())
/// }
/// ```
#[derive(Clone)]
pub struct StandIn(CellRef);

impl ActorSystem {
    /// Makes a stand-in for an actor elsewhere. `None`: the system is stopping, or has no id left.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use volary_core::{ActorSystem, Address, AnyRef, foreign::Outlet};
    /// fn far_away(system: &ActorSystem, address: Address, outlet: Arc<dyn Outlet>) -> Option<AnyRef> {
    ///     Some(system.stand_in(address, outlet)?.any_ref())
    /// }
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
    /// # use volary_core::{ActorRef, Target, foreign::StandIn};
    /// fn typed<T: Target>(stand_in: &StandIn) -> ActorRef<T> { stand_in.actor_ref() }
    /// ```
    #[must_use]
    pub fn actor_ref<T: Target>(&self) -> ActorRef<T> {
        ActorRef::from_cell(self.0.clone(), T::abroad())
    }

    /// A reference without a type.
    ///
    /// ```
    /// # use volary_core::{AnyRef, foreign::StandIn};
    /// fn untyped(stand_in: &StandIn) -> AnyRef { stand_in.any_ref() }
    /// ```
    #[must_use]
    pub fn any_ref(&self) -> AnyRef {
        AnyRef::new(self.0.clone())
    }

    /// A reference for one message.
    ///
    /// ```
    /// # use volary_core::{Message, Recipient, foreign::StandIn};
    /// fn typed<M: Message>(stand_in: &StandIn) -> Recipient<M> { stand_in.recipient() }
    /// ```
    #[must_use]
    pub fn recipient<M: Message>(&self) -> Recipient<M> {
        Recipient::new(self.0.clone(), crate::cell::absent_table::<M>())
    }

    /// Its id here, as the sender of what comes from there.
    ///
    /// ```
    /// # fn f(stand_in: &volary_core::foreign::StandIn) { println!("{}", stand_in.id()); }
    /// ```
    #[must_use]
    pub fn id(&self) -> ActorId {
        ActorId::of(self.0.id)
    }

    /// Where the actor lives.
    ///
    /// ```
    /// # fn f(stand_in: &volary_core::foreign::StandIn) { println!("{}", stand_in.address()); }
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
    /// # fn f(stand_in: &volary_core::foreign::StandIn) { stand_in.end(); }
    /// ```
    pub fn end(&self) {
        self.0.close_mailbox();
        self.0.control(KILL);
    }

    /// A message to it that was taken, and got lost on the way: a dead letter.
    ///
    /// ```
    /// # use volary_core::{DeadReason, foreign::StandIn};
    /// fn lost(stand_in: &StandIn) { stand_in.dead_letter(None, DeadReason::Unconfirmed, "shop.Order") }
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
    /// # fn f(stand_in: &volary_core::foreign::StandIn) -> bool { stand_in.has_ended() }
    /// ```
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.0.state.has(DEAD)
    }

    /// Whether anybody here waits to hear of its end.
    ///
    /// ```
    /// # use volary_core::foreign::StandIn;
    /// # fn f(stand_in: &StandIn) -> bool {
    /// stand_in.is_watched()
    /// # }
    /// ```
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.0.is_watched_by_anybody()
    }

    /// Whether nobody but the transport, which keeps `kept` of them, refers to it, so that it may be let go.
    ///
    /// ```
    /// # fn f(stand_in: &volary_core::foreign::StandIn) -> bool { stand_in.is_unused(1) }
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
/// # use volary_core::{Address, foreign::{Abroad, StandIn}};
/// struct Island;
/// impl Abroad for Island {
///     fn resolve(&self, _: &Address) -> Option<StandIn> { None }
///     fn here(&self) -> Option<Address> { None }
/// }
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
    /// # use std::sync::Arc;
    /// # use volary_core::{ActorSystem, foreign::Abroad};
    /// fn connect(system: &ActorSystem, abroad: Arc<dyn Abroad>) -> bool { system.set_abroad(abroad) }
    /// ```
    #[must_use]
    pub fn set_abroad(&self, abroad: Arc<dyn Abroad>) -> bool {
        self.core.set_abroad(abroad)
    }
}
