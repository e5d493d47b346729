//! The loop of a run: what is due happens, one task is polled, or time jumps.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, PoisonError, Weak};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use volary::{BoxTask, Driver};

use super::super::current::Here;
use super::super::env::{Bridge, NEVER};
use super::super::trace::NodeNumber;
use super::{Happening, Inner, NodeState, When, World, let_go};

/// A run that takes more is thought to go on for ever.
const MOST_STEPS: u64 = 20_000_000;

enum Due {
    Event(Happening),
    Timers(NodeNumber),
}

enum Choice {
    Main,
    Task(u64, Option<NodeNumber>, BoxTask, Waker),
}

struct MainWaker {
    ready: AtomicBool,
    world: Weak<World>,
}

impl Wake for MainWaker {
    fn wake(self: Arc<Self>) {
        self.ready.store(true, SeqCst);
        if let Some(world) = self.world.upgrade() {
            world.wake_jumper();
        }
    }
}

impl World {
    /// Runs `main` and everything that it sets in motion until it is ready.
    pub(crate) fn run<F: Future>(self: &Arc<Self>, bridge: &Bridge, main: F) -> Result<F::Output, String> {
        let mut main = pin!(main);
        // The task number of `main`: it has no entry, so that it need not be `Send` or `'static`.
        let flag = Arc::new(MainWaker {
            ready: AtomicBool::new(true),
            world: Arc::downgrade(self),
        });
        let waker = Waker::from(flag.clone());
        // Whether this rest was looked at already, and whether there was any.
        let (mut rested, mut ever_rested) = (false, false);
        loop {
            self.let_things_happen(bridge);
            if let Some(why) = self.inner().failure.clone() {
                return Err(why);
            }
            if self.inner().steps > MOST_STEPS {
                return Err(format!(
                    "no end after {MOST_STEPS} steps: something goes round in circles"
                ));
            }
            match self.choose(flag.ready.load(SeqCst)) {
                Some(Choice::Main) => {
                    flag.ready.store(false, SeqCst);
                    let here = Here::enter(self, None);
                    let polled = main.as_mut().poll(&mut Context::from_waker(&waker));
                    drop(here);
                    if let Poll::Ready(output) = polled {
                        self.check_invariants(When::EveryStep);
                        return match self.inner().failure.clone().or_else(|| self.unseen(ever_rested)) {
                            Some(why) => Err(why),
                            None => Ok(output),
                        };
                    }
                }
                Some(Choice::Task(id, node, mut future, waker)) => {
                    let here = Here::enter(self, node);
                    let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
                    self.put_back(id, polled.is_pending().then_some(future));
                    drop(here);
                    if bridge.strays() > 0 {
                        self.report_stray(id);
                    }
                }
                None if self.inner().is_at_rest() && !std::mem::replace(&mut rested, true) => {
                    let _here = Here::enter(self, None);
                    ever_rested = true;
                    self.check_invariants(When::AtRest);
                }
                None => {
                    rested = false;
                    let ready = |waker: Option<&Waker>| {
                        *self.jumper.lock().unwrap_or_else(PoisonError::into_inner) = waker.cloned();
                        self.inner().can_go_on() || flag.ready.load(SeqCst)
                    };
                    let target = self.inner().next_time();
                    let now = bridge.jump(target.map_or(NEVER, |at| at.min(NEVER)), ready);
                    if now >= NEVER {
                        return Err(
                            "deadlock: nothing is ready, nothing is due, and the scenario still waits".to_owned(),
                        );
                    }
                    let inner = &mut *self.inner();
                    inner.now = inner.now.max(now);
                }
            }
            self.check_invariants(When::EveryStep);
        }
    }

    fn report_stray(&self, task: u64) {
        let who = {
            let inner = self.inner();
            let node = inner.tasks.get(&task).and_then(|task| task.node);
            let node = node.map_or("outside of all nodes", |node| inner.node_name(node));
            match inner.trace.lines().last().and_then(|line| line.actor) {
                Some(actor) => format!("{node}, by {} or before it", inner.trace.actor_name(actor)),
                None => node.to_owned(),
            }
        };
        self.fail(format!(
            "`tokio::spawn` was called on {who}: no seed can replay such a task; use `ctx.spawn`, or `Node::spawn`"
        ));
    }

    /// Everything whose time has come, in the order of its time.
    fn let_things_happen(self: &Arc<Self>, bridge: &Bridge) {
        bridge.follow(self.now());
        loop {
            let due = {
                let inner = &mut *self.inner();
                let timer = inner.due_timer();
                let event = inner.events.first_key_value().map(|(key, _)| *key);
                match (event, timer) {
                    (Some(key), timer) if key.0 <= inner.now && timer.is_none_or(|(at, _)| key.0 <= at) => {
                        inner.take_event(key).map(Due::Event)
                    }
                    (_, Some((_, node))) => Some(Due::Timers(node)),
                    _ => None,
                }
            };
            match due {
                Some(Due::Event(what)) => {
                    let _here = Here::enter(self, None);
                    what(self);
                }
                Some(Due::Timers(node)) => self.drive(node),
                None => return,
            }
        }
    }

    /// Fires the timers of a node that are due.
    fn drive(self: &Arc<Self>, node: NodeNumber) {
        let _here = Here::enter(self, Some(node));
        let (drivers, moment) = {
            let inner = &mut *self.inner();
            let now = inner.now;
            let state = inner.node_mut(node);
            state.next_timer = None;
            state.drivers.retain(|driver| driver.strong_count() > 0);
            let drivers: Vec<Arc<dyn Driver>> = state.drivers.iter().filter_map(Weak::upgrade).collect();
            (drivers, state.clock.moment(now))
        };
        for driver in drivers {
            if let Some(next) = driver.drive(moment) {
                let at = {
                    let inner = self.inner();
                    // Never at the same instant again, whatever the clock's rounding says.
                    inner.nodes[node.0 as usize]
                        .clock
                        .world(next)
                        .max(inner.now + Duration::from_nanos(1))
                };
                self.timer_changed(node, at);
            }
        }
    }

    fn choose(&self, main: bool) -> Option<Choice> {
        let inner = &mut *self.inner();
        loop {
            inner.steps += 1;
            let Inner {
                chooser,
                ready,
                tasks,
                nodes,
                ..
            } = inner;
            let can_run = |id: &u64| {
                tasks
                    .get(id)
                    .and_then(|task| task.node)
                    .is_none_or(|node| !nodes[node.0 as usize].stands_still())
            };
            let paused = nodes.iter().any(NodeState::stands_still);
            let candidates: Vec<u64> = if paused {
                ready.iter().copied().filter(can_run).collect()
            } else {
                Vec::new()
            };
            let among: &[u64] = if paused { &candidates } else { ready };
            let count = among.len() + usize::from(main);
            if count == 0 {
                return None;
            }
            let keys = (0..count).map(|index| among.get(index).copied().unwrap_or(0));
            let chosen = chooser.pick(keys);
            let Some(id) = among.get(chosen).copied() else {
                inner.spend();
                inner.current = None;
                return Some(Choice::Main);
            };
            if let Some(place) = ready.iter().position(|ready| *ready == id) {
                ready.swap_remove(place);
            }
            let Some(task) = tasks.get_mut(&id) else { continue };
            task.ready = false;
            if let Some(future) = task.future.take() {
                let (waker, node) = (task.waker.clone(), task.node);
                inner.current = node;
                inner.spend();
                return Some(Choice::Task(id, node, future, waker));
            }
        }
    }

    /// A task was polled: it is kept, or gone.
    fn put_back(&self, id: u64, future: Option<BoxTask>) {
        let unwanted = {
            let inner = &mut *self.inner();
            match (future, inner.tasks.get_mut(&id)) {
                (Some(future), Some(task)) => {
                    task.future = Some(future);
                    None
                }
                (None, _) => {
                    inner.tasks.remove(&id);
                    None
                }
                (Some(future), None) => Some(future), // its node is gone
            }
        };
        let_go(unwanted);
    }
}
