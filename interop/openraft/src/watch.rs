//! A value that can be watched.
//!
//! tokio has one, but draws in which order it wakes those who wait, from randomness that no seed reaches. Here they are
//! woken in the order in which they came.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::task::{Context, Poll, Waker};

use openraft::async_runtime::watch::{RecvError, SendError, Watch, WatchReceiver, WatchSender};
use openraft::{OptionalSend, OptionalSync};

/// Makes such values.
pub struct InOrder;

impl Watch for InOrder {
    type Sender<T: OptionalSend + OptionalSync> = Sender<T>;
    type Receiver<T: OptionalSend + OptionalSync> = Receiver<T>;
    type Ref<'a, T: OptionalSend + 'a> = RwLockReadGuard<'a, T>;

    fn channel<T: OptionalSend + OptionalSync>(value: T) -> (Sender<T>, Receiver<T>) {
        let shared = Arc::new(Shared {
            value: RwLock::new(value),
            ends: Mutex::default(),
        });
        let receiver = Receiver::new(shared.clone(), 0);
        (Sender::new(shared), receiver)
    }
}

struct Shared<T> {
    value: RwLock<T>,
    ends: Mutex<Ends>,
}

#[derive(Default)]
struct Ends {
    version: u64,
    senders: usize,
    receivers: usize,
    waiting: Vec<Waker>,
}

impl<T> Shared<T> {
    fn ends(&self) -> MutexGuard<'_, Ends> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look(&self) -> RwLockReadGuard<'_, T> {
        self.value.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self) {
        let waiting = std::mem::take(&mut self.ends().waiting);
        waiting.into_iter().for_each(Waker::wake);
    }
}

/// Changes the value.
pub struct Sender<T>(Arc<Shared<T>>);

impl<T> Sender<T> {
    fn new(shared: Arc<Shared<T>>) -> Self {
        shared.ends().senders += 1;
        Sender(shared)
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Sender::new(self.0.clone())
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let last = {
            let mut ends = self.0.ends();
            ends.senders -= 1;
            ends.senders == 0
        };
        if last {
            self.0.wake();
        }
    }
}

impl<T: OptionalSend + OptionalSync> WatchSender<InOrder, T> for Sender<T> {
    fn send(&self, value: T) -> Result<(), SendError<T>> {
        if self.0.ends().receivers == 0 {
            return Err(SendError(value));
        }
        self.send_if_modified(|old| {
            *old = value;
            true
        });
        Ok(())
    }

    fn send_if_modified<F: FnOnce(&mut T) -> bool>(&self, modify: F) -> bool {
        let modified = modify(&mut self.0.value.write().unwrap_or_else(PoisonError::into_inner));
        if modified {
            self.0.ends().version += 1;
            self.0.wake();
        }
        modified
    }

    fn borrow_watched(&self) -> RwLockReadGuard<'_, T> {
        self.0.look()
    }

    fn subscribe(&self) -> Receiver<T> {
        let version = self.0.ends().version;
        Receiver::new(self.0.clone(), version)
    }
}

/// Looks at the value, and waits for it to change.
pub struct Receiver<T> {
    shared: Arc<Shared<T>>,
    seen: u64,
}

impl<T> Receiver<T> {
    fn new(shared: Arc<Shared<T>>, seen: u64) -> Self {
        shared.ends().receivers += 1;
        Receiver { shared, seen }
    }

    fn poll_changed(&mut self, task: &mut Context<'_>) -> Poll<Result<(), RecvError>> {
        let ends = &mut *self.shared.ends();
        if ends.version != self.seen {
            self.seen = ends.version;
            return Poll::Ready(Ok(()));
        }
        if ends.senders == 0 {
            return Poll::Ready(Err(RecvError(())));
        }
        if !ends.waiting.iter().any(|waker| waker.will_wake(task.waker())) {
            ends.waiting.push(task.waker().clone());
        }
        Poll::Pending
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        Receiver::new(self.shared.clone(), self.seen)
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.shared.ends().receivers -= 1;
    }
}

impl<T: OptionalSend + OptionalSync> WatchReceiver<InOrder, T> for Receiver<T> {
    async fn changed(&mut self) -> Result<(), RecvError> {
        poll_fn(|task| self.poll_changed(task)).await
    }

    fn borrow_watched(&self) -> RwLockReadGuard<'_, T> {
        self.shared.look()
    }

    fn borrow_and_update(&mut self) -> RwLockReadGuard<'_, T> {
        self.seen = self.shared.ends().version;
        self.shared.look()
    }
}
