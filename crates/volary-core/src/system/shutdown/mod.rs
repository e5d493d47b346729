//! Coordinated shutdown: the way down in named phases, with hooks of the program's own between the
//! runtime's steps.
//!
//! ```text
//!   stop, or a signal
//!        │
//!   readiness turns false
//!        ▼
//!   unready ──▶ intake ──▶ drain ──▶ actors ──▶ after-actors ──▶ dispatchers, threads, clock
//!   hooks       hooks      hooks     hooks      hooks
//!                          quiet     the tree
//! ```
//! The hooks of a phase run one after the other, in the order in which they were registered; then comes
//! what the phase does itself. Phases of the program's own stand before or after any of these, and
//! consist of hooks alone. The whole has the setting `shutdown-timeout`.
//!
//! Inside, `phase` says in which order the phases stand, and `course` what comes next: both without a clock
//! or a task. `attempt` runs a hook once, `retry` as often as its recovery says, `quiet` waits for
//! the actors' work to be done, `patience` for anything, as long as there is time. `stop.rs` drives it all.

mod attempt;
mod course;
mod handle;
mod hook;
mod patience;
mod phase;
mod quiet;
mod readiness;
mod retry;

pub use course::CutShort;
pub(super) use course::{Course, Step};
pub use handle::HookHandle;
pub(super) use handle::{Shutdown, add};
pub use hook::{HookError, HookOutcome, HookRecovery, ShutdownHook};
pub(super) use patience::{LAST_PATIENCE, last_wait, wait};
pub use phase::{ACTORS, AFTER_ACTORS, DRAIN, INTAKE, PhaseError, PhasePlace, UNREADY};
pub(super) use phase::{Work, plan};
pub(super) use quiet::drain;
pub use readiness::{Readiness, Unready};
pub(super) use retry::{pass, run};
