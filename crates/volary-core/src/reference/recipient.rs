//! A reference for one message.

use std::fmt;
use std::marker::PhantomData;

use super::actor_ref::{ActorRef, tell};
use super::ask::Ask;
use super::departure::untimed;
use super::errors::TellError;
use super::id::ActorId;
use super::post::{envelope_from_here, post, post_unbounded};
use super::send::SendFuture;
use super::target::Accepts;
use crate::actor::Message;
use crate::cell::CellRef;
use crate::cell::state::DEAD;
use crate::mailbox::{MessageTable, Refusal};
use crate::tree::{Address, Path};

/// Anybody who takes messages of type `M`, whatever else they are.
///
/// Made by [`ActorRef::recipient`](crate::ActorRef::recipient), or from an address alone by
/// [`ActorSystem::recipient`](crate::ActorSystem::recipient).
///
/// ```
/// # use volary_core::{Message, Recipient};
/// # struct Tick; impl Message for Tick { type Reply = (); type Rejection = std::convert::Infallible; }
/// fn ring(all: &[Recipient<Tick>]) {
///     for one in all {
///         let _ = one.tell(Tick);
///     }
/// }
/// ```
pub struct Recipient<M: Message> {
    cell: CellRef,
    table: &'static MessageTable,
    message: PhantomData<fn(M)>,
}

impl<M: Message> Recipient<M> {
    pub(crate) fn new(cell: CellRef, table: &'static MessageTable) -> Self {
        Recipient {
            cell,
            table,
            message: PhantomData,
        }
    }

    pub(crate) fn cell(&self) -> &CellRef {
        &self.cell
    }

    pub(crate) fn table(&self) -> &'static MessageTable {
        self.table
    }

    /// As [`ActorRef::tell`](crate::ActorRef::tell).
    ///
    /// ```
    /// # use volary_core::{Message, Recipient, TellError};
    /// # fn f<M: Message>(who: &Recipient<M>, message: M) -> Result<(), TellError<M>> {
    /// who.tell(message)
    /// # }
    /// ```
    ///
    /// # Errors
    /// The message, if it was refused.
    pub fn tell(&self, message: M) -> Result<(), TellError<M>> {
        tell(&self.cell, self.table, message)
    }

    /// Sends for somebody who is not there to take a refusal: it becomes exactly one dead letter.
    pub(crate) fn deliver(&self, message: M) {
        let envelope = envelope_from_here(&self.cell);
        let sender = envelope.sender;
        match post(&self.cell, self.table, envelope, message) {
            Ok(()) => {
                if self.cell.state.mail() {
                    self.cell.schedule();
                }
            }
            Err((refusal, message)) => {
                let reason = refusal.dead_reason();
                self.cell.system().dead_letter(&self.cell, sender, reason, message);
            }
        }
    }

    /// The same for a message that no bound applies to.
    pub(crate) fn deliver_exempt(&self, message: M) {
        let envelope = untimed(envelope_from_here(&self.cell));
        match post_unbounded(&self.cell, self.table, envelope, message) {
            Ok(()) if self.cell.state.mail() => self.cell.schedule(),
            Ok(()) => {}
            Err((refusal, message)) => {
                let reason = refusal.dead_reason();
                self.cell
                    .system()
                    .dead_letter(&self.cell, envelope.sender, reason, message);
            }
        }
    }

    /// Sends for somebody who does something about a refusal, which is not counted.
    pub(crate) fn attempt(&self, message: M) -> Result<(), (Refusal, M)> {
        post(&self.cell, self.table, envelope_from_here(&self.cell), message)?;
        if self.cell.state.mail() {
            self.cell.schedule();
        }
        Ok(())
    }

    /// As [`ActorRef::send`](crate::ActorRef::send). Cancel safe.
    ///
    /// ```
    /// # use volary_core::{Message, Recipient, SendError};
    /// # async fn f<M: Message>(who: &Recipient<M>, message: M) -> Result<(), SendError<M>> {
    /// who.send(message).await
    /// # }
    /// ```
    pub fn send(&self, message: M) -> SendFuture<'_, M> {
        SendFuture::new(&self.cell, self.table, message)
    }

    /// As [`ActorRef::ask`](crate::ActorRef::ask). Cancel safe.
    ///
    /// ```
    /// # use volary_core::{AskError, Message, Recipient};
    /// # async fn f<M: Message>(who: &Recipient<M>, message: M) -> Result<M::Reply, AskError<M::Rejection>> {
    /// who.ask(message).await
    /// # }
    /// ```
    pub fn ask(&self, message: M) -> Ask<'_, M> {
        Ask::new(&self.cell, self.table, message)
    }

    /// The id of the incarnation behind it.
    ///
    /// ```
    /// # fn f<M: volary_core::Message>(who: &volary_core::Recipient<M>) {
    /// println!("{}", who.id());
    /// # }
    /// ```
    #[must_use]
    pub fn id(&self) -> ActorId {
        ActorId::of(self.cell.id)
    }

    /// Where it lives.
    ///
    /// ```
    /// # fn f<M: volary_core::Message>(who: &volary_core::Recipient<M>) {
    /// println!("{}", who.path());
    /// # }
    /// ```
    #[must_use]
    pub fn path(&self) -> Path {
        self.cell.path()
    }

    /// The address of this incarnation: path and uid.
    ///
    /// ```
    /// # fn f<M: volary_core::Message>(who: &volary_core::Recipient<M>) {
    /// println!("{}", who.address());
    /// # }
    /// ```
    #[must_use]
    pub fn address(&self) -> Address {
        self.cell.system().address_of(&self.cell)
    }

    /// Whether the actor has not ended yet.
    ///
    /// ```
    /// # fn f<M: volary_core::Message>(who: &volary_core::Recipient<M>) -> bool {
    /// who.is_alive()
    /// # }
    /// ```
    #[must_use]
    pub fn is_alive(&self) -> bool {
        !self.cell.state.has(DEAD)
    }
}

impl<T: Accepts<M>, M: Message> From<&ActorRef<T>> for Recipient<M> {
    fn from(actor: &ActorRef<T>) -> Self {
        actor.recipient()
    }
}

impl<M: Message> From<&Recipient<M>> for Recipient<M> {
    fn from(recipient: &Recipient<M>) -> Self {
        recipient.clone()
    }
}

impl<M: Message> Clone for Recipient<M> {
    fn clone(&self) -> Self {
        Recipient {
            cell: self.cell.clone(),
            table: self.table,
            message: PhantomData,
        }
    }
}

impl<M: Message> PartialEq for Recipient<M> {
    fn eq(&self, other: &Self) -> bool {
        self.cell == other.cell
    }
}

impl<M: Message> Eq for Recipient<M> {}

impl<M: Message> fmt::Debug for Recipient<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Recipient<{}>({})", std::any::type_name::<M>(), self.path())
    }
}
