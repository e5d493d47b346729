//! R3, R7: what goes along with messages, and messages that go together.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that meets an error fails, and runs what it needs"
)]

mod common;

use common::*;
use volary::prelude::*;
use volary_core::{Baggage, Sample, Telemetry, TelemetrySink, TraceContext};
use volary_remote::RemoteOptions;

/// Says of which trace it hears.
struct Tracer;

#[actor(kind = "test.Tracer", remote(Trace))]
impl Tracer {
    #[message(remote = "test.Trace", codec = postcard, derive(serde::Serialize, serde::Deserialize))]
    fn trace(&mut self) -> Option<String> {
        Some(Baggage::current().trace()?.to_string())
    }
}

/// Writes down the trace of what was handled, and the span that sent it.
struct Spans(Log);

impl TelemetrySink for Spans {
    fn sample(&self, sample: &Sample<'_>) {
        if let (Some(trace), Some(parent)) = (sample.trace, sample.parent) {
            self.0.push(format!("{:032x} {parent:016x}", trace.trace_id()));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r7_a_trace_arrives_with_its_id_its_parent_and_its_flag() {
    let one = Node::start("one", builder().message::<Trace>()).await;
    let log = Log::default();
    let system = ActorSystem::builder("other")
        .ignore_environment()
        .settings(|s| s.log_config(false))
        .telemetry(Telemetry::sampled(1.0))
        .telemetry_sink(Spans(log.clone()))
        .start()
        .await
        .unwrap();
    let remote = builder().kind::<Tracer>().start(&system, "127.0.0.1:0").await.unwrap();
    let other = Node { system, remote, log };
    other.system.spawn(|| Tracer).named("tracer").await.unwrap();
    let far: ActorRef<Tracer> = one.remote.actor(&other.address("tracer")).unwrap();
    let hear = async |baggage: Baggage| {
        let asked = baggage.around(async { far.ask(Trace).await });
        soon("an answer", asked).await.unwrap()
    };

    // Of one that is sampled the handling is a span of its own, whose parent is what came.
    let (id, span) = ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331");
    let trace: TraceContext = format!("00-{id}-{span}-01").parse().unwrap();
    let baggage = Baggage::new().with_trace(trace);
    baggage.in_scope(|| far.tell(Trace)).unwrap();
    let heard: TraceContext = hear(baggage).await.unwrap().parse().unwrap();
    assert!(heard.is_sampled() && heard.trace_id() == trace.trace_id(), "{heard}");
    assert_ne!(heard.span_id(), trace.span_id());
    eventually("both are seen", || other.log.len() == 2).await;
    assert_eq!(other.log.all(), [format!("{id} {span}"), format!("{id} {span}")]);

    // One that is not sampled goes on as it came, and what is sent outside of any is part of none.
    let text = "00-80000000000000000000000000000001-8000000000000001-00";
    let baggage = Baggage::new().with_trace(text.parse().unwrap());
    assert_eq!(hear(baggage).await.as_deref(), Some(text));
    assert_eq!(hear(Baggage::new()).await, None);
    assert_eq!(other.log.len(), 2);
    stop(one, other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_what_is_told_and_asked_together_keeps_its_order() {
    let (one, other) = pair().await;
    other.desk("desk").await;
    let far = one.far(&other, "desk");
    let notes = |numbers: std::ops::Range<u64>| numbers.map(|number| Note { number });
    far.tell_all(notes(0..1_000)).unwrap();
    let answers = soon("the answers", far.ask_all(notes(1_000..2_000))).await;
    far.tell_all(notes(2_000..3_000)).unwrap();
    // The desk counts what it gets: each answer is that of its own question.
    let counts: Vec<u64> = answers.into_iter().map(Result::unwrap).collect();
    assert_eq!(counts, (1_001..=2_000).collect::<Vec<_>>());
    eventually("all arrive", || other.log.len() == 3_000).await;
    let expected: Vec<String> = (0..3_000).map(|number| number.to_string()).collect();
    assert_eq!(other.log.all(), expected);
    // None are none.
    far.tell_all(notes(0..0)).unwrap();
    assert!(soon("no answers", far.ask_all(notes(0..0))).await.is_empty());
    stop(one, other).await;
}

fn narrow() -> RemoteOptions {
    options().window(16).receiver_share(16)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_what_does_not_fit_the_window_is_given_back_in_order() {
    let one = Node::start("one", builder().options(narrow())).await;
    let other = Node::start("other", builder().options(narrow())).await;
    let stuck = other.desk("stuck").await;
    let far = one.far(&other, "stuck");
    far.tell(Nap { millis: 3_600_000 }).unwrap();
    eventually("it naps", || other.log.len() == 1 && reading(&one).under_way == 0).await;
    let refused = far.tell_all((0..20).map(|number| Note { number })).unwrap_err();
    assert!(
        matches!(&refused.error, TellError::Full(Note { number: 16 })),
        "{:?}",
        refused.error
    );
    let rest: Vec<u64> = refused.into_messages().into_iter().map(|note| note.number).collect();
    assert_eq!(rest, [16, 17, 18, 19]);
    // Of asks each is refused by itself, and none waits for an answer that cannot come.
    let answers = soon("refusals", far.ask_all((20..23).map(|number| Note { number }))).await;
    assert_eq!(answers.len(), 3);
    assert!(
        answers.iter().all(|answer| matches!(answer, Err(AskError::Full))),
        "{answers:?}"
    );
    assert_eq!(reading(&one).sent, 17, "what was given back was not sent");
    stuck.kill();
    stop(one, other).await;
}
