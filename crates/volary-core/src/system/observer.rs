//! The watch over time: fires timers, and looks now and then whether a worker is stuck.
//!
//! The environment calls it: from a thread of its own in the real world, between steps in
//! simulation, where no handler can be stuck.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::sync::Mutex;

use super::core::SystemCore;
use crate::dispatch::{Pulse, guests};
use crate::env::Driver;
use crate::reference::sweep;
use crate::time::{Moment, Timers};

/// How often the workers are looked at while something happens, and while nothing does.
const LOOK_BUSY: Duration = Duration::from_millis(10);
const LOOK_IDLE: Duration = Duration::from_millis(100);

pub(super) struct Observer {
    timers: Arc<Timers>,
    core: Mutex<Weak<SystemCore>>,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    /// By thread: what it was doing.
    turns: BTreeMap<usize, Look>,
    next_look: Moment,
}

struct Look {
    turn: u64,
    since: Moment,
    last: Moment,
    announced: bool,
}

impl Observer {
    pub(super) fn new(timers: Arc<Timers>) -> Arc<Self> {
        Arc::new(Observer {
            timers,
            core: Mutex::new(Weak::new()),
            seen: Mutex::default(),
        })
    }

    pub(super) fn watch(&self, core: Weak<SystemCore>) {
        *self.core.lock() = core;
    }

    /// Looks at every thread that runs actors; true if any was active since the last look.
    fn look(core: &SystemCore, seen: &mut Seen, now: Moment) -> bool {
        let (mut active, mut blocked) = (false, false);
        for seat in core.pools().flat_map(|pool| &pool.seats) {
            blocked |= seen.look_at(core, &seat.pulse, now);
            active |= seat.pulse.actor() != 0;
        }
        for guest in guests(std::ptr::from_ref(core).addr()) {
            blocked |= seen.look_at(core, &guest, now);
            active = true;
        }
        if blocked {
            core.pools().for_each(|pool| pool.rescue());
            if let Some(abroad) = core.abroad() {
                abroad.relieve();
            }
        }
        seen.forget_the_idle(now);
        active
    }
}

impl Seen {
    /// True: the thread has been in one and the same turn since the last look.
    fn look_at(&mut self, core: &SystemCore, pulse: &Pulse, now: Moment) -> bool {
        let (turn, actor) = (pulse.turn(), pulse.actor());
        let thread = std::ptr::from_ref(pulse).addr();
        if actor == 0 {
            self.turns.remove(&thread);
            return false;
        }
        let entry = self.turns.entry(thread).or_insert(Look {
            turn,
            since: now,
            last: now,
            announced: false,
        });
        entry.last = now;
        if entry.turn != turn {
            *entry = Look {
                turn,
                since: now,
                last: now,
                announced: false,
            };
            return false;
        }
        let running = now.since(entry.since);
        if running.is_zero() {
            return false;
        }
        core.mark_slow(actor);
        if running >= core.settings().slow_handler() && !entry.announced {
            entry.announced = true;
            core.announce_slow(actor, running);
        }
        true
    }

    fn forget_the_idle(&mut self, now: Moment) {
        self.turns.retain(|_, look| look.last == now);
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
                if !busy {
                    crate::mailbox::pool::trim();
                }
                seen.next_look = now + if busy { LOOK_BUSY } else { LOOK_IDLE };
            }
            let look = seen.next_look;
            next = Some(next.map_or(look, |next| next.min(look)));
            drop(seen);
            if self.timers.are_swept() {
                next = next.min(sweep(now).or(next));
            }
        }
        next
    }
}
