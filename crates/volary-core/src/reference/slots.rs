//! Where reply slots come from, and who looks after those that wait.
//!
//! ```text
//!   thread's own   [ slot  slot  slot … ]           taken and given without a lock
//!   pages          [ earliest │ slot  slot … ]  …   what the sweep walks over
//! ```
//!
//! Slots stand on pages, and a page stays where it is until all of its slots have come home. So the sweep, which owns no
//! share of any slot, may look at each of them at any time, whatever it is used for just then. An ask that waits for long
//! therefore needs no timer: it leaves its deadline in its slot, and tells its page if nobody there is due earlier. Pages
//! are looked at a few times a second, and their slots only when the earliest is due.
//!
//! An ask that has ended takes nothing back. Its deadline is found out of date when it comes.

use std::array;
use std::cell::Cell;
use std::ptr::NonNull;
use std::task::Waker;

use super::reply_slot::{Call, ReplySlot};
use crate::sync::atomic::{AtomicU64, AtomicUsize, Ordering::*};
use crate::sync::total_order;

/// Asks that wait for less have timers: between two sweeps nobody looks.
pub(crate) const PATIENT: u64 = 1_000_000_000;

#[cfg(not(any(volary_loom, volary_shuttle)))]
const PAGE: usize = 32;
#[cfg(any(volary_loom, volary_shuttle))]
const PAGE: usize = 1;

/// Some slots, side by side.
pub(crate) struct Page {
    /// Nobody on this page is due before; whoever said so may have ended since.
    earliest: AtomicU64,
    /// How many slots are neither used nor kept at hand by a thread.
    home: AtomicUsize,
    /// Which of all pages this is. Under the lock of all pages.
    number: Cell<usize>,
    slots: [ReplySlot; PAGE],
}

// SAFETY: the slots are made for many threads, and the number is read and written under one lock.
unsafe impl Sync for Page {}

impl Page {
    fn open() -> NonNull<Page> {
        let page = NonNull::from(Box::leak(Box::new(Page {
            earliest: AtomicU64::new(u64::MAX),
            home: AtomicUsize::new(0),
            number: Cell::new(0),
            slots: array::from_fn(|_| ReplySlot::new()),
        })));
        for slot in Page::slots(page) {
            // SAFETY: a slot of that page, which nobody else knows yet.
            unsafe { slot.as_ref() }.stand_on(page);
        }
        page
    }

    fn slots(page: NonNull<Page>) -> impl Iterator<Item = NonNull<ReplySlot>> {
        // SAFETY: only the address is computed, of a page that the caller has.
        let first = unsafe { NonNull::new_unchecked(&raw mut (*page.as_ptr()).slots).cast::<ReplySlot>() };
        // SAFETY: in bounds of the array.
        (0..PAGE).map(move |at| unsafe { first.add(at) })
    }

    /// Somebody here waits, and is due then. After the slot says that somebody waits.
    #[inline]
    pub(super) fn expect(&self, due: u64) {
        total_order();
        // Nearly always somebody is, or was, due earlier.
        if due < self.earliest.load(SeqCst) {
            self.earliest.fetch_min(due, SeqCst);
        }
    }

    /// Takes the wakers of all who are due, and says who is the next.
    fn look(&self, now: u64, due: &mut Vec<Waker>) -> u64 {
        let earliest = self.earliest.load(SeqCst);
        if earliest > now {
            return earliest;
        }
        // Before the slots are looked at: whoever waits from now on says so again.
        self.earliest.store(u64::MAX, SeqCst);
        total_order();
        let mut next = u64::MAX;
        for slot in &self.slots {
            match slot.call(now) {
                Call::Nobody => {}
                Call::Later(at) => next = next.min(at),
                Call::Due(waker) => due.extend(waker),
            }
        }
        self.earliest.fetch_min(next, SeqCst).min(next)
    }

    /// A slot has come home. True: it was the last one. Not by a reference to the page, which would have to be good until the
    /// call returns: the page may go as soon as this slot is counted, if the others came home meanwhile.
    ///
    /// # Safety
    /// The page stands, and the slot is counted once.
    #[cfg(not(volary_loom))]
    unsafe fn came_home(page: NonNull<Page>) -> bool {
        // SAFETY: the page stands up to this operation, which is all that the reference to the counter is for.
        unsafe { (*page.as_ptr()).home.fetch_add(1, AcqRel) + 1 == PAGE }
    }
}

#[cfg(not(any(volary_loom, volary_shuttle)))]
mod pool {
    use std::cell::RefCell;
    use std::ptr::NonNull;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    use std::time::Duration;

    use parking_lot::Mutex;

    use super::{Page, ReplySlot};
    use crate::dispatch::wake;
    use crate::time::Moment;

    /// As many asks of one thread may wait at once, or a little more, before their slots come from elsewhere.
    const PER_THREAD: usize = 1024;
    /// How often pages are looked at, at least: in good time before anybody who has just begun to wait is due.
    const EVERY: Duration = Duration::from_millis(250);
    /// How many are woken at once.
    const BATCH: usize = 256;

    /// What a thread has at hand.
    struct Local(Vec<NonNull<ReplySlot>>);

    impl Drop for Local {
        fn drop(&mut self) {
            self.0.drain(..).for_each(go_home);
        }
    }

    thread_local! {
        static LOCAL: RefCell<Local> = const { RefCell::new(Local(Vec::new())) };
    }

    struct Pages(Vec<NonNull<Page>>);

    // SAFETY: pages are shared between threads.
    unsafe impl Send for Pages {}

    static PAGES: Mutex<Pages> = Mutex::new(Pages(Vec::new()));
    /// When the next sweep is due, in nanoseconds of the clock that everybody shares.
    static NEXT: AtomicU64 = AtomicU64::new(0);

    #[inline]
    pub(crate) fn take() -> NonNull<ReplySlot> {
        LOCAL
            .try_with(|local| local.borrow_mut().0.pop())
            .ok()
            .flatten()
            .unwrap_or_else(fresh)
    }

    #[cold]
    fn fresh() -> NonNull<ReplySlot> {
        let page = Page::open();
        {
            let mut pages = PAGES.lock();
            // SAFETY: the page was just made, and this is the lock for its number.
            unsafe { page.as_ref() }.number.set(pages.0.len());
            pages.0.push(page);
        }
        let mut slots = Page::slots(page);
        let first = slots.next();
        slots.for_each(give);
        first.unwrap_or_else(|| unreachable!("a page has slots"))
    }

    #[inline(always)]
    pub(crate) fn give(slot: NonNull<ReplySlot>) {
        let kept = LOCAL.try_with(|local| {
            let local = &mut local.borrow_mut().0;
            let has_room = local.len() < PER_THREAD;
            if has_room {
                local.push(slot);
            }
            has_room
        });
        if kept != Ok(true) {
            go_home(slot);
        }
    }

    #[cold]
    fn go_home(slot: NonNull<ReplySlot>) {
        // SAFETY: the slot is not home yet, so its page stands.
        let page = unsafe { slot.as_ref().page() };
        // SAFETY: as above, and the slot comes home once.
        if !unsafe { Page::came_home(page) } {
            return;
        }
        {
            let mut pages = PAGES.lock();
            // SAFETY: it is ours alone now, but for a sweep, which holds this lock.
            let number = unsafe { page.as_ref() }.number.get();
            pages.0.swap_remove(number);
            if let Some(moved) = pages.0.get(number) {
                // SAFETY: it is listed, so it stands, and this is the lock for its number.
                unsafe { moved.as_ref() }.number.set(number);
            }
        }
        // SAFETY: made by `Page::open`; nobody has one of its slots, and no sweep comes by any more.
        drop(unsafe { Box::from_raw(page.as_ptr()) });
    }

    /// Wakes all whose time is over, if it is time to look. When to come again.
    pub(crate) fn sweep(now: Moment) -> Option<Moment> {
        let now = now.nanos();
        if now >= NEXT.load(Relaxed) {
            // One of several clocks of the process does it.
            let mut next = now.saturating_add(EVERY.as_nanos() as u64);
            NEXT.store(next, Relaxed);
            let mut at = Some(0);
            while let Some(from) = at {
                at = sweep_some(from, now, &mut next);
            }
            NEXT.store(next, Relaxed);
        }
        Some(Moment::from_nanos(NEXT.load(Relaxed)))
    }

    /// From that page on, until there is a batch to wake, which is done without the lock. Where to go on.
    fn sweep_some(from: usize, now: u64, next: &mut u64) -> Option<usize> {
        let mut due = Vec::new();
        let mut at = from;
        {
            let pages = PAGES.lock();
            while due.len() < BATCH
                && let Some(page) = pages.0.get(at)
            {
                // SAFETY: it is listed, so it stands, and it goes under this lock only.
                *next = unsafe { page.as_ref() }.look(now, &mut due).min(*next);
                at += 1;
            }
        }
        let full = due.len() >= BATCH;
        due.into_iter().for_each(wake);
        full.then_some(at)
    }

    /// How many pages there are, for tests.
    #[cfg(test)]
    pub(super) fn pages() -> usize {
        PAGES.lock().0.len()
    }
}

// Models want every slot to be a fresh one, so that nothing leaks from one execution to the next; and no sweep comes by
// but where a model has one.
#[cfg(any(volary_loom, volary_shuttle))]
mod pool {
    use std::ptr::NonNull;

    use super::{Page, ReplySlot};

    pub(crate) fn take() -> NonNull<ReplySlot> {
        let mut slots = Page::slots(Page::open());
        slots.next().unwrap_or_else(|| unreachable!("a page has slots"))
    }

    pub(crate) fn give(slot: NonNull<ReplySlot>) {
        // Under loom a page outlives its slot, as it does where others are on it: a sweep may be looking.
        #[cfg(not(volary_loom))]
        // SAFETY: the only slot of its page has come home.
        unsafe {
            let page = slot.as_ref().page();
            if Page::came_home(page) {
                drop(Box::from_raw(page.as_ptr()));
            }
        }
        #[cfg(volary_loom)]
        let _ = slot;
    }

    pub(crate) fn sweep(_: crate::time::Moment) -> Option<crate::time::Moment> {
        None
    }
}

pub(crate) use pool::sweep;
pub(super) use pool::{give, take};

#[cfg(test)]
#[path = "slots_tests.rs"]
mod tests;
