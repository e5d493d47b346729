//! Wakers that lead to a cell: of its suspended handler, and of its patience.

use std::mem::ManuallyDrop;
use std::task::{RawWaker, RawWakerVTable, Waker};

use super::header::{CellRef, Header, WeakCell};
use super::passivate::idle_is_over;
use super::state::GRACE_OVER;

/// The waker for polling the actor's own future. Borrowed: only its clones count.
pub(crate) fn waker_of(cell: &Header) -> ManuallyDrop<Waker> {
    // SAFETY: the vtable fits a cell pointer; this waker is never dropped, and its clones count.
    ManuallyDrop::new(unsafe { Waker::from_raw(RawWaker::new(cell.raw().as_ptr().cast_const().cast(), &HANDLER)) })
}

/// Whether the waker is the one that an actor's own future is polled with, and not that of something within which has another.
#[inline]
pub(crate) fn is_waker_of(waker: &Waker, cell: *const Header) -> bool {
    std::ptr::eq(waker.data().cast(), cell) && std::ptr::eq(waker.vtable(), &raw const HANDLER)
}

/// A waker that tells the actor that its time to end a suspended handler or hook is over.
pub(crate) fn grace_waker(cell: &Header) -> Waker {
    let cell = cell.to_ref().into_raw();
    // SAFETY: the waker owns the count just given away.
    unsafe { Waker::from_raw(RawWaker::new(cell.cast(), &GRACE)) }
}

/// A waker that tells the actor that it may have been idle for long enough. It keeps the cell's memory only.
pub(crate) fn idle_waker(cell: &Header) -> Waker {
    let cell = cell.to_ref().downgrade().into_raw();
    // SAFETY: the waker owns the weak count just given away.
    unsafe { Waker::from_raw(RawWaker::new(cell.cast(), &IDLE)) }
}

static IDLE: RawWakerVTable = {
    unsafe fn clone(cell: *const ()) -> RawWaker {
        // SAFETY: the pointer of such a waker stands for a weak count, which is only borrowed here.
        let weak = ManuallyDrop::new(unsafe { WeakCell::from_raw(cell.cast()) });
        RawWaker::new((*weak).clone().into_raw().cast(), &IDLE)
    }
    unsafe fn wake(cell: *const ()) {
        // SAFETY: `wake` consumes the weak count of this waker.
        if let Some(cell) = unsafe { WeakCell::from_raw(cell.cast()) }.upgrade() {
            idle_is_over(&cell);
        }
    }
    unsafe fn wake_by_ref(cell: *const ()) {
        // SAFETY: as in `clone`.
        let weak = ManuallyDrop::new(unsafe { WeakCell::from_raw(cell.cast()) });
        if let Some(cell) = weak.upgrade() {
            idle_is_over(&cell);
        }
    }
    unsafe fn drop(cell: *const ()) {
        // SAFETY: the weak count of this waker.
        std::mem::drop(unsafe { WeakCell::from_raw(cell.cast()) });
    }
    RawWakerVTable::new(clone, wake, wake_by_ref, drop)
};

fn resume(cell: &Header) {
    if cell.state.wake() {
        cell.schedule();
    }
}

fn end_grace(cell: &Header) {
    cell.control(GRACE_OVER);
}

macro_rules! vtable {
    ($name:ident, $action:path) => {
        static $name: RawWakerVTable = {
            unsafe fn clone(cell: *const ()) -> RawWaker {
                // SAFETY: the pointer of such a waker leads to a cell that is alive by its count, or
                // by the turn that borrows it.
                let cell = unsafe { (*cell.cast::<Header>()).to_ref() };
                RawWaker::new(cell.into_raw().cast(), &$name)
            }
            unsafe fn wake(cell: *const ()) {
                // SAFETY: `wake` consumes the count of this waker.
                let cell = unsafe { CellRef::from_raw(cell.cast()) };
                $action(&cell);
            }
            unsafe fn wake_by_ref(cell: *const ()) {
                // SAFETY: as in `clone`.
                $action(unsafe { &*cell.cast::<Header>() });
            }
            unsafe fn drop(cell: *const ()) {
                // SAFETY: the count of this waker.
                std::mem::drop(unsafe { CellRef::from_raw(cell.cast()) });
            }
            RawWakerVTable::new(clone, wake, wake_by_ref, drop)
        };
    };
}

vtable!(HANDLER, resume);
vtable!(GRACE, end_grace);
