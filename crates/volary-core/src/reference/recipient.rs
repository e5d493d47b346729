//! A reference for one message.

use std::fmt;
use std::marker::PhantomData;

use super::actor_ref::ActorRef;
use super::ask::Ask;
use super::departure::untimed;
use super::errors::TellError;
use super::id::ActorId;
use super::post::{envelope_from_here, post, post_unbounded};
use super::send::SendFuture;
use super::sending::tell;
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
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let bob = system.spawn(Account::default).named("bob").await?;
/// let tills: Vec<Recipient<Deposit>> = vec![alice.recipient(), bob.recipient()];
/// for till in &tills {
///     till.tell(Deposit(5))?;
/// }
/// assert_eq!(bob.ask(Balance).await?, 5);
/// # system.stop().await?; Ok(()) }
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
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let till: Recipient<Deposit> = alice.recipient();
    /// till.tell(Deposit(5))?;
    /// assert_eq!(alice.ask(Balance).await?, 5);
    /// # system.stop().await?; Ok(()) }
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
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let till: Recipient<Deposit> = alice.recipient();
    /// till.send(Deposit(5)).await?;
    /// assert_eq!(alice.ask(Balance).await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn send(&self, message: M) -> SendFuture<'_, M> {
        SendFuture::new(&self.cell, self.table, message)
    }

    /// As [`ActorRef::ask`](crate::ActorRef::ask). Cancel safe.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let till: Recipient<Deposit> = alice.recipient();
    /// assert_eq!(till.ask(Deposit(5)).await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn ask(&self, message: M) -> Ask<'_, M> {
        Ask::new(&self.cell, self.table, message)
    }

    /// The id of the incarnation behind it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert_eq!(alice.recipient::<Deposit>().id(), alice.id());
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
    /// assert_eq!(alice.recipient::<Deposit>().path().to_string(), "/user/alice");
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
    /// assert_eq!(alice.recipient::<Deposit>().address(), alice.address());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn address(&self) -> Address {
        self.cell.system().address_of(&self.cell)
    }

    /// Whether the actor has not ended yet.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert!(alice.recipient::<Deposit>().is_alive());
    /// # system.stop().await?; Ok(()) }
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
