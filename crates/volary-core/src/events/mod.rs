//! Events: what the system tells of itself, and what applications tell each other.
//!
//! [`stream`] carries any type that can be cloned to whoever subscribed to that type;
//! [`dead_letter`] and [`lifecycle`] are what the runtime publishes there.

mod dead_letter;
mod lifecycle;
mod stream;

pub use dead_letter::{DeadLetter, DeadReason};
pub(crate) use lifecycle::Lifecycle;
pub use lifecycle::{
    ActorFailed, ActorPassivated, ActorReinstated, ActorRestarted, ActorStarted, ActorStopped, ActorSuspended,
    ActorWoken, ChildFailed, MailboxHighWater, RejectionUnheard, SlowHandler, Terminated,
};
pub use stream::{Event, EventStream, Lagged, Subscription};
