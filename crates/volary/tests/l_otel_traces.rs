//! L29: the handling of messages as spans of OpenTelemetry.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use common::*;
use opentelemetry::Context as OtelContext;
use opentelemetry::trace::{SpanContext, SpanId, Status, TraceContextExt, TraceId, Tracer, TracerProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, Sampler, SdkTracer, SdkTracerProvider, SpanData};
use volary::prelude::*;
use volary::telemetry::{Spans, propagation};
use volary::{Baggage, PipeError, Telemetry, TraceContext};

const MS: Duration = Duration::from_millis(1);
const ROOT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

struct Tracing {
    provider: SdkTracerProvider,
    exporter: InMemorySpanExporter,
}

impl Tracing {
    fn new(sampler: Sampler) -> Self {
        let exporter = InMemorySpanExporter::default();
        let provider = SdkTracerProvider::builder()
            .with_sampler(sampler)
            .with_simple_exporter(exporter.clone())
            .build();
        Tracing { provider, exporter }
    }

    fn tracer(&self) -> SdkTracer {
        self.provider.tracer("test")
    }

    fn all(&self) -> Vec<SpanData> {
        self.exporter.get_finished_spans().unwrap()
    }

    fn of(&self, name: &str) -> SpanData {
        let all = self.all();
        let found = all.iter().find(|span| span.name == name);
        found.unwrap_or_else(|| panic!("no {name} in {all:?}")).clone()
    }
}

async fn traced(env: &StoryEnv, telemetry: Telemetry, tracing: &Tracing) -> ActorSystem {
    let builder = builder("sim").environment(env.clone()).telemetry(telemetry);
    builder
        .telemetry_sink(Spans::new(tracing.tracer()))
        .start()
        .await
        .unwrap()
}

fn attribute(span: &SpanData, key: &str) -> String {
    let found = span.attributes.iter().find(|kv| kv.key.as_str() == key);
    found
        .unwrap_or_else(|| panic!("no {key} in {span:?}"))
        .value
        .to_string()
}

#[derive(Message)]
struct Rung;

#[derive(Message)]
struct Fetched(Result<u64, PipeError<String>>);

/// Asks the second, which sets a timer, which starts a pipe, which tells the third.
struct First {
    second: ActorRef<Second>,
}

#[actor]
impl First {
    async fn begin(&mut self) -> Result<(), Fault> {
        self.second.ask(Prepare).await.or_fault()
    }
}

struct Second {
    third: ActorRef<Desk>,
}

#[actor]
impl Second {
    fn prepare(&mut self, ctx: &mut Context<Self>) {
        ctx.set_timer("bell", 20 * MS, Rung);
    }

    #[handles]
    fn rung(&mut self, _: Rung, ctx: &mut Context<Self>) {
        ctx.pipe(async { Ok::<_, String>(7) }).to_self(Fetched);
    }

    #[handles]
    fn fetched(&mut self, fetched: Fetched) -> Result<(), Fault> {
        let number = fetched.0.map_err(|error| Fault::msg(error.to_string()))?;
        self.third.tell(Note { number }).or_fault()
    }
}

#[test]
fn l29_three_actors_a_timer_and_a_pipe_are_one_trace_with_the_right_parents() {
    seeds(|env| async move {
        let tracing = Tracing::new(Sampler::ParentBased(Box::new(Sampler::AlwaysOn)));
        let system = traced(&env, Telemetry::sampled(0.0), &tracing).await;
        let log = Log::new();
        let third = system.spawn(a_desk(&log)).named("third").await.unwrap();
        let second = system.spawn(move || Second { third: third.clone() }).await.unwrap();
        let first = system.spawn(move || First { second: second.clone() }).await.unwrap();
        let root: TraceContext = ROOT.parse().unwrap();
        let baggage = Baggage::new().with_trace(root);
        baggage.around(async { first.ask(Begin).await }).await.unwrap();
        system.sleep(1_000 * MS).await; // the timer rings, the pipe ends
        assert!(log.has("7"));

        let mut parent = SpanId::from(root.span_id().get());
        for name in ["Begin", "Prepare", "Rung", "Fetched", "Note"] {
            let span = tracing.of(name);
            assert_eq!(
                span.span_context.trace_id(),
                TraceId::from(root.trace_id().get()),
                "{name}"
            );
            assert_eq!(span.parent_span_id, parent, "{name}");
            assert!(span.end_time >= span.start_time, "{name}");
            assert_eq!(attribute(&span, "actor.outcome"), "completed");
            parent = span.span_context.span_id();
        }
        assert_eq!(tracing.all().len(), 5, "and nothing else");
        let note = tracing.of("Note");
        assert_eq!(attribute(&note, "actor.address"), "/user/third");
        assert!(attribute(&note, "actor.kind").ends_with("Desk"));
        assert!(attribute(&note, "message.type").ends_with("::Note"));
        let (begin, prepare) = (tracing.of("Begin"), tracing.of("Prepare"));
        assert!(begin.start_time <= prepare.start_time && prepare.end_time <= begin.end_time);
        assert!(
            tracing
                .of("Rung")
                .start_time
                .duration_since(prepare.start_time)
                .unwrap()
                >= 20 * MS
        );
        system.stop().await.unwrap();
    });
}

#[test]
fn l29_a_trace_that_begins_with_a_message_has_no_parent_and_the_ids_of_the_tracer() {
    seeds(|env| async move {
        let tracing = Tracing::new(Sampler::AlwaysOn);
        let system = traced(&env, Telemetry::sampled(1.0).begin_traces(), &tracing).await;
        let desk = system.spawn(a_desk(&Log::new())).await.unwrap();
        desk.ask(Nap { time: 50 * MS }).await.unwrap();
        desk.ask(Who).await.unwrap();
        let (nap, who) = (tracing.of("Nap"), tracing.of("Who"));
        assert_eq!(
            (nap.parent_span_id, who.parent_span_id),
            (SpanId::INVALID, SpanId::INVALID)
        );
        assert_ne!(nap.span_context.trace_id(), who.span_context.trace_id());
        assert!(nap.end_time.duration_since(nap.start_time).unwrap() >= 50 * MS);
        system.stop().await.unwrap();
    });
}

#[test]
fn l29_faults_and_kills_end_their_spans() {
    seeds(|env| async move {
        let tracing = Tracing::new(Sampler::AlwaysOn);
        let system = traced(&env, Telemetry::sampled(1.0).begin_traces(), &tracing).await;
        let log = Log::new();
        let desk = system.spawn(a_desk(&log)).on_fault(Directive::Resume).await.unwrap();
        let _ = desk.ask(Fail { code: 7 }).await;
        let _ = desk.ask(Crash).await;
        let (_open, closed) = gate();
        desk.tell(Wait { gate: closed }).unwrap();
        while !log.has("waiting") {
            system.sleep(MS).await;
        }
        desk.kill();
        desk.terminated().await;
        let fail = tracing.of("Fail");
        assert_eq!(attribute(&fail, "actor.outcome"), "faulted");
        assert!(matches!(&fail.status, Status::Error { description } if description.contains("broken 7")));
        assert!(matches!(tracing.of("Crash").status, Status::Error { .. }));
        let wait = tracing.of("Wait");
        assert_eq!(
            (attribute(&wait, "actor.outcome").as_str(), wait.status),
            ("cancelled", Status::Unset)
        );
        system.stop().await.unwrap();
    });
}

#[test]
fn l29_what_the_sampler_drops_is_not_recorded_nor_is_what_follows_from_it() {
    seeds(|env| async move {
        let tracing = Tracing::new(Sampler::AlwaysOff);
        let spans = Spans::new(tracing.tracer());
        let builder = builder("sim")
            .environment(env.clone())
            .telemetry(Telemetry::sampled(1.0).begin_traces());
        let system = builder.telemetry_sink(spans).start().await.unwrap();
        let third = system.spawn(a_desk(&Log::new())).await.unwrap();
        let relay = system.spawn(move || Relay { next: third.clone() }).await.unwrap();
        let (outer, inner) = relay.ask(Pass).await.unwrap();
        assert!(tracing.all().is_empty());
        let (outer, inner) = (outer.unwrap(), inner.unwrap());
        assert!(!outer.is_sampled() && !inner.is_sampled());
        assert_eq!(outer.trace_id(), inner.trace_id(), "the trace goes on, unrecorded");
        system.stop().await.unwrap();
    });
}

struct Relay {
    next: ActorRef<Desk>,
}

#[actor]
impl Relay {
    async fn pass(&mut self) -> Result<(Option<TraceContext>, Option<TraceContext>), Fault> {
        let here = Baggage::current().trace();
        self.next.ask(Note { number: 1 }).await.or_fault()?;
        Ok((here, Baggage::current().trace()))
    }
}

/// A tracer that breaks.
#[derive(Clone)]
struct Breaking(SdkTracer, Arc<AtomicBool>);

impl Tracer for Breaking {
    type Span = <SdkTracer as Tracer>::Span;

    fn build_with_context(&self, builder: opentelemetry::trace::SpanBuilder, parent: &OtelContext) -> Self::Span {
        assert!(!self.1.load(Ordering::SeqCst), "a broken tracer");
        self.0.build_with_context(builder, parent)
    }
}

#[test]
fn l29_a_tracer_that_panics_harms_nobody() {
    seeds(|env| async move {
        let tracing = Tracing::new(Sampler::AlwaysOn);
        let broken = Arc::new(AtomicBool::new(true));
        let spans = Spans::new(Breaking(tracing.tracer(), broken.clone()));
        let builder = builder("sim")
            .environment(env.clone())
            .telemetry(Telemetry::sampled(1.0).begin_traces());
        let system = builder.telemetry_sink(spans).start().await.unwrap();
        let desk = system.spawn(a_desk(&Log::new())).await.unwrap();
        assert_eq!(desk.ask(Note { number: 1 }).await.unwrap(), 1);
        assert_eq!((system.metrics().faults, tracing.all().len()), (1, 0));
        broken.store(false, Ordering::SeqCst);
        assert_eq!(desk.ask(Note { number: 2 }).await.unwrap(), 2);
        assert_eq!((system.metrics().faults, tracing.all().len()), (1, 1));
        system.stop().await.unwrap();
    });
}

#[test]
fn l29_traces_come_from_headers_and_contexts_and_go_back_to_them() {
    let headers = HashMap::from([("traceparent".to_owned(), ROOT.to_owned())]);
    let baggage = propagation::extract(&headers);
    assert_eq!(baggage.trace(), Some(ROOT.parse().unwrap()));
    let mut out = HashMap::new();
    propagation::inject(&baggage, &mut out);
    assert_eq!(out, headers);
    let context = propagation::to_context(&baggage);
    assert!(context.span().span_context().is_remote() && context.span().span_context().is_sampled());
    assert_eq!(propagation::from_context(&context), baggage);

    for broken in ["", "00-0-0-0", &ROOT.replace("0af7", "XXXX")] {
        let headers = HashMap::from([("traceparent".to_owned(), broken.to_owned())]);
        assert!(propagation::extract(&headers).is_empty(), "{broken}");
    }
    assert!(propagation::extract(&HashMap::new()).is_empty());
    let mut out = HashMap::new();
    propagation::inject(&Baggage::new(), &mut out);
    assert!(out.is_empty());
    let empty = OtelContext::new().with_remote_span_context(SpanContext::empty_context());
    assert!(propagation::from_context(&empty).is_empty());
    assert_eq!(
        propagation::to_context(&Baggage::new()).span().span_context(),
        &SpanContext::empty_context()
    );
}
