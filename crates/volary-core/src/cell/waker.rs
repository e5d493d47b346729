//! Wakers that lead to a cell: of its suspended handler, and of its patience.

use std::mem::ManuallyDrop;
use std::task::{RawWaker, RawWakerVTable, Waker};

use super::header::{CellRef, Header};
use super::state::GRACE_OVER;

/// The waker for polling the actor's own future. Borrowed: only its clones count.
pub(crate) fn waker_of(cell: &Header) -> ManuallyDrop<Waker> {
    // SAFETY: the vtable fits a cell pointer; this waker is never dropped, and its clones count.
    ManuallyDrop::new(unsafe { Waker::from_raw(RawWaker::new(cell.raw().as_ptr().cast_const().cast(), &HANDLER)) })
}

/// A waker that tells the actor that its time to end a suspended handler or hook is over.
pub(crate) fn grace_waker(cell: &Header) -> Waker {
    let cell = cell.to_ref().into_raw();
    // SAFETY: the waker owns the count just given away.
    unsafe { Waker::from_raw(RawWaker::new(cell.cast(), &GRACE)) }
}

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
