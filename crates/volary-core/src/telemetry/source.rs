//! Figures of what stands beside the core, such as remoting: the core does not know them, whoever exports figures gets them
//! from the core nevertheless.

use std::sync::Arc;

use super::instrument::Instrument;
use crate::dispatch::contain;
use crate::sync::Mutex;
use crate::system::ActorSystem;

/// Has figures of its own, which are told with those of the system; see
/// [`ActorSystem::add_instruments`].
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
/// use volary_core::{ActorSystem, Instrument, InstrumentSource, Point};
///
/// #[derive(Default)]
/// struct Gate { passed: AtomicU64 }
///
/// impl InstrumentSource for Gate {
///     fn instruments(&self) -> Vec<Instrument> {
///         let passed = Point::new(self.passed.load(Relaxed));
///         vec![Instrument::counter("gate.passed.count", "Who came through the gate").points([passed])]
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let gate = Arc::new(Gate::default());
/// let system = ActorSystem::builder("park").start().await?;
/// system.add_instruments(gate.clone());
/// gate.passed.fetch_add(1, Relaxed);
/// let last = system.instruments().pop().unwrap();
/// assert_eq!((last.name, last.points[0].value), ("gate.passed.count", 1));
/// # system.stop().await?; Ok(()) }
/// ```
pub trait InstrumentSource: Send + Sync + 'static {
    /// Its figures now: always the same ones in the same order, with names that nobody else has. Called whenever
    /// somebody looks, so it must not wait for anything.
    fn instruments(&self) -> Vec<Instrument>;
}

type Told = Arc<dyn Fn(&[Instrument]) + Send + Sync>;

/// All that were added.
#[derive(Default)]
pub(crate) struct Sources(Mutex<Known>);

#[derive(Default)]
struct Known {
    sources: Vec<Arc<dyn InstrumentSource>>,
    told: Vec<Told>,
}

impl Sources {
    /// The figures of all. Their code runs without the lock.
    pub(super) fn read(&self) -> Vec<Instrument> {
        let sources = self.0.lock().sources.clone();
        sources.iter().flat_map(ask).collect()
    }

    fn add(&self, source: Arc<dyn InstrumentSource>) {
        let told = {
            let mut known = self.0.lock();
            known.sources.push(source.clone());
            known.told.clone()
        };
        if told.is_empty() {
            return;
        }
        let instruments = ask(&source);
        for told in told {
            if let Err(fault) = contain(|| told(&instruments)) {
                tracing::error!(%fault, "whoever is told of figures failed");
            }
        }
    }
}

/// Anybody's code: one that panics has no figures, and the others are shown without it.
fn ask(source: &Arc<dyn InstrumentSource>) -> Vec<Instrument> {
    contain(|| source.instruments()).unwrap_or_else(|fault| {
        tracing::error!(%fault, "a source of figures failed");
        Vec::new()
    })
}

impl ActorSystem {
    /// Adds figures to those of this system, for as long as it lives; what refers back to the system is to do so weakly.
    /// [`InstrumentSource`] has an example.
    pub fn add_instruments(&self, source: Arc<dyn InstrumentSource>) {
        self.core.sources().add(source);
    }

    /// Has somebody told of figures that are added from now on, for exporters that need to know the names of all. Those
    /// that there are already are among the [instruments](Self::instruments).
    ///
    /// ```
    /// # use std::sync::{Arc, Mutex};
    /// # use volary_core::{ActorSystem, Instrument, InstrumentSource};
    /// # struct Gate;
    /// # impl InstrumentSource for Gate {
    /// #     fn instruments(&self) -> Vec<Instrument> { vec![Instrument::gauge("gate.open", "Gates that are open")] }
    /// # }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let system = ActorSystem::builder("park").start().await?;
    /// let names = Arc::new(Mutex::new(Vec::new()));
    /// let known = names.clone();
    /// system.on_instruments(move |added| known.lock().unwrap().extend(added.iter().map(|one| one.name)));
    /// system.add_instruments(Arc::new(Gate));
    /// assert_eq!(*names.lock().unwrap(), ["gate.open"]);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn on_instruments(&self, told: impl Fn(&[Instrument]) + Send + Sync + 'static) {
        self.core.sources().0.lock().told.push(Arc::new(told));
    }
}

#[cfg(all(test, not(any(volary_loom, volary_shuttle))))]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    use super::*;
    use crate::Point;

    struct Broken;
    impl InstrumentSource for Broken {
        fn instruments(&self) -> Vec<Instrument> {
            panic!("it cannot count")
        }
    }

    struct Sound;
    impl InstrumentSource for Sound {
        fn instruments(&self) -> Vec<Instrument> {
            vec![Instrument::gauge("sound", "That are sound").points([Point::new(1)])]
        }
    }

    #[test]
    fn s11_a_source_that_panics_hides_no_other_figures() {
        let sources = Sources::default();
        let told = Arc::new(AtomicUsize::new(0));
        let count = told.clone();
        sources.0.lock().told.push(Arc::new(|_| panic!("nor can it listen")));
        sources.0.lock().told.push(Arc::new(move |added| {
            count.fetch_add(added.len(), SeqCst);
        }));
        sources.add(Arc::new(Broken));
        sources.add(Arc::new(Sound));
        assert_eq!(told.load(SeqCst), 1);
        let names: Vec<_> = sources.read().iter().map(|instrument| instrument.name).collect();
        assert_eq!(names, ["sound"]);
    }
}
