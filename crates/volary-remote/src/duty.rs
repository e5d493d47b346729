//! A task that another can take the place of.
//!
//! A task that is woken from a thread which runs an actor is to run on that thread next, and no other thread can take it
//! from there: a handler that blocks its thread would keep the writer of a connection from everybody. So whoever has
//! something to do and does not come is replaced, and ends when it comes after all.

use std::sync::atomic::{AtomicU64, Ordering::*};

/// Nothing was to be done when it was looked last.
const NOTHING: u64 = u64::MAX;

/// Who has it, and whether they do it.
pub(crate) struct Duty {
    /// How many have had it; the last one has it now.
    holder: AtomicU64,
    /// Goes up while it is done.
    done: AtomicU64,
    /// How far that was when it was looked last, and something was to be done.
    seen: AtomicU64,
    /// Until when whoever has it is not to be disturbed, in nanoseconds of the system's clock.
    until: AtomicU64,
}

impl Duty {
    pub(crate) fn new() -> Self {
        Duty {
            holder: AtomicU64::new(0),
            done: AtomicU64::new(0),
            seen: AtomicU64::new(NOTHING),
            until: AtomicU64::new(0),
        }
    }

    /// The number of the one who has it from now on.
    pub(crate) fn take_over(&self) -> u64 {
        self.seen.store(NOTHING, Relaxed);
        self.until.store(0, Relaxed);
        self.holder.fetch_add(1, AcqRel) + 1
    }

    /// Whether this one still has it.
    pub(crate) fn is_held(&self, number: u64) -> bool {
        self.holder.load(Acquire) == number
    }

    /// Something was done. An increment that is lost when two have it for a moment does no harm.
    #[inline]
    pub(crate) fn go_on(&self) {
        self.done.store(self.done.load(Relaxed) + 1, Relaxed);
    }

    /// This one waits for something else until then, if it has it.
    pub(crate) fn wait_until(&self, number: u64, nanos: u64) {
        if self.is_held(number) {
            self.until.store(nanos, Relaxed);
        }
    }

    /// Whether there was something to be done at two looks, and nothing was done between them.
    pub(crate) fn is_overdue(&self, has_work: bool, now: u64) -> bool {
        let done = self.done.load(Relaxed);
        let due = has_work && now >= self.until.load(Relaxed);
        let before = self.seen.swap(if due { done } else { NOTHING }, Relaxed);
        due && before == done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_overdue_who_does_nothing_between_two_looks_at_which_there_was_work() {
        let duty = Duty::new();
        let first = duty.take_over();
        assert!(!duty.is_overdue(true, 0));
        assert!(duty.is_overdue(true, 0));
        duty.go_on();
        assert!(!duty.is_overdue(true, 0));
        assert!(!duty.is_overdue(false, 0));
        assert!(!duty.is_overdue(true, 0), "there was none before");
        duty.wait_until(first, 10);
        assert!(!duty.is_overdue(true, 9));
        assert!(!duty.is_overdue(true, 10));
        assert!(duty.is_overdue(true, 11));
        let second = duty.take_over();
        assert!(duty.is_held(second) && !duty.is_held(first));
        assert!(!duty.is_overdue(true, 12), "the next one has its time");
        duty.wait_until(first, 20);
        assert!(duty.is_overdue(true, 13), "who does not have it has no say");
    }
}
