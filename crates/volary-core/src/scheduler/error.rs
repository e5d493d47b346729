//! Why something was not scheduled.

use thiserror::Error;

use crate::tree::PathError;

/// Why something was not scheduled. Nothing is left behind.
///
/// ```
/// use std::time::Duration;
/// # use volary_core::*;
/// # #[derive(Clone)] struct Beat;
/// # impl Message for Beat { type Reply = (); type Rejection = std::convert::Infallible; }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let system = ActorSystem::builder("demo").start().await?;
/// let refused = system.scheduler().every(Duration::ZERO).tell_path("/user/heart", Beat).unwrap_err();
/// assert_eq!(refused.to_string(), "every: the value `0ns` is refused: allowed is 1ms to 36525 days");
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// Give the setting a value that is allowed.
    #[error("{setting}: the value `{value}` is refused: allowed is {allowed}")]
    Value {
        /// What was set.
        setting: &'static str,
        /// The value as it was given.
        value: String,
        /// What is allowed.
        allowed: &'static str,
    },
    /// Cancel the other one first, or choose another name.
    #[error("a schedule named {name:?} exists already")]
    Duplicate {
        /// The name that was asked for.
        name: String,
    },
    /// This is no path.
    #[error("cannot schedule a message for {path:?}: {reason}")]
    Path {
        /// What was given.
        path: String,
        /// What is wrong with it.
        #[source]
        reason: PathError,
    },
    /// Use the scheduler of the system that the receiver lives in.
    #[error("the receiver lives in the system {system}, which has a scheduler of its own")]
    OtherSystem {
        /// Where it lives.
        system: String,
    },
    /// The system is going down; all schedules have ended.
    #[error("the system is stopping")]
    Stopping,
}
