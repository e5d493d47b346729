//! Time: moments of the system's clock, the timing wheel, and the timers on it; with the feature
//! `cron`, schedules of the calendar.

mod clock;
#[cfg(feature = "cron")]
mod cron;
pub(crate) mod slab;
mod timers;
mod wheel;

pub use clock::Moment;
pub(crate) use clock::nanos;
#[cfg(feature = "cron")]
pub use cron::{Cron, CronError, CronField, CronProblem};
pub(crate) use timers::{TimerId, Timers, next_at_rate};
pub use wheel::{TICK, Tick, TimerKey, Wheel, ticks};
