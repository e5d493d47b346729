//! Receipts of messages that were taken out of their mailboxes a moment ago: what is said of each is said once for a few,
//! while more mail waits behind them.

use std::cell::Cell;
use std::ptr::NonNull;

use super::receipt::{AT_ONCE, Line, Receipt};

/// Those of the turns on one thread. There are none between turns.
pub(crate) struct Taken {
    lines: [Cell<NonNull<Line>>; AT_ONCE],
    count: Cell<usize>,
}

impl Taken {
    pub(crate) const fn new() -> Self {
        Taken {
            lines: [const { Cell::new(NonNull::dangling()) }; AT_ONCE],
            count: Cell::new(0),
        }
    }

    /// One more was taken. If nothing is known to follow it is said at once, with those before it.
    #[inline]
    pub(crate) fn put(&self, receipt: Receipt, is_followed: bool) {
        let is_followed = is_followed && !receipt.is_prompt();
        let count = self.count.get();
        self.lines[count].set(receipt.into_line());
        self.count.set(count + 1);
        if !is_followed || count + 1 == AT_ONCE {
            self.say_all();
        }
    }

    /// Says what was not said yet.
    #[inline]
    pub(crate) fn say(&self) {
        if self.count.get() > 0 {
            self.say_all();
        }
    }

    #[cold]
    #[inline(never)]
    fn say_all(&self) {
        // A copy: whoever hears of it may be the user's code, and run a turn here.
        let lines: [NonNull<Line>; AT_ONCE] = std::array::from_fn(|at| self.lines[at].get());
        let count = self.count.replace(0);
        // SAFETY: the first so many are from receipts, and are not held any more.
        unsafe { Receipt::drop_lines(&lines[..count]) };
    }
}
