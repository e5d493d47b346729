//! Whether the system wants work from outside.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use crate::dispatch::wake;
use crate::sync::Mutex;
use crate::system::core::SystemCore;
use crate::system::handle::ActorSystem;

/// Ready from the start until a stop begins, and who waits for that.
#[derive(Default)]
pub(super) struct Ready {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    lost: bool,
    waiting: BTreeMap<u64, Waker>,
    next: u64,
}

impl Ready {
    pub(super) fn lose(&self) {
        let waiting = {
            let mut inner = self.inner.lock();
            inner.lost = true;
            std::mem::take(&mut inner.waiting)
        };
        waiting.into_values().for_each(wake);
    }

    fn is_lost(&self) -> bool {
        self.inner.lock().lost
    }

    fn poll_lost(&self, place: &mut Option<u64>, task: &Context<'_>) -> Poll<()> {
        let waker = task.waker().clone();
        let _before = {
            let mut inner = self.inner.lock();
            if inner.lost {
                return Poll::Ready(());
            }
            let place = *place.get_or_insert_with(|| {
                inner.next += 1;
                inner.next
            });
            inner.waiting.insert(place, waker)
        };
        Poll::Pending
    }

    fn leave(&self, place: u64) {
        let _waker = self.inner.lock().waiting.remove(&place);
    }
}

impl ActorSystem {
    /// Whether the system wants work from outside: true from the start until a stop begins. What a readiness probe
    /// answers with; the system still does all it did when this turns false.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let system = volary_core::ActorSystem::builder("shop").start().await?;
    /// assert!(system.is_ready());
    /// system.stop().await?;
    /// assert!(!system.is_ready());
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn is_ready(&self) -> bool {
        !self.core.shutdown.ready.is_lost()
    }

    /// The same to be kept, asked and waited for.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let readiness = system.readiness();
    /// let answer = move || if readiness.is_ready() { 200 } else { 503 };
    /// assert_eq!(answer(), 200);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn readiness(&self) -> Readiness {
        Readiness {
            core: self.core.clone(),
        }
    }
}

/// The readiness of a system; from [`ActorSystem::readiness`]. Cheap to clone.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let system = volary_core::ActorSystem::builder("shop").start().await?;
/// let readiness = system.readiness();
/// let told = tokio::spawn(async move { readiness.lost().await });
/// system.stop().await?;
/// told.await?;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Readiness {
    core: Arc<SystemCore>,
}

impl Readiness {
    /// Whether the system wants work from outside.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// assert!(system.readiness().is_ready());
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn is_ready(&self) -> bool {
        !self.core.shutdown.ready.is_lost()
    }

    /// Waits until the system is not ready any more. Cancel safe.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let readiness = system.readiness();
    /// system.stop().await?;
    /// readiness.lost().await;
    /// println!("going down");
    /// # Ok(()) }
    /// ```
    pub fn lost(&self) -> Unready {
        Unready {
            core: self.core.clone(),
            place: None,
        }
    }
}

impl fmt::Debug for Readiness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Readiness").field("ready", &self.is_ready()).finish()
    }
}

/// Waits until a system is not ready any more; see [`Readiness::lost`].
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let time_to_leave: Unready = system.readiness().lost();
/// system.stop().await?;
/// time_to_leave.await;
/// # Ok(()) }
/// ```
#[must_use = "futures do nothing unless polled"]
pub struct Unready {
    core: Arc<SystemCore>,
    /// Its place among those who wait.
    place: Option<u64>,
}

impl Future for Unready {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<()> {
        let core = self.core.clone();
        core.shutdown.ready.poll_lost(&mut self.place, task)
    }
}

impl Drop for Unready {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            self.core.shutdown.ready.leave(place);
        }
    }
}

impl fmt::Debug for Unready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unready").finish_non_exhaustive()
    }
}
