//! Many lists of timers in one piece of memory.
//!
//! ```text
//! ends     [ head ─┐ tail ─┐ ] [ empty ] …             one pair per list
//! entries  [ vacant ][ timer ⇄ ][ vacant ][ ⇄ timer ]  linked both ways, by index
//! ```
//! Each list keeps its order. Adding, taking and moving a timer touch its neighbours only, and memory is allocated
//! only when more timers are kept at once than ever before.

use std::num::NonZeroU64;

use super::Tick;

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

pub(super) struct Lists<T> {
    len: usize,
    /// The newest generation. Sixty-four bits count for longer than machines last, so no key is ever valid again, not
    /// even after memory was given back.
    generation: u64,
    entries: Vec<Entry<T>>,
    /// Head of the list of vacant entries, linked by `next`.
    vacant: u32,
    ends: Box<[Ends]>,
}

struct Entry<T> {
    deadline: Tick,
    /// None while the entry is vacant.
    generation: Option<NonZeroU64>,
    previous: u32,
    next: u32,
    value: Option<T>,
}

/// Twenty-four bytes, and a few more where `Option<T>` needs room for its tag.
const _: () = assert!(size_of::<Entry<u64>>() - size_of::<u64>() <= 32);
const _: () = assert!(size_of::<Entry<Box<()>>>() - size_of::<Box<()>>() == 24);

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
            len: 0,
            generation: 0,
            entries: Vec::new(),
            vacant: NONE,
            ends: vec![Ends::EMPTY; count].into(),
        }
    }

    /// How many timers all lists hold.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn is_empty(&self, list: usize) -> bool {
        self.ends[list].head == NONE
    }

    /// The deadline of a timer; none when the key is stale.
    pub(super) fn deadline(&self, key: TimerKey) -> Option<Tick> {
        let entry = self.entries.get(key.index as usize)?;
        (entry.generation == Some(key.generation)).then_some(entry.deadline)
    }

    pub(super) fn deadlines(&self, list: usize) -> impl Iterator<Item = Tick> {
        let first = self.entries.get(self.ends[list].head as usize);
        std::iter::successors(first, |entry| self.entries.get(entry.next as usize)).map(|entry| entry.deadline)
    }

    /// Adds a timer to the end of a list.
    pub(super) fn insert(&mut self, list: usize, deadline: Tick, value: T) -> TimerKey {
        self.generation += 1;
        let generation = NonZeroU64::new(self.generation).expect("a count that was just raised is not 0");
        let index = self.occupy(Entry {
            deadline,
            generation: Some(generation),
            previous: NONE,
            next: NONE,
            value: Some(value),
        });
        self.append(list, index);
        self.len += 1;
        TimerKey { index, generation }
    }

    /// Takes a timer off the list that it is on; none when the key is stale.
    pub(super) fn remove(&mut self, list: usize, key: TimerKey) -> Option<T> {
        self.deadline(key)?;
        self.unlink(list, key.index);
        self.vacate(key.index)
    }

    pub(super) fn take_first(&mut self, list: usize) -> Option<(TimerKey, T)> {
        let index = self.ends[list].head;
        let generation = self.entries.get(index as usize)?.generation?;
        self.unlink(list, index);
        let value = self.vacate(index)?;
        Some((TimerKey { index, generation }, value))
    }

    /// Empties a list. Its timers must be put on other lists, or they are lost.
    pub(super) fn detach(&mut self, list: usize) -> Detached {
        let Ends { head, .. } = std::mem::replace(&mut self.ends[list], Ends::EMPTY);
        Detached { head }
    }

    /// The deadline of the first timer that still has no list.
    pub(super) fn first_of(&self, timers: &Detached) -> Option<Tick> {
        self.entries.get(timers.head as usize).map(|entry| entry.deadline)
    }

    /// Puts the first timer that has no list on the end of one.
    pub(super) fn append_first_of(&mut self, timers: &mut Detached, list: usize) {
        let index = timers.head;
        timers.head = self.entries[index as usize].next;
        self.append(list, index);
    }

    /// Gives memory back. Keys stay valid.
    pub(super) fn shrink(&mut self) {
        let used = self.entries.iter().rposition(|entry| entry.value.is_some());
        self.entries.truncate(used.map_or(0, |last| last + 1));
        self.entries.shrink_to_fit();
        // Low indices are used first again, so that the next shrink finds a free end.
        self.vacant = NONE;
        for (index, entry) in self.entries.iter_mut().enumerate().rev() {
            if entry.value.is_none() {
                entry.next = self.vacant;
                self.vacant = link(index);
            }
        }
    }

    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.entries.capacity()
    }

    fn append(&mut self, list: usize, index: u32) {
        let tail = self.ends[list].tail;
        let entry = &mut self.entries[index as usize];
        entry.previous = tail;
        entry.next = NONE;
        match self.entries.get_mut(tail as usize) {
            Some(last) => last.next = index,
            None => self.ends[list].head = index,
        }
        self.ends[list].tail = index;
    }

    fn unlink(&mut self, list: usize, index: u32) {
        let Entry { previous, next, .. } = self.entries[index as usize];
        match self.entries.get_mut(previous as usize) {
            Some(before) => before.next = next,
            None => self.ends[list].head = next,
        }
        match self.entries.get_mut(next as usize) {
            Some(after) => after.previous = previous,
            None => self.ends[list].tail = previous,
        }
    }

    fn occupy(&mut self, entry: Entry<T>) -> u32 {
        let index = self.vacant;
        if let Some(vacant) = self.entries.get_mut(index as usize) {
            self.vacant = vacant.next;
            *vacant = entry;
            return index;
        }
        let index = link(self.entries.len());
        self.entries.push(entry);
        index
    }

    fn vacate(&mut self, index: u32) -> Option<T> {
        let entry = &mut self.entries[index as usize];
        entry.generation = None;
        entry.next = self.vacant;
        self.vacant = index;
        self.len -= 1;
        entry.value.take()
    }
}

fn link(index: usize) -> u32 {
    let index = u32::try_from(index).ok().filter(|index| *index != NONE);
    index.expect("a wheel holds fewer than four billion timers")
}
