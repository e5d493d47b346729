//! The state word: who may run the actor, and what it has been told to do.
//!
//! ```text
//!             mail / control / wake: into a queue
//!   IDLE ─────────────────────────────────────────▶ ACTIVE ◀─┐
//!    ▲  ╲_____ claim (an asker): at once __________▶  │       │
//!    └──────────── RESTING ◀──────── begin_rest ──────┘       │
//!                     └──────────── something came up ────────┘
//! ```
//!
//! RESTING closes the race between "the mailbox is empty" and "a message came": the owner says that
//! it is about to rest, looks once more, and only then lets go. A sender that meets RESTING leaves a
//! nudge, which makes letting go fail. So the cell is never touched after it was given up, and
//! whoever runs it needs no count of its own on it.
//!
//! Whoever moves it from IDLE has the actor, and hands it on through a queue or runs it: it stands in at most one
//! queue, and whoever took it from there owns it and everything in its cell. Queues hand over what was written before,
//! so taking an actor out and putting it back changes nothing here. `SUSPENDED` is beside these: a handler is
//! waiting, so mail schedules nothing and only a wake-up or a control message does.

use crate::sync::atomic::{AtomicU32, Ordering::*};
use crate::sync::total_order;

const RUN: u32 = 0b11;
const IDLE: u32 = 0;
/// In a queue, or in a turn.
const ACTIVE: u32 = 2;
const RESTING: u32 = 3;

/// A handler or hook is suspended; its frame is in the cell.
pub(crate) const SUSPENDED: u32 = 1 << 2;
/// The suspended future was woken.
pub(crate) const WOKEN: u32 = 1 << 3;
/// There is something to look at besides mail.
pub(crate) const CONTROL: u32 = 1 << 4;
/// Stop after the current message.
pub(crate) const STOP: u32 = 1 << 5;
/// Stop after what is queued now.
pub(crate) const DRAIN: u32 = 1 << 6;
/// Stop at once, dropping a suspended handler.
pub(crate) const KILL: u32 = 1 << 7;
/// The patience with a suspended handler is over.
pub(crate) const GRACE_OVER: u32 = 1 << 8;
/// User mail waits: the actor is starting, stopping, or suspended by supervision.
pub(crate) const PAUSED: u32 = 1 << 9;
/// The actor is gone.
pub(crate) const DEAD: u32 = 1 << 10;
/// Its handlers were seen to be slow: askers do not run it.
pub(crate) const SLOW: u32 = 1 << 11;
/// Somebody asked for a restart.
pub(crate) const RESTART: u32 = 1 << 12;
/// The high-water mark was passed and announced.
pub(crate) const HIGH: u32 = 1 << 13;
/// A message came while the owner was about to rest.
const NUDGED: u32 = 1 << 14;
/// A turn run for an asker was timed once.
pub(crate) const TIMED: u32 = 1 << 15;

/// Held by supervision: crashed too often, or waiting for somebody's decision.
pub(crate) const HELD: u32 = 1 << 16;
/// Somebody decided that a held actor may go on.
pub(crate) const REINSTATE: u32 = 1 << 17;
/// A child handed its fault up.
pub(crate) const ESCALATED: u32 = 1 << 18;

/// Messages that were put aside are wanted back.
pub(crate) const RETURNED: u32 = 1 << 19;

/// User mail waits for the answer to a request.
pub(crate) const HOLDING: u32 = 1 << 20;
/// Answers to requests are there that went round the mailbox.
pub(crate) const CONTINUED: u32 = 1 << 21;

/// The actor was told to go to sleep.
pub(crate) const PASSIVATE: u32 = 1 << 22;
/// It has been idle for long enough, or the system wants its room.
pub(crate) const IDLE_OVER: u32 = 1 << 23;
/// Its hooks run so that it can fall asleep.
pub(crate) const SLEEPY: u32 = 1 << 24;
/// It sleeps: there is no actor in the cell, and mail wakes it.
pub(crate) const ASLEEP: u32 = 1 << 25;
/// There is an alarm among its links, which most actors never have.
pub(crate) const ALARM: u32 = 1 << 26;
/// No children are taken: the actor has begun to end or to fall asleep, or sleeps.
pub(crate) const SEALED: u32 = 1 << 27;

/// With these mail changes nothing: something else brings the actor on.
const DEAF: u32 = SUSPENDED | PAUSED | HOLDING | DEAD;

pub(crate) struct StateWord(AtomicU32);

/// Why an actor takes no children.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub(crate) enum Sealed {
    Ending,
    /// Or about to fall asleep: a message will open it again.
    Asleep,
}

/// What `finish_rest` found.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub(crate) enum Rest {
    /// The actor is idle and no longer ours.
    Idle,
    /// Something came up; it is still ours.
    Again,
}

impl StateWord {
    /// A cell is born active: its maker owns it until it has started.
    pub(crate) fn born() -> Self {
        StateWord(AtomicU32::new(ACTIVE | PAUSED))
    }

    #[inline]
    pub(crate) fn load(&self) -> u32 {
        self.0.load(Acquire)
    }

    /// A turn is under way or due, or a handler is suspended.
    pub(crate) fn is_busy(&self) -> bool {
        let state = self.load();
        state & RUN != IDLE || state & SUSPENDED != 0
    }

    pub(crate) fn has(&self, bits: u32) -> bool {
        self.load() & bits != 0
    }

    /// A message was queued. True: the caller must put the actor into a ready queue.
    ///
    /// Loads before it swaps, so that many senders to a busy actor share the line.
    #[inline]
    pub(crate) fn mail(&self) -> bool {
        total_order(); // the message was queued before the state is read
        let state = self.0.load(SeqCst);
        // Nearly always it is active, and then nothing else matters.
        state & RUN != ACTIVE && self.mail_slow(state)
    }

    #[inline(never)]
    fn mail_slow(&self, mut state: u32) -> bool {
        loop {
            if state & RUN == ACTIVE || state & DEAF != 0 {
                return false;
            }
            let idle = state & RUN == IDLE;
            let next = if idle { state | ACTIVE } else { state | NUDGED };
            match self.0.compare_exchange_weak(state, next, SeqCst, SeqCst) {
                Ok(_) => return idle,
                Err(seen) => state = seen,
            }
        }
    }

    /// Sets control bits. True: the caller must queue the actor.
    pub(crate) fn control(&self, bits: u32) -> bool {
        let mut state = self.0.load(Relaxed);
        loop {
            if state & DEAD != 0 {
                return false;
            }
            let mut next = state | bits | CONTROL;
            let idle = state & RUN == IDLE;
            if idle {
                next = next & !RUN | ACTIVE;
            }
            match self.0.compare_exchange_weak(state, next, SeqCst, Relaxed) {
                Ok(_) => return idle,
                Err(seen) => state = seen,
            }
        }
    }

    /// The waker of the suspended future was called. True: the caller must queue the actor.
    ///
    /// It is written also where it says so already: whoever takes the mark back must see what every waker had to tell, and
    /// not only the first.
    pub(crate) fn wake(&self) -> bool {
        let mut state = self.0.load(Relaxed);
        loop {
            if state & DEAD != 0 {
                return false;
            }
            let mut next = state | WOKEN;
            let idle = state & RUN == IDLE && state & SUSPENDED != 0;
            if idle {
                next = next & !RUN | ACTIVE;
            }
            match self.0.compare_exchange_weak(state, next, AcqRel, Relaxed) {
                Ok(_) => return idle,
                Err(seen) => state = seen,
            }
        }
    }

    /// What there is to know of an actor that was taken from a ready queue, or is going there.
    #[inline]
    pub(crate) fn in_hand(&self) -> u32 {
        let state = self.load();
        debug_assert_eq!(state & RUN, ACTIVE, "only an active actor is handed on");
        state
    }

    /// An idle actor, taken without a queue by somebody who wants its answer. False if it is not
    /// idle, or not to be run this way.
    #[inline]
    pub(crate) fn claim(&self) -> bool {
        let state = self.0.load(SeqCst);
        state & (RUN | DEAF | SLOW | CONTROL) == IDLE
            && self.0.compare_exchange(state, state | ACTIVE, AcqRel, Relaxed).is_ok()
    }

    /// Announces that the owner found nothing to do. It looks once more before `finish_rest`.
    #[inline]
    pub(crate) fn begin_rest(&self) {
        let state = self.0.fetch_or(RESTING, SeqCst);
        debug_assert_eq!(state & RUN, ACTIVE);
        total_order(); // the state was written before the mailbox is looked at once more
    }

    /// The last look found something.
    #[inline]
    pub(crate) fn cancel_rest(&self) {
        self.0.fetch_and(!(NUDGED | RESTING ^ ACTIVE), AcqRel);
    }

    /// Lets go, unless something came up since `begin_rest`.
    #[inline]
    pub(crate) fn finish_rest(&self) -> Rest {
        let mut state = self.0.load(Relaxed);
        loop {
            debug_assert_eq!(state & RUN, RESTING);
            if state & (CONTROL | NUDGED) != 0 || state & (SUSPENDED | WOKEN) == SUSPENDED | WOKEN {
                self.cancel_rest();
                return Rest::Again;
            }
            match self.0.compare_exchange_weak(state, state & !RUN, SeqCst, Relaxed) {
                Ok(_) => return Rest::Idle,
                Err(seen) => state = seen,
            }
        }
    }

    /// Closes the door for children, before the owner looks whom it has, and sets other bits; see
    /// [`sealed`](Self::sealed).
    pub(crate) fn seal(&self, bits: u32) {
        let bits = bits | SEALED;
        if self.0.load(Relaxed) & bits != bits {
            self.0.fetch_or(bits, SeqCst);
        }
        total_order(); // the state was written before children are looked for
    }

    /// Why no child is taken, if none is. Asked under the lock of the children, whose place was looked up before: either
    /// this sees the seal, or who seals sees the place and waits for the lock.
    #[inline]
    pub(crate) fn sealed(&self) -> Option<Sealed> {
        total_order(); // the place of the children was there before the state is read
        let state = self.0.load(SeqCst);
        if state & (SEALED | DEAD) == 0 {
            return None;
        }
        let sleeps = state & (ASLEEP | SLEEPY) != 0 && state & (STOP | KILL | DEAD) == 0;
        Some(if sleeps { Sealed::Asleep } else { Sealed::Ending })
    }

    #[inline]
    pub(crate) fn set(&self, bits: u32) -> u32 {
        self.0.fetch_or(bits, AcqRel)
    }

    #[inline]
    pub(crate) fn clear(&self, bits: u32) -> u32 {
        self.0.fetch_and(!bits, AcqRel)
    }

    /// As `clear`, for bits that are rarely set: a look costs less than a locked instruction.
    #[inline]
    pub(crate) fn clear_if_set(&self, bits: u32) -> u32 {
        let state = self.0.load(Acquire);
        if state & bits == 0 {
            return state;
        }
        self.clear(bits)
    }

    /// The last transition: nobody will ever own this actor again.
    pub(crate) fn die(&self) {
        let mut state = self.0.load(Relaxed);
        loop {
            match self
                .0
                .compare_exchange_weak(state, state & !RUN | DEAD, AcqRel, Relaxed)
            {
                Ok(_) => return,
                Err(seen) => state = seen,
            }
        }
    }
}

#[cfg(all(test, volary_loom))]
mod loom_model {
    use super::*;
    use loom::sync::Arc;
    use loom::sync::atomic::AtomicUsize;
    use loom::thread;

    /// An actor in idle state with one counter as its mailbox.
    struct Toy {
        state: StateWord,
        mail: AtomicUsize,
        handled: loom::cell::UnsafeCell<usize>,
        queued: AtomicUsize,
    }

    fn idle() -> StateWord {
        let state = StateWord::born();
        state.clear(PAUSED);
        state.begin_rest();
        assert_eq!(state.finish_rest(), Rest::Idle);
        state
    }

    impl Toy {
        fn new() -> Arc<Self> {
            Arc::new(Toy {
                state: idle(),
                mail: AtomicUsize::new(0),
                handled: loom::cell::UnsafeCell::new(0),
                queued: AtomicUsize::new(0),
            })
        }

        fn tell(&self) {
            self.mail.fetch_add(1, SeqCst);
            if self.state.mail() {
                self.queue();
            }
        }

        /// Owned by the caller: handles everything, goes idle.
        fn turn(&self) {
            loop {
                while self.mail.load(SeqCst) > 0 {
                    self.mail.fetch_sub(1, SeqCst);
                    // SAFETY: loom checks that nobody else is in here.
                    self.handled.with_mut(|n| unsafe { *n += 1 });
                }
                self.state.begin_rest();
                if self.mail.load(SeqCst) > 0 {
                    self.state.cancel_rest();
                    continue;
                }
                if self.state.finish_rest() == Rest::Idle {
                    return;
                }
                self.state.clear(CONTROL);
            }
        }

        /// What a queue does: it hands over what was written before, and no more than that.
        fn queue(&self) {
            self.queued.fetch_add(1, Release);
        }

        fn run_queued(&self) {
            while self.queued.load(Acquire) > 0 {
                self.queued.fetch_sub(1, Acquire);
                self.state.in_hand();
                self.turn();
            }
        }
    }

    #[test]
    fn loom_state_loses_no_wake_up_and_never_runs_twice() {
        loom::model(|| {
            let toy = Toy::new();
            let sender = {
                let toy = toy.clone();
                thread::spawn(move || {
                    toy.tell();
                    toy.tell();
                })
            };
            // The other thread is the worker and, at first, an asker that claims.
            toy.mail.fetch_add(1, SeqCst);
            if toy.state.claim() {
                toy.turn();
            } else if toy.state.mail() {
                toy.queue();
            }
            toy.run_queued();
            sender.join().unwrap();
            toy.run_queued();
            // SAFETY: all threads have ended.
            assert_eq!(toy.handled.with(|n| unsafe { *n }), 3);
        });
    }

    #[test]
    fn loom_state_sees_a_stop_that_races_with_rest() {
        loom::model(|| {
            let toy = Toy::new();
            toy.tell();
            let stopper = {
                let toy = toy.clone();
                thread::spawn(move || {
                    if toy.state.control(STOP) {
                        toy.queue();
                    }
                })
            };
            toy.run_queued();
            stopper.join().unwrap();
            toy.run_queued();
            assert!(toy.state.has(STOP));
            assert!(
                !toy.state.has(CONTROL),
                "the control bit was looked at by whoever owned the actor"
            );
        });
    }

    #[test]
    fn loom_state_wake_during_suspension_is_not_lost() {
        loom::model(|| {
            let state = Arc::new(idle());
            assert!(state.claim());
            let waker = {
                let state = state.clone();
                thread::spawn(move || state.wake())
            };
            // The handler returns Pending: suspend, then rest.
            state.set(SUSPENDED);
            state.begin_rest();
            let resumed_here = state.finish_rest() == Rest::Again;
            let queued_there = waker.join().unwrap();
            assert!(resumed_here ^ queued_there, "exactly one side continues the handler");
        });
    }

    /// A handler waits for two things at once, each written without any order of its own: whoever takes the mark back and
    /// finds one of them missing is woken again.
    #[test]
    fn loom_state_what_a_second_waker_had_to_tell_is_seen() {
        use loom::sync::atomic::AtomicBool;

        loom::model(|| {
            let shared = Arc::new((idle(), [AtomicBool::new(false), AtomicBool::new(false)]));
            let (state, _) = &*shared;
            assert!(state.claim());
            state.set(SUSPENDED);
            let wakers: Vec<_> = [0, 1]
                .map(|at| {
                    let shared = shared.clone();
                    thread::spawn(move || {
                        let (state, told) = &*shared;
                        told[at].store(true, Relaxed);
                        state.wake();
                    })
                })
                .into();
            // The owner takes the mark back and polls, once.
            let (state, told) = &*shared;
            state.clear(WOKEN);
            let seen = [told[0].load(Relaxed), told[1].load(Relaxed)];
            for waker in wakers {
                waker.join().unwrap();
            }
            assert!(
                seen == [true, true] || state.has(WOKEN),
                "a handler that nobody wakes again"
            );
        });
    }

    /// A place for children that nobody has needed before is made while the actor ends.
    #[test]
    fn loom_state_no_child_is_left_behind_a_seal() {
        use loom::sync::Mutex;
        use loom::sync::atomic::AtomicBool;

        struct Parent {
            state: StateWord,
            place: AtomicBool,
            children: Mutex<usize>,
        }

        impl Parent {
            fn adopt(&self) -> bool {
                self.place.store(true, SeqCst);
                let mut children = self.children.lock().unwrap();
                let open = self.state.sealed().is_none();
                *children += usize::from(open);
                open
            }
        }

        loom::model(|| {
            let parent = Arc::new(Parent {
                state: idle(),
                place: AtomicBool::new(false),
                children: Mutex::new(0),
            });
            let spawner = {
                let parent = parent.clone();
                thread::spawn(move || parent.adopt())
            };
            parent.state.seal(0);
            let seen = if parent.place.load(SeqCst) {
                *parent.children.lock().unwrap()
            } else {
                0
            };
            assert_eq!(seen, usize::from(spawner.join().unwrap()), "whoever was let in is seen");
            assert!(!parent.adopt(), "it stays closed");
        });
    }
}
