//! Events: what the system tells of itself, and what applications tell each other.
//!
//! [`stream`] carries any type that can be cloned to whoever subscribed to that type. Its subscribers, and those of topics,
//! are the members of a [`channel`]: somebody who reads ([`reader`]), or an actor that gets messages ([`post`]).
//! [`dead_letter`] and [`lifecycle`] are what the runtime publishes.

pub(crate) mod channel;
mod dead_letter;
mod lifecycle;
mod options;
pub(crate) mod post;
mod reader;
mod stream;

pub use channel::SubscriberInfo;
pub use dead_letter::{DeadLetter, DeadReason};
pub(crate) use lifecycle::Lifecycle;
pub use lifecycle::{
    ActorFailed, ActorPassivated, ActorReinstated, ActorRestarted, ActorStarted, ActorStopped, ActorSuspended,
    ActorWoken, ChildFailed, MailboxHighWater, RejectionUnheard, SlowHandler, Terminated,
};
pub use options::SubscriptionOptions;
pub use post::{Missed, SubscriberLagged};
pub(crate) use reader::Queue;
pub use reader::{Lagged, Subscription};
pub use stream::{Event, EventStream};
