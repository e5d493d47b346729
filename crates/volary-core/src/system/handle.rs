//! The handle that users hold.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::builder::SystemBuilder;
use super::core::SystemCore;
use super::metrics::{Metrics, count};
use super::problem::StopError;
use super::settings::Settings;
use super::sleep::Sleep;
use super::stop::stop;
use crate::actor::Product;
use crate::cell::CellRef;
use crate::env::Disk;
use crate::events::EventStream;
use crate::mailbox::BLOCK_BYTES;
use crate::reference::{ActorId, ActorStatus, Spawn};
use crate::scheduler::Scheduler;
use crate::time::Moment;
use crate::topics::Topics;
use crate::tree::Path;

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
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// for actor in system.actors() {
///     println!("{} is a {} with {} messages waiting", actor.path, actor.actor_type, actor.waiting);
/// }
/// # assert!(system.actors().iter().any(|actor| actor.path == alice.path()));
/// # system.stop().await?; Ok(()) }
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
        let guardians = self.core.guardians.load();
        guardians.as_ref().map(|guardians| guardians.user.clone())
    }

    pub(crate) fn count_routee_lost(&self) {
        count(&self.core.counters.routees_lost);
    }

    /// Begins to build a system. Names follow the rules of actor names.
    ///
    /// ```
    /// # use volary_core::ActorSystem;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let system = ActorSystem::builder("bank").start().await?;
    /// assert_eq!(system.name(), "bank");
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn builder(name: impl Into<String>) -> SystemBuilder {
        SystemBuilder::new(name.into())
    }

    /// The system's name.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert_eq!(system.name(), "bank");
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn name(&self) -> &str {
        &self.core.name
    }

    /// The settings in force.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert_eq!(system.settings().ask_timeout(), Duration::from_secs(5));
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.core.settings
    }

    /// How long the system has been running.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert!(system.uptime() < Duration::from_secs(3600));
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn uptime(&self) -> Duration {
        self.core.now().since(self.core.began)
    }

    /// The system's clock; virtual in simulation.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let before = system.now();
    /// assert!(system.now() >= before);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn now(&self) -> Moment {
        self.core.now()
    }

    /// Waits on the system's clock, and no longer than until the system has stopped, whose clock goes with it. Cancel safe.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let before = system.now();
    /// system.sleep(Duration::from_millis(5)).await;
    /// assert!(system.now().since(before) >= Duration::from_millis(5));
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn sleep(&self, time: Duration) -> Sleep {
        Sleep::new(self.core.clone(), time)
    }

    /// The disk of the environment: the real one, or that of a simulated node. Its functions block; call them on the
    /// blocking dispatcher.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let path = std::env::temp_dir().join(format!("volary-bank-{}", std::process::id()));
    /// let log = system.disk().open(&path, OpenMode::Create)?;
    /// log.append(b"first")?;
    /// assert_eq!(log.len()?, 5);
    /// # system.disk().remove(&path)?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn disk(&self) -> Arc<dyn Disk> {
        self.core.env().disk()
    }

    /// Sends messages later, or again and again.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// system.scheduler().once(Duration::from_millis(1)).tell(&alice, Deposit(5))?;
    /// # while alice.ask(Balance).await? == 0 { system.sleep(Duration::from_millis(1)).await; }
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn scheduler(&self) -> Scheduler {
        Scheduler::new(self.core.clone())
    }

    /// Starts an actor below `/user`. The factory is kept: a restart builds the actor anew.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let bob = system.spawn(Account::default).named("bob").await?;
    /// assert_eq!(bob.ask(Deposit(5)).await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn spawn<P, F>(&self, factory: F) -> Spawn<F>
    where
        P: Product,
        F: Fn() -> P + Send + Sync + 'static,
    {
        Spawn::new(self.user_guardian(), factory)
    }

    /// All live actors below `/user`, in no particular order.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let paths: Vec<String> = system.actors().iter().map(|actor| actor.path.to_string()).collect();
    /// assert_eq!(paths, ["/user/alice"]);
    /// # system.stop().await?; Ok(()) }
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
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert_eq!(system.actor_count(), 1);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn actor_count(&self) -> usize {
        self.core.directory.len().saturating_sub(3 + self.core.stand_in_count())
    }

    /// What was measured of messages so far; nothing without [`telemetry`](crate::SystemBuilder::telemetry).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// for kind in system.readings().kinds {
    ///     println!("{}: mean wait {:?}, mean time {:?}", kind.kind, kind.waited.mean(), kind.took.mean());
    /// }
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn readings(&self) -> crate::telemetry::Readings {
        self.core.meter().map(|meter| meter.read()).unwrap_or_default()
    }

    /// The world outside, as this system sees it: for transports and other edges that must not reach around it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let before = system.world().now();
    /// assert!(system.world().now() >= before);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn world(&self) -> &Arc<dyn crate::env::Env> {
        self.core.env()
    }

    /// The event stream.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let greetings = system.events().subscribe::<&'static str>();
    /// system.events().publish("hello");
    /// assert_eq!(greetings.next().await, Ok("hello"));
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn events(&self) -> &EventStream {
        self.core.events()
    }

    /// The topics: messages to whoever subscribed to a name.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert!(system.topics().list().is_empty());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn topics(&self) -> Topics {
        Topics::new(self.core.clone())
    }

    /// The system's counters.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// println!("{:?}", system.metrics());
    /// # assert_eq!(system.metrics().dead_letters, 0);
    /// # system.stop().await?; Ok(()) }
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
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert!(!system.is_stopping());
    /// # system.stop().await?; Ok(()) }
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
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// alice.tell(Deposit(5))?;
    /// system.stop().await?;
    /// assert!(!alice.is_alive());
    /// # Ok(()) }
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
