//! Waiting on the clock of a system.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use super::core::SystemCore;
use crate::time::{Moment, TimerId};

/// Waits on the clock of a system; see [`ActorSystem::sleep`](crate::ActorSystem::sleep).
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let (began, sleep): (Moment, Sleep) = (system.now(), system.sleep(Duration::from_millis(2)));
/// sleep.await;
/// assert!(system.now().since(began) >= Duration::from_millis(2));
/// # system.stop().await?; Ok(()) }
/// ```
#[must_use = "futures do nothing unless polled"]
pub struct Sleep {
    pub(crate) core: Arc<SystemCore>,
    until: Moment,
    timer: Option<TimerId>,
}

impl Sleep {
    pub(super) fn new(core: Arc<SystemCore>, time: Duration) -> Self {
        let until = core.now() + time;
        Sleep {
            core,
            until,
            timer: None,
        }
    }

    fn cancel(&mut self) {
        if let Some(timer) = self.timer.take() {
            self.core.timers().cancel(timer);
        }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<()> {
        self.cancel();
        if self.core.now() >= self.until {
            return Poll::Ready(());
        }
        let timer = self.core.timers().insert(self.until, task.waker().clone());
        self.timer = Some(timer);
        // Looked at behind the timer: nobody fires those that are set after the end.
        if self.core.has_ended() {
            self.cancel();
            return Poll::Ready(());
        }
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleep")
            .field("until", &self.until)
            .finish_non_exhaustive()
    }
}
