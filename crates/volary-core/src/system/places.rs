//! Whoever lives at a path or an address: found, told and asked there.

use std::any::TypeId;

use super::handle::ActorSystem;
use super::reports::Addressee;
use crate::actor::Message;
use crate::cell::CellRef;
use crate::dispatch::Host;
use crate::events::DeadReason;
use crate::reference::foreign::StandIn;
use crate::reference::{ActorId, ActorRef, AnyRef, Recipient, Target};
use crate::tree::{Address, Path};

impl ActorSystem {
    /// The actor at a path, if there is one and it is a `T`, or speaks that protocol: whoever lives there now.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let alice: ActorRef<Account> = system.lookup("/user/alice").expect("she lives there");
    /// assert_eq!(alice.ask(Deposit(5)).await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn lookup<T: Target>(&self, path: &str) -> Option<ActorRef<T>> {
        AnyRef::new(self.core.find(&path.parse().ok()?)?).target()
    }

    /// Whoever lives at an address, if they take messages of type `M`: no actor type is needed.
    ///
    /// The address may be a path (`/user/alice`) or a local address with or without a uid
    /// (`volary://bank/user/alice#7f`). The message must be listed in
    /// [`Actor::messages`](crate::Actor::messages), as `#[actor]` does.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let till = system.recipient::<Deposit>("/user/alice").expect("she takes deposits");
    /// assert_eq!(till.ask(Deposit(5)).await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn recipient<M: Message>(&self, address: &str) -> Option<Recipient<M>> {
        let cell = if address.starts_with('/') {
            self.core.find(&address.parse().ok()?)?
        } else {
            return self.find(&address.parse().ok()?)?.recipient();
        };
        let table = (cell.table.accepts)(TypeId::of::<M>())?;
        Some(Recipient::new(cell, table))
    }

    /// Whoever lives at an address of this system, whatever they are. An address with a uid finds that incarnation only.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let found = system.find(&alice.address());
    /// assert_eq!(found, Some(AnyRef::from(&alice)));
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn find(&self, address: &Address) -> Option<AnyRef> {
        if address.node().is_some() && !self.is_here(address) {
            return Some(self.resolve_abroad(address)?.any_ref());
        }
        self.cell_at(address).map(AnyRef::new)
    }

    /// The address by which other nodes find what is at this one here.
    pub(crate) fn outside_address_of(&self, inside: &Address) -> Address {
        let here = self.core.abroad().and_then(|abroad| abroad.here());
        match here.as_ref().and_then(Address::node) {
            Some(node) if inside.node().is_none() => inside
                .with_node(&node.host().to_string(), node.port())
                .unwrap_or_else(|_| inside.clone()),
            _ => inside.clone(),
        }
    }

    /// Sends a message to whoever lives at a path now.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// system.tell("/user/alice", Deposit(5))?;
    /// assert!(system.tell("/user/bob", Deposit(5)).is_err(), "nobody lives there");
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The message, if nobody there takes it.
    pub fn tell<M: Message>(&self, path: &str, message: M) -> Result<(), crate::TellError<M>> {
        match self.recipient(path) {
            Some(recipient) => recipient.tell(message),
            None => {
                self.core.count_refused();
                Err(crate::TellError::Stopped(message))
            }
        }
    }

    /// Asks whoever lives at a path now.
    ///
    /// Cancel safe: dropped before it is polled, nothing was sent; later, as an [`ask`](crate::ActorRef::ask) is.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert_eq!(system.ask("/user/alice", Deposit(5)).await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// `Stopped` if nobody there takes it; otherwise those of an ask.
    pub async fn ask<M: Message>(&self, path: &str, message: M) -> Result<M::Reply, crate::AskError<M::Rejection>> {
        match self.recipient(path) {
            Some(recipient) => recipient.ask(message).await,
            None => {
                self.core.count_refused();
                Err(crate::AskError::Stopped)
            }
        }
    }

    /// Sends for somebody who is not there to take a refusal: it becomes exactly one dead letter.
    pub(crate) fn deliver<M: Message>(&self, path: &Path, message: M) {
        let cell = self.core.find(path);
        let id = cell.as_ref().map(|cell| ActorId::of(cell.id));
        let accepting = cell.and_then(|cell| {
            let table = (cell.table.accepts)(TypeId::of::<M>())?;
            Some(Recipient::new(cell, table))
        });
        match accepting {
            Some(recipient) => recipient.deliver(message),
            None => {
                let sender = Host::with(|host| host.ambient().id).unwrap_or(0);
                let reason = DeadReason::Nobody;
                self.core
                    .dead_letter_to(Addressee::here(id), || path.clone(), sender, reason, message);
            }
        }
    }

    /// A stand-in for an actor of another node.
    fn resolve_abroad(&self, address: &Address) -> Option<StandIn> {
        self.core.abroad()?.resolve(address)
    }

    /// Whether an address of another form leads here nevertheless.
    fn is_here(&self, address: &Address) -> bool {
        let Some(node) = address.node() else {
            return address.system() == self.core.name;
        };
        let here = self.core.abroad().and_then(|abroad| abroad.here());
        here.is_some_and(|here| here.node() == Some(node) && here.system() == address.system())
    }

    fn cell_at(&self, address: &Address) -> Option<CellRef> {
        if !self.is_here(address) {
            return None;
        }
        let cell = self.core.find(address.path()?)?;
        match address.uid() {
            Some(uid) => (uid.get() == cell.id).then_some(cell),
            None => Some(cell),
        }
    }

    /// The path of a live actor, from its id as found in dead letters.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert_eq!(system.path_of(alice.id()), Some(alice.path()));
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn path_of(&self, id: ActorId) -> Option<Path> {
        self.core.directory.get(id.raw()).map(|cell| cell.path())
    }

    /// The address of a live actor, from its id, as that of a [sender](crate::Context::sender). One that lives elsewhere has its
    /// node in it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert_eq!(system.address_of(alice.id()), Some(alice.address()));
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn address_of(&self, id: ActorId) -> Option<Address> {
        let cell = self.core.directory.get(id.raw())?;
        Some(self.core.address_of(&cell))
    }
}
