//! Names that were said on a connection and are called by a number from then on. When there are as many as the other side
//! takes, an address gets the number of one that was not used lately, and the other side hears so before it is used: frames
//! keep their order. What goes in pieces does not, so while any of that waits no number changes hands.
//!
//! An address that is used once would take the number of another for nothing. So when there are no more, it is the second time
//! that counts, soon after the first; else it stands in full.

use std::any::TypeId;
use std::hash::BuildHasher;

use hashbrown::HashMap;
use volary_core::ActorId;
use volary_wire::native::{InternSpace, Limits};

type Hasher = foldhash::fast::FixedState;
type Map<K, V> = HashMap<K, V, Hasher>;

/// Of how many addresses that have no number it is remembered that they were used.
const USED_ONCE: usize = 1_024;

pub(super) struct Names {
    types: Map<TypeId, u32>,
    type_bytes: usize,
    senders: Map<ActorId, u32>,
    places: Vec<Place>,
    /// Of all addresses that have a number.
    bytes: usize,
    /// Where it is looked next for a number that changes hands.
    hand: usize,
    /// Addresses that have none and were used; each in the one place that it may have.
    once: Vec<Option<ActorId>>,
    most: usize,
    most_bytes: usize,
}

/// An address that has a number.
struct Place {
    /// Who is called so: a receiver, or a sender.
    owner: ActorId,
    length: usize,
    /// Since it was looked at last.
    used: bool,
}

/// Whether numbers may change hands just now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Hands {
    /// All but this one, which the same frame uses; 0 if it uses none.
    Open { but: u32 },
    /// Frames that were written are not on their way yet, and use them.
    Tied,
}

/// What a name is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Called {
    /// By this number, which was said before.
    By(u32),
    /// By this number, which must be said first.
    From(u32),
    /// In full.
    InFull,
}

impl Names {
    pub(super) fn new() -> Self {
        let limits = Limits::default();
        Names::within(limits.max_interned, limits.max_interned_bytes)
    }

    fn within(most: usize, most_bytes: usize) -> Self {
        Names {
            types: Map::default(),
            type_bytes: 0,
            senders: Map::default(),
            places: Vec::new(),
            bytes: 0,
            hand: 0,
            once: Vec::new(),
            most,
            most_bytes,
        }
    }

    /// Whether it has no memory.
    #[cfg(test)]
    pub(super) fn is_bare(&self) -> bool {
        self.types.capacity() + self.senders.capacity() + self.places.capacity() + self.once.capacity() == 0
    }

    /// A type keeps its number: there are no more than were registered.
    pub(super) fn message_type(&mut self, id: TypeId, name: &str) -> Called {
        if let Some(number) = self.types.get(&id) {
            return Called::By(*number);
        }
        if self.types.len() >= self.most || self.type_bytes + name.len() > self.most_bytes {
            return Called::InFull;
        }
        self.type_bytes += name.len();
        let number = self.types.len() as u32 + 1;
        self.types.insert(id, number);
        Called::From(number)
    }

    pub(super) fn known_sender(&mut self, id: ActorId) -> Option<u32> {
        let number = *self.senders.get(&id)?;
        self.places[number as usize - 1].used = true;
        Some(number)
    }

    pub(super) fn sender(&mut self, id: ActorId, address: &str, hands: Hands) -> Called {
        let called = self.number(id, address.len(), hands);
        if let Called::From(number) = called {
            self.senders.insert(id, number);
        }
        called
    }

    /// Whether a receiver still has the number that its outlet remembers.
    #[inline]
    pub(super) fn is_called(&mut self, id: ActorId, number: u32) -> bool {
        match self.places.get_mut((number as usize).wrapping_sub(1)) {
            Some(place) if place.owner == id => {
                place.used = true;
                true
            }
            _ => false,
        }
    }

    /// A receiver that has no number, which its outlet is to remember.
    pub(super) fn receiver(&mut self, id: ActorId, address: &str, hands: Hands) -> Called {
        self.number(id, address.len(), hands)
    }

    fn number(&mut self, owner: ActorId, length: usize, hands: Hands) -> Called {
        if self.places.len() < self.most && self.bytes + length <= self.most_bytes {
            self.bytes += length;
            self.places.push(Place {
                owner,
                length,
                used: true,
            });
            return Called::From(self.places.len() as u32);
        }
        match hands {
            Hands::Open { but } if self.was_used(owner) => self.take(owner, length, but),
            _ => Called::InFull,
        }
    }

    /// Whether an address without a number was used before; from now on it was.
    fn was_used(&mut self, owner: ActorId) -> bool {
        if self.once.is_empty() {
            self.once = vec![None; USED_ONCE];
        }
        let at = Hasher::default().hash_one(owner) as usize % USED_ONCE;
        self.once[at].replace(owner) == Some(owner)
    }

    /// Gives the number of an address that was not used since it was looked at last to another.
    #[cold]
    fn take(&mut self, owner: ActorId, length: usize, but: u32) -> Called {
        for _ in 0..2 * self.places.len() {
            let at = self.hand;
            let number = at as u32 + 1;
            self.hand = (at + 1) % self.places.len();
            let place = &mut self.places[at];
            let bytes = self.bytes - place.length + length;
            if number == but || std::mem::take(&mut place.used) || bytes > self.most_bytes {
                continue;
            }
            let used = true;
            let before = std::mem::replace(place, Place { owner, length, used });
            self.bytes = bytes;
            if self.senders.get(&before.owner) == Some(&number) {
                self.senders.remove(&before.owner);
            }
            return Called::From(number);
        }
        Called::InFull
    }
}

pub(super) const ADDRESS: InternSpace = InternSpace::Address;
pub(super) const TYPE: InternSpace = InternSpace::Type;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::future::IntoFuture;

    use serde::{Deserialize, Serialize};
    use volary::prelude::*;
    use volary_wire::native::{Assembler, Credit, Envelope, Frame, FrameDecoder, Intern, InternTable, Name};
    use volary_wire::{Codec, Postcard};

    use super::*;
    use crate::Remote;
    use crate::alone::{Alone, PEER, Wire};

    /// As many as the other side takes.
    const ALL: usize = 8_192;

    struct Desk;

    #[actor(kind = "test.Desk", remote(Note, Relay))]
    impl Desk {
        #[message(remote = "test.Note", codec = postcard, derive(Serialize, Deserialize))]
        fn note(&mut self, to: usize, number: u64, filling: Vec<u8>) {
            let _ = (to, number, filling);
        }

        /// Says something to somebody elsewhere.
        #[message(remote = "test.Relay", codec = postcard, derive(Serialize, Deserialize))]
        fn relay(&mut self, to: ActorRef<Desk>, note: Note) {
            let _ = to.tell(note);
        }
    }

    /// A node with many actors elsewhere, and a peer that follows what it hears.
    struct Crowd {
        node: Alone,
        wire: Wire,
        far: Vec<ActorRef<Desk>>,
        name: fn(usize) -> String,
        next: Vec<u64>,
        /// What was told to each and is to be heard.
        told: Vec<(usize, u64)>,
        decoder: FrameDecoder,
        assembler: Assembler,
        addresses: InternTable<()>,
        read: usize,
        heard: Vec<Heard>,
        /// How often a number got another address.
        replaced: usize,
    }

    struct Heard {
        to: usize,
        number: u64,
        in_full: bool,
        sender: Option<String>,
    }

    impl Crowd {
        fn new(count: usize) -> Self {
            Crowd::called(count, |n| format!("desk-{n}"))
        }

        fn called(count: usize, name: fn(usize) -> String) -> Self {
            let node = Alone::start(Remote::builder().kind::<Desk>());
            let wire = Wire::new(usize::MAX);
            node.shared().adopt(&node.peer(), wire.greeting(7), 0);
            node.settle();
            let far = |n: usize| {
                let address = format!("volary://stranger@{PEER}/user/{}", name(n));
                node.remote.actor(&address.parse().unwrap()).unwrap()
            };
            Crowd {
                far: (0..count).map(far).collect(),
                name,
                node,
                wire,
                next: vec![0; count],
                told: Vec::new(),
                decoder: FrameDecoder::new(Limits::default()),
                assembler: Assembler::new(Limits::default()),
                addresses: InternTable::new(InternSpace::Address, &Limits::default()),
                read: 0,
                heard: Vec::new(),
                replaced: 0,
            }
        }

        fn note(&mut self, to: usize, filling: usize) -> Note {
            self.next[to] += 1;
            let number = self.next[to];
            self.told.push((to, number));
            let filling = vec![0; filling];
            Note { to, number, filling }
        }

        fn tell(&mut self, to: usize, filling: usize) {
            let note = self.note(to, filling);
            self.far[to].tell(note).unwrap();
        }

        /// Hears what was written, and says that pieces were read.
        fn hear(&mut self) {
            loop {
                self.node.settle();
                let bytes = self.wire.heard_from(self.read);
                if bytes.is_empty() {
                    return;
                }
                self.read += bytes.len();
                self.decoder.buffer().extend_from_slice(&bytes);
                while let Some(frame) = self.decoder.next_frame().unwrap() {
                    self.follow(frame);
                }
            }
        }

        fn follow(&mut self, frame: Frame) {
            match frame {
                Frame::Intern(intern) => self.define(&intern),
                Frame::Chunk(chunk) => {
                    let (receiver, count, bytes) = (None, 0, chunk.payload.len() as u64);
                    self.wire.say([Frame::Credit(Credit { receiver, count, bytes })]);
                    if let Some(frame) = self.assembler.accept(chunk, 0).unwrap() {
                        self.follow(frame);
                    }
                }
                Frame::Tell(envelope) => self.deliver(envelope),
                _ => {}
            }
        }

        fn define(&mut self, intern: &Intern) {
            if intern.space == InternSpace::Address {
                self.replaced += usize::from(self.addresses.get(intern.id).is_some());
                self.addresses.define(intern, ()).unwrap();
            }
        }

        fn deliver(&mut self, envelope: Envelope) {
            let text = |name: &Name| match name {
                Name::Text(text) => text.as_str().to_owned(),
                Name::Id(id) => self.addresses.get(*id).unwrap().0.to_owned(),
            };
            let note: Note = Postcard::decode(envelope.payload).unwrap();
            let receiver = format!("volary://stranger@{PEER}/user/{}", (self.name)(note.to));
            assert_eq!(text(&envelope.receiver), receiver);
            self.heard.push(Heard {
                to: note.to,
                number: note.number,
                in_full: matches!(envelope.receiver, Name::Text(_)),
                sender: envelope.sender.as_ref().map(text),
            });
        }

        /// Everything came, and what came for each in order.
        fn check(&mut self) {
            self.hear();
            let mut last = vec![0; self.far.len()];
            for heard in &self.heard {
                assert_eq!(heard.number, last[heard.to] + 1, "to {}", heard.to);
                last[heard.to] = heard.number;
            }
            assert_eq!(self.heard.len(), self.told.len());
            self.heard.clear();
            self.told.clear();
            self.next.fill(0);
        }
    }

    #[test]
    fn r3_when_there_are_no_more_numbers_whoever_is_told_again_gets_that_of_another() {
        let mut crowd = Crowd::new(ALL + 100);
        (0..ALL + 100).for_each(|to| crowd.tell(to, 0));
        crowd.hear();
        assert!(crowd.heard.iter().all(|heard| heard.in_full == (heard.to >= ALL)));
        assert_eq!(crowd.replaced, 0, "nobody gives way to one that is told once");
        crowd.check();
        // The second time counts, and from then on it is short.
        (0..3).for_each(|_| (ALL..ALL + 100).for_each(|to| crowd.tell(to, 0)));
        crowd.hear();
        let in_full = crowd.heard.iter().filter(|heard| heard.in_full).count();
        assert!(in_full <= 20, "{in_full} of those whose first time was overwritten");
        assert!((80..=100).contains(&crowd.replaced), "{}", crowd.replaced);
        crowd.check();
        // Those who had to give way are told as ever.
        (0..2).for_each(|_| (0..ALL + 100).rev().for_each(|to| crowd.tell(to, 0)));
        crowd.check();
    }

    #[test]
    fn r3_those_who_are_told_all_the_time_keep_their_numbers() {
        let mut crowd = Crowd::new(3 * ALL);
        (0..ALL).for_each(|to| crowd.tell(to, 0));
        crowd.hear();
        for to in ALL..3 * ALL {
            (0..2).for_each(|_| crowd.tell(to, 0));
            crowd.tell(7, 0);
            if to % 1_000 == 0 {
                crowd.hear();
            }
        }
        crowd.hear();
        assert!(crowd.replaced > ALL, "all were looked at twice");
        let defined: BTreeSet<bool> = crowd
            .heard
            .iter()
            .filter(|heard| heard.to == 7)
            .map(|heard| heard.in_full)
            .collect();
        assert_eq!(defined, BTreeSet::from([false]));
        assert_eq!(
            crowd.addresses.get(8).unwrap().0,
            format!("volary://stranger@{PEER}/user/desk-7")
        );
        crowd.check();
    }

    #[test]
    fn r3_no_number_changes_hands_while_a_large_message_waits_that_uses_it() {
        let mut crowd = Crowd::new(3 * ALL);
        (0..ALL).for_each(|to| crowd.tell(to, 0));
        crowd.check();
        // Pieces of it are left when the writer has taken as much as may be on its way.
        crowd.tell(0, 2 << 20);
        crowd.node.settle();
        let before = crowd.replaced;
        for to in ALL..2 * ALL + 10 {
            (0..2).for_each(|_| crowd.tell(to, 0));
        }
        crowd.tell(0, 0);
        crowd.check();
        assert_eq!(crowd.replaced, before);
        for to in ALL..ALL + 10 {
            (0..3).for_each(|_| crowd.tell(to, 0));
        }
        crowd.check();
        assert_eq!(crowd.replaced, before + 10, "and then they do");
    }

    #[test]
    fn r3_a_sender_does_not_take_the_number_of_the_receiver_in_the_same_frame() {
        let mut crowd = Crowd::new(ALL + 10);
        let near: Vec<ActorRef<Desk>> = (0..ALL)
            .map(|n| {
                let spawn = crowd.node.system.spawn(|| Desk).named(format!("near-{n}"));
                crowd.node.world.env.block_on(spawn.into_future()).unwrap()
            })
            .collect();
        (0..ALL).for_each(|to| crowd.tell(to, 0));
        crowd.check();
        for (round, near) in near.iter().enumerate() {
            for _ in 0..2 {
                let note = crowd.note(round, 0);
                let to = crowd.far[round].clone();
                near.tell(Relay { to, note }).unwrap();
                crowd.node.settle();
            }
        }
        crowd.hear();
        for heard in &crowd.heard {
            let sender = heard.sender.as_deref().unwrap();
            assert!(
                sender.contains(&format!("/user/near-{}#", heard.to)),
                "{sender} to {}",
                heard.to
            );
        }
        assert!(crowd.replaced > ALL / 2, "{}", crowd.replaced);
        crowd.check();
        // Those whose numbers others have now say who they are again.
        for (round, near) in near.iter().enumerate() {
            let note = crowd.note(round, 0);
            let to = crowd.far[round].clone();
            near.tell(Relay { to, note }).unwrap();
        }
        crowd.hear();
        for heard in &crowd.heard {
            let sender = heard.sender.as_deref().unwrap();
            assert!(
                sender.contains(&format!("/user/near-{}#", heard.to)),
                "{sender} to {}",
                heard.to
            );
        }
        crowd.check();
    }

    #[test]
    fn r3_addresses_that_are_long_take_no_more_room_than_the_other_side_has() {
        let name = |n: usize| format!("desk-{n}-{}", "x".repeat(50 + n % 150));
        let mut crowd = Crowd::called(ALL + 2_000, name);
        // The other side would not take one that is too much.
        for _ in 0..3 {
            for to in 0..ALL + 2_000 {
                (0..2).for_each(|_| crowd.tell(to, 0));
            }
            crowd.check();
        }
        assert!(crowd.replaced > ALL, "{}", crowd.replaced);
    }
}
