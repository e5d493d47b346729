//! An environment whose clock stands still until the test moves it.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, SystemTime};

use volary::{BoxTask, Driver, Env, Moment, SeededEnv};

/// A [`SeededEnv`] with a calendar that can be set, as when somebody corrects the clock of a machine.
///
/// The monotonic clock does not jump with it. [`TestKit`](crate::TestKit) brings one along.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use volary::{ActorSystem, Env};
/// use volary_testkit::FakeClock;
///
/// let clock = FakeClock::new(7);
/// clock.block_on(async {
///     let system = ActorSystem::builder("test").environment(clock.clone()).start().await.unwrap();
///     clock.set_calendar(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000));
///     system.sleep(Duration::from_secs(60)).await;
///     let shown = clock.wall().duration_since(SystemTime::UNIX_EPOCH).unwrap();
///     assert_eq!(shown.as_secs(), 1_000_000_060);
///     system.stop().await.unwrap();
/// });
/// ```
#[derive(Debug, Clone)]
pub struct FakeClock {
    env: SeededEnv,
    calendar: Arc<Mutex<Option<Set>>>,
}

/// What the calendar was set to, and when.
#[derive(Debug, Clone, Copy)]
struct Set {
    at: Moment,
    shown: SystemTime,
}

impl FakeClock {
    /// A clock at rest, on 1 January 2030, in an environment of this seed.
    ///
    /// ```
    /// let clock = volary_testkit::FakeClock::new(1);
    /// ```
    #[must_use]
    pub fn new(seed: u64) -> Self {
        FakeClock {
            env: SeededEnv::new(seed),
            calendar: Arc::default(),
        }
    }

    /// Sets the calendar. Timers are not touched; schedules by the calendar notice within a minute, as they do when
    /// the clock of a machine is set.
    ///
    /// ```
    /// use std::time::SystemTime;
    /// use volary::Env;
    ///
    /// let clock = volary_testkit::FakeClock::new(1);
    /// clock.set_calendar(SystemTime::UNIX_EPOCH);
    /// assert_eq!(clock.wall(), SystemTime::UNIX_EPOCH);
    /// ```
    pub fn set_calendar(&self, shown: SystemTime) {
        let set = Set {
            at: self.env.now(),
            shown,
        };
        *self.calendar.lock().unwrap_or_else(PoisonError::into_inner) = Some(set);
    }

    /// Moves the clock on, and lets happen what becomes due on the way, in its order. To be called by the test, not by
    /// an actor.
    ///
    /// ```
    /// # use std::time::Duration;
    /// use volary::Env;
    ///
    /// let clock = volary_testkit::FakeClock::new(1);
    /// let before = clock.now();
    /// clock.advance(Duration::from_secs(60));
    /// assert_eq!(clock.now().since(before), Duration::from_secs(60));
    /// ```
    pub fn advance(&self, time: Duration) {
        self.env.advance(time);
    }

    /// Runs a future and everything that it sets in motion. The clock moves when nothing else can happen.
    ///
    /// ```
    /// let clock = volary_testkit::FakeClock::new(1);
    /// assert_eq!(clock.block_on(async { 6 * 7 }), 42);
    /// ```
    ///
    /// # Panics
    /// If nothing can ever happen any more.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.env.block_on(future)
    }
}

impl Env for FakeClock {
    fn now(&self) -> Moment {
        self.env.now()
    }

    fn wall(&self) -> SystemTime {
        let set = *self.calendar.lock().unwrap_or_else(PoisonError::into_inner);
        set.map_or_else(|| self.env.wall(), |set| set.shown + self.env.now().since(set.at))
    }

    fn random(&self) -> u64 {
        self.env.random()
    }

    fn spawn(&self, task: BoxTask) {
        self.env.spawn(task);
    }

    fn spawn_thread(&self, name: &str, body: Box<dyn FnOnce() + Send>) -> Option<std::thread::JoinHandle<()>> {
        self.env.spawn_thread(name, body)
    }

    fn parallelism(&self) -> usize {
        self.env.parallelism()
    }

    fn tokio(&self) -> Option<tokio::runtime::Handle> {
        self.env.tokio()
    }

    fn is_simulated(&self) -> bool {
        true
    }

    fn number_system(&self) -> Option<u64> {
        self.env.number_system()
    }

    fn attach(&self, driver: Weak<dyn Driver>) -> std::io::Result<()> {
        self.env.attach(driver)
    }

    fn timer_changed(&self, next: Moment) {
        self.env.timer_changed(next);
    }
}
