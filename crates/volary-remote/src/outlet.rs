//! The way out to one actor of a peer: writes messages into the association where they are sent.

use std::cell::Cell;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering::*};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use bytes::BytesMut;
use volary_core::foreign::{Errand, Outlet, Parcel, Room, Undeliverable};
use volary_core::{ActorId, Resolving};
use volary_wire::MessageEntry;
use volary_wire::native::{Frame, Metadata, Name, Operation, TraceContext, Watch};

use crate::operations::{OperationName, actor_request};
use crate::peer::{Lost, Peer, Referred, Shipment, Shipped, Way};
use crate::shared::Language;

pub(crate) struct PeerOutlet {
    way: Arc<Way>,
    /// Weak: the association keeps the stand-in, which keeps this.
    peer: Weak<Peer>,
    address: Box<str>,
    place: u64,
    /// Of the peer, when it was looked last whether this leads there.
    generation: AtomicU64,
    id: OnceLock<ActorId>,
    /// What the address is called on the present connection.
    number: AtomicU64,
    _room: Option<Referred>,
}

impl PeerOutlet {
    pub(crate) fn new(peer: &Arc<Peer>, address: Box<str>, room: Option<Referred>) -> Self {
        PeerOutlet {
            way: peer.way.clone(),
            peer: Arc::downgrade(peer),
            place: place(&address),
            generation: AtomicU64::new(peer.generation.load(Acquire)),
            address,
            id: OnceLock::new(),
            number: AtomicU64::new(0),
            _room: room,
        }
    }

    pub(crate) fn set_id(&self, id: ActorId) {
        let _ = self.id.set(id);
    }

    /// Puts a message on its way, which is locked meanwhile: nothing here is the user's code. Whether the link is to be told,
    /// and whether there is one.
    fn ship(
        &self,
        parcel: &mut Parcel<'_>,
        shipment: &Shipment<'_>,
        payload: &[u8],
    ) -> Result<(bool, bool), Undeliverable> {
        let way = &*self.way;
        let mut outbound = way.outbound_soon();
        while self.generation.load(Relaxed) != way.generation.load(Acquire) {
            drop(outbound);
            self.look_whether_it_leads_there(shipment.receiver)?;
            outbound = way.outbound_soon();
        }
        let Shipped { taken, dropped } = outbound.ship(parcel, shipment, payload);
        let is_crowded = taken == Err(Undeliverable::Full);
        if way.crowded.load(Relaxed) != is_crowded {
            way.crowded.store(is_crowded, Relaxed);
        }
        if taken.is_ok() {
            way.counters.one_sent(&outbound);
        }
        let connected = outbound.is_connected();
        drop(outbound);
        if !dropped.is_empty() {
            self.report(dropped);
        }
        Ok((taken?, connected))
    }

    /// A life of the peer was forgotten, and this with it, unless it leads to whoever comes next.
    #[cold]
    fn look_whether_it_leads_there(&self, id: ActorId) -> Result<(), Undeliverable> {
        let peer = self.peer.upgrade().ok_or(Undeliverable::Gone)?;
        let known = peer.known.lock();
        if !known.is(&self.address, id) {
            return Err(Undeliverable::Gone);
        }
        self.generation.store(peer.generation.load(Acquire), Relaxed);
        Ok(())
    }

    #[cold]
    fn report(&self, dropped: Vec<Lost>) {
        if let Some(peer) = self.peer.upgrade() {
            peer.report(dropped);
        }
    }
}

/// A buffer that has grown beyond this is not kept.
const KEPT_BUFFER: usize = 64 << 10;

thread_local! {
    /// What messages are written into before they have a place on their way.
    static PAYLOAD: Cell<Option<Box<BytesMut>>> = const { Cell::new(None) };
}

/// A message as its codec writes it. Not on the way itself, which is locked while anything is put there: writing takes as long as
/// the message is long, and is the user's code. In a box: it changes hands some times on its way, and a pointer does so in a register.
struct Payload(Option<Box<BytesMut>>);

impl Payload {
    fn of(parcel: &Parcel<'_>, entry: &MessageEntry) -> Result<Self, Undeliverable> {
        // Without, if the thread is about to end.
        let kept = PAYLOAD.try_with(Cell::take).unwrap_or_default();
        let mut payload = Payload(kept);
        match entry.encode(parcel.message(), payload.0.get_or_insert_default()) {
            Ok(()) => Ok(payload),
            Err(error) => {
                let message = parcel.type_name();
                tracing::error!(message, %error, "a message cannot be sent to another node");
                Err(Undeliverable::Unwritable)
            }
        }
    }

    fn bytes(&self) -> &[u8] {
        self.0.as_deref().map_or(&[], |bytes| bytes)
    }
}

impl Drop for Payload {
    fn drop(&mut self) {
        if let Some(mut payload) = self.0.take()
            && payload.capacity() <= KEPT_BUFFER
        {
            payload.clear();
            let _ = PAYLOAD.try_with(|kept| kept.set(Some(payload)));
        }
    }
}

impl PeerOutlet {
    /// How much a peer takes is for it to say, so this is said once: nobody else is to decide how much is logged here.
    #[cold]
    fn say_unsendable(&self, message: &'static str, why: Undeliverable) {
        if let Some(peer) = self.peer.upgrade() {
            peer.shared.report_unsendable(&peer.node, message, &self.address, why);
        }
    }
}

impl Outlet for PeerOutlet {
    fn send(&self, parcel: &mut Parcel<'_>) -> Result<(), Undeliverable> {
        let way = &*self.way;
        let language = &*way.language;
        let Some(entry) = language.registry.entry_of(parcel.message_type()) else {
            let message = parcel.type_name();
            tracing::error!(message, to = %self.address, "not registered, so it cannot be sent to another node");
            return Err(Undeliverable::Unsendable);
        };
        let sender = parcel.sender();
        let shipment = Shipment {
            entry,
            receiver: *self.id.get().ok_or(Undeliverable::Gone)?,
            address: &self.address,
            place: self.place,
            number: &self.number,
            sender: Some(&|| sender.and_then(|id| language.address_of(id))),
            metadata: metadata(parcel, language)?,
            clock: &|| language.system.uptime(),
        };
        if way.crowded.load(Relaxed) {
            way.outbound_soon().would_refuse()?;
        }
        let payload = Resolving::within(&language.resolver, || Payload::of(parcel, entry))?;
        let shipped = self.ship(parcel, &shipment, payload.bytes());
        if let Err(why @ (Undeliverable::TooLarge { .. } | Undeliverable::TooManyHeaders)) = shipped {
            self.say_unsendable(parcel.type_name(), why);
        }
        let (wake, connected) = shipped?;
        if wake {
            way.to_write.notify_one();
        } else if !connected {
            way.look.notify_one();
        }
        Ok(())
    }

    fn room(&self) -> Option<Arc<dyn Room>> {
        let peer: Arc<dyn Room> = self.peer.upgrade()?;
        Some(peer)
    }

    fn run(&self, errand: Errand) {
        let Some(peer) = self.peer.upgrade() else { return };
        let name = match errand {
            Errand::Watch | Errand::Unwatch => return peer.watch_changed(&self.address),
            Errand::Stop => OperationName::Stop,
            Errand::Drain => OperationName::Drain,
            Errand::Kill => OperationName::Kill,
            Errand::Restart => OperationName::Restart,
            Errand::Reinstate => OperationName::Reinstate,
            Errand::Passivate => OperationName::Passivate,
            _ => return,
        };
        peer.write_in_time(&Frame::Operation(Operation {
            correlation: 0,
            name: name.as_str().into(),
            payload: actor_request(&self.address),
        }));
    }
}

/// Stands for the place of an actor, whoever lives there: two references to it, one with its uid and one without, or one
/// that has ended and the next, are the same to the order of messages. Others may share the number, which does no harm.
pub(crate) fn place(address: &str) -> u64 {
    let place = address.split_once('#').map_or(address, |(place, _)| place);
    foldhash::fast::FixedState::default().hash_one(place)
}

fn watch(address: &str) -> Watch {
    Watch {
        watcher: Name::Text("".into()),
        watched: Name::Text(address.into()),
    }
}

pub(crate) fn watch_frame(address: &str) -> Frame {
    Frame::Watch(watch(address))
}

pub(crate) fn unwatch_frame(address: &str) -> Frame {
    Frame::Unwatch(watch(address))
}

/// What goes beside a message, if anything.
fn metadata(parcel: &Parcel<'_>, language: &Language) -> Result<Option<Metadata>, Undeliverable> {
    let injected;
    let mut baggage = parcel.baggage();
    if !language.propagators.is_empty() {
        injected = language.inject(baggage).map_err(|error| {
            let message = parcel.type_name();
            tracing::error!(message, %error, "the context of a message cannot be sent to another node");
            Undeliverable::NoContext
        })?;
        baggage = &injected;
    }
    if parcel.time_left().is_none() && baggage.is_empty() {
        return Ok(None);
    }
    let mut metadata = Metadata::builder();
    if let Some(left) = parcel.time_left() {
        metadata = metadata.deadline(left.max(Duration::from_micros(1)));
    }
    if let Some(trace) = baggage.trace() {
        metadata = metadata.trace(TraceContext {
            trace: trace.trace_id().get().to_be_bytes(),
            span: trace.span_id().get().to_be_bytes(),
            flags: u8::from(trace.is_sampled()),
        });
    }
    for (name, value) in baggage.headers().iter() {
        metadata = metadata.header(name, value);
    }
    Ok(Some(metadata.build()))
}
