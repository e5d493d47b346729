//! The context: what a handler can do besides answering.

use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::traits::{Actor, Product, Respond};
use crate::cell::{Here, message_table};
use crate::dispatch::Host;
use crate::events::Terminated;
use crate::mailbox::Envelope;
use crate::reference::{ActorId, ActorRef, Spawn, Target, carrying, stamped};
use crate::system::ActorSystem;
use crate::time::Moment;
use crate::tree::Path;

/// A handler's view of its own actor and of the system: a thin handle, free to create.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// struct Grow;
/// # impl Message for Grow { type Reply = String; type Rejection = Infallible; }
/// impl Handler<Grow> for Account {
///     async fn handle(&mut self, _: Grow, ctx: &mut Context<Self>) -> Result<String, Failure> {
///         let savings = ctx.spawn_child(Account::default).named("savings").await.or_fault()?;
///         Ok(savings.path().to_string())
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// assert_eq!(alice.ask(Grow).await?, "/user/alice/savings");
/// # system.stop().await?; Ok(()) }
/// ```
pub struct Context<A> {
    here: Here,
    sender: u64,
    actor: PhantomData<fn(A)>,
}

impl<A> Context<A> {
    pub(crate) fn new(here: Here, sender: u64) -> Self {
        Context {
            here,
            sender,
            actor: PhantomData,
        }
    }

    /// What goes with a message that this handler puts aside.
    pub(crate) fn envelope(&self) -> Envelope {
        stamped(&self.here, carrying(self.origin()))
    }

    /// Who sent the message being handled, and the time it was given.
    pub(crate) fn origin(&self) -> Envelope {
        let deadline = Host::with(|host| self.here.system().current_deadline(host)).unwrap_or(0);
        Envelope {
            sender: self.sender,
            deadline,
            ..Envelope::OUTSIDE
        }
    }

    /// Who sent the message being handled; 0 from outside of any actor.
    pub(super) fn sender_id(&self) -> u64 {
        self.sender
    }

    pub(crate) fn here(&self) -> &Here {
        &self.here
    }

    /// The system this actor lives in.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// assert_eq!(ctx.system().name(), "bank");
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn system(&self) -> ActorSystem {
        self.here.system().handle()
    }

    /// The path of this actor.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// assert_eq!(ctx.path().to_string(), "/user/alice");
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn path(&self) -> Path {
        self.here.path()
    }

    /// The id of this incarnation.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// assert_eq!(ctx.id(), ctx.me().id());
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn id(&self) -> ActorId {
        ActorId::of(self.here.id)
    }

    /// Who sent the message being handled; `None` from outside of any actor.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// assert_eq!(ctx.sender(), None, "whoever asks is no actor");
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn sender(&self) -> Option<ActorId> {
        ActorId::from_raw(self.sender)
    }

    /// The system's monotonic clock; virtual in simulation.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// let started = ctx.now();
    /// assert!(ctx.now() >= started);
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn now(&self) -> Moment {
        let now = self.here.system().now();
        if self.here.log.is_layered() {
            return self.here.read_through(now, |tap, now| tap.now(now));
        }
        now
    }

    /// The system's calendar clock; virtual in simulation.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// assert!(ctx.wall_clock() > std::time::UNIX_EPOCH);
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn wall_clock(&self) -> SystemTime {
        let wall = self.here.system().env().wall();
        if self.here.log.is_layered() {
            return self.here.read_through(wall, |tap, wall| tap.wall_clock(wall));
        }
        wall
    }

    /// A random number from the system's source; seeded in simulation.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// let dice = ctx.random() % 6 + 1;
    /// assert!((1..=6).contains(&dice));
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn random(&self) -> u64 {
        let drawn = self.here.system().env().random();
        if self.here.log.is_layered() {
            return self.here.read_through(drawn, |tap, drawn| tap.random(drawn));
        }
        drawn
    }

    /// How much time is left for the request being handled; `None` if it has no deadline.
    ///
    /// Asks made by this handler inherit it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// let left = ctx.time_left().expect("it was asked, and asks have a deadline");
    /// assert!(left > Duration::ZERO);
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn time_left(&self) -> Option<Duration> {
        self.here.system().time_left()
    }

    /// Stops this actor after the message being handled.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// ctx.stop(); // this message is the last
    /// # Ok(()) }).await?;
    /// alice.terminated().await;
    /// assert!(!alice.is_alive());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn stop(&self) {
        self.here.control(crate::cell::state::STOP);
    }

    /// Waits on the system's clock; virtual in simulation.
    ///
    /// Cancel safe: dropping it forgets the timer.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// struct Rest;
    /// # impl Message for Rest { type Reply = (); type Rejection = Infallible; }
    /// impl Handler<Rest> for Account {
    ///     async fn handle(&mut self, _: Rest, ctx: &mut Context<Self>) -> Result<(), Failure> {
    ///         ctx.sleep(Duration::from_millis(5)).await;
    ///         Ok(())
    ///     }
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let began = system.now();
    /// alice.ask(Rest).await?;
    /// assert!(system.now().since(began) >= Duration::from_millis(5));
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn sleep(&self, time: Duration) -> impl Future<Output = ()> + Send + 'static {
        self.here.system().handle().sleep(time)
    }

    /// Runs a future beside the actor, under its name: messages it sends carry this actor as their
    /// sender and the deadline of the request being handled. It is aborted when the actor stops or
    /// restarts. (`tokio::spawn` works too, and keeps none of this.)
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// let me = ctx.me();
    /// ctx.spawn(async move {
    ///     // … something slow …
    ///     let _ = me.tell(Deposit(5));
    /// });
    /// # Ok(()) }).await?;
    /// # while alice.ask(Balance).await? == 0 { tokio::task::yield_now().await; }
    /// assert_eq!(alice.ask(Balance).await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) -> Task {
        Task(crate::system::spawn_for(&self.here, future))
    }

    /// Starts a child of this actor. It stops before its parent does.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// struct Save;
    /// # impl Message for Save { type Reply = (); type Rejection = Infallible; }
    /// impl Handler<Save> for Account {
    ///     async fn handle(&mut self, _: Save, ctx: &mut Context<Self>) -> Result<(), Failure> {
    ///         let savings = ctx.spawn_child(Account::default).named("savings").await.or_fault()?;
    ///         savings.tell(Deposit(5)).or_fault()?;
    ///         Ok(())
    ///     }
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// alice.ask(Save).await?;
    /// # assert!(system.lookup::<Account>("/user/alice/savings").is_some());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn spawn_child<P, F>(&self, factory: F) -> Spawn<F>
    where
        P: Product,
        F: Fn() -> P + Send + Sync + 'static,
    {
        Spawn::new(Some(self.here.to_ref()), factory)
    }

    /// The child of this name, if there is one and it is a `B`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// let savings: Option<ActorRef<Account>> = ctx.child("savings");
    /// assert!(savings.is_none());
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn child<B: Actor>(&self, name: &str) -> Option<ActorRef<B>> {
        let cell = self.here.child(name)?;
        ((cell.table.actor_type)() == std::any::TypeId::of::<B>()).then(|| ActorRef::from_cell(cell, ()))
    }

    /// The names of this actor's children, oldest first.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// assert!(ctx.children().is_empty());
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn children(&self) -> Vec<String> {
        self.here.children().iter().map(|child| child.name()).collect()
    }
}

impl<A: Actor> Context<A> {
    /// A reference to this actor.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// let me: ActorRef<Account> = ctx.me();
    /// assert_eq!(me.path(), ctx.path());
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn me(&self) -> ActorRef<A> {
        ActorRef::from_cell(self.here.to_ref(), ())
    }

    /// Asks to be told of another actor's end: a [`Terminated`] message arrives exactly once, after
    /// the last message that actor has sent here. Watching one that has ended yields it at once.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let (told, bob) = (system.events().subscribe::<Terminated>(), system.spawn(Account::default).await?);
    /// # let other = bob.clone();
    /// # inside(&alice, move |ctx| {
    /// ctx.watch(&other); // `Terminated` comes when it ends
    /// # Ok(()) }).await?;
    /// # bob.stop();
    /// # assert_eq!(told.next().await?.id(), bob.id());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn watch<T: Target>(&self, other: &ActorRef<T>)
    where
        A: Respond<Terminated>,
    {
        crate::reference::watch(&self.here, other.cell(), message_table::<A, Terminated>());
    }

    /// Takes back a [`watch`](Context::watch): no [`Terminated`] of that actor arrives any more.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let (told, bob) = (system.events().subscribe::<Terminated>(), system.spawn(Account::default).await?);
    /// # let other = bob.clone();
    /// # inside(&alice, move |ctx| {
    /// ctx.watch(&other);
    /// ctx.unwatch(&other); // `Terminated` does not come
    /// # Ok(()) }).await?;
    /// # bob.stop();
    /// # bob.terminated().await;
    /// # alice.ask(Balance).await?;
    /// # assert!(told.try_next().is_none());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn unwatch<T: Target>(&self, other: &ActorRef<T>) {
        crate::reference::unwatch(&self.here, other.cell());
    }
}

impl<A> std::fmt::Debug for Context<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context")
            .field("path", &self.path())
            .field("sender", &self.sender())
            .finish()
    }
}

/// A task that an actor spawned with [`Context::spawn`]; it ends with the actor, or when told to.
///
/// Dropping it leaves the task running.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// # inside(&alice, |ctx| {
/// let task = ctx.spawn(std::future::pending());
/// assert!(!task.is_finished());
/// task.abort();
/// # Ok(()) }).await?;
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Clone)]
pub struct Task(pub(crate) Arc<crate::system::TaskState>);

impl Task {
    /// Ends the task at its next suspension point.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let (tasks, begun) = std::sync::mpsc::channel();
    /// # inside(&alice, move |ctx| {
    /// let task = ctx.spawn(std::future::pending());
    /// task.abort();
    /// # Ok(tasks.send(task)?) }).await?;
    /// # let task = begun.recv()?;
    /// # while !task.is_finished() { tokio::task::yield_now().await; }
    /// assert!(task.is_finished()); // soon
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn abort(&self) {
        self.0.abort();
    }

    /// Whether the task has ended.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// let task = ctx.spawn(std::future::pending());
    /// assert!(!task.is_finished());
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }
}

impl std::fmt::Debug for Task {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Task").field("finished", &self.is_finished()).finish()
    }
}
