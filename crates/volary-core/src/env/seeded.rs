//! The seeded environment: one thread, one seed, and a clock that stands still.
//!
//! Tasks run one poll at a time, in an order drawn from the seed. When none can run, the clock jumps
//! to the next timer; when there is none either, whoever is waiting would wait for ever, and says
//! so. The same seed gives the same run.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;

use super::tokio_env::splitmix;
use super::{BoxTask, Driver, Env};
use crate::time::Moment;

/// Virtual time begins on 1 January 2030: a date that no test mistakes for the real one.
const EPOCH: Duration = Duration::from_secs(1_893_456_000);

/// A deterministic environment for an actor system: give it to
/// [`SystemBuilder::environment`](crate::SystemBuilder::environment) and run everything inside
/// [`block_on`](SeededEnv::block_on).
///
/// ```
/// # use std::time::Duration;
/// # use volary_core::{ActorSystem, Env, SeededEnv};
/// let env = SeededEnv::new(42);
/// let took = env.block_on(async {
///     let system = ActorSystem::builder("sim").environment(env.clone()).start().await.unwrap();
///     let before = env.now();
///     system.sleep(Duration::from_secs(7200)).await; // two hours, in no time
///     let took = env.now().since(before);
///     system.stop().await.unwrap();
///     took
/// });
/// assert!(took >= Duration::from_secs(7200));
/// ```
#[derive(Clone)]
pub struct SeededEnv(Arc<Inner>);

struct Inner {
    world: Mutex<World>,
    drivers: Mutex<Vec<Weak<dyn Driver>>>,
}

struct World {
    random: u64,
    now: Moment,
    next_task: u64,
    tasks: BTreeMap<u64, Spawned>,
    ready: Vec<u64>,
    steps: u64,
    /// How many systems were started here.
    systems: u64,
}

struct Spawned {
    /// Not there while it is polled.
    future: Option<BoxTask>,
    waker: Waker,
    ready: bool,
}

struct TaskWaker {
    task: u64,
    env: std::sync::Weak<Inner>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        if let Some(env) = self.env.upgrade() {
            let world = &mut *env.world.lock();
            if let Some(task) = world.tasks.get_mut(&self.task)
                && !std::mem::replace(&mut task.ready, true)
            {
                world.ready.push(self.task);
            }
        }
    }
}

/// The waker of the future given to `block_on`.
struct MainWaker(AtomicBool);

impl Wake for MainWaker {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl SeededEnv {
    /// An environment in which this number decides everything that could have gone either way.
    ///
    /// ```
    /// let env = volary_core::SeededEnv::new(1);
    /// ```
    #[must_use]
    pub fn new(seed: u64) -> Self {
        SeededEnv(Arc::new(Inner {
            world: Mutex::new(World {
                random: splitmix(seed),
                now: Moment::from_nanos(1),
                next_task: 0,
                tasks: BTreeMap::new(),
                ready: Vec::new(),
                steps: 0,
                systems: 0,
            }),
            drivers: Mutex::new(Vec::new()),
        }))
    }

    /// Runs `future` and everything it sets in motion, on this thread, until it is ready. The clock
    /// moves on by itself when nothing else can happen.
    ///
    /// ```
    /// let env = volary_core::SeededEnv::new(1);
    /// assert_eq!(env.block_on(async { 6 * 7 }), 42);
    /// ```
    ///
    /// # Panics
    /// If nothing can ever happen any more and `future` is not ready: a deadlock.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        let main = Arc::new(MainWaker(AtomicBool::new(true)));
        let waker = Waker::from(main.clone());
        loop {
            let poll_main = main.0.load(Ordering::SeqCst) && (!self.has_ready() || self.random() & 1 == 0);
            if poll_main {
                main.0.store(false, Ordering::SeqCst);
                if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                    return output;
                }
                continue;
            }
            if self.step() || main.0.load(Ordering::SeqCst) {
                continue;
            }
            // What is due already comes before the clock moves.
            let next = self.next_timer();
            if self.has_ready() || main.0.load(Ordering::SeqCst) {
                continue;
            }
            match next {
                Some(next) => self.set_now(next),
                None => panic!("deadlock: nothing is ready, no timer is set, and the main future still waits"),
            }
        }
    }

    /// Runs whatever can run without moving the clock; says how many steps that were.
    ///
    /// ```
    /// assert_eq!(volary_core::SeededEnv::new(1).run_until_idle(), 0);
    /// ```
    pub fn run_until_idle(&self) -> u64 {
        let mut steps = 0;
        while self.step() {
            steps += 1;
        }
        steps
    }

    /// Moves the clock on, running everything that becomes due on the way in its order.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use volary_core::{Env, SeededEnv};
    /// let env = SeededEnv::new(1);
    /// let before = env.now();
    /// env.advance(Duration::from_secs(60));
    /// assert_eq!(env.now().since(before), Duration::from_secs(60));
    /// ```
    pub fn advance(&self, time: Duration) {
        let until = self.now() + time;
        loop {
            self.run_until_idle();
            match self.next_timer() {
                // What was due already comes before the clock moves.
                _ if self.has_ready() => {}
                Some(next) if next <= until => self.set_now(next),
                _ => break,
            }
        }
        self.set_now(until);
        self.run_until_idle();
    }

    /// How many polls of tasks have been made: equal for equal seeds.
    ///
    /// ```
    /// assert_eq!(volary_core::SeededEnv::new(1).steps(), 0);
    /// ```
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.0.world.lock().steps
    }

    fn has_ready(&self) -> bool {
        !self.0.world.lock().ready.is_empty()
    }

    /// Polls one ready task, chosen by the seed.
    fn step(&self) -> bool {
        let (id, mut future, waker) = {
            let mut world = self.0.world.lock();
            if world.ready.is_empty() {
                return false;
            }
            let at = world.draw() as usize % world.ready.len();
            let id = world.ready.swap_remove(at);
            world.steps += 1;
            let Some(task) = world.tasks.get_mut(&id) else {
                return true; // it has ended
            };
            task.ready = false;
            match task.future.take() {
                Some(future) => (id, future, task.waker.clone()),
                None => return true,
            }
        };
        let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
        let world = &mut *self.0.world.lock();
        match polled {
            Poll::Pending => {
                if let Some(task) = world.tasks.get_mut(&id) {
                    task.future = Some(future);
                }
            }
            Poll::Ready(()) => drop(world.tasks.remove(&id)),
        }
        true
    }

    fn next_timer(&self) -> Option<Moment> {
        let drivers: Vec<Arc<dyn Driver>> = {
            let mut drivers = self.0.drivers.lock();
            drivers.retain(|driver| driver.strong_count() > 0);
            drivers.iter().filter_map(Weak::upgrade).collect()
        };
        let now = self.now();
        drivers.iter().filter_map(|driver| driver.drive(now)).min()
    }

    fn set_now(&self, now: Moment) {
        {
            let mut world = self.0.world.lock();
            world.now = world.now.max(now);
        }
        self.next_timer();
    }
}

impl World {
    fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        splitmix(self.random)
    }
}

impl Env for SeededEnv {
    fn now(&self) -> Moment {
        self.0.world.lock().now
    }

    fn wall(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + EPOCH + self.now().since(Moment::ZERO)
    }

    fn random(&self) -> u64 {
        self.0.world.lock().draw()
    }

    fn spawn(&self, task: BoxTask) {
        let mut world = self.0.world.lock();
        let id = world.next_task;
        world.next_task += 1;
        let waker = Waker::from(Arc::new(TaskWaker {
            task: id,
            env: Arc::downgrade(&self.0),
        }));
        let task = Spawned {
            future: Some(task),
            waker,
            ready: true,
        };
        world.tasks.insert(id, task);
        world.ready.push(id);
    }

    fn number_system(&self) -> Option<u64> {
        let mut world = self.0.world.lock();
        world.systems += 1;
        Some(world.systems)
    }

    fn spawn_thread(&self, _: &str, _: Box<dyn FnOnce() + Send>) -> Option<std::thread::JoinHandle<()>> {
        None
    }

    fn parallelism(&self) -> usize {
        1
    }

    fn tokio(&self) -> Option<tokio::runtime::Handle> {
        None
    }

    fn is_simulated(&self) -> bool {
        true
    }

    fn attach(&self, driver: Weak<dyn Driver>) -> std::io::Result<()> {
        self.0.drivers.lock().push(driver);
        Ok(())
    }

    fn timer_changed(&self, _: Moment) {}
}

impl std::fmt::Debug for SeededEnv {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let world = self.0.world.lock();
        f.debug_struct("SeededEnv")
            .field("now", &world.now)
            .field("tasks", &world.tasks.len())
            .finish()
    }
}
