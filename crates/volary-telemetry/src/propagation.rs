//! Traces from and to the outside: the headers of a request, and contexts of OpenTelemetry.
//!
//! What travels is the `traceparent` of W3C. Its companion `tracestate`, and the `baggage` header, stay behind.

use std::num::{NonZeroU64, NonZeroU128};

use opentelemetry::Context;
use opentelemetry::propagation::{Extractor, Injector};
use opentelemetry::trace::{SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState};
use volary_core::{Baggage, TraceContext};

const TRACEPARENT: &str = "traceparent";

/// The baggage of a request with these headers: with its trace, if it says one that can be read.
///
/// ```
/// use std::collections::HashMap;
/// use volary_telemetry::propagation::extract;
///
/// let text = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
/// let headers = HashMap::from([("traceparent".to_owned(), text.to_owned())]);
/// let baggage = extract(&headers);
/// assert_eq!(baggage.trace().unwrap().to_string(), text);
/// // baggage.around(async { shop.ask(Sell).await })
/// ```
pub fn extract(headers: &dyn Extractor) -> Baggage {
    let trace = headers.get(TRACEPARENT).and_then(|text| text.trim().parse().ok());
    with_trace(trace)
}

/// Puts the trace of a baggage, if it has one, into the headers of a request.
///
/// ```
/// use std::collections::HashMap;
/// use volary_core::Baggage;
/// use volary_telemetry::propagation::inject;
///
/// let mut headers = HashMap::new();
/// inject(&Baggage::current(), &mut headers); // in a handler: the span of this handling
/// assert!(headers.is_empty());
/// ```
pub fn inject(baggage: &Baggage, headers: &mut dyn Injector) {
    if let Some(trace) = baggage.trace() {
        headers.set(TRACEPARENT, trace.to_string());
    }
}

/// The baggage of whatever is sent under a context of OpenTelemetry, such as `Context::current()` in a server.
///
/// ```
/// use opentelemetry::Context;
/// use volary_telemetry::propagation::from_context;
///
/// assert!(from_context(&Context::new()).is_empty()); // no span there
/// ```
pub fn from_context(context: &Context) -> Baggage {
    with_trace(trace_of(context.span().span_context()))
}

/// A context of OpenTelemetry under the span of a baggage, such as `Baggage::current()` in a handler: spans made under
/// it are children of that handling.
///
/// ```
/// use opentelemetry::trace::TraceContextExt;
/// use volary_core::Baggage;
/// use volary_telemetry::propagation::to_context;
///
/// let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".parse().unwrap();
/// let context = to_context(&Baggage::new().with_trace(trace));
/// assert_eq!(context.span().span_context().span_id().to_string(), "b7ad6b7169203331");
/// ```
#[must_use]
pub fn to_context(baggage: &Baggage) -> Context {
    baggage.trace().map_or_else(Context::new, context_of)
}

fn with_trace(trace: Option<TraceContext>) -> Baggage {
    trace.map_or_else(Baggage::new, |trace| Baggage::new().with_trace(trace))
}

pub(crate) fn context_of(trace: TraceContext) -> Context {
    let flags = match trace.is_sampled() {
        true => TraceFlags::SAMPLED,
        false => TraceFlags::NOT_SAMPLED,
    };
    Context::new().with_remote_span_context(SpanContext::new(
        TraceId::from(trace.trace_id().get()),
        SpanId::from(trace.span_id().get()),
        flags,
        true,
        TraceState::NONE,
    ))
}

/// `None` for a context without ids.
pub(crate) fn trace_of(span: &SpanContext) -> Option<TraceContext> {
    let trace = NonZeroU128::new(u128::from_be_bytes(span.trace_id().to_bytes()))?;
    let id = NonZeroU64::new(u64::from_be_bytes(span.span_id().to_bytes()))?;
    let made = TraceContext::new(trace, id);
    Some(if span.is_sampled() { made.sampled() } else { made })
}
