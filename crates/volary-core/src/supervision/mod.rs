//! Supervision: what is done about an actor that crashes, as data, and the decision as a pure function.
//!
//! [`policy`] is what a user says at spawn; [`backoff`] how long to wait before a restart;
//! [`history`] remembers restarts and decides what this one leads to. The cell carries it out
//! (`cell/supervise.rs`).

mod backoff;
mod description;
mod history;
mod policy;

pub use backoff::Backoff;
pub use description::{RuleForType, SupervisionDescription};
pub(crate) use history::{History, Verdict};
pub use policy::{ChildrenPolicy, Directive, Strategy, Supervision, SupervisionError};
