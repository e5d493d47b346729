//! A pool of workers with one global queue: the default dispatcher, and each of the user's own.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use tokio::runtime::Handle;

use super::global::Global;
use super::host::Host;
use super::idle::Idle;
use super::last_in::LastIn;
use super::pulse::Pulse;
use super::ring::{Ready, Ring};
use super::worker::Worker;
use super::young::Young;
use crate::env::{BoxTask, Env, threads_of};
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use crate::time::Moment;

/// Decoys per pool; see [`Decoy`].
const DECOYS: usize = 4;

pub(crate) struct PoolConfig {
    pub(crate) workers: usize,
    pub(crate) budget: u32,
    /// Where the workers live, if not where the system does.
    pub(crate) executor: Option<Handle>,
}

/// What others may see of a worker. Padded, so that two workers do not share a line.
#[repr(align(128))]
pub(crate) struct Seat {
    pub(crate) ring: Ring,
    pub(crate) young: Young,
    /// The actor made ready last. Put by the worker, taken by it, or by a thief when it is stuck.
    pub(crate) last_in: LastIn,
    pub(crate) waker: Mutex<Option<Waker>>,
    pub(crate) pulse: Pulse,
}

pub(crate) struct Pool {
    pub(crate) seats: Box<[Seat]>,
    pub(crate) idle: Idle,
    env: Arc<dyn Env>,
    executor: Option<Handle>,
    budget: u32,
    global: Global,
    closed: AtomicBool,
    live: AtomicUsize,
    leavers: Mutex<Vec<Waker>>,
    decoys: Vec<Arc<Decoy>>,
    /// Whether one seed decides everything; asked for at every turn.
    seeded: bool,
    /// One thread runs all workers: while one of them is being polled, the others are not.
    one_thread: bool,
}

impl Pool {
    /// Makes the pool and spawns its workers.
    pub(crate) fn start(env: &Arc<dyn Env>, config: &PoolConfig) -> Arc<Pool> {
        let workers = if env.is_simulated() { 1 } else { config.workers.max(2) };
        let seats = (0..workers)
            .map(|_| Seat {
                ring: Ring::new(),
                young: Young::new(),
                last_in: LastIn::new(),
                waker: Mutex::new(None),
                pulse: Pulse::default(),
            })
            .collect();
        let threads = config.executor.as_ref().map_or_else(|| env.parallelism(), threads_of);
        let one_thread = threads == 1;
        let global = match env.is_simulated() {
            true => Global::seeded(),
            false => Global::for_workers(workers, if one_thread { 1 } else { workers }),
        };
        let decoys = if env.spills_local_wakes() { DECOYS } else { 0 };
        let pool = Arc::new(Pool {
            seats,
            seeded: env.is_simulated(),
            one_thread,
            idle: Idle::new(workers),
            env: env.clone(),
            executor: config.executor.clone(),
            budget: config.budget,
            global,
            closed: AtomicBool::new(false),
            live: AtomicUsize::new(workers),
            leavers: Mutex::new(Vec::new()),
            decoys: (0..decoys).map(|_| Arc::new(Decoy::default())).collect(),
        });
        for index in 0..workers {
            pool.host(Box::pin(Worker::new(pool.clone(), index)));
        }
        for decoy in &pool.decoys {
            pool.host(Box::pin(DecoyTask(decoy.clone())));
        }
        pool
    }

    /// For tests: one of two workers, which have no turn.
    #[cfg(all(test, not(any(volary_loom, volary_shuttle))))]
    pub(super) fn at_rest() -> Arc<Pool> {
        let env = crate::env::Steady {
            poses_as_real: true,
            ..crate::env::Steady::new()
        };
        let env: Arc<dyn Env> = Arc::new(env);
        let config = PoolConfig {
            workers: 2,
            budget: 1,
            executor: None,
        };
        Pool::start(&env, &config)
    }

    fn host(&self, task: BoxTask) {
        match &self.executor {
            None => self.env.spawn_worker(task),
            Some(executor) => self.env.spawn_worker_on(executor, task),
        }
    }

    /// Whether actors of that pool may be run by a worker of this one: what a handler uses of tokio
    /// must be that of its own dispatcher.
    pub(crate) fn shares_executor_with(&self, other: &Pool) -> bool {
        let here = self.executor.as_ref().map(Handle::id);
        Arc::ptr_eq(&self.env, &other.env) && here == other.executor.as_ref().map(Handle::id)
    }

    pub(crate) fn is_elsewhere(&self) -> bool {
        self.executor.is_some()
    }

    /// Queues a scheduled actor.
    #[inline]
    pub(crate) fn schedule(self: &Arc<Self>, ready: Ready) {
        let local = !self.is_seeded()
            && Host::with(|host| match host.worker() {
                Some(worker) if Arc::ptr_eq(&worker.pool, self) => {
                    worker.push(ready);
                    true
                }
                _ => host.gathered.put(self, ready),
            })
            .unwrap_or(false);
        if !local {
            self.push_one(ready);
            self.notify();
        }
    }

    /// Queues several at once.
    pub(super) fn schedule_all(&self, ready: &mut Vec<Ready>) {
        self.push_global(ready);
        self.notify();
    }

    pub(crate) fn push_one(&self, ready: Ready) {
        self.global.push(ready);
    }

    pub(crate) fn push_global(&self, ready: &mut Vec<Ready>) {
        self.global.push_all(ready);
    }

    /// Takes one from the global queue, whose lanes have it in turn, and hands a fair share of the rest to `keep`.
    pub(crate) fn pop_global(&self, turn: &Cell<usize>, keep: impl Fn(Ready)) -> Option<Ready> {
        self.global.pop(turn, keep)
    }

    pub(crate) fn now(&self) -> Moment {
        self.env.now()
    }

    pub(crate) fn yield_now(&self, task: &mut Context<'_>) {
        self.env.yield_now(task);
    }

    #[inline]
    pub(crate) fn is_seeded(&self) -> bool {
        self.seeded
    }

    /// In simulation the seed says who is next.
    pub(crate) fn pop_seeded(&self) -> Option<Ready> {
        self.global.choose(&*self.env)
    }

    /// How many messages a turn may handle; in simulation the seed says.
    pub(crate) fn turn_budget(&self) -> u32 {
        if self.is_seeded() {
            self.env.choose_budget(self.budget)
        } else {
            self.budget
        }
    }

    pub(crate) fn has_work(&self, index: usize) -> bool {
        !self.global.is_empty()
            || self
                .seats
                .iter()
                .any(|seat| !seat.ring.is_empty() || !seat.young.is_empty())
            || !self.seats[index].last_in.is_empty()
    }

    /// Wakes a worker if there is one to wake and nobody is looking already.
    #[inline]
    pub(crate) fn notify(&self) {
        if let Some(worker) = self.idle.worker_to_wake() {
            self.wake(worker);
        }
    }

    #[inline]
    pub(crate) fn has_one_thread(&self) -> bool {
        self.one_thread
    }

    #[cold]
    fn wake(&self, worker: usize) {
        let waker = self.seats[worker].waker.lock().clone();
        if let Some(waker) = waker {
            waker.wake();
        }
        // From within a worker's poll, or from a task that runs actors where they are asked, the wake-up lands in a slot
        // of this thread that no other thread can take from; see `Decoy`.
        if Host::with(Host::may_block).unwrap_or(false) {
            for decoy in &self.decoys {
                if decoy.displace() {
                    return;
                }
            }
        }
    }

    /// For the observer, when a handler blocks its thread: gives stuck work to a sleeper.
    pub(crate) fn rescue(&self) {
        if self.idle.asleep() == 0 {
            return;
        }
        for seat in &self.seats {
            if let Some(stuck) = seat.last_in.look().filter(|ready| seat.last_in.steal(*ready)) {
                self.push_one(stuck);
            }
        }
        if self.has_work(0)
            && let Some(worker) = self.idle.worker_to_wake_anyway()
        {
            self.wake(worker);
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Acquire)
    }

    /// Tells the workers to leave.
    pub(crate) fn close(&self) {
        self.closed.store(true, SeqCst);
        for seat in &self.seats {
            let waker = seat.waker.lock().take();
            if let Some(waker) = waker {
                waker.wake();
            }
        }
        for decoy in &self.decoys {
            decoy.end();
        }
    }

    pub(crate) fn worker_left(&self) {
        if self.live.fetch_sub(1, AcqRel) == 1 {
            let leavers = std::mem::take(&mut *self.leavers.lock());
            leavers.into_iter().for_each(Waker::wake);
        }
    }

    /// Workers that have not left yet.
    pub(crate) fn live(&self) -> usize {
        self.live.load(Acquire)
    }

    /// Ready once all workers have left.
    pub(crate) fn poll_closed(&self, task: &mut Context<'_>) -> Poll<()> {
        if self.live.load(Acquire) == 0 {
            return Poll::Ready(());
        }
        self.leavers.lock().push(task.waker().clone());
        if self.live.load(Acquire) == 0 {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

/// A task that does nothing, to be woken after a worker.
///
/// Tokio puts a task woken from one of its threads into that thread's last-in slot, where no other
/// thread can steal it, and tells nobody. While one of our workers is being polled there, a second
/// worker woken this way would wait for the first one's turn to end. Waking a decoy afterwards
/// moves the worker into the thread's ordinary queue and makes tokio wake a thread to steal it.
#[derive(Default)]
struct Decoy {
    armed: AtomicBool,
    ended: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Decoy {
    /// False: it stands in a queue already and would displace nobody.
    fn displace(&self) -> bool {
        if !self.armed.swap(false, AcqRel) {
            return false;
        }
        let waker = self.waker.lock().clone();
        waker.is_some_and(|waker| {
            waker.wake();
            true
        })
    }

    fn end(&self) {
        self.ended.store(true, Release);
        let waker = self.waker.lock().take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

struct DecoyTask(Arc<Decoy>);

impl Future for DecoyTask {
    type Output = ();

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<()> {
        *self.0.waker.lock() = Some(task.waker().clone());
        self.0.armed.store(true, Release);
        if self.0.ended.load(Acquire) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}
