//! Passivation: actors that nobody needs let go of their state, and come back with the next message.
//!
//! [`policy`] is what one actor is told, [`eviction`] what the whole system is told; [`choice`] picks those who go, and
//! [`keeper`] knows who is awake. How a cell falls asleep and wakes up is in `cell/passivate.rs`.

mod choice;
mod eviction;
mod keeper;
mod policy;

pub use eviction::{Eviction, EvictionError};
pub(crate) use keeper::Keeper;
pub use policy::Passivation;
