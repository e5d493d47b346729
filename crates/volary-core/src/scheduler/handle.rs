//! The handle of a schedule.

use std::fmt;
use std::sync::Arc;

use super::task::Task;
use crate::time::Moment;

/// Tells the schedules of a system apart; never used again for another.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// # let pulse = system.scheduler().every(Duration::from_secs(60)).named("pulse").tell(&alice, Deposit(1))?;
/// assert_eq!(system.scheduler().list()[0].id(), pulse.id());
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScheduleId(pub(super) u64);

impl fmt::Display for ScheduleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "schedule {}", self.0)
    }
}

impl fmt::Debug for ScheduleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ScheduleId({})", self.0)
    }
}

/// A schedule that was made by the [`Scheduler`](crate::Scheduler). Cheap to clone; dropping it changes nothing.
///
/// ```
/// # use std::time::Duration;
/// # use volary_core::*;
/// # struct Heart; impl Actor for Heart {}
/// # #[derive(Clone)] struct Beat;
/// # impl Message for Beat { type Reply = (); type Rejection = std::convert::Infallible; }
/// # impl SyncHandler<Beat> for Heart {
/// #   fn handle(&mut self, _: Beat, _: &mut Context<Self>) -> Result<(), Failure> { Ok(()) } }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let system = ActorSystem::builder("demo").start().await?;
/// let heart = system.spawn(|| Heart).await?;
/// let pulse = system.scheduler().every(Duration::from_secs(1)).named("pulse").tell(&heart, Beat)?;
/// assert_eq!(pulse.name(), Some("pulse"));
/// pulse.pause();
/// assert_eq!(pulse.next(), None);
/// pulse.resume();
/// assert!(pulse.next().is_some());
/// pulse.cancel();
/// assert!(!pulse.is_active());
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Clone)]
pub struct Schedule {
    task: Arc<dyn Task>,
}

impl Schedule {
    pub(super) fn new(task: Arc<dyn Task>) -> Self {
        Schedule { task }
    }

    /// Its number.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let pulse = system.scheduler().every(Duration::from_secs(60)).named("pulse").tell(&alice, Deposit(1))?;
    /// assert_eq!(pulse.id(), pulse.clone().id());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn id(&self) -> ScheduleId {
        self.task.id()
    }

    /// The name it was given.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let pulse = system.scheduler().every(Duration::from_secs(60)).named("pulse").tell(&alice, Deposit(1))?;
    /// assert_eq!(pulse.name(), Some("pulse"));
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.task.name()
    }

    /// The Rust type of the message, for logs.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let pulse = system.scheduler().every(Duration::from_secs(60)).named("pulse").tell(&alice, Deposit(1))?;
    /// assert!(pulse.message_type().ends_with("Deposit"));
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn message_type(&self) -> &'static str {
        self.task.message_type()
    }

    /// Stops the clock for it: nothing is sent until it is [resumed](Self::resume). False: it is paused already, or
    /// has ended.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let pulse = system.scheduler().every(Duration::from_secs(60)).named("pulse").tell(&alice, Deposit(1))?;
    /// assert!(pulse.pause());
    /// assert!(pulse.is_paused());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn pause(&self) -> bool {
        self.task.pause()
    }

    /// Goes on. What was left of the time when it was paused is left now; at a fixed rate, all later times move by
    /// the length of the pause. Schedules of the calendar keep to the calendar: of a cron schedule the times that
    /// came during the pause are left out, and a single time that has come is sent at once. False: it was not paused.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let pulse = system.scheduler().every(Duration::from_secs(60)).named("pulse").tell(&alice, Deposit(1))?;
    /// pulse.pause();
    /// assert!(pulse.resume());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn resume(&self) -> bool {
        self.task.clone().resume()
    }

    /// Ends it; the message is dropped. What was sent already is on its way. False: it had ended.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let pulse = system.scheduler().every(Duration::from_secs(60)).named("pulse").tell(&alice, Deposit(1))?;
    /// pulse.cancel();
    /// assert!(!pulse.cancel());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn cancel(&self) -> bool {
        self.task.cancel()
    }

    /// Whether it has not ended. A paused one has not.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let pulse = system.scheduler().every(Duration::from_secs(60)).named("pulse").tell(&alice, Deposit(1))?;
    /// assert!(pulse.is_active());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.task.is_active()
    }

    /// Whether it is paused.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let pulse = system.scheduler().every(Duration::from_secs(60)).named("pulse").tell(&alice, Deposit(1))?;
    /// assert!(!pulse.is_paused());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.task.is_paused()
    }

    /// When it sends next; none while it is paused, and when it has ended. For schedules of the calendar, this is as
    /// the wall clock goes now.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let pulse = system.scheduler().every(Duration::from_secs(60)).named("pulse").tell(&alice, Deposit(1))?;
    /// let next = pulse.next().expect("it goes on");
    /// assert!(next.since(system.now()) <= Duration::from_secs(60));
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn next(&self) -> Option<Moment> {
        self.task.next()
    }

    /// How often it went off, whatever became of the messages.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let pulse = system.scheduler().every(Duration::from_secs(60)).named("pulse").tell(&alice, Deposit(1))?;
    /// assert_eq!(pulse.fired(), 0, "the first minute is not over");
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn fired(&self) -> u64 {
        self.task.fired()
    }
}

impl PartialEq for Schedule {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.task, &other.task)
    }
}

impl Eq for Schedule {}

impl fmt::Debug for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schedule")
            .field("id", &self.id())
            .field("name", &self.name())
            .field("message", &self.message_type())
            .field("next", &self.next())
            .field("fired", &self.fired())
            .finish()
    }
}
