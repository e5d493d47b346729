//! The actor system: what holds everything together.
//!
//! `builder` starts it, `core` is what every cell points to, `handle` what users
//! hold, `places` who lives at a path, `sleep` its clock, `reports` how trouble is told, `tasks` what actors spawn beside themselves,
//! `observer` the watch over slow handlers, `stop` the way down, `shutdown` its phases and hooks, `problem` what goes
//! wrong on it, `signal` who asks for it, `settings` what can be set.

mod builder;
mod core;
mod dispatchers;
mod handle;
mod metrics;
mod observer;
mod places;
mod problem;
mod reports;
pub mod settings;
pub mod shutdown;
mod signal;
mod sleep;
mod stop;
mod tasks;

pub use builder::{StartError, SystemBuilder};
pub(crate) use core::SystemCore;
pub use dispatchers::DispatcherOptions;
pub use handle::{ActorInfo, ActorSystem};
pub use metrics::Metrics;
pub use problem::{StopError, StopProblem};
pub(crate) use reports::{Addressee, count_late_reply, unheard_rejection};
pub use sleep::Sleep;
pub(crate) use tasks::{TaskState, spawn_beside, spawn_for};
