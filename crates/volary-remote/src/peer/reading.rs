//! What came from and went to a peer, counted.

use std::sync::atomic::{AtomicU64, Ordering::*};
use std::time::Duration;

use volary_wire::native::{Bounds, Capabilities};

use super::{Outbound, Peer};
use crate::compression::Compression;
use crate::metrics::RemoteCounts;

/// What came and went.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    sent: AtomicU64,
    pub(crate) confirmed: AtomicU64,
    pub(crate) unconfirmed: AtomicU64,
    pub(crate) unreachable: AtomicU64,
    pub(crate) unsaid: AtomicU64,
    pub(crate) busy: AtomicU64,
    received: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) abandoned: AtomicU64,
    pub(crate) connections: AtomicU64,
    /// Connections that have ended.
    pub(crate) disconnections: AtomicU64,
    /// Attempts to connect, and those that came to nothing.
    pub(crate) attempts: AtomicU64,
    pub(crate) failed_attempts: AtomicU64,
    /// Incarnations that will not be spoken to again.
    pub(crate) quarantines: AtomicU64,
    pub(crate) forbidden: AtomicU64,
    pub(crate) breaches: AtomicU64,
    pub(crate) bytes_written: AtomicU64,
    pub(crate) bytes_read: AtomicU64,
    /// How long the last heartbeat and its answer took, in nanoseconds; 0 if there was none.
    pub(crate) round_trip: AtomicU64,
}

/// Every message is counted on its way out and in, where whoever counts is alone already: no more than a load and a store.
impl Counters {
    /// One more was taken. Whoever calls holds the lock of what is on its way, and so is alone.
    #[inline]
    pub(crate) fn one_sent(&self, _held: &Outbound) {
        one_more(&self.sent);
    }

    /// One more came. For one reader at a time, as `Peer::reading` makes sure.
    #[inline]
    pub(crate) fn one_received(&self) {
        one_more(&self.received);
    }
}

impl Counters {
    pub(crate) fn read(&self) -> RemoteCounts {
        let count = |counter: &AtomicU64| counter.load(Relaxed);
        RemoteCounts {
            sent: count(&self.sent),
            confirmed: count(&self.confirmed),
            unconfirmed: count(&self.unconfirmed),
            unreachable: count(&self.unreachable),
            unsaid: count(&self.unsaid),
            busy: count(&self.busy),
            received: count(&self.received),
            refused: count(&self.refused),
            abandoned: count(&self.abandoned),
            forbidden: count(&self.forbidden),
            attempts: count(&self.attempts),
            failed_attempts: count(&self.failed_attempts),
            connections: count(&self.connections),
            disconnections: count(&self.disconnections),
            breaches: count(&self.breaches),
            quarantines: count(&self.quarantines),
            bytes_written: count(&self.bytes_written),
            bytes_read: count(&self.bytes_read),
        }
    }
}

fn one_more(counter: &AtomicU64) {
    counter.store(counter.load(Relaxed) + 1, Relaxed);
}

/// A reading of what came from and went to a peer; see [`Remote::peers`](crate::Remote::peers).
///
/// Of the messages sent, each is confirmed (it left its mailbox there), lost on the way for certain (unreachable), lost
/// without certainty (unconfirmed), refused there (busy), or still on its way.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (remote, bank) = two_nodes().await?;
/// # remote.actor::<Account>(&"volary://bank@10.0.0.7:4242/user/alice".parse()?).unwrap().ask(Deposit { cents: 5 }).await?;
/// for peer in remote.peers() {
///     println!("{}: {} sent, {} confirmed", peer.node, peer.sent, peer.confirmed);
/// }
/// # assert_eq!((remote.peers()[0].node.as_str(), remote.peers()[0].sent), ("10.0.0.7:4242", 1));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeerReading {
    /// `host:port`.
    pub node: String,
    /// Whether there is a connection.
    pub connected: bool,
    /// Messages that were taken for this peer.
    pub sent: u64,
    /// Messages that have left their mailbox there.
    pub confirmed: u64,
    /// Messages that may have been handled there or not: the connection broke before they were confirmed.
    pub unconfirmed: u64,
    /// Messages that never left.
    pub unreachable: u64,
    /// What actors there were told beside messages, as to stop, and did not hear: it never left.
    pub unsaid: u64,
    /// Messages that were refused there because their receiver had too much mail.
    pub busy: u64,
    /// Messages that are on their way or wait for a connection.
    pub under_way: u64,
    /// Bytes that count against the limit of what may wait for it: those of messages until they are confirmed, or of all
    /// that is not written yet if that is more.
    pub kept_bytes: usize,
    /// Of all that is to go there, the bytes that are not written yet.
    pub waiting_bytes: usize,
    /// Asks that it has not answered yet.
    pub open_asks: usize,
    /// Messages that came from there.
    pub received: u64,
    /// Of these, the ones that were not delivered.
    pub refused: u64,
    /// What came in pieces and was given up before it was whole: there was no room for it, or nothing came any more.
    pub abandoned: u64,
    /// What it asked for and had no right to: messages, which are among the refused, operations and watches.
    pub forbidden: u64,
    /// How often this node has tried to connect to it; it may have called by itself, too.
    pub attempts: u64,
    /// How many of these attempts came to nothing: nobody answered, or the handshake failed.
    pub failed_attempts: u64,
    /// How many connections there were, whoever made them.
    pub connections: u64,
    /// How many of these have ended.
    pub disconnections: u64,
    /// How many of these were closed because what came on them broke a rule.
    pub breaches: u64,
    /// How many incarnations of it will not be spoken to again, since another has come.
    pub quarantines: u64,
    /// How long the last heartbeat and its answer took, with what they waited for on both sides.
    pub round_trip: Option<Duration>,
    /// How the bytes of the connection are made fewer.
    pub compression: Option<Compression>,
    /// What both sides of the connection can do beyond the version that they speak.
    pub capabilities: Capabilities,
    /// What it takes of what it is sent, as far as it has said so. What is longer is refused here.
    pub bounds: Bounds,
    /// Bytes that were written to connections, as they travel but for TLS.
    pub bytes_written: u64,
    /// Bytes that were read from connections, without handshakes.
    pub bytes_read: u64,
    /// How many of its actors are known here.
    pub known: usize,
}

impl Peer {
    pub(crate) fn read(&self) -> PeerReading {
        self.read_with(&self.counters.read())
    }

    /// The same with what it has counted, read just now.
    pub(crate) fn read_with(&self, counts: &RemoteCounts) -> PeerReading {
        let (connected, under_way, kept_bytes, waiting_bytes, open_asks) = {
            let outbound = self.outbound.lock();
            (
                outbound.is_connected(),
                outbound.under_way(),
                outbound.kept_bytes(),
                outbound.waiting_bytes(),
                outbound.open_asks(),
            )
        };
        let round_trip = self.counters.round_trip.load(Relaxed);
        PeerReading {
            node: self.node.clone(),
            connected,
            under_way,
            kept_bytes,
            waiting_bytes,
            open_asks,
            sent: counts.sent,
            confirmed: counts.confirmed,
            unconfirmed: counts.unconfirmed,
            unreachable: counts.unreachable,
            unsaid: counts.unsaid,
            busy: counts.busy,
            received: counts.received,
            refused: counts.refused,
            abandoned: counts.abandoned,
            forbidden: counts.forbidden,
            attempts: counts.attempts,
            failed_attempts: counts.failed_attempts,
            connections: counts.connections,
            disconnections: counts.disconnections,
            breaches: counts.breaches,
            quarantines: counts.quarantines,
            round_trip: (round_trip != 0).then(|| Duration::from_nanos(round_trip)),
            compression: *self.compression.lock(),
            capabilities: *self.capabilities.lock(),
            bounds: *self.bounds.lock(),
            bytes_written: counts.bytes_written,
            bytes_read: counts.bytes_read,
            known: self.known.lock().len(),
        }
    }
}
