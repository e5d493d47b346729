//! The world of a run: tasks, nodes, time and events, on one thread, driven by one seed.
//!
//! ```text
//!   loop: what is due happens (packets, faults, timers) ─▶ one task is polled, chosen by the seed ─▶ checks
//!         nobody is ready ─▶ time jumps to what comes next ─▶ nothing comes: deadlock
//! ```
//!
//! A poll takes a little time, drawn from the seed, so that timers and packets arrive between any two of them. No lock
//! is held while code of the user or the runtime runs.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use volary::{ActorSystem, BoxTask, Driver, Moment};

use super::choice::{Chooser, Random, Strategy};
use super::clock::NodeClock;
use super::current::Here;
use super::disk::Machine;
use super::env::EPOCH;
use super::env::{Bridge, NEVER};
use super::interpose::Clocks;
use super::network::Network;
use super::stream::Connections;
use super::trace::{Keep, NodeNumber, Trace};

/// The longest that one poll takes.
const STEP_COST: Duration = Duration::from_micros(20);

/// A run that takes more is thought to go on for ever.
const MOST_STEPS: u64 = 20_000_000;

/// What a run begins with.
#[derive(Debug, Clone, Default)]
pub(crate) struct Beginning {
    pub(crate) seed: u64,
    pub(crate) strategy: Strategy,
    pub(crate) keep: Keep,
    /// Faults to be tried instead of those that the seed would draw, by their numbers.
    pub(crate) faults: Option<Vec<usize>>,
}

pub(crate) struct World {
    inner: Mutex<Inner>,
    /// Checked after every step.
    invariants: Mutex<Vec<Invariant>>,
    /// Checked when nothing is left to do but timers.
    at_rest: Mutex<Vec<Invariant>>,
    /// To be woken when somebody becomes ready while time jumps.
    jumper: Mutex<Option<Waker>>,
    pub(crate) tokio: tokio::runtime::Handle,
    pub(crate) beginning: Beginning,
}

/// When an invariant is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    EveryStep,
    AtRest,
}

struct Invariant {
    name: String,
    holds: Box<dyn FnMut() -> Result<(), String> + Send>,
}

/// An event that is due at some time.
pub(crate) type Happening = Box<dyn FnOnce(&Arc<World>) + Send>;

struct Event {
    what: Happening,
    /// Whether it is work that is not done yet; a timer otherwise.
    flies: bool,
}

pub(crate) struct Inner {
    pub(crate) now: Duration,
    pub(crate) chooser: Chooser,
    /// For faults and the network, so that they do not depend on how often others draw.
    pub(crate) chance: Random,
    tasks: BTreeMap<u64, Task>,
    next_task: u64,
    ready: Vec<u64>,
    pub(crate) nodes: Vec<NodeState>,
    events: BTreeMap<(Duration, u64), Event>,
    next_event: u64,
    /// How many events are packets and pieces of streams on their way, and not timers.
    flying: usize,
    pub(crate) network: Network,
    pub(crate) connections: Connections,
    pub(crate) trace: Trace,
    failure: Option<String>,
    pub(crate) systems: u64,
    steps: u64,
    /// The node whose task is being polled.
    pub(crate) current: Option<NodeNumber>,
    /// Faults that were planned, in words.
    pub(crate) plan: Vec<String>,
}

pub(crate) struct NodeState {
    pub(crate) name: String,
    pub(crate) incarnation: u64,
    pub(crate) up: bool,
    pub(crate) paused: bool,
    /// How many slow things of its machine it waits for: it stands still as if it were paused.
    pub(crate) busy: u32,
    pub(crate) clock: NodeClock,
    pub(crate) disk: Machine,
    drivers: Vec<Weak<dyn Driver>>,
    /// When its earliest timer is due, in world time.
    next_timer: Option<Duration>,
    /// Those who wait by its clock, to be told when it is changed.
    pub(super) sleepers: Vec<Weak<super::Bell>>,
    pub(crate) systems: Vec<ActorSystem>,
    pub(crate) boot: Option<super::node::Boot>,
}

impl NodeState {
    /// Whether nothing of it runs although it is up.
    pub(crate) fn stands_still(&self) -> bool {
        self.paused || self.busy > 0
    }
}

struct Task {
    node: Option<NodeNumber>,
    /// Not there while it is polled.
    future: Option<BoxTask>,
    waker: Waker,
    ready: bool,
}

struct TaskWaker {
    task: u64,
    world: Weak<World>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        if let Some(world) = self.world.upgrade() {
            world.make_ready(self.task);
        }
    }
}

impl World {
    pub(crate) fn new(beginning: Beginning, tokio: tokio::runtime::Handle) -> Arc<Self> {
        let seed = beginning.seed;
        Arc::new(World {
            inner: Mutex::new(Inner {
                now: Duration::ZERO,
                chooser: Chooser::new(seed, beginning.strategy),
                chance: Random::new(seed, 2),
                tasks: BTreeMap::new(),
                next_task: 1,
                ready: Vec::new(),
                nodes: Vec::new(),
                events: BTreeMap::new(),
                next_event: 0,
                flying: 0,
                network: Network::default(),
                connections: Connections::default(),
                trace: Trace::new(beginning.keep.clone()),
                failure: None,
                systems: 0,
                steps: 0,
                current: None,
                plan: Vec::new(),
            }),
            invariants: Mutex::new(Vec::new()),
            at_rest: Mutex::new(Vec::new()),
            jumper: Mutex::new(None),
            tokio,
            beginning,
        })
    }

    pub(crate) fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn now(&self) -> Duration {
        self.inner().now
    }

    /// What the clocks of a node show, or those of the world.
    pub(crate) fn clocks(&self, node: Option<NodeNumber>) -> Clocks {
        let inner = self.inner();
        let clock = node.map_or_else(NodeClock::default, |node| inner.nodes[node.0 as usize].clock);
        let calendar = EPOCH.as_nanos() as i128 + clock.calendar(inner.now);
        Clocks {
            monotonic: clock.moment(inner.now).since(Moment::ZERO),
            calendar: Duration::from_nanos(u64::try_from(calendar).unwrap_or(0)),
        }
    }

    /// Time goes by.
    pub(crate) fn pass(&self, time: Duration) {
        self.inner().now += time;
    }

    fn make_ready(&self, task: u64) {
        {
            let inner = &mut *self.inner();
            let Some(known) = inner.tasks.get_mut(&task) else {
                return;
            };
            if std::mem::replace(&mut known.ready, true) {
                return;
            }
            inner.ready.push(task);
        }
        self.wake_jumper();
    }

    fn wake_jumper(&self) {
        let waker = self.jumper.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Starts a task, on a node or outside of all.
    pub(crate) fn spawn(self: &Arc<Self>, node: Option<NodeNumber>, future: BoxTask) {
        let inner = &mut *self.inner();
        let id = inner.next_task;
        inner.next_task += 1;
        let waker = Waker::from(Arc::new(TaskWaker {
            task: id,
            world: Arc::downgrade(self),
        }));
        let task = Task {
            node,
            future: Some(future),
            waker,
            ready: true,
        };
        inner.tasks.insert(id, task);
        inner.ready.push(id);
    }

    /// Lets something happen after `delay`.
    pub(crate) fn after(&self, delay: Duration, what: Happening) {
        let inner = &mut *self.inner();
        let at = inner.now.saturating_add(delay);
        inner.at(at, what);
    }

    /// The same for work on its way: the world is not at rest before.
    pub(crate) fn arrive_after(&self, delay: Duration, what: Happening) {
        let inner = &mut *self.inner();
        let at = inner.now.saturating_add(delay);
        inner.under_way(at, what);
    }

    pub(crate) fn note(&self, node: Option<NodeNumber>, what: fmt::Arguments<'_>) {
        let inner = &mut *self.inner();
        let now = inner.now;
        inner.trace.note(now, node, None, what);
    }

    /// A node waits for something slow, and stands still meanwhile.
    pub(crate) fn hold_up(&self, node: NodeNumber, time: Duration) {
        let inner = &mut *self.inner();
        let state = inner.node_mut(node);
        let incarnation = state.incarnation;
        state.busy += 1;
        let at = inner.now.saturating_add(time);
        let go_on = move |world: &Arc<World>| {
            let inner = &mut *world.inner();
            let state = inner.node_mut(node);
            // A crash has ended all waiting.
            if state.incarnation == incarnation {
                state.busy -= 1;
                inner.release_streams();
            }
        };
        inner.under_way(at, Box::new(go_on));
    }

    /// Ends the run as a failed one.
    pub(crate) fn fail(&self, why: String) {
        let inner = &mut *self.inner();
        if inner.failure.is_none() {
            let now = inner.now;
            inner.trace.note(now, None, None, format_args!("FAILED: {why}"));
            inner.failure = Some(why);
        }
    }

    pub(crate) fn add_invariant(&self, when: When, name: String, holds: Box<dyn FnMut() -> Result<(), String> + Send>) {
        let invariant = Invariant { name, holds };
        self.invariants(when).push(invariant);
    }

    fn invariants(&self, when: When) -> MutexGuard<'_, Vec<Invariant>> {
        let place = match when {
            When::EveryStep => &self.invariants,
            When::AtRest => &self.at_rest,
        };
        place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check_invariants(&self, when: When) {
        let mut invariants = std::mem::take(&mut *self.invariants(when));
        for invariant in &mut invariants {
            if let Err(why) = (invariant.holds)() {
                let rest = match when {
                    When::EveryStep => "",
                    When::AtRest => " at rest",
                };
                self.fail(format!("`{}` does not hold{rest}: {why}", invariant.name));
                break;
            }
        }
        let mut kept = self.invariants(when);
        invariants.append(&mut kept); // some may have been added meanwhile
        *kept = invariants;
    }

    /// The driver of a system on this node wants to be called.
    pub(crate) fn attach(&self, node: NodeNumber, driver: Weak<dyn Driver>) {
        let inner = &mut *self.inner();
        inner.node_mut(node).drivers.push(driver);
    }

    pub(crate) fn timer_changed(&self, node: NodeNumber, at: Duration) {
        let state = &mut *self.inner();
        let node = state.node_mut(node);
        node.next_timer = Some(node.next_timer.map_or(at, |before| before.min(at)));
    }

    /// Drops everything that runs on a node.
    pub(crate) fn clear_node(&self, node: NodeNumber) {
        let (tasks, systems, wakers) = {
            let inner = &mut *self.inner();
            let gone: Vec<u64> = inner
                .tasks
                .iter()
                .filter(|(_, task)| task.node == Some(node))
                .map(|(id, _)| *id)
                .collect();
            let tasks: Vec<Task> = gone.iter().filter_map(|id| inner.tasks.remove(id)).collect();
            let state = inner.node_mut(node);
            state.incarnation += 1;
            state.up = false;
            state.paused = false;
            state.busy = 0;
            state.drivers.clear();
            state.next_timer = None;
            state.sleepers.clear();
            let systems = std::mem::take(&mut state.systems);
            let losses = inner.nodes[node.0 as usize].disk.crash(&mut inner.chance);
            for loss in losses {
                let now = inner.now;
                inner.trace.note(now, Some(node), None, format_args!("its disk {loss}"));
            }
            let wakers = inner.crash_connections(node);
            inner.release_streams();
            (tasks, systems, wakers)
        };
        wakers.into_iter().for_each(Waker::wake);
        tasks.into_iter().for_each(let_go);
        for system in systems {
            volary_core::__private::abandon(&system);
        }
    }

    /// Runs `main` and everything that it sets in motion until it is ready.
    pub(crate) fn run<F: Future>(self: &Arc<Self>, bridge: &Bridge, main: F) -> Result<F::Output, String> {
        let mut main = pin!(main);
        // The task number of `main`: it has no entry, so that it need not be `Send` or `'static`.
        let flag = Arc::new(MainWaker {
            ready: std::sync::atomic::AtomicBool::new(true),
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
            match self.choose(flag.ready.load(std::sync::atomic::Ordering::SeqCst)) {
                Some(Choice::Main) => {
                    flag.ready.store(false, std::sync::atomic::Ordering::SeqCst);
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
                        self.inner().can_go_on() || flag.ready.load(std::sync::atomic::Ordering::SeqCst)
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

    /// Why a run that went well says nothing: what must be true at rest was never looked at.
    fn unseen(&self, ever_rested: bool) -> Option<String> {
        let unseen = self.invariants(When::AtRest);
        let first = unseen.first().filter(|_| !ever_rested)?;
        Some(format!(
            "`{}` was never looked at: the scenario ended before everything was at rest; let it sleep at its end",
            first.name
        ))
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

    /// What is left at the end of a run goes without further ado.
    pub(crate) fn dismantle(&self) {
        let nodes = self.inner().nodes.len() as u32;
        for node in 0..nodes {
            self.clear_node(NodeNumber(node));
        }
        let (tasks, events) = {
            let inner = &mut *self.inner();
            inner.nodes.iter_mut().for_each(|node| node.boot = None);
            (std::mem::take(&mut inner.tasks), std::mem::take(&mut inner.events))
        };
        tasks.into_values().for_each(let_go);
        events.into_values().for_each(let_go);
        for when in [When::EveryStep, When::AtRest] {
            let invariants = std::mem::take(&mut *self.invariants(when));
            drop(invariants);
        }
    }
}

/// Drops what is the user's, with no lock held: a panic in it is not the world's end.
fn let_go<T>(theirs: T) {
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(theirs)));
}

enum Due {
    Event(Happening),
    Timers(NodeNumber),
}

enum Choice {
    Main,
    Task(u64, Option<NodeNumber>, BoxTask, Waker),
}

struct MainWaker {
    ready: std::sync::atomic::AtomicBool,
    world: Weak<World>,
}

impl Wake for MainWaker {
    fn wake(self: Arc<Self>) {
        self.ready.store(true, std::sync::atomic::Ordering::SeqCst);
        if let Some(world) = self.world.upgrade() {
            world.wake_jumper();
        }
    }
}

impl Inner {
    pub(crate) fn at(&mut self, at: Duration, what: Happening) {
        self.add_event(at, Event { what, flies: false });
    }

    /// Work that is on its way and arrives at `at`: the world is not at rest before.
    pub(crate) fn under_way(&mut self, at: Duration, what: Happening) {
        self.flying += 1;
        self.add_event(at, Event { what, flies: true });
    }

    fn add_event(&mut self, at: Duration, event: Event) {
        let number = self.next_event;
        self.next_event += 1;
        self.events.insert((at, number), event);
    }

    fn take_event(&mut self, key: (Duration, u64)) -> Option<Happening> {
        let event = self.events.remove(&key)?;
        self.flying -= usize::from(event.flies);
        Some(event.what)
    }

    /// Nothing is left to do but timers.
    fn is_at_rest(&self) -> bool {
        self.flying == 0 && self.ready.is_empty()
    }

    pub(crate) fn node_mut(&mut self, node: NodeNumber) -> &mut NodeState {
        &mut self.nodes[node.0 as usize]
    }

    pub(crate) fn node_name(&self, node: NodeNumber) -> &str {
        &self.nodes[node.0 as usize].name
    }

    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// Whether a task is ready on a node that does not stand still.
    fn can_go_on(&self) -> bool {
        let runs = |id: &u64| {
            let node = self.tasks.get(id).and_then(|task| task.node);
            node.is_none_or(|node| !self.nodes[node.0 as usize].stands_still())
        };
        self.ready.iter().any(runs)
    }

    /// A poll takes its time.
    fn spend(&mut self) {
        let cost = self.chooser.random().below(STEP_COST.as_nanos() as u64);
        self.now += Duration::from_nanos(cost);
    }

    /// The node whose timers are due first, if any are.
    fn due_timer(&self) -> Option<(Duration, NodeNumber)> {
        let due = |(index, node): (usize, &NodeState)| {
            let at = node.next_timer.filter(|at| *at <= self.now && !node.stands_still())?;
            Some((at, NodeNumber(index as u32)))
        };
        self.nodes.iter().enumerate().filter_map(due).min()
    }

    /// When something will be due.
    fn next_time(&self) -> Option<Duration> {
        let timers = self.nodes.iter().filter(|node| !node.stands_still());
        let timers = timers.filter_map(|node| node.next_timer);
        timers.chain(self.events.first_key_value().map(|(key, _)| key.0)).min()
    }

    pub(crate) fn new_node(&mut self, name: String) -> NodeNumber {
        self.nodes.push(NodeState {
            name,
            incarnation: 0,
            up: true,
            paused: false,
            busy: 0,
            clock: NodeClock::default(),
            disk: Machine::default(),
            drivers: Vec::new(),
            next_timer: None,
            sleepers: Vec::new(),
            systems: Vec::new(),
            boot: None,
        });
        NodeNumber(self.nodes.len() as u32 - 1)
    }
}
