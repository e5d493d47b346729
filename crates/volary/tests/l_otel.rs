//! L29: the figures of a system under GoAkt's names, through OpenTelemetry.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::*};

use common::*;
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, SdkMeterProvider};
use volary::prelude::*;
use volary::telemetry::{MAX_ACTORS, Otel};
use volary::{BOUNDS, Cardinality, Directive, Instrument, InstrumentSource, Point, Supervision, Telemetry};

type Attributes = BTreeMap<String, String>;

/// What the exporter got of one instrument.
#[derive(Debug, Clone, Default)]
struct Seen {
    unit: String,
    form: &'static str,
    points: Vec<(Attributes, f64)>,
    counts: Vec<u64>,
    bounds: Vec<f64>,
}

struct Collector {
    provider: SdkMeterProvider,
    exporter: InMemoryMetricExporter,
}

impl Collector {
    fn new() -> Self {
        let exporter = InMemoryMetricExporter::default();
        let provider = SdkMeterProvider::builder()
            .with_periodic_exporter(exporter.clone())
            .build();
        Collector { provider, exporter }
    }

    fn collect(&self) -> BTreeMap<String, Seen> {
        self.exporter.reset();
        self.provider.force_flush().unwrap();
        let mut all = BTreeMap::new();
        for resource in self.exporter.get_finished_metrics().unwrap() {
            for metric in resource.scope_metrics().flat_map(|scope| scope.metrics()) {
                let mut seen = Seen {
                    unit: metric.unit().to_owned(),
                    ..Seen::default()
                };
                match metric.data() {
                    AggregatedMetrics::U64(MetricData::Gauge(gauge)) => {
                        seen.form = "gauge";
                        let points = gauge.data_points();
                        seen.points = points.map(|p| (named(p.attributes()), p.value() as f64)).collect();
                    }
                    AggregatedMetrics::U64(MetricData::Sum(sum)) => {
                        assert!(sum.is_monotonic());
                        seen.form = "counter";
                        let points = sum.data_points();
                        seen.points = points.map(|p| (named(p.attributes()), p.value() as f64)).collect();
                    }
                    AggregatedMetrics::F64(MetricData::Histogram(histogram)) => {
                        seen.form = "histogram";
                        for point in histogram.data_points() {
                            seen.points.push((named(point.attributes()), point.sum()));
                            seen.counts.push(point.count());
                            seen.bounds = point.bounds().collect();
                        }
                    }
                    other => panic!("{}: {other:?}", metric.name()),
                }
                assert!(!metric.description().is_empty(), "{}", metric.name());
                assert!(
                    all.insert(metric.name().to_owned(), seen).is_none(),
                    "{}",
                    metric.name()
                );
            }
        }
        all
    }
}

fn named<'a>(attributes: impl Iterator<Item = &'a opentelemetry::KeyValue>) -> Attributes {
    attributes
        .map(|kv| (kv.key.to_string(), kv.value.to_string()))
        .collect()
}

/// The value for the whole system.
fn of_system(all: &BTreeMap<String, Seen>, name: &str) -> f64 {
    let [(attributes, value)] = &all[name].points[..] else {
        panic!("{name}: {:?}", all[name]);
    };
    assert_eq!(attributes.len(), 1);
    assert_eq!(attributes["actor.system"], "test");
    *value
}

/// The value for a type of actors.
fn of_kind(all: &BTreeMap<String, Seen>, name: &str, kind: &str) -> f64 {
    let seen = all.get(name).unwrap_or_else(|| panic!("no {name}"));
    let found = seen
        .points
        .iter()
        .find(|(attributes, _)| attributes["actor.kind"].ends_with(kind));
    let (attributes, value) = found.unwrap_or_else(|| panic!("{name} of {kind}: {seen:?}"));
    assert_eq!((attributes.len(), attributes["actor.system"].as_str()), (2, "test"));
    *value
}

#[derive(Message)]
struct Later;

/// Puts everything aside, has children, crashes when told.
struct Parent {
    log: Log,
}

#[actor]
impl Parent {
    async fn adopt(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        let log = self.log.clone();
        ctx.spawn_child(move || Desk::new(&log)).await.or_fault()?;
        Ok(())
    }

    fn trip(&mut self) -> Result<(), Fault> {
        Err(Fault::msg("tripped"))
    }

    #[handles]
    fn later(&mut self, later: Later, ctx: &mut Context<Self>) -> Result<(), Failure> {
        Err(ctx.stash(later).map_err(Fault::from)?.into())
    }
}

async fn measured() -> (ActorSystem, Collector) {
    measured_by(Telemetry::sampled(1.0)).await
}

async fn measured_by(telemetry: Telemetry) -> (ActorSystem, Collector) {
    let collector = Collector::new();
    let otel = Otel::new(&collector.provider);
    let builder = builder("test").telemetry(telemetry);
    let system = builder.telemetry_sink(otel.latencies("test")).start().await.unwrap();
    otel.install(&system).unwrap();
    (system, collector)
}

/// Name, unit and form of all there are.
const ALL: [(&str, &str, &str); 29] = [
    ("actorsystem.actors.count", "", "gauge"),
    ("actorsystem.deadletters.count", "", "counter"),
    ("actorsystem.uptime", "s", "gauge"),
    ("actorsystem.peers.count", "", "gauge"),
    ("actorsystem.refused.count", "", "counter"),
    ("actorsystem.late.replies.count", "", "counter"),
    ("actorsystem.failure.count", "", "counter"),
    ("actorsystem.restart.count", "", "counter"),
    ("actorsystem.slow.handlers.count", "", "counter"),
    ("actorsystem.unheard.rejections.count", "", "counter"),
    ("actorsystem.high.water.count", "", "counter"),
    ("actorsystem.passivated.count", "", "counter"),
    ("actorsystem.woken.count", "", "counter"),
    ("actorsystem.timers.count", "", "gauge"),
    ("actorsystem.lost.events.count", "", "counter"),
    ("actorsystem.lost.routees.count", "", "counter"),
    ("actorsystem.schedules.count", "", "gauge"),
    ("actorsystem.mailbox.memory", "By", "gauge"),
    ("actor.live.count", "", "gauge"),
    ("actor.children.count", "", "gauge"),
    ("actor.stash.size", "", "gauge"),
    ("actor.mailbox.size", "", "gauge"),
    ("actor.processed.count", "", "counter"),
    ("actor.failure.count", "", "counter"),
    ("actor.restart.count", "", "counter"),
    ("actor.reinstate.count", "", "counter"),
    ("actor.deadletters.count", "", "counter"),
    ("actor.mailbox.wait.duration", "s", "histogram"),
    ("actor.handler.duration", "s", "histogram"),
];

#[tokio::test(flavor = "multi_thread")]
async fn l29_low_cardinality_reaches_every_instrument() {
    let (system, collector) = measured_by(Telemetry::sampled(1.0).cardinality(Cardinality::Low)).await;
    let log = Log::new();
    let desk = system.spawn(a_desk(&log)).await.unwrap();
    let parent = system.spawn(move || Parent { log: log.clone() }).await.unwrap();
    desk.ask(Note { number: 1 }).await.unwrap();
    parent.ask(Adopt).await.unwrap();
    let all = collector.collect();
    assert!(all.contains_key("actor.live.count") && all.contains_key("actor.handler.duration"));
    for (name, seen) in &all {
        let kinds: Vec<_> = seen
            .points
            .iter()
            .filter_map(|(labels, _)| labels.get("actor.kind"))
            .collect();
        assert!(kinds.is_empty() || kinds == ["all"], "{name} has {kinds:?}");
    }
    assert_eq!(of_kind(&all, "actor.live.count", "all"), 3.0);
    system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn l29_every_instrument_has_goakts_name_its_unit_and_its_value() {
    let (system, collector) = measured().await;
    let log = Log::new();
    let parent = {
        let log = log.clone();
        let held = Supervision::new().otherwise(Directive::Suspend);
        let spawn = system.spawn(move || Parent { log: log.clone() }).supervision(held);
        spawn.stash(10).await.unwrap()
    };
    parent.ask(Adopt).await.unwrap();
    parent.ask(Adopt).await.unwrap();
    for _ in 0..3 {
        parent.tell(Later).unwrap();
    }
    let _ = parent.ask(Trip).await;
    eventually_async("it is held", || parent.status().suspended).await;
    parent.reinstate();
    eventually_async("it is reinstated", || !parent.status().suspended).await;
    let desk = system.spawn(a_desk(&log)).on_fault(Directive::Restart).await.unwrap();
    let _ = desk.ask(Crash).await;
    desk.ask(Note { number: 1 }).await.unwrap();
    desk.tell(Refuse { code: 1 }).unwrap();
    let (_open, gate) = gate();
    desk.tell(Wait { gate }).unwrap();
    desk.tell(Note { number: 2 }).unwrap();
    desk.tell(Note { number: 3 }).unwrap();
    eventually_async("it waits", || log.has("waiting")).await;
    let gone = system.spawn(a_desk(&log)).await.unwrap();
    gone.stop();
    gone.terminated().await;
    gone.tell(Note { number: 4 }).unwrap_err();
    let schedule = system
        .scheduler()
        .once(PATIENCE)
        .tell(&desk, Note { number: 5 })
        .unwrap();

    let all = collector.collect();
    let found: Vec<_> = all
        .iter()
        .map(|(name, seen)| (name.as_str(), seen.unit.as_str(), seen.form))
        .collect();
    let mut expected = ALL;
    expected.sort_unstable();
    assert_eq!(found, expected);

    assert_eq!(of_system(&all, "actorsystem.actors.count"), 4.0);
    assert_eq!(of_system(&all, "actorsystem.failure.count"), 2.0);
    assert_eq!(of_system(&all, "actorsystem.restart.count"), 1.0);
    assert_eq!(of_system(&all, "actorsystem.refused.count"), 1.0);
    assert_eq!(of_system(&all, "actorsystem.unheard.rejections.count"), 1.0);
    assert_eq!(of_system(&all, "actorsystem.schedules.count"), 1.0);
    assert_eq!(of_system(&all, "actorsystem.peers.count"), 0.0);
    assert!(of_system(&all, "actorsystem.uptime") < 60.0);
    for name in ["deadletters", "late.replies", "high.water", "passivated", "woken"] {
        assert_eq!(of_system(&all, &format!("actorsystem.{name}.count")), 0.0, "{name}");
    }
    let metrics = system.metrics();
    assert_eq!(of_system(&all, "actorsystem.timers.count"), metrics.timers as f64);
    // How many there are is a matter of how busy this machine is.
    assert!(of_system(&all, "actorsystem.slow.handlers.count") <= metrics.slow_handlers as f64);
    assert_eq!(
        of_system(&all, "actorsystem.mailbox.memory"),
        metrics.mailbox_bytes as f64
    );

    for (name, parents, desks) in [
        ("actor.live.count", 1.0, 3.0),
        ("actor.children.count", 2.0, 0.0),
        ("actor.stash.size", 3.0, 0.0),
        ("actor.mailbox.size", 0.0, 2.0),
        ("actor.failure.count", 1.0, 1.0),
        ("actor.restart.count", 0.0, 1.0),
        ("actor.reinstate.count", 1.0, 0.0),
        ("actor.deadletters.count", 0.0, 0.0),
    ] {
        assert_eq!(of_kind(&all, name, "Parent"), parents, "{name}");
        assert_eq!(of_kind(&all, name, "Desk"), desks, "{name}");
    }
    assert_eq!(
        of_kind(&all, "actor.processed.count", "Desk"),
        4.0,
        "crash, note, refuse, wait"
    );
    assert!(of_kind(&all, "actor.processed.count", "Parent") >= 6.0);
    let took = &all["actor.handler.duration"];
    assert_eq!(took.bounds, BOUNDS.map(|bound| bound.as_secs_f64()));
    assert_eq!(
        took.counts.iter().sum::<u64>(),
        9,
        "six of the parent, three of the desk, and one goes on"
    );
    assert_eq!(all["actor.mailbox.wait.duration"].counts.iter().sum::<u64>(), 9);

    // What waits when an actor is killed is lost by it, and counted under its type; what it took stays.
    schedule.cancel();
    desk.kill();
    desk.terminated().await;
    let all = collector.collect();
    assert_eq!(of_kind(&all, "actor.deadletters.count", "Desk"), 2.0);
    assert_eq!(of_system(&all, "actorsystem.deadletters.count"), 2.0);
    assert!(of_kind(&all, "actor.processed.count", "Desk") >= 4.0, "it never falls");
    assert_eq!(of_kind(&all, "actor.live.count", "Desk"), 2.0);
    system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn l29_ten_thousand_actors_are_told_apart_by_their_type_alone() {
    let (system, collector) = measured().await;
    let log = Log::new();
    for _ in 0..10_000 {
        let desk = system.spawn(a_desk(&log)).await.unwrap();
        desk.tell(Note { number: 1 }).unwrap();
    }
    eventually_async("all have noted it", || log.len() >= 20_000).await;
    let all = collector.collect();
    for (name, seen) in &all {
        assert_eq!(seen.points.len(), 1, "{name}");
        assert!(seen.points[0].0.len() <= 2, "{name}: {:?}", seen.points[0].0);
    }
    assert_eq!(of_kind(&all, "actor.live.count", "Desk"), 10_000.0);
    assert_eq!(of_kind(&all, "actor.processed.count", "Desk"), 10_000.0);
    system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn l29_figures_of_single_actors_are_bounded_in_number() {
    let collector = Collector::new();
    let system = builder("test")
        .telemetry(Telemetry::sampled(1.0))
        .start()
        .await
        .unwrap();
    Otel::new(&collector.provider).per_actor(5).install(&system).unwrap();
    let log = Log::new();
    let (_open, closed) = gate();
    for number in 0..100 {
        system.spawn(a_desk(&log)).named(format!("d{number:03}")).await.unwrap();
    }
    let first: ActorRef<Desk> = system.lookup("/user/d000").unwrap();
    first.tell(Wait { gate: closed }).unwrap();
    eventually_async("it waits", || log.has("waiting")).await;
    let last: ActorRef<Desk> = system.lookup("/user/d099").unwrap();
    first.tell(Note { number: 1 }).unwrap();
    last.ask(Note { number: 1 }).await.unwrap();

    let all = collector.collect();
    let mailboxes = &all["actor.mailbox.size"].points;
    assert_eq!(mailboxes.len(), 6, "five, and the rest");
    let own = mailboxes
        .iter()
        .find(|(a, _)| a.get("actor.name").is_some_and(|name| name == "d000"));
    let (attributes, value) = own.unwrap();
    assert_eq!((attributes["actor.address"].as_str(), *value), ("/user/d000", 1.0));
    assert!(attributes["actor.kind"].ends_with("Desk") && attributes["actor.system"] == "test");
    let rest = mailboxes.iter().find(|(a, _)| !a.contains_key("actor.name")).unwrap();
    assert_eq!(rest.1, 0.0);
    assert_eq!(
        all["actor.processed.count"].points.len(),
        5,
        "a sum that actors leave would fall"
    );
    system.stop().await.unwrap();
    let absurd = Otel::new(&collector.provider).per_actor(usize::MAX);
    assert!(
        format!("{absurd:?}").contains(&format!("actors: {MAX_ACTORS}")),
        "{absurd:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn l29_a_system_that_has_stopped_tells_nothing_and_takes_no_instruments() {
    let (system, collector) = measured().await;
    assert!(!collector.collect()["actorsystem.actors.count"].points.is_empty());
    system.stop().await.unwrap();
    assert!(collector.collect().values().all(|seen| seen.points.is_empty()));
    assert!(Otel::new(&collector.provider).install(&system).is_err());
}

/// Has one figure, until it has none any more.
struct Gate {
    name: &'static str,
    passed: AtomicU64,
    looked: AtomicU64,
}

const CLOSED: u64 = u64::MAX;

impl Gate {
    fn new(name: &'static str) -> Arc<Self> {
        let (passed, looked) = (AtomicU64::new(0), AtomicU64::new(0));
        Arc::new(Gate { name, passed, looked })
    }
}

impl InstrumentSource for Gate {
    fn instruments(&self) -> Vec<Instrument> {
        self.looked.fetch_add(1, Relaxed);
        match self.passed.load(Relaxed) {
            CLOSED => Vec::new(),
            passed => {
                let point = Point::new(passed).label("gate.side", "north");
                vec![Instrument::counter(self.name, "Who came through the gate").points([point])]
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn l29_figures_of_others_are_told_with_their_labels_whenever_they_come_and_go() {
    let system = builder("test").start().await.unwrap();
    let (early, late) = (Gate::new("early.passed.count"), Gate::new("late.passed.count"));
    system.add_instruments(early.clone());
    let collector = Collector::new();
    Otel::new(&collector.provider).install(&system).unwrap();
    system.add_instruments(late.clone());
    for passed in 1..=3 {
        early.passed.store(passed, Relaxed);
        late.passed.store(10 * passed, Relaxed);
        let all = collector.collect();
        for (gate, expected) in [(&early, passed), (&late, 10 * passed)] {
            let [(attributes, value)] = &all[gate.name].points[..] else {
                panic!("{:?}", all[gate.name])
            };
            assert_eq!(*value, expected as f64);
            let labels = [("actor.system", "test"), ("gate.side", "north")];
            let labels = labels.map(|(label, value)| (label.to_owned(), value.to_owned()));
            assert_eq!(*attributes, labels.into());
        }
    }
    // One that has no figures any more does not keep those of others from being those of now.
    early.passed.store(CLOSED, Relaxed);
    let looked = late.looked.load(Relaxed);
    for passed in 41..=43 {
        late.passed.store(passed, Relaxed);
        let all = collector.collect();
        assert!(all.get(early.name).is_none_or(|seen| seen.points.is_empty()));
        assert_eq!(all[late.name].points[0].1, passed as f64);
    }
    assert_eq!(late.looked.load(Relaxed) - looked, 3, "once for each collection");
    system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn l29_two_systems_share_a_provider_and_collections_are_fresh_each_time() {
    let (system, collector) = measured().await;
    let other = builder("other").start().await.unwrap();
    Otel::new(&collector.provider).install(&other).unwrap();
    other.spawn(a_desk(&Log::new())).await.unwrap();
    for round in 0..3 {
        let all = collector.collect();
        let counts: BTreeMap<_, _> = all["actorsystem.actors.count"]
            .points
            .iter()
            .map(|(attributes, value)| (attributes["actor.system"].as_str(), *value as u64))
            .collect();
        assert_eq!(counts, BTreeMap::from([("other", 1), ("test", round)]));
        system.spawn(a_desk(&Log::new())).await.unwrap();
    }
    // Without telemetry nothing is counted by type but those alive.
    assert_eq!(all_points(&collector, "actor.live.count", "other"), 1);
    assert_eq!(all_points(&collector, "actor.processed.count", "other"), 0);
    system.stop().await.unwrap();
    other.stop().await.unwrap();
}

fn all_points(collector: &Collector, name: &str, system: &str) -> usize {
    let all = collector.collect();
    let seen = all.get(name).cloned().unwrap_or_default();
    seen.points
        .iter()
        .filter(|(attributes, _)| attributes["actor.system"] == system)
        .count()
}
