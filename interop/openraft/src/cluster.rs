//! A group of members, one on each node of a run.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use openraft::async_runtime::WatchReceiver;
use openraft::{BasicNode, Config, SnapshotPolicy};
use tokio::sync::oneshot;
use volary_testkit::Sim;
use volary_testkit::sim::Node;

use crate::{Log, Machine, Raft};

/// Cheap to clone: all clones are the same group.
#[derive(Clone)]
pub struct Cluster {
    sim: Sim,
    members: Arc<Mutex<BTreeMap<u64, Member>>>,
}

#[derive(Default)]
struct Member {
    log: Log,
    machine: Machine,
    /// While its node is up.
    raft: Option<Raft>,
}

/// How often one looks whether something has come true.
const LOOK: Duration = Duration::from_millis(10);
/// And for how long.
const PATIENCE: Duration = Duration::from_secs(60);

impl Cluster {
    /// Starts so many members and makes them a group.
    pub async fn start(sim: &Sim, count: u64) -> Self {
        let cluster = Cluster {
            sim: sim.clone(),
            members: Arc::default(),
        };
        for number in 1..=count {
            cluster.members().insert(number, Member::default());
            let own = cluster.clone();
            let boot = move |_| {
                let own = own.clone();
                async move { own.boot(number).await }
            };
            cluster.node(number).boot(boot).await;
        }
        let all: BTreeMap<u64, BasicNode> = (1..=count).map(|number| (number, BasicNode::default())).collect();
        let first = cluster.member(1).expect("it was started just now");
        let made = on(&cluster.node(1), async move { first.initialize(all).await }).await;
        made.expect("nobody crashes yet").expect("no group exists yet");
        cluster
    }

    /// What a node does when it starts: the log is still there, the machine is not.
    async fn boot(&self, number: u64) {
        let config = Config {
            heartbeat_interval: 100,
            election_timeout_min: 300,
            election_timeout_max: 600,
            snapshot_policy: SnapshotPolicy::Never,
            ..Config::default()
        };
        let config = Arc::new(config.validate().expect("the settings are right"));
        let machine = Machine::default();
        let log = {
            let mut members = self.members();
            let member = members.entry(number).or_default();
            member.machine = machine.clone();
            member.log.clone()
        };
        let started = Raft::new(number, config, self.clone(), log, machine);
        if let Some(raft) = on(&self.node(number), started).await {
            let raft = raft.expect("memory does not fail");
            self.members().entry(number).or_default().raft = Some(raft);
        }
    }

    fn members(&self) -> MutexGuard<'_, BTreeMap<u64, Member>> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The node of a member.
    pub fn node(&self, number: u64) -> Node {
        self.sim.node(format!("n{number}"))
    }

    /// A member whose node is up.
    pub fn member(&self, number: u64) -> Option<Raft> {
        let members = self.members();
        let raft = members.get(&number)?.raft.clone()?;
        drop(members);
        self.node(number).is_up().then_some(raft)
    }

    fn numbers(&self) -> Vec<u64> {
        self.members().keys().copied().collect()
    }

    /// Crashes the node of a member.
    pub fn crash(&self, number: u64) {
        self.node(number).crash();
        let raft = self.members().get_mut(&number).and_then(|member| member.raft.take());
        drop(raft);
    }

    /// Waits for a leader that most members follow.
    pub async fn leader(&self) -> u64 {
        let mut leader = None;
        self.eventually("a leader", || {
            let mut followers: BTreeMap<u64, usize> = BTreeMap::new();
            for raft in self.numbers().iter().filter_map(|number| self.member(*number)) {
                if let Some(leader) = raft.metrics().borrow_watched().current_leader {
                    *followers.entry(leader).or_default() += 1;
                }
            }
            let most = self.numbers().len() / 2 + 1;
            let up = |number: &u64| self.node(*number).is_up();
            leader = followers
                .into_iter()
                .find(|(number, count)| *count >= most && up(number));
            leader.is_some()
        })
        .await;
        let (leader, _) = leader.expect("it was waited for");
        self.node(leader).note("is the leader");
        leader
    }

    /// Writes a command, again and again until it is there.
    pub async fn write(&self, command: &str) {
        for _ in 0..100 {
            let leader = self.leader().await;
            let (raft, command) = (self.member(leader), command.to_owned());
            let Some(raft) = raft else { continue };
            if let Some(Ok(_)) = on(&self.node(leader), async move { raft.client_write(command).await }).await {
                return;
            }
            self.sim.sleep(LOOK).await;
        }
        self.sim.fail(format!("{command} is written nowhere"));
    }

    /// Waits until something is true.
    pub async fn eventually(&self, what: &str, mut is_true: impl FnMut() -> bool) {
        let end = self.sim.now() + PATIENCE;
        while !is_true() {
            if self.sim.now() > end {
                self.sim.fail(format!("there was never {what}"));
            }
            self.sim.sleep(LOOK).await;
        }
    }

    /// The commands that each machine has seen.
    pub fn commands(&self) -> Vec<Vec<String>> {
        self.members()
            .values()
            .map(|member| member.machine.commands())
            .collect()
    }

    /// What is in each log.
    pub fn logs(&self) -> Vec<Vec<String>> {
        self.members().values().map(|member| member.log.lines()).collect()
    }
}

/// Runs a future on a node; nothing comes of it if the node crashes.
async fn on<T: Send + 'static>(node: &Node, future: impl Future<Output = T> + Send + 'static) -> Option<T> {
    let (sender, receiver) = oneshot::channel();
    node.spawn(async move {
        let _ = sender.send(future.await);
    });
    receiver.await.ok()
}
