//! How a pass learns that its last message was handled: a countdown which
//! handlers decrement and on which the measuring thread sleeps. Only a final
//! message (`LAST`) touches it, so ordinary messages cost nothing here.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// The value of the message after which a receiver reports to the latch.
pub const LAST: u64 = u64::MAX;

/// A wait longer than this ends the process: every loop is bounded.
const PATIENCE: Duration = Duration::from_secs(110);

/// A countdown, rearmed before each pass.
pub struct Latch {
    left: AtomicU64,
    open: Mutex<bool>,
    opened: Condvar,
}

impl Latch {
    /// A latch that lives as long as the process, so handles to it are plain
    /// references and cost a handler no reference counting.
    pub fn leaked() -> &'static Self {
        Box::leak(Box::new(Self {
            left: AtomicU64::new(0),
            open: Mutex::new(true),
            opened: Condvar::new(),
        }))
    }

    /// Arms the latch for `count` arrivals.
    pub fn arm(&self, count: u64) {
        *self.open.lock().expect("latch lock") = count == 0;
        self.left.store(count, Ordering::Release);
    }

    /// One arrival; the last one opens the latch.
    pub fn arrive(&self) {
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            *self.open.lock().expect("latch lock") = true;
            self.opened.notify_all();
        }
    }

    /// Sleeps until all have arrived.
    pub fn wait(&self) {
        let open = self.open.lock().expect("latch lock");
        let (open, result) = self
            .opened
            .wait_timeout_while(open, PATIENCE, |open| !*open)
            .expect("latch lock");
        drop(open);
        assert!(
            !result.timed_out(),
            "the pass did not end in {PATIENCE:?}: {} arrivals missing",
            self.left.load(Ordering::Acquire)
        );
    }
}
