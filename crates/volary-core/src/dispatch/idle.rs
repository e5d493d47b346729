//! Who sleeps, who searches: waking one worker when there is work for one.
//!
//! ```text
//!   ready actor queued ──▶ notify: nobody searching and somebody asleep? wake one, as a searcher
//!   worker finds nothing ─▶ sleep: listed as asleep, looks once more at every queue, then parks
//! ```
//!
//! A searcher that finds work hands the search on if there is more, so sleepers are woken one by
//! one and never as a herd. The look after listing closes the race with `notify`: the one who
//! queues first makes its work visible and then reads the counts, the one who sleeps first changes
//! the counts and then looks for work, all in one total order.

use crate::sync::Mutex;
use crate::sync::atomic::{AtomicU32, Ordering::*, fence};

const SEARCHING: u32 = 1;
const ASLEEP: u32 = 1 << 16;

fn searching(counts: u32) -> u32 {
    counts & (ASLEEP - 1)
}

pub(crate) struct Idle {
    /// Low half: workers searching. High half: workers asleep.
    counts: AtomicU32,
    sleepers: Mutex<Vec<usize>>,
}

impl Idle {
    pub(crate) fn new(workers: usize) -> Self {
        Idle {
            counts: AtomicU32::new(0),
            sleepers: Mutex::new(Vec::with_capacity(workers)),
        }
    }

    /// Something was queued: the worker to wake, if one should be.
    #[inline]
    pub(crate) fn worker_to_wake(&self) -> Option<usize> {
        fence(SeqCst);
        let counts = self.counts.load(SeqCst);
        if searching(counts) != 0 || counts < ASLEEP {
            return None;
        }
        self.wake_one()
    }

    #[cold]
    fn wake_one(&self) -> Option<usize> {
        let mut sleepers = self.sleepers.lock();
        if searching(self.counts.load(SeqCst)) != 0 {
            return None;
        }
        self.take(&mut sleepers)
    }

    /// A sleeper becomes a searcher. Under the lock: it may rise at once, and must find itself counted.
    fn take(&self, sleepers: &mut Vec<usize>) -> Option<usize> {
        let worker = sleepers.pop()?;
        self.counts.fetch_add(SEARCHING.wrapping_sub(ASLEEP), SeqCst);
        Some(worker)
    }

    /// The same, even if somebody searches: that one may be kept from it by a thread that is blocked.
    pub(crate) fn worker_to_wake_anyway(&self) -> Option<usize> {
        self.take(&mut self.sleepers.lock())
    }

    /// A worker begins to search. Half of the workers at most do, the others had better sleep.
    pub(crate) fn begin_search(&self, workers: usize) -> bool {
        let counts = self.counts.load(SeqCst);
        if 2 * searching(counts) as usize >= workers {
            return false;
        }
        self.counts.fetch_add(SEARCHING, SeqCst);
        true
    }

    /// A searcher found something. True: it was the last, and should pass the search on if there is
    /// more. Who queued something meanwhile has relied on it.
    pub(crate) fn end_search(&self) -> bool {
        let last = searching(self.counts.fetch_sub(SEARCHING, SeqCst)) == 1;
        fence(SeqCst);
        last
    }

    /// A worker goes to sleep. It looks once more at all queues before it really does.
    pub(crate) fn sleep(&self, worker: usize, searching: bool) {
        let mut sleepers = self.sleepers.lock();
        sleepers.push(worker);
        let change = if searching {
            ASLEEP.wrapping_sub(SEARCHING)
        } else {
            ASLEEP
        };
        self.counts.fetch_add(change, SeqCst);
        drop(sleepers);
        fence(SeqCst);
    }

    /// The worker sees work after all. If it searched before, it goes on: who queued something while it did has relied on
    /// it to pass the search on. Says whether it is a searcher now, which it also is if it was to be woken meanwhile.
    pub(crate) fn stay_up(&self, worker: usize, searching: bool) -> bool {
        self.leave_list(worker, if searching { SEARCHING } else { 0 })
            .is_none_or(|()| searching)
    }

    /// The worker is awake. Woken by us it is a searcher, woken by somebody else it is not.
    pub(crate) fn rise(&self, worker: usize) -> bool {
        self.leave_list(worker, 0).is_none()
    }

    /// None if somebody has taken the worker off the list already.
    fn leave_list(&self, worker: usize, becomes: u32) -> Option<()> {
        let mut sleepers = self.sleepers.lock();
        let at = sleepers.iter().position(|w| *w == worker)?;
        sleepers.swap_remove(at);
        self.counts.fetch_add(becomes.wrapping_sub(ASLEEP), SeqCst);
        Some(())
    }

    pub(crate) fn asleep(&self) -> usize {
        (self.counts.load(Relaxed) / ASLEEP) as usize
    }
}

#[cfg(all(test, volary_loom))]
mod tests;
