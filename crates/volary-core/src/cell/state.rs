//! The state word: who may run the actor, and what it has been told to do.
//!
//! ```text
//!             mail / control / wake                take
//!   IDLE ───────────────────────────▶ SCHEDULED ─────────▶ RUNNING
//!    ▲  ╲_____________ claim (an asker, a spawner) ________▶ │ ▲ │
//!    └───────────────────── RESTING ◀── begin_rest ─────────┘ │ │
//!                              │                              │ │
//!                              └── something came up ─────────┘ │
//!                              SCHEDULED ◀──────── yield ───────┘
//! ```
//!
//! RESTING closes the race between "the mailbox is empty" and "a message came": the owner says that
//! it is about to rest, looks once more, and only then lets go. A sender that meets RESTING leaves a
//! nudge, which makes letting go fail. So the cell is never touched after it was given up, and
//! whoever runs it needs no count of its own on it.
//!
//! Whoever moves it from IDLE queues the actor, so it stands in at most one queue; whoever moves it
//! to RUNNING owns the actor and everything in its cell. `SUSPENDED` is beside these: a handler is
//! waiting, so mail schedules nothing and only a wake-up or a control message does.

use crate::sync::atomic::{AtomicU32, Ordering::*};
use crate::sync::total_order;

const RUN: u32 = 0b11;
const IDLE: u32 = 0;
const SCHEDULED: u32 = 1;
const RUNNING: u32 = 2;
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

/// With these mail changes nothing: something else brings the actor on.
const DEAF: u32 = SUSPENDED | PAUSED | HOLDING | DEAD;

pub(crate) struct StateWord(AtomicU32);

/// What `finish_rest` found.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub(crate) enum Rest {
    /// The actor is idle and no longer ours.
    Idle,
    /// Something came up; it is still ours.
    Again,
}

impl StateWord {
    /// A cell is born running: its maker owns it until it has started.
    pub(crate) fn born() -> Self {
        StateWord(AtomicU32::new(RUNNING | PAUSED))
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
        if matches!(state & RUN, SCHEDULED | RUNNING) || state & DEAF != 0 {
            return false;
        }
        self.mail_slow(state)
    }

    fn mail_slow(&self, mut state: u32) -> bool {
        loop {
            if matches!(state & RUN, SCHEDULED | RUNNING) || state & DEAF != 0 {
                return false;
            }
            let idle = state & RUN == IDLE;
            let next = if idle { state | SCHEDULED } else { state | NUDGED };
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
                next = next & !RUN | SCHEDULED;
            }
            match self.0.compare_exchange_weak(state, next, SeqCst, Relaxed) {
                Ok(_) => return idle,
                Err(seen) => state = seen,
            }
        }
    }

    /// The waker of the suspended future was called. True: the caller must queue the actor.
    pub(crate) fn wake(&self) -> bool {
        let mut state = self.0.load(Relaxed);
        loop {
            if state & (DEAD | WOKEN) != 0 {
                return false;
            }
            let mut next = state | WOKEN;
            let idle = state & RUN == IDLE && state & SUSPENDED != 0;
            if idle {
                next = next & !RUN | SCHEDULED;
            }
            match self.0.compare_exchange_weak(state, next, AcqRel, Relaxed) {
                Ok(_) => return idle,
                Err(seen) => state = seen,
            }
        }
    }

    /// Taken from a ready queue.
    #[inline]
    pub(crate) fn take(&self) -> u32 {
        let state = self.0.fetch_add(RUNNING - SCHEDULED, AcqRel);
        debug_assert_eq!(state & RUN, SCHEDULED, "only a scheduled actor stands in a queue");
        state
    }

    /// An idle actor, taken without a queue by somebody who wants its answer. False if it is not
    /// idle, or not to be run this way.
    #[inline]
    pub(crate) fn claim(&self) -> bool {
        let state = self.0.load(SeqCst);
        state & (RUN | DEAF | SLOW | CONTROL) == IDLE
            && self.0.compare_exchange(state, state | RUNNING, AcqRel, Relaxed).is_ok()
    }

    /// Gives up a running actor that has more to do: it goes to the back of a queue.
    #[inline]
    pub(crate) fn yield_turn(&self) {
        let state = self.0.fetch_sub(RUNNING - SCHEDULED, Release);
        debug_assert_eq!(state & RUN, RUNNING);
    }

    /// Announces that the owner found nothing to do. It looks once more before `finish_rest`.
    #[inline]
    pub(crate) fn begin_rest(&self) {
        let state = self.0.fetch_or(RESTING, SeqCst);
        debug_assert_eq!(state & RUN, RUNNING);
        total_order(); // the state was written before the mailbox is looked at once more
    }

    /// The last look found something.
    #[inline]
    pub(crate) fn cancel_rest(&self) {
        self.0.fetch_and(!(NUDGED | RESTING ^ RUNNING), AcqRel);
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

    #[inline]
    pub(crate) fn set(&self, bits: u32) -> u32 {
        self.0.fetch_or(bits, AcqRel)
    }

    #[inline]
    pub(crate) fn clear(&self, bits: u32) -> u32 {
        self.0.fetch_and(!bits, AcqRel)
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
                self.queued.fetch_add(1, SeqCst);
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

        fn run_queued(&self) {
            while self.queued.load(SeqCst) > 0 {
                self.queued.fetch_sub(1, SeqCst);
                self.state.take();
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
                toy.queued.fetch_add(1, SeqCst);
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
                        toy.queued.fetch_add(1, SeqCst);
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
}
