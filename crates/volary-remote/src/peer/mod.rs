//! The association with one peer: what is on its way there, and which of its actors are known here. It outlives its
//! connections, which are [links](crate::link).

mod apart;
mod batch;
mod called;
mod distance;
mod inflow;
mod known;
mod large;
#[cfg(test)]
mod leaving;
mod ledger;
mod line;
mod lives;
mod lose;
mod lost;
mod misnamed;
mod names;
mod outbound;
mod reading;
mod referred;
mod settled;
mod ship;
mod terms;
mod unheard_of;
mod way;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};

use parking_lot::Mutex;
use tokio::sync::Notify;
use volary_core::foreign::{StandIn, Undeliverable};
use volary_core::{Address, DeadReason, RemoteError};
use volary_wire::native::{Bounds, Capabilities, Frame};

pub(crate) use apart::Apart;
pub(crate) use batch::Batch;
pub(crate) use called::Called;
pub(crate) use inflow::Inflow;
pub(crate) use known::{Known, Watched};
use lives::Lives;
pub(crate) use lost::Lost;
use misnamed::Misnamed;
pub(crate) use outbound::Outbound;
pub use reading::PeerReading;
pub(crate) use referred::Referred;
pub(crate) use settled::Settled;
pub(crate) use ship::{Shipment, Shipped};
pub(crate) use way::Way;

use crate::compression::Compression;
use crate::duty::Duty;
use crate::event::PeerEvent;
use crate::link::{Greeting, Trials, UNIT};
use crate::outlet::PeerOutlet;
use crate::shared::Shared;
use crate::transport_actor::RemoteDeadLetter;
use unheard_of::UnheardOf;

pub(crate) struct Peer {
    pub(crate) shared: Arc<Shared>,
    pub(crate) way: Arc<Way>,
    /// `host:port`.
    pub(crate) node: String,
    pub(crate) known: Mutex<Known>,
    /// Something was written, and there may be room for more.
    pub(crate) room: Notify,
    /// That of whoever keeps the connection.
    pub(crate) dialler: Duty,
    /// What they remember.
    pub(crate) trials: Mutex<Trials>,
    /// Held while a connection is being made.
    pub(crate) attempting: tokio::sync::Mutex<()>,
    /// Senders that wait for room.
    line: line::Line,
    lives: Mutex<Lives>,
    /// Calls of it that are being answered.
    pub(crate) expected: AtomicU64,
    /// Room that its messages take which wait in mailboxes here.
    pub(crate) inflow: Inflow,
    /// Room for the actors elsewhere that its messages have made known here.
    pub(crate) references: Arc<Inflow>,
    /// Held while what came on a connection is handled: nothing of one connection is handled after what comes on the next.
    pub(crate) reading: Mutex<()>,
    /// The peer will never be spoken to again under its present incarnation, or this node stops.
    closed: AtomicBool,
    /// Of the connection there is, or was last.
    pub(crate) compression: Mutex<Option<Compression>>,
    /// Of the same.
    capabilities: Mutex<Capabilities>,
    /// What the peer takes, as it said on the same.
    bounds: Mutex<Bounds>,
    /// Why there was no connection the last time that one was needed.
    pub(crate) why_not: Mutex<Option<String>>,
    /// Messages that it sends and nobody here knows.
    pub(crate) unheard_of: UnheardOf,
}

impl Peer {
    pub(crate) fn new(shared: Arc<Shared>, node: String) -> Self {
        Peer {
            known: Mutex::new(Known::default()),
            room: Notify::new(),
            dialler: Duty::new(),
            trials: Mutex::new(Trials::new(&shared.options)),
            attempting: tokio::sync::Mutex::new(()),
            line: line::Line::default(),
            lives: Mutex::default(),
            expected: AtomicU64::new(0),
            inflow: Inflow::new(
                shared.inbound.clone(),
                (shared.options.inbound_bytes / UNIT) as u64,
                shared.options.peers as u64,
            ),
            references: Arc::new(Inflow::new(
                shared.references.clone(),
                shared.options.references as u64,
                shared.options.peers as u64,
            )),
            reading: Mutex::new(()),
            closed: AtomicBool::new(false),
            compression: Mutex::new(None),
            capabilities: Mutex::default(),
            bounds: Mutex::default(),
            why_not: Mutex::default(),
            unheard_of: UnheardOf::default(),
            way: Way::new(&shared),
            shared,
            node,
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Acquire)
    }

    /// A stand-in for the actor at `address`, the same for everybody.
    pub(crate) fn stand_in(self: &Arc<Self>, address: &Address) -> Option<StandIn> {
        self.refer_to(address, None)
    }

    /// The same for one that a message of somebody has named, for whom there is this room.
    pub(crate) fn refer_to(self: &Arc<Self>, address: &Address, room: Option<Referred>) -> Option<StandIn> {
        let text = address.to_string();
        let mut known = self.known.lock();
        if let Some(found) = known.get(&text) {
            return Some(found);
        }
        if self.is_closed() {
            return None;
        }
        if let Some(system) = known.system().filter(|system| *system != address.system()) {
            let system = system.to_owned();
            let outlet = Arc::new(Misnamed::new(self, address, &system, room));
            let stand_in = self.shared.system.stand_in(address.clone(), outlet)?;
            let crowded = known.insert(text, stand_in.clone());
            drop(known);
            if crowded {
                self.sweep();
            }
            self.shared.report_misnamed(&self.node, address.system(), &system);
            return Some(stand_in);
        }
        let outlet = Arc::new(PeerOutlet::new(self, text.as_str().into(), room));
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
    /// sent to one that is being let go. Not while it is being said what was lost, and to whom.
    pub(crate) fn sweep(&self) {
        let unused = {
            let outbound = self.outbound.lock();
            if outbound.is_reporting() {
                return;
            }
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

    /// Whether a connection is needed, and whoever makes them does not come.
    pub(crate) fn is_not_dialled(&self) -> bool {
        let needs = self.outbound.try_lock().is_some_and(|outbound| {
            let is_watched = || self.known.try_lock().is_some_and(|known| known.has_watched());
            !outbound.is_connected() && (outbound.needs_connection() || is_watched())
        });
        self.dialler.is_overdue(needs, self.shared.nanos())
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

    /// The same for what may be long; the number of the connection, if there is one.
    pub(crate) fn write_if_connected(&self, frame: &Frame) -> Result<Option<u64>, Undeliverable> {
        let mut outbound = self.outbound.lock();
        let written = outbound.write_if_connected(frame);
        drop(outbound);
        self.to_write.notify_one();
        written
    }

    /// The same, on a connection that is made for it if there is none.
    pub(crate) fn write_in_time(&self, frame: &Frame) {
        let unsaid = {
            let outbound = &mut *self.outbound.lock();
            outbound.write_in_time(frame);
            outbound.take_unsaid()
        };
        self.report_unsaid(unsaid);
        self.to_write.notify_one();
        self.look.notify_one();
    }

    /// So many errands were lost.
    fn report_unsaid(&self, count: u64) {
        if count > 0 {
            self.counters.unsaid.fetch_add(count, Relaxed);
            self.shared.report_unsaid(&self.node);
        }
    }

    /// A connection was made; its number. If another incarnation was spoken to before, that is over.
    pub(crate) fn connected(self: &Arc<Self>, greeting: &Greeting) -> u64 {
        let Greeting {
            incarnation,
            system,
            capabilities,
            bounds,
            ..
        } = greeting;
        let before = self.lives.lock().begin(*incarnation);
        if let Some(before) = before {
            let _turn = self.reading.lock();
            self.forget_life();
            self.counters.quarantines.fetch_add(1, Relaxed);
            let (node, incarnation) = (self.node.clone(), before);
            self.shared.publish(PeerEvent::Quarantined { node, incarnation });
        }
        self.counters.connections.fetch_add(1, Relaxed);
        *self.capabilities.lock() = *capabilities;
        *self.bounds.lock() = *bounds;
        let (epoch, lost, strangers, to_strangers) = {
            let mut outbound = self.outbound.lock();
            let mut known = self.known.lock();
            let (epoch, lost) = outbound.connect(*capabilities, *bounds, self.shared.system.uptime());
            let strangers = known.begin(system);
            let to_strangers = outbound.take_back(&strangers.iter().map(StandIn::id).collect());
            // Under the same lock: who begins to watch is among them, or finds the connection.
            for address in known.watched() {
                outbound.write_in_order(&crate::outlet::watch_frame(&address));
            }
            (epoch, lost, strangers, to_strangers)
        };
        self.report(lost);
        self.lose_strangers(&strangers, to_strangers, system);
        *self.why_not.lock() = None;
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
        if self.known.lock().has_watched_of_last() {
            self.lives.lock().lose();
        }
        self.forget_life();
    }

    /// The node there has left of its own accord, as it said on the connection `epoch`: none of its actors lives any more, and
    /// whoever watches one need not wait until it is lost.
    pub(crate) fn left(&self, epoch: u64, incarnation: u64) {
        let gone: Vec<StandIn> = {
            let outbound = self.outbound.lock();
            if !outbound.is_on(epoch) {
                return;
            }
            let mut known = self.known.lock();
            if known.has_watched_of_last() {
                self.lives.lock().end(incarnation);
            }
            known
                .watched()
                .iter()
                .filter_map(|address| known.remove(address))
                .collect()
        };
        gone.iter().for_each(StandIn::end);
        self.call_all();
    }

    /// The connection of this number is gone; what was on it is lost.
    pub(crate) fn disconnected(&self, epoch: u64) {
        let (lost, strangers) = {
            let mut outbound = self.outbound.lock();
            let strangers = match outbound.is_on(epoch) {
                true => self.known.lock().end(),
                false => Vec::new(),
            };
            (outbound.disconnect(epoch), strangers)
        };
        self.report(lost);
        strangers.iter().for_each(StandIn::end);
        self.look.notify_one();
    }

    /// The peer is lost, or is not the one that was spoken to: whoever watches its actors hears that they are gone. References
    /// to whoever lives at some place there, whom nobody watches, are good for the next life as well.
    fn forget_life(&self) {
        self.forget(Known::take_life);
    }

    /// Nothing will be sent there any more: the same for all of its actors.
    pub(crate) fn forget_all(&self) {
        self.forget(Known::take_all);
    }

    fn forget(&self, take: impl FnOnce(&mut Known) -> Vec<StandIn>) {
        let (lost, gone) = {
            let mut outbound = self.outbound.lock();
            let mut known = self.known.lock();
            // Whoever is just sending to one of them is told that it is gone.
            self.generation.fetch_add(1, AcqRel);
            (outbound.give_up(DeadReason::Unreachable), take(&mut known))
        };
        self.report(lost);
        gone.iter().for_each(StandIn::end);
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
        let why = self.why_not.lock().clone();
        self.report_because(lost, why.as_deref().unwrap_or("there is no connection"));
    }

    /// The same, where the reason is known.
    fn report_because(&self, lost: Vec<Lost>, why: &str) {
        let (unanswered, unsaid) = {
            let outbound = &mut *self.outbound.lock();
            (outbound.take_unanswered(), outbound.take_unsaid())
        };
        self.report_unsaid(unsaid);
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
                let events = self.shared.system.events();
                if events.has_subscribers::<RemoteDeadLetter>() {
                    events.publish(RemoteDeadLetter {
                        target: stand_in.address(),
                        sender: lost.sender.and_then(|id| self.shared.outside_address_of(id)),
                        message: lost.type_name.to_owned(),
                        reason: lost.reason,
                    });
                }
            }
            let error = lost.error(&self.node, why);
            if let Some(reply) = lost.reply {
                reply.lost(error);
            }
        }
        self.made_room();
    }
}
