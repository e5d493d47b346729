//! Delivers messages of the peer: finds receiver, sender and way, and room to wait.

use std::any::TypeId;
use std::borrow::Cow;
use std::cell::Ref;
use std::sync::atomic::Ordering::*;
use std::sync::{Arc, Weak};

use bytes::Bytes;
use volary_core::foreign::{Arrival, Receipt, Receipts};
use volary_core::{ActorId, Address, AnyRef, Baggage, DeadReason, Path, TraceContext};
use volary_wire::native::{Envelope, Frame, Metadata, Name, Outcome, Reply, Told};
use volary_wire::{DeliverError, Route};

use super::super::answers::Question;
use super::super::inbox::{Delivering, Inbox, LAST_NUMBER};
use super::{FEW_INBOXES, Inbound};
use crate::transport_actor::{InboundMessage, RemoteEnvelope};
use crate::trust::Right;

/// An actor here that the peer sends to.
pub(super) struct Receiver {
    actor: AnyRef,
    actor_type: TypeId,
    inbox: Arc<Inbox>,
    /// Of the inbox.
    receipts: Receipts,
    /// The way of the message type that came last, which is mostly that of the next: its number, and how often numbers
    /// had got other names by then.
    last: Option<((u32, u32), Route)>,
}

impl Receiver {
    /// A receipt for the message of this number and length; `None` if too many wait already, or too much.
    #[inline]
    fn admit(&self, sequence: u64, length: usize, is_asked: bool) -> Option<Receipt> {
        self.inbox.admit(&self.receipts, sequence, length, is_asked)
    }
}

/// Why a message did not go the short way.
pub(super) enum Unusual {
    /// It is not known by heart.
    Unknown(Told),
    Undelivered(u64, Names, Undelivered),
}

/// Receiver, sender and type, as a frame calls them.
pub(super) type Names = (Name, Option<Name>, Name);

impl Inbound {
    /// Delivers a message whose way is known by heart; what is left to do if it is not, or ends otherwise.
    #[inline]
    pub(super) fn tell(&self, told: Told) -> Option<Unusual> {
        let Some((receiver, route, sender)) = self.by_heart(&told) else {
            return Some(Unusual::Unknown(told));
        };
        let peer = &*self.link.peer;
        peer.counters.one_received();
        let sequence = told.sequence;
        let delivering = Delivering::begin(&self.link, sequence);
        self.referring.begin_message();
        let delivered = match receiver.admit(sequence, told.payload.len(), false) {
            Some(receipt) => Arrival::new(&peer.shared.system)
                .receipt(receipt)
                .from(sender)
                .deliver(|| route.tell(&receiver.actor, told.codec, told.payload))
                .map_err(|error| self.why_not(error)),
            None => Err(Undelivered::Busy),
        };
        drop(receiver);
        let why = self.concluded(sequence, delivering, delivered).err()?;
        let sender = told.sender.map(Name::Id);
        let names = (Name::Id(told.receiver), sender, Name::Id(told.type_name));
        Some(Unusual::Undelivered(sequence, names, why))
    }

    /// Does what is left to do with a message that did not go the short way to its end.
    #[cold]
    pub(super) fn tell_unusual(&self, unusual: Unusual) -> Result<(), String> {
        match unusual {
            Unusual::Unknown(told) => self.deliver(told.into(), None),
            Unusual::Undelivered(sequence, names, why) => self.undelivered(sequence, None, &names, why),
        }
    }

    /// Receiver, way and sender of a message, if everything is as it was with the last one between the two.
    fn by_heart(&self, told: &Told) -> Option<(Ref<'_, Receiver>, Route, Option<ActorId>)> {
        let is_in_order = told.sequence != 0 && told.sequence <= LAST_NUMBER && self.link.rights.allows(Right::Tell);
        if self.is_looked_at || !is_in_order {
            return None;
        }
        let (_, place) = self.addresses.get(told.receiver)?;
        let receiver = Ref::filter_map(place.receiver.borrow(), Option::as_ref).ok()?;
        let (last, route) = receiver.last?;
        if last != (told.type_name, self.retyped) || !receiver.actor.is_alive() {
            return None;
        }
        let sender = match told.sender {
            None => None,
            Some(id) => Some(self.addresses.get(id)?.1.sender.borrow().as_ref()?.0),
        };
        Some((receiver, route, sender))
    }

    pub(super) fn deliver(&self, envelope: Envelope, correlation: Option<u64>) -> Result<(), String> {
        let sequence = envelope.sequence;
        let peer = &*self.link.peer;
        peer.counters.one_received();
        // Names are numbers nearly always, so that costs nothing.
        let names = (
            envelope.receiver.clone(),
            envelope.sender.clone(),
            envelope.type_name.clone(),
        );
        let delivering = Delivering::begin(&self.link, sequence);
        let delivered = self.try_deliver(envelope, correlation);
        self.concluded(sequence, delivering, delivered)
            .or_else(|why| self.undelivered(sequence, correlation, &names, why))
    }

    /// The delivery is over. One that has left its mailbox meanwhile is settled here, or nobody would say so.
    #[inline]
    fn concluded<E>(&self, sequence: u64, delivering: Delivering, delivered: Result<(), E>) -> Result<(), E> {
        if delivering.has_left() && delivered.is_ok() {
            self.link.settle(sequence);
        }
        delivered
    }

    /// It did not get into its mailbox: the peer hears, and nobody waits for it.
    #[cold]
    fn undelivered(
        &self,
        sequence: u64,
        correlation: Option<u64>,
        names: &Names,
        why: Undelivered,
    ) -> Result<(), String> {
        let peer = &*self.link.peer;
        match why {
            Undelivered::Rule(why) => return Err(why),
            Undelivered::GivenUp => {
                peer.counters.refused.fetch_add(1, Relaxed);
                self.link.settle(sequence);
            }
            Undelivered::Busy => {
                peer.counters.refused.fetch_add(1, Relaxed);
                self.link.write_first(&Frame::Busy { sequence });
                self.link.settle(sequence);
            }
            Undelivered::Not(number, why) => {
                peer.counters.refused.fetch_add(1, Relaxed);
                peer.shared.report_refused(&peer.node, &why);
                self.link.settle(sequence);
                match correlation {
                    Some(correlation) => {
                        let outcome = Outcome::ended(number, 0, &why);
                        self.link.write_first(&Frame::Reply(Reply { correlation, outcome }));
                    }
                    None => self.dead_letter(names, number),
                }
            }
        }
        Ok(())
    }

    /// A message that was told and cannot be delivered: nobody waits for an answer, so it is said here.
    fn dead_letter(&self, (receiver, sender, type_name): &Names, number: u8) {
        let shared = &self.link.peer.shared;
        let path = self.address(receiver).and_then(|address| address.path().cloned());
        let name = match type_name {
            Name::Text(text) => Some(text.as_str()),
            Name::Id(id) => self.types.get(*id).map(|(text, ())| text),
        };
        let message_type: Cow<'static, str> = match name.map(|name| (shared.registry.type_name_of(name), name)) {
            Some((Some(known), _)) => known.into(),
            Some((None, name)) => name.to_owned().into(),
            None => "a message of an unknown type".into(),
        };
        let reason = match number {
            Outcome::STOPPED => DeadReason::Nobody,
            _ => DeadReason::Unhandled,
        };
        let sender = sender.as_ref().and_then(|name| self.sender(name));
        let arrival = Arrival::new(&shared.system).from(sender);
        let path = path.unwrap_or_else(Path::root);
        arrival.dead_letter(path, reason, message_type);
    }

    fn try_deliver(&self, envelope: Envelope, correlation: Option<u64>) -> Result<(), Undelivered> {
        if envelope.sequence == 0 || envelope.sequence > LAST_NUMBER {
            return Err(Undelivered::Rule(format!("it numbers a message {}", envelope.sequence)));
        }
        if !self.link.rights.allows(Right::Tell) {
            self.link.peer.counters.forbidden.fetch_add(1, Relaxed);
            return Err(Undelivered::Not(Outcome::REFUSED, "it has no right to tell".to_owned()));
        }
        if self.is_published {
            self.publish(&envelope, correlation.is_some());
        }
        if correlation.is_some_and(|correlation| self.link.answers.was_given_up(correlation)) {
            return Err(Undelivered::GivenUp);
        }
        let mut receiver = self.take_receiver(&envelope.receiver)?;
        let place = match &envelope.receiver {
            Name::Id(id) => self.addresses.get(*id),
            Name::Text(_) => None,
        };
        let delivered = self.deliver_to(&mut receiver, envelope, correlation);
        if let Some((_, place)) = place {
            place.receiver.replace(Some(receiver));
        }
        delivered
    }

    /// Tells whoever wants to hear of what arrives.
    #[cold]
    fn publish(&self, envelope: &Envelope, is_asked: bool) {
        let (shared, node) = (&self.link.peer.shared, self.link.peer.node.clone());
        let type_name = match &envelope.type_name {
            Name::Text(text) => Some(text.as_str()),
            Name::Id(id) => self.types.get(*id).map(|(text, ())| text),
        };
        // Without a name of its own it is not delivered, and says nothing.
        let (Some(target), Some(type_name)) = (self.address(&envelope.receiver), type_name) else {
            return;
        };
        let envelope = RemoteEnvelope {
            target,
            sender: envelope.sender.as_ref().and_then(|name| self.address(name)),
            type_name: type_name.to_owned(),
            codec: envelope.codec,
            // Copied: a slice would keep the whole read buffer that it came in.
            payload: Bytes::copy_from_slice(&envelope.payload),
        };
        shared.system.events().publish(InboundMessage {
            node,
            envelope,
            is_asked,
        });
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
        self.referring.begin_message();
        let mut baggage = envelope.metadata.as_ref().and_then(|metadata| self.baggage(metadata));
        if !shared.propagators.is_empty() {
            let refused = |why| Undelivered::Not(Outcome::REFUSED, why);
            baggage = shared.extract(baggage).map_err(refused)?;
        }
        let Some(receipt) = receiver.admit(envelope.sequence, envelope.payload.len(), correlation.is_some()) else {
            return Err(Undelivered::Busy);
        };
        if correlation.is_some() && !link.answers.begin(shared.options.window) {
            return Err(Undelivered::Busy);
        }
        let sender = envelope.sender.as_ref().and_then(|name| self.sender(name));
        let mut arrival = Arrival::new(&shared.system).receipt(receipt).from(sender);
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
            Some(correlation) => match arrival.deliver(|| route.ask(actor, codec, payload, left)) {
                Ok(mut reply) => {
                    let now = || shared.system.now();
                    let arrived = self.arrived.get().unwrap_or_else(now);
                    self.arrived.set(Some(arrived));
                    reply.count_from(arrived);
                    self.asked.borrow_mut().push(Question { correlation, reply });
                    Ok(())
                }
                Err(error) => {
                    link.answers.one_ended();
                    Err(error)
                }
            },
        };
        delivered.map_err(|error| self.why_not(error))
    }

    /// What travelled along, but for what is beyond the bounds of handlers, which stays behind and is said once.
    fn baggage(&self, metadata: &Metadata) -> Option<Baggage> {
        let (baggage, beyond) = baggage(metadata)?;
        if !beyond.is_empty() {
            let peer = &*self.link.peer;
            let why =
                "a header was left behind: its name is none, or all of a message are longer than handlers may have";
            tracing::debug!(node = %peer.node, headers = ?beyond, why);
            peer.shared.report_refused(&peer.node, why);
        }
        Some(baggage)
    }

    /// Why a message was not delivered.
    #[cold]
    fn why_not(&self, error: DeliverError) -> Undelivered {
        match self.referring.why_not() {
            Some(why) => Undelivered::Not(Outcome::REFUSED, why),
            None => error.into(),
        }
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
        let inbox = self.inbox(actor.id());
        Ok(Receiver {
            actor_type: actor.actor_type(),
            receipts: Receipts::new(inbox.clone()),
            inbox,
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
            let found = registry.route_for_stranger(receiver.actor_type, text);
            found.map_err(|mut error| {
                let number = match &mut error {
                    DeliverError::UnknownMessage { name, near } => {
                        *near = self.link.peer.unheard_of.near(name, || registry.near(text));
                        Outcome::UNKNOWN_TYPE
                    }
                    _ => Outcome::REFUSED,
                };
                Undelivered::Not(number, error.to_string())
            })
        };
        match name {
            Name::Text(text) => find(text.as_str()),
            Name::Id(id) => match receiver.last {
                Some((last, route)) if last == (*id, self.retyped) => Ok(route),
                _ => {
                    let (text, ()) = self.types.get(*id).ok_or_else(|| unknown_number(*id))?;
                    let route = find(text)?;
                    receiver.last = Some(((*id, self.retyped), route));
                    Ok(route)
                }
            },
        }
    }
}

pub(super) enum Undelivered {
    /// The connection is closed.
    Rule(String),
    Busy,
    /// Its asker did not wait for it to arrive.
    GivenUp,
    Not(u8, String),
}

impl From<DeliverError> for Undelivered {
    #[cold]
    fn from(error: DeliverError) -> Self {
        let number = match error {
            DeliverError::Stopped => Outcome::STOPPED,
            // The sender hears, as of an actor that has more than its share.
            DeliverError::Full => return Undelivered::Busy,
            DeliverError::Decode(_) | DeliverError::Panicked { .. } => Outcome::UNREADABLE,
            _ => Outcome::REFUSED,
        };
        Undelivered::Not(number, error.to_string())
    }
}

fn unknown_number(id: u32) -> Undelivered {
    Undelivered::Rule(format!("it uses the number {id}, which it has not defined"))
}

/// What travelled along, as handlers see it, if anything did; and which headers are beyond what they may hold.
fn baggage(metadata: &Metadata) -> Option<(Baggage, Vec<&str>)> {
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
    let mut beyond = Vec::new();
    for (name, value) in metadata.headers() {
        match baggage.clone().with_header(name, value) {
            Ok(more) => baggage = more,
            Err(_) => beyond.push(name),
        }
    }
    Some((baggage, beyond))
}
