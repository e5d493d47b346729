//! A message on its way out.

use std::any::{Any, TypeId};
use std::fmt;
use std::time::Duration;

use super::outlet::Foreign;
use super::pending_reply::PendingReply;
use crate::actor::Message;
use crate::baggage::Baggage;
use crate::cell::Header;
use crate::dispatch::contain;
use crate::mailbox::{Envelope, Refusal};
use crate::reference::ActorId;
use crate::time::Moment;

/// A message for an actor elsewhere, and what goes with it.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
/// fn cents(parcel: &Parcel<'_>) -> Option<i64> {
///     Some(parcel.message().downcast_ref::<Deposit>()?.0)
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// # let bob = bob(&system, |parcel| {
/// assert_eq!(cents(parcel), Some(5)); // in the outlet
/// # Ok(()) })?;
/// # bob.actor_ref::<Account>().tell(Deposit(5))?;
/// # system.stop().await?; Ok(()) }
/// ```
pub struct Parcel<'a> {
    message: &'a (dyn Any + Send),
    type_name: &'static str,
    sender: Option<ActorId>,
    time_left: Option<Duration>,
    baggage: &'a Baggage,
    reply: Option<PendingReply>,
}

impl<'a> Parcel<'a> {
    /// The message itself.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let bob = bob(&system, |parcel| {
    /// assert_eq!(parcel.message().downcast_ref(), Some(&Deposit(5)));
    /// # Ok(()) })?;
    /// # bob.actor_ref::<Account>().tell(Deposit(5))?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn message(&self) -> &'a (dyn Any + Send) {
        self.message
    }

    /// Its type.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let bob = bob(&system, |parcel| {
    /// assert_eq!(parcel.message_type(), std::any::TypeId::of::<Deposit>());
    /// # Ok(()) })?;
    /// # bob.actor_ref::<Account>().tell(Deposit(5))?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn message_type(&self) -> TypeId {
        self.message.type_id()
    }

    /// The name of its type, for messages.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let bob = bob(&system, |parcel| {
    /// assert!(parcel.type_name().ends_with("Deposit"));
    /// # Ok(()) })?;
    /// # bob.actor_ref::<Account>().tell(Deposit(5))?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        self.type_name
    }

    /// Who sends it; `None` from outside of any actor.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let bob = bob(&system, |parcel| {
    /// assert_eq!(parcel.sender(), None, "whoever tells is no actor");
    /// # Ok(()) })?;
    /// # bob.actor_ref::<Account>().tell(Deposit(5))?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn sender(&self) -> Option<ActorId> {
        self.sender
    }

    /// After which time its answer is of no use.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let bob = bob(&system, |parcel| {
    /// assert_eq!(parcel.time_left(), Some(Duration::from_secs(2))); // as long as the asker waits
    /// # Ok(()) })?;
    /// # let answer = bob.actor_ref::<Account>().ask(Deposit(5)).timeout(Duration::from_secs(2)).await;
    /// # assert!(matches!(answer, Err(AskError::NoReply)), "{answer:?}");
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn time_left(&self) -> Option<Duration> {
        self.time_left
    }

    /// What travels along.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let bob = bob(&system, |parcel| {
    /// assert_eq!(parcel.baggage().header("user"), Some(&b"ada"[..]));
    /// # Ok(()) })?;
    /// # let baggage = Baggage::new().with_header("user", "ada")?;
    /// # baggage.in_scope(|| bob.actor_ref::<Account>().tell(Deposit(5)))?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn baggage(&self) -> &'a Baggage {
        self.baggage
    }

    /// Whether somebody waits for the answer.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let bob = bob(&system, |parcel| {
    /// assert!(!parcel.is_asked(), "it is told");
    /// # Ok(()) })?;
    /// # bob.actor_ref::<Account>().tell(Deposit(5))?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.reply.is_some()
    }

    /// Takes the right to answer. An outlet that takes it takes the message: it must return `Ok`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let bob = bob(&system, |parcel| {
    /// if let Some(reply) = parcel.take_reply() {
    ///     reply.stopped();
    /// }
    /// # Ok(()) })?;
    /// # let answer = bob.actor_ref::<Account>().ask(Deposit(5)).await;
    /// # assert!(matches!(answer, Err(AskError::Stopped)), "{answer:?}");
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn take_reply(&mut self) -> Option<PendingReply> {
        self.reply.take()
    }
}

impl fmt::Debug for Parcel<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parcel")
            .field("type", &self.type_name)
            .field("sender", &self.sender)
            .field("asked", &self.is_asked())
            .finish_non_exhaustive()
    }
}

/// Hands a message to the outlet of a stand-in. The envelope is used up.
#[cold]
#[inline(never)]
pub(crate) fn post_out<M: Message>(
    cell: &Header,
    foreign: &Foreign,
    mut envelope: Envelope,
    message: M,
) -> Result<(), (Refusal, M)> {
    // Most carry nothing, and a box for that would be the only allocation on the way.
    let carried = envelope.take_carried();
    let nothing = Baggage::new();
    if cell.log.is_closed() {
        return Err((Refusal::Closed, message));
    }
    let asked = envelope.reply.is_some();
    let reply = envelope.reply.map(PendingReply::new::<M>);
    let mut parcel = Parcel {
        message: &message,
        type_name: std::any::type_name::<M>(),
        sender: ActorId::from_raw(envelope.sender),
        time_left: match &reply {
            Some(reply) => Some(reply.patience()),
            None if envelope.deadline == 0 => None,
            None => Some(Moment::from_nanos(envelope.deadline).since(cell.system().now())),
        },
        baggage: carried.as_ref().map_or(&nothing, |carried| &carried.baggage),
        reply,
    };
    let sent = contain(|| foreign.outlet.send(&mut parcel)).unwrap_or_else(|fault| {
        cell.system().report_hook_fault(cell, "outlet", &fault);
        Err(super::outlet::Undeliverable::Unsendable)
    });
    match (sent, parcel.reply.take()) {
        (Err(why), Some(reply)) => {
            reply.give_back();
            Err((why.refuse(), message))
        }
        (Err(why), None) if !asked => Err((why.refuse(), message)),
        // Taken, whatever it says: somebody has the right to answer.
        _ => Ok(()),
    }
}
