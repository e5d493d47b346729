//! The scheduler: messages that are sent at a time, or again and again.
//!
//! ```text
//!   Scheduler ──▶ once, repeating ──▶ Alarm ◀── the wheel wakes it; it sends, and sets the wheel for the next time
//!                                       ▲
//!   Schedule ───────────────────────────┴────── Book: all that are pending, by place, by name, by receiver
//! ```
//! A schedule is one allocation, an entry on the wheel and one in the book; no task, no thread. It knows its receiver
//! by id alone, so it keeps nothing of it; an actor that ends looks into the book and ends what is meant for it.
//! Timers that belong to one incarnation of one actor are something else: see `cell/timed.rs`.

mod aim;
mod alarm;
mod book;
mod error;
mod failed;
mod front;
mod handle;
mod make;
mod once;
mod repeating;
mod rhythm;
mod settings;
mod task;

pub(crate) use book::Book;
pub use error::ScheduleError;
pub use failed::ScheduleFailed;
pub use front::Scheduler;
pub use handle::{Schedule, ScheduleId};
pub use once::ScheduleOnce;
pub use repeating::ScheduleRepeating;
