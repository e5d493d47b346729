//! The actor that an address has led to, seen by what a reference to it shall be typed by.
//!
//! Whoever has a typed reference knows at compile time where the functions of its messages are. Whoever has an address
//! finds them by the list of the actor's messages. A protocol needs an array of them that lasts as long as any reference
//! does, so there is one for each type of actor that was ever found, as there would be had the compiler seen the pair.

use std::any::TypeId;
use std::fmt;

use parking_lot::RwLock;

use crate::actor::Message;
use crate::cell::Header;
use crate::mailbox::MessageTable;

/// An actor of this node whose type is not known.
pub struct Found<'a>(&'a Header);

impl<'a> Found<'a> {
    pub(super) fn new(cell: &'a Header) -> Self {
        Found(cell)
    }

    /// Whether it is an `A`.
    #[must_use]
    pub fn is<A: 'static>(&self) -> bool {
        self.actor_type() == TypeId::of::<A>()
    }

    /// The functions of `M`, if its list of messages has it.
    #[must_use]
    pub fn table<M: Message>(&self) -> Option<&'static MessageTable> {
        (self.0.table.accepts)(TypeId::of::<M>())
    }

    fn actor_type(&self) -> TypeId {
        (self.0.table.actor_type)()
    }
}

impl fmt::Debug for Found<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Found({})", self.0.path())
    }
}

type Tables<const MESSAGES: usize> = &'static [&'static MessageTable; MESSAGES];

/// Where one protocol keeps its tables, by the type of the actor: as many as there are types, of which a program has so
/// many and no more.
pub struct FoundTables<const MESSAGES: usize>(RwLock<Vec<(TypeId, Tables<MESSAGES>)>>);

impl<const MESSAGES: usize> FoundTables<MESSAGES> {
    /// None yet.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "a static")]
    pub const fn new() -> Self {
        FoundTables(RwLock::new(Vec::new()))
    }

    /// Those of this actor; `find` makes them if it is the first of its type.
    pub fn of(
        &self,
        actor: &Found<'_>,
        find: impl FnOnce() -> Option<[&'static MessageTable; MESSAGES]>,
    ) -> Option<Tables<MESSAGES>> {
        let actor_type = actor.actor_type();
        let known = |tables: &[(TypeId, Tables<MESSAGES>)]| {
            let of_this_type = tables.iter().find(|(known, _)| *known == actor_type);
            of_this_type.map(|(_, tables)| *tables)
        };
        if let Some(tables) = known(&self.0.read()) {
            return Some(tables);
        }
        // Not under the lock: the list is the user's code.
        let found = find()?;
        let mut all = self.0.write();
        known(&all).or_else(|| {
            let tables: Tables<MESSAGES> = Box::leak(Box::new(found));
            all.push((actor_type, tables));
            Some(tables)
        })
    }
}

impl<const MESSAGES: usize> fmt::Debug for FoundTables<MESSAGES> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FoundTables({})", self.0.read().len())
    }
}
