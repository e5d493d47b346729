//! The node of the test itself.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;
use volary::prelude::*;
use volary_core::{Address, Subscription};
use volary_remote::{PeerEvent, PeerReading, Remote, RemoteBuilder};

use crate::child::options;
use crate::counter::{Counter, LookAfter, Pen, Speaker};
use crate::program::{Child, Lines};

const PATIENCE: Duration = Duration::from_secs(40);

#[derive(Clone)]
pub(crate) struct Home {
    pub(crate) system: ActorSystem,
    pub(crate) remote: Remote,
    /// What the guard hears.
    pub(crate) heard: Lines,
    pub(crate) guard: ActorRef<Counter>,
}

/// The times that children have too, unless they are told otherwise.
pub(crate) fn quick() -> RemoteBuilder {
    lasting(700, 20_000)
}

/// In milliseconds: after which silence a connection is given up, and after which time without one the peer.
pub(crate) fn lasting(silence: u64, lost_after: u64) -> RemoteBuilder {
    let ms = Duration::from_millis;
    Remote::builder()
        .kind::<Counter>()
        .options(options(ms(silence), ms(lost_after)))
}

impl Home {
    pub(crate) async fn start(builder: RemoteBuilder) -> Self {
        Home::start_at(builder, "127.0.0.1:0").await
    }

    pub(crate) async fn start_at(builder: RemoteBuilder, at: &str) -> Self {
        let system = ActorSystem::builder("home")
            .ignore_environment()
            .settings(|s| s.log_config(false));
        let system = system.start().await.unwrap();
        let remote = builder.start(&system, at).await.unwrap();
        let heard = Lines::default();
        let written = heard.clone();
        let pen: Pen = Arc::new(move |line| written.push(line));
        let gate = Arc::new(Semaphore::new(0));
        let guard = system.spawn(move || Counter {
            name: "guard",
            pen: pen.clone(),
            gate: gate.clone(),
        });
        let guard = guard.named("guard").await.unwrap();
        Home {
            system,
            remote,
            heard,
            guard,
        }
    }

    pub(crate) fn address(&self, node: &str, name: &str) -> Address {
        format!("volary://child@{node}/user/{name}").parse().unwrap()
    }

    pub(crate) fn far<T: volary_core::Target>(&self, child: &Child, name: &str) -> ActorRef<T> {
        self.remote.actor(&self.address(&child.node, name)).unwrap()
    }

    /// The guard hears of the end of the child's speaker.
    pub(crate) async fn watch(&self, child: &Child) {
        let who = self.far::<Speaker>(child, "speaker");
        self.guard.ask(LookAfter { who }).await.unwrap();
    }

    /// Waits for a connection, so that no other is made when the child begins to speak.
    pub(crate) async fn connected(&self, child: &Child) {
        until("a connection", || self.reading(&child.node).connected).await;
    }

    pub(crate) fn events(&self) -> Subscription<PeerEvent> {
        self.system.events().subscribe::<PeerEvent>()
    }

    /// What went to a node.
    pub(crate) fn reading(&self, node: &str) -> PeerReading {
        let peers = self.remote.peers();
        peers.into_iter().find(|peer| peer.node == node).unwrap()
    }

    /// How many words of the child's speaker the guard has heard.
    pub(crate) fn heard_of(&self, child: &Child) -> usize {
        self.heard.count(&format!("h guard {} ", child.speaker()))
    }

    pub(crate) async fn stop(self) {
        self.system.stop().await.unwrap();
    }
}

/// Waits for something to become true.
pub(crate) async fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < end, "never came: {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// The first event of which this is true.
pub(crate) async fn event(events: &Subscription<PeerEvent>, what: &str, is: impl Fn(&PeerEvent) -> bool) -> PeerEvent {
    let found = async {
        loop {
            let event = events.next().await.unwrap();
            if is(&event) {
                break event;
            }
        }
    };
    soon(what, found).await
}

pub(crate) async fn soon<F: IntoFuture>(what: &str, future: F) -> F::Output {
    match tokio::time::timeout(PATIENCE, future.into_future()).await {
        Ok(output) => output,
        Err(_) => panic!("never ended: {what}"),
    }
}
