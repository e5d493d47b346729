//! Deadlines of the whole system on a few wheels.
//!
//! A timer is a waker: when its tick has come it is woken, and whoever registered it looks at the
//! clock. Asks that are answered in time set and cancel theirs without anybody being woken. The
//! wheels are split so that workers rarely meet at one lock.

use std::sync::Arc;
use std::task::Waker;

use super::clock::Moment;
use super::wheel::{TICK, Tick, TimerKey, Wheel};
use crate::dispatch::{Host, wake};
use crate::env::Env;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicU64, Ordering::*};

const LANES: usize = 8;

/// The pending timers of one actor system. The environment drives it.
pub(crate) struct Timers {
    env: Arc<dyn Env>,
    lanes: [Mutex<Wheel<Waker>>; LANES],
    /// The earliest tick that the driver knows of; `u64::MAX` if there is none.
    next: AtomicU64,
}

/// A pending timer.
#[derive(Clone, Copy)]
pub(crate) struct TimerId {
    lane: u8,
    key: TimerKey,
}

fn tick_of(moment: Moment) -> Tick {
    moment.nanos().div_ceil(tick_nanos())
}

const fn tick_nanos() -> u64 {
    TICK.as_nanos() as u64
}

impl Timers {
    pub(crate) fn new(env: Arc<dyn Env>) -> Self {
        let start = env.now().nanos() / tick_nanos();
        Timers {
            env,
            lanes: std::array::from_fn(|_| Mutex::new(Wheel::new(start))),
            next: AtomicU64::new(u64::MAX),
        }
    }

    /// Wakes `waker` at `at` or up to a tick later.
    pub(crate) fn insert(&self, at: Moment, waker: Waker) -> TimerId {
        let lane = Host::with(|host| host.worker().map_or(0, |worker| 1 + worker.index % (LANES - 1))).unwrap_or(0);
        let tick = tick_of(at);
        let key = self.lanes[lane].lock().insert(tick, waker);
        if tick < self.next.fetch_min(tick, SeqCst) {
            self.env.timer_changed(at);
        }
        TimerId { lane: lane as u8, key }
    }

    pub(crate) fn cancel(&self, timer: TimerId) {
        let waker = self.lanes[usize::from(timer.lane)].lock().cancel(timer.key);
        drop(waker); // outside of the lock: dropping a waker may run anything
    }

    /// Wakes everything that is due.
    pub(crate) fn fire(&self) {
        let now = self.env.now().nanos() / tick_nanos();
        // Forget what was known before looking: whoever comes later says so again.
        self.next.store(u64::MAX, SeqCst);
        let mut due = Vec::new();
        let mut next = u64::MAX;
        for lane in &self.lanes {
            let mut lane = lane.lock();
            lane.advance(now, &mut |_, waker| due.push(waker));
            next = next.min(lane.next_expiry().unwrap_or(u64::MAX));
        }
        self.next.fetch_min(next, SeqCst);
        due.into_iter().for_each(wake);
    }

    /// When `fire` should be called next.
    pub(crate) fn next(&self) -> Option<Moment> {
        match self.next.load(SeqCst) {
            u64::MAX => None,
            tick => Some(Moment::from_nanos(tick.saturating_mul(tick_nanos()))),
        }
    }

    /// How many timers are pending.
    pub(crate) fn len(&self) -> usize {
        self.lanes.iter().map(|lane| lane.lock().len()).sum()
    }
}

impl std::fmt::Debug for Timers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Timers")
            .field("pending", &self.len())
            .field("next", &self.next())
            .finish()
    }
}
