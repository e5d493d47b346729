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
/// # use volary_core::foreign::Parcel;
/// # struct Deposit { cents: i64 }
/// fn cents(parcel: &Parcel<'_>) -> Option<i64> {
///     Some(parcel.message().downcast_ref::<Deposit>()?.cents)
/// }
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
    /// # fn f(parcel: &volary_core::foreign::Parcel<'_>) -> bool { parcel.message().is::<String>() }
    /// ```
    #[must_use]
    pub fn message(&self) -> &'a (dyn Any + Send) {
        self.message
    }

    /// Its type.
    ///
    /// ```
    /// # fn f(parcel: &volary_core::foreign::Parcel<'_>) { println!("{:?}", parcel.message_type()); }
    /// ```
    #[must_use]
    pub fn message_type(&self) -> TypeId {
        self.message.type_id()
    }

    /// The name of its type, for messages.
    ///
    /// ```
    /// # fn f(parcel: &volary_core::foreign::Parcel<'_>) { println!("{}", parcel.type_name()); }
    /// ```
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        self.type_name
    }

    /// Who sends it; `None` from outside of any actor.
    ///
    /// ```
    /// # fn f(parcel: &volary_core::foreign::Parcel<'_>) -> bool { parcel.sender().is_some() }
    /// ```
    #[must_use]
    pub fn sender(&self) -> Option<ActorId> {
        self.sender
    }

    /// After which time its answer is of no use.
    ///
    /// ```
    /// # fn f(parcel: &volary_core::foreign::Parcel<'_>) { println!("{:?}", parcel.time_left()); }
    /// ```
    #[must_use]
    pub fn time_left(&self) -> Option<Duration> {
        self.time_left
    }

    /// What travels along.
    ///
    /// ```
    /// # fn f(parcel: &volary_core::foreign::Parcel<'_>) -> bool { parcel.baggage().is_empty() }
    /// ```
    pub fn baggage(&self) -> &'a Baggage {
        self.baggage
    }

    /// Whether somebody waits for the answer.
    ///
    /// ```
    /// # fn f(parcel: &volary_core::foreign::Parcel<'_>) -> bool { parcel.is_asked() }
    /// ```
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.reply.is_some()
    }

    /// Takes the right to answer. An outlet that takes it takes the message: it must return `Ok`.
    ///
    /// ```
    /// # fn f(parcel: &mut volary_core::foreign::Parcel<'_>) { let reply = parcel.take_reply(); }
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
