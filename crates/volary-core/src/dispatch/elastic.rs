//! Threads that come and go: the dispatcher for actors that block, and for an actor that wants a
//! thread of its own. Nobody watches how long a handler takes here.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use parking_lot::{Condvar, Mutex, MutexGuard};

use super::host::Host;
use super::ring::Ready;
use super::turn::{TurnEnd, run_turn};
use crate::cell::Here;
use crate::env::Env;
use crate::sync::atomic::{AtomicUsize, Ordering::*};
use crate::time::Moment;

/// How often a thread looks for more before it sleeps: some microseconds.
const LINGER: u32 = 500;
/// How long it is not tried again to make a thread when that has failed.
const STARVED_FOR: Duration = Duration::from_millis(10);

/// Threads grow with the work up to a limit and leave after a while without any.
pub(crate) struct Elastic {
    env: Arc<dyn Env>,
    name: String,
    limit: usize,
    keep_alive: Option<Duration>,
    budget: u32,
    inner: Mutex<Inner>,
    work: Condvar,
    /// Length of the queue, for threads that look before they sleep.
    queued: AtomicUsize,
}

#[derive(Default)]
struct Inner {
    queue: VecDeque<Item>,
    threads: usize,
    idle: usize,
    closed: bool,
    /// No thread could be made the last time, and until then it is not tried again.
    starved_until: Option<Moment>,
    leavers: Vec<Waker>,
    handles: Vec<std::thread::JoinHandle<()>>,
}

struct Item(Ready);
// SAFETY: see `Ready`.
unsafe impl Send for Item {}

impl Elastic {
    /// `keep_alive` of `None` keeps threads until the dispatcher is closed.
    pub(crate) fn new(
        env: Arc<dyn Env>,
        name: String,
        limit: usize,
        keep_alive: Option<Duration>,
        budget: u32,
    ) -> Arc<Self> {
        Arc::new(Elastic {
            env,
            name,
            limit,
            keep_alive,
            budget,
            inner: Mutex::default(),
            work: Condvar::new(),
            queued: AtomicUsize::new(0),
        })
    }

    /// Queues an actor. Should no thread be free and none to be had, it is given back, and so are all others if there is no thread
    /// at all: whoever calls has another dispatcher run them, or they would wait for somebody who may be waiting for them.
    #[must_use]
    pub(crate) fn schedule(self: &Arc<Self>, ready: Ready) -> Vec<Ready> {
        let mut inner = self.inner.lock();
        inner.queue.push_back(Item(ready));
        self.queued.store(inner.queue.len(), Release);
        if inner.idle >= inner.queue.len() {
            self.work.notify_one();
        } else if inner.threads < self.limit {
            if inner.starved_until.is_some_and(|until| self.env.now() < until) {
                return self.give_back(inner, ready);
            }
            inner.threads += 1;
            let this = self.clone();
            drop(inner);
            let thread = self.env.spawn_thread(&self.name, Box::new(move || this.run()));
            let mut inner = self.inner.lock();
            // Those that have ended meanwhile need nobody to wait for them.
            inner.handles.retain(|handle| !handle.is_finished());
            match thread {
                Some(thread) => {
                    inner.starved_until = None;
                    inner.handles.push(thread);
                }
                None => {
                    inner.threads -= 1;
                    let before = inner.starved_until.replace(self.env.now() + STARVED_FOR);
                    let given_back = self.give_back(inner, ready);
                    if before.is_none() {
                        tracing::error!(dispatcher = %self.name, "no thread could be started; its actors run on the default dispatcher until one can");
                    }
                    return given_back;
                }
            }
        }
        Vec::new()
    }

    /// Those for whom there is no thread: this one, if it still waits, or everybody.
    #[cold]
    fn give_back(&self, mut inner: MutexGuard<'_, Inner>, ready: Ready) -> Vec<Ready> {
        if inner.threads > 0 {
            let waits = inner.queue.iter().rposition(|item| item.0 == ready);
            let waiting = waits.and_then(|place| inner.queue.remove(place));
            self.queued.store(inner.queue.len(), Release);
            return waiting.map(|Item(ready)| ready).into_iter().collect();
        }
        let waiting = inner.queue.drain(..).map(|Item(ready)| ready).collect();
        self.queued.store(0, Release);
        let leavers = std::mem::take(&mut inner.leavers);
        drop(inner);
        leavers.into_iter().for_each(Waker::wake);
        waiting
    }

    /// Queues an actor that has more to do, from one of the threads here, which comes back to it if nobody else does.
    fn schedule_again(&self, ready: Ready) {
        let mut inner = self.inner.lock();
        inner.queue.push_back(Item(ready));
        self.queued.store(inner.queue.len(), Release);
        if inner.idle > 0 {
            self.work.notify_one();
        }
    }

    fn run(self: &Arc<Self>) {
        let _tokio = self.env.tokio();
        let _entered = _tokio.as_ref().map(|handle| handle.enter());
        let mut inner = self.inner.lock();
        loop {
            if let Some(Item(ready)) = inner.queue.pop_front() {
                self.queued.store(inner.queue.len(), Release);
                drop(inner);
                self.turn(ready);
                self.linger();
                inner = self.inner.lock();
                continue;
            }
            if inner.closed {
                break;
            }
            inner.idle += 1;
            let waited_out = match self.keep_alive {
                Some(time) => self.work.wait_for(&mut inner, time).timed_out(),
                None => {
                    self.work.wait(&mut inner);
                    false
                }
            };
            inner.idle -= 1;
            if waited_out && inner.queue.is_empty() {
                break;
            }
        }
        inner.threads -= 1;
        let leavers = if inner.threads == 0 {
            std::mem::take(&mut inner.leavers)
        } else {
            Vec::new()
        };
        drop(inner);
        leavers.into_iter().for_each(Waker::wake);
    }

    /// Looks out for more for a moment: falling asleep and being woken costs more than that.
    fn linger(&self) {
        for _ in 0..LINGER {
            if self.queued.load(Acquire) > 0 {
                return;
            }
            std::hint::spin_loop();
        }
    }

    fn turn(self: &Arc<Self>, ready: Ready) {
        // SAFETY: an active actor cannot end but in its turn, and it stands in no other queue.
        let cell = unsafe { &*ready };
        cell.state.in_hand();
        let end = Host::with(|host| {
            let graves = host.graves();
            // SAFETY: just taken from the queue, so it is ours.
            let end = run_turn(unsafe { Here::new(cell) }, host, self.budget);
            host.bury(graves);
            end
        });
        if end == Some(TurnEnd::Yielded) {
            self.schedule_again(ready);
        }
    }

    /// Lets the threads leave once the queue is empty.
    pub(crate) fn close(&self) {
        self.inner.lock().closed = true;
        self.work.notify_all();
    }

    /// Whether it is closed and nothing of its threads is left.
    pub(crate) fn is_gone(&self) -> bool {
        let inner = self.inner.lock();
        inner.closed && inner.threads == 0 && inner.handles.iter().all(std::thread::JoinHandle::is_finished)
    }

    /// Whether nobody has it any more but a list of those that there are, and nothing of its threads is left.
    pub(crate) fn is_left(self: &Arc<Self>) -> bool {
        if Arc::strong_count(self) > 1 {
            return false;
        }
        let inner = self.inner.lock();
        inner.threads == 0 && inner.handles.iter().all(std::thread::JoinHandle::is_finished)
    }

    /// Ready once all threads are gone.
    pub(crate) fn poll_closed(&self, task: &mut Context<'_>) -> Poll<()> {
        let mut inner = self.inner.lock();
        if inner.threads == 0 {
            let handles = std::mem::take(&mut inner.handles);
            drop(inner);
            for handle in handles {
                let _ = handle.join(); // it has said that it leaves, and does nothing any more
            }
            return Poll::Ready(());
        }
        inner.leavers.push(task.waker().clone());
        Poll::Pending
    }

    pub(crate) fn threads(&self) -> usize {
        self.inner.lock().threads
    }
}
