//! Counts of many actors, each on a cache line of its own so that counting
//! costs the same for every library and next to nothing, and the measuring
//! thread that waits for their sum: for programs in which nobody can know who
//! handles the last message.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// How often the measuring thread looks.
const LOOK: Duration = Duration::from_micros(50);

#[repr(align(128))]
#[derive(Default)]
struct Padded(AtomicU64);

/// One count for each of some actors.
pub struct Lanes {
    counts: Vec<Padded>,
    taken: AtomicUsize,
}

/// The count of one actor.
#[derive(Clone, Copy)]
pub struct Lane(&'static AtomicU64);

impl Lanes {
    /// Lanes that live as long as the process, as the latch does.
    pub fn leaked(lanes: usize) -> &'static Self {
        Box::leak(Box::new(Self {
            counts: (0..lanes).map(|_| Padded::default()).collect(),
            taken: AtomicUsize::new(0),
        }))
    }

    /// A lane that nobody else has.
    pub fn take(&'static self) -> Lane {
        Lane(&self.counts[self.taken.fetch_add(1, Relaxed)].0)
    }

    /// What all have counted.
    pub fn total(&self) -> u64 {
        self.counts.iter().map(|count| count.0.load(Relaxed)).sum()
    }

    /// How many of them have counted anything.
    pub fn used(&self) -> usize {
        self.counts.iter().filter(|count| count.0.load(Relaxed) > 0).count()
    }

    /// Waits until they have counted so many together.
    pub fn wait_for(&self, total: u64) {
        while self.total() < total {
            std::thread::sleep(LOOK);
        }
    }
}

impl Lane {
    /// One more. Only its owner writes it.
    #[inline]
    pub fn count(self) {
        self.0.store(self.0.load(Relaxed) + 1, Relaxed);
    }
}
