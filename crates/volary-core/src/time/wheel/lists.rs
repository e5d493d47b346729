//! Many lists of timers in one piece of memory.
//!
//! ```text
//! ends     [ head ─┐ tail ─┐ ] [ empty ] …             one pair per list
//! entries  [ vacant ][ timer ⇄ ][ vacant ][ ⇄ timer ]  linked both ways, by index
//! ```
//! Each list keeps its order. Adding, taking and moving a timer touch its neighbours only. Memory comes and goes in
//! pages, see `time/slab.rs`.

use std::num::NonZeroU64;

use super::Tick;
use crate::time::slab::Slab;

/// Stands for "no timer" in links; beyond every index.
const NONE: u32 = u32::MAX;

/// Names one timer. Never given out twice by the same wheel.
///
/// ```
/// use volary_core::time::Wheel;
///
/// let mut wheel = Wheel::new(0);
/// let key = wheel.insert(5, "tea");
/// assert_eq!(wheel.cancel(key), Some("tea"));
/// wheel.insert(5, "coffee");
/// assert_eq!(wheel.cancel(key), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TimerKey {
    index: u32,
    generation: NonZeroU64,
}

impl TimerKey {
    /// In parts, for those who have something small to keep beside it.
    pub(crate) fn parts(self) -> (u32, NonZeroU64) {
        (self.index, self.generation)
    }

    pub(crate) fn from_parts(index: u32, generation: NonZeroU64) -> Self {
        TimerKey { index, generation }
    }
}

pub(super) struct Lists<T> {
    /// The newest generation. Sixty-four bits count for longer than machines last, so no key is ever valid again, not
    /// even after memory was given back.
    generation: u64,
    entries: Slab<Entry<T>>,
    ends: Box<[Ends]>,
}

struct Entry<T> {
    deadline: Tick,
    generation: NonZeroU64,
    previous: u32,
    next: u32,
    value: T,
}

/// Twenty-four bytes, vacant or not: a generation is never 0, so it says which.
const _: () = assert!(size_of::<Option<Entry<u64>>>() - size_of::<u64>() == 24);

#[derive(Clone, Copy)]
struct Ends {
    head: u32,
    tail: u32,
}

impl Ends {
    const EMPTY: Self = Self { head: NONE, tail: NONE };
}

/// Timers that were taken off their list to be put on others.
pub(super) struct Detached {
    head: u32,
}

impl<T> Lists<T> {
    pub(super) fn new(count: usize) -> Self {
        Self {
            generation: 0,
            entries: Slab::new(),
            ends: vec![Ends::EMPTY; count].into(),
        }
    }

    /// How many timers all lists hold.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn is_empty(&self, list: usize) -> bool {
        self.ends[list].head == NONE
    }

    /// The deadline of a timer; none when the key is stale.
    pub(super) fn deadline(&self, key: TimerKey) -> Option<Tick> {
        let entry = self.entries.get(key.index)?;
        (entry.generation == key.generation).then_some(entry.deadline)
    }

    pub(super) fn deadlines(&self, list: usize) -> impl Iterator<Item = Tick> {
        let first = self.entries.get(self.ends[list].head);
        std::iter::successors(first, |entry| self.entries.get(entry.next)).map(|entry| entry.deadline)
    }

    /// Adds a timer to the end of a list.
    pub(super) fn insert(&mut self, list: usize, deadline: Tick, value: T) -> TimerKey {
        self.generation += 1;
        let generation = NonZeroU64::new(self.generation).expect("a count that was just raised is not 0");
        let tail = self.ends[list].tail;
        let index = self.entries.insert(Entry {
            deadline,
            generation,
            previous: tail,
            next: NONE,
            value,
        });
        self.follow(list, tail, index);
        TimerKey { index, generation }
    }

    /// Takes a timer off the list that it is on; none when the key is stale.
    pub(super) fn remove(&mut self, list: usize, key: TimerKey) -> Option<T> {
        self.deadline(key)?;
        self.unlink(list, key.index).map(|entry| entry.value)
    }

    pub(super) fn take_first(&mut self, list: usize) -> Option<(TimerKey, T)> {
        let index = self.ends[list].head;
        let Entry { generation, value, .. } = self.unlink(list, index)?;
        Some((TimerKey { index, generation }, value))
    }

    /// Empties a list. Its timers must be put on other lists, or they are lost.
    pub(super) fn detach(&mut self, list: usize) -> Detached {
        let Ends { head, .. } = std::mem::replace(&mut self.ends[list], Ends::EMPTY);
        Detached { head }
    }

    /// The deadline of the first timer that still has no list.
    pub(super) fn first_of(&self, timers: &Detached) -> Option<Tick> {
        self.entries.get(timers.head).map(|entry| entry.deadline)
    }

    /// Puts the first timer that has no list on the end of one.
    pub(super) fn append_first_of(&mut self, timers: &mut Detached, list: usize) {
        let index = timers.head;
        timers.head = self.entries.get(index).map_or(NONE, |entry| entry.next);
        self.append(list, index);
    }

    /// Gives memory back. Keys stay valid.
    pub(super) fn shrink(&mut self) {
        self.entries.shrink();
    }

    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.entries.capacity()
    }

    fn append(&mut self, list: usize, index: u32) {
        let tail = self.ends[list].tail;
        if let Some(entry) = self.entries.get_mut(index) {
            entry.previous = tail;
            entry.next = NONE;
        }
        self.follow(list, tail, index);
    }

    /// The timer at `index` knows the one before it; now that one, and the list, know it.
    fn follow(&mut self, list: usize, tail: u32, index: u32) {
        self.ends[list].tail = index;
        match self.entries.get_mut(tail) {
            Some(last) => last.next = index,
            None => self.ends[list].head = index,
        }
    }

    fn unlink(&mut self, list: usize, index: u32) -> Option<Entry<T>> {
        let entry = self.entries.remove(index)?;
        let Entry { previous, next, .. } = entry;
        match self.entries.get_mut(previous) {
            Some(before) => before.next = next,
            None => self.ends[list].head = next,
        }
        match self.entries.get_mut(next) {
            Some(after) => after.previous = previous,
            None => self.ends[list].tail = previous,
        }
        Some(entry)
    }
}
