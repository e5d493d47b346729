//! Deadlines of the whole system on a few wheels.
//!
//! A timer is a waker: when its tick has come it is woken, and whoever registered it looks at the
//! clock. Asks that are answered in time set and cancel theirs without anybody being woken. The
//! wheels are split so that workers rarely meet at one lock.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use super::clock::{Moment, nanos};
use super::wheel::{TICK, Tick, TimerKey, Wheel};
use crate::dispatch::{Host, wake};
use crate::env::Env;
use crate::reference::PATIENT;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicU64, Ordering::*};

const LANES: usize = 8;
/// How many timers are woken at once.
const BATCH: usize = 256;

/// The pending timers of one actor system. The environment drives it.
pub(crate) struct Timers {
    env: Arc<dyn Env>,
    /// Whether the sweep of reply slots goes by the clock of this system.
    sweeps: bool,
    lanes: [Mutex<Wheel<Waker>>; LANES],
    /// The earliest tick that the driver knows of; `u64::MAX` if there is none.
    next: AtomicU64,
}

/// A pending timer.
#[derive(Clone, Copy)]
pub(crate) struct TimerId {
    /// The key on its lane's wheel, in parts: with the lane beside it this is two words.
    generation: NonZeroU64,
    index: u32,
    lane: u8,
}

const _: () = assert!(size_of::<Option<TimerId>>() == 16);

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
            sweeps: env.shares_clock() && !env.is_simulated(),
            env,
            lanes: std::array::from_fn(|_| Mutex::new(Wheel::new(start))),
            next: AtomicU64::new(u64::MAX),
        }
    }

    /// Wakes `waker` at `at` or up to a tick later.
    pub(crate) fn insert(&self, at: Moment, waker: Waker) -> TimerId {
        let lane = Host::with(|host| host.worker().map_or(0, |worker| (1 + worker.index) % LANES)).unwrap_or(0);
        let tick = tick_of(at);
        let key = self.lanes[lane].lock().insert(tick, waker);
        // Mostly the driver knows of an earlier one. Whoever sees a value of the past here was in the lane before `fire`
        // looked at it.
        if tick < self.next.load(SeqCst) && tick < self.next.fetch_min(tick, SeqCst) {
            self.env.timer_changed(at);
        }
        let (index, generation) = key.parts();
        TimerId {
            generation,
            index,
            lane: lane as u8,
        }
    }

    /// Whether an asker that has so much time needs no timer: the sweep finds it, see `reference/slots.rs`.
    #[inline]
    pub(crate) fn leaves_to_sweep(&self, deadline: Moment, now: Moment) -> bool {
        self.sweeps && deadline.nanos() >= now.nanos().saturating_add(PATIENT)
    }

    /// Whether the driver of this system sees to the sweep.
    pub(crate) fn are_swept(&self) -> bool {
        self.sweeps
    }

    pub(crate) fn cancel(&self, timer: TimerId) {
        let key = TimerKey::from_parts(timer.index, timer.generation);
        let waker = self.lanes[usize::from(timer.lane)].lock().cancel(key);
        drop(waker); // outside of the lock: dropping a waker may run anything
    }

    /// Wakes everything that is due.
    pub(crate) fn fire(&self) {
        let now = self.env.now().nanos() / tick_nanos();
        // Until this is over nobody needs to call the driver: it looks at every lane once more below.
        self.next.store(0, SeqCst);
        for lane in &self.lanes {
            while self.fire_some(lane, now) {}
        }
        // Forget what was known before looking: whoever comes later says so again.
        self.next.store(u64::MAX, SeqCst);
        let expiries = self.lanes.iter().filter_map(|lane| lane.lock().next_expiry());
        if let Some(next) = expiries.min() {
            self.next.fetch_min(next, SeqCst);
        }
    }

    /// Wakes everybody, whenever they are due: time has come to its end here.
    pub(crate) fn wake_all(&self) {
        for lane in &self.lanes {
            while self.fire_some(lane, Tick::MAX) {}
        }
    }

    /// A batch of one lane, so that a million timers of one moment neither keep the lock from others nor need a list
    /// of a million. True: there may be more.
    fn fire_some(&self, lane: &Mutex<Wheel<Waker>>, now: Tick) -> bool {
        let mut due = Vec::new();
        {
            let mut lane = lane.lock();
            while due.len() < BATCH
                && let Some((_, waker)) = lane.take_due(now)
            {
                due.push(waker);
            }
        }
        let full = due.len() == BATCH;
        due.into_iter().for_each(wake);
        full
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

/// The next time of a fixed rate after `now`. What was missed is not made up for.
pub(crate) fn next_at_rate(planned: Moment, period: Duration, now: Moment) -> Moment {
    let period = nanos(period).max(1);
    let missed = nanos(now.since(planned)) / period;
    let periods = missed.saturating_add(1);
    Moment::from_nanos(planned.nanos().saturating_add(period.saturating_mul(periods)))
}

impl std::fmt::Debug for Timers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Timers")
            .field("pending", &self.len())
            .field("next", &self.next())
            .finish()
    }
}

#[cfg(all(test, not(any(volary_loom, volary_shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn asks_are_left_to_the_sweep_only_where_one_comes_by() {
        let leaves = |shares_clock, poses_as_real| {
            let env = crate::env::Steady {
                shares_clock,
                poses_as_real,
                ..crate::env::Steady::new()
            };
            let far = Moment::from_nanos(100 * PATIENT);
            Timers::new(Arc::new(env)).leaves_to_sweep(far, Moment::from_nanos(1))
        };
        assert!(leaves(true, true));
        assert!(!leaves(false, true));
        assert!(
            !leaves(true, false),
            "in simulation every ask has a timer, whatever is said of the clock"
        );
    }

    #[test]
    fn what_a_fixed_rate_missed_is_left_out_and_the_rest_stays_where_it_was() {
        let at = |millis| Moment::ZERO + Duration::from_millis(millis);
        let period = Duration::from_millis(10);
        assert_eq!(next_at_rate(at(100), period, at(100)), at(110));
        assert_eq!(next_at_rate(at(100), period, at(109)), at(110));
        assert_eq!(next_at_rate(at(100), period, at(110)), at(120));
        assert_eq!(next_at_rate(at(100), period, at(1_234)), at(1_240));
        // A century asleep is no reason to overflow.
        let end = Moment::from_nanos(u64::MAX);
        assert_eq!(next_at_rate(at(0), Duration::from_nanos(1), end), end);
    }
}
