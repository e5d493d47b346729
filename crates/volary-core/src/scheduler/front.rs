//! The scheduler of a system, as users hold it.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::handle::Schedule;
use super::once::{ScheduleOnce, Single};
use super::repeating::ScheduleRepeating;
use super::rhythm::Rhythm;
use crate::system::SystemCore;
#[cfg(feature = "cron")]
use crate::time::Cron;

/// Sends messages later, or again and again; see [`ActorSystem::scheduler`](crate::ActorSystem::scheduler).
///
/// A schedule sends to one actor, or to whoever lives at a path at that time. It never keeps an actor: when the one
/// actor ends, the schedule ends, and exactly one dead letter says so. A mailbox that is full refuses the message,
/// which becomes a dead letter, and the schedule goes on. Stopping the system ends all schedules.
///
/// The sender of the messages is the actor that made the schedule, if one did. They are ordinary messages: what
/// was sent before a schedule is cancelled is handled. Timers that belong to an actor, end when it restarts and take
/// back what waits in its mailbox are [`Context::set_timer`](crate::Context::set_timer) and
/// [`set_interval`](crate::Context::set_interval).
///
/// ```
/// use std::time::Duration;
/// # use volary_core::*;
/// # struct Cache; impl Actor for Cache {}
/// # #[derive(Clone)] struct Expire;
/// # impl Message for Expire { type Reply = (); type Rejection = std::convert::Infallible; }
/// # impl SyncHandler<Expire> for Cache {
/// #   fn handle(&mut self, _: Expire, _: &mut Context<Self>) -> Result<(), Failure> { Ok(()) } }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let system = ActorSystem::builder("demo").start().await?;
/// # let cache = system.spawn(|| Cache).named("cache").await?;
/// let scheduler = system.scheduler();
/// scheduler.once(Duration::from_secs(5)).tell(&cache, Expire)?;
/// scheduler.every(Duration::from_secs(60)).named("tidy-up").tell(&cache, Expire)?;
/// scheduler.with_delay(Duration::from_secs(1)).at_most(3).tell_path("/user/cache", Expire)?;
///
/// assert_eq!(scheduler.len(), 3);
/// assert!(scheduler.cancel("tidy-up"));
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Clone)]
pub struct Scheduler {
    core: Arc<SystemCore>,
}

impl Scheduler {
    pub(crate) fn new(core: Arc<SystemCore>) -> Self {
        Scheduler { core }
    }

    /// After `delay`, one time. At most a century.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let schedule = system.scheduler().once(Duration::from_secs(5)).tell(&alice, Deposit(1))?;
    /// assert!(schedule.is_active());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn once(&self, delay: Duration) -> ScheduleOnce {
        ScheduleOnce::new(self.core.clone(), Single::After(delay))
    }

    /// When the wall clock says so, one time; at once if it has been said already.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let opening = system.world().wall() + Duration::from_secs(60);
    /// let schedule = system.scheduler().at(opening).tell(&alice, Deposit(1))?;
    /// assert!(schedule.is_active());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn at(&self, time: SystemTime) -> ScheduleOnce {
        ScheduleOnce::new(self.core.clone(), Single::At(time))
    }

    /// At a fixed rate, the first time after one period. A millisecond at least. Times that were missed, because the
    /// machine was busy or asleep, are not made up for; those that follow are where they would have been.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let schedule = system.scheduler().every(Duration::from_secs(60)).tell(&alice, Deposit(1))?;
    /// assert!(schedule.is_active());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn every(&self, period: Duration) -> ScheduleRepeating {
        ScheduleRepeating::new(self.core.clone(), Rhythm::Every(period))
    }

    /// Again and again with `delay` in between, counted from when a message was sent, not from when it was handled.
    /// The first time after `delay`. A millisecond at least.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let schedule = system.scheduler().with_delay(Duration::from_secs(60)).tell(&alice, Deposit(1))?;
    /// assert!(schedule.is_active());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn with_delay(&self, delay: Duration) -> ScheduleRepeating {
        ScheduleRepeating::new(self.core.clone(), Rhythm::Delay(delay))
    }

    /// By the calendar, in the time zone of the expression. Times that were missed are not made up for. It follows
    /// the wall clock when that is set, within a minute: what is jumped over is sent once; hours that come again,
    /// because it was set back by up to three, are not repeated.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let office_opens = Cron::parse("0 9 * * MON-FRI")?.in_zone("Europe/Berlin")?;
    /// let schedule = system.scheduler().cron(&office_opens).named("opening").tell(&alice, Deposit(1))?;
    /// assert!(schedule.next().is_some());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[cfg(feature = "cron")]
    pub fn cron(&self, cron: &Cron) -> ScheduleRepeating {
        ScheduleRepeating::new(self.core.clone(), Rhythm::Cron(cron.clone()))
    }

    /// All schedules that have not ended, in the order in which they were made.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let pulse = system.scheduler().every(Duration::from_secs(60)).named("pulse").tell(&alice, Deposit(1))?;
    /// for schedule in system.scheduler().list() {
    ///     println!("{:?} sends {} next at {:?}", schedule.name(), schedule.message_type(), schedule.next());
    /// }
    /// # assert_eq!(system.scheduler().list().len(), 1);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn list(&self) -> Vec<Schedule> {
        self.core.schedules().list().into_iter().map(Schedule::new).collect()
    }

    /// The schedule of this name.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let pulse = system.scheduler().every(Duration::from_secs(60)).named("pulse").tell(&alice, Deposit(1))?;
    /// let pulse = system.scheduler().get("pulse").expect("it was set");
    /// assert!(pulse.pause());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Schedule> {
        self.core.schedules().get(name).map(Schedule::new)
    }

    /// Ends the schedule of this name. False: there is none.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let pulse = system.scheduler().every(Duration::from_secs(60)).named("pulse").tell(&alice, Deposit(1))?;
    /// assert!(system.scheduler().cancel("pulse"));
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn cancel(&self, name: &str) -> bool {
        self.get(name).is_some_and(|schedule| schedule.cancel())
    }

    /// How many schedules have not ended.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let pulse = system.scheduler().every(Duration::from_secs(60)).named("pulse").tell(&alice, Deposit(1))?;
    /// assert_eq!(system.scheduler().len(), 1);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        self.core.schedules().len()
    }

    /// Whether nothing is scheduled.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert!(system.scheduler().is_empty());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl fmt::Debug for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scheduler").field("len", &self.len()).finish()
    }
}
