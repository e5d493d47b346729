//! Frames: the blocks in which handler futures live.
//!
//! A future is created in a frame taken from the thread's own pool and polled there. If it is ready
//! at once the frame is used again for the next; if it suspends, the frame is handed to the cell
//! and goes back to whichever thread finishes it. A future too large or too aligned for the classes
//! gets a frame of its own size.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::borrow::Borrow;
use std::cell::RefCell;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context as TaskContext, Poll};

use crate::actor::{Actor, Context, Fault};
use crate::baggage::Baggage;
use crate::cell::{CellRef, Header, Here, Served, waker_of};
use crate::intercept::Outcome;

use super::Step;
use super::contain::contain;
use super::host::{Ambient, Ending, Host, Surroundings};

/// Finely graded where most handlers are: a hundred thousand suspended ones should not pay for slack.
const CLASSES: [usize; 14] = [
    128, 192, 256, 320, 384, 448, 512, 640, 768, 1024, 1536, 2048, 4096, 8192,
];
const ALIGN: usize = 16;
/// Spare frames of a class that a thread keeps at least, and how much memory they may take beyond that: where a few hundred
/// handlers wait for sockets or timers at any moment, as many frames come and go.
const KEPT_PER_CLASS: usize = 32;
const KEPT_BYTES: usize = 256 * 1024;

type PollFn = unsafe fn(NonNull<FrameHead>, &mut TaskContext<'_>) -> Poll<Result<(), Fault>>;

/// What is known of a frame whatever future is in it.
pub(crate) struct FrameHead {
    poll: PollFn,
    drop: unsafe fn(NonNull<FrameHead>),
    /// Size and alignment of the whole frame.
    exact: Layout,
    class: u8,
    /// The request that the handler serves, for when it continues.
    pub(crate) deadline: u64,
    /// Whether somebody waits for the answer.
    asked: bool,
    /// What is known of the message, if somebody wants to know how it ends.
    served: Option<Box<Served>>,
}

#[repr(C)]
struct Frame<A: Actor, F> {
    head: FrameHead,
    context: Context<A>,
    future: ManuallyDrop<F>,
}

pub(crate) struct FramePool {
    free: RefCell<[Vec<NonNull<u8>>; CLASSES.len()]>,
}

impl FramePool {
    pub(crate) const fn new() -> Self {
        FramePool {
            free: RefCell::new([const { Vec::new() }; CLASSES.len()]),
        }
    }

    /// Memory for a `T`, and the class it belongs to.
    #[inline]
    fn take<T>(&self) -> (NonNull<u8>, u8) {
        let class = const { class_of(Layout::new::<T>()) };
        if let Some(free) = self.free.borrow_mut().get_mut(usize::from(class))
            && let Some(frame) = free.pop()
        {
            return (frame, class);
        }
        let layout = layout_of(class, Layout::new::<T>());
        // SAFETY: a frame has a head, so the size is not zero.
        let memory = unsafe { alloc(layout) };
        (
            NonNull::new(memory).unwrap_or_else(|| handle_alloc_error(layout)),
            class,
        )
    }

    #[inline]
    fn give(&self, memory: NonNull<u8>, class: u8, exact: Layout) {
        if let Some(free) = self.free.borrow_mut().get_mut(usize::from(class))
            && free.len() < kept(class)
        {
            free.push(memory);
            return;
        }
        // SAFETY: allocated in `take` with this layout.
        unsafe { dealloc(memory.as_ptr(), layout_of(class, exact)) }
    }

    /// Gives spare frames back to the allocator.
    pub(crate) fn trim(&self) {
        for (class, frames) in self.free.borrow_mut().iter_mut().enumerate() {
            for frame in frames.drain(..) {
                // SAFETY: allocated in `take` with the layout of its class.
                unsafe { dealloc(frame.as_ptr(), class_layout(class)) }
            }
            frames.shrink_to_fit();
        }
    }
}

impl Drop for FramePool {
    fn drop(&mut self) {
        self.trim();
    }
}

/// How many spare frames of a class a thread keeps.
fn kept(class: u8) -> usize {
    (KEPT_BYTES / CLASSES[usize::from(class)]).max(KEPT_PER_CLASS)
}

/// The smallest class that fits; one past the last if none does.
const fn class_of(layout: Layout) -> u8 {
    let mut class = 0;
    while class < CLASSES.len() && (layout.size() > CLASSES[class] || layout.align() > ALIGN) {
        class += 1;
    }
    class as u8
}

fn layout_of(class: u8, exact: Layout) -> Layout {
    if usize::from(class) < CLASSES.len() {
        class_layout(usize::from(class))
    } else {
        exact
    }
}

const fn class_layout(class: usize) -> Layout {
    match Layout::from_size_align(CLASSES[class], ALIGN) {
        Ok(layout) => layout,
        Err(_) => panic!("the classes are valid layouts"),
    }
}

/// Creates a future for the actor in `cell` and polls it once.
///
/// If it suspends it is left in the cell and the step says so.
///
/// # Safety
/// The caller owns the actor, which is an `A`, for as long as the future lives: until the step is
/// not `Suspended`, or the frame was resumed to its end or discarded.
#[inline]
pub(crate) unsafe fn launch<A, F, M>(cell: &Header, host: &Host, sender: u64, make: M) -> Step
where
    A: Actor,
    F: Future<Output = Result<(), Fault>>,
    M: FnOnce(&'static mut Context<A>) -> F,
{
    let (memory, class) = host.frames.take::<Frame<A, F>>();
    let exact = Layout::new::<Frame<A, F>>();
    let frame = memory.cast::<Frame<A, F>>();
    // SAFETY: the frame is large and aligned enough. The context gets a lifetime that the frame
    // vouches for: it is dropped after the future, in `drop_frame`.
    unsafe {
        let at = frame.as_ptr();
        (&raw mut (*at).head).write(FrameHead {
            poll: poll_frame::<A, F>,
            drop: drop_frame::<A, F>,
            exact,
            class,
            deadline: 0,
            asked: false,
            served: None,
        });
        (&raw mut (*at).context).write(Context::new(Here::new(cell), sender));
        let context: &'static mut Context<A> = &mut (*at).context;
        match host.with_ending(Ending::Beginning, || contain(|| make(context))) {
            Ok(future) => (&raw mut (*at).future).write(ManuallyDrop::new(future)),
            Err(fault) => {
                host.frames.give(memory, class, exact);
                return Step::Faulted(fault);
            }
        }
        poll_and_keep(cell, host, frame.cast::<FrameHead>())
    }
}

/// Continues the suspended future in `cell`.
///
/// # Safety
/// The caller owns the actor and its cell holds a frame.
pub(crate) unsafe fn resume(cell: &Header, host: &Host) -> Step {
    // SAFETY: the caller's promise.
    unsafe {
        let Some(frame) = cell.take_frame() else {
            return Step::Done;
        };
        host.set_request(frame.as_ref().deadline, 0, frame.as_ref().asked);
        match (*frame.as_ptr()).served.take() {
            None => poll_and_keep(cell, host, frame),
            Some(served) => {
                let step = served.around(|| poll_and_keep(cell, host, frame));
                attend_to_the_end(cell, served, &step);
                step
            }
        }
    }
}

/// The handler of a message was polled: says how it ended, or remembers to.
///
/// # Safety
/// The caller owns the actor; if the step is `Suspended`, its cell holds the frame of that handler.
pub(crate) unsafe fn attend_to_the_end(cell: &Header, served: impl Borrow<Served> + Into<Box<Served>>, step: &Step) {
    match step {
        Step::Done => served.borrow().ended(cell, Outcome::Completed),
        Step::Faulted(fault) => served.borrow().ended(cell, Outcome::Faulted(fault)),
        // SAFETY: the caller's promise; nobody looks at the head of a frame but the owner of the actor.
        Step::Suspended => unsafe {
            match cell.take_frame() {
                Some(frame) => {
                    (*frame.as_ptr()).served = Some(served.into());
                    cell.keep_frame(frame);
                }
                None => served.borrow().ended(cell, Outcome::Completed),
            }
        },
    }
}

/// Drops the suspended future in `cell`; asks that it was serving end as `ending` says.
///
/// # Safety
/// The caller owns the actor.
pub(crate) unsafe fn discard(cell: &Header, host: &Host, ending: Ending) -> Result<(), Fault> {
    // SAFETY: the caller's promise.
    unsafe {
        match cell.take_frame() {
            Some(frame) => {
                let served = (*frame.as_ptr()).served.take();
                let dropped = finish(host, frame, ending);
                if let Some(served) = served {
                    served.ended(cell, Outcome::Cancelled);
                }
                dropped
            }
            None => Ok(()),
        }
    }
}

unsafe fn poll_and_keep(cell: &Header, host: &Host, frame: NonNull<FrameHead>) -> Step {
    let waker = waker_of(cell);
    let mut task = TaskContext::from_waker(&waker);
    // SAFETY: the frame is alive and ours.
    let polled = contain(|| unsafe { (frame.as_ref().poll)(frame, &mut task) });
    match polled {
        Ok(Poll::Pending) => {
            // SAFETY: the frame is ours; nobody looks at its head but the owner of the actor.
            unsafe {
                (*frame.as_ptr()).deadline = cell.system().current_deadline(host);
                (*frame.as_ptr()).asked = host.is_asked();
                cell.keep_frame(frame);
            }
            Step::Suspended
        }
        Ok(Poll::Ready(outcome)) => {
            // SAFETY: the future is finished; this ends it.
            let dropped = unsafe { finish(host, frame, Ending::NoReply) };
            match outcome.and(dropped) {
                Ok(()) => Step::Done,
                Err(fault) => Step::Faulted(fault),
            }
        }
        Err(fault) => {
            // SAFETY: a panicked future is only dropped.
            let _ = unsafe { finish(host, frame, Ending::Failed(fault.clone())) };
            Step::Faulted(fault)
        }
    }
}

/// Drops the future and gives the frame back.
unsafe fn finish(host: &Host, frame: NonNull<FrameHead>, ending: Ending) -> Result<(), Fault> {
    // SAFETY: the caller owns the frame and gives it up.
    let (drop_fn, class, exact) = unsafe { (frame.as_ref().drop, frame.as_ref().class, frame.as_ref().exact) };
    let dropped = host.with_ending(ending, || {
        // SAFETY: as above; each drop is contained on its own.
        contain(|| unsafe { drop_fn(frame) })
    });
    host.frames.give(frame.cast(), class, exact);
    dropped
}

unsafe fn poll_frame<A: Actor, F: Future<Output = Result<(), Fault>>>(
    frame: NonNull<FrameHead>,
    task: &mut TaskContext<'_>,
) -> Poll<Result<(), Fault>> {
    // SAFETY: the table of a frame fits its future, which is not moved from here on.
    unsafe {
        let future: &mut F = &mut *(&raw mut (*frame.cast::<Frame<A, F>>().as_ptr()).future).cast::<F>();
        Pin::new_unchecked(future).poll(task)
    }
}

unsafe fn drop_frame<A: Actor, F>(frame: NonNull<FrameHead>) {
    // SAFETY: called once, by `finish`. The context needs no drop.
    unsafe { ManuallyDrop::drop(&mut (*frame.cast::<Frame<A, F>>().as_ptr()).future) }
}

/// Polls something that the running handler has begun and does not wait for: asks in it are not the handler's.
pub(crate) fn beside_turn<R>(poll: impl FnOnce() -> R) -> R {
    let set = |in_turn| {
        Host::with(|host| {
            let before = host.ambient();
            host.set_ambient(Ambient { in_turn, ..before });
            before.in_turn
        })
    };
    let before = set(false);
    let polled = poll();
    set(before.unwrap_or(false));
    polled
}

/// Runs a task spawned by an actor under that actor's ambient turn.
pub(crate) struct Ambiently<F> {
    pub(crate) actor: CellRef,
    pub(crate) deadline: u64,
    pub(crate) baggage: Option<Box<Baggage>>,
    pub(crate) future: F,
}

impl<F: Future> Future for Ambiently<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<F::Output> {
        // SAFETY: `future` is pinned with `self`; the other fields are not.
        let (actor, deadline, baggage, future) = unsafe {
            let this = self.get_unchecked_mut();
            let future = Pin::new_unchecked(&mut this.future);
            (&this.actor, this.deadline, this.baggage.as_deref(), future)
        };
        let set = |ambient, surroundings| {
            Host::with(|host| {
                let before = host.ambient();
                host.set_ambient(ambient);
                (before, host.swap_surroundings(surroundings))
            })
        };
        let here = Ambient {
            actor: actor.as_ptr(),
            id: actor.id(),
            deadline,
            patience: 0,
            asked: false,
            depth: 0,
            in_turn: false,
        };
        let before = set(here, Surroundings::of(actor, baggage));
        // Restored on unwinding too: the panic belongs to the task, the thread goes on.
        struct Restore<R: FnMut()>(R);
        impl<R: FnMut()> Drop for Restore<R> {
            fn drop(&mut self) {
                (self.0)();
            }
        }
        let _restore = Restore(|| {
            if let Some((ambient, surroundings)) = before {
                set(ambient, surroundings);
            }
        });
        future.poll(task)
    }
}
