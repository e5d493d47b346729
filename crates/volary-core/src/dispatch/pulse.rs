//! The pulse of a thread that runs actors: what an observer can see of it.
//!
//! Workers have theirs in the pool. A thread that is not a worker has one as soon as it runs an
//! actor that it has asked something, so that a handler which blocks there is seen as well.

use std::sync::{Arc, Weak};

use crate::cell::Header;
use crate::sync::atomic::{AtomicU64, AtomicUsize, Ordering::*};

/// Written by its thread only: which actor runs, and in which turn.
#[derive(Default)]
pub(crate) struct Pulse {
    turn: AtomicU64,
    actor: AtomicU64,
    /// The system of that actor, by address.
    system: AtomicUsize,
}

impl Pulse {
    /// A turn begins. Returns who was running, to be given back to `end`.
    #[inline]
    pub(crate) fn begin(&self, cell: &Header) -> u64 {
        self.turn.store(self.turn.load(Relaxed).wrapping_add(1), Relaxed);
        self.system.store(std::ptr::from_ref(cell.system()).addr(), Relaxed);
        let before = self.actor.load(Relaxed);
        self.actor.store(cell.id, Relaxed);
        before
    }

    /// The turn is over, and whoever ran before goes on.
    #[inline]
    pub(crate) fn end(&self, before: u64) {
        self.actor.store(before, Relaxed);
    }

    pub(crate) fn turn(&self) -> u64 {
        self.turn.load(Relaxed)
    }

    /// The actor that runs, 0 between turns.
    pub(crate) fn actor(&self) -> u64 {
        self.actor.load(Relaxed)
    }

    pub(crate) fn is_of(&self, system: usize) -> bool {
        self.system.load(Relaxed) == system
    }
}

/// The pulses of threads that are not workers.
static GUESTS: parking_lot::Mutex<Vec<Weak<Pulse>>> = parking_lot::Mutex::new(Vec::new());

/// A pulse for the calling thread.
pub(crate) fn register() -> Arc<Pulse> {
    let pulse = Arc::new(Pulse::default());
    let mut guests = GUESTS.lock();
    guests.retain(|guest| guest.strong_count() > 0);
    guests.push(Arc::downgrade(&pulse));
    pulse
}

/// The pulses of threads that are not workers and run an actor of `system` just now.
pub(crate) fn guests(system: usize) -> Vec<Arc<Pulse>> {
    let running = |pulse: &Arc<Pulse>| pulse.is_of(system) && pulse.actor() != 0;
    GUESTS.lock().iter().filter_map(Weak::upgrade).filter(running).collect()
}
