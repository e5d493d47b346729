//! Where hooks are registered and taken back, and what the stop asks on its way.

use std::fmt;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::course::{Course, CutShort, Refusal, Step, Ticket};
use super::hook::{HookError, ShutdownHook};
use super::readiness::Ready;
use crate::dispatch::wake;
use crate::sync::Mutex;
use crate::system::core::SystemCore;
use crate::system::handle::ActorSystem;
use crate::system::problem::StopProblem;
use crate::time::Moment;

/// The shutdown of one system.
pub(in crate::system) struct Shutdown {
    pub(super) ready: Ready,
    inner: Mutex<Inner>,
}

struct Inner {
    course: Course<ShutdownHook>,
    hurried: bool,
    /// The phase and the name of the hook that runs.
    running: Option<(String, String)>,
    /// Of the stop, while it waits for something.
    driver: Option<Waker>,
}

impl Shutdown {
    pub(in crate::system) fn new(course: Course<ShutdownHook>) -> Self {
        Shutdown {
            ready: Ready::default(),
            inner: Mutex::new(Inner {
                course,
                hurried: false,
                running: None,
                driver: None,
            }),
        }
    }

    /// Readiness turns false, and the time begins to run.
    pub(in crate::system) fn begin(&self, now: Moment, within: Duration) {
        self.inner.lock().course.begin(now, within);
        self.ready.lose();
    }

    pub(in crate::system) fn next(&self, now: Moment) -> Step<ShutdownHook> {
        let mut inner = self.inner.lock();
        let step = inner.course.next(now);
        inner.running = match &step {
            Step::Run { phase, hook } => Some((phase.clone(), hook.name.clone())),
            _ => None,
        };
        step
    }

    pub(super) fn cut_short(&self, now: Moment) -> Option<CutShort> {
        self.inner.lock().course.cut_short(now)
    }

    /// A hook has failed without which no other is to run.
    pub(super) fn fail(&self, hook: String) {
        self.inner.lock().course.give_up(CutShort::HookFailed { hook });
    }

    /// There is nothing left to run hooks on: names the one that ran, and those that will not.
    pub(in crate::system) fn abandon(&self, now: Moment) -> Vec<StopProblem> {
        let running = {
            let mut inner = self.inner.lock();
            inner.course.give_up(CutShort::RuntimeGone);
            inner.running.take()
        };
        let why = CutShort::RuntimeGone;
        let cut_off = |(phase, hook)| StopProblem::HookCutOff { phase, hook, why };
        let mut problems: Vec<_> = running.map(cut_off).into_iter().collect();
        loop {
            match self.next(now) {
                Step::Pass { phase, hook, why } => problems.push(hook.not_run(phase, why)),
                Step::Run { .. } => unreachable!("no hook is run after a reason not to"),
                Step::Work(_) => {}
                Step::Done => return problems,
            }
        }
    }

    pub(in crate::system) fn is_hurried(&self) -> bool {
        self.inner.lock().hurried
    }

    pub(super) fn poll_hurried(&self, task: &Context<'_>) -> Poll<()> {
        let waker = task.waker().clone();
        let _before = {
            let mut inner = self.inner.lock();
            if inner.hurried {
                return Poll::Ready(());
            }
            inner.driver.replace(waker)
        };
        Poll::Pending
    }

    fn hurry(&self, now: Moment) {
        let waker = {
            let mut inner = self.inner.lock();
            if !inner.course.hurry(now) {
                return;
            }
            inner.hurried = true;
            inner.driver.take()
        };
        if let Some(waker) = waker {
            wake(waker);
        }
    }
}

/// Puts a hook into its place.
pub(in crate::system) fn add(course: &mut Course<ShutdownHook>, hook: ShutdownHook) -> Result<Ticket, Box<Refused>> {
    if let Err(error) = hook.check() {
        return Err(Box::new(Refused { error, _hook: hook }));
    }
    let phase = hook.phase.clone();
    course.add(&phase, hook).map_err(|(refusal, hook)| {
        let name = hook.name.clone();
        let error = match refusal {
            Refusal::Unknown => HookError::UnknownPhase {
                hook: name,
                phase,
                known: course.phases().join(", "),
            },
            Refusal::Past => HookError::TooLate { hook: name, phase },
        };
        Box::new(Refused { error, _hook: hook })
    })
}

/// A hook that was not taken, to be dropped when no lock is held.
pub(in crate::system) struct Refused {
    pub(in crate::system) error: HookError,
    _hook: ShutdownHook,
}

impl SystemCore {
    /// How much of the setting `shutdown-timeout` is left.
    pub(in crate::system) fn left(&self) -> Duration {
        self.shutdown.inner.lock().course.left(self.now())
    }
}

impl ActorSystem {
    /// Registers something to be done on the way down, behind the other hooks of its phase. It may be done as long as
    /// the stop is not past that phase.
    ///
    /// ```
    /// # use volary_core::{ActorSystem, ShutdownHook, shutdown};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let system = ActorSystem::builder("shop").start().await?;
    /// let hook = ShutdownHook::new(shutdown::INTAKE, "listener", || async { println!("closed") });
    /// let handle = system.on_shutdown(hook)?;
    /// // the listener is closed earlier than that:
    /// assert!(handle.take_back());
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// What is wrong with the hook, or that it comes too late.
    pub fn on_shutdown(&self, hook: ShutdownHook) -> Result<HookHandle, HookError> {
        let added = {
            let mut inner = self.core.shutdown.inner.lock();
            add(&mut inner.course, hook)
        };
        match added {
            Ok(ticket) => Ok(HookHandle {
                core: Arc::downgrade(&self.core),
                ticket,
            }),
            Err(refused) => Err(refused.error),
        }
    }

    /// Makes a stop that has begun end soon, as if its `shutdown-timeout` were over: the hook that runs is cut off,
    /// those behind it are not run, and actors that stop already are killed; those that do not yet have a second.
    /// All of it is in the [`StopError`](crate::StopError). Without a stop nothing happens.
    ///
    /// [`run_until_signal`](ActorSystem::run_until_signal) does this on the second signal.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let hook = ShutdownHook::new(shutdown::DRAIN, "queue", std::future::pending::<()>);
    /// system.on_shutdown(hook)?;
    /// let (stop, ()) = tokio::join!(system.stop(), async { system.hurry_stop() });
    /// assert!(stop.is_err(), "the hook was cut off");
    /// # Ok(()) }
    /// ```
    pub fn hurry_stop(&self) {
        self.core.shutdown.hurry(self.core.now());
    }
}

/// A shutdown hook that was registered; dropping this changes nothing.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let hook = ShutdownHook::new(shutdown::DRAIN, "queue", || async {});
/// let handle: HookHandle = system.on_shutdown(hook)?;
/// system.stop().await?;
/// assert!(!handle.take_back(), "it has run");
/// # Ok(()) }
/// ```
pub struct HookHandle {
    core: Weak<SystemCore>,
    ticket: Ticket,
}

impl HookHandle {
    /// Takes the hook back. False if it runs already, has run, was passed by or was taken back before.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let hook = ShutdownHook::new(shutdown::DRAIN, "queue", || async { Err("the broker is away") });
    /// let handle = system.on_shutdown(hook)?;
    /// assert!(handle.take_back());
    /// system.stop().await?; // without it
    /// # Ok(()) }
    /// ```
    pub fn take_back(&self) -> bool {
        let Some(core) = self.core.upgrade() else {
            return false;
        };
        let hook = core.shutdown.inner.lock().course.remove(self.ticket);
        hook.is_some()
    }
}

impl fmt::Debug for HookHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookHandle")
            .field("ticket", &self.ticket)
            .finish_non_exhaustive()
    }
}
