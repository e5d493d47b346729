//! The environment: every clock reading, random number, task and thread of the runtime comes from
//! here (law 2), and so does its disk, so that a test can put its own in place.
//!
//! [`Env`] is what the runtime needs of its surroundings. [`TokioEnv`] is the real one;
//! [`SeededEnv`] runs everything on one thread, in an order drawn from a seed, under a clock that
//! moves only when told or when all is quiet.

mod disk;
mod observed;
mod os_disk;
mod seeded;
#[cfg(all(test, not(any(volary_loom, volary_shuttle))))]
mod steady;
mod tokio_env;

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::time::SystemTime;

pub use disk::{Disk, DiskFile, OpenMode};
pub use observed::{Observed, What};
pub use seeded::SeededEnv;
#[cfg(all(test, not(any(volary_loom, volary_shuttle))))]
pub(crate) use steady::Steady;
pub use tokio_env::run;
pub(crate) use tokio_env::{TokioEnv, threads_of};

use crate::reference::ActorId;
use crate::time::Moment;

/// A future as the environment runs it.
///
/// ```
/// use volary_core::{BoxTask, Env, SeededEnv};
///
/// let task: BoxTask = Box::pin(async { println!("done") });
/// SeededEnv::new(7).spawn(task);
/// ```
pub type BoxTask = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Ends with the name of the signal that asks the process to end.
///
/// ```
/// use volary_core::Signal;
///
/// let signal: Signal = Box::pin(async { "SIGTERM" });
/// # let _ = signal;
/// ```
pub type Signal = Pin<Box<dyn Future<Output = &'static str> + Send>>;

/// What an actor system needs of the world around it.
///
/// Users meet it as [`SeededEnv`] in tests; the builder chooses the real one otherwise.
///
/// ```
/// use volary_core::{Env, SeededEnv};
/// let env = SeededEnv::new(7);
/// let before = env.now();
/// assert_eq!(env.now(), before, "virtual time stands still by itself");
/// ```
pub trait Env: Send + Sync + 'static {
    /// The monotonic clock.
    fn now(&self) -> Moment;

    /// The calendar clock.
    fn wall(&self) -> SystemTime;

    /// A random number.
    fn random(&self) -> u64;

    /// Runs a future to its end.
    fn spawn(&self, task: BoxTask);

    /// Runs a worker of a dispatcher, which must not be charged for what its actors do.
    fn spawn_worker(&self, worker: BoxTask) {
        self.spawn(worker);
    }

    /// The same, on a runtime of the user's choice. In simulation there is only one.
    fn spawn_worker_on(&self, executor: &tokio::runtime::Handle, worker: BoxTask) {
        let _ = executor;
        self.spawn_worker(worker);
    }

    /// Runs `body` on a thread of its own, to be joined. `None` if there is none to be had; in simulation
    /// there never is, and the work is done inline.
    fn spawn_thread(&self, name: &str, body: Box<dyn FnOnce() + Send>) -> Option<std::thread::JoinHandle<()>>;

    /// How many threads run what is [spawned](Env::spawn), and so how many workers make sense. With one, a worker that runs
    /// expects no help from the others.
    fn parallelism(&self) -> usize;

    /// Where handlers find tokio's reactor and timers, on threads that tokio does not own.
    fn tokio(&self) -> Option<tokio::runtime::Handle>;

    /// Whether the calling thread is where this environment's tasks run: what handlers use of tokio
    /// must be that of the system, not of whoever happens to run them.
    fn is_here(&self) -> bool {
        true
    }

    /// Whether one seed decides everything.
    fn is_simulated(&self) -> bool {
        false
    }

    /// In simulation: which of the actors that are ready has its turn next.
    fn choose_actor(&self, ready: &mut dyn ExactSizeIterator<Item = ActorId>) -> usize {
        (self.random() % ready.len().max(1) as u64) as usize
    }

    /// In simulation: how many messages that turn may handle, at least one and at most so many.
    fn choose_budget(&self, most: u32) -> u32 {
        1 + (self.random() % u64::from(most.max(1))) as u32
    }

    /// In simulation: whether an actor that could be run where it is asked or started is run there.
    fn choose_inline(&self) -> bool {
        self.random() & 1 == 0
    }

    /// Whether somebody wants to see what actors do. Asked once, when a system starts.
    fn observes(&self) -> bool {
        false
    }

    /// Something happens to an actor, now, on this thread.
    fn observe(&self, observed: &Observed<'_>) {
        let _ = observed;
    }

    /// Tells the systems of this environment apart, if that must not depend on what else is in the process.
    fn number_system(&self) -> Option<u64> {
        None
    }

    /// Waits until the process is asked to end. In simulation nobody does.
    fn termination(&self) -> Signal {
        Box::pin(std::future::pending())
    }

    /// Whether [`now`](Env::now) counts from the same moment as in every other environment of this process that says so. Then
    /// one look at all asks that wait serves all systems; otherwise each of them has a timer.
    #[doc(hidden)]
    fn shares_clock(&self) -> bool {
        false
    }

    /// The system has stopped; what was brought along for it can go.
    fn retire(&self) {}

    /// Called by a worker that ends its poll although it has more to do: it wants to be polled again
    /// after everybody else, including those who wait for the outside world.
    fn yield_now(&self, task: &mut std::task::Context<'_>) {
        task.waker().wake_by_ref();
    }

    /// Says whom to call when time passes.
    ///
    /// Weak: the system keeps its driver, and a driver that is gone is not called any more.
    ///
    /// # Errors
    /// If time cannot be watched here; the system does not start then.
    fn attach(&self, driver: Weak<dyn Driver>) -> std::io::Result<()>;

    /// The earliest timer has become earlier: call the driver at `next` at the latest.
    fn timer_changed(&self, next: Moment);

    /// Where files are. By default there is no disk, and everything is refused as
    /// [`Unsupported`](std::io::ErrorKind::Unsupported): an environment that forgot about disks must not reach the real one.
    fn disk(&self) -> Arc<dyn Disk> {
        Arc::new(disk::NoDisk)
    }

    /// Whether a wake-up given from within a worker's poll may be stuck behind that very poll.
    fn spills_local_wakes(&self) -> bool {
        false
    }
}

/// What time brings about: timers, and a look at the workers.
///
/// ```
/// use std::time::Duration;
/// use volary_core::{Driver, Moment};
///
/// struct EverySecond;
///
/// impl Driver for EverySecond {
///     fn drive(&self, now: Moment) -> Option<Moment> {
///         Some(now + Duration::from_secs(1))
///     }
/// }
/// assert!(EverySecond.drive(Moment::ZERO) > Some(Moment::ZERO));
/// ```
pub trait Driver: Send + Sync + 'static {
    /// Does what is due at `now` and says when to come back.
    fn drive(&self, now: Moment) -> Option<Moment>;
}
