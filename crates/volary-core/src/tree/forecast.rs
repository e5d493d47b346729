//! Where a name will be looked up, known without a lock.
//!
//! The slot of a new name is the one line of memory that nobody can have in a cache, and the lock of the family is held
//! while it is waited for. So it is sent for when the name is known, and comes while the actor is being made.

use super::children::{Children, Kept};
use crate::dispatch::fetch_early;
use crate::sync::atomic::{AtomicPtr, AtomicU32, Ordering::Relaxed};

/// The slots of an index as they were a moment ago. They may be gone: nothing is read.
#[derive(Default)]
pub(crate) struct Forecast {
    slots: AtomicPtr<u64>,
    shift: AtomicU32,
}

impl Forecast {
    /// Has the slot for a name with this hash sent for.
    pub(crate) fn fetch(&self, hash: u32) {
        let slots = self.slots.load(Relaxed);
        if !slots.is_null() {
            fetch_early(slots.wrapping_add((hash >> self.shift.load(Relaxed)) as usize));
        }
    }

    /// These are the children now.
    pub(crate) fn follow<K: Kept>(&self, children: &Children<K>) {
        let (slots, shift) = children.slots();
        if !std::ptr::eq(self.slots.load(Relaxed), slots) || self.shift.load(Relaxed) != shift {
            self.shift.store(shift, Relaxed);
            self.slots.store(slots.cast_mut(), Relaxed);
        }
    }
}
