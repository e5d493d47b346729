//! L29: messages are measured, and traces go through them.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::num::NonZeroU64;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary::{Baggage, Cardinality, Outcome, Sample, SystemStartError, Telemetry, TelemetrySink, TraceContext};

const MS: Duration = Duration::from_millis(1);

#[derive(Clone, Debug)]
struct Seen {
    message: String,
    label: &'static str,
    waited: Duration,
    took: Duration,
    faulted: bool,
    trace: Option<TraceContext>,
    parent: Option<NonZeroU64>,
}

#[derive(Clone, Default)]
struct Samples(Arc<Mutex<Vec<Seen>>>);

impl Samples {
    fn all(&self) -> Vec<Seen> {
        self.0.lock().unwrap().clone()
    }
    fn of(&self, message: &str) -> Seen {
        let all = self.all();
        let found = all.iter().find(|seen| seen.message == message);
        found.unwrap_or_else(|| panic!("no {message} in {all:?}")).clone()
    }
}

impl TelemetrySink for Samples {
    fn sample(&self, sample: &Sample<'_>) {
        self.0.lock().unwrap().push(Seen {
            label: sample.label,
            message: sample.message_type.rsplit("::").next().unwrap().to_owned(),
            waited: sample.waited,
            took: sample.took,
            faulted: matches!(sample.outcome, Outcome::Faulted(_)),
            trace: sample.trace,
            parent: sample.parent,
        });
    }
}

struct Relay {
    next: ActorRef<Desk>,
}

#[actor]
impl Relay {
    async fn hand(&mut self, number: u64) -> Result<u64, Fault> {
        self.next.ask(Note { number }).await.or_fault()
    }
}

async fn measured(env: &StoryEnv, telemetry: Telemetry) -> (ActorSystem, Samples) {
    let samples = Samples::default();
    let builder = builder("sim").environment(env.clone()).telemetry(telemetry);
    (builder.telemetry_sink(samples.clone()).start().await.unwrap(), samples)
}

#[test]
fn l29_a_message_is_measured_from_its_sending_to_its_end() {
    seeds(|env| async move {
        let (system, samples) = measured(&env, Telemetry::sampled(1.0)).await;
        let actor = system.spawn(a_desk(&Log::new())).await.unwrap();
        actor.tell(Nap { time: 50 * MS }).unwrap();
        actor.tell(Note { number: 1 }).unwrap();
        actor.ask(Note { number: 2 }).await.unwrap();
        let _ = actor.ask(Crash).await;
        let nap = samples.of("Nap");
        assert!(nap.took >= 50 * MS && nap.waited < 50 * MS, "{nap:?}");
        let note = samples.of("Note");
        assert!(note.waited >= 50 * MS && note.took < 50 * MS, "{note:?}");
        assert!(samples.of("Crash").faulted);
        assert_eq!(samples.all().len(), 4);

        let readings = system.readings();
        assert_eq!(readings.share, 1.0);
        let [desk] = &readings.kinds[..] else {
            panic!("{readings:?}")
        };
        assert!(desk.kind.ends_with("Desk"));
        assert_eq!((desk.took.count(), desk.waited.count()), (4, 4));
        assert!(desk.took.sum >= 50 * MS && desk.took.sum < 100 * MS);
        system.stop().await.unwrap();
    });
}

#[test]
fn l29_one_message_in_so_many_is_measured_and_without_telemetry_none() {
    seeds(|env| async move {
        let (system, samples) = measured(&env, Telemetry::sampled(0.1)).await;
        let actor = system.spawn(a_desk(&Log::new())).await.unwrap();
        for number in 0..99 {
            actor.tell(Note { number }).unwrap();
        }
        actor.ask(Note { number: 99 }).await.unwrap();
        let count = samples.all().len();
        assert!((9..=11).contains(&count), "{count}");
        system.stop().await.unwrap();

        let system = simulated(&env).await;
        let actor = system.spawn(a_desk(&Log::new())).await.unwrap();
        actor.ask(Note { number: 1 }).await.unwrap();
        assert_eq!(system.readings(), volary::Readings::default());
        system.stop().await.unwrap();
    });
}

#[test]
fn l29_a_mailbox_that_has_grown_is_measured_on() {
    seeds(|env| async move {
        let builder = builder("sim").environment(env.clone());
        let system = builder.telemetry(Telemetry::sampled(1.0)).start().await.unwrap();
        let actor = system.spawn(a_desk(&Log::new())).await.unwrap();
        // More than several blocks hold, twice, with a return to the room inside the cell in between.
        for round in 1..=2 {
            let (open, gate) = gate();
            actor.tell(Wait { gate }).unwrap();
            for number in 0..300 {
                actor.tell(Note { number }).unwrap();
            }
            open.send(()).unwrap();
            actor.ask(Note { number: 300 }).await.unwrap();
            let readings = system.readings();
            let [desk] = &readings.kinds[..] else {
                panic!("{readings:?}")
            };
            // The answer is there before the last one is counted.
            let count = desk.took.count();
            assert!(
                (302 * round - 1..=302 * round).contains(&count),
                "{count} in round {round}"
            );
        }
        system.stop().await.unwrap();
    });
}

#[test]
fn l29_a_bounded_mailbox_is_measured_and_stays_bounded() {
    seeds(|env| async move {
        let (system, samples) = measured(&env, Telemetry::sampled(1.0)).await;
        let spawn = system.spawn(a_desk(&Log::new())).mailbox(MailboxKind::Bounded(8));
        let actor = spawn.await.unwrap();
        let (open, gate) = gate();
        actor.tell(Wait { gate }).unwrap();
        let taken = (0..20)
            .filter(|number| actor.tell(Note { number: *number }).is_ok())
            .count();
        assert!((7..=8).contains(&taken), "{taken}");
        open.send(()).unwrap();
        actor.send(Note { number: 20 }).await.unwrap();
        actor.drain();
        actor.terminated().await;
        let notes = samples.all().iter().filter(|seen| seen.message == "Note").count();
        assert_eq!(notes, taken + 1);
        system.stop().await.unwrap();
    });
}

#[test]
fn l29_low_cardinality_counts_all_actors_together() {
    seeds(|env| async move {
        let (system, samples) = measured(&env, Telemetry::sampled(1.0).cardinality(Cardinality::Low)).await;
        let next = system.spawn(a_desk(&Log::new())).await.unwrap();
        let relay = system.spawn(move || Relay { next: next.clone() }).await.unwrap();
        relay.ask(Hand { number: 1 }).await.unwrap();
        let readings = system.readings();
        assert_eq!(readings.kinds.len(), 1);
        assert_eq!((readings.kinds[0].kind, readings.kinds[0].took.count()), ("all", 2));
        for instrument in system.instruments() {
            let kinds: Vec<_> = instrument.points.iter().filter_map(|point| point.actor_kind).collect();
            assert!(
                kinds.is_empty() || kinds == ["all"],
                "{} has {kinds:?}",
                instrument.name
            );
        }
        assert!(samples.all().iter().all(|sample| sample.label == "all"));
        system.stop().await.unwrap();
    });
}

#[test]
fn l29_a_trace_goes_through_actors_and_each_handling_is_a_span_of_it() {
    seeds(|env| async move {
        let (system, samples) = measured(&env, Telemetry::sampled(0.0)).await;
        let next = system.spawn(a_desk(&Log::new())).await.unwrap();
        let relay = system.spawn(move || Relay { next: next.clone() }).await.unwrap();
        let root: TraceContext = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
            .parse()
            .unwrap();
        Baggage::new()
            .with_trace(root)
            .around(async { relay.ask(Hand { number: 1 }).await })
            .await
            .unwrap();
        let (first, second) = (samples.of("Hand"), samples.of("Note"));
        let (first_trace, second_trace) = (first.trace.unwrap(), second.trace.unwrap());
        assert_eq!(first_trace.trace_id(), root.trace_id());
        assert_eq!(second_trace.trace_id(), root.trace_id());
        assert_eq!(first.parent, Some(root.span_id()));
        assert_eq!(second.parent, Some(first_trace.span_id()));
        assert_ne!(first_trace.span_id(), second_trace.span_id());
        assert_eq!(samples.all().len(), 2, "nothing else is measured");
        system.stop().await.unwrap();
    });
}

#[test]
fn l29_a_measured_message_begins_a_trace_if_told_to() {
    seeds(|env| async move {
        let (system, samples) = measured(&env, Telemetry::sampled(1.0).begin_traces()).await;
        let actor = system.spawn(a_desk(&Log::new())).await.unwrap();
        actor.ask(Note { number: 1 }).await.unwrap();
        actor.ask(Who).await.unwrap();
        let (one, other) = (samples.of("Note"), samples.of("Who"));
        assert_eq!((one.parent, other.parent), (None, None));
        assert_ne!(one.trace.unwrap().trace_id(), other.trace.unwrap().trace_id());
        system.stop().await.unwrap();
    });
}

#[test]
fn l29_a_sink_that_panics_harms_nobody() {
    struct Broken;
    impl TelemetrySink for Broken {
        fn sample(&self, _: &Sample<'_>) {
            panic!("a broken sink")
        }
    }
    seeds(|env| async move {
        let builder = builder("sim")
            .environment(env.clone())
            .telemetry(Telemetry::sampled(1.0));
        let system = builder.telemetry_sink(Broken).start().await.unwrap();
        let actor = system.spawn(a_desk(&Log::new())).await.unwrap();
        assert_eq!(actor.ask(Note { number: 1 }).await.unwrap(), 1);
        assert_eq!(actor.ask(Note { number: 1 }).await.unwrap(), 2);
        assert_eq!(system.metrics().faults, 2);
        system.stop().await.unwrap();
    });
}

#[tokio::test]
async fn l29_a_share_that_is_none_is_refused_at_the_start() {
    for share in [-0.1, 1.1, f64::NAN] {
        let error = builder("wrong")
            .telemetry(Telemetry::sampled(share))
            .start()
            .await
            .unwrap_err();
        assert!(matches!(error, SystemStartError::Telemetry { .. }), "{error}");
    }
}
