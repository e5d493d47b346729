//! A circuit breaker: stops calling what fails, and tries again after a while.
//!
//! ```text
//!              too many failures                    the open duration is over
//!   Closed ───────────────────────▶ Open ───────────────────────────────────────▶ HalfOpen
//!     ▲                              ▲                                              │  │
//!     │                              └──────────── too many trial calls fail ───────┘  │
//!     └──────────────────────────────────── enough trial calls succeed ────────────────┘
//! ```
//! It never looks at a clock: every call says what time it is. It never calls anybody either: whoever causes a change
//! of state is handed the [`Transition`], and may publish it. [`CircuitBreaker::call`] does both on behalf of a system:
//! it takes the time from its clock and tells its event stream of changes, as [`BreakerChanged`].
//!
//! `options` is what can be set, `window` which calls count, `machine` the states, `handle` what users share, `call` a
//! future behind it, `changed` the event.

mod call;
mod changed;
mod handle;
mod machine;
mod options;
mod window;

pub use call::{Call, CallError};
pub use changed::BreakerChanged;
pub use handle::{CircuitBreaker, Permit};
pub use machine::{Counters, Open, Outcome, State, Transition};
pub use options::{BreakerOptions, BreakerOptionsError, Window};
pub use window::Counted;

#[cfg(test)]
mod tests;
