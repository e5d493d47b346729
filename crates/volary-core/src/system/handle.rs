//! The handle that users hold.

use std::any::TypeId;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use super::builder::SystemBuilder;
use super::core::SystemCore;
use super::metrics::{Metrics, count};
use super::problem::StopError;
use super::reports::Addressee;
use super::settings::Settings;
use super::stop::stop;
use crate::actor::{Actor, Message, Product};
use crate::cell::CellRef;
use crate::dispatch::Host;
use crate::env::Disk;
use crate::events::{DeadReason, EventStream};
use crate::mailbox::BLOCK_BYTES;
use crate::reference::foreign::StandIn;
use crate::reference::{ActorId, ActorRef, ActorStatus, AnyRef, Recipient, Spawn};
use crate::scheduler::Scheduler;
use crate::time::{Moment, TimerId};
use crate::topics::Topics;
use crate::tree::{Address, Path};

/// A system of actors on one machine: cheap to clone, all clones are the same system.
///
/// ```
/// # use volary_core::{Actor, ActorSystem};
/// # struct Door; impl Actor for Door {}
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let system = ActorSystem::builder("house").start().await?;
/// let door = system.spawn(|| Door).named("front").await?;
/// assert_eq!(door.path().to_string(), "/user/front");
/// system.stop().await?;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct ActorSystem {
    pub(crate) core: Arc<SystemCore>,
}

/// An actor as [`ActorSystem::actors`] lists it.
///
/// ```
/// # fn f(system: &volary_core::ActorSystem) {
/// for actor in system.actors() {
///     println!("{} is a {} with {} messages waiting", actor.path, actor.actor_type, actor.waiting);
/// }
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ActorInfo {
    /// Where it lives.
    pub path: Path,
    /// Its incarnation.
    pub id: ActorId,
    /// The Rust type of the actor.
    pub actor_type: &'static str,
    /// How many messages wait in its mailbox.
    pub waiting: usize,
    /// What it is doing.
    pub status: ActorStatus,
    /// How many children it has.
    pub children: usize,
    /// How many messages it has put aside.
    pub stashed: usize,
    /// How much its mailbox has given out so far: messages, and notices of the runtime such as answers to requests.
    pub taken: u64,
}

impl ActorInfo {
    pub(crate) fn of(cell: &CellRef, children: usize) -> Self {
        ActorInfo {
            path: cell.path(),
            id: ActorId::of(cell.id),
            actor_type: (cell.table.actor_name)(),
            waiting: usize::try_from(cell.log.depth()).unwrap_or(usize::MAX),
            status: ActorStatus::of(cell),
            children,
            stashed: cell.stashed(),
            taken: cell.log.taken(),
        }
    }
}

impl ActorSystem {
    /// See `__private::abandon`.
    pub(crate) fn abandon(&self) {
        super::stop::abandon(&self.core);
    }

    pub(crate) fn from_core(core: Arc<SystemCore>) -> Self {
        ActorSystem { core }
    }

    pub(crate) fn core(&self) -> &SystemCore {
        &self.core
    }

    pub(crate) fn register(&self) -> &crate::groups::Register {
        self.core.groups()
    }

    /// The parent of what users start; `None` once the system has gone down.
    pub(crate) fn user_guardian(&self) -> Option<CellRef> {
        self.core
            .guardians
            .lock()
            .as_ref()
            .map(|guardians| guardians.user.clone())
    }

    pub(crate) fn count_routee_lost(&self) {
        count(&self.core.counters.routees_lost);
    }

    /// Begins to build a system. Names follow the rules of actor names.
    ///
    /// ```
    /// # use volary_core::ActorSystem;
    /// let builder = ActorSystem::builder("bank");
    /// # let _ = builder;
    /// ```
    pub fn builder(name: impl Into<String>) -> SystemBuilder {
        SystemBuilder::new(name.into())
    }

    /// The system's name.
    ///
    /// ```
    /// # fn f(system: &volary_core::ActorSystem) { println!("{}", system.name()); }
    /// ```
    #[must_use]
    pub fn name(&self) -> &str {
        &self.core.name
    }

    /// The settings in force.
    ///
    /// ```
    /// # fn f(system: &volary_core::ActorSystem) { println!("{:?}", system.settings().ask_timeout()); }
    /// ```
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.core.settings
    }

    /// How long the system has been running.
    ///
    /// ```
    /// # fn f(system: &volary_core::ActorSystem) { println!("{:?}", system.uptime()); }
    /// ```
    #[must_use]
    pub fn uptime(&self) -> Duration {
        self.core.now().since(self.core.began)
    }

    /// The system's clock; virtual in simulation.
    ///
    /// ```
    /// # fn f(system: &volary_core::ActorSystem) { println!("{:?}", system.now()); }
    /// ```
    #[must_use]
    pub fn now(&self) -> Moment {
        self.core.now()
    }

    /// Waits on the system's clock. Cancel safe.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # async fn f(system: &volary_core::ActorSystem) {
    /// system.sleep(Duration::from_millis(5)).await;
    /// # }
    /// ```
    pub fn sleep(&self, time: Duration) -> Sleep {
        Sleep::new(self.core.clone(), time)
    }

    /// The disk of the environment: the real one, or that of a simulated node. Its functions block; call them on the
    /// blocking dispatcher.
    ///
    /// ```
    /// # use volary_core::*;
    /// # fn f(system: &ActorSystem) -> std::io::Result<()> {
    /// let log = system.disk().open("/var/lib/bank/log".as_ref(), OpenMode::Create)?;
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn disk(&self) -> Arc<dyn Disk> {
        self.core.env().disk()
    }

    /// Sends messages later, or again and again.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use volary_core::*;
    /// # fn f<T: Accepts<M>, M: Message>(system: &ActorSystem, who: &ActorRef<T>, message: M) -> Result<(), ScheduleError> {
    /// system.scheduler().once(Duration::from_secs(5)).tell(who, message)?;
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn scheduler(&self) -> Scheduler {
        Scheduler::new(self.core.clone())
    }

    /// Starts an actor below `/user`. The factory is kept: a restart builds the actor anew.
    ///
    /// ```
    /// # use volary_core::{Actor, ActorSystem, SpawnError};
    /// # struct Account { cents: i64 } impl Actor for Account {}
    /// # async fn f(system: ActorSystem) -> Result<(), SpawnError> {
    /// let alice = system.spawn(|| Account { cents: 0 }).named("alice").await?;
    /// # Ok(()) }
    /// ```
    pub fn spawn<P, F>(&self, factory: F) -> Spawn<F>
    where
        P: Product,
        F: Fn() -> P + Send + Sync + 'static,
    {
        Spawn::new(self.user_guardian(), factory)
    }

    /// The actor at a path, if there is one and it is an `A`: whoever lives there now.
    ///
    /// ```
    /// # use volary_core::{Actor, ActorRef, ActorSystem};
    /// # struct Account; impl Actor for Account {}
    /// # fn f(system: &ActorSystem) {
    /// let alice: Option<ActorRef<Account>> = system.lookup("/user/alice");
    /// # }
    /// ```
    #[must_use]
    pub fn lookup<A: Actor>(&self, path: &str) -> Option<ActorRef<A>> {
        let cell = self.core.find(&path.parse().ok()?)?;
        ((cell.table.actor_type)() == TypeId::of::<A>()).then(|| ActorRef::from_cell(cell, ()))
    }

    /// Whoever lives at an address, if they take messages of type `M`: no actor type is needed.
    ///
    /// The address may be a path (`/user/alice`) or a local address with or without a uid
    /// (`volary://bank/user/alice#7f`). The message must be listed in
    /// [`Actor::messages`](crate::Actor::messages), as `#[actor]` does.
    ///
    /// ```
    /// # use volary_core::{ActorSystem, Message, Recipient};
    /// # struct Deposit; impl Message for Deposit { type Reply = (); type Rejection = std::convert::Infallible; }
    /// # fn f(system: &ActorSystem) {
    /// if let Some(alice) = system.recipient::<Deposit>("/user/alice") {
    ///     let _ = alice.tell(Deposit);
    /// }
    /// # }
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
    /// # use volary_core::{ActorSystem, AnyRef, tree::Address};
    /// # fn f(system: &ActorSystem, address: &Address) -> Option<AnyRef> {
    /// system.find(address)
    /// # }
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
    /// # use volary_core::{ActorSystem, Message};
    /// # struct Deposit; impl Message for Deposit { type Reply = (); type Rejection = std::convert::Infallible; }
    /// # fn f(system: &ActorSystem) {
    /// if let Err(error) = system.tell("/user/alice", Deposit) {
    ///     println!("{error}");
    /// }
    /// # }
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
    /// # use volary_core::{ActorSystem, AskError, Message};
    /// # struct Balance; impl Message for Balance { type Reply = i64; type Rejection = std::convert::Infallible; }
    /// # async fn f(system: &ActorSystem) -> Result<(), AskError> {
    /// let cents = system.ask("/user/alice", Balance).await?;
    /// # Ok(()) }
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
    /// # fn f(system: &volary_core::ActorSystem, id: volary_core::ActorId) {
    /// println!("{:?}", system.path_of(id));
    /// # }
    /// ```
    #[must_use]
    pub fn path_of(&self, id: ActorId) -> Option<Path> {
        self.core.directory.get(id.raw()).map(|cell| cell.path())
    }

    /// The address of a live actor, from its id, as that of a [sender](crate::Context::sender). One that lives elsewhere has its
    /// node in it.
    ///
    /// ```
    /// # use volary_core::{Actor, Context};
    /// # fn in_a_handler<A: Actor>(ctx: &mut Context<A>) {
    /// let sender = ctx.sender().and_then(|id| ctx.system().address_of(id));
    /// # }
    /// ```
    #[must_use]
    pub fn address_of(&self, id: ActorId) -> Option<Address> {
        let cell = self.core.directory.get(id.raw())?;
        Some(self.core.address_of(&cell))
    }

    /// All live actors below `/user`, in no particular order.
    ///
    /// ```
    /// # fn f(system: &volary_core::ActorSystem) { println!("{}", system.actors().len()); }
    /// ```
    #[must_use]
    pub fn actors(&self) -> Vec<ActorInfo> {
        let mut above = self.core.user_actors();
        let mut all = Vec::new();
        while let Some(cell) = above.pop() {
            let children = cell.children();
            all.push(ActorInfo::of(&cell, children.len()));
            above.extend(children);
        }
        all
    }

    /// How many actors are alive, the three guardians not counted.
    ///
    /// ```
    /// # fn f(system: &volary_core::ActorSystem) { println!("{}", system.actor_count()); }
    /// ```
    #[must_use]
    pub fn actor_count(&self) -> usize {
        self.core.directory.len().saturating_sub(3 + self.core.stand_in_count())
    }

    /// What was measured of messages so far; nothing without [`telemetry`](crate::SystemBuilder::telemetry).
    ///
    /// ```
    /// # fn f(system: &volary_core::ActorSystem) {
    /// for kind in system.readings().kinds {
    ///     println!("{}: mean wait {:?}, mean time {:?}", kind.kind, kind.waited.mean(), kind.took.mean());
    /// }
    /// # }
    /// ```
    #[must_use]
    pub fn readings(&self) -> crate::telemetry::Readings {
        self.core.meter().map(|meter| meter.read()).unwrap_or_default()
    }

    /// The world outside, as this system sees it: for transports and other edges that must not reach around it.
    ///
    /// ```
    /// # fn f(system: &volary_core::ActorSystem) {
    /// let now = system.world().now();
    /// # }
    /// ```
    #[must_use]
    pub fn world(&self) -> &Arc<dyn crate::env::Env> {
        self.core.env()
    }

    /// The event stream.
    ///
    /// ```
    /// # fn f(system: &volary_core::ActorSystem) { system.events().publish("hello"); }
    /// ```
    #[must_use]
    pub fn events(&self) -> &EventStream {
        self.core.events()
    }

    /// The topics: messages to whoever subscribed to a name.
    ///
    /// ```
    /// # fn f(system: &volary_core::ActorSystem) { println!("{:?}", system.topics().list()); }
    /// ```
    #[must_use]
    pub fn topics(&self) -> Topics {
        Topics::new(self.core.clone())
    }

    /// The system's counters.
    ///
    /// ```
    /// # fn f(system: &volary_core::ActorSystem) { println!("{:?}", system.metrics()); }
    /// ```
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        Metrics {
            actors: self.actor_count(),
            timers: self.core.timers.len(),
            schedules: self.core.schedules().len(),
            lost_events: self.core.events.lost().load(std::sync::atomic::Ordering::Relaxed),
            mailbox_bytes: self.core.blocks() * BLOCK_BYTES,
            ..self.core.counters.read()
        }
    }

    /// Whether a stop has begun.
    ///
    /// ```
    /// # fn f(system: &volary_core::ActorSystem) -> bool { system.is_stopping() }
    /// ```
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.core.stopping.has_begun()
    }

    /// Stops the system, phase by phase as in [`shutdown`](crate::shutdown): it is not ready any more, the hooks of
    /// the program run, actors stop children first, then the dispatchers and threads. Waits until it is down, within
    /// the setting `shutdown-timeout`, of which the actors get up to `stop-timeout`. Called by several, all wait for
    /// the same stop. From inside a handler it begins the stop and returns, since the handler must end first.
    ///
    /// Cancel safe: once begun, the stop goes on.
    ///
    /// ```
    /// # async fn f(system: volary_core::ActorSystem) -> Result<(), volary_core::StopError> {
    /// system.stop().await
    /// # }
    /// ```
    ///
    /// # Errors
    /// Every problem on the way; the system is down nevertheless, as far as it can be.
    pub async fn stop(&self) -> Result<(), StopError> {
        stop(self.core.clone()).await
    }
}

impl fmt::Debug for ActorSystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ActorSystem")
            .field("name", &self.core.name)
            .field("actors", &self.actor_count())
            .finish()
    }
}

/// Waits on the clock of a system; see [`ActorSystem::sleep`].
///
/// ```
/// # use std::time::Duration;
/// use volary_core::{ActorSystem, Sleep};
///
/// fn a_second(system: &ActorSystem) -> Sleep {
///     system.sleep(Duration::from_secs(1))
/// }
/// ```
#[must_use = "futures do nothing unless polled"]
pub struct Sleep {
    pub(crate) core: Arc<SystemCore>,
    until: Moment,
    timer: Option<TimerId>,
}

impl Sleep {
    pub(super) fn new(core: Arc<SystemCore>, time: Duration) -> Self {
        let until = core.now() + time;
        Sleep {
            core,
            until,
            timer: None,
        }
    }

    fn cancel(&mut self) {
        if let Some(timer) = self.timer.take() {
            self.core.timers().cancel(timer);
        }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<()> {
        self.cancel();
        if self.core.now() >= self.until {
            return Poll::Ready(());
        }
        let timer = self.core.timers().insert(self.until, task.waker().clone());
        self.timer = Some(timer);
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleep")
            .field("until", &self.until)
            .finish_non_exhaustive()
    }
}
