//! A message on its way in.

use std::borrow::Cow;
use std::cell::Cell;
use std::time::Duration;

use super::receipt::Receipt;
use crate::baggage::Baggage;
use crate::dispatch::{Gathered, Host};
use crate::events::DeadReason;
use crate::reference::ActorId;
use crate::system::{ActorSystem, Addressee};
use crate::tree::Path;

/// What came with a message from elsewhere. Whatever is told or asked under it comes from that sender, with that
/// deadline and baggage.
///
/// ```
/// # use volary_core::{Message, Recipient, foreign::Arrival};
/// fn deliver<M: Message>(arrival: Arrival<'_>, to: &Recipient<M>, message: M) {
///     arrival.deliver(|| to.tell(message).is_ok());
/// }
/// ```
#[derive(Debug)]
#[must_use]
pub struct Arrival<'a> {
    system: &'a ActorSystem,
    sender: Option<ActorId>,
    time_left: Option<Duration>,
    baggage: Option<&'a Baggage>,
    receipt: Option<Receipt>,
}

impl<'a> Arrival<'a> {
    /// From outside of any actor, with nothing.
    ///
    /// ```
    /// # use volary_core::{ActorSystem, foreign::Arrival};
    /// fn bare(system: &ActorSystem) -> Arrival<'_> { Arrival::new(system) }
    /// ```
    #[inline]
    pub fn new(system: &'a ActorSystem) -> Self {
        Arrival {
            system,
            sender: None,
            time_left: None,
            baggage: None,
            receipt: None,
        }
    }

    /// Says who sent it, if an actor did: the id of its stand-in.
    ///
    /// ```
    /// # use volary_core::{ActorSystem, foreign::{Arrival, StandIn}};
    /// fn from<'a>(system: &'a ActorSystem, sender: &StandIn) -> Arrival<'a> { Arrival::new(system).from(Some(sender.id())) }
    /// ```
    #[inline]
    pub fn from(mut self, sender: Option<ActorId>) -> Self {
        self.sender = sender;
        self
    }

    /// Says after which time its answer is of no use.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use volary_core::{ActorSystem, foreign::Arrival};
    /// fn hasty(system: &ActorSystem) -> Arrival<'_> { Arrival::new(system).time_left(Duration::from_millis(5)) }
    /// ```
    #[inline]
    pub fn time_left(mut self, time: Duration) -> Self {
        self.time_left = Some(time);
        self
    }

    /// Says what travelled along.
    ///
    /// ```
    /// # use volary_core::{ActorSystem, Baggage, foreign::Arrival};
    /// fn with<'a>(system: &'a ActorSystem, baggage: &'a Baggage) -> Arrival<'a> { Arrival::new(system).baggage(baggage) }
    /// ```
    #[inline]
    pub fn baggage(mut self, baggage: &'a Baggage) -> Self {
        self.baggage = Some(baggage);
        self
    }

    /// Says who hears when the message has left its mailbox, handled or not.
    ///
    /// ```
    /// # use volary_core::{ActorSystem, foreign::{Arrival, Receipt}};
    /// fn signed(system: &ActorSystem, receipt: Receipt) -> Arrival<'_> { Arrival::new(system).receipt(receipt) }
    /// ```
    #[inline]
    pub fn receipt(mut self, receipt: Receipt) -> Self {
        self.receipt = Some(receipt);
        self
    }

    /// Calls `send`, which tells or asks somebody; one message at most gets the receipt.
    ///
    /// ```
    /// # use volary_core::foreign::Arrival;
    /// # fn f(arrival: Arrival<'_>) { arrival.deliver(|| ()); }
    /// ```
    #[inline]
    pub fn deliver<R>(self, send: impl FnOnce() -> R) -> R {
        let deadline = self.time_left.map(|time| (self.system.core.now() + time).nanos());
        let sender = self.sender.map_or(0, ActorId::raw);
        let receipt = Cell::new(self.receipt);
        Host::in_arrival(sender, deadline.unwrap_or(0), self.baggage, &receipt, send)
    }

    /// Calls `deliver_all`, which delivers many messages one after the other: actors that are woken by that begin together, some
    /// dozens at a time, and at its end at the latest. Until then it must not wait for any of them.
    ///
    /// ```
    /// # use volary_core::{ActorSystem, Message, Recipient, foreign::Arrival};
    /// fn deliver<M: Message>(system: &ActorSystem, mail: Vec<(Recipient<M>, M)>) {
    ///     Arrival::many(system, || {
    ///         for (to, message) in mail {
    ///             Arrival::new(system).deliver(|| to.tell(message).is_ok());
    ///         }
    ///     });
    /// }
    /// ```
    pub fn many<R>(system: &ActorSystem, deliver_all: impl FnOnce() -> R) -> R {
        Gathered::within(system.core.default_pool(), deliver_all)
    }

    /// It cannot be delivered, and nobody waits for an answer: a dead letter, of which no more than its type is left,
    /// or the name that it was sent under.
    ///
    /// ```
    /// # use volary_core::{ActorSystem, DeadReason, Path, foreign::Arrival};
    /// # fn f(system: &ActorSystem, receiver: Path) {
    /// Arrival::new(system).dead_letter(receiver, DeadReason::Nobody, "bank::Deposit");
    /// # }
    /// ```
    pub fn dead_letter(self, receiver: Path, reason: DeadReason, message_type: impl Into<Cow<'static, str>>) {
        let sender = self.sender.map_or(0, ActorId::raw);
        let core = &self.system.core;
        core.dead_letter_unseen(Addressee::here(None), receiver, sender, reason, message_type.into());
    }
}
