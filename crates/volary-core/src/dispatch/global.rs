//! The queue that all workers of a pool look into: for actors that become ready elsewhere than on a worker, and for what
//! does not fit beside one.
//!
//! It has several lanes. Each thread puts into one, so that threads which tell much from outside do not wait for each
//! other; workers take from all in turn.

use std::cell::Cell;
use std::collections::VecDeque;
use std::ptr;

use super::host::Host;
use super::ring::Ready;
use crate::env::Env;
use crate::reference::ActorId;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicU32, Ordering::*};

/// Actors taken at a time.
const BATCH: usize = 32;
/// So many lanes are enough for any number of workers.
const MOST_LANES: usize = 16;

pub(crate) struct Global {
    /// As many as a power of two.
    lanes: Box<[Lane]>,
    filled: Filled,
    /// Who shares what a lane holds.
    takers: usize,
}

/// A bit for each lane that has any, for those who look. Changed under the lock of the lane, when it becomes or ceases to
/// be empty.
#[repr(align(128))]
#[derive(Default)]
struct Filled(AtomicU32);

/// Padded, so that two lanes do not share a line.
#[repr(align(128))]
#[derive(Default)]
struct Lane(Mutex<VecDeque<Item>>);

#[derive(Clone, Copy)]
struct Item(Ready);
// SAFETY: a ready actor is handed from thread to thread by design; see `Ready`.
unsafe impl Send for Item {}

impl Global {
    /// With lanes for so many workers, and as many threads that tell them from outside.
    pub(super) fn for_workers(workers: usize, takers: usize) -> Self {
        Global {
            lanes: std::iter::repeat_with(Lane::default)
                .take((2 * workers).next_power_of_two().min(MOST_LANES))
                .collect(),
            filled: Filled::default(),
            takers,
        }
    }

    /// With one lane, from which somebody [chooses](Self::choose).
    pub(super) fn seeded() -> Self {
        Global {
            lanes: Box::new([Lane::default()]),
            filled: Filled::default(),
            takers: 1,
        }
    }

    pub(super) fn push(&self, ready: Ready) {
        self.fill(|queue| queue.push_back(Item(ready)));
    }

    pub(super) fn push_all(&self, ready: &mut Vec<Ready>) {
        self.fill(|queue| queue.extend(ready.drain(..).map(Item)));
    }

    /// Puts some into the lane of this thread.
    fn fill(&self, put: impl FnOnce(&mut VecDeque<Item>)) {
        let mask = self.lanes.len() - 1;
        let lane = if mask == 0 { None } else { Host::with(Host::lane) };
        let lane = lane.unwrap_or(0) & mask;
        let mut queue = self.lanes[lane].0.lock();
        put(&mut queue);
        debug_assert!(!queue.is_empty(), "its bit would stay");
        // Also one that was set before is seen by a worker that lists itself as asleep after it is seen here.
        if self.filled.0.load(SeqCst) & bit(lane) == 0 {
            self.filled.0.fetch_or(bit(lane), SeqCst);
        }
    }

    /// In the order of all that say that they are ready, for a worker that is about to sleep.
    pub(super) fn is_empty(&self) -> bool {
        self.filled.0.load(SeqCst) == 0
    }

    /// Takes one from the first lane that has any, and hands a fair share of the rest to `keep`. `turn` says where to begin, and
    /// then whose turn is next.
    #[inline]
    pub(super) fn pop(&self, turn: &Cell<usize>, keep: impl Fn(Ready)) -> Option<Ready> {
        let filled = self.filled.0.load(Acquire);
        if filled == 0 {
            return None;
        }
        self.pop_from(filled, turn, keep)
    }

    fn pop_from(&self, mut filled: u32, turn: &Cell<usize>, keep: impl Fn(Ready)) -> Option<Ready> {
        while filled != 0 {
            let behind = filled & (u32::MAX << (turn.get() & (self.lanes.len() - 1)));
            let lane = if behind == 0 { filled } else { behind }.trailing_zeros() as usize;
            turn.set((lane + 1) & (self.lanes.len() - 1));
            if let Some(ready) = self.take(lane, &keep) {
                return Some(ready);
            }
            filled &= !bit(lane); // somebody was faster
        }
        None
    }

    fn take(&self, lane: usize, keep: impl Fn(Ready)) -> Option<Ready> {
        let mut batch = [Item(ptr::null()); BATCH];
        let mut taken = 0;
        {
            let mut queue = self.lanes[lane].0.lock();
            let share = (queue.len() / self.takers).clamp(1, BATCH);
            while taken < share
                && let Some(item) = queue.pop_front()
            {
                batch[taken] = item;
                taken += 1;
            }
            self.note_empty(lane, &queue);
        }
        for item in batch.iter().take(taken).skip(1) {
            keep(item.0);
        }
        (taken > 0).then_some(batch[0].0)
    }

    fn note_empty(&self, lane: usize, queue: &VecDeque<Item>) {
        if queue.is_empty() && self.filled.0.load(Relaxed) & bit(lane) != 0 {
            self.filled.0.fetch_and(!bit(lane), Release);
        }
    }

    /// Takes the one that the seed says is next.
    pub(super) fn choose(&self, env: &dyn Env) -> Option<Ready> {
        let mut queue = self.lanes[0].0.lock();
        if queue.is_empty() {
            return None;
        }
        // SAFETY: what stands in a queue is scheduled, so it has not ended.
        let mut ids = queue.iter().map(|item| ActorId::of(unsafe { (*item.0).id }));
        let at = env.choose_actor(&mut ids);
        let item = queue.remove(at);
        self.note_empty(0, &queue);
        item.map(|item| item.0)
    }
}

fn bit(lane: usize) -> u32 {
    1 << lane
}

#[cfg(all(test, not(any(volary_loom, volary_shuttle))))]
mod tests {
    use std::cell::RefCell;
    use std::collections::BTreeSet;

    use super::*;

    fn ready(n: usize) -> Ready {
        ptr::without_provenance(n * 8)
    }

    #[test]
    fn threads_keep_to_lanes_and_every_lane_has_its_turn() {
        let global = Global::for_workers(2, 2);
        assert_eq!(global.lanes.len(), 4);
        let share = |first: usize| {
            (first..first + 100).for_each(|n| global.push(ready(n)));
            global.push_all(&mut vec![ready(first + 100)]);
        };
        std::thread::scope(|threads| {
            for first in [1_000, 2_000, 3_000] {
                threads.spawn(move || share(first));
            }
        });
        let mut expected: BTreeSet<Ready> = [1_000, 2_000, 3_000]
            .into_iter()
            .flat_map(|first| (first..=first + 100).map(ready))
            .collect();
        // Each lane is in the order in which its threads put into it.
        for (number, lane) in global.lanes.iter().enumerate() {
            let queue = lane.0.lock();
            assert_eq!(queue.is_empty(), global.filled.0.load(Relaxed) & bit(number) == 0);
            let of = |first: usize| {
                queue
                    .iter()
                    .map(|item| item.0)
                    .filter(move |one| (ready(first)..ready(first + 999)).contains(one))
            };
            for first in [1_000, 2_000, 3_000] {
                assert!(of(first).is_sorted());
                assert!(matches!(of(first).count(), 0 | 101), "a thread keeps to one lane");
            }
        }
        let turn = Cell::new(2);
        while !global.is_empty() {
            let kept = RefCell::new(Vec::new());
            let first = global.pop(&turn, |more| kept.borrow_mut().push(more));
            let kept = kept.into_inner();
            assert!(kept.len() < BATCH);
            for one in kept.into_iter().chain(first) {
                assert!(expected.remove(&one));
            }
        }
        assert!(expected.is_empty(), "{expected:?}");
        assert_eq!(global.pop(&turn, |_| {}), None);
    }

    #[test]
    fn lanes_that_are_empty_do_not_give_their_turns_to_one_that_is_full() {
        let global = Global::for_workers(8, 1);
        let put = |lane: usize, count: usize| {
            global.lanes[lane].0.lock().extend((0..count).map(|_| Item(ready(1))));
            global.filled.0.fetch_or(bit(lane), Relaxed);
        };
        put(3, 100 * BATCH);
        put(4, 1);
        let turn = Cell::new(0);
        let left = |lane: usize| global.lanes[lane].0.lock().len();
        for _ in 0..4 {
            put(4, 1 - left(4));
            let before = left(3);
            for _ in 0..2 {
                assert!(global.pop(&turn, |_| {}).is_some());
            }
            assert_eq!((left(3), left(4)), (before - BATCH, 0), "each had a turn");
        }
    }

    #[test]
    fn lanes_are_a_power_of_two_and_not_too_many() {
        for (workers, lanes) in [(1, 2), (2, 4), (3, 8), (8, 16), (200, 16)] {
            assert_eq!(Global::for_workers(workers, workers).lanes.len(), lanes);
        }
        assert_eq!(Global::seeded().lanes.len(), 1);
    }
}
