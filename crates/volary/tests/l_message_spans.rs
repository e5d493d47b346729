//! L29: a `tracing` span around the handling of each message of a sampled trace, and of no other.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::sync::atomic::{AtomicU64, Ordering::*};
use std::sync::{Arc, Mutex};

use common::*;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use volary::{Baggage, SeededEnv, Telemetry, TraceContext};

/// Notes spans of messages, and what was logged within them.
#[derive(Clone, Default)]
struct Journal(Arc<Notes>);

#[derive(Default)]
struct Notes {
    spans: Mutex<Vec<String>>,
    /// How deep in spans this one thread is.
    entered: AtomicU64,
    most_entered: AtomicU64,
}

struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0.push_str(&format!("{}={value:?} ", field.name()));
    }
}

impl tracing::Subscriber for Journal {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.target() == "volary::message"
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields(String::new());
        span.record(&mut fields);
        self.0.spans.lock().unwrap().push(fields.0);
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &tracing::Event<'_>) {}
    fn enter(&self, _: &Id) {
        let entered = self.0.entered.fetch_add(1, SeqCst) + 1;
        self.0.most_entered.fetch_max(entered, SeqCst);
    }
    fn exit(&self, _: &Id) {
        self.0.entered.fetch_sub(1, SeqCst);
    }
}

fn spans_of(trace: Option<&str>) -> Vec<String> {
    let journal = Journal::default();
    let env = SeededEnv::new(1);
    tracing::subscriber::with_default(journal.clone(), || {
        env.block_on(async {
            let builder = builder("sim")
                .environment(env.clone())
                .telemetry(Telemetry::sampled(0.0));
            let system = builder.start().await.unwrap();
            let desk = system.spawn(a_desk(&Log::new())).named("desk").await.unwrap();
            let asked = async { desk.ask(Note { number: 1 }).await };
            match trace {
                Some(trace) => {
                    let trace: TraceContext = trace.parse().unwrap();
                    Baggage::new().with_trace(trace).around(asked).await.unwrap();
                }
                None => drop(asked.await.unwrap()),
            }
            system.stop().await.unwrap();
        });
    });
    assert_eq!(journal.0.entered.load(SeqCst), 0, "each span is left");
    let spans = journal.0.spans.lock().unwrap().clone();
    assert_eq!(
        journal.0.most_entered.load(SeqCst),
        spans.len() as u64,
        "and was entered"
    );
    spans
}

#[test]
fn l29_a_message_of_a_sampled_trace_is_handled_in_a_span() {
    let spans = spans_of(Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"));
    let [span] = &spans[..] else { panic!("{spans:?}") };
    for part in [
        "actor=/user/desk ",
        "Note",
        "trace_id=0af7651916cd43dd8448eb211c80319c ",
        "span_id=",
    ] {
        assert!(span.contains(part), "no {part} in {span}");
    }
    assert!(!span.contains("b7ad6b7169203331"), "a span of its own: {span}");
}

#[test]
fn l29_a_message_of_no_trace_or_one_that_is_not_sampled_has_no_span() {
    assert!(spans_of(None).is_empty());
    assert!(spans_of(Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00")).is_empty());
}
