//! Judges of what a test has recorded. They hold no clock, no actor and no randomness: the same record always gets the
//! same verdict, in any test, simulated or not.
//!
//! ```text
//! calls with begin and end   ──► History     ──► Checker + Model ──► Verdict     did it behave like one copy?
//! activations and turns      ──► Activations ──► check()                         one owner at a time, epochs growing?
//! messages and their fates   ──► Ledger      ──► check()                         each handled, dead or given back, in order?
//! numbers of the same        ──► Tally       ──► check()                         do they add up?
//! ```
//! A violation is a value that prints as a report: what contradicts what, who did it and when.

pub use accounting::{AccountingViolation, Ledger, MessageRecord, Tally, TallyViolation};
pub use activation::{Activation, ActivationViolation, Activations, Turn};
pub use history::{At, Call, CallId, Client, History, Returned};
pub use linearizable::{Allowed, Before, Checker, Verdict, Violation};
pub use model::Model;

mod accounting;
mod activation;
mod history;
mod linearizable;
mod model;
pub mod models;
