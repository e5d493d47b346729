//! The handling of a message as a span of OpenTelemetry.
//!
//! The span is opened when the handling begins, since what the handler sends needs its id, and that id is the tracer's
//! to choose. It is kept here until the runtime says how the handling ended, which it always does.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use opentelemetry::trace::{Span, SpanKind, Status, Tracer};
use opentelemetry::{Context, KeyValue};
use parking_lot::Mutex;
use volary_core::{Begun, Outcome, Sample, TelemetrySink, TraceContext};

use crate::propagation::{context_of, trace_of};

/// How many spans may be open at a time. Further ones are left out of the trace, and counted.
///
/// ```
/// assert!(volary_telemetry::MAX_OPEN >= 1_000);
/// ```
pub const MAX_OPEN: usize = 65_536;

/// Makes a span of each handling that is part of a trace, with a tracer of OpenTelemetry; for
/// [`SystemBuilder::telemetry_sink`](volary_core::SystemBuilder::telemetry_sink).
///
/// Its name is the type of the message. Attributes are `actor.address`, `actor.kind`, `message.type`,
/// `actor.mailbox.wait` in seconds, and `actor.outcome` (`completed`, `faulted` or `cancelled`); a fault is the error of
/// the span. Whether it is recorded is for the sampler of the tracer to say, and what it says goes for all that the
/// handler sends.
///
/// ```
/// # use opentelemetry::trace::TracerProvider;
/// # use opentelemetry_sdk::trace::SdkTracerProvider;
/// use volary_core::{ActorSystem, Telemetry};
/// use volary_telemetry::Spans;
///
/// # let tracers = SdkTracerProvider::default();
/// let builder = ActorSystem::builder("shop")
///     .telemetry(Telemetry::sampled(0.01).begin_traces())
///     .telemetry_sink(Spans::new(tracers.tracer("shop")));
/// # let _ = builder;
/// ```
pub struct Spans<T: Tracer> {
    tracer: T,
    open: Mutex<BTreeMap<NonZeroU64, T::Span>>,
    left_out: AtomicU64,
}

impl<T> Spans<T>
where
    T: Tracer + Send + Sync + 'static,
    T::Span: Send + Sync + 'static,
{
    /// With this tracer.
    ///
    /// ```
    /// # use opentelemetry::trace::TracerProvider;
    /// # use opentelemetry_sdk::trace::SdkTracerProvider;
    /// let spans = volary_telemetry::Spans::new(SdkTracerProvider::default().tracer("shop"));
    /// # let _ = spans;
    /// ```
    #[must_use]
    pub fn new(tracer: T) -> Self {
        Spans {
            tracer,
            open: Mutex::default(),
            left_out: AtomicU64::new(0),
        }
    }

    /// How many handlings are under way that have a span.
    ///
    /// ```
    /// # use opentelemetry::trace::TracerProvider;
    /// # use opentelemetry_sdk::trace::SdkTracerProvider;
    /// let spans = volary_telemetry::Spans::new(SdkTracerProvider::default().tracer("shop"));
    /// assert_eq!(spans.open(), 0);
    /// ```
    #[must_use]
    pub fn open(&self) -> usize {
        self.open.lock().len()
    }

    /// How many handlings got no span because [`MAX_OPEN`] others were open.
    ///
    /// ```
    /// # use opentelemetry::trace::TracerProvider;
    /// # use opentelemetry_sdk::trace::SdkTracerProvider;
    /// let spans = volary_telemetry::Spans::new(SdkTracerProvider::default().tracer("shop"));
    /// assert_eq!(spans.left_out(), 0);
    /// ```
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.left_out.load(Relaxed)
    }
}

impl<T> TelemetrySink for Spans<T>
where
    T: Tracer + Send + Sync + 'static,
    T::Span: Send + Sync + 'static,
{
    fn open_span(&self, begun: &Begun) -> Option<TraceContext> {
        if self.open.lock().len() >= MAX_OPEN {
            self.left_out.fetch_add(1, Relaxed);
            // What it sends hangs below its own sender.
            return begun.parent;
        }
        let attributes = [
            KeyValue::new("actor.kind", begun.actor_type),
            KeyValue::new("message.type", begun.message_type),
        ];
        let builder = self
            .tracer
            .span_builder(short(begun.message_type))
            .with_kind(SpanKind::Consumer)
            .with_start_time(begun.begun)
            .with_attributes(attributes);
        let parent = begun.parent.map_or_else(Context::new, context_of);
        let span = self.tracer.build_with_context(builder, &parent);
        let trace = trace_of(span.span_context())?;
        if trace.is_sampled() {
            self.open.lock().insert(trace.span_id(), span);
        }
        Some(trace)
    }

    fn sample(&self, sample: &Sample<'_>) {
        let Some(trace) = sample.trace else { return };
        let Some(mut span) = self.open.lock().remove(&trace.span_id()) else {
            return;
        };
        span.set_attribute(KeyValue::new("actor.address", sample.actor.as_str().to_owned()));
        span.set_attribute(KeyValue::new("actor.mailbox.wait", sample.waited.as_secs_f64()));
        let outcome = match &sample.outcome {
            Outcome::Completed => "completed",
            Outcome::Faulted(fault) => {
                span.set_status(Status::error(fault.to_string()));
                "faulted"
            }
            _ => "cancelled",
        };
        span.set_attribute(KeyValue::new("actor.outcome", outcome));
        span.end_with_timestamp(sample.begun + sample.took);
    }
}

impl<T: Tracer> fmt::Debug for Spans<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spans")
            .field("left_out", &self.left_out)
            .finish_non_exhaustive()
    }
}

/// `Price` of `shop::till::Price<shop::Loaf>`.
fn short(full: &'static str) -> &'static str {
    let plain = full.split('<').next().unwrap_or(full);
    plain.rsplit("::").next().unwrap_or(plain)
}
