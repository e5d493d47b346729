//! The real environment: tokio's runtime, the system's clock, threads of the operating system.
//!
//! The runtime is the caller's when there is one, and one of our own otherwise.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "this is the one place where the real world is touched"
)]

use std::collections::hash_map::RandomState;
use std::future::Future;
use std::hash::BuildHasher;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Context, Poll};
use std::thread::JoinHandle;
use std::time::{Instant, SystemTime};

use parking_lot::Mutex;
use tokio::runtime::{self, Handle, Runtime, RuntimeFlavor};

use super::os_disk::OsDisk;
use super::{BoxTask, Disk, Driver, Env, Signal};
use crate::time::Moment;

pub(crate) struct TokioEnv {
    handle: Handle,
    id: runtime::Id,
    /// Ours if the caller had none.
    own: Mutex<Option<Runtime>>,
    began: Instant,
    random: AtomicU64,
    clock: Arc<ClockThread>,
}

/// Where every clock of the process begins to count: a deadline means the same to all of its systems.
static BEGAN: OnceLock<Instant> = OnceLock::new();

/// The thread that calls the driver when time passes.
#[derive(Default)]
struct ClockThread {
    thread: Mutex<Option<JoinHandle<()>>>,
    ended: AtomicBool,
}

impl TokioEnv {
    /// The caller's runtime, or a new one.
    pub(crate) fn find(workers: usize) -> std::io::Result<Self> {
        let (handle, own) = match Handle::try_current() {
            Ok(handle) => (handle, None),
            Err(_) => {
                let runtime = tokio::runtime::Builder::new_multi_thread()
                    .worker_threads(workers)
                    .thread_name("volary-worker")
                    .enable_all()
                    .build()?;
                (runtime.handle().clone(), Some(runtime))
            }
        };
        Ok(TokioEnv {
            id: handle.id(),
            handle,
            own: Mutex::new(own),
            began: *BEGAN.get_or_init(Instant::now),
            random: AtomicU64::new(RandomState::new().hash_one(0)),
            clock: Arc::default(),
        })
    }

    /// Whether the caller's runtime runs everything on one thread.
    pub(crate) fn is_current_thread(&self) -> bool {
        self.handle.runtime_flavor() == RuntimeFlavor::CurrentThread
    }
}

impl Env for TokioEnv {
    fn now(&self) -> Moment {
        since(self.began)
    }

    fn wall(&self) -> SystemTime {
        SystemTime::now()
    }

    fn shares_clock(&self) -> bool {
        cfg!(not(any(volary_loom, volary_shuttle)))
    }

    fn random(&self) -> u64 {
        splitmix(self.random.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed))
    }

    fn spawn(&self, task: BoxTask) {
        self.handle.spawn(task);
    }

    fn spawn_worker(&self, worker: BoxTask) {
        // Tokio's budget is per task; a worker runs many actors, each of which deserves its own.
        self.handle.spawn(tokio::task::coop::unconstrained(worker));
    }

    fn spawn_worker_on(&self, executor: &Handle, worker: BoxTask) {
        executor.spawn(tokio::task::coop::unconstrained(worker));
    }

    fn spawn_thread(&self, name: &str, body: Box<dyn FnOnce() + Send>) -> Option<JoinHandle<()>> {
        std::thread::Builder::new().name(name.to_owned()).spawn(body).ok()
    }

    fn parallelism(&self) -> usize {
        threads_of(&self.handle)
    }

    fn tokio(&self) -> Option<Handle> {
        Some(self.handle.clone())
    }

    fn attach(&self, driver: Weak<dyn Driver>) -> std::io::Result<()> {
        let (clock, began) = (self.clock.clone(), self.began);
        let body = move || {
            while !clock.ended.load(Ordering::Acquire) {
                let Some(driver) = driver.upgrade() else { return };
                let next = driver.drive(since(began));
                drop(driver);
                match next {
                    Some(next) => std::thread::park_timeout(next.since(since(began))),
                    None => std::thread::park(),
                }
            }
        };
        let thread = std::thread::Builder::new()
            .name("volary-clock".to_owned())
            .spawn(body)?;
        *self.clock.thread.lock() = Some(thread);
        Ok(())
    }

    fn timer_changed(&self, _: Moment) {
        if let Some(thread) = &*self.clock.thread.lock() {
            thread.thread().unpark();
        }
    }

    fn is_here(&self) -> bool {
        // Not to be remembered for a task or its waker: within one poll whoever asks may enter several runtimes.
        Handle::try_current().is_ok_and(|handle| handle.id() == self.id)
    }

    fn termination(&self) -> Signal {
        let _here = self.handle.enter();
        // Tokio panics if the caller's runtime was built without its I/O driver.
        let caught = std::panic::catch_unwind(signals);
        let told = match caught {
            Ok(Ok(signals)) => return signals,
            Ok(Err(error)) => error.to_string(),
            Err(_) => "the runtime has no I/O driver; build it with `enable_all`".to_owned(),
        };
        tracing::error!(error = %told, "signals cannot be caught");
        Box::pin(std::future::pending())
    }

    fn retire(&self) {
        self.clock.ended.store(true, Ordering::Release);
        let clock = self.clock.thread.lock().take();
        if let Some(clock) = clock {
            clock.thread().unpark();
            let _ = clock.join(); // it never waits for anything of ours
        }
        if let Some(runtime) = self.own.lock().take() {
            // In the background: the last step of a stop may itself be running on this runtime.
            runtime.shutdown_background();
        }
    }

    fn yield_now(&self, task: &mut Context<'_>) {
        // A task that simply wakes itself keeps its thread's queue from being empty, and tokio then
        // looks at sockets and at tasks that have yielded only every 61 polls. Yielding tokio's way
        // puts it behind all of them. The first poll is what registers the waker.
        let polled = pin!(tokio::task::yield_now()).poll(task);
        debug_assert!(polled.is_pending(), "yielding takes two polls");
    }

    fn spills_local_wakes(&self) -> bool {
        true
    }

    fn disk(&self) -> Arc<dyn Disk> {
        Arc::new(OsDisk)
    }
}

#[cfg(unix)]
fn signals() -> std::io::Result<Signal> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(Box::pin(std::future::poll_fn(move |task| {
        if terminate.poll_recv(task).is_ready() {
            return Poll::Ready("SIGTERM");
        }
        interrupt.poll_recv(task).map(|_| "SIGINT")
    })))
}

#[cfg(not(unix))]
fn signals() -> std::io::Result<Signal> {
    Ok(Box::pin(async {
        match tokio::signal::ctrl_c().await {
            Ok(()) => "Ctrl-C",
            Err(_) => std::future::pending().await,
        }
    }))
}

/// Runs a program on a tokio runtime with all cores and all drivers: a `main` that needs no other
/// crate than this one.
///
/// ```
/// fn main() -> Result<(), Box<dyn std::error::Error>> {
///     volary_core::run(async {
///         let system = volary_core::ActorSystem::builder("bank").start().await?;
///         system.stop().await?;
///         Ok(())
///     })
/// }
/// ```
///
/// # Errors
/// Those of the program, and that of a runtime that cannot be brought up.
pub fn run<T, E: From<std::io::Error>>(program: impl Future<Output = Result<T, E>>) -> Result<T, E> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(program)
}

/// How many threads poll the tasks of a runtime.
pub(crate) fn threads_of(runtime: &Handle) -> usize {
    match runtime.runtime_flavor() {
        RuntimeFlavor::CurrentThread => 1,
        _ => runtime.metrics().num_workers(),
    }
}

fn since(began: Instant) -> Moment {
    let time = began.elapsed();
    // Never zero: a deadline of 0 means "none".
    Moment::from_nanos((time.as_secs() * 1_000_000_000 + u64::from(time.subsec_nanos())).max(1))
}

/// A number that looks random from one that counts.
pub(crate) fn splitmix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
