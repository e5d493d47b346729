//! What the book and the handles know of a schedule.

use std::sync::Arc;

use super::handle::ScheduleId;
use crate::cell::Header;
use crate::sync::atomic::AtomicU32;
use crate::time::Moment;

/// A schedule, whatever it sends to whomever.
pub(super) trait Task: Send + Sync {
    fn id(&self) -> ScheduleId;
    fn name(&self) -> Option<&str>;
    fn message_type(&self) -> &'static str;
    /// The id of the one receiver; 0 if it may be anybody.
    fn receiver(&self) -> u64;
    fn place(&self) -> &AtomicU32;
    fn is_active(&self) -> bool;
    fn is_paused(&self) -> bool;
    fn next(&self) -> Option<Moment>;
    fn fired(&self) -> u64;
    /// False: it was not to be paused.
    fn pause(&self) -> bool;
    /// False: it was not paused.
    fn resume(self: Arc<Self>) -> bool;
    /// False: it had ended.
    fn cancel(&self) -> bool;
    /// The receiver has ended: exactly one dead letter says so.
    fn receiver_ended(&self, receiver: &Header);
}
