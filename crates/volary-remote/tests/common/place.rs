//! A node of a simulated network.

use std::time::Duration;

use volary::prelude::*;
use volary_core::Address;
use volary_remote::transport::Transport;
use volary_remote::{PeerReading, Remote, RemoteBuilder, RemoteOptions};
use volary_testkit::Sim;

use super::tap::Tap;
use super::{Desk, Log, desk};

pub const MS: Duration = Duration::from_millis(1);

pub struct Place {
    pub system: ActorSystem,
    pub remote: Remote,
    pub log: Log,
}

/// Times that suit the time of a run.
pub fn options() -> RemoteOptions {
    RemoteOptions::new()
        .connect_timeout(2_000 * MS)
        .backoff_first(100 * MS)
        .backoff_most(1_000 * MS)
        .heartbeat(500 * MS)
        .silence(2_000 * MS)
}

impl Place {
    /// Starts a node with a desk.
    pub async fn start(sim: &Sim, name: &str, builder: RemoteBuilder) -> Self {
        Place::start_on(sim, name, builder, sim.node(name).transport()).await
    }

    /// The same, with somebody who listens to what it says.
    pub async fn tapped(sim: &Sim, name: &str, builder: RemoteBuilder) -> (Self, Tap) {
        let tap = Tap::on(sim.node(name).transport());
        // Who listens must understand it.
        let builder = builder.compressions([]);
        (Place::start_on(sim, name, builder, tap.clone()).await, tap)
    }

    async fn start_on(sim: &Sim, name: &str, builder: RemoteBuilder, transport: impl Transport) -> Self {
        let system = sim.node(name).start().await;
        let builder = builder.kind::<Desk>().transport(transport);
        let remote = builder.start(&system, &format!("{name}:1")).await.unwrap();
        let log = Log::default();
        system.spawn(desk(&log)).named("desk").await.unwrap();
        Place { system, remote, log }
    }

    pub fn far<T: volary_core::Target>(&self, name: &str, who: &str) -> ActorRef<T> {
        let address: Address = format!("volary://{name}@{name}:1/user/{who}").parse().unwrap();
        self.remote.actor(&address).unwrap()
    }

    pub fn reading(&self) -> PeerReading {
        self.remote.peers().remove(0)
    }
}

/// Waits until something is true, in the time of the run.
pub async fn until(sim: &Sim, what: &str, condition: impl Fn() -> bool) {
    let end = sim.now() + Duration::from_secs(90);
    while !condition() {
        assert!(sim.now() < end, "never came: {what}");
        sim.sleep(10 * MS).await;
    }
}
