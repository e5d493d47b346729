//! A task that another can take the place of.
//!
//! A task that is woken from a thread which runs an actor is to run on that thread next, and no other thread can take it
//! from there: a handler that blocks its thread would keep the writer of a connection from everybody. So whoever has
//! something to do and does not come is replaced, and ends when it comes after all.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};

/// Who has it, and whether they do it.
#[derive(Default)]
pub(crate) struct Duty {
    /// How many have had it; the last one has it now.
    holder: AtomicU64,
    /// Goes up while it is done.
    done: AtomicU64,
    /// How far that was when it was looked last.
    seen: AtomicU64,
    /// Who has it waits for something that may take long, and is not to be disturbed.
    busy: AtomicBool,
}

impl Duty {
    /// The number of the one who has it from now on.
    pub(crate) fn take_over(&self) -> u64 {
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

    /// Waits for something that may take long, or does not any more.
    pub(crate) fn set_busy(&self, busy: bool) {
        self.busy.store(busy, Relaxed);
    }

    /// Whether nothing was done since it was looked last.
    pub(crate) fn rests(&self) -> bool {
        let done = self.done.load(Relaxed);
        self.seen.swap(done, Relaxed) == done && !self.busy.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_it_and_is_seen_to_rest_when_nothing_was_done_between_two_looks() {
        let duty = Duty::default();
        let first = duty.take_over();
        duty.go_on();
        assert!(!duty.rests());
        assert!(duty.rests());
        duty.go_on();
        assert!(!duty.rests());
        duty.set_busy(true);
        assert!(!duty.rests());
        duty.set_busy(false);
        assert!(duty.rests());
        let second = duty.take_over();
        assert!(duty.is_held(second) && !duty.is_held(first));
    }
}
