//! Containing panics of user code.
//!
//! Everything that is not ours may panic: handlers, hooks, factories, drops of actors, messages,
//! answers and futures, `Debug` of rejections, mailboxes, wakers, and even the drop of the payload
//! that a panic carries. Each is called through here.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Waker;

use crate::actor::Fault;

/// Wakes whoever left this waker. It may be anybody's, and a panic in it is theirs.
pub(crate) fn wake(waker: Waker) {
    if let Err(fault) = contain(|| waker.wake()) {
        tracing::error!(%fault, "a waker failed");
    }
}

/// Runs user code; a panic becomes a fault.
#[inline]
pub(crate) fn contain<R>(f: impl FnOnce() -> R) -> Result<R, Fault> {
    catch_unwind(AssertUnwindSafe(f)).map_err(fault_of)
}

#[cold]
#[inline(never)]
fn fault_of(payload: Box<dyn Any + Send>) -> Fault {
    let fault = Fault::from_panic(&*payload);
    if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        // A payload that panics when it is dropped: leaking it is the only end to this.
        std::mem::forget(another);
    }
    fault
}
