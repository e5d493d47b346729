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
    use std::task::Waker;
    use std::time::Duration;

    use parking_lot::Mutex;

    use super::{Page, ReplySlot};
    use crate::dispatch::wake;
    use crate::time::Moment;

    /// As many asks of one thread may wait at once, or a little more, before their slots come from elsewhere.
    const PER_THREAD: usize = 1024;
    /// How often pages are looked at, at least: in good time before anybody who has just begun to wait is due.
    const EVERY: u64 = Duration::from_millis(250).as_nanos() as u64;
    /// How long nobody looks for each page that there is, in nanoseconds; a look takes a tenth of that.
    const REST_PER_PAGE: u64 = 1_000;
    /// How many pages are looked at before others who want the list have their turn.
    const STRETCH: usize = 1_024;
    /// How many are woken at once.
    pub(super) const BATCH: usize = 256;

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

    /// Pages that stand, for as long as they are listed; their numbers are under the lock of the list.
    pub(super) struct Pages(Vec<NonNull<Page>>);

    // SAFETY: pages are shared between threads.
    unsafe impl Send for Pages {}

    impl Pages {
        pub(super) const fn new() -> Self {
            Pages(Vec::new())
        }

        pub(super) fn add(&mut self, page: NonNull<Page>) {
            // SAFETY: the page was just made, and the list is ours.
            unsafe { page.as_ref() }.number.set(self.0.len());
            self.0.push(page);
        }

        /// The last one takes its place.
        pub(super) fn remove(&mut self, page: NonNull<Page>) {
            // SAFETY: it is listed, so it stands, and the list is ours.
            let number = unsafe { page.as_ref() }.number.get();
            self.0.swap_remove(number);
            if let Some(moved) = self.0.get(number) {
                // SAFETY: as above.
                unsafe { moved.as_ref() }.number.set(number);
            }
        }

        /// Looks at pages below that one, until there is a batch to wake or others want the list. Those below the returned
        /// one are still to come, whatever comes and goes meanwhile: downwards, since a page that changes its place
        /// goes down. It has been looked at by then, or will be.
        pub(super) fn look_below(&self, below: usize, now: u64, next: &mut u64, due: &mut Vec<Waker>) -> usize {
            self.visit_below(below, due, |page, due| *next = page.look(now, due).min(*next))
        }

        fn visit_below(
            &self,
            below: usize,
            due: &mut Vec<Waker>,
            mut visit: impl FnMut(&Page, &mut Vec<Waker>),
        ) -> usize {
            let mut at = below.min(self.0.len());
            let stop = at.saturating_sub(STRETCH);
            while at > stop && due.len() < BATCH {
                at -= 1;
                // SAFETY: it is listed, so it stands.
                visit(unsafe { self.0[at].as_ref() }, due);
            }
            at
        }
    }

    static PAGES: Mutex<Pages> = Mutex::new(Pages::new());
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
        PAGES.lock().add(page);
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
        // It is ours alone now, but for a sweep, which holds this lock.
        PAGES.lock().remove(page);
        // SAFETY: made by `Page::open`; nobody has one of its slots, and no sweep comes by any more.
        drop(unsafe { Box::from_raw(page.as_ptr()) });
    }

    /// Wakes all whose time is over, if it is time to look. When to come again.
    pub(crate) fn sweep(now: Moment) -> Option<Moment> {
        let now = now.nanos();
        if now >= NEXT.load(Relaxed) {
            // One of several clocks of the process does it.
            NEXT.store(now.saturating_add(EVERY), Relaxed);
            let (mut earliest, mut below, mut pages) = (u64::MAX, usize::MAX, 0);
            while below > 0 {
                let mut due = Vec::new();
                {
                    let list = PAGES.lock();
                    pages = list.0.len();
                    below = list.look_below(below, now, &mut earliest, &mut due);
                }
                // Without the lock: they are anybody's.
                due.into_iter().for_each(wake);
            }
            NEXT.store(next_sweep(now, earliest, pages), Relaxed);
        }
        Some(Moment::from_nanos(NEXT.load(Relaxed)))
    }

    /// Wakes all who wait for answers of that system, due or not: there is no clock any more that would.
    pub(crate) fn wake_askers_of(system: u32) {
        let mut below = usize::MAX;
        while below > 0 {
            let mut due = Vec::new();
            below = PAGES.lock().visit_below(below, &mut due, |page, due| {
                due.extend(page.slots.iter().filter_map(|slot| slot.call_for(system)));
            });
            due.into_iter().for_each(wake);
        }
    }

    /// When the earliest is due, but not so soon that the clock does little else than look at pages: with very many of them
    /// one or the other is due at any moment.
    pub(super) fn next_sweep(now: u64, earliest: u64, pages: usize) -> u64 {
        let rest = (pages as u64).saturating_mul(REST_PER_PAGE);
        let (soonest, latest) = (now.saturating_add(rest), now.saturating_add(EVERY));
        earliest.min(latest).max(soonest)
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

    pub(crate) fn wake_askers_of(_: u32) {}
}

pub(super) use pool::{give, take};
pub(crate) use pool::{sweep, wake_askers_of};

#[cfg(test)]
mod tests;
