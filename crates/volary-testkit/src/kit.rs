//! Virtual time: a system whose clock moves when the test says so, or when nothing else is left to do.
//!
//! A test of "passivates after two hours" takes a millisecond:
//!
//! ```
//! use std::time::Duration;
//! use volary::prelude::*;
//! use volary::Passivation;
//! use volary_testkit::TestKit;
//!
//! struct Session;
//!
//! #[actor]
//! impl Session {
//!     fn hello(&mut self) {}
//! }
//!
//! const TWO_HOURS: Duration = Duration::from_secs(7_200);
//!
//! let kit = TestKit::new();
//! let props = Props::new().passivation(Passivation::after(TWO_HOURS));
//! let session = kit.run(kit.system().spawn(|| Session).props(props)).unwrap();
//! kit.advance(TWO_HOURS - Duration::from_secs(1));
//! assert!(!session.status().asleep);
//! kit.advance(Duration::from_secs(2));
//! assert!(session.status().asleep);
//! ```
//!
//! It runs on a [`FakeClock`]: one thread, in an order drawn from a seed. tokio's timers and I/O are not there for its
//! handlers; a [`Sim`](crate::Sim) has the former, and takes many seeds.

use std::fmt;
use std::future::{Future, IntoFuture, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use volary::{ActorSystem, Env, Moment, SystemBuilder};

use crate::fake::FakeClock;

/// A system on virtual time, for one test; see [the module](self). The system is stopped when the kit is dropped.
///
/// ```
/// use std::time::Duration;
/// use volary_testkit::TestKit;
///
/// let kit = TestKit::new();
/// kit.run(kit.system().sleep(Duration::from_secs(86_400))); // a day, in no time
/// assert!(kit.elapsed() >= Duration::from_secs(86_400));
/// ```
pub struct TestKit {
    clock: FakeClock,
    system: ActorSystem,
    began: Moment,
    alarm: Arc<Alarm>,
}

impl TestKit {
    /// A kit with a system called `test`, under the seed 0.
    ///
    /// ```
    /// let kit = volary_testkit::TestKit::new();
    /// assert_eq!(kit.system().name(), "test");
    /// ```
    ///
    /// # Panics
    /// If the system does not start.
    #[must_use]
    #[expect(
        clippy::new_without_default,
        reason = "it starts a system, which is more than a default does"
    )]
    pub fn new() -> Self {
        TestKit::with(0, |builder| builder)
    }

    /// A kit under a seed, with a system to your liking.
    ///
    /// ```
    /// # use std::time::Duration;
    /// use volary_testkit::TestKit;
    /// let kit = TestKit::with(7, |builder| builder.settings(|s| s.ask_timeout(Duration::from_secs(1))));
    /// assert_eq!(kit.system().settings().ask_timeout(), Duration::from_secs(1));
    /// ```
    ///
    /// # Panics
    /// If the system does not start.
    #[must_use]
    pub fn with(seed: u64, change: impl FnOnce(SystemBuilder) -> SystemBuilder) -> Self {
        let clock = FakeClock::new(seed);
        let builder = ActorSystem::builder("test")
            .ignore_environment()
            .settings(|settings| settings.log_config(false));
        let builder = change(builder).environment(clock.clone());
        let system = match clock.block_on(async { builder.start().await }) {
            Ok(system) => system,
            Err(error) => panic!("the system of the kit does not start: {error}"),
        };
        TestKit {
            began: clock.now(),
            clock,
            system,
            alarm: Arc::new(Alarm::default()),
        }
    }

    /// The system.
    ///
    /// ```
    /// # let kit = volary_testkit::TestKit::new();
    /// assert_eq!(kit.system().actor_count(), 0);
    /// ```
    #[must_use]
    pub fn system(&self) -> &ActorSystem {
        &self.system
    }

    /// The clock, whose calendar can be set.
    ///
    /// ```
    /// use std::time::SystemTime;
    /// # let kit = volary_testkit::TestKit::new();
    /// kit.clock().set_calendar(SystemTime::UNIX_EPOCH);
    /// assert_eq!(kit.system().world().wall(), SystemTime::UNIX_EPOCH);
    /// ```
    #[must_use]
    pub fn clock(&self) -> &FakeClock {
        &self.clock
    }

    /// How much virtual time has passed since the kit was made.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # let kit = volary_testkit::TestKit::new();
    /// kit.advance(Duration::from_secs(5));
    /// assert_eq!(kit.elapsed(), Duration::from_secs(5));
    /// ```
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.clock.now().since(self.began)
    }

    /// Moves the clock on, and lets happen what becomes due on the way, in its order; then everything that can happen
    /// without the clock. From the test, inside of [`run`](TestKit::run) or outside of it, not from an actor.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # let kit = volary_testkit::TestKit::new();
    /// kit.advance(Duration::from_secs(3_600));
    /// assert_eq!(kit.elapsed(), Duration::from_secs(3_600));
    /// ```
    pub fn advance(&self, time: Duration) {
        self.clock.advance(time);
    }

    /// Whether the clock moves by itself when everybody waits, as it does unless told otherwise. If not, only
    /// [`advance`](TestKit::advance) moves it.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # let kit = volary_testkit::TestKit::new();
    /// kit.auto_advance(false);
    /// kit.run(async {
    ///     let nap = kit.system().sleep(Duration::from_secs(1));
    ///     kit.advance(Duration::from_secs(1)); // without it, nobody would ever wake up
    ///     nap.await;
    /// });
    /// assert_eq!(kit.elapsed(), Duration::from_secs(1));
    /// ```
    pub fn auto_advance(&self, by_itself: bool) {
        self.alarm.stands_still.store(!by_itself, SeqCst);
        self.alarm.clone().wake();
    }

    /// Runs a future and everything that it sets in motion, until it is ready.
    ///
    /// ```
    /// # let kit = volary_testkit::TestKit::new();
    /// assert_eq!(kit.run(async { 6 * 7 }), 42);
    /// ```
    ///
    /// # Panics
    /// If nothing can ever happen any more and the future is not ready.
    pub fn run<F: IntoFuture>(&self, future: F) -> F::Output {
        let mut future = pin!(future.into_future());
        let waker = Waker::from(self.alarm.clone());
        self.alarm.rung.store(true, SeqCst);
        loop {
            if self.alarm.rung.swap(false, SeqCst) {
                if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                    return output;
                }
                continue;
            }
            if !self.alarm.stands_still.load(SeqCst) {
                // Time passes as it must until the test can go on.
                self.clock.block_on(self.alarm.wait());
                continue;
            }
            self.clock.advance(Duration::ZERO);
            assert!(
                self.alarm.rung.load(SeqCst),
                "deadlock: nothing is ready, and the clock stands still at {:?}: `advance` it, or `auto_advance(true)`",
                self.elapsed()
            );
        }
    }
}

impl Drop for TestKit {
    fn drop(&mut self) {
        // A test that fails has its own story to tell, and its actors may be in no state to be stopped.
        if !std::thread::panicking() {
            let _ = catch_unwind(AssertUnwindSafe(|| self.clock.block_on(self.system.stop())));
        }
    }
}

impl fmt::Debug for TestKit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestKit")
            .field("system", &self.system)
            .field("elapsed", &self.elapsed())
            .finish_non_exhaustive()
    }
}

/// Rings when the test can go on.
#[derive(Default)]
struct Alarm {
    rung: AtomicBool,
    stands_still: AtomicBool,
    /// Who waits for it, inside of the environment.
    waker: Mutex<Option<Waker>>,
}

impl Alarm {
    fn set_waker(&self, waker: Option<Waker>) -> Option<Waker> {
        std::mem::replace(&mut *self.waker.lock().unwrap_or_else(PoisonError::into_inner), waker)
    }

    fn wait(&self) -> impl Future<Output = ()> {
        poll_fn(|task| {
            let _before = self.set_waker(Some(task.waker().clone()));
            match self.rung.load(SeqCst) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
    }
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.rung.store(true, SeqCst);
        if let Some(waker) = self.set_waker(None) {
            waker.wake();
        }
    }
}
