//! The place where an answer meets its asker: a one-shot with two owners, from a pool.
//!
//! ```text
//!   asker ──owns──▶ slot ◀──owns── replier (the record, then the ReplyTo)
//! ```
//!
//! The slot belongs to both until one of them lets go; the second frees it. So a late reply finds
//! either a live slot marked `CLOSED` or, having been the first, leaves a `COMPLETE` one for the
//! asker. No generation is needed. The common case, a reply before anybody waits, is a single
//! compare-and-swap.
//!
//! A third party has no share and comes by now and then: the sweep, which wakes an asker whose time is
//! over (`slots.rs`). It takes hold of the waker only while the word says that somebody waits and nothing
//! else, and whoever would let go of the slot lets it finish. The slot may serve another ask by the time it
//! comes; that one is woken too early then, and waits again.

use std::cell::{Cell, UnsafeCell};
use std::mem::{MaybeUninit, align_of, size_of};
use std::ptr::NonNull;
// Of no part in the protocol, so models need not know of it.
use std::sync::atomic::AtomicU32 as Number;
use std::task::{Poll, Waker};

use super::slots::{self, Page};
use crate::dispatch::wake;
use crate::sync::Spin;
use crate::sync::atomic::{AtomicU32, AtomicU64, Ordering::*};

/// The asker's waker is in the slot.
const WAITING: u32 = 1;
/// The replier has taken hold of the waker and is about to complete.
const REPLYING: u32 = 1 << 1;
/// The answer is there; the replier is gone.
const COMPLETE: u32 = 1 << 2;
/// The asker is gone.
const CLOSED: u32 = 1 << 3;
/// The sweep has taken hold of the waker.
const CALLING: u32 = 1 << 4;

const VALUE_WORDS: usize = 8;

/// Answers up to this size stay in the slot; larger ones are boxed.
const fn is_inline<V>() -> bool {
    size_of::<V>() <= VALUE_WORDS * 8 && align_of::<V>() <= 8
}

/// What the sweep finds in a slot.
pub(super) enum Call {
    /// Nobody who waits for it.
    Nobody,
    /// Somebody who is due then.
    Later(u64),
    /// Somebody whose time is over; whoever has been woken for that is not woken again.
    Due(Option<Waker>),
}

/// On lines of its own: slots stand side by side, and their users on different threads.
#[repr(align(64))]
pub(crate) struct ReplySlot {
    state: AtomicU32,
    /// When the asker gives up, in nanoseconds of the clock; 0 while nobody had to look.
    deadline: AtomicU64,
    /// The same for the sweep; 0 if the asker has a timer, or none.
    due: AtomicU64,
    /// The page that it stands on.
    page: Cell<NonNull<Page>>,
    /// How long the asker is willing to wait, in nanoseconds.
    patience: Cell<u64>,
    /// Number of the system asked, for counting what comes too late.
    system: Number,
    waker: UnsafeCell<Option<Waker>>,
    /// What the models watch in place of the waker and of the value.
    #[cfg(volary_loom)]
    touched: [loom::cell::UnsafeCell<()>; 2],
    value: UnsafeCell<MaybeUninit<[u64; VALUE_WORDS]>>,
}

/// What became of an answer.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub(crate) enum Delivered {
    ToAsker,
    /// The asker had given up; the answer was dropped. The number is that of the system.
    TooLate(u32),
}

impl ReplySlot {
    pub(super) fn new() -> Self {
        ReplySlot {
            state: AtomicU32::new(0),
            deadline: AtomicU64::new(0),
            due: AtomicU64::new(0),
            page: Cell::new(NonNull::dangling()),
            patience: Cell::new(0),
            system: Number::new(0),
            waker: UnsafeCell::new(None),
            #[cfg(volary_loom)]
            touched: [(); 2].map(loom::cell::UnsafeCell::new),
            value: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// A slot owned by an asker and a replier.
    #[inline]
    pub(crate) fn take(patience: u64, system: u32) -> NonNull<ReplySlot> {
        let taken = slots::take();
        // SAFETY: it is nobody's but ours.
        let slot = unsafe { taken.as_ref() };
        slot.system.store(system, Relaxed);
        slot.patience.set(patience);
        slot.state.store(0, Relaxed);
        slot.deadline.store(0, Relaxed);
        slot.due.store(0, Relaxed);
        taken
    }

    /// Ends the slot: called by the second of its two owners.
    ///
    /// # Safety
    /// Nobody else owns the slot any more.
    #[inline(always)]
    pub(crate) unsafe fn free(slot: NonNull<ReplySlot>) {
        // SAFETY: the slot stands until it is given back. The waker is the last owner's: the sweep has let go of it, and
        // takes hold of none while nobody waits.
        unsafe {
            let this = slot.as_ref();
            if (*this.waker_place()).is_some() {
                this.forget_waker();
            }
        }
        slots::give(slot);
    }

    /// # Safety
    /// The waker is the caller's.
    #[cold]
    unsafe fn forget_waker(&self) {
        // SAFETY: the caller's promise.
        unsafe { *self.waker_place() = None }
    }

    /// For whoever has hold of the waker.
    #[inline(always)]
    fn waker_place(&self) -> *mut Option<Waker> {
        #[cfg(volary_loom)]
        self.touched[0].with_mut(|_| ());
        self.waker.get()
    }

    /// For the replier up to COMPLETE, and then for the asker.
    #[inline(always)]
    fn value_place(&self) -> *mut u64 {
        #[cfg(volary_loom)]
        self.touched[1].with_mut(|_| ());
        self.value.get().cast()
    }

    /// Tells a new slot where it is.
    pub(super) fn stand_on(&self, page: NonNull<Page>) {
        self.page.set(page);
    }

    pub(super) fn page(&self) -> NonNull<Page> {
        self.page.get()
    }

    #[inline]
    pub(crate) fn patience(&self) -> u64 {
        self.patience.get()
    }

    #[inline]
    pub(crate) fn deadline(&self) -> u64 {
        self.deadline.load(Relaxed)
    }

    pub(crate) fn stamp(&self, deadline: u64) {
        self.deadline.store(deadline, Relaxed);
    }

    /// The asker leaves its deadline to the sweep. Before it waits.
    pub(super) fn leave_to_sweep(&self) {
        self.due.store(self.deadline(), Relaxed);
    }

    /// The asker waits now, and its page is to know when it is due.
    #[inline]
    pub(super) fn tell_page(&self) {
        // SAFETY: the page stands for as long as one of its slots is in use.
        unsafe { self.page.get().as_ref() }.expect(self.due.load(Relaxed));
    }

    /// The sweep comes by. Nobody's share is needed for that: the page keeps the memory.
    pub(super) fn call(&self, now: u64) -> Call {
        if self.state.load(SeqCst) != WAITING {
            return Call::Nobody;
        }
        match self.due.load(Relaxed) {
            0 => return Call::Nobody,
            due if due > now => return Call::Later(due),
            _ => {}
        }
        match self.take_waker() {
            Some(waker) => Call::Due(waker),
            None => Call::Nobody,
        }
    }

    /// The waker of an asker of that system, if one waits.
    #[cfg(not(any(volary_loom, volary_shuttle)))]
    pub(super) fn call_for(&self, system: u32) -> Option<Waker> {
        // Another ask by now, of another system: it waits again.
        if self.state.load(SeqCst) != WAITING || self.system.load(Relaxed) != system {
            return None;
        }
        self.take_waker()?
    }

    /// For the sweep: the waker, if somebody waits; whoever has been woken by it already left none.
    fn take_waker(&self) -> Option<Option<Waker>> {
        // It may be another ask by now; then that one has said to the page when it is due, or will.
        if self
            .state
            .compare_exchange(WAITING, WAITING | CALLING, Acquire, Relaxed)
            .is_err()
        {
            return None;
        }
        // SAFETY: WAITING was published after the waker was written, and CALLING gives it to us.
        let waker = unsafe { (*self.waker_place()).take() };
        self.state.fetch_and(!CALLING, Release);
        Some(waker)
    }

    /// Waits until the sweep has let go of the waker: it takes a moment.
    #[cold]
    fn let_sweep_finish(&self) -> u32 {
        let mut spin = Spin::new();
        loop {
            let state = self.state.load(Acquire);
            if state & CALLING == 0 {
                return state;
            }
            spin.pause();
        }
    }

    /// Whether the asker has given up, so that the question need not be looked at.
    #[inline]
    pub(crate) fn is_abandoned(&self) -> bool {
        self.state.load(Acquire) & CLOSED != 0
    }

    /// Whether the answer is there.
    #[inline]
    pub(crate) fn is_complete(&self) -> bool {
        self.state.load(Acquire) & COMPLETE != 0
    }

    /// The replier answers and lets go.
    ///
    /// # Safety
    /// The caller is the replier, and the asker expects a `V`.
    #[inline]
    pub(crate) unsafe fn complete<V>(slot: NonNull<ReplySlot>, value: V) -> Delivered {
        // SAFETY: the replier's share keeps the slot alive until it lets go below.
        let this = unsafe { slot.as_ref() };
        // SAFETY: only the replier writes the value, and the asker reads it after COMPLETE.
        unsafe { this.write(value) };
        if this.state.compare_exchange(0, COMPLETE, AcqRel, Acquire).is_ok() {
            return Delivered::ToAsker;
        }
        // SAFETY: as the caller promised.
        unsafe { Self::complete_slow::<V>(slot) }
    }

    #[cold]
    unsafe fn complete_slow<V>(slot: NonNull<ReplySlot>) -> Delivered {
        // SAFETY: as in `complete`.
        let this = unsafe { slot.as_ref() };
        // After REPLYING the asker leaves the waker alone, so it can be moved out before COMPLETE
        // lets the asker free the slot.
        let before = this.state.fetch_or(REPLYING, AcqRel);
        if before & CALLING != 0 {
            this.let_sweep_finish();
        }
        if before & CLOSED == 0 {
            // SAFETY: WAITING was published by the asker after it wrote the waker; REPLYING gives
            // it to us. If the sweep has taken it, it wakes the asker.
            let waker = (before & WAITING != 0)
                .then(|| unsafe { (*this.waker_place()).take() })
                .flatten();
            if this.state.fetch_or(COMPLETE, AcqRel) & CLOSED == 0 {
                // The slot is the asker's now.
                if let Some(waker) = waker {
                    wake(waker);
                }
                return Delivered::ToAsker;
            }
        }
        // SAFETY: the asker is gone, so the value and the slot are ours alone. The slot goes first:
        // the drop of the value is user code.
        unsafe {
            let value = this.read::<V>();
            let system = this.system.load(Relaxed);
            Self::free(slot);
            drop(value);
            Delivered::TooLate(system)
        }
    }

    /// The asker looks for the answer, leaving its waker if there is none. A ready answer frees the
    /// slot.
    ///
    /// # Safety
    /// The caller is the asker and expects a `V`; after `Ready` it does not touch the slot.
    pub(crate) unsafe fn poll<V>(slot: NonNull<ReplySlot>, waker: &Waker) -> Poll<V> {
        // SAFETY: the asker's share keeps the slot alive.
        let this = unsafe { slot.as_ref() };
        let mut state = this.state.load(Acquire);
        if state & (COMPLETE | WAITING) == WAITING {
            // Take the waker back before looking at it: a replier that begins now leaves it alone.
            state = this.state.fetch_and(!WAITING, AcqRel);
            if state & CALLING != 0 {
                state = this.let_sweep_finish();
            }
        }
        if state & COMPLETE == 0 {
            if state & REPLYING == 0 {
                // SAFETY: WAITING is unset and no replier had begun before it was, so the waker is
                // ours to write.
                let current = unsafe { &mut *this.waker_place() };
                if !current.as_ref().is_some_and(|w| w.will_wake(waker)) {
                    *current = Some(waker.clone());
                }
                // In one order with the word on the page, see `tell_page`.
                state = this.state.fetch_or(WAITING, SeqCst);
                if state & (COMPLETE | REPLYING) == 0 {
                    return Poll::Pending;
                }
            }
            let mut spin = Spin::new();
            while this.state.load(Acquire) & COMPLETE == 0 {
                spin.pause();
            }
        }
        // SAFETY: COMPLETE was seen with Acquire: the value is written and the replier is gone.
        Poll::Ready(unsafe { Self::finish(slot) })
    }

    /// Takes an answer that `is_complete` has shown, and frees the slot.
    ///
    /// # Safety
    /// The caller is the asker, expects a `V`, has seen `COMPLETE` and does not touch the slot again.
    #[inline]
    pub(crate) unsafe fn finish<V>(slot: NonNull<ReplySlot>) -> V {
        // SAFETY: the replier is gone, both shares are ours.
        unsafe {
            let value = slot.as_ref().read::<V>();
            Self::free(slot);
            value
        }
    }

    /// The asker gives up. Returns the answer if it came in this very moment.
    ///
    /// # Safety
    /// The caller is the asker, expects a `V`, and does not touch the slot afterwards.
    pub(crate) unsafe fn close<V>(slot: NonNull<ReplySlot>) -> Option<V> {
        // SAFETY: the asker's share keeps the slot alive up to this operation.
        let before = unsafe { slot.as_ref() }.state.fetch_or(CLOSED, AcqRel);
        if before & COMPLETE != 0 {
            // SAFETY: complete: the replier has left the slot to us.
            return Some(unsafe { Self::finish(slot) });
        }
        None
    }

    /// # Safety
    /// The caller is the replier and writes once.
    #[inline]
    unsafe fn write<V>(&self, value: V) {
        // SAFETY: size and alignment were checked by `is_inline`; nobody reads before COMPLETE.
        unsafe {
            let place = self.value_place();
            if is_inline::<V>() {
                place.cast::<V>().write(value);
            } else {
                place.cast::<Box<V>>().write(Box::new(value));
            }
        }
    }

    /// # Safety
    /// A `V` was written and is read once.
    #[inline]
    unsafe fn read<V>(&self) -> V {
        // SAFETY: the counterpart of `write`.
        unsafe {
            let place = self.value_place();
            if is_inline::<V>() {
                place.cast::<V>().read()
            } else {
                *place.cast::<Box<V>>().read()
            }
        }
    }
}

// SAFETY: see the protocol above; every field is handed over by the state word.
unsafe impl Sync for ReplySlot {}
// SAFETY: as above.
unsafe impl Send for ReplySlot {}

#[cfg(test)]
#[path = "reply_slot_tests.rs"]
mod tests;
