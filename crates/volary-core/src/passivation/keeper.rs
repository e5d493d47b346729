//! Who is awake, for a system that limits how many may be.

use std::collections::BTreeMap;

use super::choice::{Candidate, Excess, choose};
use super::eviction::Eviction;
use crate::cell::{CellRef, Header};
use crate::sync::Mutex;

/// Knows those who can be evicted. Without a limit it knows nobody and costs nothing.
pub(crate) struct Keeper {
    eviction: Option<Eviction>,
    awake: Mutex<Awake>,
}

#[derive(Default)]
struct Awake {
    /// By their ids.
    members: BTreeMap<u64, Member>,
    /// The bytes of all of them.
    bytes: u64,
    /// Those who were told to go and have not gone yet.
    leaving: u64,
    leaving_bytes: u64,
}

struct Member {
    /// It lives, so this keeps nothing that would not be kept anyway.
    cell: CellRef,
    bytes: u64,
    leaving: bool,
}

impl Keeper {
    pub(crate) fn new(eviction: Option<Eviction>) -> Self {
        Keeper {
            eviction,
            awake: Mutex::default(),
        }
    }

    /// Whether there is a limit at all.
    pub(crate) fn is_limited(&self) -> bool {
        self.eviction.is_some()
    }

    /// Whether somebody wants to know how much memory an actor holds.
    pub(crate) fn weighs(&self) -> bool {
        self.eviction.is_some_and(|eviction| eviction.bytes.is_some())
    }

    /// An actor has started, or holds another number of bytes than before. If there are too many now, others are told to
    /// go; false if not enough of them can.
    pub(crate) fn update(&self, cell: &Header, bytes: u64) -> bool {
        self.change(Some((cell, bytes)))
    }

    /// Looks again whether there are too many.
    pub(crate) fn look(&self) -> bool {
        self.change(None)
    }

    fn change(&self, change: Option<(&Header, u64)>) -> bool {
        let Some(eviction) = self.eviction else { return true };
        let (leaving, enough) = {
            let awake = &mut *self.awake.lock();
            if let Some((cell, bytes)) = change {
                awake.update(cell, bytes);
            }
            awake.make_room(&eviction, change.map(|(cell, _)| cell.id))
        };
        // Outside of the lock: an actor may be run by whoever wakes it.
        for cell in leaving {
            cell.evict();
        }
        enough
    }

    /// An actor has ended or fallen asleep.
    pub(crate) fn left(&self, cell: &Header) {
        if self.eviction.is_some() {
            self.awake.lock().remove(cell.id);
        }
    }

    /// The system goes down without its actors.
    pub(crate) fn forget_all(&self) {
        let awake = std::mem::take(&mut *self.awake.lock());
        drop(awake);
    }

    /// An actor that was told to go has something to do, and stays.
    pub(crate) fn spared(&self, cell: &Header) {
        if self.eviction.is_some() {
            self.awake.lock().set_leaving(cell.id, false);
        }
    }
}

impl Awake {
    fn update(&mut self, cell: &Header, bytes: u64) {
        match self.members.get_mut(&cell.id) {
            Some(member) => {
                self.bytes = self.bytes - member.bytes + bytes;
                if member.leaving {
                    self.leaving_bytes = self.leaving_bytes - member.bytes + bytes;
                }
                member.bytes = bytes;
            }
            None => {
                let (id, cell) = (cell.id, cell.to_ref());
                let leaving = false;
                self.members.insert(id, Member { cell, bytes, leaving });
                self.bytes += bytes;
            }
        }
    }

    fn remove(&mut self, id: u64) {
        self.set_leaving(id, false);
        if let Some(member) = self.members.remove(&id) {
            self.bytes -= member.bytes;
        }
    }

    fn set_leaving(&mut self, id: u64, leaving: bool) -> Option<&CellRef> {
        let member = self.members.get_mut(&id)?;
        if std::mem::replace(&mut member.leaving, leaving) != leaving {
            if leaving {
                self.leaving += 1;
                self.leaving_bytes += member.bytes;
            } else {
                self.leaving -= 1;
                self.leaving_bytes -= member.bytes;
            }
        }
        Some(&member.cell)
    }

    /// Those who must go so that the limits hold, with something to spare, and whether they are enough. The newcomer stays.
    fn make_room(&mut self, eviction: &Eviction, newcomer: Option<u64>) -> (Vec<CellRef>, bool) {
        let excess = |limit: Option<u64>, held: u64| match limit {
            Some(limit) if held > limit => (held - limit).max(limit.saturating_mul(eviction.percent) / 100),
            _ => 0,
        };
        let staying = self.members.len() as u64 - self.leaving;
        let excess = Excess {
            actors: excess(eviction.actors, staying),
            bytes: excess(eviction.bytes, self.bytes - self.leaving_bytes),
        };
        if excess.actors == 0 && excess.bytes == 0 {
            return (Vec::new(), true);
        }
        let candidates = self
            .members
            .iter()
            .filter(|(id, member)| Some(**id) != newcomer && !member.leaving);
        let candidates = candidates.filter_map(|(id, member)| {
            let (last_active, handled) = member.cell.use_so_far()?;
            Some(Candidate {
                id: *id,
                last_active,
                handled,
                bytes: member.bytes,
            })
        });
        let chosen = choose(candidates.collect(), eviction.order, excess);
        let leaving: Vec<CellRef> = chosen
            .into_iter()
            .filter_map(|id| self.set_leaving(id, true).cloned())
            .collect();
        let fits = |limit: Option<u64>, held: u64| limit.is_none_or(|limit| held <= limit);
        let enough = fits(eviction.actors, self.members.len() as u64 - self.leaving)
            && fits(eviction.bytes, self.bytes - self.leaving_bytes);
        (leaving, enough)
    }
}
