//! Every live actor by its id.
//!
//! Ids travel in messages where a counted pointer would be too dear; this is where they lead back
//! to a name, for dead letters, for cycles of asks, and for addresses with a uid. An id is a place
//! in a slab and the generation of that place, so it is never reused. It says which system it belongs
//! to as well, so that an actor of another system in the same process is not mistaken for one of ours.
//! Generations begin where the time of the start says, so that a reference which outlives its process
//! somewhere else does not lead to whoever has its place in the next one.
//!
//! ```text
//!   id   ┌ generation (32) ┬ place (24) ┬ system (5) ┬ shelf (3) ┐
//! ```

use std::ptr::NonNull;
use std::time::{SystemTime, UNIX_EPOCH};

use super::{CellRef, Header};
use crate::sync::Mutex;

const SHELVES: usize = 8;
const SHELF_BITS: u32 = 3;
const SYSTEM_BITS: u32 = 5;
const PLACE_BITS: u32 = 24;
const PLACE_SHIFT: u32 = SHELF_BITS + SYSTEM_BITS;

pub(crate) struct Directory {
    /// The part of an id that says whose it is, in its place.
    system: u64,
    /// The generation that places begin with.
    first: u32,
    shelves: [Mutex<Shelf>; SHELVES],
}

/// On lines of its own: makers of actors on two threads use two of them.
#[derive(Default)]
#[repr(align(128))]
struct Shelf {
    places: Vec<Place>,
    free: Vec<u32>,
    live: usize,
}

struct Place {
    generation: u32,
    /// Null after the actor has ended. While it is being made, nobody knows its id.
    cell: *const Header,
}

// SAFETY: the pointers are followed under the lock only, while the actor's own table of siblings
// keeps it: it is removed here before it leaves there.
unsafe impl Send for Shelf {}

fn split(id: u64) -> (usize, usize, u32) {
    let shelf = (id & ((1 << SHELF_BITS) - 1)) as usize;
    let place = (id >> PLACE_SHIFT & ((1 << PLACE_BITS) - 1)) as usize;
    (shelf, place, (id >> 32) as u32)
}

/// The part of an id that says whose it is.
fn system_of(id: u64) -> u64 {
    id & ((1 << SYSTEM_BITS) - 1) << SHELF_BITS
}

impl Directory {
    /// For the system with this number among those of the process, which started at this time.
    pub(crate) fn new(system: u64, started: SystemTime) -> Self {
        let since = started.duration_since(UNIX_EPOCH).unwrap_or_default();
        // Microseconds repeat after a bit more than an hour; multiplied, they lie far apart, so that the generations of
        // one start do not run into those of the next.
        let first = (since.as_micros() as u32).wrapping_mul(0x9e37_79b1).max(1);
        Directory {
            system: system_of(system << SHELF_BITS),
            first,
            shelves: std::array::from_fn(|_| Mutex::default()),
        }
    }

    /// Enters an actor that is being made and gives it an id. `lane` spreads makers over the shelves.
    pub(crate) fn insert(&self, lane: usize, cell: NonNull<Header>) -> Option<u64> {
        let shelf_number = lane % SHELVES;
        let mut shelf = self.shelves[shelf_number].lock();
        let place = match shelf.free.pop() {
            Some(place) => place,
            None => {
                let place = u32::try_from(shelf.places.len())
                    .ok()
                    .filter(|p| *p < 1 << PLACE_BITS)?;
                shelf.places.push(Place {
                    generation: self.first,
                    cell: std::ptr::null(),
                });
                place
            }
        };
        shelf.live += 1;
        let entry = &mut shelf.places[place as usize];
        entry.cell = cell.as_ptr();
        Some(u64::from(entry.generation) << 32 | u64::from(place) << PLACE_SHIFT | self.system | shelf_number as u64)
    }

    /// The actor has ended, or was never made.
    pub(crate) fn remove(&self, id: u64) {
        let (shelf, place, _) = split(id);
        let mut shelf = self.shelves[shelf].lock();
        let entry = &mut shelf.places[place];
        entry.cell = std::ptr::null();
        entry.generation = entry.generation.wrapping_add(1).max(1);
        shelf.free.push(place as u32);
        shelf.live -= 1;
    }

    pub(crate) fn get(&self, id: u64) -> Option<CellRef> {
        if system_of(id) != self.system {
            return None;
        }
        let (shelf, place, generation) = split(id);
        let shelf = self.shelves.get(shelf)?.lock();
        let entry = shelf.places.get(place)?;
        if entry.generation != generation || entry.cell.is_null() {
            return None;
        }
        // SAFETY: still in the directory, so still kept by its parent's table; see `Shelf`.
        Some(unsafe { (*entry.cell).to_ref() })
    }

    pub(crate) fn len(&self) -> usize {
        self.shelves.iter().map(|shelf| shelf.lock().live).sum()
    }
}
