//! Reads frames, and does what they say.

mod deliver;
mod referring;
mod senders;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering::*;
use std::sync::{Arc, Weak};

use tokio::io::{AsyncRead, AsyncReadExt};
use volary_core::foreign::Arrival;
use volary_core::{ActorId, Address, AnyRef, Moment, Resolver, Resolving};
use volary_wire::native::{
    Credit, Frame, FrameDecoder, GoodbyeReason, InternSpace, InternTable, Name, Reply, Terminated, TerminationCause,
};

use super::Link;
use super::answers::Question;
use super::inbox::Inbox;
use super::pieces::Taken;
use super::until::{Closing, give_way};
use crate::compression::Stretch;
use crate::operations::{forbid, heard, serve};
use crate::peer::Inflow;
use crate::transport_actor::InboundMessage;
use crate::trust::Right;
use deliver::{Receiver, Unusual};
use referring::Referring;
use senders::Senders;

/// How many messages are handled before others have their turn.
const BUDGET: usize = 256;
/// How many bytes are decompressed before others have their turn.
const STRETCHED_AT_ONCE: usize = 1 << 20;
/// How many inboxes are kept without looking whether they are of use.
const FEW_INBOXES: usize = 1_024;
/// How many runs of settled messages are remembered, of those that are old. Gaps between them are messages that wait; a peer that has this
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
                give_way().await;
                continue;
            }
            Ok(Handled::Closed) => return,
            Ok(Handled::Goodbye(reason)) => {
                if reason == GoodbyeReason::Leaving {
                    link.peer.shared.left(&link.peer, link.epoch, link.incarnation);
                }
                break "it said goodbye".to_owned();
            }
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
                        give_way().await;
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
    Goodbye(GoodbyeReason),
}

/// Whoever reads has nothing more to read when this is dropped.
struct Resting<'a>(&'a Inflow);

impl Drop for Resting<'_> {
    fn drop(&mut self) {
        self.0.rest();
    }
}

/// An address that the peer called by a number.
struct Place {
    address: Option<Address>,
    /// Who lives there, when somebody was told.
    receiver: RefCell<Option<Receiver>>,
    /// Whoever sends from there, kept for as long as the number has this name: a message says who sent it by an id, which leads to
    /// nobody when they are let go of.
    sender: RefCell<Option<(ActorId, AnyRef)>>,
}

struct Inbound {
    link: Arc<Link>,
    decoder: FrameDecoder,
    addresses: InternTable<Place>,
    /// Senders that have no number.
    spelt: RefCell<Senders>,
    types: InternTable<()>,
    /// How often a number of a type got another name.
    retyped: u32,
    /// One for each actor, whatever the peer calls it, or its share would be as many as its names.
    inboxes: RefCell<BTreeMap<ActorId, Weak<Inbox>>>,
    /// Asks that were put into their mailboxes and nobody has begun with.
    asked: RefCell<Vec<Question>>,
    /// When these came.
    arrived: Cell<Option<Moment>>,
    referring: Arc<Referring>,
    /// How many inboxes there may be before it is looked for those that are of no use.
    most_inboxes: Cell<usize>,
    /// Somebody looks at what arrives, so that nothing goes the short way.
    is_looked_at: bool,
    /// Somebody wants to hear of each message that arrives.
    is_published: bool,
}

impl Inbound {
    fn new(link: Arc<Link>, decoder: FrameDecoder) -> Self {
        let limits = link.peer.shared.options.limits();
        let referring = Referring::new(link.peer.clone());
        Inbound {
            link,
            is_looked_at: false,
            is_published: false,
            decoder,
            addresses: InternTable::new(InternSpace::Address, &limits),
            spelt: RefCell::default(),
            types: InternTable::new(InternSpace::Type, &limits),
            retyped: 0,
            inboxes: RefCell::default(),
            asked: RefCell::default(),
            arrived: Cell::new(None),
            referring,
            most_inboxes: Cell::new(FEW_INBOXES),
        }
    }

    /// Handles the frames that are there, unless another connection has taken over.
    fn handle_in_turn(&mut self) -> Result<Handled, String> {
        let peer = self.link.peer.clone();
        let _turn = peer.reading.lock();
        let resting = Resting(&peer.inflow);
        if self.link.closing().is_closed() {
            return Ok(Handled::Closed);
        }
        if self.link.leaving.lock().settled.runs() > MOST_RUNS {
            return Err("it leaves gaps in the numbers of its messages".to_owned());
        }
        let shared = &peer.shared;
        self.is_published = shared.system.events().has_subscribers::<InboundMessage>();
        self.is_looked_at = self.is_published || !shared.propagators.is_empty();
        self.referring.begin();
        let resolver: Arc<dyn Resolver> = self.referring.clone();
        let handled = Resolving::within(&resolver, || self.handle_all());
        peer.references.rest();
        self.pass_on_asked();
        if matches!(handled, Ok(Handled::Some)) {
            std::mem::forget(resting); // there is more to read
        }
        handled
    }

    /// Asks are begun with by another task, so that no actor can keep this one from reading.
    fn pass_on_asked(&mut self) {
        self.arrived.set(None);
        let asked = self.asked.get_mut();
        if !asked.is_empty() {
            self.link.answers.add(asked);
            if self.link.closing().is_closed() {
                self.link.answers.clear(); // it was, before they were there
            }
        }
    }

    /// Handles the frames that are there.
    fn handle_all(&mut self) -> Result<Handled, String> {
        let mut left = BUDGET;
        while left > 0 {
            if let Some(unusual) = self.tell_known(&mut left) {
                self.tell_unusual(unusual)?;
                continue;
            }
            if left == 0 {
                break;
            }
            left -= 1;
            match self.decoder.next_frame() {
                Ok(None) => return Ok(Handled::All),
                Ok(Some(Frame::Goodbye(goodbye))) => return Ok(Handled::Goodbye(goodbye.reason)),
                Ok(Some(frame)) => self.handle(frame)?,
                Err(error) => return Err(format!("it broke a rule: {error}")),
            }
        }
        Ok(Handled::Some)
    }

    /// Delivers what nearly every frame is, for as long as they are and go the short way. Only there are actors queued together
    /// that are woken by it: what is not usual leads to code of others, which may wait for one of them.
    fn tell_known(&mut self, left: &mut usize) -> Option<Unusual> {
        let link = self.link.clone();
        Arrival::many(&link.peer.shared.system, || {
            while *left > 0 {
                let told = self.decoder.next_told()?;
                *left -= 1;
                let unusual = self.tell(told);
                if unusual.is_some() {
                    return unusual;
                }
            }
            None
        })
    }

    fn handle(&mut self, frame: Frame) -> Result<(), String> {
        let peer = &self.link.peer;
        match frame {
            Frame::Tell(envelope) => self.deliver(envelope, None)?,
            Frame::Ask { correlation, envelope } => self.deliver(envelope, Some(correlation))?,
            Frame::Reply(reply) => self.answered(reply),
            Frame::Intern(intern) => {
                let defined = match intern.space {
                    InternSpace::Type => {
                        // What was remembered of a number is true no more when it gets another name.
                        self.retyped += u32::from(self.types.get(intern.id).is_some());
                        self.types.define(&intern, ())
                    }
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
                let was_asked_for = |beginning| self.link.has_asked_for(beginning);
                let taken = self.link.pieces.lock().accept(chunk, now, &peer.inflow, was_asked_for);
                match taken {
                    Ok(Taken::Whole(frame)) => self.handle(frame)?,
                    Ok(Taken::Part) => {}
                    Ok(Taken::GivenUp(beginning)) => self.link.abandoned(beginning),
                    Err(error) => return Err(error.to_string()),
                }
            }
            Frame::Abort { transfer } => self.link.pieces.lock().abort(transfer, &peer.inflow),
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
                let clock = || peer.shared.nanos();
                peer.outbound.lock().pieces_read(self.link.epoch, credit.bytes, clock);
                peer.to_write.notify_one();
            }
            Frame::HeartbeatReply { nonce } => self.link.sign(nonce),
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

    /// The stand-in of a sender.
    fn sender(&self, name: &Name) -> Option<ActorId> {
        let peer = &self.link.peer;
        let find = |address: &Address| match peer.shared.stand_in_of_peer(peer, address) {
            Some(stand_in) => Some(stand_in.any_ref()),
            None => self.relayed(address),
        };
        let id = match name {
            Name::Text(text) => {
                let sender = find(&text.as_str().parse().ok()?)?;
                return Some(self.spelt.borrow_mut().keep(sender));
            }
            Name::Id(id) => *id,
        };
        let (_, place) = self.addresses.get(id)?;
        if let Some((id, sender)) = &*place.sender.borrow()
            && sender.is_alive()
        {
            return Some(*id);
        }
        let found = place.address.as_ref().and_then(find);
        let found = found.map(|sender| (sender.id(), sender));
        let id = found.as_ref().map(|(id, _)| *id);
        place.sender.replace(found);
        id
    }

    /// A sender that the peer says is of another node, or of this one, if it may.
    #[cold]
    fn relayed(&self, address: &Address) -> Option<AnyRef> {
        let peer = &self.link.peer;
        let is_of_another = address.node().is_some_and(|node| node.to_string() != peer.node);
        let may = is_of_another && self.link.rights.allows(Right::Relay);
        may.then(|| peer.shared.system.find(address)).flatten()
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

impl Drop for Inbound {
    fn drop(&mut self) {
        self.link.pieces.lock().clear(&self.link.peer.inflow);
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
            receiver: RefCell::new(None),
            sender: RefCell::new(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;
    use serde::{Deserialize, Serialize};
    use volary::prelude::*;
    use volary_wire::native::{Envelope, Goodbye};
    use volary_wire::{Codec, CodecId, Postcard};

    use super::*;
    use crate::alone::{Alone, Wire};
    use crate::{Remote, Rights};

    /// Never ends with its first message, so that the others wait.
    struct Stuck;

    #[actor(kind = "test.Stuck", remote(Fill))]
    impl Stuck {
        #[message(remote = "test.Fill", codec = postcard, derive(Serialize, Deserialize))]
        async fn fill(&mut self, bytes: Vec<u8>) {
            drop(bytes);
            std::future::pending().await
        }
    }

    fn fill(sequence: u64, length: usize) -> Frame {
        let mut payload = BytesMut::new();
        let bytes = vec![1; length];
        Postcard::encode(&Fill { bytes }, &mut payload).unwrap();
        Frame::Tell(Envelope {
            sequence,
            receiver: Name::Text("volary://one@127.0.0.1:1/user/stuck".into()),
            sender: None,
            type_name: Name::Text("test.Fill".into()),
            codec: CodecId::POSTCARD,
            metadata: None,
            payload: payload.freeze(),
        })
    }

    /// What the node has taken for its peers when mail has come that waits, and this behind it; and what of that is of no
    /// use.
    fn room_after(last: Option<Frame>) -> (u64, u64) {
        let node = Alone::start(Remote::builder().kind::<Stuck>());
        let stuck = node.system.spawn(|| Stuck).named("stuck");
        let stuck = node.world.env.block_on(stuck.into_future()).unwrap();
        let peer = node.peer();
        let wire = Wire::new(usize::MAX);
        let link = Link::start(&peer, wire.greeting(7), Rights::all());
        wire.say([fill(1, 1)]);
        node.settle();
        let is_end = last.is_some();
        // With so much in use much is taken at a time, and the last one leaves most of that over.
        wire.say((2..=100).map(|sequence| fill(sequence, 16 << 10)));
        node.settle();
        wire.say([fill(101, 3 << 10)].into_iter().chain(last));
        node.settle();
        assert_eq!((link.closing().is_closed(), stuck.mailbox_len()), (is_end, 100));
        assert!(2 * peer.inflow.unused() < peer.inflow.step(), "little is kept");
        (node.shared().inbound.load(Relaxed), peer.inflow.unused())
    }

    #[test]
    fn r3_room_taken_in_advance_is_given_back_by_a_reader_that_ends_in_the_middle() {
        let at_rest = room_after(None);
        let goodbye = Frame::Goodbye(Goodbye {
            reason: GoodbyeReason::Leaving,
            text: "".into(),
        });
        assert_eq!(room_after(Some(goodbye)), at_rest);
        // No message has this number.
        assert_eq!(room_after(Some(fill(0, 1))), at_rest);
    }
}
