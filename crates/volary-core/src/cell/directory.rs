//! Every live actor by its id.
//!
//! Ids travel in messages where a counted pointer would be too dear; this is where they lead back
//! to a name, for dead letters, for cycles of asks, and for addresses with a uid. An id is a place
//! in a slab and the generation of that place, so it is never reused.
//!
//! ```text
//!   id   ┌ generation (32) ┬ place (28) ┬ shelf (4) ┐
//! ```

use super::{CellRef, Header};
use crate::sync::Mutex;

const SHELVES: usize = 8;
const SHELF_BITS: u32 = 4;
const PLACE_BITS: u32 = 28;

pub(crate) struct Directory {
    shelves: [Mutex<Shelf>; SHELVES],
}

#[derive(Default)]
struct Shelf {
    places: Vec<Place>,
    free: Vec<u32>,
    live: usize,
}

struct Place {
    generation: u32,
    /// Null while the actor is being made, and after it has ended.
    cell: *const Header,
}

// SAFETY: the pointers are followed under the lock only, while the actor's own table of siblings
// keeps it: it is removed here before it leaves there.
unsafe impl Send for Shelf {}

fn split(id: u64) -> (usize, usize, u32) {
    let shelf = (id & ((1 << SHELF_BITS) - 1)) as usize;
    let place = (id >> SHELF_BITS & ((1 << PLACE_BITS) - 1)) as usize;
    (shelf, place, (id >> 32) as u32)
}

impl Directory {
    pub(crate) fn new() -> Self {
        Directory { shelves: std::array::from_fn(|_| Mutex::default()) }
    }

    /// An id for an actor that is being made. `lane` spreads makers over the shelves.
    pub(crate) fn reserve(&self, lane: usize) -> Option<u64> {
        let shelf_number = lane % SHELVES;
        let mut shelf = self.shelves[shelf_number].lock();
        let place = match shelf.free.pop() {
            Some(place) => place,
            None => {
                let place = u32::try_from(shelf.places.len()).ok().filter(|p| *p < 1 << PLACE_BITS)?;
                shelf.places.push(Place { generation: 1, cell: std::ptr::null() });
                place
            }
        };
        shelf.live += 1;
        let generation = shelf.places[place as usize].generation;
        Some(u64::from(generation) << 32 | u64::from(place) << SHELF_BITS | shelf_number as u64)
    }

    /// The actor behind a reserved id can be found from now on.
    pub(crate) fn fill(&self, id: u64, cell: &CellRef) {
        let (shelf, place, _) = split(id);
        self.shelves[shelf].lock().places[place].cell = cell.as_ptr();
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

    /// All live actors.
    pub(crate) fn list(&self) -> Vec<CellRef> {
        let mut all = Vec::new();
        for shelf in &self.shelves {
            let shelf = shelf.lock();
            // SAFETY: as in `get`.
            all.extend(shelf.places.iter().filter(|p| !p.cell.is_null()).map(|p| unsafe { (*p.cell).to_ref() }));
        }
        all
    }
}
