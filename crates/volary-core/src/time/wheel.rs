//! A hierarchical timing wheel: all timers of a system in one structure that never looks at a clock.
//!
//! ```text
//! level 0   64 slots of 1 tick          the next 64 ticks, one deadline per slot
//! level 1   64 slots of 64 ticks        …
//! level 5   64 slots of 64⁵ ticks       up to 64⁶ ticks ahead, 795 days of milliseconds
//! overflow  one list                    whatever lies beyond
//! ```
//! A timer lies at the level of the highest six-bit digit in which its deadline differs from the current tick, in the
//! slot of that digit. When time enters a slot, its timers move down to where they now belong. So the place of a timer
//! follows from its deadline alone, timers with the same deadline always share a list, and lists keep insertion order:
//! that is why timers fire in deadline order and, at the same deadline, in the order they were set.
//!
//! Setting and cancelling touch a few words. The timers themselves are kept by `wheel/lists.rs`.

use std::{fmt, time::Duration};

pub use lists::TimerKey;

use lists::Lists;

mod lists;

/// A point in time, in ticks since some start that the clock's owner chose.
///
/// ```
/// use volary_core::time::{Tick, Wheel};
///
/// let start: Tick = 1_000;
/// assert_eq!(Wheel::<()>::new(start).now(), 1_000);
/// ```
pub type Tick = u64;

/// How long a tick is in Volary. The wheel itself only counts.
///
/// ```
/// assert_eq!(volary_core::time::TICK.as_millis(), 1);
/// ```
pub const TICK: Duration = Duration::from_millis(1);

/// How many ticks a duration lasts, rounded up, so that a timer never fires early.
///
/// ```
/// use std::time::Duration;
/// use volary_core::time::ticks;
///
/// assert_eq!(ticks(Duration::from_micros(1_001)), 2);
/// assert_eq!(ticks(Duration::ZERO), 0);
/// assert_eq!(ticks(Duration::MAX), u64::MAX);
/// ```
#[must_use]
pub fn ticks(duration: Duration) -> Tick {
    Tick::try_from(duration.as_nanos().div_ceil(TICK.as_nanos())).unwrap_or(Tick::MAX)
}

const LEVELS: usize = 6;
const SLOTS: usize = 64;
const DIGIT_BITS: u32 = 6;
const HORIZON_BITS: u32 = DIGIT_BITS * 6;
const OVERFLOW: usize = LEVELS * SLOTS;

/// A set of timers, each with a value that comes back when it fires or is cancelled.
///
/// ```
/// use volary_core::time::Wheel;
///
/// let mut wheel = Wheel::new(0);
/// wheel.insert(250, "late");
/// wheel.insert(20, "early");
/// let cancelled = wheel.insert(100, "never");
/// wheel.cancel(cancelled);
///
/// let mut fired = Vec::new();
/// while let Some(tick) = wheel.next_expiry() {
///     wheel.advance(tick, &mut |_, value| fired.push(value));
/// }
/// assert_eq!(fired, ["early", "late"]);
/// ```
pub struct Wheel<T> {
    now: Tick,
    /// Per level, one bit for each slot with timers in it.
    occupied: [u64; LEVELS],
    /// The slots, level by level, then the overflow.
    lists: Lists<T>,
}

impl<T> Wheel<T> {
    /// An empty wheel whose time begins at `start`.
    ///
    /// ```
    /// # use volary_core::time::Wheel;
    /// let wheel = Wheel::<u8>::new(7);
    /// assert!(wheel.is_empty());
    /// assert_eq!(wheel.next_expiry(), None);
    /// ```
    #[must_use]
    pub fn new(start: Tick) -> Self {
        Self {
            now: start,
            occupied: [0; LEVELS],
            lists: Lists::new(OVERFLOW + 1),
        }
    }

    /// The tick up to which everything has fired.
    ///
    /// ```
    /// # use volary_core::time::Wheel;
    /// let mut wheel = Wheel::<u8>::new(7);
    /// wheel.advance(9, &mut |_, _| {});
    /// assert_eq!(wheel.now(), 9);
    /// ```
    #[must_use]
    pub fn now(&self) -> Tick {
        self.now
    }

    /// How many timers are set.
    ///
    /// ```
    /// # use volary_core::time::Wheel;
    /// let mut wheel = Wheel::new(0);
    /// wheel.insert(5, ());
    /// assert_eq!(wheel.len(), 1);
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        self.lists.len()
    }

    /// Whether no timer is set.
    ///
    /// ```
    /// # use volary_core::time::Wheel;
    /// assert!(Wheel::<u8>::new(0).is_empty());
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lists.len() == 0
    }

    /// Sets a timer. A deadline that has passed counts as the current tick and fires on the next
    /// [`advance`](Self::advance), after what was due at the current tick already.
    ///
    /// ```
    /// # use volary_core::time::Wheel;
    /// let mut wheel = Wheel::new(100);
    /// wheel.insert(40, "overdue");
    /// let mut fired = Vec::new();
    /// wheel.advance(100, &mut |_, value| fired.push(value));
    /// assert_eq!(fired, ["overdue"]);
    /// ```
    ///
    /// # Panics
    ///
    /// With more than four billion timers.
    pub fn insert(&mut self, deadline: Tick, value: T) -> TimerKey {
        let deadline = deadline.max(self.now);
        let list = self.list_of(deadline);
        let key = self.lists.insert(list, deadline, value);
        self.mark(list);
        key
    }

    /// Takes a timer back; none when it has fired or was cancelled before.
    ///
    /// ```
    /// # use volary_core::time::Wheel;
    /// let mut wheel = Wheel::new(0);
    /// let key = wheel.insert(5, "tea");
    /// assert_eq!(wheel.cancel(key), Some("tea"));
    /// assert_eq!(wheel.cancel(key), None);
    /// ```
    pub fn cancel(&mut self, key: TimerKey) -> Option<T> {
        let list = self.list_of(self.lists.deadline(key)?);
        let value = self.lists.remove(list, key);
        self.mark(list);
        value
    }

    /// A tick by which [`advance`](Self::advance) should be called; none when no timer is set.
    ///
    /// Never later than the earliest deadline. It is earlier when the next timers lie on a higher level and have to
    /// be moved down on the way, at most once per level and timer.
    ///
    /// ```
    /// # use volary_core::time::Wheel;
    /// let mut wheel = Wheel::new(0);
    /// wheel.insert(30, ());
    /// assert_eq!(wheel.next_expiry(), Some(30));
    ///
    /// let mut wheel = Wheel::new(0);
    /// wheel.insert(100, ());
    /// assert_eq!(wheel.next_expiry(), Some(64));
    /// wheel.advance(64, &mut |_, _| unreachable!());
    /// assert_eq!(wheel.next_expiry(), Some(100));
    /// ```
    #[must_use]
    pub fn next_expiry(&self) -> Option<Tick> {
        self.next_slot().or_else(|| {
            // All that is left lies beyond the horizon, and the next horizon cannot be past the end of time.
            (!self.is_empty()).then(|| ((self.now >> HORIZON_BITS) + 1) << HORIZON_BITS)
        })
    }

    /// Moves time forward to `now` and hands every timer whose deadline is reached to `fire`, in deadline order, ties
    /// in insertion order. An earlier `now` than before counts as the same.
    ///
    /// If `fire` panics the wheel stays whole: the timer at hand is gone, and the next call goes on with the rest.
    ///
    /// ```
    /// # use volary_core::time::Wheel;
    /// let mut wheel = Wheel::new(0);
    /// wheel.insert(20, 'b');
    /// wheel.insert(10, 'a');
    /// wheel.insert(20, 'c');
    /// let mut fired = String::new();
    /// wheel.advance(50, &mut |_, value| fired.push(value));
    /// assert_eq!(fired, "abc");
    /// ```
    pub fn advance(&mut self, now: Tick, fire: &mut impl FnMut(TimerKey, T)) {
        while let Some((key, value)) = self.take_due(now) {
            fire(key, value);
        }
    }

    /// As [`advance`](Self::advance), one timer at a time: none when there is no other that is due, and only then
    /// has time moved all the way.
    ///
    /// ```
    /// # use volary_core::time::Wheel;
    /// let mut wheel = Wheel::new(0);
    /// wheel.insert(20, 'b');
    /// wheel.insert(10, 'a');
    /// assert_eq!(wheel.take_due(50).map(|(_, value)| value), Some('a'));
    /// assert_eq!(wheel.now(), 10);
    /// assert_eq!(wheel.take_due(50).map(|(_, value)| value), Some('b'));
    /// assert_eq!(wheel.take_due(50), None);
    /// assert_eq!(wheel.now(), 50);
    /// ```
    pub fn take_due(&mut self, now: Tick) -> Option<(TimerKey, T)> {
        let now = now.max(self.now);
        while let Some(tick) = self.next_stop(now) {
            self.enter(tick);
            let due = self.list_of(tick);
            if let Some(timer) = self.lists.take_first(due) {
                self.mark(due);
                return Some(timer);
            }
        }
        self.enter(now);
        None
    }

    /// Gives memory back that is kept for the next timers. Keys stay valid.
    ///
    /// ```
    /// # use volary_core::time::Wheel;
    /// let mut wheel = Wheel::new(0);
    /// let keys: Vec<_> = (0..1000).map(|tick| wheel.insert(tick, tick)).collect();
    /// wheel.advance(998, &mut |_, _| {});
    /// wheel.shrink();
    /// assert_eq!(wheel.cancel(keys[999]), Some(999));
    /// ```
    pub fn shrink(&mut self) {
        self.lists.shrink();
    }

    /// The first tick of the earliest slot with timers in it; overflow left aside.
    fn next_slot(&self) -> Option<Tick> {
        // Whatever lies on a lower level is earlier than all on higher ones, and within a level slots are in order:
        // no slot before the current one is ever occupied.
        let level = self.occupied.iter().position(|slots| *slots != 0)?;
        let shift = DIGIT_BITS * level as u32;
        let slot = Tick::from(self.occupied[level].trailing_zeros());
        let above = self.now >> (shift + DIGIT_BITS) << (shift + DIGIT_BITS);
        Some(above | slot << shift)
    }

    /// As [`next_expiry`](Self::next_expiry), up to `now`, but skips the horizons at which nothing happens: one look
    /// at the whole overflow in 795 days is cheaper than many steps through an age without timers.
    fn next_stop(&self, now: Tick) -> Option<Tick> {
        let hint = self.next_expiry().filter(|tick| *tick <= now)?;
        if self.next_slot().is_some() {
            return Some(hint);
        }
        let earliest = self.lists.deadlines(OVERFLOW).min()?;
        (earliest <= now).then_some(earliest)
    }

    /// Makes `tick` the current one and moves down the timers of the slots that it lies in. No timer may be due
    /// before `tick`.
    fn enter(&mut self, tick: Tick) {
        let crosses_horizon = (self.now ^ tick) >> HORIZON_BITS != 0;
        self.now = tick;
        if crosses_horizon {
            self.redistribute(OVERFLOW);
        }
        for level in 1..LEVELS {
            let slot = digit(tick, level);
            if self.occupied[level] & 1 << slot != 0 {
                self.redistribute(level * SLOTS + slot);
            }
        }
    }

    fn redistribute(&mut self, list: usize) {
        let mut timers = self.lists.detach(list);
        self.mark(list);
        while let Some(deadline) = self.lists.first_of(&timers) {
            let list = self.list_of(deadline);
            self.lists.append_first_of(&mut timers, list);
            self.mark(list);
        }
    }

    /// Where a timer with this deadline lies, seen from now.
    fn list_of(&self, deadline: Tick) -> usize {
        let differing = self.now ^ deadline;
        if differing >> HORIZON_BITS != 0 {
            return OVERFLOW;
        }
        // The lowest bit decides nothing but keeps the logarithm defined.
        let level = ((differing | 1).ilog2() / DIGIT_BITS) as usize;
        level * SLOTS + digit(deadline, level)
    }

    /// Brings the bit of a slot in line with its list.
    fn mark(&mut self, list: usize) {
        if let Some(slots) = self.occupied.get_mut(list / SLOTS) {
            let bit = 1 << (list % SLOTS);
            if self.lists.is_empty(list) {
                *slots &= !bit;
            } else {
                *slots |= bit;
            }
        }
    }
}

fn digit(tick: Tick, level: usize) -> usize {
    (tick >> (DIGIT_BITS as usize * level)) as usize % SLOTS
}

impl<T> fmt::Debug for Wheel<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wheel")
            .field("now", &self.now)
            .field("len", &self.len())
            .field("next_expiry", &self.next_expiry())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
