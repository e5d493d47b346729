//! Names that are said once and then called by a number, per connection and direction.
//!
//! The writer decides: it defines ids in order, and when the table is full it lets go of a name that was not used
//! lately and gives its id to the new one. Since frames keep their order, the reader needs no more than to follow.
//! A frame that is cut in pieces arrives later than it is written, so names in it stand in full.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Intern, Limits};

/// What a name is the name of; each has ids of its own.
///
/// ```
/// use volary_wire::native::InternSpace;
/// assert_ne!(InternSpace::Address, InternSpace::Type);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum InternSpace {
    /// Addresses of actors.
    Address,
    /// Names of message types.
    Type,
}

impl InternSpace {
    pub(crate) fn number(self) -> u8 {
        match self {
            InternSpace::Address => 0,
            InternSpace::Type => 1,
        }
    }

    pub(crate) fn from_number(number: u8) -> Option<Self> {
        match number {
            0 => Some(InternSpace::Address),
            1 => Some(InternSpace::Type),
            _ => None,
        }
    }
}

/// The writer's side of one space.
///
/// ```
/// use volary_wire::native::{Interned, Interner};
///
/// let mut types = Interner::new(2, 1024);
/// assert_eq!(types.intern("a"), Interned::New(1)); // write an `Intern` frame, then use the id
/// assert_eq!(types.intern("a"), Interned::Known(1));
/// assert_eq!(types.intern("b"), Interned::New(2));
/// types.intern("a");
/// assert_eq!(types.intern("c"), Interned::New(2)); // `b` was not used lately
/// ```
#[derive(Debug)]
pub struct Interner {
    ids: BTreeMap<Arc<str>, u32>,
    places: Vec<Place>,
    hand: usize,
    /// The place that was used last: a frame has two addresses, and the second must not push out the first.
    last: Option<usize>,
    bytes: usize,
    max_names: usize,
    max_bytes: usize,
}

#[derive(Debug)]
struct Place {
    text: Arc<str>,
    used: bool,
}

/// What became of a name that was to be interned.
///
/// ```
/// use volary_wire::native::{Interned, Interner};
/// assert_eq!(Interner::new(0, 0).intern("a"), Interned::InFull);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interned {
    /// The other side knows it by this id.
    Known(u32),
    /// It has this id as soon as it is told so by an `Intern` frame, which must come before any use.
    New(u32),
    /// It is too long for the table. Write it in full.
    InFull,
}

impl Interner {
    /// For a peer that takes so many names and bytes.
    ///
    /// ```
    /// # use volary_wire::native::{Interner, Limits};
    /// let limits = Limits::default();
    /// let _ = Interner::new(limits.max_interned, limits.max_interned_bytes);
    /// ```
    #[must_use]
    pub fn new(max_names: usize, max_bytes: usize) -> Self {
        Interner {
            ids: BTreeMap::new(),
            places: Vec::new(),
            hand: 0,
            last: None,
            bytes: 0,
            max_names,
            max_bytes,
        }
    }

    /// The id of a name, known or new. The name before it keeps its id, so that two can stand in one frame.
    ///
    /// ```
    /// # use volary_wire::native::{Interned, Interner};
    /// assert_eq!(Interner::new(8, 64).intern("a"), Interned::New(1));
    /// ```
    pub fn intern(&mut self, text: &str) -> Interned {
        if let Some(&id) = self.ids.get(text) {
            self.places[id as usize - 1].used = true;
            self.last = Some(id as usize - 1);
            return Interned::Known(id);
        }
        if self.places.len() < self.max_names && self.bytes + text.len() <= self.max_bytes {
            let text: Arc<str> = text.into();
            self.bytes += text.len();
            self.places.push(Place {
                text: text.clone(),
                used: true,
            });
            self.last = Some(self.places.len() - 1);
            let id = self.places.len() as u32;
            self.ids.insert(text, id);
            return Interned::New(id);
        }
        self.replace(text)
    }

    /// Gives the new name the place of one that was not used since the hand was last there.
    fn replace(&mut self, text: &str) -> Interned {
        for _ in 0..2 * self.places.len() {
            let at = self.hand;
            self.hand = (self.hand + 1) % self.places.len();
            let place = &mut self.places[at];
            if self.last == Some(at) {
                continue;
            }
            if std::mem::take(&mut place.used) {
                continue;
            }
            let bytes = self.bytes - place.text.len() + text.len();
            if bytes > self.max_bytes {
                continue;
            }
            let text: Arc<str> = text.into();
            let old = std::mem::replace(&mut place.text, text.clone());
            place.used = true;
            self.last = Some(at);
            self.ids.remove(&old);
            self.bytes = bytes;
            let id = at as u32 + 1;
            self.ids.insert(text, id);
            return Interned::New(id);
        }
        Interned::InFull
    }
}

/// The reader's side of one space: what the peer's ids mean. `V` is whatever the reader wants to find at once, such as
/// an actor that was looked up.
///
/// ```
/// use volary_wire::native::{Intern, InternSpace, InternTable, Limits};
///
/// let mut types = InternTable::new(InternSpace::Type, &Limits::default());
/// let definition = Intern { space: InternSpace::Type, id: 1, text: "bank.v1.Deposit".into() };
/// types.define(&definition, ())?;
/// assert_eq!(types.get(1).map(|(name, _)| name), Some("bank.v1.Deposit"));
/// # Ok::<(), volary_wire::native::InternError>(())
/// ```
#[derive(Debug)]
pub struct InternTable<V> {
    space: InternSpace,
    // Copied: a slice would keep the whole read buffer that the definition came in.
    names: Vec<(Box<str>, V)>,
    bytes: usize,
    max_names: usize,
    max_bytes: usize,
}

/// A definition that breaks the rules. Close the connection.
///
/// ```
/// use volary_wire::native::InternError;
/// assert_eq!(InternError::Gap { id: 9, next: 3 }.to_string(), "the id 9 is defined where 3 would be next");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InternError {
    /// Ids are given without gaps.
    #[error("the id {id} is defined where {next} would be next")]
    Gap {
        /// What the peer sent.
        id: u32,
        /// The lowest that is free.
        next: u32,
    },
    /// The table is full.
    #[error("more than {limit} interned {what}")]
    Full {
        /// Names or bytes.
        what: &'static str,
        /// What is allowed.
        limit: usize,
    },
    /// The definition belongs to the other table; the caller mixed them up.
    #[error("a definition of the wrong space")]
    WrongSpace,
}

impl<V> InternTable<V> {
    /// An empty one.
    ///
    /// ```
    /// # use volary_wire::native::{InternSpace, InternTable, Limits};
    /// let table: InternTable<()> = InternTable::new(InternSpace::Address, &Limits::default());
    /// # assert!(table.get(1).is_none());
    /// ```
    #[must_use]
    pub fn new(space: InternSpace, limits: &Limits) -> Self {
        InternTable {
            space,
            names: Vec::new(),
            bytes: 0,
            max_names: limits.max_interned,
            max_bytes: limits.max_interned_bytes,
        }
    }

    /// Takes over a definition.
    ///
    /// ```
    /// # use volary_wire::native::{Intern, InternError, InternSpace, InternTable, Limits};
    /// let mut table = InternTable::new(InternSpace::Type, &Limits::default());
    /// let error = table.define(&Intern { space: InternSpace::Type, id: 2, text: "a".into() }, ());
    /// assert_eq!(error, Err(InternError::Gap { id: 2, next: 1 }));
    /// ```
    ///
    /// # Errors
    /// When the peer does not keep to order or bounds; the table is as before.
    pub fn define(&mut self, definition: &Intern, value: V) -> Result<(), InternError> {
        if definition.space != self.space {
            return Err(InternError::WrongSpace);
        }
        let next = self.names.len() as u32 + 1;
        let at = match definition.id {
            0 => return Err(InternError::Gap { id: 0, next }),
            id if id > next => return Err(InternError::Gap { id, next }),
            id => id as usize - 1,
        };
        let old = self.names.get(at).map_or(0, |(name, _)| name.len());
        let bytes = self.bytes - old + definition.text.len();
        let full = |what, limit| Err(InternError::Full { what, limit });
        if at >= self.max_names {
            return full("names", self.max_names);
        }
        if bytes > self.max_bytes {
            return full("bytes", self.max_bytes);
        }
        self.bytes = bytes;
        let entry = (definition.text.as_str().into(), value);
        match self.names.get_mut(at) {
            Some(place) => *place = entry,
            None => self.names.push(entry),
        }
        Ok(())
    }

    /// What an id means; none if the peer never defined it, which breaks the rules.
    ///
    /// ```
    /// # use volary_wire::native::{InternSpace, InternTable, Limits};
    /// assert!(InternTable::<()>::new(InternSpace::Type, &Limits::default()).get(0).is_none());
    /// ```
    #[must_use]
    pub fn get(&self, id: u32) -> Option<(&str, &V)> {
        let (name, value) = self.names.get((id as usize).checked_sub(1)?)?;
        Some((name, value))
    }
}
