//! The environment of a simulated node.

mod bridge;

use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use volary::{ActorId, BoxTask, Disk, Driver, Env, Moment, Observed, What};

pub(crate) use bridge::{Bridge, NEVER};

use super::disk::SimDisk;
use super::trace::NodeNumber;
use super::world::World;

/// The calendar begins on 1 January 2030: a date that no test mistakes for the real one.
pub(crate) const EPOCH: Duration = Duration::from_secs(1_893_456_000);

/// What one incarnation of a node gives its actor systems.
#[derive(Clone)]
pub(crate) struct NodeEnv {
    pub(crate) world: Arc<World>,
    pub(crate) node: NodeNumber,
    pub(crate) incarnation: u64,
}

impl NodeEnv {
    /// Whether this incarnation of the node still runs.
    fn is_live(&self) -> bool {
        let inner = self.world.inner();
        let node = &inner.nodes[self.node.0 as usize];
        node.up && node.incarnation == self.incarnation
    }

    /// Tells actors of different nodes apart.
    fn key(&self, actor: ActorId) -> u64 {
        (u64::from(self.node.0) << 48) ^ actor.uid().get() ^ (1 << 63)
    }
}

impl Env for NodeEnv {
    fn now(&self) -> Moment {
        let inner = self.world.inner();
        inner.nodes[self.node.0 as usize].clock.moment(inner.now)
    }

    fn wall(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + self.world.clocks(Some(self.node)).calendar
    }

    fn random(&self) -> u64 {
        self.world.inner().chooser.random().next()
    }

    fn spawn(&self, task: BoxTask) {
        if self.is_live() {
            self.world.spawn(Some(self.node), task);
        }
    }

    fn spawn_thread(&self, _: &str, _: Box<dyn FnOnce() + Send>) -> Option<std::thread::JoinHandle<()>> {
        None
    }

    fn parallelism(&self) -> usize {
        1
    }

    fn tokio(&self) -> Option<tokio::runtime::Handle> {
        Some(self.world.tokio.clone())
    }

    fn is_simulated(&self) -> bool {
        true
    }

    fn choose_actor(&self, ready: &mut dyn ExactSizeIterator<Item = ActorId>) -> usize {
        let keys = ready.map(|actor| self.key(actor));
        self.world.inner().chooser.pick(keys)
    }

    /// Nobody runs an actor of a node but that node.
    fn choose_inline(&self) -> bool {
        let inner = &mut *self.world.inner();
        inner.current == Some(self.node) && inner.chooser.random().below(2) == 0
    }

    fn observes(&self) -> bool {
        true
    }

    fn observe(&self, observed: &Observed<'_>) {
        if let What::Failed { fault } = observed.what()
            && fault.to_string().contains("IO is disabled")
        {
            self.world.fail(format!(
                "{} used tokio's I/O, which no seed can replay: use a `Wire`, a `SimStream`, or what stands behind a trait of yours",
                observed.path()
            ));
        }
        let inner = &mut *self.world.inner();
        let now = inner.now;
        if !inner.nodes[self.node.0 as usize].up || inner.nodes[self.node.0 as usize].incarnation != self.incarnation {
            return; // the last sighs of a node that has crashed
        }
        let actor = inner.trace.actor(self.node, self.incarnation, observed.actor(), || {
            observed.path().to_string()
        });
        let node = Some(self.node);
        let mut note = |what: std::fmt::Arguments<'_>| inner.trace.note(now, node, Some(actor), what);
        match observed.what() {
            What::Handles { message, .. } => note(format_args!("{}", short(message))),
            What::Continues => note(format_args!("goes on")),
            What::Failed { fault } => note(format_args!("fails: {fault}")),
            What::DeadLetter { message, reason } => note(format_args!("dead letter {}: {reason}", short(message))),
            other => note(format_args!("{other:?}")),
        }
    }

    fn disk(&self) -> Arc<dyn Disk> {
        Arc::new(SimDisk::of(&self.world, self.node, self.incarnation))
    }

    fn number_system(&self) -> Option<u64> {
        let inner = &mut *self.world.inner();
        inner.systems += 1;
        Some(inner.systems)
    }

    fn attach(&self, driver: Weak<dyn Driver>) -> std::io::Result<()> {
        self.world.attach(self.node, driver);
        Ok(())
    }

    fn timer_changed(&self, next: Moment) {
        if self.is_live() {
            let at = {
                let inner = self.world.inner();
                inner.nodes[self.node.0 as usize].clock.world(next)
            };
            self.world.timer_changed(self.node, at);
        }
    }
}

/// The name of a type without the modules in front.
pub(crate) fn short(name: &str) -> &str {
    let end = name.find('<').unwrap_or(name.len());
    let start = name[..end].rfind("::").map_or(0, |at| at + 2);
    &name[start..]
}
