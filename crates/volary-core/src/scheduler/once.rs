//! Making a schedule for one time.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::aim::ToPath;
use super::alarm::{Plan, Planned};
use super::error::ScheduleError;
use super::handle::Schedule;
use super::make::{checked_name, parse, schedule, schedule_for_actor};
use super::rhythm::{Clocks, Next, Rhythm};
use super::settings::check_delay;
use crate::actor::Message;
use crate::reference::Recipient;
use crate::system::SystemCore;

/// A schedule for one time that is being made. Nothing happens until it knows whom to tell what.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let reminder = system.scheduler().once(Duration::from_secs(5)).named("reminder").tell(&alice, Deposit(1))?;
/// assert_eq!(reminder.name(), Some("reminder"));
/// # system.stop().await?; Ok(()) }
/// ```
#[must_use = "nothing is scheduled until `tell` or `tell_path`"]
pub struct ScheduleOnce {
    core: Arc<SystemCore>,
    when: Single,
    name: Option<String>,
}

pub(super) enum Single {
    After(Duration),
    At(SystemTime),
}

impl ScheduleOnce {
    pub(super) fn new(core: Arc<SystemCore>, when: Single) -> Self {
        ScheduleOnce { core, when, name: None }
    }

    /// Gives it a name, by which [`Scheduler::get`](crate::Scheduler::get) and
    /// [`Scheduler::cancel`](crate::Scheduler::cancel) find it; unique among schedules that
    /// have not ended.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let reminder = system.scheduler().once(Duration::from_secs(5)).named("reminder").tell(&alice, Deposit(1))?;
    /// assert!(system.scheduler().get("reminder").is_some());
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Schedules the message for one actor. If that has ended, the message is a dead letter at once.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// system.scheduler().once(Duration::from_millis(1)).tell(&alice, Deposit(1))?;
    /// # while alice.ask(Balance).await? == 0 { system.sleep(Duration::from_millis(1)).await; }
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// What was set wrongly; a name that is taken; or the system is stopping.
    pub fn tell<M: Message>(self, receiver: impl Into<Recipient<M>>, message: M) -> Result<Schedule, ScheduleError> {
        let receiver = receiver.into();
        let (plan, first) = self.plan()?;
        schedule_for_actor(&self.core, &receiver, plan, first, message)
    }

    /// Schedules the message for whoever lives at this path then. If nobody does who takes it, it is a dead letter.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// system.scheduler().once(Duration::from_millis(1)).tell_path("/user/alice", Deposit(1))?;
    /// # while alice.ask(Balance).await? == 0 { system.sleep(Duration::from_millis(1)).await; }
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// As for [`tell`](Self::tell), or this is no path.
    pub fn tell_path<M: Message>(self, path: &str, message: M) -> Result<Schedule, ScheduleError> {
        let aim = ToPath(parse(path)?);
        let (plan, first) = self.plan()?;
        Ok(Schedule::new(schedule(&self.core, aim, plan, first, message)?))
    }

    fn plan<M>(&self) -> Result<Planned<M>, ScheduleError> {
        let (rhythm, first) = match self.when {
            Single::After(delay) => {
                check_delay("once", delay)?;
                (Rhythm::Once, Next::after(self.core.now() + delay))
            }
            Single::At(time) => {
                let clocks = Clocks::read(&self.core);
                check_delay("at", time.duration_since(clocks.wall).unwrap_or_default())?;
                (Rhythm::At, Next::dated(time, clocks))
            }
        };
        let name = checked_name(self.name.as_deref())?;
        if name.is_none() && matches!(rhythm, Rhythm::Once) {
            return Ok((None, first));
        }
        let plan = Plan {
            name,
            rhythm,
            most: 1,
            copy: None,
        };
        Ok((Some(Box::new(plan)), first))
    }
}

impl fmt::Debug for ScheduleOnce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScheduleOnce")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
