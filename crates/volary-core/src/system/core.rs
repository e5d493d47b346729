//! What every cell points to.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock, Weak};
use std::task::Waker;
use std::time::Duration;

use arc_swap::ArcSwapOption;

use crate::sync::Mutex;

use super::handle::ActorSystem;
use super::metrics::Counters;
use super::settings::Settings;
use super::shutdown::{Course, ShutdownHook};
use crate::actor::Dispatcher;
use crate::cell::{CellRef, Directory, Header, is_waker_of};
use crate::dispatch::{Elastic, Host, Pool, Ready};
use crate::env::{Driver, Env, Observed, What};
use crate::events::EventStream;
use crate::extension::Extensions;
use crate::groups::Register;
use crate::intercept::Layers;
use crate::mailbox::BLOCK_BYTES;
use crate::passivation::{Eviction, Keeper};
use crate::reference::foreign::Abroad;
use crate::reference::{ActorId, SpawnError};
use crate::scheduler::Book;
use crate::sync::atomic::{AtomicU64, Ordering::*};
use crate::telemetry::{Meter, Sources};
use crate::time::{Moment, Timers, nanos};
use crate::topics::TopicBook;
use crate::tree::{Address, Path};

/// Index of the dispatcher for blocking actors, of the pinned ones, and of the first own one.
const BLOCKING: u8 = 1;
const PINNED: u8 = 2;
const FIRST_OWN: u8 = 3;
/// How many dispatchers of the user's own there may be.
pub(super) const MAX_OWN: usize = 250;
/// The name of the parent of all stand-ins, below `/system`.
const STAND_INS: &str = "remote";

/// Every system of the process by its number, for the rare visitor that has nothing else.
static SYSTEMS: parking_lot::Mutex<BTreeMap<u32, Weak<SystemCore>>> = parking_lot::Mutex::new(BTreeMap::new());

pub(super) fn by_number(number: u32) -> Option<Arc<SystemCore>> {
    SYSTEMS.lock().get(&number)?.upgrade()
}

static NEXT_NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);

/// A number for a new system; never used again for another.
fn number_for(this: &Weak<SystemCore>) -> u32 {
    let mut systems = SYSTEMS.lock();
    let number = NEXT_NUMBER.fetch_add(1, Relaxed);
    systems.insert(number, this.clone());
    number
}

impl Drop for SystemCore {
    fn drop(&mut self) {
        SYSTEMS.lock().remove(&self.number);
    }
}

pub(crate) struct SystemCore {
    pub(crate) number: u32,
    /// This system, for handles made from within.
    pub(super) this: Weak<SystemCore>,
    pub(super) name: String,
    pub(super) settings: Settings,
    pub(super) env: Arc<dyn Env>,
    pub(super) began: Moment,
    pub(super) default_pool: Arc<Pool>,
    pub(super) blocking: Arc<Elastic>,
    pub(super) own_pools: Vec<(String, Arc<Pool>)>,
    pub(super) timers: Arc<Timers>,
    pub(super) directory: Directory,
    schedules: Book,
    groups: Register,
    pub(super) events: EventStream,
    topics: TopicBook,
    pub(super) counters: Counters,
    pub(super) guardians: ArcSwapOption<Guardians>,
    pub(super) stopping: super::stop::Stopping,
    pub(super) keeper: Keeper,
    pub(super) shutdown: super::shutdown::Shutdown,
    pub(super) dead_letter_log: super::reports::RateLimit,
    pub(super) pinned: Mutex<Vec<Arc<Elastic>>>,
    pub(super) driver: Mutex<Option<Arc<dyn Driver>>>,
    blocks: Blocks,
    /// What a drain takes at least, if a signal began the stop; nanoseconds.
    least_drain: AtomicU64,
    around: Around,
    /// How actors of other nodes are found.
    abroad: OnceLock<Arc<dyn Abroad>>,
    /// Who has figures of their own.
    sources: Sources,
    /// Held while the parent of stand-ins is made.
    making_stand_ins: Mutex<()>,
    /// Somebody looks at what actors do.
    observed: bool,
    /// One seed decides everything.
    simulated: bool,
    block_limit: u64,
    ask_patience: u64,
    high_water: u64,
}

/// Blocks that mailboxes hold. On a line of its own: what lies around it is read for every message.
#[derive(Default)]
#[repr(align(128))]
struct Blocks(AtomicU64);

/// Looked at by everybody who spawns, so not under a lock.
pub(super) struct Guardians {
    pub(super) root: CellRef,
    pub(super) user: CellRef,
    pub(super) system: CellRef,
}

/// What a core is made of.
pub(super) struct Parts {
    pub(super) name: String,
    pub(super) settings: Settings,
    pub(super) env: Arc<dyn Env>,
    pub(super) default_pool: Arc<Pool>,
    pub(super) blocking: Arc<Elastic>,
    pub(super) own_pools: Vec<(String, Arc<Pool>)>,
    pub(super) timers: Arc<Timers>,
    pub(super) eviction: Option<Eviction>,
    pub(super) course: Course<ShutdownHook>,
    pub(super) around: Around,
}

/// What stands around messages and actors.
pub(super) struct Around {
    pub(super) layers: Layers,
    pub(super) meter: Option<Meter>,
    pub(super) extensions: Extensions,
}

impl SystemCore {
    /// The stop that comes lets actors do the work they have, whatever the setting says.
    pub(super) fn drain_for(&self, time: Duration) {
        self.least_drain.store(nanos(time), Relaxed);
    }

    /// How long the stop waits for actors to do the work they have.
    pub(super) fn drain_time(&self) -> Duration {
        let least = Duration::from_nanos(self.least_drain.load(Relaxed));
        self.settings.drain_timeout().max(least)
    }

    /// Whether somebody looks at every message of this system when it is sent: layers; or the meter in a simulation,
    /// where a thread runs one after the other, and what it has counted in one must not be seen in the next.
    pub(crate) fn looks_at_sending(&self) -> bool {
        !self.around.layers.is_empty() || self.simulated && self.is_measured()
    }

    /// Whether threads that send count for the meter.
    pub(crate) fn measures_sending(&self) -> bool {
        !self.simulated && self.is_measured()
    }

    fn is_measured(&self) -> bool {
        self.meter().is_some_and(|meter| meter.every() != 0)
    }

    pub(crate) fn layers(&self) -> &Layers {
        &self.around.layers
    }

    /// The actors right below `/user`.
    pub(crate) fn user_actors(&self) -> Vec<CellRef> {
        self.guardians()
            .map_or_else(Vec::new, |guardians| guardians.user.children())
    }

    #[inline]
    pub(crate) fn meter(&self) -> Option<&Meter> {
        self.around.meter.as_ref()
    }

    pub(crate) fn sources(&self) -> &Sources {
        &self.sources
    }

    pub(crate) fn extensions(&self) -> &Extensions {
        &self.around.extensions
    }

    #[inline]
    pub(crate) fn is_observed(&self) -> bool {
        self.observed
    }

    /// Shows what happens to an actor, if anybody looks.
    #[inline]
    pub(crate) fn show(&self, cell: &Header, what: What<'_>) {
        let tapped = cell.log.is_layered();
        if !self.observed && !tapped {
            return;
        }
        let observed = Observed {
            actor: ActorId::of(cell.id),
            path: &|| cell.path(),
            what,
        };
        if self.observed {
            self.env.observe(&observed);
        }
        if tapped {
            cell.tell_tap(observed.what());
        }
    }

    pub(crate) fn keeper(&self) -> &Keeper {
        &self.keeper
    }

    pub(super) fn new(parts: Parts, this: Weak<SystemCore>) -> Self {
        let limit = parts.settings.mailbox_budget().bytes();
        let number = number_for(&this);
        let ids = parts.env.number_system().unwrap_or(u64::from(number));
        SystemCore {
            number,
            this,
            name: parts.name,
            began: parts.env.now(),
            default_pool: parts.default_pool,
            blocking: parts.blocking,
            own_pools: parts.own_pools,
            timers: parts.timers,
            directory: Directory::new(ids, parts.env.wall()),
            schedules: Book::new(),
            groups: Register::default(),
            events: EventStream::default(),
            topics: TopicBook::default(),
            counters: Counters::default(),
            guardians: ArcSwapOption::empty(),
            stopping: super::stop::Stopping::default(),
            keeper: Keeper::new(parts.eviction),
            shutdown: super::shutdown::Shutdown::new(parts.course),
            dead_letter_log: super::reports::RateLimit::new(parts.settings.dead_letter_log()),
            pinned: Mutex::new(Vec::new()),
            driver: Mutex::new(None),
            blocks: Blocks::default(),
            least_drain: AtomicU64::new(0),
            around: parts.around,
            abroad: OnceLock::new(),
            sources: Sources::default(),
            making_stand_ins: Mutex::new(()),
            observed: parts.env.observes(),
            simulated: parts.env.is_simulated(),
            block_limit: if limit == 0 {
                u64::MAX
            } else {
                (limit / BLOCK_BYTES).max(1)
            },
            ask_patience: nanos(parts.settings.ask_timeout()),
            high_water: parts.settings.mailbox_high_water() as u64,
            settings: parts.settings,
            env: parts.env,
        }
    }

    pub(crate) fn handle(&self) -> ActorSystem {
        match self.this.upgrade() {
            Some(core) => ActorSystem::from_core(core),
            None => unreachable!("a cell keeps its system"),
        }
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(crate) fn env(&self) -> &Arc<dyn Env> {
        &self.env
    }

    /// The stop is over, and with it whatever time would bring about.
    pub(crate) fn has_ended(&self) -> bool {
        self.stopping.has_ended()
    }

    pub(crate) fn timers(&self) -> &Timers {
        &self.timers
    }

    pub(crate) fn directory(&self) -> &Directory {
        &self.directory
    }

    pub(crate) fn schedules(&self) -> &Book {
        &self.schedules
    }

    pub(crate) fn topics(&self) -> &TopicBook {
        &self.topics
    }

    pub(crate) fn groups(&self) -> &Register {
        &self.groups
    }

    pub(crate) fn events(&self) -> &EventStream {
        &self.events
    }

    #[inline]
    pub(crate) fn now(&self) -> Moment {
        self.env.now()
    }

    #[inline]
    pub(crate) fn ask_patience(&self) -> u64 {
        self.ask_patience
    }

    pub(crate) fn send_patience(&self) -> Duration {
        Duration::from_nanos(self.ask_patience)
    }

    pub(crate) fn high_water(&self) -> u64 {
        self.high_water
    }

    /// Grants blocks to a mailbox, all of them within the budget or none.
    pub(crate) fn take_blocks(&self, count: u64) -> bool {
        if count > 1 {
            // Not even for a moment more than there is, or who wants one meanwhile would be refused.
            let within = |taken: u64| taken.checked_add(count).filter(|sum| *sum <= self.block_limit);
            return self.blocks.0.fetch_update(Relaxed, Relaxed, within).is_ok();
        }
        if self.blocks.0.fetch_add(1, Relaxed) < self.block_limit {
            return true;
        }
        self.blocks.0.fetch_sub(1, Relaxed);
        false
    }

    /// Takes a block for something that no budget applies to.
    pub(crate) fn take_block_unasked(&self) {
        self.blocks.0.fetch_add(1, Relaxed);
    }

    pub(crate) fn give_blocks(&self, count: u64) {
        self.blocks.0.fetch_sub(count, Relaxed);
    }

    pub(crate) fn blocks(&self) -> u64 {
        self.blocks.0.load(Relaxed)
    }

    pub(crate) fn default_pool(&self) -> &Arc<Pool> {
        &self.default_pool
    }

    /// Queues a scheduled actor with its dispatcher.
    #[inline]
    pub(crate) fn schedule(&self, cell: &Header) {
        let ready = cell.raw().as_ptr().cast_const();
        match cell.dispatcher {
            0 => self.default_pool.schedule(ready),
            BLOCKING => self.schedule_apart(&self.blocking, ready),
            PINNED => match cell.extras_if_any().and_then(|extras| extras.own_dispatcher.as_ref()) {
                Some(thread) => self.schedule_apart(thread, ready),
                None => self.default_pool.schedule(ready),
            },
            own => match self.own_pools.get(usize::from(own - FIRST_OWN)) {
                Some((_, pool)) => pool.schedule(ready),
                None => unreachable!("the index was checked at birth"),
            },
        }
    }

    fn schedule_apart(&self, threads: &Arc<Elastic>, ready: Ready) {
        let left = threads.schedule(ready);
        left.into_iter().for_each(|ready| self.default_pool.schedule(ready));
    }

    /// Whether actors of this dispatcher run on threads that no others have.
    #[inline]
    pub(crate) fn has_own_thread(&self, dispatcher: u8) -> bool {
        matches!(dispatcher, BLOCKING | PINNED)
    }

    /// Whether askers, who wait with that waker, and spawners may run actors of this dispatcher where they stand.
    #[inline]
    pub(crate) fn runs_inline(&self, dispatcher: u8, host: &Host, task: Option<&Waker>) -> bool {
        if self.simulated {
            return self.env.choose_inline();
        }
        let pool = match dispatcher {
            0 => &self.default_pool,
            BLOCKING | PINNED => return false,
            own => &self.own_pools[usize::from(own - FIRST_OWN)].1,
        };
        let of_worker = host
            .worker()
            .is_some_and(|worker| Arc::ptr_eq(&worker.pool, pool) || worker.pool.shares_executor_with(pool));
        // A handler may enter another runtime and wait there; what it waits with is not its own waker then. A spawn shows none, and a
        // worker's word is taken for it.
        if of_worker && task.is_none_or(|task| is_waker_of(task, host.ambient().actor)) {
            return true;
        }
        !pool.is_elsewhere() && self.env.is_here()
    }

    pub(crate) fn dispatcher_index(&self, dispatcher: &Dispatcher) -> Result<u8, SpawnError> {
        if self.env.is_simulated() {
            // One thread and one seed: blocking and pinned actors run with all the others.
            return Ok(0);
        }
        match dispatcher {
            Dispatcher::Default => Ok(0),
            Dispatcher::Blocking => Ok(BLOCKING),
            Dispatcher::Pinned => Ok(PINNED),
            Dispatcher::Named(name) => self
                .own_pools
                .iter()
                .position(|(own, _)| own == name)
                .and_then(|at| u8::try_from(at).ok())
                .map(|at| at + FIRST_OWN)
                .ok_or_else(|| {
                    let known: Vec<&str> = ["default", "blocking", "pinned"]
                        .into_iter()
                        .chain(self.own_pools.iter().map(|(n, _)| n.as_str()))
                        .collect();
                    SpawnError::UnknownDispatcher {
                        name: name.clone(),
                        known: known.join(", "),
                    }
                }),
        }
    }

    /// A thread for one pinned actor; none in simulation.
    pub(crate) fn pinned_thread(&self) -> Option<Arc<Elastic>> {
        if self.env.is_simulated() {
            return None;
        }
        let budget = self.settings.throughput() as u32;
        let thread = Elastic::new(self.env.clone(), "volary-pinned".to_owned(), 1, None, budget);
        let mut pinned = self.pinned.lock();
        // One whose actor was refused was never closed.
        pinned.retain(|thread| !thread.is_gone() && !thread.is_left());
        pinned.push(thread.clone());
        Some(thread)
    }

    /// How many threads are listed for pinned actors.
    #[cfg(test)]
    pub(crate) fn pinned_threads(&self) -> usize {
        self.pinned.lock().len()
    }

    /// The deadline of the request that this thread serves, stamping it if nobody has; 0 if none.
    #[inline]
    pub(crate) fn current_deadline(&self, host: &Host) -> u64 {
        let (deadline, patience) = host.time_given();
        if deadline | patience == 0 || deadline != 0 && host.is_asked() {
            return deadline;
        }
        self.find_deadline(host)
    }

    /// The same for a message that is sent from here. It is looked at the clock once for each message that is handled, and not for each
    /// that is sent: whoever handles that looks anew.
    #[inline]
    pub(crate) fn carried_deadline(&self, host: &Host) -> u64 {
        let (deadline, patience) = host.time_given();
        if deadline | patience == 0 || deadline != 0 && (host.is_asked() || host.has_looked()) {
            return deadline;
        }
        let deadline = self.find_deadline(host);
        host.set_looked();
        deadline
    }

    #[cold]
    #[inline(never)]
    fn find_deadline(&self, host: &Host) -> u64 {
        let (mut deadline, patience) = host.time_given();
        let now = self.now().nanos();
        if deadline == 0 && patience != 0 {
            deadline = now.saturating_add(patience);
            host.set_suspended_at(now);
        }
        if !host.is_asked() && now >= deadline {
            // Work that was begun by a request and outlives it is on its own from now on.
            deadline = 0;
        }
        host.set_request(deadline, 0, host.is_asked());
        deadline
    }

    pub(crate) fn time_left(&self) -> Option<Duration> {
        let deadline = Host::with(|host| self.current_deadline(host)).unwrap_or(0);
        (deadline != 0).then(|| Moment::from_nanos(deadline).since(self.now()))
    }

    pub(crate) fn address_of(&self, cell: &CellRef) -> Address {
        if let Some(foreign) = cell.foreign() {
            return foreign.address.clone();
        }
        match Address::local(&self.name, cell.path()) {
            Ok(address) => address.with_uid(ActorId::of(cell.id).uid()),
            Err(_) => unreachable!("name and path were checked when they were made"),
        }
    }

    /// Whoever lives at a path now.
    pub(crate) fn find(&self, path: &Path) -> Option<CellRef> {
        let guardians = self.guardians()?;
        path.segments()
            .try_fold(guardians.root.clone(), |cell, name| cell.child(name))
    }

    /// The pools of workers: the default one, and the user's own.
    pub(super) fn pools(&self) -> impl Iterator<Item = &Arc<Pool>> {
        std::iter::once(&self.default_pool).chain(self.own_pools.iter().map(|(_, pool)| pool))
    }

    pub(crate) fn set_abroad(&self, abroad: Arc<dyn Abroad>) -> bool {
        self.abroad.set(abroad).is_ok()
    }

    pub(crate) fn abroad(&self) -> Option<&Arc<dyn Abroad>> {
        self.abroad.get()
    }

    /// The parent of all stand-ins; `None` while the system stops.
    pub(crate) fn stand_ins(&self) -> Option<CellRef> {
        let system = self.guardians()?.system.clone();
        if let Some(parent) = system.child(STAND_INS) {
            return Some(parent);
        }
        let _making = self.making_stand_ins.lock();
        match system.child(STAND_INS) {
            Some(parent) => Some(parent),
            None => super::builder::raise_guardian(self, &system, STAND_INS),
        }
    }

    /// How many cells are there for actors elsewhere.
    pub(super) fn stand_in_count(&self) -> usize {
        let parent = self.guardians().and_then(|guardians| guardians.system.child(STAND_INS));
        parent.map_or(0, |parent| 1 + parent.child_count())
    }

    pub(super) fn guardians(&self) -> Option<Arc<Guardians>> {
        self.guardians.load_full()
    }
}
