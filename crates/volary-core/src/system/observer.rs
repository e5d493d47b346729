//! The watch over time: fires timers, and looks now and then whether a worker is stuck.
//!
//! The environment calls it: from a thread of its own in the real world, between steps in
//! simulation, where no handler can be stuck.

use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::sync::Mutex;

use super::core::SystemCore;
use crate::dispatch::Pool;
use crate::env::Driver;
use crate::time::{Moment, Timers};

/// How often the workers are looked at while something happens, and while nothing does.
const LOOK_BUSY: Duration = Duration::from_millis(20);
const LOOK_IDLE: Duration = Duration::from_millis(250);

pub(super) struct Observer {
    timers: Arc<Timers>,
    core: Mutex<Weak<SystemCore>>,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    /// For each worker: its turn, since when, and whether that was announced.
    turns: Vec<(u64, Moment, bool)>,
    next_look: Moment,
}

impl Observer {
    pub(super) fn new(timers: Arc<Timers>) -> Arc<Self> {
        Arc::new(Observer { timers, core: Mutex::new(Weak::new()), seen: Mutex::default() })
    }

    pub(super) fn watch(&self, core: Weak<SystemCore>) {
        *self.core.lock() = core;
    }

    /// Looks at every worker; true if any was active since the last look.
    fn look(core: &SystemCore, seen: &mut Seen, now: Moment) -> bool {
        let pools: Vec<&Arc<Pool>> =
            std::iter::once(&core.default_pool).chain(core.own_pools.iter().map(|(_, pool)| pool)).collect();
        let count: usize = pools.iter().map(|pool| pool.workers()).sum();
        seen.turns.resize(count, (0, now, false));
        let slow = core.settings().slow_handler();
        let mut active = false;
        let mut at = 0;
        for pool in pools {
            let mut stuck = false;
            for seat in &pool.seats {
                let (turn, since, announced) = &mut seen.turns[at];
                at += 1;
                let (current, actor) = (seat.pulse.turn(), seat.pulse.actor());
                if *turn != current || actor == 0 {
                    active |= *turn != current;
                    (*turn, *since, *announced) = (current, now, false);
                    continue;
                }
                active = true;
                stuck = true;
                let running = now.since(*since);
                core.mark_slow(actor);
                if running >= slow && !*announced {
                    *announced = true;
                    core.announce_slow(actor, running);
                }
            }
            if stuck {
                pool.rescue();
            }
        }
        active
    }
}

impl Driver for Observer {
    fn drive(&self, now: Moment) -> Option<Moment> {
        self.timers.fire();
        let core = self.core.lock().upgrade();
        let mut next = self.timers.next();
        if let Some(core) = core
            && !core.env().is_simulated()
        {
            let mut seen = self.seen.lock();
            if now >= seen.next_look {
                let busy = Observer::look(&core, &mut seen, now);
                seen.next_look = now + if busy { LOOK_BUSY } else { LOOK_IDLE };
            }
            let look = seen.next_look;
            next = Some(next.map_or(look, |next| next.min(look)));
        }
        next
    }
}
