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
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let arrival = Arrival::new(&system).time_left(Duration::from_secs(2));
/// arrival.deliver(|| alice.tell(Deposit(5)))?;
/// assert_eq!(alice.ask(Balance).await?, 5);
/// # system.stop().await?; Ok(()) }
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
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # arrive(&alice,
    /// Arrival::new(&system)
    /// # , |ctx| {
    /// # assert!(ctx.sender().is_none());
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
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
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let bob: StandIn = bob(&system, |_| Ok(()))?;
    /// let arrival = Arrival::new(&system).from(Some(bob.id()));
    /// # arrive(&alice, arrival, move |ctx| {
    /// assert_eq!(ctx.sender(), Some(bob.id())); // in the handler
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[inline]
    pub fn from(mut self, sender: Option<ActorId>) -> Self {
        self.sender = sender;
        self
    }

    /// Says after which time its answer is of no use.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let told = system.events().subscribe::<Option<Duration>>();
    /// # let body = Inside(Box::new(|ctx| Ok(ctx.system().events().publish(ctx.time_left()))));
    /// # let bob = bob(&system, |_| Ok(()))?;
    /// let arrival = Arrival::new(&system).from(Some(bob.id())).time_left(Duration::from_secs(2));
    /// # assert!(arrival.deliver(|| alice.tell(body).is_ok()));
    /// # let left = told.next().await?;
    /// assert!(left.is_some_and(|left| left <= Duration::from_secs(2))); // in the handler
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[inline]
    pub fn time_left(mut self, time: Duration) -> Self {
        self.time_left = Some(time);
        self
    }

    /// Says what travelled along.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let baggage = Baggage::new().with_header("user", "ada")?;
    /// let arrival = Arrival::new(&system).baggage(&baggage);
    /// # arrive(&alice, arrival, move |_| {
    /// assert_eq!(Baggage::current().header("user"), Some(&b"ada"[..])); // in the handler
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[inline]
    pub fn baggage(mut self, baggage: &'a Baggage) -> Self {
        self.baggage = Some(baggage);
        self
    }

    /// Says who hears when the message has left its mailbox, handled or not.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/office.rs"));
    /// # use volary_core::foreign::Arrival;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let office = Arc::new(Office::default()); // adds up the tickets it hears of
    /// let arrival = Arrival::new(&system).receipt(Receipt::new(office.clone(), 42));
    /// arrival.deliver(|| alice.tell(Deposit(5)))?;
    /// alice.ask(Balance).await?;
    /// assert_eq!(office.0.load(SeqCst), 42);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[inline]
    pub fn receipt(mut self, receipt: Receipt) -> Self {
        self.receipt = Some(receipt);
        self
    }

    /// Calls `send`, which tells or asks somebody; one message at most gets the receipt.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// Arrival::new(&system).deliver(|| alice.tell(Deposit(5)))?;
    /// assert_eq!(alice.ask(Balance).await?, 5);
    /// # system.stop().await?; Ok(()) }
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
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// Arrival::many(&system, || {
    ///     for cents in [5, 6] {
    ///         Arrival::new(&system).deliver(|| alice.tell(Deposit(cents)).is_ok());
    ///     }
    /// });
    /// assert_eq!(alice.ask(Balance).await?, 11);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn many<R>(system: &ActorSystem, deliver_all: impl FnOnce() -> R) -> R {
        Gathered::within(system.core.default_pool(), deliver_all)
    }

    /// It cannot be delivered, and nobody waits for an answer: a dead letter, of which no more than its type is left,
    /// or the name that it was sent under.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let letters = system.events().subscribe::<DeadLetter>();
    /// Arrival::new(&system).dead_letter("/user/carol".parse()?, DeadReason::Nobody, "bank.Deposit");
    /// assert_eq!(letters.next().await?.message_type(), "bank.Deposit");
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn dead_letter(self, receiver: Path, reason: DeadReason, message_type: impl Into<Cow<'static, str>>) {
        let sender = self.sender.map_or(0, ActorId::raw);
        let core = &self.system.core;
        core.dead_letter_unseen(Addressee::here(None), receiver, sender, reason, message_type.into());
    }
}
