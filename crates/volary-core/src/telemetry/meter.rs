//! The meter of a system: decides what is measured, and keeps the figures.

use std::num::{NonZeroU64, NonZeroU128};
use std::sync::Arc;

use crate::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::histogram::Histogram;
use super::kinds::{Figures, Kinds};
use super::options::{Cardinality, Telemetry, Traces};
use super::sample::{Begun, Sample, TelemetrySink};
use crate::baggage::TraceContext;
use crate::cell::Header;
use crate::dispatch::contain;
use crate::env::Env;

/// Under which all actors are counted with low cardinality.
const ALL: &str = "all";

/// What happens to actors now and then, and is counted each time, not sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rare {
    Fault,
    Restart,
    Reinstated,
    DeadLetter,
}

impl Rare {
    pub(super) const ALL: usize = 4;
}

pub(crate) struct Meter {
    every: u32,
    cardinality: Cardinality,
    traces: Traces,
    kinds: Kinds,
    /// Messages that could be measured so far, where one seed decides everything.
    counted: AtomicU32,
    sinks: Vec<Arc<dyn TelemetrySink>>,
}

impl Meter {
    pub(crate) fn new(options: &Telemetry, sinks: Vec<Arc<dyn TelemetrySink>>) -> Self {
        Meter {
            every: options.every(),
            cardinality: options.cardinality,
            traces: options.traces,
            kinds: Kinds::new(),
            counted: AtomicU32::new(0),
            sinks,
        }
    }

    /// One message in how many is measured; 0 for none.
    #[inline]
    pub(crate) fn every(&self) -> u32 {
        self.every
    }

    /// Counts a message among all of the system; whether it is the one in so many that is measured.
    pub(crate) fn is_next(&self) -> bool {
        self.every != 0 && self.counted.fetch_add(1, Relaxed) % self.every == self.every - 1
    }

    /// Whether a message that is measured, and is not part of a trace, begins one.
    pub(crate) fn begins_traces(&self) -> bool {
        self.traces == Traces::Begun
    }

    /// A trace for a message that begins one.
    pub(crate) fn new_trace(&self, env: &dyn Env) -> Option<TraceContext> {
        if self.traces == Traces::Continued {
            return None;
        }
        let trace = u128::from(env.random()) << 64 | u128::from(env.random());
        Some(TraceContext::new(NonZeroU128::new(trace).unwrap_or(NonZeroU128::MIN), span_id(env)).sampled())
    }

    /// Lets the first sink that wants to open the span of a handling, and say which it is.
    pub(crate) fn open_span(&self, cell: &Header, begun: &Begun) -> Option<TraceContext> {
        self.sinks
            .iter()
            .find_map(|sink| match contain(|| sink.open_span(begun)) {
                Ok(span) => span,
                Err(fault) => {
                    cell.system().report_hook_fault(cell, "telemetry sink", &fault);
                    None
                }
            })
    }

    pub(crate) fn count(&self, cell: &Header, what: Rare) {
        self.with_figures((cell.table.actor_name)(), |figures| {
            figures.rare[what as usize].fetch_add(1, Relaxed);
        });
    }

    /// An actor has ended: what its mailbox has given out is kept.
    pub(crate) fn ended(&self, cell: &Header) {
        self.with_figures((cell.table.actor_name)(), |figures| {
            figures.taken_by_ended.fetch_add(cell.log.taken(), Relaxed);
        });
    }

    /// What an actor of this type is counted under.
    pub(crate) fn label(&self, kind: &'static str) -> &'static str {
        match self.cardinality {
            Cardinality::Low => ALL,
            Cardinality::PerKind => kind,
        }
    }

    /// Whether somebody wants to see the messages that are measured, and not only the figures.
    pub(crate) fn has_sinks(&self) -> bool {
        !self.sinks.is_empty()
    }

    /// A message to an actor of this type was measured; in nanoseconds.
    pub(crate) fn record(&self, kind: &'static str, waited: u64, took: u64) {
        self.with_figures(kind, |figures| {
            figures.waited.record(waited);
            figures.took.record(took);
        });
    }

    /// Shows a message that was measured to whoever wants to see it.
    pub(crate) fn show(&self, cell: &Header, sample: &Sample<'_>) {
        for sink in &self.sinks {
            if let Err(fault) = contain(|| sink.sample(sample)) {
                cell.system().report_hook_fault(cell, "telemetry sink", &fault);
            }
        }
    }

    fn with_figures(&self, kind: &'static str, count: impl FnOnce(&Figures)) {
        self.kinds.with(self.label(kind), count);
    }

    pub(crate) fn read(&self) -> Readings {
        let read = |kind: &'static str, figures: &Figures| KindReading {
            kind,
            waited: figures.waited.read(),
            took: figures.took.read(),
            faults: figures.rare[Rare::Fault as usize].load(Relaxed),
            restarts: figures.rare[Rare::Restart as usize].load(Relaxed),
            reinstated: figures.rare[Rare::Reinstated as usize].load(Relaxed),
            dead_letters: figures.rare[Rare::DeadLetter as usize].load(Relaxed),
            taken_by_ended: figures.taken_by_ended.load(Relaxed),
        };
        Readings {
            share: if self.every == 0 {
                0.0
            } else {
                1.0 / f64::from(self.every)
            },
            kinds: self.kinds.all(read),
        }
    }
}

pub(crate) fn span_id(env: &dyn Env) -> NonZeroU64 {
    NonZeroU64::new(env.random()).unwrap_or(NonZeroU64::MIN)
}

/// What was measured so far; see [`ActorSystem::readings`](crate::ActorSystem::readings).
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/measured.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let system = measured().await?;
/// let readings: Readings = system.readings();
/// println!("one message in {} is measured", 1.0 / readings.share);
/// # assert_eq!(readings.share, 1.0);
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Readings {
    /// Which share of all messages is measured; 0 if none is.
    pub share: f64,
    /// The figures, by type of actor; with low cardinality one for all.
    pub kinds: Vec<KindReading>,
}

/// The figures of one type of actor.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/measured.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let system = measured().await?;
/// # let reading: KindReading = reading_of_accounts(&system);
/// println!("{}: p99 of the wait below {:?}", reading.kind, reading.waited.below(0.99));
/// # assert_eq!((reading.waited.count(), reading.faults), (1, 0));
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct KindReading {
    /// The type of the actors.
    pub kind: &'static str,
    /// How long messages waited in mailboxes.
    pub waited: Histogram,
    /// How long they were handled, what handlers waited for included.
    pub took: Histogram,
    /// How often such an actor has crashed. This and what follows is counted, not sampled.
    pub faults: u64,
    /// How often one was restarted.
    pub restarts: u64,
    /// How often one that supervision held was let go on.
    pub reinstated: u64,
    /// Messages to such actors that became dead letters.
    pub dead_letters: u64,
    /// What the mailboxes of those that have ended had given out; for the others see
    /// [`KindCensus::taken`](crate::KindCensus::taken).
    pub taken_by_ended: u64,
}
