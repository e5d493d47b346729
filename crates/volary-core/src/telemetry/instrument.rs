//! All figures of a system under the names that the outside world knows them by, for whoever exports them.
//!
//! Names and units are those of GoAkt wherever it has the same figure, so that its dashboards go on working; what can
//! fall is a gauge here, while GoAkt calls everything a counter.

use std::collections::BTreeMap;

use super::census::KindCensus;
use super::meter::KindReading;
use crate::system::ActorSystem;

/// Whether a figure can fall.
///
/// ```
/// # use volary_core::InstrumentKind;
/// assert_ne!(InstrumentKind::Counter, InstrumentKind::Gauge);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum InstrumentKind {
    /// It only grows, from the start of the system on.
    Counter,
    /// It is what it is at this moment.
    Gauge,
}

/// One value of an instrument.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let instruments = system.instruments();
/// let of_one_kind = |point: &&Point| point.actor_kind.is_some_and(|kind| kind.ends_with("Account"));
/// let mut accounts = instruments.iter().flat_map(|instrument| instrument.points.iter().find(of_one_kind));
/// assert!(accounts.any(|point| point.value == 1)); // such as how many there are
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Point {
    /// The type of the actors that it is about; `None` for the whole system.
    pub actor_kind: Option<&'static str>,
    /// What else it is told apart by, such as `remote.peer` and the address of a node; the names have dots.
    pub labels: Vec<(&'static str, String)>,
    /// The value.
    pub value: u64,
}

impl Point {
    /// A value of the whole system.
    ///
    /// ```
    /// # use volary_core::Point;
    /// assert_eq!(Point::new(3).value, 3);
    /// ```
    #[must_use]
    pub fn new(value: u64) -> Self {
        Point {
            actor_kind: None,
            labels: Vec::new(),
            value,
        }
    }

    /// The same for one of many, told apart by this. There must not be more of them than a metrics store can keep.
    ///
    /// ```
    /// # use volary_core::Point;
    /// let point = Point::new(3).label("remote.peer", "10.0.0.7:4242");
    /// assert_eq!(point.labels, [("remote.peer", "10.0.0.7:4242".to_owned())]);
    /// ```
    #[must_use]
    pub fn label(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.labels.push((name, value.into()));
        self
    }

    pub(super) fn of_kind(kind: &'static str, value: u64) -> Self {
        Point {
            actor_kind: Some(kind),
            ..Point::new(value)
        }
    }
}

/// A figure with its name; see [`ActorSystem::instruments`].
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let instruments: Vec<Instrument> = system.instruments();
/// for instrument in &instruments {
///     println!("{} [{}]: {:?}", instrument.name, instrument.unit, instrument.points);
/// }
/// # assert!(instruments.iter().all(|instrument| instrument.name.contains('.') && !instrument.help.is_empty()));
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Instrument {
    /// Its name, with dots.
    pub name: &'static str,
    /// What it is measured in, as UCUM writes it; empty for plain numbers.
    pub unit: &'static str,
    /// What it says.
    pub help: &'static str,
    /// Whether it can fall.
    pub kind: InstrumentKind,
    /// Its values now.
    pub points: Vec<Point>,
}

impl Instrument {
    /// One that only grows, without unit.
    ///
    /// ```
    /// # use volary_core::{Instrument, Point};
    /// let read = Instrument::counter("gate.read", "Bytes read").unit("By").points([Point::new(512)]);
    /// assert_eq!((read.unit, read.points[0].value), ("By", 512));
    /// ```
    #[must_use]
    pub fn counter(name: &'static str, help: &'static str) -> Self {
        Instrument::of(InstrumentKind::Counter, name, help)
    }

    /// One that is what it is at this moment, without unit.
    ///
    /// ```
    /// # use volary_core::{Instrument, Point};
    /// let open = Instrument::gauge("gate.open", "Gates that are open").points([Point::new(2)]);
    /// assert_eq!(open.points[0].value, 2);
    /// ```
    #[must_use]
    pub fn gauge(name: &'static str, help: &'static str) -> Self {
        Instrument::of(InstrumentKind::Gauge, name, help)
    }

    /// What it is measured in, as UCUM writes it.
    ///
    /// ```
    /// # use volary_core::Instrument;
    /// assert_eq!(Instrument::gauge("gate.age", "How old it is").unit("s").unit, "s");
    /// ```
    #[must_use]
    pub fn unit(mut self, unit: &'static str) -> Self {
        self.unit = unit;
        self
    }

    /// With these values.
    ///
    /// ```
    /// # use volary_core::{Instrument, Point};
    /// let none = Instrument::gauge("gate.open", "Gates that are open").points([]);
    /// assert!(none.points.is_empty());
    /// ```
    #[must_use]
    pub fn points(mut self, points: impl IntoIterator<Item = Point>) -> Self {
        self.points = points.into_iter().collect();
        self
    }

    fn of(kind: InstrumentKind, name: &'static str, help: &'static str) -> Self {
        Instrument {
            name,
            unit: "",
            help,
            kind,
            points: Vec::new(),
        }
    }
}

use InstrumentKind::{Counter, Gauge};

impl ActorSystem {
    /// All figures of this system now, always the same ones in the same order: first those of the system, then those
    /// of its actors by their type, and behind them those that [others have](crate::InstrumentSource). What is counted by type
    /// besides the actors alive (what they took, faults, restarts, reinstatements, dead letters) has values only with
    /// [`telemetry`](crate::SystemBuilder::telemetry).
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let system = volary_core::ActorSystem::builder("shop").start().await?;
    /// let all = system.instruments();
    /// let actors = all.iter().find(|one| one.name == "actorsystem.actors.count").unwrap();
    /// assert_eq!(actors.points[0].value, 0);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[must_use]
    pub fn instruments(&self) -> Vec<Instrument> {
        let census = self.labelled(self.census());
        let mut all = self.of_the_system();
        all.extend(of_those_alive(&census));
        all.extend(self.by_kind(&census));
        all.extend(self.core.sources().read());
        all
    }

    /// The census under the labels that everything else is counted under.
    fn labelled(&self, census: Vec<KindCensus>) -> Vec<KindCensus> {
        let Some(meter) = self.core.meter() else {
            return census;
        };
        let mut labels: BTreeMap<&'static str, KindCensus> = BTreeMap::new();
        for one in census {
            let kind = meter.label(one.kind);
            let sum = labels.entry(kind).or_default();
            *sum = KindCensus {
                kind,
                actors: sum.actors + one.actors,
                waiting: sum.waiting + one.waiting,
                stashed: sum.stashed + one.stashed,
                children: sum.children + one.children,
                taken: sum.taken + one.taken,
            };
        }
        labels.into_values().collect()
    }

    fn of_the_system(&self) -> Vec<Instrument> {
        let metrics = self.metrics();
        let rows = [
            (
                "actorsystem.actors.count",
                "",
                "Actors alive",
                Gauge,
                metrics.actors as u64,
            ),
            (
                "actorsystem.deadletters.count",
                "",
                "Messages that could not be delivered",
                Counter,
                metrics.dead_letters,
            ),
            (
                "actorsystem.uptime",
                "s",
                "Seconds since the start of the system",
                Gauge,
                self.uptime().as_secs(),
            ),
            ("actorsystem.peers.count", "", "Other nodes of the cluster", Gauge, 0),
            (
                "actorsystem.refused.count",
                "",
                "Messages that went back to their sender",
                Counter,
                metrics.refused,
            ),
            (
                "actorsystem.late.replies.count",
                "",
                "Answers that nobody waited for any more",
                Counter,
                metrics.late_replies,
            ),
            (
                "actorsystem.failure.count",
                "",
                "Crashes of actors",
                Counter,
                metrics.faults,
            ),
            (
                "actorsystem.restart.count",
                "",
                "Restarts of actors",
                Counter,
                metrics.restarts,
            ),
            (
                "actorsystem.slow.handlers.count",
                "",
                "Handlers that kept a worker for too long",
                Counter,
                metrics.slow_handlers,
            ),
            (
                "actorsystem.unheard.rejections.count",
                "",
                "Rejections of messages that were told",
                Counter,
                metrics.unheard_rejections,
            ),
            (
                "actorsystem.high.water.count",
                "",
                "Mailboxes that grew beyond the high-water mark",
                Counter,
                metrics.high_water,
            ),
            (
                "actorsystem.passivated.count",
                "",
                "Actors that were passivated",
                Counter,
                metrics.passivated,
            ),
            (
                "actorsystem.woken.count",
                "",
                "Passivated actors that were started for a message",
                Counter,
                metrics.woken,
            ),
            (
                "actorsystem.timers.count",
                "",
                "Timers that are pending",
                Gauge,
                metrics.timers as u64,
            ),
            (
                "actorsystem.lost.events.count",
                "",
                "Events and topics that subscribers were too slow for",
                Counter,
                metrics.lost_events,
            ),
            (
                "actorsystem.lost.routees.count",
                "",
                "Routees that ended and were replaced or dropped",
                Counter,
                metrics.routees_lost,
            ),
            (
                "actorsystem.schedules.count",
                "",
                "Schedules that have not ended",
                Gauge,
                metrics.schedules as u64,
            ),
            (
                "actorsystem.mailbox.memory",
                "By",
                "Bytes that mailboxes hold in blocks",
                Gauge,
                metrics.mailbox_bytes,
            ),
        ];
        let made = rows.map(|(name, unit, help, kind, value)| Instrument {
            name,
            unit,
            help,
            kind,
            points: vec![Point::new(value)],
        });
        made.into()
    }

    /// What only a meter counts, so that it never falls when actors end.
    fn by_kind(&self, census: &[KindCensus]) -> Vec<Instrument> {
        let readings = self.readings().kinds;
        let mut taken: BTreeMap<&'static str, u64> = BTreeMap::new();
        if self.core.meter().is_some() {
            for reading in &readings {
                *taken.entry(reading.kind).or_default() += reading.taken_by_ended;
            }
            for kind in census {
                *taken.entry(kind.kind).or_default() += kind.taken;
            }
        }
        let counted = |name, help, value: fn(&KindReading) -> u64| {
            let point = |reading: &KindReading| Point::of_kind(reading.kind, value(reading));
            Instrument {
                name,
                unit: "",
                help,
                kind: Counter,
                points: readings.iter().map(point).collect(),
            }
        };
        let point = |(kind, value): (&'static str, u64)| Point::of_kind(kind, value);
        vec![
            Instrument {
                name: "actor.processed.count",
                unit: "",
                help: "What mailboxes have given out, messages and notices",
                kind: Counter,
                points: taken.into_iter().map(point).collect(),
            },
            counted("actor.failure.count", "Crashes", |reading| reading.faults),
            counted("actor.restart.count", "Restarts", |reading| reading.restarts),
            counted(
                "actor.reinstate.count",
                "Suspended actors that were let go on",
                |reading| reading.reinstated,
            ),
            counted(
                "actor.deadletters.count",
                "Messages that could not be delivered",
                |reading| reading.dead_letters,
            ),
        ]
    }
}

fn of_those_alive(census: &[KindCensus]) -> Vec<Instrument> {
    type Read = fn(&KindCensus) -> u64;
    let rows: [(_, _, Read); 4] = [
        ("actor.live.count", "Actors alive", |kind| kind.actors),
        ("actor.children.count", "Children of actors", |kind| kind.children),
        ("actor.stash.size", "Messages put aside", |kind| kind.stashed),
        ("actor.mailbox.size", "Messages waiting in mailboxes", |kind| {
            kind.waiting
        }),
    ];
    let made = rows.map(|(name, help, value)| {
        let point = |kind: &KindCensus| Point::of_kind(kind.kind, value(kind));
        Instrument {
            name,
            unit: "",
            help,
            kind: Gauge,
            points: census.iter().map(point).collect(),
        }
    });
    made.into()
}
