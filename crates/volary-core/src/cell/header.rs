//! The header of a cell and the counted pointers to it.
//!
//! ```text
//!   ┌ Header ────────────────────────────┬ typed ──────────────┬ tail ─┐
//!   │ tables, links, counts │ state │ log │ actor │ factory     │ name  │
//!   └────────────────────────────────────┴─────────────────────┴───────┘
//! ```
//!
//! A live actor is kept by the table of its parent's children; it leaves that table in its own last
//! turn. References keep the memory, never the life.

use std::any::TypeId;
use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::{self, NonNull};

use super::counts::Counts;
use super::links::Extras;
use super::state::{HIGH, StateWord};
use super::{Links, Phase};
use crate::actor::Fault;
use crate::dispatch::{FrameHead, Host, Step};
use crate::mailbox::{Growth, LARGE_RECORDS, Log, MessageTable};
use crate::supervision::Directive;
use crate::sync::atomic::{AtomicPtr, AtomicU64, Ordering::*};
use crate::system::SystemCore;
use crate::tree::Path;

/// What the runtime must know of one type of actor made by one type of factory.
pub(crate) struct CellTable {
    /// Calls the factory and puts the actor into the cell.
    pub(crate) build: unsafe fn(&Header) -> Result<(), Fault>,
    /// Drops the actor in the cell.
    pub(crate) drop_actor: unsafe fn(&Header),
    pub(crate) started: unsafe fn(&Header, &Host) -> Step,
    pub(crate) stopping: unsafe fn(&Header, &Host) -> Step,
    pub(crate) stopped: unsafe fn(&Header, &Host) -> Step,
    /// Drops the factory and frees the memory of the cell.
    pub(crate) free: unsafe fn(NonNull<Header>),
    pub(crate) name: unsafe fn(&Header) -> &[u8],
    /// Of cell and actor.
    pub(crate) size: usize,
    pub(crate) actor_type: fn() -> TypeId,
    pub(crate) actor_name: fn() -> &'static str,
    pub(crate) accepts: fn(TypeId) -> Option<&'static MessageTable>,
}

/// In the order of who touches it while messages flow: senders first, the owner last.
#[repr(C)]
pub(crate) struct Header {
    pub(crate) table: &'static CellTable,
    system: NonNull<SystemCore>,
    parent: Option<CellRef>,
    /// This cell, as a pointer that may reach beyond the header: a reference to it may not.
    this: Cell<NonNull<Header>>,
    extras: AtomicPtr<Extras>,
    pub(crate) id: u64,
    counts: Counts,
    pub(crate) state: StateWord,
    pub(crate) phase: Cell<Phase>,
    pub(crate) name_length: u8,
    pub(crate) on_fault: Directive,
    pub(crate) dispatcher: u8,
    pub(crate) log: Log,
    /// The suspended future. Owner only.
    frame: Cell<Option<NonNull<FrameHead>>>,
    /// Whom the suspended handler has asked, for finding cycles; 0 for nobody.
    pub(crate) waits_for: AtomicU64,
}

// An idle actor is this, its state, its name and an entry in two tables.
#[cfg(not(any(volary_loom, volary_shuttle)))]
const _: () = assert!(size_of::<Header>() <= 208);

pub(crate) struct Birth {
    pub(crate) table: &'static CellTable,
    pub(crate) system: NonNull<SystemCore>,
    pub(crate) parent: Option<CellRef>,
    pub(crate) on_fault: Directive,
    pub(crate) extras: Option<Box<Extras>>,
    pub(crate) name_length: u8,
    pub(crate) dispatcher: u8,
}

impl Header {
    /// A header with two strong counts: its maker's, and one for the table of the parent's children.
    pub(crate) fn new(birth: Birth, id: u64) -> Self {
        Header {
            log: Log::new(birth.extras.as_ref().is_some_and(|extras| extras.mailbox.is_guarded())),
            state: StateWord::born(),
            phase: Cell::new(Phase::Starting),
            name_length: birth.name_length,
            dispatcher: birth.dispatcher,
            counts: Counts::born(2),
            table: birth.table,
            id,
            on_fault: birth.on_fault,
            system: birth.system,
            parent: birth.parent,
            extras: AtomicPtr::new(birth.extras.map_or(ptr::null_mut(), Box::into_raw)),
            frame: Cell::new(None),
            waits_for: AtomicU64::new(0),
            this: Cell::new(NonNull::dangling()),
        }
    }

    /// Tells a new cell where it is.
    pub(crate) fn settle_at(&self, this: NonNull<Header>) {
        self.this.set(this);
        self.log
            .set_layered(self.system().is_observed() || self.is_layered_over());
        if self.system().looks_at_sending() {
            self.log.look_at_writers();
        }
        if self.system().measures_sending() {
            self.log.meter_writers();
        }
    }

    /// The cell as a pointer to all of it.
    #[inline]
    pub(crate) fn raw(&self) -> NonNull<Header> {
        self.this.get()
    }

    #[inline]
    pub(crate) fn system(&self) -> &SystemCore {
        // SAFETY: the root cell keeps the system, and every cell keeps its parent up to the root.
        unsafe { self.system.as_ref() }
    }

    pub(crate) fn parent(&self) -> Option<&CellRef> {
        self.parent.as_ref()
    }

    /// The part that only some actors need; made on first use.
    pub(crate) fn extras(&self) -> &Extras {
        let found = self.extras.load(SeqCst);
        if !found.is_null() {
            // SAFETY: set once, freed with the cell.
            return unsafe { &*found };
        }
        let made = Box::into_raw(Box::new(Extras::default()));
        match self.extras.compare_exchange(ptr::null_mut(), made, SeqCst, Acquire) {
            // SAFETY: as above.
            Ok(_) => unsafe { &*made },
            Err(other) => {
                // SAFETY: ours was never shared; the other is as above.
                unsafe {
                    drop(Box::from_raw(made));
                    &*other
                }
            }
        }
    }

    /// The extras, if anything ever needed them.
    #[inline]
    pub(crate) fn extras_if_any(&self) -> Option<&Extras> {
        let found = self.extras.load(SeqCst); // see `StateWord::seal`
        // SAFETY: as in `extras`.
        (!found.is_null()).then(|| unsafe { &*found })
    }

    pub(crate) fn with_links<R>(&self, f: impl FnOnce(&mut Links) -> R) -> R {
        f(&mut self.extras().links.lock())
    }

    /// # Safety
    /// The caller owns the actor.
    pub(crate) unsafe fn take_frame(&self) -> Option<NonNull<FrameHead>> {
        self.frame.take()
    }

    /// # Safety
    /// The caller owns the actor.
    pub(crate) unsafe fn keep_frame(&self, frame: NonNull<FrameHead>) {
        self.frame.set(Some(frame));
    }

    /// The name among its siblings; unnamed actors are called after their id.
    pub(crate) fn name(&self) -> String {
        if let Some(foreign) = self.foreign() {
            return foreign.address.name().to_owned();
        }
        if self.name_length == 0 {
            return format!("${:x}", self.id);
        }
        String::from_utf8_lossy(self.name_bytes()).into_owned()
    }

    /// The given name, empty if there is none.
    pub(crate) fn name_bytes(&self) -> &[u8] {
        // SAFETY: the table belongs to this cell.
        unsafe { (self.table.name)(self) }
    }

    pub(crate) fn path(&self) -> Path {
        if let Some(path) = self.foreign().and_then(|foreign| foreign.address.path()) {
            return path.clone();
        }
        match &self.parent {
            None => Path::root(),
            // The name was checked at birth; only a tree of absurd depth has no path of its own.
            Some(parent) => {
                let above = parent.path();
                above.child(&self.name()).unwrap_or(above)
            }
        }
    }

    /// Another counted pointer to this cell.
    pub(crate) fn to_ref(&self) -> CellRef {
        self.counts.add_strong();
        CellRef(self.raw())
    }

    /// Queues the actor; the caller has it: its state is ACTIVE.
    #[inline]
    pub(crate) fn schedule(&self) {
        self.system().schedule(self);
    }

    /// Sets control bits and makes sure that somebody looks at them.
    pub(crate) fn control(&self, bits: u32) {
        if self.state.control(bits) {
            self.schedule();
        } else {
            // Whoever runs it looks at the state only when it is told to.
            self.log.give_notice();
        }
    }

    /// Sets a bit that whoever runs the actor should see before its next message.
    pub(crate) fn set_noticed(&self, bits: u32) {
        self.state.set(bits);
        self.log.give_notice();
    }
}

impl Growth for Header {
    fn may_grow(&self, depth: u64, blocks: u64) -> bool {
        let system = self.system();
        // Whether it is high is looked at when a block is full, which is to be soon then.
        if blocks > 1 && (depth..depth + LARGE_RECORDS).contains(&system.high_water()) {
            return false;
        }
        if depth >= system.high_water() && !self.state.has(HIGH) && self.state.set(HIGH) & HIGH == 0 {
            system.announce_high_water(self, depth);
        }
        system.take_blocks(blocks)
    }

    fn shrunk(&self, blocks: u64) {
        self.system().give_blocks(blocks);
    }
}

/// A counted pointer to a cell: keeps its memory, not its life.
pub(crate) struct CellRef(NonNull<Header>);

// SAFETY: a header is shared between threads by design; what only the owner of the actor may touch
// is guarded by the state word, and what the cell holds is `Send`.
unsafe impl Send for CellRef {}
// SAFETY: as above.
unsafe impl Sync for CellRef {}

impl CellRef {
    /// Takes over the counts that a new cell is born with.
    ///
    /// # Safety
    /// `header` is a live cell whose counts were not taken over before.
    pub(crate) unsafe fn from_birth(header: NonNull<Header>) -> (Self, Self) {
        (CellRef(header), CellRef(header))
    }

    /// Drops what is probably the last pointer to a cell.
    #[inline]
    pub(crate) fn bury(self) {
        let this = ManuallyDrop::new(self);
        if this.counts.drop_strong_if_not_alone() {
            // SAFETY: it was the last strong pointer and is given up, or is the only pointer of all and never used
            // again: the actor is gone, and nobody reaches more of the header than its counts.
            unsafe { release(this.0) }
        }
    }

    pub(crate) fn as_ptr(&self) -> *const Header {
        self.0.as_ptr()
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    pub(crate) fn strong_count(&self) -> u32 {
        self.counts.strong()
    }

    pub(crate) fn downgrade(&self) -> WeakCell {
        self.counts.add_weak();
        WeakCell(self.0)
    }

    /// Gives the count away as a plain pointer, to be taken back by `from_raw`.
    pub(crate) fn into_raw(self) -> *const Header {
        ManuallyDrop::new(self).0.as_ptr()
    }

    /// # Safety
    /// `header` comes from `into_raw` and is used once.
    pub(crate) unsafe fn from_raw(header: *const Header) -> Self {
        // SAFETY: the caller's promise; such a pointer is not null.
        CellRef(unsafe { NonNull::new_unchecked(header.cast_mut()) })
    }
}

impl Deref for CellRef {
    type Target = Header;
    #[inline]
    fn deref(&self) -> &Header {
        // SAFETY: the count keeps the memory.
        unsafe { self.0.as_ref() }
    }
}

impl Clone for CellRef {
    #[inline]
    fn clone(&self) -> Self {
        self.to_ref()
    }
}

impl PartialEq for CellRef {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Drop for CellRef {
    #[inline]
    fn drop(&mut self) {
        if self.counts.drop_strong() {
            // SAFETY: the last strong pointer is given up: the actor is gone and nobody reaches the header but
            // through weak ones, which look at the counts only.
            unsafe { release(self.0) }
        }
    }
}

/// Frees what hangs on a cell, and its ancestors as far as it was their last descendant: in a loop,
/// since a tree may be deeper than the stack.
///
/// # Safety
/// The last strong pointer was given up, or it is the only pointer of all and never used again; and the caller has seen what
/// was written through the others, by the fence in `drop_strong` or the load in `drop_strong_if_not_alone`.
#[cold]
unsafe fn release(header: NonNull<Header>) {
    let mut next = Some(header);
    while let Some(header) = next.take() {
        // SAFETY: the caller's promise, or the round before, which gave up the last strong pointer and has seen the same:
        // nobody else is at more than the counts, and the weak count that the strong pointers held goes here.
        unsafe {
            let extras = header.as_ref().extras.load(Relaxed);
            if !extras.is_null() {
                header.as_ref().extras.store(ptr::null_mut(), Relaxed);
                drop(Box::from_raw(extras));
            }
            let parent = (*header.as_ptr()).parent.take();
            if header.as_ref().counts.drop_last_weak() {
                free(header);
            }
            if let Some(parent) = parent {
                let parent = ManuallyDrop::new(parent);
                if parent.counts.drop_strong() {
                    next = Some(parent.0);
                }
            }
        }
    }
}

/// # Safety
/// The caller gave up the last weak count, or has the only one and never uses it again.
unsafe fn free(header: NonNull<Header>) {
    // SAFETY: the caller's promise; the table belongs to this cell.
    unsafe { (header.as_ref().table.free)(header) }
}

/// A pointer that keeps only the memory of the cell itself, nothing that hangs on it.
pub(crate) struct WeakCell(NonNull<Header>);

// SAFETY: as for `CellRef`.
unsafe impl Send for WeakCell {}
// SAFETY: as for `CellRef`.
unsafe impl Sync for WeakCell {}

impl WeakCell {
    pub(crate) fn upgrade(&self) -> Option<CellRef> {
        self.counts().revive().then(|| CellRef(self.0)) // not eagerly: one that is dropped counts
    }

    /// A reference to these alone: the last who held a strong pointer may be writing to the rest.
    fn counts(&self) -> &Counts {
        // SAFETY: the weak count keeps the memory.
        unsafe { &(*self.0.as_ptr()).counts }
    }
}

impl WeakCell {
    /// Gives the weak count away as a plain pointer, to be taken back by `from_raw`.
    pub(crate) fn into_raw(self) -> *const Header {
        ManuallyDrop::new(self).0.as_ptr()
    }

    /// # Safety
    /// `header` comes from `into_raw` and is used once.
    pub(crate) unsafe fn from_raw(header: *const Header) -> Self {
        // SAFETY: the caller's promise; such a pointer is not null.
        WeakCell(unsafe { NonNull::new_unchecked(header.cast_mut()) })
    }
}

impl Clone for WeakCell {
    fn clone(&self) -> Self {
        self.counts().add_weak();
        WeakCell(self.0)
    }
}

impl Drop for WeakCell {
    fn drop(&mut self) {
        if self.counts().drop_weak() {
            // SAFETY: ours was the last weak count.
            unsafe { free(self.0) }
        }
    }
}

#[cfg(all(test, not(any(volary_loom, volary_shuttle))))]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use crate::{Actor, ActorSystem, SeededEnv};

    struct Idle;

    impl Actor for Idle {}

    #[test]
    fn nothing_is_brought_back_of_a_cell_that_only_weak_pointers_keep() {
        let env = SeededEnv::new(7);
        env.block_on(async {
            let system = ActorSystem::builder("weak").environment(env.clone());
            let system = system.start().await.expect("a system");
            let witness = Arc::new(());
            let held = witness.clone();
            let factory = move || {
                let _ = &held;
                Idle
            };
            let actor = system.spawn(factory).await.expect("an actor");
            let weak = actor.cell().downgrade();
            actor.stop();
            actor.terminated().await;
            drop(actor);
            // Whoever ended it lets go of it as well.
            system.sleep(Duration::from_millis(1)).await;
            assert_eq!(weak.counts().strong(), 0);
            for _ in 0..3 {
                assert!(weak.upgrade().is_none());
                assert!(weak.clone().upgrade().is_none());
                assert_eq!(weak.counts().strong(), 0);
            }
            assert_eq!(Arc::strong_count(&witness), 2, "the weak pointer keeps the memory");
            drop(weak);
            assert_eq!(Arc::strong_count(&witness), 1, "nobody does");
            system.stop().await.expect("a stop");
        });
    }
}
