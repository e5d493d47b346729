//! What a thread has at hand while it runs actors: the ambient turn, and spare frames.
//!
//! The ambient turn says which actor is running and under which deadline, so that `alice.tell(m)`
//! inside a handler carries sender and remaining time without being passed a context. It is set
//! around every poll and restored afterwards, so turns nest when an asker runs its target.

use std::cell::{Cell, OnceCell, RefCell};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::attention::Attention;
use super::frame::FramePool;
use super::gathered::Gathered;
use super::pulse::{self, Pulse};
use super::worker::Local;
use crate::actor::Fault;
use crate::baggage::Baggage;
use crate::cell::{CellRef, Header};
use crate::intercept::Layers;
use crate::mailbox::Reason;
use crate::reference::foreign::{Receipt, Taken};

/// Who is running on this thread, and for how long it may.
#[derive(Clone, Copy)]
pub(crate) struct Ambient {
    pub(crate) actor: *const Header,
    /// Id of the actor, or 0 outside of any.
    pub(crate) id: u64,
    /// Deadline of the request being served, in nanoseconds of the clock; 0 if none is known.
    pub(crate) deadline: u64,
    /// Time that the request being served was given, while nobody has needed its deadline.
    pub(crate) patience: u64,
    /// Whether somebody waits for the answer to that request. If not, a deadline that has passed means
    /// nothing any more.
    pub(crate) asked: bool,
    /// How many turns are stacked on this thread.
    pub(crate) depth: u32,
    /// Whether the handler itself is polling, as opposed to a task that it spawned.
    pub(crate) in_turn: bool,
}

/// What stands around everything that is sent from here. Apart from the ambient turn, which is copied for every message.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings {
    /// What goes along, if anything does.
    baggage: *const Baggage,
    /// Who looks at it, if anybody does.
    layers: *const Layers,
    /// What is to be said when it has left its mailbox, for the first message that is sent.
    receipt: *const Cell<Option<Receipt>>,
}

impl Surroundings {
    const NONE: Surroundings = Surroundings {
        baggage: ptr::null(),
        layers: ptr::null(),
        receipt: ptr::null(),
    };

    /// Those of an actor, and of what it serves if that is known.
    #[inline]
    pub(crate) fn of(cell: &Header, baggage: Option<&Baggage>) -> Self {
        Surroundings {
            baggage: baggage.map_or(ptr::null(), ptr::from_ref),
            layers: cell.sending_layers(),
            receipt: ptr::null(),
        }
    }

    #[inline]
    pub(crate) fn is_none(self) -> bool {
        self.baggage.is_null() & self.layers.is_null() & self.receipt.is_null()
    }
}

impl Ambient {
    pub(crate) const OUTSIDE: Ambient = Ambient {
        actor: ptr::null(),
        id: 0,
        deadline: 0,
        patience: 0,
        asked: false,
        depth: 0,
        in_turn: false,
    };
}

/// How a `ReplyTo` that is dropped just now ends its ask.
#[derive(Clone)]
pub(crate) enum Ending {
    /// The handler has been called and has not begun to wait for anything.
    Beginning,
    /// Forgotten by its handler.
    NoReply,
    /// Its handler crashed.
    Failed(Fault),
    /// Its actor stops.
    Stopped,
    /// Whoever it was handed on to had no room.
    Full,
    /// A layer did not let the message pass.
    Refused(&'static str),
    /// The task that held it was ended, by a crash of its actor if there is a fault.
    Aborted(Option<Fault>),
}

/// The ambient turn where it lies, field by field: most who look want one of them.
struct Turn {
    actor: Cell<*const Header>,
    id: Cell<u64>,
    deadline: Cell<u64>,
    patience: Cell<u64>,
    asked: Cell<bool>,
    /// It was seen since the message came that its deadline is not over.
    looked: Cell<bool>,
    depth: Cell<u32>,
    in_turn: Cell<bool>,
}

pub(crate) struct Host {
    turn: Turn,
    surroundings: Cell<Surroundings>,
    /// The pool worker that is polled on this thread, if any.
    worker: Cell<*const Local>,
    pub(crate) attention: Attention,
    pub(crate) taken: Taken,
    pub(super) gathered: Gathered,
    /// Turns run for askers, to time some of them.
    inlined: Cell<u32>,
    /// Asks from outside of workers, to charge some of them.
    asks: Cell<u32>,
    /// When it was looked at the clock for the deadline of an ask that is handled here, at the latest when its handler began to
    /// wait: whoever asked need not look again.
    suspended_at: Cell<u64>,
    short: Cell<u32>,
    /// Why a layer, or the way to another node, refused the last message that it did.
    refusal: Cell<Reason>,
    /// A hook of a shutdown is polled.
    in_hook: Cell<bool>,
    /// A task begins with actors of which it runs some itself.
    runs_others: Cell<bool>,
    ending: RefCell<Option<Ending>>,
    /// Cells that ended in a turn on this thread; freed once no frame of that turn is left.
    graves: RefCell<Vec<CellRef>>,
    /// The pulse of this thread when it is not a worker's.
    pulse: OnceCell<Arc<Pulse>>,
    /// Its lane when it is not a worker's.
    lane: OnceCell<usize>,
    pub(crate) frames: FramePool,
}

impl Host {
    const fn new() -> Self {
        Host {
            turn: Turn {
                actor: Cell::new(ptr::null()),
                id: Cell::new(0),
                deadline: Cell::new(0),
                patience: Cell::new(0),
                asked: Cell::new(false),
                looked: Cell::new(false),
                depth: Cell::new(0),
                in_turn: Cell::new(false),
            },
            surroundings: Cell::new(Surroundings::NONE),
            worker: Cell::new(ptr::null()),
            attention: Attention::new(),
            taken: Taken::new(),
            gathered: Gathered::new(),
            inlined: Cell::new(0),
            asks: Cell::new(0),
            suspended_at: Cell::new(0),
            short: Cell::new(0),
            refusal: Cell::new(Reason::Said("")),
            runs_others: Cell::new(false),
            in_hook: Cell::new(false),
            ending: RefCell::new(None),
            graves: RefCell::new(Vec::new()),
            pulse: OnceCell::new(),
            lane: OnceCell::new(),
            frames: FramePool::new(),
        }
    }

    /// Runs `f` with this thread's host; `None` while the thread is being torn down.
    #[inline]
    pub(crate) fn with<R>(f: impl FnOnce(&Host) -> R) -> Option<R> {
        HOST.try_with(|host| f(host)).ok()
    }

    #[inline]
    pub(crate) fn ambient(&self) -> Ambient {
        Ambient {
            actor: self.turn.actor.get(),
            id: self.turn.id.get(),
            deadline: self.turn.deadline.get(),
            patience: self.turn.patience.get(),
            asked: self.turn.asked.get(),
            depth: self.turn.depth.get(),
            in_turn: self.turn.in_turn.get(),
        }
    }

    #[inline]
    pub(crate) fn set_ambient(&self, ambient: Ambient) {
        self.turn.actor.set(ambient.actor);
        self.turn.id.set(ambient.id);
        self.set_request(ambient.deadline, ambient.patience, ambient.asked);
        self.turn.depth.set(ambient.depth);
        self.turn.in_turn.set(ambient.in_turn);
    }

    /// Id of the actor that runs here, or 0.
    #[inline]
    pub(crate) fn running(&self) -> u64 {
        self.turn.id.get()
    }

    /// Deadline and patience of the request being served; 0 where there is none.
    #[inline]
    pub(crate) fn time_given(&self) -> (u64, u64) {
        (self.turn.deadline.get(), self.turn.patience.get())
    }

    /// Who sends a message from here and under which deadline, where that is known without a look at the clock.
    #[inline(always)]
    pub(crate) fn known_origin(&self) -> Option<(u64, u64)> {
        let sender = self.running();
        let (deadline, patience) = self.time_given();
        if sender == 0 || deadline | patience == 0 {
            return Some((sender, 0));
        }
        (deadline != 0 && (self.is_asked() || self.has_looked())).then_some((sender, deadline))
    }

    /// Whether somebody waits for the answer to the request being served.
    #[inline]
    pub(crate) fn is_asked(&self) -> bool {
        self.turn.asked.get()
    }

    /// Sets what the message at hand brings along.
    #[inline]
    pub(crate) fn set_request(&self, deadline: u64, patience: u64, asked: bool) {
        self.turn.deadline.set(deadline);
        self.turn.patience.set(patience);
        self.turn.asked.set(asked);
        self.turn.looked.set(false);
    }

    /// Whether it was seen since the message came that its deadline is not over.
    pub(crate) fn has_looked(&self) -> bool {
        self.turn.looked.get()
    }

    pub(crate) fn set_looked(&self) {
        self.turn.looked.set(true);
    }

    /// What goes with everything that is sent from here.
    pub(crate) fn baggage(&self) -> Option<&Baggage> {
        let baggage = self.surroundings.get().baggage;
        // SAFETY: set for the time of a call by whoever keeps the baggage meanwhile, on this thread, and unset after it.
        (!baggage.is_null()).then(|| unsafe { &*baggage })
    }

    /// Who looks at what the running actor sends.
    pub(crate) fn layers(&self) -> Option<&Layers> {
        let layers = self.surroundings.get().layers;
        // SAFETY: part of the running actor's cell, which is alive while its turn or its task is being polled here.
        (!layers.is_null()).then(|| unsafe { &*layers })
    }

    /// Calls `f`; what it sends carries `baggage`.
    pub(crate) fn with_baggage<R>(baggage: &Baggage, f: impl FnOnce() -> R) -> R {
        struct Restore(*const Baggage);
        impl Drop for Restore {
            fn drop(&mut self) {
                Host::with(|host| host.swap_baggage(self.0));
            }
        }
        let _restore = Host::with(|host| Restore(host.swap_baggage(baggage)));
        f()
    }

    /// The receipt for the message that is sent now, if nobody has taken it before.
    pub(crate) fn take_receipt(&self) -> Option<Receipt> {
        let receipt = self.surroundings.get().receipt;
        // SAFETY: set by `in_arrival` for the time of its call, on this thread.
        unsafe { receipt.as_ref() }?.take()
    }

    /// Calls `f`; what it sends comes from `sender`, under that deadline, with that baggage.
    #[inline]
    pub(crate) fn in_arrival<R>(
        sender: u64,
        deadline: u64,
        baggage: Option<&Baggage>,
        receipt: &Cell<Option<Receipt>>,
        f: impl FnOnce() -> R,
    ) -> R {
        struct Restore(Ambient, Surroundings);
        impl Drop for Restore {
            fn drop(&mut self) {
                Host::with(|host| {
                    host.set_ambient(self.0);
                    host.swap_surroundings(self.1);
                });
            }
        }
        let _restore = Host::with(|host| {
            let before = host.ambient();
            host.set_ambient(Ambient {
                id: sender,
                deadline,
                // Whoever reads from the network runs no actors.
                depth: u32::MAX / 2,
                ..Ambient::OUTSIDE
            });
            let surroundings = Surroundings {
                baggage: baggage.map_or(ptr::null(), ptr::from_ref),
                receipt: ptr::from_ref(receipt),
                ..Surroundings::NONE
            };
            Restore(before, host.swap_surroundings(surroundings))
        });
        f()
    }

    fn swap_baggage(&self, baggage: *const Baggage) -> *const Baggage {
        let before = self.surroundings.get();
        self.swap_surroundings(Surroundings { baggage, ..before });
        before.baggage
    }

    #[inline]
    pub(crate) fn surroundings(&self) -> Surroundings {
        self.surroundings.get()
    }

    /// Sets what stands around everything that is sent from here; what did before.
    #[inline]
    pub(crate) fn swap_surroundings(&self, surroundings: Surroundings) -> Surroundings {
        if !surroundings.is_none() {
            self.attention.recall();
        }
        self.surroundings.replace(surroundings)
    }

    pub(crate) fn set_refusal(&self, reason: Reason) {
        self.refusal.set(reason);
    }

    /// Why a layer, or the way to another node, has just refused a message on this thread.
    #[cold]
    pub(crate) fn refusal() -> Reason {
        Host::with(|host| host.refusal.get()).unwrap_or(Reason::Said(""))
    }

    /// The actor that runs on this thread, or whose task does.
    #[inline]
    pub(crate) fn current(&self) -> Option<&Header> {
        let actor = self.turn.actor.get();
        // SAFETY: the ambient actor is alive while its turn or its task is being polled here.
        (!actor.is_null()).then(|| unsafe { &*actor })
    }

    /// Whether the task of this thread runs actors, or is about to: one of them may block it.
    pub(crate) fn may_block(&self) -> bool {
        self.worker().is_some() || self.current().is_some() || self.runs_others.get()
    }

    /// Calls `f`, which begins with actors of which it may run some right here.
    #[inline]
    pub(crate) fn running_others<R>(&self, f: impl FnOnce() -> R) -> R {
        struct Restore<'a>(&'a Cell<bool>, bool);
        impl Drop for Restore<'_> {
            fn drop(&mut self) {
                self.0.set(self.1);
            }
        }
        let _restore = Restore(&self.runs_others, self.runs_others.replace(true));
        f()
    }

    #[inline]
    pub(crate) fn worker(&self) -> Option<&Local> {
        let worker = self.worker.get();
        // SAFETY: set by the worker for the time of its poll, on this thread, and unset after it.
        (!worker.is_null()).then(|| unsafe { &*worker })
    }

    pub(crate) fn set_worker(&self, worker: *const Local) -> *const Local {
        self.worker.replace(worker)
    }

    /// A number to choose one of several places by, so that threads keep off each other's toes: their remainders are spread.
    pub(crate) fn lane(&self) -> usize {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        match self.worker() {
            Some(worker) => worker.index,
            // A model must take the same course again.
            None if cfg!(volary_shuttle) => 1,
            None => *self.lane.get_or_init(|| NEXT.fetch_add(1, Relaxed)),
        }
    }

    /// The pulse of this thread.
    #[inline]
    pub(crate) fn pulse(&self) -> &Pulse {
        match self.worker() {
            Some(worker) => &worker.pool.seats[worker.index].pulse,
            None => self.pulse.get_or_init(pulse::register),
        }
    }

    /// Keeps an ended cell until `bury`: functions below us still hold references to it.
    pub(crate) fn mourn(&self, cell: CellRef) {
        self.graves.borrow_mut().push(cell);
    }

    /// How many ended cells are kept. Asked before a turn, for [`bury`](Host::bury) after it.
    #[inline]
    pub(crate) fn graves(&self) -> usize {
        self.graves.borrow().len()
    }

    /// Lets go of cells that have ended in a turn, outside of it: of all but as many as there were before. Those are of turns in
    /// the midst of which this one was given.
    #[inline]
    pub(crate) fn bury(&self, before: usize) {
        // One at a time: the last reference may drop a factory, which is user code.
        loop {
            let mut graves = self.graves.borrow_mut();
            if graves.len() <= before {
                return;
            }
            let cell = graves.pop();
            drop(graves);
            if let Some(cell) = cell {
                cell.bury();
            }
        }
    }

    #[inline]
    pub(crate) fn count_inline(&self) -> u32 {
        let count = self.inlined.get().wrapping_add(1);
        self.inlined.set(count);
        count
    }

    /// One more ask from outside of workers; how many there were on this thread.
    #[inline]
    pub(crate) fn count_asked(&self) -> u32 {
        let count = self.asks.get().wrapping_add(1);
        self.asks.set(count);
        count
    }

    /// What the clock said for the deadline of an ask on this thread, since somebody set it to 0.
    #[inline]
    pub(crate) fn suspended_at(&self) -> u64 {
        self.suspended_at.get()
    }

    #[inline]
    pub(crate) fn set_suspended_at(&self, nanos: u64) {
        self.suspended_at.set(nanos);
    }

    pub(crate) fn is_in_hook(&self) -> bool {
        self.in_hook.get()
    }

    /// Says whether a hook of a shutdown is being polled; what it was before.
    pub(crate) fn set_in_hook(&self, in_hook: bool) -> bool {
        self.in_hook.replace(in_hook)
    }

    /// How many messages in a row of actors that are thought to be slow were short.
    pub(crate) fn count_short(&self, short: bool) -> u32 {
        self.short.set(if short { self.short.get() + 1 } else { 0 });
        self.short.get()
    }

    /// Runs `f` while every `ReplyTo` dropped on this thread ends its ask in the given way.
    pub(crate) fn with_ending<R>(&self, ending: Ending, f: impl FnOnce() -> R) -> R {
        // What holds anyway, and most often: there is nothing to be said.
        if matches!(ending, Ending::NoReply) && self.ending.borrow().is_none() {
            return f();
        }
        let before = self.ending.replace(Some(ending));
        let result = f();
        self.ending.replace(before);
        result
    }

    pub(crate) fn ending(&self) -> Ending {
        self.ending.borrow().clone().unwrap_or(Ending::NoReply)
    }
}

#[cfg(not(any(volary_loom, volary_shuttle)))]
thread_local! {
    static HOST: Host = const { Host::new() };
}

#[cfg(volary_loom)]
loom::thread_local! {
    static HOST: Host = Host::new();
}

#[cfg(all(volary_shuttle, not(volary_loom)))]
shuttle::thread_local! {
    static HOST: Host = Host::new();
}
