//! The world of a run: tasks, nodes, time and events, on one thread, driven by one seed.
//!
//! ```text
//!   loop: what is due happens (packets, faults, timers) ─▶ one task is polled, chosen by the seed ─▶ checks
//!         nobody is ready ─▶ time jumps to what comes next ─▶ nothing comes: deadlock
//! ```
//!
//! A poll takes a little time, drawn from the seed, so that timers and packets arrive between any two of them. No lock
//! is held while code of the user or the runtime runs.

mod invariants;
mod run;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Wake, Waker};
use std::time::Duration;

use volary::{ActorSystem, BoxTask, Driver, Moment};

pub(crate) use invariants::When;

use invariants::Invariant;

use super::choice::{Chooser, Random, Strategy};
use super::clock::NodeClock;
use super::disk::Machine;
use super::env::EPOCH;
use super::interpose::Clocks;
use super::network::Network;
use super::stream::Connections;
use super::trace::{Keep, NodeNumber, Trace};

/// The longest that one poll takes.
const STEP_COST: Duration = Duration::from_micros(20);

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
