//! Time: moments of the system's clock, the timing wheel, and the timers on it.

mod clock;
mod timers;
mod wheel;

pub use clock::Moment;
pub(crate) use clock::nanos;
pub(crate) use timers::{TimerId, Timers};
pub use wheel::{TICK, Tick, TimerKey, Wheel, ticks};
