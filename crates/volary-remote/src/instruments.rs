//! The figures of remoting among those of its system, for whoever exports them: once for all peers together, and once for
//! each peer.

use std::sync::Weak;

use volary_core::{Instrument, InstrumentKind, InstrumentSource, Point};

use crate::metrics::{RemoteCounts, RemoteMetrics};
use crate::peer::PeerReading;
use crate::shared::Shared;

/// What tells them apart.
const PEER: &str = "remote.peer";

/// Weak: the system keeps it, and is kept by what it looks at.
pub(crate) struct RemoteInstruments(pub(crate) Weak<Shared>);

impl InstrumentSource for RemoteInstruments {
    fn instruments(&self) -> Vec<Instrument> {
        self.0
            .upgrade()
            .map_or_else(Vec::new, |shared| of(&shared.metrics(), shared.options.peer_figures))
    }
}

/// A figure of each peer, and the one of all of them.
struct Figure {
    kind: InstrumentKind,
    /// Of all, and of each.
    names: [&'static str; 2],
    unit: &'static str,
    help: &'static str,
    of_all: fn(&RemoteMetrics) -> u64,
    of_one: fn(&PeerReading) -> u64,
}

macro_rules! counters {
    ($($field:ident $name:literal $unit:literal $help:literal;)+) => {
        [$(Figure {
            kind: InstrumentKind::Counter,
            names: [concat!("remote.", $name), concat!("remote.peer.", $name)],
            unit: $unit,
            help: $help,
            of_all: |metrics| { let RemoteCounts { $field, .. } = metrics.counts; $field },
            of_one: |peer| peer.$field,
        }),+]
    };
}

macro_rules! gauges {
    ($($field:ident $name:literal $unit:literal $help:literal;)+) => {
        [$(Figure {
            kind: InstrumentKind::Gauge,
            names: [concat!("remote.", $name), concat!("remote.peer.", $name)],
            unit: $unit,
            help: $help,
            of_all: |metrics| metrics.peers.iter().map(|peer| peer.$field as u64).sum(),
            of_one: |peer| peer.$field as u64,
        }),+]
    };
}

const COUNTERS: [Figure; 18] = counters! {
    sent "messages.sent.count" "" "Messages that were taken for other nodes";
    confirmed "messages.confirmed.count" "" "Messages that have left their mailbox on another node";
    unconfirmed "messages.unconfirmed.count" "" "Messages whose connection broke before they were confirmed";
    unreachable "messages.unreachable.count" "" "Messages that never left this node";
    unsaid "errands.unsaid.count" "" "What actors elsewhere were told beside messages, as to stop, and never left";
    busy "messages.busy.count" "" "Messages for which there was no room on another node or on their way";
    received "messages.received.count" "" "Messages that came from other nodes";
    refused "messages.refused.count" "" "Messages from other nodes that were not delivered";
    abandoned "messages.abandoned.count" "" "What came in pieces from other nodes and was given up before it was whole";
    forbidden "forbidden.count" "" "What other nodes asked for and had no right to";
    attempts "connections.attempts.count" "" "Attempts to connect";
    failed_attempts "connections.failed.count" "" "Attempts to connect that came to nothing, in the handshake or before";
    connections "connections.made.count" "" "Connections, whoever made them";
    disconnections "connections.lost.count" "" "Connections that have ended";
    breaches "connections.breaches.count" "" "Connections closed because what came on them broke a rule";
    quarantines "quarantines.count" "" "Incarnations that will not be spoken to again";
    bytes_written "written" "By" "Bytes written to connections";
    bytes_read "read" "By" "Bytes read from connections";
};

const GAUGES: [Figure; 5] = gauges! {
    connected "connected" "" "Nodes that there is a connection to";
    under_way "messages.underway" "" "Messages that are not confirmed yet or wait for a connection";
    open_asks "asks.open" "" "Asks that are not answered yet";
    waiting_bytes "outbound.waiting" "By" "Bytes that are to go to other nodes and are not written yet";
    kept_bytes "outbound.kept" "By" "Bytes that count against the limit of what may wait for a node";
};

/// So many peers have figures of their own, those first to which there is a connection; all are in the sums.
fn of(metrics: &RemoteMetrics, peers: usize) -> Vec<Instrument> {
    let mut first: Vec<&PeerReading> = metrics.peers.iter().collect();
    first.sort_by_key(|peer| !peer.connected);
    first.truncate(peers);
    let figures = || COUNTERS.iter().chain(&GAUGES);
    let of_all = figures().map(|figure| {
        let [name, _] = figure.names;
        figure.instrument(name).points([Point::new((figure.of_all)(metrics))])
    });
    let of_each = figures().map(|figure| {
        let [_, name] = figure.names;
        let point = |peer: &&PeerReading| Point::new((figure.of_one)(peer)).label(PEER, peer.node.as_str());
        figure.instrument(name).points(first.iter().map(point))
    });
    let mut all: Vec<Instrument> = of_all.collect();
    all.push(
        Instrument::gauge("remote.peers.count", "Other nodes that are known").points([count(metrics.peers.len())]),
    );
    all.push(
        Instrument::counter(
            "remote.connections.refused.count",
            "Connections of others that ended before their handshake was over",
        )
        .points([Point::new(metrics.refused_connections)]),
    );
    all.push(
        Instrument::gauge(
            "remote.inbound.waiting",
            "Bytes of messages from other nodes that wait in mailboxes",
        )
        .unit("By")
        .points([count(metrics.inbound_bytes)]),
    );
    all.extend(of_each);
    all.push(round_trips(&first));
    all
}

fn round_trips(peers: &[&PeerReading]) -> Instrument {
    let point = |peer: &&PeerReading| {
        let micros = u64::try_from(peer.round_trip?.as_micros()).unwrap_or(u64::MAX);
        Some(Point::new(micros).label(PEER, peer.node.as_str()))
    };
    Instrument::gauge(
        "remote.peer.round.trip",
        "How long the last heartbeat and its answer took",
    )
    .unit("us")
    .points(peers.iter().filter_map(point))
}

fn count(number: usize) -> Point {
    Point::new(number as u64)
}

impl Figure {
    fn instrument(&self, name: &'static str) -> Instrument {
        let instrument = match self.kind {
            InstrumentKind::Counter => Instrument::counter(name, self.help),
            _ => Instrument::gauge(name, self.help),
        };
        instrument.unit(self.unit)
    }
}
