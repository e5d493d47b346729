//! The reference to an actor.

use std::fmt;
use std::future::IntoFuture;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

use super::ask::Ask;
use super::batch::AskAll;
use super::errors::{TellAllError, TellError};
use super::foreign::{Errand, StandIn};
use super::id::ActorId;
use super::post::{envelope_from_here, post};
use super::recipient::Recipient;
use super::reply_to::ReplyTo;
use super::send::SendFuture;
use super::status::ActorStatus;
use super::target::{Accepts, Covers, Target};
use super::watch::Termination;
use crate::actor::{Actor, Message};
use crate::cell::state::{DEAD, DRAIN, KILL, REINSTATE, RESTART, STOP};
use crate::cell::{CellRef, WeakCell};
use crate::dispatch::{Ending, Host};
use crate::mailbox::MessageTable;
use crate::system::ActorSystem;
use crate::tree::{Address, Path};

/// A typed reference to an actor: cheap to clone, free to send anywhere.
///
/// It names one incarnation: once that has stopped, messages are refused even if another actor
/// lives under the same name. Dropping references never stops an actor.
///
/// ```
/// # use std::convert::Infallible;
/// # use volary_core::*;
/// # struct Tally(u64); impl Actor for Tally {}
/// # struct Add(u64); impl Message for Add { type Reply = u64; type Rejection = Infallible; }
/// # impl SyncHandler<Add> for Tally {
/// #   fn handle(&mut self, a: Add, _: &mut Context<Self>) -> Result<u64, Failure> { self.0 += a.0; Ok(self.0) } }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let system = ActorSystem::builder("demo").start().await?;
/// let tally = system.spawn(|| Tally(0)).named("tally").await?;
/// tally.tell(Add(1))?;
/// tally.send(Add(2)).await?;
/// assert_eq!(tally.ask(Add(3)).await?, 6);
/// tally.stop();
/// tally.terminated().await;
/// assert!(tally.tell(Add(4)).is_err());
/// # system.stop().await?; Ok(()) }
/// ```
pub struct ActorRef<T: Target> {
    cell: CellRef,
    via: T::Via,
    target: PhantomData<fn(T)>,
}

impl<T: Target> ActorRef<T> {
    pub(crate) fn from_cell(cell: CellRef, via: T::Via) -> Self {
        ActorRef {
            cell,
            via,
            target: PhantomData,
        }
    }

    pub(crate) fn cell(&self) -> &CellRef {
        &self.cell
    }

    /// Sets control bits, or lets somebody do so where the actor lives.
    fn command(&self, errand: Errand, bits: u32) {
        if !self.cell.send_errand(errand) {
            self.cell.control(bits);
        }
    }

    /// The stand-in behind this, if the actor lives elsewhere.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert!(alice.stand_in().is_none(), "alice lives here");
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn stand_in(&self) -> Option<StandIn> {
        StandIn::of(&self.cell)
    }

    /// The function table of `M` for whoever this leads to.
    #[inline]
    pub(crate) fn table_for<M: Message>(&self) -> &'static MessageTable
    where
        T: Accepts<M>,
    {
        T::table(self.via)
    }

    /// Sends a message and goes on. Never blocks, never waits.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// alice.tell(Deposit(5))?;
    /// assert_eq!(alice.ask(Balance).await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The message, if the actor has stopped or its mailbox is full.
    #[inline]
    pub fn tell<M: Message>(&self, message: M) -> Result<(), TellError<M>>
    where
        T: Accepts<M>,
    {
        tell(&self.cell, T::table(self.via), message)
    }

    /// Sends several messages, in order. Stops at the first that is refused.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// alice.tell_all([Deposit(5), Deposit(6)])?;
    /// assert_eq!(alice.ask(Balance).await?, 11);
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The first message that was refused and all behind it; those before it were sent.
    pub fn tell_all<M: Message>(&self, messages: impl IntoIterator<Item = M>) -> Result<(), TellAllError<M>>
    where
        T: Accepts<M>,
    {
        let mut messages = messages.into_iter();
        while let Some(message) = messages.next() {
            if let Err(error) = self.tell(message) {
                let rest = messages.collect();
                return Err(TellAllError { error, rest });
            }
        }
        Ok(())
    }

    /// Sends a message, waiting for room in a bounded mailbox up to the system's `ask-timeout`.
    ///
    /// Cancel safe: dropped before it is ready, the message was not sent.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// alice.send(Deposit(5)).await?;
    /// assert_eq!(alice.ask(Balance).await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn send<M: Message>(&self, message: M) -> SendFuture<'_, M>
    where
        T: Accepts<M>,
    {
        SendFuture::new(&self.cell, T::table(self.via), message)
    }

    /// Sends a message and waits for its answer.
    ///
    /// Cancel safe: dropping it cancels the ask; a message that was not begun is not handled.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let cents = alice.ask(Deposit(5)).await?;
    /// assert_eq!(cents, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[inline]
    pub fn ask<M: Message>(&self, message: M) -> Ask<'_, M>
    where
        T: Accepts<M>,
    {
        Ask::new(&self.cell, T::table(self.via), message)
    }

    /// Asks several questions at once; the answers come in the same order.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let answers = alice.ask_all([Deposit(5), Deposit(6)]).await;
    /// let cents: Vec<i64> = answers.into_iter().flatten().collect();
    /// assert_eq!(cents, [5, 11]);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn ask_all<M: Message>(&self, messages: impl IntoIterator<Item = M>) -> AskAll<'_, M>
    where
        T: Accepts<M>,
    {
        AskAll::new(messages.into_iter().map(|message| self.ask(message).into_future()))
    }

    /// Sends a message whose answer goes to somebody who has asked before: "you answer this one".
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// /// Knows somebody who knows.
    /// struct Clerk(ActorRef<Account>);
    /// # impl Actor for Clerk {}
    /// impl Respond<Balance> for Clerk {
    ///     async fn respond(&mut self, balance: Balance, reply: ReplyTo<i64>, _: &mut Context<Self>) -> Result<(), Fault> {
    ///         self.0.forward(balance, reply).or_fault()
    ///     }
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let account = alice.clone();
    /// let clerk = system.spawn(move || Clerk(account.clone())).await?;
    /// alice.tell(Deposit(5))?;
    /// assert_eq!(clerk.ask(Balance).await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The message, if it was refused; the waiting asker hears why.
    pub fn forward<M: Message>(&self, message: M, reply: ReplyTo<M::Reply, M::Rejection>) -> Result<(), TellError<M>>
    where
        T: Accepts<M>,
    {
        let slot = reply.into_slot();
        let mut envelope = envelope_from_here(&self.cell);
        envelope.reply = slot;
        let sent = post(&self.cell, T::table(self.via), envelope, message);
        finish_tell(&self.cell, sent).inspect_err(|error| {
            let reply = ReplyTo::<M::Reply, M::Rejection>::from_slot(slot);
            let ending = if error.is_full() { Ending::Full } else { Ending::Stopped };
            Host::with(|host| host.with_ending(ending, || drop(reply)));
        })
    }

    /// Stops the actor after the message that it is handling. Messages behind that one become dead
    /// letters. Idempotent.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// alice.stop();
    /// alice.terminated().await;
    /// assert!(alice.tell(Deposit(5)).is_err());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn stop(&self) {
        self.command(Errand::Stop, STOP);
    }

    /// Stops the actor after everything that is in its mailbox now. New messages are refused.
    /// Idempotent.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// alice.tell(Deposit(5))?;
    /// alice.drain(); // the deposit is handled first
    /// alice.terminated().await;
    /// assert_eq!(system.metrics().dead_letters, 0);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn drain(&self) {
        if self.cell.send_errand(Errand::Drain) {
            return;
        }
        self.cell.close_mailbox();
        self.cell.control(DRAIN);
    }

    /// Stops the actor at once: a suspended handler is dropped where it waits. Idempotent.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// alice.kill();
    /// alice.terminated().await;
    /// assert!(alice.tell(Deposit(5)).is_err());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn kill(&self) {
        self.command(Errand::Kill, KILL);
    }

    /// Passivates the actor after the message that it is handling, whatever its [`Passivation`](crate::Passivation) says: its
    /// hooks run and its state is dropped, and the next message starts it anew. Messages that wait are such messages.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// alice.ask(Deposit(5)).await?;
    /// alice.passivate();
    /// assert_eq!(alice.ask(Balance).await?, 0, "built anew, for this message");
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn passivate(&self) {
        if !self.cell.send_errand(Errand::Passivate) {
            self.cell.passivate();
        }
    }

    /// Keeps the actor awake until [`resume_passivation`](ActorRef::resume_passivation). False: it is never passivated by
    /// itself.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let idle = Passivation::after(Duration::from_secs(60));
    /// let bob = system.spawn(Account::default).passivation(idle).await?;
    /// assert!(bob.pause_passivation());
    /// assert!(!alice.pause_passivation(), "alice stays awake anyway");
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[allow(clippy::must_use_candidate, reason = "pausing is what it is called for")]
    pub fn pause_passivation(&self) -> bool {
        self.cell.pause_passivation(true)
    }

    /// Takes back [`pause_passivation`](ActorRef::pause_passivation); the idle time begins now.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let idle = Passivation::after(Duration::from_secs(60));
    /// let bob = system.spawn(Account::default).passivation(idle).await?;
    /// bob.pause_passivation();
    /// assert!(bob.resume_passivation());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[allow(clippy::must_use_candidate, reason = "resuming is what it is called for")]
    pub fn resume_passivation(&self) -> bool {
        self.cell.pause_passivation(false)
    }

    /// Rebuilds the actor from its factory after the message that it is handling. Its address,
    /// mailbox and watchers stay.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// alice.ask(Deposit(5)).await?;
    /// alice.restart();
    /// assert_eq!(alice.ask(Balance).await?, 0, "the same actor, begun anew");
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn restart(&self) {
        self.command(Errand::Restart, RESTART);
    }

    /// Lets an actor go on that supervision has suspended, with its state as it is and its restarts
    /// forgiven. Does nothing to one that is not suspended.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let events = system.events().subscribe::<ActorSuspended>();
    /// let bob = system.spawn(Account::default).on_fault(Directive::Suspend).await?;
    /// bob.ask(Deposit(5)).await?;
    /// # let _ = inside(&bob, |_| Err("out of ink".into())).await;
    /// events.next().await?; // he has crashed, and waits
    /// bob.reinstate();
    /// assert_eq!(bob.ask(Balance).await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn reinstate(&self) {
        self.command(Errand::Reinstate, REINSTATE);
    }

    /// Waits until the actor has ended; at once if it has. Cancel safe.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// alice.stop();
    /// alice.terminated().await;
    /// assert!(!alice.is_alive());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn terminated(&self) -> Termination {
        Termination::new(self.cell.clone())
    }

    /// Whether the actor has not ended yet.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert!(alice.is_alive());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn is_alive(&self) -> bool {
        !self.cell.state.has(DEAD)
    }

    /// Its flags: running, busy, stopping and so on, as they are just now.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert!(alice.status().running);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn status(&self) -> ActorStatus {
        ActorStatus::of(&self.cell)
    }

    /// How many messages wait in the mailbox.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// alice.tell(Deposit(5))?;
    /// println!("{} wait", alice.mailbox_len());
    /// # alice.ask(Balance).await?;
    /// # assert_eq!(alice.mailbox_len(), 0);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn mailbox_len(&self) -> usize {
        usize::try_from(self.cell.log.depth()).unwrap_or(usize::MAX)
    }

    /// The id of this incarnation.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert_eq!(alice.id(), alice.clone().id());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn id(&self) -> ActorId {
        ActorId::of(self.cell.id)
    }

    /// The name among its siblings.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert_eq!(alice.name(), "alice");
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn name(&self) -> String {
        self.cell.name()
    }

    /// Where the actor lives in its system.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert_eq!(alice.path().to_string(), "/user/alice");
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
    /// println!("{}", alice.address()); // volary://bank/user/alice#100000000
    /// # assert!(alice.address().to_string().starts_with("volary://bank/user/alice#"));
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn address(&self) -> Address {
        self.cell.system().address_of(&self.cell)
    }

    /// The system that the actor lives in.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert_eq!(alice.system().name(), "bank");
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn system(&self) -> ActorSystem {
        self.cell.system().handle()
    }

    /// A reference for one message alone, which knows nothing of the actor's type.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let till: Recipient<Deposit> = alice.recipient();
    /// assert_eq!(till.ask(Deposit(5)).await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn recipient<M: Message>(&self) -> Recipient<M>
    where
        T: Accepts<M>,
    {
        Recipient::new(self.cell.clone(), T::table(self.via))
    }

    /// A reference that does not keep the actor's memory once it has ended.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let weak = alice.downgrade();
    /// assert!(weak.upgrade().is_some());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn downgrade(&self) -> WeakRef<T> {
        WeakRef {
            cell: self.cell.downgrade(),
            via: self.via,
            target: PhantomData,
        }
    }
}

impl<A: Actor> ActorRef<A> {
    /// The same actor, typed by a protocol that it speaks.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/till.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let till: ActorRef<Till> = alice.narrow(); // made by `protocol!(Till { Deposit })`
    /// assert_eq!(till.ask(Deposit(5)).await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn narrow<P: Covers<A>>(&self) -> ActorRef<P> {
        ActorRef::from_cell(self.cell.clone(), P::table())
    }
}

#[inline]
pub(super) fn tell<M: Message>(cell: &CellRef, table: &'static MessageTable, message: M) -> Result<(), TellError<M>> {
    let sent = post(cell, table, envelope_from_here(cell), message);
    finish_tell(cell, sent)
}

#[inline]
fn finish_tell<M: Message>(cell: &CellRef, sent: Result<(), (crate::mailbox::Refusal, M)>) -> Result<(), TellError<M>> {
    match sent {
        Ok(()) => {
            if cell.state.mail() {
                cell.schedule();
            }
            Ok(())
        }
        Err((refusal, message)) => {
            cell.system().count_refused();
            Err(TellError::new(refusal, message))
        }
    }
}

impl<T: Target> Clone for ActorRef<T> {
    fn clone(&self) -> Self {
        ActorRef {
            cell: self.cell.clone(),
            via: self.via,
            target: PhantomData,
        }
    }
}

impl<T: Target> PartialEq for ActorRef<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cell == other.cell
    }
}

impl<T: Target> Eq for ActorRef<T> {}

impl<T: Target> Hash for ActorRef<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.cell.id.hash(state);
    }
}

impl<T: Target> fmt::Display for ActorRef<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.address().fmt(f)
    }
}

impl<T: Target> fmt::Debug for ActorRef<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ActorRef({})", self.address())
    }
}

/// A reference that keeps nothing; see [`ActorRef::downgrade`].
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let weak: WeakRef<Account> = alice.downgrade();
/// assert_eq!(weak.upgrade().as_ref(), Some(&alice));
/// # system.stop().await?; Ok(()) }
/// ```
pub struct WeakRef<T: Target> {
    cell: WeakCell,
    via: T::Via,
    target: PhantomData<fn(T)>,
}

impl<T: Target> WeakRef<T> {
    /// The actor, unless it has ended.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let weak = alice.downgrade();
    /// alice.stop();
    /// alice.terminated().await;
    /// assert!(weak.upgrade().is_none());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn upgrade(&self) -> Option<ActorRef<T>> {
        let cell = self.cell.upgrade()?;
        (!cell.state.has(DEAD)).then(|| ActorRef::from_cell(cell, self.via))
    }
}

impl<T: Target> Clone for WeakRef<T> {
    fn clone(&self) -> Self {
        WeakRef {
            cell: self.cell.clone(),
            via: self.via,
            target: PhantomData,
        }
    }
}

impl<T: Target> fmt::Debug for WeakRef<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.upgrade() {
            Some(actor) => write!(f, "WeakRef({})", actor.address()),
            None => f.write_str("WeakRef(ended)"),
        }
    }
}
