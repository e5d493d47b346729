//! Names that were said on a connection and are called by a number from then on. Numbers are given in order and never
//! taken back, so whoever keeps one may use it for as long as the connection lasts; when there are too many, the others
//! stand in full.

use std::any::TypeId;

use hashbrown::HashMap;
use volary_core::ActorId;
use volary_wire::native::{InternSpace, Limits};

type Map<K, V> = HashMap<K, V, foldhash::fast::FixedState>;

pub(super) struct Names {
    types: Map<TypeId, u32>,
    senders: Map<ActorId, u32>,
    addresses: Space,
    type_names: Space,
}

struct Space {
    next: u32,
    bytes: usize,
    most: u32,
    most_bytes: usize,
}

impl Space {
    fn new(limits: &Limits) -> Self {
        Space {
            next: 1,
            bytes: 0,
            most: limits.max_interned as u32,
            most_bytes: limits.max_interned_bytes,
        }
    }

    fn number(&mut self, text: &str) -> Option<u32> {
        if self.next > self.most || self.bytes + text.len() > self.most_bytes {
            return None;
        }
        self.bytes += text.len();
        self.next += 1;
        Some(self.next - 1)
    }
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
        Names {
            types: Map::default(),
            senders: Map::default(),
            addresses: Space::new(&limits),
            type_names: Space::new(&limits),
        }
    }

    pub(super) fn message_type(&mut self, id: TypeId, name: &str) -> Called {
        if let Some(number) = self.types.get(&id) {
            return Called::By(*number);
        }
        match self.type_names.number(name) {
            Some(number) => {
                self.types.insert(id, number);
                Called::From(number)
            }
            None => Called::InFull,
        }
    }

    pub(super) fn known_sender(&self, id: ActorId) -> Option<u32> {
        self.senders.get(&id).copied()
    }

    pub(super) fn sender(&mut self, id: ActorId, address: &str) -> Called {
        match self.addresses.number(address) {
            Some(number) => {
                self.senders.insert(id, number);
                Called::From(number)
            }
            None => Called::InFull,
        }
    }

    /// A receiver, whose number its outlet remembers.
    pub(super) fn receiver(&mut self, address: &str) -> Called {
        self.addresses.number(address).map_or(Called::InFull, Called::From)
    }
}

pub(super) const ADDRESS: InternSpace = InternSpace::Address;
pub(super) const TYPE: InternSpace = InternSpace::Type;
