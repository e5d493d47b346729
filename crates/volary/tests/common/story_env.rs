//! What a story runs on: the core's seeded environment, or a node of the simulator. Stories do not know which.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use volary::{ActorId, BoxTask, Disk, Driver, Env, Moment, Observed, SeededEnv};
use volary_testkit::sim::Node;

#[derive(Clone)]
pub struct StoryEnv {
    env: Arc<dyn Env>,
    /// How long the steps of a story take that waits for nothing.
    steps: Duration,
    looks: Arc<AtomicU64>,
}

impl StoryEnv {
    pub fn seeded(env: &SeededEnv) -> Self {
        StoryEnv {
            env: Arc::new(env.clone()),
            steps: Duration::ZERO,
            looks: Arc::default(),
        }
    }

    /// There every step takes up to 20 µs.
    pub fn simulated(node: &Node) -> Self {
        StoryEnv {
            env: node.env(),
            steps: Duration::from_millis(1),
            looks: Arc::default(),
        }
    }

    /// How often anybody has looked at the clock.
    pub fn looks(&self) -> u64 {
        self.looks.load(Relaxed)
    }

    /// Nobody has waited between the two, and time has not gone back.
    #[track_caller]
    pub fn assert_same_time(&self, expected: Moment, found: Moment, why: &str) {
        let in_time = expected <= found && found.since(expected) <= self.steps;
        assert!(in_time, "{found:?} instead of {expected:?}: {why}");
    }
}

/// All that environments of one thread answer themselves; the rest is as the trait says.
impl Env for StoryEnv {
    fn now(&self) -> Moment {
        self.looks.fetch_add(1, Relaxed);
        self.env.now()
    }
    fn wall(&self) -> SystemTime {
        self.env.wall()
    }
    fn random(&self) -> u64 {
        self.env.random()
    }
    fn spawn(&self, task: BoxTask) {
        self.env.spawn(task);
    }
    fn spawn_thread(&self, name: &str, body: Box<dyn FnOnce() + Send>) -> Option<JoinHandle<()>> {
        self.env.spawn_thread(name, body)
    }
    fn parallelism(&self) -> usize {
        self.env.parallelism()
    }
    fn tokio(&self) -> Option<tokio::runtime::Handle> {
        self.env.tokio()
    }
    fn is_simulated(&self) -> bool {
        self.env.is_simulated()
    }
    fn choose_actor(&self, ready: &mut dyn ExactSizeIterator<Item = ActorId>) -> usize {
        self.env.choose_actor(ready)
    }
    fn choose_budget(&self, most: u32) -> u32 {
        self.env.choose_budget(most)
    }
    fn choose_inline(&self) -> bool {
        self.env.choose_inline()
    }
    fn observes(&self) -> bool {
        self.env.observes()
    }
    fn observe(&self, observed: &Observed<'_>) {
        self.env.observe(observed);
    }
    fn number_system(&self) -> Option<u64> {
        self.env.number_system()
    }
    fn attach(&self, driver: Weak<dyn Driver>) -> std::io::Result<()> {
        self.env.attach(driver)
    }
    fn timer_changed(&self, next: Moment) {
        self.env.timer_changed(next);
    }
    fn disk(&self) -> Arc<dyn Disk> {
        self.env.disk()
    }
}
