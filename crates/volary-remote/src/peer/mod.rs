//! The association with one peer: what is on its way there, and which of its actors are known here. It outlives its
//! connections, which are [links](crate::link).

mod apart;
mod batch;
mod inflow;
mod known;
mod large;
mod ledger;
mod line;
mod lives;
mod lose;
mod lost;
mod names;
mod outbound;
mod settled;
mod ship;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};

use parking_lot::Mutex;
use tokio::sync::Notify;
use volary_core::foreign::StandIn;
use volary_core::{Address, DeadReason, RemoteError};
use volary_wire::native::Frame;

pub(crate) use apart::Apart;
pub(crate) use batch::Batch;
use inflow::Inflow;
pub(crate) use known::{Known, Watched};
use lives::Lives;
pub(crate) use lost::Lost;
pub(crate) use outbound::Outbound;
pub(crate) use settled::Settled;
pub(crate) use ship::Shipment;

use crate::compression::Compression;
use crate::event::PeerEvent;
use crate::link::UNIT;
use crate::outlet::PeerOutlet;
use crate::shared::Shared;

pub(crate) struct Peer {
    pub(crate) shared: Arc<Shared>,
    /// `host:port`.
    pub(crate) node: String,
    pub(crate) outbound: Mutex<Outbound>,
    pub(crate) known: Mutex<Known>,
    /// There is something to write.
    pub(crate) to_write: Notify,
    /// Something was written, and there may be room for more.
    pub(crate) room: Notify,
    /// Something happened that whoever keeps the connection should look at.
    pub(crate) look: Notify,
    /// Senders that wait for room.
    line: line::Line,
    lives: Mutex<Lives>,
    /// How often all that was known here was forgotten; changes under the locks of `outbound` and `known`.
    pub(crate) generation: AtomicU64,
    /// Calls of it that are being answered.
    pub(crate) expected: AtomicU64,
    /// Room that its messages take which wait in mailboxes here.
    pub(crate) inflow: Inflow,
    /// Held while what came on a connection is handled: nothing of one connection is handled after what comes on the next.
    pub(crate) reading: Mutex<()>,
    /// The peer will never be spoken to again under its present incarnation, or this node stops.
    closed: AtomicBool,
    pub(crate) counters: Counters,
    /// Of the connection there is, or was last.
    pub(crate) compression: Mutex<Option<Compression>>,
}

/// What came and went.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) sent: AtomicU64,
    pub(crate) confirmed: AtomicU64,
    pub(crate) unconfirmed: AtomicU64,
    pub(crate) unreachable: AtomicU64,
    pub(crate) busy: AtomicU64,
    pub(crate) received: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) connections: AtomicU64,
    pub(crate) forbidden: AtomicU64,
    pub(crate) breaches: AtomicU64,
    pub(crate) bytes_written: AtomicU64,
    pub(crate) bytes_read: AtomicU64,
}

/// A reading of what came from and went to a peer; see [`Remote::peers`](crate::Remote::peers).
///
/// Of the messages sent, each is confirmed (it left its mailbox there), lost on the way for certain (unreachable), lost
/// without certainty (unconfirmed), refused there (busy), or still on its way.
///
/// ```
/// # fn f(remote: &volary_remote::Remote) {
/// for peer in remote.peers() {
///     println!("{}: {} sent, {} confirmed", peer.node, peer.sent, peer.confirmed);
/// }
/// # }
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
    /// Asks that have no answer yet, whether their message is under way or has arrived.
    pub unanswered: u64,
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
    /// Bytes that were written to connections, as they travel but for TLS.
    pub bytes_written: u64,
    /// Bytes that were read from connections, without handshakes.
    pub bytes_read: u64,
    /// How many of its actors are known here.
    pub known: usize,
}

impl Peer {
    pub(crate) fn new(shared: Arc<Shared>, node: String) -> Self {
        Peer {
            outbound: Mutex::new(Outbound::new(&shared.options)),
            known: Mutex::new(Known::default()),
            to_write: Notify::new(),
            room: Notify::new(),
            look: Notify::new(),
            line: line::Line::default(),
            lives: Mutex::default(),
            generation: AtomicU64::new(0),
            expected: AtomicU64::new(0),
            inflow: Inflow::new(
                shared.inbound.clone(),
                (shared.options.inbound_bytes / UNIT) as u64,
                shared.options.peers as u64,
            ),
            reading: Mutex::new(()),
            closed: AtomicBool::new(false),
            counters: Counters::default(),
            compression: Mutex::new(None),
            shared,
            node,
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Acquire)
    }

    /// A stand-in for the actor at `address`, the same for everybody.
    pub(crate) fn stand_in(self: &Arc<Self>, address: &Address) -> Option<StandIn> {
        let text = address.to_string();
        let mut known = self.known.lock();
        if let Some(found) = known.get(&text) {
            return Some(found);
        }
        if self.is_closed() {
            return None;
        }
        let outlet = Arc::new(PeerOutlet::new(self.clone(), text.as_str().into()));
        let stand_in = self.shared.system.stand_in(address.clone(), outlet.clone())?;
        outlet.set_id(stand_in.id());
        let crowded = known.insert(text, stand_in.clone());
        drop(known);
        if crowded {
            self.sweep();
        }
        Some(stand_in)
    }

    /// Lets go of stand-ins that nobody refers to, and nothing is on its way to. Both locks are held, so that nothing is
    /// sent to one that is being let go.
    pub(crate) fn sweep(&self) {
        let unused = {
            let outbound = self.outbound.lock();
            self.known.lock().take_unused(|| outbound.receivers())
        };
        unused.iter().for_each(StandIn::end);
    }

    /// Whether nobody here speaks with it, nor it with anybody here, and there is no life of it that must not be spoken to
    /// again.
    pub(crate) fn is_idle(&self) -> bool {
        self.sweep();
        {
            let outbound = self.outbound.lock();
            if self.expected.load(Acquire) > 0
                || outbound.is_connected()
                || outbound.needs_connection()
                || !outbound.is_settled()
            {
                return false;
            }
        }
        self.known.lock().len() == 0 && !self.lives.lock().has_ended()
    }

    /// Somebody waits for a connection although nothing is to be sent yet.
    pub(crate) fn want_connection(&self) {
        self.outbound.lock().want_connection();
        self.look.notify_one();
    }

    /// Writes a frame that no bound applies to, behind everything that was written before.
    pub(crate) fn write_in_order(&self, frame: &Frame) {
        self.outbound.lock().write_in_order(frame);
        self.to_write.notify_one();
    }

    /// The same; the number of the connection, if there is one.
    pub(crate) fn write_if_connected(&self, frame: &Frame) -> Option<u64> {
        let mut outbound = self.outbound.lock();
        let epoch = outbound.write_if_connected(frame);
        drop(outbound);
        self.to_write.notify_one();
        epoch
    }

    /// The same, on a connection that is made for it if there is none.
    pub(crate) fn write_in_time(&self, frame: &Frame) {
        self.outbound.lock().write_in_time(frame);
        self.to_write.notify_one();
        self.look.notify_one();
    }

    /// A connection was made to this incarnation; the number of the connection. If another incarnation was spoken to
    /// before, all that is known of that is over.
    pub(crate) fn connected(self: &Arc<Self>, incarnation: u64) -> u64 {
        let before = self.lives.lock().begin(incarnation);
        if let Some(before) = before {
            let _turn = self.reading.lock();
            self.forget(DeadReason::Unreachable);
            let (node, incarnation) = (self.node.clone(), before);
            self.shared.publish(PeerEvent::Quarantined { node, incarnation });
        }
        self.counters.connections.fetch_add(1, Relaxed);
        let (epoch, lost) = {
            let mut outbound = self.outbound.lock();
            let connected = outbound.connect();
            // Under the same lock: who begins to watch is among them, or finds the connection.
            for address in self.known.lock().watched() {
                outbound.write_in_order(&crate::outlet::watch_frame(&address));
            }
            connected
        };
        self.report(lost);
        self.to_write.notify_one();
        epoch
    }

    /// Somebody here has begun, or ceased, to watch an actor there.
    pub(crate) fn watch_changed(&self, address: &str) {
        let mut outbound = self.outbound.lock();
        // Not what this caller did, but what is so now: another may have done the opposite, and was faster here.
        let watched = self.known.lock().look_who_watches(address);
        outbound.write_in_order(&match watched {
            Watched::Yes => crate::outlet::watch_frame(address),
            Watched::No => crate::outlet::unwatch_frame(address),
        });
        drop(outbound);
        self.to_write.notify_one();
        self.look.notify_one();
    }

    /// Whether a caller of this incarnation is, or may be, the one that is spoken to: an older one is not spoken to
    /// again, nor one that was said to be lost.
    pub(crate) fn admits(&self, incarnation: u64) -> bool {
        self.lives.lock().admits(incarnation)
    }

    /// Whether an incarnation that answers a call may be spoken to, if `epoch` was the last connection when the call was
    /// made: then it lives there later than the one that is known, even if the clock it was numbered by says otherwise.
    pub(crate) fn admits_answer(&self, incarnation: u64, epoch: u64) -> bool {
        self.admits(incarnation) || (self.outbound.lock().epoch() == epoch && !self.is_over(incarnation))
    }

    /// Whether the actors of this incarnation were said to be gone.
    pub(crate) fn is_over(&self, incarnation: u64) -> bool {
        self.lives.lock().is_over(incarnation)
    }

    /// The peer could not be reached for too long.
    pub(crate) fn lose(&self) {
        if self.known.lock().has_watched() {
            self.lives.lock().lose();
        }
        self.forget(DeadReason::Unreachable);
    }

    /// The connection of this number is gone; what was on it is lost.
    pub(crate) fn disconnected(&self, epoch: u64) {
        let lost = self.outbound.lock().disconnect(epoch);
        self.report(lost);
        self.look.notify_one();
    }

    /// The peer is lost, or is not the one that was spoken to: whoever watches its actors hears that they are gone.
    pub(crate) fn forget(&self, reason: DeadReason) {
        let (lost, known) = {
            let mut outbound = self.outbound.lock();
            let mut known = self.known.lock();
            // Whoever is just sending to one of them is told that it is gone.
            self.generation.fetch_add(1, AcqRel);
            (outbound.give_up(reason), known.take_all())
        };
        self.report(lost);
        known.iter().for_each(StandIn::end);
        self.call_all();
    }

    /// An actor there has ended.
    pub(crate) fn ended(&self, address: &str) {
        let gone = self.known.lock().remove(address);
        if let Some(gone) = gone {
            gone.end();
            self.call_all();
        }
    }

    /// Nothing goes there any more.
    pub(crate) fn close(&self) {
        self.closed.store(true, Release);
        let lost = self.outbound.lock().close();
        self.report(lost);
        self.to_write.notify_one();
        self.look.notify_one();
    }

    /// Makes dead letters of messages that are lost, and ends their asks. Not under any lock: that is others' code.
    pub(crate) fn report(&self, lost: Vec<Lost>) {
        let unanswered = self.outbound.lock().take_unanswered();
        for reply in unanswered {
            reply.lost(RemoteError::Unconfirmed {
                node: self.node.clone(),
            });
        }
        for lost in lost {
            let counter = match lost.reason {
                DeadReason::Unconfirmed => &self.counters.unconfirmed,
                DeadReason::Full => &self.counters.busy,
                _ => &self.counters.unreachable,
            };
            counter.fetch_add(1, Relaxed);
            let stand_in = self.known.lock().by_id(lost.receiver);
            if let Some(stand_in) = stand_in {
                stand_in.dead_letter(lost.sender, lost.reason, lost.type_name);
            }
            let error = lost.error(&self.node);
            if let Some(reply) = lost.reply {
                reply.lost(error);
            }
        }
        self.made_room();
    }

    pub(crate) fn read(&self) -> PeerReading {
        let count = |counter: &AtomicU64| counter.load(Relaxed);
        let (connected, under_way, unanswered) = {
            let outbound = self.outbound.lock();
            (outbound.is_connected(), outbound.under_way(), outbound.unanswered())
        };
        PeerReading {
            node: self.node.clone(),
            connected,
            under_way,
            unanswered,
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
            bytes_written: count(&self.counters.bytes_written),
            bytes_read: count(&self.counters.bytes_read),
            known: self.known.lock().len(),
        }
    }
}
