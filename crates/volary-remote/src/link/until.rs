//! Waiting for one of two things, without chance: the end comes first.

use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::task::{Poll, Waker};
use std::time::Duration;

use parking_lot::Mutex;
use volary_core::ActorSystem;

/// Says once that something is over, to everybody who waits for something else.
#[derive(Default)]
pub(crate) struct Closing {
    closed: AtomicBool,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    next: u64,
    wakers: BTreeMap<u64, Waker>,
}

/// The place of one who waits; given up when they do not wait any more, since the end may be far away.
struct Place<'a> {
    closing: &'a Closing,
    number: Option<u64>,
}

impl Place<'_> {
    fn wait(&mut self, waker: &Waker) {
        let waiting = &mut *self.closing.waiting.lock();
        let number = *self.number.get_or_insert_with(|| {
            waiting.next += 1;
            waiting.next
        });
        waiting.wakers.insert(number, waker.clone());
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            self.closing.waiting.lock().wakers.remove(&number);
        }
    }
}

impl Closing {
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Acquire)
    }

    /// False: it was closed before.
    pub(crate) fn close(&self) -> bool {
        if self.closed.swap(true, AcqRel) {
            return false;
        }
        let waiting = std::mem::take(&mut self.waiting.lock().wakers);
        waiting.into_values().for_each(Waker::wake);
        true
    }

    /// What a future yields; `None` if it is closed before.
    pub(crate) async fn or<F: Future>(&self, future: F) -> Option<F::Output> {
        let mut future = pin!(future);
        let mut place = Place {
            closing: self,
            number: None,
        };
        poll_fn(|task| {
            if self.is_closed() {
                return Poll::Ready(None);
            }
            if let Poll::Ready(output) = future.as_mut().poll(task) {
                return Poll::Ready(Some(output));
            }
            place.wait(task.waker());
            // It may have been closed while we registered.
            if self.is_closed() {
                Poll::Ready(None)
            } else {
                Poll::Pending
            }
        })
        .await
    }
}

/// Lets others have their turn. Not as tokio does it: who yields there comes back when this thread is free again, and here
/// any thread can take it, while a handler blocks this one.
pub(crate) async fn give_way() {
    let mut gave = false;
    poll_fn(|task| {
        if std::mem::replace(&mut gave, true) {
            return Poll::Ready(());
        }
        task.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// What a future yields; `None` if it panicked, which a transport of the user's may.
pub(crate) async fn contained<F: Future>(future: F) -> Option<F::Output> {
    let mut future = Box::pin(future);
    let ended = poll_fn(|task| {
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(task)));
        match polled {
            Ok(polled) => polled.map(Ok),
            Err(panic) => Poll::Ready(Err(panic)),
        }
    })
    .await;
    // What was thrown, and what it left behind, may panic again.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(future)));
    ended
        .map_err(|panic| drop(catch_unwind(AssertUnwindSafe(|| drop(panic)))))
        .ok()
}

/// What a future yields within a time of the system's clock.
pub(crate) async fn within<F: Future>(system: &ActorSystem, time: Duration, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut sleep = pin!(system.sleep(time));
    poll_fn(|task| {
        if let Poll::Ready(output) = future.as_mut().poll(task) {
            return Poll::Ready(Some(output));
        }
        sleep.as_mut().poll(task).map(|()| None)
    })
    .await
}
