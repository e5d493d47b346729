//! How a schedule says that its message failed.

use std::convert::Infallible;

use super::handle::ScheduleId;
use crate::actor::{Fault, Message};

/// The message of a schedule panicked when it was copied, which ends the schedule, or when it was dropped.
/// Published on the event stream.
///
/// ```
/// # use volary_core::{ActorSystem, ScheduleFailed};
/// # fn f(system: &ActorSystem) {
/// let events = system.events().subscribe::<ScheduleFailed>();
/// # }
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ScheduleFailed {
    /// Which schedule.
    pub id: ScheduleId,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// The Rust type of the message.
    pub message_type: &'static str,
    /// What went wrong.
    pub fault: Fault,
}

impl Message for ScheduleFailed {
    type Reply = ();
    type Rejection = Infallible;
}
