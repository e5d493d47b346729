//! tokio's timers, kept in step with the world's clock.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Poll, Waker};
use std::time::Duration;

/// tokio's clock, for handlers that wait for tokio's timers: paused, and moved along with the world's.
pub(crate) struct Bridge {
    runtime: tokio::runtime::Runtime,
    base: tokio::time::Instant,
}

/// Beyond this nothing happens any more.
pub(crate) const NEVER: Duration = Duration::from_secs(20 * 365 * 24 * 3_600);
const TICK: Duration = Duration::from_millis(1);

impl Bridge {
    pub(crate) fn new() -> std::io::Result<Self> {
        // No I/O: what a handler would reach there no seed could replay.
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()?;
        let base = runtime.block_on(async { tokio::time::Instant::now() });
        Ok(Bridge { runtime, base })
    }

    pub(crate) fn handle(&self) -> tokio::runtime::Handle {
        self.runtime.handle().clone()
    }

    pub(crate) fn enter(&self) -> tokio::runtime::EnterGuard<'_> {
        self.runtime.enter()
    }

    /// Tasks that somebody gave to tokio, behind our back.
    pub(crate) fn strays(&self) -> usize {
        self.runtime.metrics().num_alive_tasks()
    }

    fn elapsed(&self) -> Duration {
        tokio::time::Instant::now() - self.base
    }

    /// The world's clock has moved to `now`: tokio's timers that are due fire.
    pub(crate) fn follow(&self, now: Duration) {
        let behind = now.saturating_sub(self.elapsed());
        if behind >= TICK {
            self.runtime.block_on(tokio::time::advance(behind));
        }
    }

    /// Moves to `target`, or to the first timer of tokio's that makes somebody ready before. Says where we are then.
    pub(crate) fn jump(&self, target: Duration, ready: impl Fn(Option<&Waker>) -> bool) -> Duration {
        let woken = self.runtime.block_on(async {
            let mut arrival = pin!(tokio::time::sleep_until(self.base + target));
            poll_fn(|task| {
                if ready(Some(task.waker())) {
                    return Poll::Ready(true);
                }
                arrival.as_mut().poll(task).map(|()| false)
            })
            .await
        });
        ready(None);
        if woken { self.elapsed().min(target) } else { target }
    }
}
