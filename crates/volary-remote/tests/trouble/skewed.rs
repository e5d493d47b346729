//! The real world with a clock that is wrong: another calendar, and seconds of another length.

use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant, SystemTime};

use tokio::runtime::Handle;
use volary_core::{BoxTask, Driver, Env, Moment};

pub(crate) struct Skewed {
    pub(crate) handle: Handle,
    pub(crate) began: Instant,
    /// Hours by which the calendar is ahead; behind if below zero.
    pub(crate) hours: i64,
    /// How many hundredths of a second pass on this clock in a real one.
    pub(crate) percent: u32,
    random: Mutex<u64>,
    clock: Mutex<Option<std::thread::Thread>>,
}

impl Skewed {
    pub(crate) fn new(hours: i64, percent: u32) -> Self {
        Skewed {
            handle: Handle::current(),
            began: Instant::now(),
            hours,
            percent,
            random: Mutex::new(u64::from(std::process::id())),
            clock: Mutex::default(),
        }
    }
}

fn now(began: Instant, percent: u32) -> Moment {
    Moment::ZERO + began.elapsed() * percent / 100
}

impl Env for Skewed {
    fn now(&self) -> Moment {
        now(self.began, self.percent)
    }

    fn wall(&self) -> SystemTime {
        let off = Duration::from_secs(3_600 * self.hours.unsigned_abs());
        if self.hours < 0 {
            SystemTime::now() - off
        } else {
            SystemTime::now() + off
        }
    }

    fn random(&self) -> u64 {
        let mut state = self.random.lock().unwrap();
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        *state >> 11
    }

    fn spawn(&self, task: BoxTask) {
        self.handle.spawn(task);
    }

    fn spawn_thread(&self, name: &str, body: Box<dyn FnOnce() + Send>) -> Option<std::thread::JoinHandle<()>> {
        std::thread::Builder::new().name(name.to_owned()).spawn(body).ok()
    }

    fn parallelism(&self) -> usize {
        2
    }

    fn tokio(&self) -> Option<Handle> {
        Some(self.handle.clone())
    }

    fn is_here(&self) -> bool {
        Handle::try_current().is_ok_and(|handle| handle.id() == self.handle.id())
    }

    fn attach(&self, driver: Weak<dyn Driver>) -> std::io::Result<()> {
        let (began, percent) = (self.began, self.percent);
        let body = move || {
            while let Some(driver) = driver.upgrade() {
                let next = driver.drive(now(began, percent));
                drop(driver);
                match next {
                    Some(next) => std::thread::park_timeout(next.since(now(began, percent)) * 100 / percent),
                    None => std::thread::park(),
                }
            }
        };
        let thread = std::thread::Builder::new().spawn(body)?;
        *self.clock.lock().unwrap() = Some(thread.thread().clone());
        Ok(())
    }

    fn timer_changed(&self, _: Moment) {
        if let Some(clock) = &*self.clock.lock().unwrap() {
            clock.unpark();
        }
    }

    fn disk(&self) -> Arc<dyn volary_core::Disk> {
        unreachable!("nothing here writes files")
    }

    fn spills_local_wakes(&self) -> bool {
        true
    }
}
