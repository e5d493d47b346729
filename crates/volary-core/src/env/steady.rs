//! For tests of the core itself: the seeded environment, of which the test decides what a seed would.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Weak};
use std::time::SystemTime;

use super::{BoxTask, Driver, Env, SeededEnv};
use crate::time::Moment;

/// One thread, on which every turn takes as much as it may and no actor is run where it is asked.
#[derive(Clone)]
pub(crate) struct Steady {
    pub(crate) seeded: SeededEnv,
    /// The clock panics when it is looked at, once.
    pub(crate) clock_stops: Arc<AtomicBool>,
    /// Dispatchers do not know that there is only one thread.
    pub(crate) poses_as_real: bool,
    /// It says that its clock is that of the process.
    pub(crate) shares_clock: bool,
}

impl Steady {
    pub(crate) fn new() -> Self {
        Steady {
            seeded: SeededEnv::new(11),
            clock_stops: Arc::default(),
            poses_as_real: false,
            shares_clock: false,
        }
    }
}

impl Env for Steady {
    fn now(&self) -> Moment {
        assert!(!self.clock_stops.swap(false, SeqCst), "the clock has stopped");
        self.seeded.now()
    }
    fn wall(&self) -> SystemTime {
        self.seeded.wall()
    }
    fn random(&self) -> u64 {
        self.seeded.random()
    }
    fn spawn(&self, task: BoxTask) {
        self.seeded.spawn(task);
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
        !self.poses_as_real
    }
    fn shares_clock(&self) -> bool {
        self.shares_clock
    }
    fn choose_budget(&self, most: u32) -> u32 {
        most
    }
    fn choose_inline(&self) -> bool {
        false
    }
    fn attach(&self, driver: Weak<dyn Driver>) -> std::io::Result<()> {
        self.seeded.attach(driver)
    }
    fn timer_changed(&self, next: Moment) {
        self.seeded.timer_changed(next);
    }
}
