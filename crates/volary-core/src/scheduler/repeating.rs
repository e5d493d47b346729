//! Making a schedule that repeats.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::aim::ToPath;
use super::alarm::{Plan, Planned};
use super::error::ScheduleError;
use super::handle::Schedule;
use super::make::{checked_name, parse, schedule, schedule_for_actor};
use super::rhythm::{Clocks, Next, Rhythm};
#[cfg(feature = "cron")]
use super::settings::never;
use super::settings::{check_delay, check_period, check_times};
use crate::actor::Message;
use crate::reference::Recipient;
use crate::system::SystemCore;

/// A repeating schedule that is being made. Nothing happens until it knows whom to tell what.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let pulse = system
///     .scheduler()
///     .every(Duration::from_secs(1))
///     .starting_after(Duration::ZERO)
///     .at_most(10)
///     .tell(&alice, Deposit(1))?;
/// assert!(pulse.is_active());
/// # system.stop().await?; Ok(()) }
/// ```
#[must_use = "nothing is scheduled until `tell` or `tell_path`"]
pub struct ScheduleRepeating {
    core: Arc<SystemCore>,
    rhythm: Rhythm,
    starting_after: Option<Duration>,
    most: u64,
    name: Option<String>,
}

impl ScheduleRepeating {
    pub(super) fn new(core: Arc<SystemCore>, rhythm: Rhythm) -> Self {
        ScheduleRepeating {
            core,
            rhythm,
            starting_after: None,
            most: u64::MAX,
            name: None,
        }
    }

    /// The first time is after this delay instead of after a period. A cron schedule begins with the first time that
    /// lies so far ahead.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// system.scheduler().every(Duration::from_secs(60)).starting_after(Duration::ZERO).tell(&alice, Deposit(1))?;
    /// # while alice.ask(Balance).await? == 0 { system.sleep(Duration::from_millis(1)).await; }
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn starting_after(mut self, delay: Duration) -> Self {
        self.starting_after = Some(delay);
        self
    }

    /// Ends after so many times.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let three = system.scheduler().every(Duration::from_millis(1)).at_most(3).tell(&alice, Deposit(1))?;
    /// # while three.is_active() { system.sleep(Duration::from_millis(1)).await; }
    /// # while alice.ask(Balance).await? < 3 { system.sleep(Duration::from_millis(1)).await; }
    /// assert_eq!(three.fired(), 3);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn at_most(mut self, times: u64) -> Self {
        self.most = times;
        self
    }

    /// As [`ScheduleOnce::named`](crate::ScheduleOnce::named).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let pulse = system.scheduler().every(Duration::from_secs(1)).named("pulse").tell(&alice, Deposit(1))?;
    /// assert_eq!(pulse.name(), Some("pulse"));
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Schedules copies of the message for one actor. A message whose copying panics ends the schedule; see
    /// [`ScheduleFailed`](crate::ScheduleFailed).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// system.scheduler().every(Duration::from_millis(1)).tell(&alice, Deposit(1))?;
    /// # while alice.ask(Balance).await? == 0 { system.sleep(Duration::from_millis(1)).await; }
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// What was set wrongly; a name that is taken; or the system is stopping.
    pub fn tell<M: Message + Clone>(
        self,
        receiver: impl Into<Recipient<M>>,
        message: M,
    ) -> Result<Schedule, ScheduleError> {
        let receiver = receiver.into();
        let core = self.core.clone();
        let (plan, first) = self.plan()?;
        schedule_for_actor(&core, &receiver, plan, first, message)
    }

    /// Schedules copies of the message for whoever lives at this path at each time. If nobody does who takes it, that
    /// copy is a dead letter, and the schedule goes on.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// system.scheduler().every(Duration::from_millis(1)).tell_path("/user/alice", Deposit(1))?;
    /// # while alice.ask(Balance).await? == 0 { system.sleep(Duration::from_millis(1)).await; }
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// As for [`tell`](Self::tell), or this is no path.
    pub fn tell_path<M: Message + Clone>(self, path: &str, message: M) -> Result<Schedule, ScheduleError> {
        let aim = ToPath(parse(path)?);
        let core = self.core.clone();
        let (plan, first) = self.plan()?;
        Ok(Schedule::new(schedule(&core, aim, plan, first, message)?))
    }

    fn plan<M: Message + Clone>(self) -> Result<Planned<M>, ScheduleError> {
        let name = checked_name(self.name.as_deref())?;
        check_times(self.most)?;
        check_delay("starting_after", self.starting_after.unwrap_or_default())?;
        let first = self.first(Clocks::read(&self.core))?;
        let plan = Plan {
            name,
            rhythm: self.rhythm,
            most: self.most,
            copy: Some(M::clone),
        };
        Ok((Some(Box::new(plan)), first))
    }

    fn first(&self, clocks: Clocks) -> Result<Next, ScheduleError> {
        let start = |period| Next::after(clocks.now + self.starting_after.unwrap_or(period));
        match &self.rhythm {
            Rhythm::Every(period) => check_period("every", *period).map(|()| start(*period)),
            Rhythm::Delay(delay) => check_period("with_delay", *delay).map(|()| start(*delay)),
            #[cfg(feature = "cron")]
            Rhythm::Cron(cron) => {
                let from = clocks.wall + self.starting_after.unwrap_or_default();
                let due = cron.next_after(from).ok_or_else(|| never(cron))?;
                Ok(Next::dated(due, clocks))
            }
            Rhythm::Once | Rhythm::At => unreachable!("these do not repeat"),
        }
    }
}

impl fmt::Debug for ScheduleRepeating {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScheduleRepeating")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
