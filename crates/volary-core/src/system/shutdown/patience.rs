//! Waiting with a limit, on the way down.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::system::core::SystemCore;
use crate::system::sleep::Sleep;

/// What those who were cut off get to come to the end of a poll.
pub(in crate::system) const LAST_PATIENCE: Duration = Duration::from_secs(1);

/// Waits for something until the time is over, or until somebody is in a hurry; `None` then. A hurry that began
/// before ends nothing: `time` takes it into account.
pub(in crate::system) async fn wait<T>(
    core: &Arc<SystemCore>,
    time: Duration,
    mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>,
) -> Option<T> {
    let hurried_before = core.shutdown.is_hurried();
    let mut over = pin!(Sleep::new(core.clone(), time));
    poll_fn(|task| {
        if let Poll::Ready(output) = poll(task) {
            return Poll::Ready(Some(output));
        }
        if !hurried_before && core.shutdown.poll_hurried(task).is_ready() {
            return Poll::Ready(None);
        }
        over.as_mut().poll(task).map(|()| None)
    })
    .await
}

/// Waits for what was cut off already to let go; `None` if it does not. Nothing shortens this.
pub(in crate::system) async fn last_wait<T>(
    core: &Arc<SystemCore>,
    mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>,
) -> Option<T> {
    let mut over = pin!(Sleep::new(core.clone(), LAST_PATIENCE));
    poll_fn(|task| match poll(task) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => over.as_mut().poll(task).map(|()| None),
    })
    .await
}
