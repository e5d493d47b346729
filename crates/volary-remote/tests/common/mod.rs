//! What the tests share: an actor that other nodes may speak to, and pairs of nodes.
#![allow(
    dead_code,
    unreachable_pub,
    missing_docs,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "each file uses its part, in tests only"
)]

pub mod journal;
pub mod place;
pub mod stranger;
pub mod stubborn;
pub mod tap;

use std::future::IntoFuture;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use volary::prelude::*;
use volary_core::Address;
use volary_remote::transport::Memory;
use volary_remote::{PeerReading, Remote, RemoteBuilder, RemoteOptions};

pub const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Debug, PartialEq, Serialize, Deserialize, Rejection)]
#[rejection(codec = postcard)]
pub struct Refused(pub u32);

/// Writes down what it gets.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub fn push(&self, what: impl ToString) {
        self.0.lock().unwrap().push(what.to_string());
    }
    pub fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
    pub fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

pub struct Desk {
    pub log: Log,
    pub count: u64,
}

#[actor(
    kind = "test.Desk",
    remote(Note, Long, Fail, Refuse, Nap, Echo, Tell, Forget, WhoAsks, Word)
)]
impl Desk {
    #[message(remote = "test.Note", codec = postcard, derive(Debug, Clone, Serialize, Deserialize))]
    pub fn note(&mut self, number: u64) -> u64 {
        self.log.push(number);
        self.count += 1;
        self.count
    }

    /// A note that is too large to go in one piece.
    #[message(remote = "test.Long", codec = postcard, derive(Clone, Serialize, Deserialize))]
    pub fn long(&mut self, number: u64, padding: Vec<u8>) {
        assert_eq!(padding.len(), PADDING);
        self.log.push(number);
    }

    #[message(remote = "test.Fail", codec = postcard, derive(Serialize, Deserialize))]
    pub fn fail(&mut self, code: u32) -> Result<u64, Fault> {
        Err(Fault::msg(format!("failed with {code}")))
    }

    #[message(remote = "test.Refuse", codec = postcard, derive(Serialize, Deserialize))]
    pub fn refuse(&mut self, code: u32) -> Result<u64, Refused> {
        Err(Refused(code))
    }

    #[message(remote = "test.Nap", codec = postcard, derive(Serialize, Deserialize))]
    pub async fn nap(&mut self, millis: u64, ctx: &mut Context<Self>) -> u64 {
        self.log.push("napping");
        ctx.sleep(Duration::from_millis(millis)).await;
        self.log.push("napped");
        millis
    }

    #[message(remote = "test.Echo", codec = postcard, derive(Serialize, Deserialize))]
    pub fn echo(&mut self, bytes: Vec<u8>) -> Vec<u8> {
        bytes
    }

    /// Passes a note on to somebody, wherever they are.
    #[message(remote = "test.Tell", codec = postcard, derive(Serialize, Deserialize))]
    pub fn tell(&mut self, to: Recipient<Note>, number: u64) -> bool {
        to.tell(Note { number }).is_ok()
    }

    #[message(remote = "test.Forget", codec = postcard, derive(Serialize, Deserialize))]
    pub fn forget(&mut self, reply: ReplyTo<u64>) {
        drop(reply);
    }

    #[message(remote = "test.WhoAsks", codec = postcard, derive(Serialize, Deserialize))]
    pub fn who_asks(&mut self, ctx: &mut Context<Self>) -> Option<String> {
        let sender = ctx.sender()?;
        Some(ctx.system().path_of(sender)?.to_string())
    }

    #[message(remote = "test.Word", codec = postcard, derive(Serialize, Deserialize))]
    pub fn word(&mut self) -> Option<String> {
        let baggage = volary_core::Baggage::current();
        Some(String::from_utf8_lossy(baggage.header("word")?).into_owned())
    }

    /// Not for other nodes.
    pub fn secret(&mut self) -> u64 {
        7
    }
}

const PADDING: usize = 100_000;

impl Long {
    pub fn of(number: u64) -> Self {
        let padding = vec![0; PADDING];
        Long { number, padding }
    }
}

/// Answers nobody, and forgets nobody.
#[derive(Default)]
pub struct Hoarder(Vec<ReplyTo<u64>>);

#[actor(kind = "test.Hoarder", remote(Hoard))]
impl Hoarder {
    #[message(remote = "test.Hoard", codec = postcard, derive(Serialize, Deserialize))]
    pub fn hoard(&mut self, reply: ReplyTo<u64>) {
        self.0.push(reply);
    }
}

pub fn desk(log: &Log) -> impl Fn() -> Desk + Send + Sync + Clone + use<> {
    let log = log.clone();
    move || Desk {
        log: log.clone(),
        count: 0,
    }
}

pub struct Node {
    pub system: ActorSystem,
    pub remote: Remote,
    pub log: Log,
}

pub fn builder() -> RemoteBuilder {
    Remote::builder().kind::<Desk>().options(options())
}

pub fn options() -> RemoteOptions {
    RemoteOptions::new()
        .backoff_first(Duration::from_millis(20))
        .backoff_most(Duration::from_millis(200))
}

impl Node {
    pub async fn start(name: &str, builder: RemoteBuilder) -> Self {
        Node::start_at(name, builder, "127.0.0.1:0").await
    }

    pub async fn start_at(name: &str, builder: RemoteBuilder, at: &str) -> Self {
        let system = ActorSystem::builder(name)
            .ignore_environment()
            .settings(|s| s.log_config(false))
            .start()
            .await
            .unwrap();
        let remote = builder.start(&system, at).await.unwrap();
        Node {
            system,
            remote,
            log: Log::default(),
        }
    }

    pub async fn desk(&self, name: &str) -> ActorRef<Desk> {
        self.system.spawn(desk(&self.log)).named(name).await.unwrap()
    }

    /// The address of an actor by its name, without its uid.
    pub fn address(&self, name: &str) -> Address {
        let text = format!("volary://{}@{}/user/{name}", self.system.name(), self.remote.node());
        text.parse().unwrap()
    }

    /// A reference to an actor of another node.
    pub fn far(&self, other: &Node, name: &str) -> ActorRef<Desk> {
        self.remote.actor(&other.address(name)).unwrap()
    }
}

/// What a node that knows one other has to say of it.
pub fn reading(node: &Node) -> PeerReading {
    node.remote.peers().remove(0)
}

/// The end of a test with two nodes.
pub async fn stop(one: Node, other: Node) {
    one.system.stop().await.unwrap();
    other.system.stop().await.unwrap();
}

/// Two nodes over TCP.
pub async fn pair() -> (Node, Node) {
    (
        Node::start("one", builder()).await,
        Node::start("other", builder()).await,
    )
}

/// Two nodes of one process.
pub async fn near_pair() -> (Node, Node) {
    let network = Memory::default();
    let one = Node::start_at("one", builder().transport(network.clone()), "127.0.0.1:0").await;
    let other = Node::start_at("other", builder().transport(network), "127.0.0.1:0").await;
    (one, other)
}

pub async fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < until, "never came: {what}");
        tokio::task::yield_now().await;
    }
}

pub async fn soon<F: IntoFuture>(what: &str, future: F) -> F::Output {
    match tokio::time::timeout(PATIENCE, future.into_future()).await {
        Ok(output) => output,
        Err(_) => panic!("never ended: {what}"),
    }
}
