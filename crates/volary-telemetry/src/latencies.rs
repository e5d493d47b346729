//! How long messages wait and how long they take, as histograms.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Histogram, Meter};
use parking_lot::RwLock;
use volary_core::{BOUNDS, Sample, TelemetrySink};

/// How many types of actors have histograms of their own; the others share one.
const KINDS: usize = 256;
const OTHERS: &str = "other";

/// Makes the histograms `actor.mailbox.wait.duration` and `actor.handler.duration`, in seconds and by type of actor,
/// of all messages that are measured; from [`Otel::latencies`](crate::Otel::latencies).
///
/// ```
/// # use opentelemetry_sdk::metrics::SdkMeterProvider;
/// # use volary_core::{ActorSystem, Telemetry};
/// # let otel = volary_telemetry::Otel::new(&SdkMeterProvider::default());
/// let builder = ActorSystem::builder("shop")
///     .telemetry(Telemetry::sampled(0.01))
///     .telemetry_sink(otel.latencies("shop"));
/// # let _ = builder;
/// ```
pub struct Latencies {
    system: KeyValue,
    waited: Histogram<f64>,
    took: Histogram<f64>,
    kinds: RwLock<BTreeMap<&'static str, Arc<[KeyValue]>>>,
}

impl Latencies {
    pub(crate) fn new(meter: &Meter, system: &str) -> Self {
        let bounds = || BOUNDS.iter().map(|bound| bound.as_secs_f64()).collect();
        let histogram = |name, help| {
            meter
                .f64_histogram(name)
                .with_unit("s")
                .with_description(help)
                .with_boundaries(bounds())
                .build()
        };
        Latencies {
            system: KeyValue::new("actor.system", system.to_owned()),
            waited: histogram(
                "actor.mailbox.wait.duration",
                "How long measured messages waited in mailboxes",
            ),
            took: histogram("actor.handler.duration", "How long measured messages were handled"),
            kinds: RwLock::default(),
        }
    }

    fn attributes(&self, kind: &'static str) -> Arc<[KeyValue]> {
        if let Some(attributes) = self.kinds.read().get(kind) {
            return attributes.clone();
        }
        let mut kinds = self.kinds.write();
        let kind = if kinds.len() < KINDS { kind } else { OTHERS };
        let made = || [self.system.clone(), KeyValue::new("actor.kind", kind)].into();
        kinds.entry(kind).or_insert_with(made).clone()
    }
}

impl TelemetrySink for Latencies {
    fn sample(&self, sample: &Sample<'_>) {
        let attributes = self.attributes(sample.label);
        self.waited.record(sample.waited.as_secs_f64(), &attributes);
        self.took.record(sample.took.as_secs_f64(), &attributes);
    }
}

impl fmt::Debug for Latencies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Latencies")
            .field("system", &self.system.value)
            .finish_non_exhaustive()
    }
}
