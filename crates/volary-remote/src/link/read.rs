//! Reads frames, and does what they say.

use std::any::TypeId;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering::*;
use std::sync::{Arc, Weak};

use tokio::io::{AsyncRead, AsyncReadExt};
use volary_core::foreign::Arrival;
use volary_core::{ActorId, Address, AnyRef, Baggage, DeadReason, Path, Resolving, TraceContext};
use volary_wire::native::{
    Assembler, Credit, Envelope, Frame, FrameDecoder, InternSpace, InternTable, Limits, Metadata, Name, Outcome, Reply,
    Terminated, TerminationCause,
};
use volary_wire::{DeliverError, Route};

use super::Link;
use super::inbox::{Delivering, Inbox, LAST_NUMBER};
use super::until::Closing;
use crate::compression::Stretch;
use crate::operations::{forbid, heard, serve};
use crate::trust::Right;

/// How many messages are handled before others have their turn.
const BUDGET: usize = 256;
/// How many bytes are decompressed before others have their turn.
const STRETCHED_AT_ONCE: usize = 1 << 20;
/// How many inboxes are kept without looking whether they are of use.
const FEW_INBOXES: usize = 1_024;
/// How many runs of settled messages are remembered. Gaps between them are messages that wait; a peer that has this
/// many under way has set its window so wide.
const MOST_RUNS: usize = 1 << 20;

pub(super) async fn read(
    link: Arc<Link>,
    mut reader: Box<dyn AsyncRead + Send + Unpin>,
    decoder: FrameDecoder,
    mut stretch: Option<Stretch>,
) {
    let mut stretched = 0;
    let mut inbound = Inbound::new(link.clone(), decoder);
    let why = loop {
        match inbound.handle_in_turn() {
            Ok(Handled::All) => {}
            Ok(Handled::Some) => {
                tokio::task::yield_now().await;
                continue;
            }
            Ok(Handled::Closed) => return,
            Ok(Handled::Goodbye) => break "it said goodbye".to_owned(),
            Err(why) => {
                link.peer.counters.breaches.fetch_add(1, Relaxed);
                break why;
            }
        }
        if let Some(stretch) = &mut stretch {
            match stretch.next(inbound.decoder.buffer()) {
                Ok(0) => {}
                Ok(made) => {
                    stretched += made;
                    if stretched >= STRETCHED_AT_ONCE {
                        stretched = 0;
                        // It has our time, not the peer its silence.
                        link.hear();
                        tokio::task::yield_now().await;
                        if link.closing().is_closed() {
                            return;
                        }
                    }
                    continue;
                }
                Err(error) => {
                    link.peer.counters.breaches.fetch_add(1, Relaxed);
                    break error.to_string();
                }
            }
        }
        // Who does not read what it is told is not heard, until it is silent for too long.
        while link.peer.outbound.lock().is_overfull() {
            link.deaf.store(true, Relaxed);
            if link.closing().or(link.peer.room.notified()).await.is_none() {
                return;
            }
            link.deaf.store(false, Relaxed);
        }
        let room = match &mut stretch {
            None => inbound.decoder.buffer(),
            Some(stretch) => stretch.room(),
        };
        match link.closing().or(reader.read_buf(room)).await {
            None => return,
            Some(Ok(0)) => break "the connection ended".to_owned(),
            Some(Ok(read)) => {
                link.hear();
                link.peer.counters.bytes_read.fetch_add(read as u64, Relaxed);
            }
            Some(Err(error)) => break error.to_string(),
        }
    };
    link.close(&why);
}

enum Handled {
    All,
    Some,
    Closed,
    Goodbye,
}

/// An address that the peer called by a number.
struct Place {
    address: Option<Address>,
    /// Who lives there, when somebody was told.
    receiver: Cell<Option<Receiver>>,
    /// The stand-in of whoever sends from there.
    sender: Cell<Option<ActorId>>,
}

/// An actor here that the peer sends to.
struct Receiver {
    actor: AnyRef,
    actor_type: TypeId,
    inbox: Arc<Inbox>,
    /// The way of the message type that came last, which is mostly that of the next.
    last: Option<(u32, Route)>,
}

struct Inbound {
    link: Arc<Link>,
    decoder: FrameDecoder,
    assembler: Assembler,
    addresses: InternTable<Place>,
    types: InternTable<()>,
    /// One for each actor, whatever the peer calls it, or its share would be as many as its names.
    inboxes: RefCell<BTreeMap<ActorId, Weak<Inbox>>>,
    /// How many inboxes there may be before it is looked for those that are of no use.
    most_inboxes: Cell<usize>,
}

impl Inbound {
    fn new(link: Arc<Link>, decoder: FrameDecoder) -> Self {
        let limits = Limits::default();
        Inbound {
            link,
            decoder,
            assembler: Assembler::new(limits.clone()),
            addresses: InternTable::new(InternSpace::Address, &limits),
            types: InternTable::new(InternSpace::Type, &limits),
            inboxes: RefCell::default(),
            most_inboxes: Cell::new(FEW_INBOXES),
        }
    }

    /// Handles the frames that are there, unless another connection has taken over.
    fn handle_in_turn(&mut self) -> Result<Handled, String> {
        let peer = self.link.peer.clone();
        let _turn = peer.reading.lock();
        if self.link.closing().is_closed() {
            return Ok(Handled::Closed);
        }
        if self.link.settled.lock().runs() > MOST_RUNS {
            return Err("it leaves gaps in the numbers of its messages".to_owned());
        }
        Resolving::scope(peer.shared.resolver.clone(), || self.handle_all())
    }

    /// Handles the frames that are there.
    fn handle_all(&mut self) -> Result<Handled, String> {
        for _ in 0..BUDGET {
            match self.decoder.next_frame() {
                Ok(None) => return Ok(Handled::All),
                Ok(Some(Frame::Goodbye(_))) => return Ok(Handled::Goodbye),
                Ok(Some(frame)) => self.handle(frame)?,
                Err(error) => return Err(format!("it broke a rule: {error}")),
            }
        }
        Ok(Handled::Some)
    }

    fn handle(&mut self, frame: Frame) -> Result<(), String> {
        let peer = &self.link.peer;
        match frame {
            Frame::Tell(envelope) => self.deliver(envelope, None)?,
            Frame::Ask { correlation, envelope } => self.deliver(envelope, Some(correlation))?,
            Frame::Reply(reply) => self.answered(reply),
            Frame::Intern(intern) => {
                let defined = match intern.space {
                    InternSpace::Type => self.types.define(&intern, ()),
                    InternSpace::Address => {
                        let address = intern.text.as_str().parse().ok();
                        self.addresses.define(&intern, Place::new(address))
                    }
                };
                defined.map_err(|error| error.to_string())?;
            }
            Frame::Chunk(chunk) => {
                self.link.write_first(&Frame::Credit(Credit {
                    receiver: None,
                    count: 0,
                    bytes: chunk.payload.len() as u64,
                }));
                let now = peer.shared.nanos();
                match self.assembler.accept(chunk, now) {
                    Ok(Some(frame)) => self.handle(frame)?,
                    Ok(None) => {}
                    Err(error) => return Err(error.to_string()),
                }
            }
            Frame::Abort { transfer } => {
                self.assembler.abort(transfer);
            }
            Frame::Confirm(confirm) => {
                let confirmed = peer.outbound.lock().confirm(self.link.epoch, &confirm);
                let count = confirmed.map_err(|breach| breach.to_string())?;
                peer.counters.confirmed.fetch_add(count, Relaxed);
                peer.made_room();
            }
            Frame::Busy { sequence } => {
                let lost = peer.outbound.lock().busy(self.link.epoch, sequence);
                let lost = lost.map_err(|breach| breach.to_string())?;
                peer.report(lost.into_iter().collect());
            }
            Frame::Cancel { correlation } => self.link.answers.cancel(correlation),
            Frame::Watch(watch) => self.watch(&watch.watched),
            Frame::Unwatch(watch) => self.unwatch(&watch.watched),
            Frame::Credit(credit) => {
                peer.outbound.lock().pieces_read(self.link.epoch, credit.bytes);
                peer.to_write.notify_one();
            }
            Frame::HeartbeatReply { .. } => {}
            Frame::Terminated(terminated) => self.terminated(&terminated),
            Frame::Heartbeat { nonce } => self.link.write_first(&Frame::HeartbeatReply { nonce }),
            Frame::Operation(operation) => serve(&self.link, &operation),
            Frame::Answer(answer) => heard(peer, answer),
            Frame::Hello(_) | Frame::Welcome(_) | Frame::Refuse(_) => {
                return Err("it introduced itself again".to_owned());
            }
            _ => {}
        }
        Ok(())
    }

    fn deliver(&self, envelope: Envelope, correlation: Option<u64>) -> Result<(), String> {
        let sequence = envelope.sequence;
        let peer = &*self.link.peer;
        peer.counters.received.fetch_add(1, Relaxed);
        // Names are numbers nearly always, so that costs nothing.
        let names = (
            envelope.receiver.clone(),
            envelope.sender.clone(),
            envelope.type_name.clone(),
        );
        let delivering = Delivering::begin(&self.link, sequence);
        let delivered = self.try_deliver(envelope, correlation);
        let has_left = delivering.has_left();
        match delivered {
            Ok(()) if has_left => self.link.settle(sequence),
            Ok(()) => {}
            Err(Undelivered::Rule(why)) => return Err(why),
            Err(Undelivered::GivenUp) => {
                peer.counters.refused.fetch_add(1, Relaxed);
                self.link.settle(sequence);
            }
            Err(Undelivered::Busy) => {
                peer.counters.refused.fetch_add(1, Relaxed);
                self.link.write_first(&Frame::Busy { sequence });
                self.link.settle(sequence);
            }
            Err(Undelivered::Not(number, why)) => {
                peer.counters.refused.fetch_add(1, Relaxed);
                peer.shared.report_refused(&peer.node, &why);
                self.link.settle(sequence);
                match correlation {
                    Some(correlation) => {
                        let outcome = Outcome::ended(number, 0, &why);
                        self.link.write_first(&Frame::Reply(Reply { correlation, outcome }));
                    }
                    None => self.dead_letter(&names, number),
                }
            }
        }
        Ok(())
    }

    /// A message that was told and cannot be delivered: nobody waits for an answer, so it is said here.
    fn dead_letter(&self, (receiver, sender, type_name): &(Name, Option<Name>, Name), number: u8) {
        let shared = &self.link.peer.shared;
        let path = self.address(receiver).and_then(|address| address.path().cloned());
        let name = match type_name {
            Name::Text(text) => Some(text.as_str()),
            Name::Id(id) => self.types.get(*id).map(|(text, ())| text),
        };
        let message_type = name.and_then(|name| shared.registry.type_name_of(name));
        let reason = match number {
            Outcome::STOPPED => DeadReason::Nobody,
            _ => DeadReason::Unhandled,
        };
        let mut arrival = Arrival::new(&shared.system);
        if let Some(sender) = sender.as_ref().and_then(|name| self.sender(name)) {
            arrival = arrival.sender(sender);
        }
        let path = path.unwrap_or_else(Path::root);
        arrival.dead_letter(path, reason, message_type.unwrap_or("a message of an unknown type"));
    }

    fn try_deliver(&self, envelope: Envelope, correlation: Option<u64>) -> Result<(), Undelivered> {
        if envelope.sequence == 0 || envelope.sequence > LAST_NUMBER {
            return Err(Undelivered::Rule(format!("it numbers a message {}", envelope.sequence)));
        }
        if !self.link.rights.allows(Right::Tell) {
            self.link.peer.counters.forbidden.fetch_add(1, Relaxed);
            return Err(Undelivered::Not(Outcome::REFUSED, "it has no right to tell".to_owned()));
        }
        if let Some(correlation) = correlation {
            if self.link.answers.was_given_up(correlation) {
                return Err(Undelivered::GivenUp);
            }
            if self.link.answers.len() as u64 >= self.link.peer.shared.options.window {
                return Err(Undelivered::Busy);
            }
        }
        let mut receiver = self.take_receiver(&envelope.receiver)?;
        let place = match &envelope.receiver {
            Name::Id(id) => self.addresses.get(*id),
            Name::Text(_) => None,
        };
        let delivered = self.deliver_to(&mut receiver, envelope, correlation);
        if let Some((_, place)) = place {
            place.receiver.set(Some(receiver));
        }
        delivered
    }

    fn deliver_to(
        &self,
        receiver: &mut Receiver,
        envelope: Envelope,
        correlation: Option<u64>,
    ) -> Result<(), Undelivered> {
        let link = &*self.link;
        let shared = &link.peer.shared;
        let route = self.route(&envelope.type_name, receiver)?;
        let Some(receipt) = receiver.inbox.admit(envelope.sequence, envelope.payload.len()) else {
            return Err(Undelivered::Busy);
        };
        let baggage = envelope.metadata.as_ref().and_then(baggage);
        let mut arrival = Arrival::new(&shared.system).receipt(receipt);
        if let Some(sender) = envelope.sender.as_ref().and_then(|name| self.sender(name)) {
            arrival = arrival.sender(sender);
        }
        if let Some(baggage) = &baggage {
            arrival = arrival.baggage(baggage);
        }
        let left = envelope.metadata.as_ref().and_then(Metadata::deadline);
        if let (Some(left), None) = (left, correlation) {
            arrival = arrival.time_left(left); // an ask has its own
        }
        let (codec, payload) = (envelope.codec, envelope.payload);
        let actor = &receiver.actor;
        let delivered = match correlation {
            None => arrival.deliver(|| route.tell(actor, codec, payload)),
            Some(correlation) => arrival
                .deliver(|| route.ask(actor, codec, payload, left))
                .map(|pending| link.await_answer(correlation, pending)),
        };
        delivered.map_err(|error| {
            let number = match error {
                DeliverError::Stopped => Outcome::STOPPED,
                // The sender hears, as of an actor that has more than its share.
                DeliverError::Full => return Undelivered::Busy,
                DeliverError::Decode(_) | DeliverError::Panicked { .. } => Outcome::UNREADABLE,
                _ => Outcome::REFUSED,
            };
            Undelivered::Not(number, error.to_string())
        })
    }

    /// Whoever lives at a place that the peer names, out of what is remembered of it: to be put back.
    fn take_receiver(&self, name: &Name) -> Result<Receiver, Undelivered> {
        let nobody = || Undelivered::Not(Outcome::STOPPED, "nobody lives there".to_owned());
        let spelt: Address;
        let address = match name {
            Name::Id(id) => {
                let (_, place) = self.addresses.get(*id).ok_or_else(|| unknown_number(*id))?;
                let remembered = place.receiver.take().filter(|receiver| receiver.actor.is_alive());
                if let Some(receiver) = remembered {
                    return Ok(receiver);
                }
                place.address.as_ref().ok_or_else(nobody)?
            }
            Name::Text(text) => {
                spelt = text.as_str().parse().map_err(|_| nobody())?;
                &spelt
            }
        };
        let actor = self.link.peer.shared.local(address).ok_or_else(nobody)?;
        Ok(Receiver {
            actor_type: actor.actor_type(),
            inbox: self.inbox(actor.id()),
            actor,
            last: None,
        })
    }

    fn inbox(&self, actor: ActorId) -> Arc<Inbox> {
        let inboxes = &mut *self.inboxes.borrow_mut();
        if let Some(inbox) = inboxes.get(&actor).and_then(Weak::upgrade) {
            return inbox;
        }
        if inboxes.len() >= self.most_inboxes.get() {
            inboxes.retain(|_, inbox| inbox.strong_count() > 0);
            self.most_inboxes.set(FEW_INBOXES.max(2 * inboxes.len()));
        }
        let inbox = Inbox::new(self.link.clone());
        inboxes.insert(actor, Arc::downgrade(&inbox));
        inbox
    }

    fn route(&self, name: &Name, receiver: &mut Receiver) -> Result<Route, Undelivered> {
        let registry = &self.link.peer.shared.registry;
        let find = |text: &str| {
            registry.route(receiver.actor_type, text).map_err(|error| {
                let number = match error {
                    DeliverError::UnknownMessage { .. } => Outcome::UNKNOWN_TYPE,
                    _ => Outcome::REFUSED,
                };
                Undelivered::Not(number, error.to_string())
            })
        };
        match name {
            Name::Text(text) => find(text.as_str()),
            Name::Id(id) => match receiver.last {
                Some((last, route)) if last == *id => Ok(route),
                _ => {
                    let (text, ()) = self.types.get(*id).ok_or_else(|| unknown_number(*id))?;
                    let route = find(text)?;
                    receiver.last = Some((*id, route));
                    Ok(route)
                }
            },
        }
    }

    /// The stand-in of a sender.
    fn sender(&self, name: &Name) -> Option<ActorId> {
        let peer = &self.link.peer;
        let stand_in = |address: &Address| Some(peer.shared.stand_in_of_peer(peer, address)?.id());
        match name {
            Name::Text(text) => stand_in(&text.as_str().parse().ok()?),
            Name::Id(id) => {
                let (_, place) = self.addresses.get(*id)?;
                if place.sender.get().is_none() {
                    place.sender.set(place.address.as_ref().and_then(stand_in));
                }
                place.sender.get()
            }
        }
    }

    fn address(&self, name: &Name) -> Option<Address> {
        match name {
            Name::Text(text) => text.as_str().parse().ok(),
            Name::Id(id) => self.addresses.get(*id)?.1.address.clone(),
        }
    }

    fn answered(&self, reply: Reply) {
        let peer = &self.link.peer;
        let Some((waiting, message)) = peer.outbound.lock().take_ask(reply.correlation) else {
            return; // nobody waits any more, or nobody asked
        };
        match peer.shared.registry.entry_of(message) {
            Some(entry) => entry.answer(waiting, reply.outcome, &peer.node),
            None => drop(waiting),
        }
    }

    /// Somebody there wants to hear of the end of an actor here. They hear once, however often they ask.
    fn watch(&self, watched: &Name) {
        if !self.link.rights.allows(Right::Watch) {
            return forbid(&self.link, Right::Watch, 0, "it has no right to watch");
        }
        let link = self.link.clone();
        let shared = &link.peer.shared;
        let Some(address) = self.address(watched) else { return };
        let key = address.to_string();
        let Some(actor) = shared.local(&address) else {
            return link.say_ended(&key, TerminationCause::Nobody);
        };
        let given_up = Arc::new(Closing::default());
        if link.watches.lock().contains_key(&key) {
            return;
        }
        link.watches.lock().insert(key.clone(), given_up.clone());
        let watching = link.clone();
        shared.system.world().spawn(Box::pin(async move {
            let end = given_up.or(actor.terminated());
            if watching.closing().or(end).await == Some(Some(())) {
                watching.watches.lock().remove(&key);
                watching.say_ended(&key, TerminationCause::Ended);
            }
        }));
    }

    fn unwatch(&self, watched: &Name) {
        if let Some(address) = self.address(watched)
            && let Some(given_up) = self.link.watches.lock().remove(&address.to_string())
        {
            given_up.close();
        }
    }

    /// An actor there has ended.
    fn terminated(&self, terminated: &Terminated) {
        let Some(address) = self.address(&terminated.watched) else {
            return;
        };
        self.link.peer.ended(&address.to_string());
    }
}

impl Link {
    fn say_ended(&self, address: &str, cause: TerminationCause) {
        self.write_in_order(&Frame::Terminated(Terminated {
            watcher: Name::Text("".into()),
            watched: Name::Text(address.into()),
            cause,
        }));
    }
}

impl Place {
    fn new(address: Option<Address>) -> Self {
        Place {
            address,
            receiver: Cell::new(None),
            sender: Cell::new(None),
        }
    }
}

enum Undelivered {
    /// The connection is closed.
    Rule(String),
    Busy,
    /// Its asker did not wait for it to arrive.
    GivenUp,
    Not(u8, String),
}

fn unknown_number(id: u32) -> Undelivered {
    Undelivered::Rule(format!("it uses the number {id}, which it has not defined"))
}

/// What travelled along, as handlers see it, if anything did.
fn baggage(metadata: &Metadata) -> Option<Baggage> {
    if metadata.trace().is_none() && metadata.headers().next().is_none() {
        return None;
    }
    let mut baggage = Baggage::new();
    if let Some(trace) = metadata.trace() {
        let (id, span) = (u128::from_be_bytes(trace.trace), u64::from_be_bytes(trace.span));
        if let (Some(id), Some(span)) = (id.try_into().ok(), span.try_into().ok()) {
            let context = TraceContext::new(id, span);
            let sampled = trace.flags & 1 != 0;
            baggage = baggage.with_trace(if sampled { context.sampled() } else { context });
        }
    }
    for (name, value) in metadata.headers() {
        // What is beyond our bounds stays behind.
        baggage = baggage.clone().with_header(name, value).unwrap_or(baggage);
    }
    Some(baggage)
}
