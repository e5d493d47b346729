//! What came from and went to a peer, counted.

use std::sync::atomic::{AtomicU64, Ordering::*};

use volary_wire::native::{Bounds, Capabilities};

use super::{Outbound, Peer};
use crate::compression::Compression;

/// What came and went.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    sent: AtomicU64,
    pub(crate) confirmed: AtomicU64,
    pub(crate) unconfirmed: AtomicU64,
    pub(crate) unreachable: AtomicU64,
    pub(crate) busy: AtomicU64,
    received: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) connections: AtomicU64,
    pub(crate) forbidden: AtomicU64,
    pub(crate) breaches: AtomicU64,
    pub(crate) bytes_written: AtomicU64,
    pub(crate) bytes_read: AtomicU64,
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
    /// Messages that were refused there because their receiver had too much mail.
    pub busy: u64,
    /// Messages that are on their way or wait for a connection.
    pub under_way: u64,
    /// Bytes that count against the limit of what may wait for it: those of messages until they are confirmed, or of all
    /// that is not written yet if that is more.
    pub kept_bytes: usize,
    /// Asks that it has not answered yet.
    pub open_asks: usize,
    /// Messages that came from there.
    pub received: u64,
    /// Of these, the ones that were not delivered.
    pub refused: u64,
    /// What it asked for and had no right to: messages, which are among the refused, operations and watches.
    pub forbidden: u64,
    /// How many connections there were.
    pub connections: u64,
    /// How many of these were closed because what came on them broke a rule.
    pub breaches: u64,
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
        let count = |counter: &AtomicU64| counter.load(Relaxed);
        let (connected, under_way, kept_bytes, open_asks) = {
            let outbound = self.outbound.lock();
            (
                outbound.is_connected(),
                outbound.under_way(),
                outbound.kept_bytes(),
                outbound.open_asks(),
            )
        };
        PeerReading {
            node: self.node.clone(),
            connected,
            under_way,
            kept_bytes,
            open_asks,
            sent: count(&self.counters.sent),
            confirmed: count(&self.counters.confirmed),
            unconfirmed: count(&self.counters.unconfirmed),
            unreachable: count(&self.counters.unreachable),
            busy: count(&self.counters.busy),
            received: count(&self.counters.received),
            refused: count(&self.counters.refused),
            connections: count(&self.counters.connections),
            breaches: count(&self.counters.breaches),
            forbidden: count(&self.counters.forbidden),
            compression: *self.compression.lock(),
            capabilities: *self.capabilities.lock(),
            bounds: *self.bounds.lock(),
            bytes_written: count(&self.counters.bytes_written),
            bytes_read: count(&self.counters.bytes_read),
            known: self.known.lock().len(),
        }
    }
}
