//! The handle of a router.

use std::fmt;
use std::sync::Arc;

use super::ask::{AskEach, RouterAsk};
use super::broadcast::Broadcast;
use super::head::Head;
use super::order::{Add, ChangeError, Drain, Remove, Resize};
use super::plan::{Plan, Routing};
use super::relay::Routed;
use super::strategy::{Answers, Spreads};
use super::switch::Switch;
use super::table::Routee;
use crate::actor::Message;
use crate::mailbox::Refusal;
use crate::reference::{
    Accepts, ActorId, ActorRef, AskError, Recipient, SendError, Target, TellError, Termination, envelope_from_here,
    offer,
};
use crate::sync::atomic::Ordering::*;
use crate::system::ActorSystem;
use crate::tree::{Address, Path};

/// Spreads messages over routees: told, asked and sent to like an actor.
///
/// A message goes from the sender's thread straight into the mailbox of the routee that the strategy `S` chooses; there
/// is no hop, and messages from one sender to one routee arrive in the order sent. Whoever needs an address instead gets
/// an [`actor_ref`](Router::actor_ref) or a [`recipient`](Router::recipient), which lead through the router's own actor.
/// (Order is kept on each of the two ways, not between them.)
///
/// A routee that has stopped is passed over, and so is a full one unless the key says that it must be this one. When
/// nobody takes a message it is given back: [`Stopped`](TellError::Stopped) if there is nobody, [`Full`](TellError::Full)
/// if somebody had no room.
///
/// ```
/// # use std::convert::Infallible;
/// # use volary_core::*;
/// use volary_core::routing::{Pool, RoundRobin};
/// # struct Worker; impl Actor for Worker {}
/// # struct Square(u64); impl Message for Square { type Reply = u64; type Rejection = Infallible; }
/// # impl SyncHandler<Square> for Worker {
/// #   fn handle(&mut self, s: Square, _: &mut Context<Self>) -> Result<u64, Failure> { Ok(s.0 * s.0) } }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let system = ActorSystem::builder("demo").start().await?;
/// let workers = system.router(RoundRobin, Pool::of(4, || Worker)).named("workers").await?;
/// workers.tell(Square(3))?;
/// assert_eq!(workers.ask(Square(4)).await?, 16);
/// assert_eq!(workers.resize(8).await?, 8);
/// workers.drain(); // the routees finish what they have
/// workers.terminated().await;
/// assert!(workers.tell(Square(5)).is_err());
/// # system.stop().await?; Ok(()) }
/// ```
pub struct Router<T: Target, S: Routing> {
    head: ActorRef<Head<T, S>>,
    switch: Arc<Switch<T, S>>,
}

impl<T: Target, S: Routing> Router<T, S> {
    pub(super) fn new(head: ActorRef<Head<T, S>>, switch: Arc<Switch<T, S>>) -> Self {
        Router { head, switch }
    }

    /// Sends a message to whom the strategy chooses. With [`FanOut`](super::FanOut) and
    /// [`ScatterGather`](super::ScatterGather) that is everybody, and it is sent when one of them took it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # use volary_core::routing::{Pool, RoundRobin};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let accounts = system.router(RoundRobin, Pool::of(2, Account::default)).named("accounts").await?;
    /// accounts.tell(Deposit(5))?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The message, if nobody took it, or if a key function panicked on it.
    #[inline]
    pub fn tell<M: Message>(&self, message: M) -> Result<(), TellError<M>>
    where
        T: Accepts<M>,
        S: Spreads<M>,
    {
        let plan = match self.switch.plan(&message, self.head.cell().system()) {
            Ok(plan) => plan,
            Err(fault) => return Err(self.unroutable(&fault, message)),
        };
        let attempt = |routee: &ActorRef<T>, message| {
            let cell = routee.cell();
            offer(cell, routee.table_for::<M>(), envelope_from_here(cell), message)
        };
        let sent = match plan {
            Plan::Each | Plan::First(_) => self.switch.give_each(message, S::copy, attempt),
            Plan::One(_) | Plan::Idlest(_) | Plan::Key(_) | Plan::Chop(..) => self.switch.give(plan, message, attempt),
        };
        sent.map_err(|(refusal, message)| self.refused(refusal, message))
    }

    #[cold]
    fn refused<M>(&self, refusal: Refusal, message: M) -> TellError<M> {
        self.head.cell().system().count_refused();
        TellError::new(refusal, message)
    }

    #[cold]
    fn unroutable<M>(&self, fault: &crate::actor::Fault, message: M) -> TellError<M> {
        let cell = self.head.cell();
        cell.system().count_refused();
        cell.system().report_hook_fault(cell, "key", fault);
        TellError::Unroutable(message)
    }

    /// Sends a message and waits for room: with the routee that the strategy chooses, if all that it may go to are
    /// full. To everybody it goes as by [`tell`](Router::tell).
    ///
    /// Cancel safe: dropped before it is ready, the message was not sent.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # use volary_core::routing::{Pool, RoundRobin};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let accounts = system.router(RoundRobin, Pool::of(2, Account::default)).named("accounts").await?;
    /// accounts.send(Deposit(5)).await?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The message, if nobody took it in time.
    pub async fn send<M: Message>(&self, message: M) -> Result<(), SendError<M>>
    where
        T: Accepts<M>,
        S: Spreads<M>,
    {
        let mut message = message;
        loop {
            message = match self.tell(message) {
                Ok(()) => return Ok(()),
                Err(TellError::Full(message)) => message,
                Err(error) => return Err(SendError::Refused(error)),
            };
            let plan = match self.switch.plan(&message, self.head.cell().system()) {
                Ok(Plan::Each | Plan::First(_)) => return Err(SendError::Refused(TellError::Full(message))),
                Ok(plan) => plan,
                Err(fault) => return Err(SendError::Refused(self.unroutable(&fault, message))),
            };
            let mut chosen = None;
            let looked = self.switch.give(plan, message, |routee, message| {
                // Whose turn it is, alive or not: the send finds out.
                chosen = Some(routee.clone());
                Err::<(), _>((Refusal::Full, message))
            });
            let Err((_, back)) = looked else { return Ok(()) };
            let Some(routee) = chosen else {
                return Err(SendError::Refused(self.refused(Refusal::Closed, back)));
            };
            match routee.send(back).await {
                // It has gone meanwhile; another has its turn.
                Err(SendError::Refused(TellError::Stopped(back))) => message = back,
                done => return done,
            }
        }
    }

    /// Asks whom the strategy chooses. [`ScatterGather`](super::ScatterGather) and
    /// [`TailChopping`](super::TailChopping) ask several and take the first answer; with [`FanOut`](super::FanOut)
    /// everybody answers, so it has [`ask_each`](Router::ask_each) instead.
    ///
    /// Cancel safe: dropping it cancels every ask; what was not begun is not handled.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # use volary_core::routing::{Pool, RoundRobin};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let accounts = system.router(RoundRobin, Pool::of(2, Account::default)).named("accounts").await?;
    /// assert_eq!(accounts.ask(Deposit(5)).await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn ask<M: Message>(&self, message: M) -> RouterAsk<'_, T, S, M>
    where
        T: Accepts<M>,
        S: Answers<M>,
    {
        RouterAsk {
            switch: &self.switch,
            head: self.head.cell(),
            message,
            timeout: None,
        }
    }

    /// Asks every routee, whatever the strategy, and collects all answers, in the order of the routees.
    ///
    /// Cancel safe: dropping it cancels every ask.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # use volary_core::routing::{FanOut, Pool};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let accounts = system.router(FanOut, Pool::of(2, Account::default)).await?;
    /// let answers = accounts.ask_each(Deposit(5)).await;
    /// assert_eq!(answers.len(), 2);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn ask_each<M: Message + Clone>(&self, message: M) -> AskEach<M>
    where
        T: Accepts<M>,
    {
        AskEach::new(self.switch.table().routees(), &message)
    }

    /// Sends a message to every routee, whatever the strategy, and says who did not take it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # use volary_core::routing::{Pool, RoundRobin};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let accounts = system.router(RoundRobin, Pool::of(2, Account::default)).named("accounts").await?;
    /// assert_eq!(accounts.broadcast(Deposit(5)).sent, 2);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn broadcast<M: Message + Clone>(&self, message: M) -> Broadcast<T, M>
    where
        T: Accepts<M>,
    {
        Broadcast::to(self.switch.table().routees(), &message)
    }

    /// Makes the pool larger or smaller. New routees are there when it returns; those that go handle what they have,
    /// and no message is lost.
    ///
    /// Cancel safe: once asked, the router goes on.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # use volary_core::routing::{Pool, RoundRobin};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let accounts = system.router(RoundRobin, Pool::of(2, Account::default)).named("accounts").await?;
    /// assert_eq!(accounts.resize(16).await?, 16);
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Why there are not as many.
    pub async fn resize(&self, routees: usize) -> Result<usize, AskError<ChangeError>> {
        self.head.ask(Resize(routees)).await
    }

    /// Adds a routee to those that the router was given; how many there are then.
    ///
    /// Cancel safe: once asked, the router goes on.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # use volary_core::routing::RoundRobin;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let bob = system.spawn(Account::default).await?;
    /// let accounts = system.router(RoundRobin, vec![alice]).await?;
    /// assert_eq!(accounts.add(&bob).await?, 2);
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Routers with a pool, and those that follow a group, take nobody else.
    pub async fn add(&self, routee: &ActorRef<T>) -> Result<usize, AskError<ChangeError>> {
        self.head.ask(Add(routee.clone())).await
    }

    /// Takes a routee out; how many there are then. One of a pool is drained, others live on.
    ///
    /// Cancel safe: once asked, the router goes on.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # use volary_core::routing::RoundRobin;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let bob = system.spawn(Account::default).await?;
    /// let accounts = system.router(RoundRobin, vec![alice, bob.clone()]).await?;
    /// assert_eq!(accounts.remove(&bob).await?, 1);
    /// assert!(bob.is_alive());
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// A router that follows a group drops nobody else.
    pub async fn remove(&self, routee: &ActorRef<T>) -> Result<usize, AskError<ChangeError>> {
        self.head.ask(Remove(routee.clone())).await
    }

    /// All routees as they are now: those that get messages first, then those that are drained.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # use volary_core::routing::{Pool, RoundRobin};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let accounts = system.router(RoundRobin, Pool::of(2, Account::default)).named("accounts").await?;
    /// for routee in accounts.routees() {
    ///     println!("{} is {:?}", routee.path, routee.state);
    /// }
    /// # assert_eq!(accounts.routees().len(), 2);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn routees(&self) -> Vec<Routee> {
        self.switch.table().list()
    }

    /// How many routees get messages.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # use volary_core::routing::{Pool, RoundRobin};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let accounts = system.router(RoundRobin, Pool::of(2, Account::default)).named("accounts").await?;
    /// assert_eq!(accounts.size(), 2);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn size(&self) -> usize {
        self.switch.table().len()
    }

    /// How many routees have ended without being told to by the router.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # use volary_core::routing::{Pool, RoundRobin};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let accounts = system.router(RoundRobin, Pool::of(2, Account::default)).named("accounts").await?;
    /// assert_eq!(accounts.lost(), 0);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.switch.lost.load(Relaxed)
    }

    /// The router as an address: to be watched, or wherever an [`ActorRef`] is wanted.
    ///
    /// Messages to it go through the router's own actor. One that nobody takes is a dead letter there. An ask to a
    /// [`FanOut`](super::FanOut) is handled by everybody and answered by the first routee that took it. With
    /// [`ScatterGather`](super::ScatterGather) and [`TailChopping`](super::TailChopping) the routees are asked by the
    /// router, which is the sender that they see; when the asker gives up, nobody else is asked.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # use volary_core::routing::{Pool, RoundRobin};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let accounts = system.router(RoundRobin, Pool::of(2, Account::default)).named("accounts").await?;
    /// let address: ActorRef<_> = accounts.actor_ref();
    /// assert_eq!(address.path().to_string(), "/user/accounts");
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn actor_ref(&self) -> ActorRef<Routed<T, S>> {
        ActorRef::from_cell(self.head.cell().clone(), ())
    }

    /// The router as somebody who takes messages of type `M`; as [`actor_ref`](Router::actor_ref).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # use volary_core::routing::{Pool, RoundRobin};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let accounts = system.router(RoundRobin, Pool::of(2, Account::default)).named("accounts").await?;
    /// let till: Recipient<Deposit> = accounts.recipient();
    /// assert_eq!(till.ask(Deposit(5)).await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn recipient<M: Message>(&self) -> Recipient<M>
    where
        T: Accepts<M>,
        S: Spreads<M>,
    {
        self.actor_ref().recipient()
    }

    /// Stops the router. The routees of a pool stop with it, after the message that each handles; others live on.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # use volary_core::routing::{Pool, RoundRobin};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let accounts = system.router(RoundRobin, Pool::of(2, Account::default)).named("accounts").await?;
    /// accounts.stop();
    /// accounts.terminated().await;
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn stop(&self) {
        self.head.stop();
    }

    /// Stops the router after everything that it and the routees of its pool have to do.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # use volary_core::routing::{Pool, RoundRobin};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let accounts = system.router(RoundRobin, Pool::of(2, Account::default)).named("accounts").await?;
    /// accounts.drain();
    /// accounts.terminated().await;
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn drain(&self) {
        // Refused, it has stopped or is about to.
        let _ = self.head.tell(Drain);
    }

    /// Stops the router and the routees of its pool at once.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # use volary_core::routing::{Pool, RoundRobin};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let accounts = system.router(RoundRobin, Pool::of(2, Account::default)).named("accounts").await?;
    /// accounts.kill();
    /// accounts.terminated().await;
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn kill(&self) {
        self.head.kill();
    }

    /// Waits until the router has ended, the routees of its pool included. Cancel safe.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # use volary_core::routing::{Pool, RoundRobin};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let accounts = system.router(RoundRobin, Pool::of(2, Account::default)).named("accounts").await?;
    /// accounts.stop();
    /// accounts.terminated().await;
    /// assert!(!accounts.is_alive());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn terminated(&self) -> Termination {
        self.head.terminated()
    }

    /// Whether the router has not ended yet.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # use volary_core::routing::{Pool, RoundRobin};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let accounts = system.router(RoundRobin, Pool::of(2, Account::default)).named("accounts").await?;
    /// assert!(accounts.is_alive());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.head.is_alive()
    }

    /// The id of the router's incarnation.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # use volary_core::routing::{Pool, RoundRobin};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let accounts = system.router(RoundRobin, Pool::of(2, Account::default)).named("accounts").await?;
    /// assert_eq!(accounts.id(), accounts.actor_ref().id());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn id(&self) -> ActorId {
        self.head.id()
    }

    /// Where the router lives.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # use volary_core::routing::{Pool, RoundRobin};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let accounts = system.router(RoundRobin, Pool::of(2, Account::default)).named("accounts").await?;
    /// assert_eq!(accounts.path().to_string(), "/user/accounts");
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn path(&self) -> Path {
        self.head.path()
    }

    /// The address of the router's incarnation.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # use volary_core::routing::{Pool, RoundRobin};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let accounts = system.router(RoundRobin, Pool::of(2, Account::default)).named("accounts").await?;
    /// assert_eq!(accounts.address(), accounts.actor_ref().address());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn address(&self) -> Address {
        self.head.address()
    }

    /// The system that the router lives in.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # use volary_core::routing::{Pool, RoundRobin};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let accounts = system.router(RoundRobin, Pool::of(2, Account::default)).named("accounts").await?;
    /// assert_eq!(accounts.system().name(), "bank");
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn system(&self) -> ActorSystem {
        self.head.system()
    }
}

impl<T: Target, S: Routing> Clone for Router<T, S> {
    fn clone(&self) -> Self {
        Router::new(self.head.clone(), self.switch.clone())
    }
}

impl<T: Target, S: Routing> PartialEq for Router<T, S> {
    fn eq(&self, other: &Self) -> bool {
        self.head == other.head
    }
}

impl<T: Target, S: Routing> Eq for Router<T, S> {}

impl<T: Target, S: Routing> fmt::Debug for Router<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Router")
            .field("path", &self.path())
            .field("routees", &self.size())
            .finish_non_exhaustive()
    }
}
