//! Volary, actors on worker futures hosted by the caller's tokio runtime.
//!
//! Choices:
//! - Features and settings: the defaults, sender and deadline on.
//! - Runtime: the same two-worker tokio runtime as the other peers; the workers of
//!   Volary's dispatcher are tasks on it. `ask/same-thread` runs on one
//!   current-thread runtime, `ask/cross-thread` pins the target to a thread.
//! - Tell: `ActorRef::tell`; ask: `ActorRef::ask` with the default deadline of 5 s;
//!   waiting for room: `ActorRef::send`.
//! - Mailbox: unbounded, the default; `MailboxKind::Bounded` for `tell/bounded`.
//! - Handlers without an await are plain `fn`, the others `async fn`.
//! - Registry: the name given when spawning.
//! - Timers: `Scheduler::once` and `Schedule::cancel`.
//! - skynet: nodes are children of their parents, as the tree suggests.
//! - `tell/deadline` is `tell` in a handler that was asked, so that messages carry its deadline.
//! - `tell/telemetry` and `ask/telemetry` are `tell` and `ask` with one message in a hundred measured.
//! - Faults, stash, passivation and routers: see `restart.rs`, `stash.rs`,
//!   `passivation.rs`, `router.rs`; the simulator: `sim.rs`; between two processes: `remote.rs`.

mod actors;
mod passivation;
mod publish;
mod remote;
mod restart;
mod router;
#[cfg(feature = "sim")]
mod sim;
mod skynet;
mod stash;
mod stream;

use std::future::Future;
use std::net::TcpStream as StdStream;
use std::sync::Mutex;
use std::time::Duration;

use futures::executor::block_on;
use tokio::net::TcpStream;
use volary::prelude::*;

use crate::contender::{Bench, Case, Contender, Duet, Pass, Role};
use crate::host::Host;
use crate::latch::{LAST, Latch};
use crate::peer::{PAUSE, Peer, Work};
use crate::programs;

use actors::{Add, Ball, Echo, Job, Keep, Link, Meet, Nap, Player, Put, Run, Sink, Sleeper, Store, Trip};

/// Volary's row of the table.
pub const CONTENDER: Contender = Contender {
    name: "volary",
    role: Role::Subject,
    bench,
};

fn bench(workload: &str) -> Option<Bench> {
    #[cfg(feature = "sim")]
    if let Some(bench) = sim::bench(workload) {
        return Some(bench);
    }
    measured(workload)
        .or_else(|| Duet::of::<remote::Node>(workload))
        .or_else(|| programs::restart::bench::<Volary>(workload))
        .or_else(|| programs::stash::bench::<Volary>(workload))
        .or_else(|| programs::router::bench::<Volary>(workload))
        .or_else(|| programs::passivation::bench::<Volary>(workload))
        .or_else(|| programs::publish::topic::<Volary>(workload))
        .or_else(|| programs::publish::events::<Volary>(workload))
        .or_else(|| programs::stream::bench::<Volary>(workload))
        .or_else(|| programs::bench::<Volary>(workload))
}

/// What only makes sense where messages can be measured, or have a deadline.
fn measured(workload: &str) -> Option<Bench> {
    match workload {
        "tell/deadline" => Some(Bench::Throughput(tell_under_a_request)),
        "tell/telemetry" => Some(Bench::Throughput(programs::tell::tell::<Volary>)),
        "ask/telemetry" => Some(Bench::Throughput(programs::ask::ask::<Volary>)),
        _ => None,
    }
}

/// As `tell`, for somebody who waits for an hour at most.
fn tell_under_a_request(case: &Case) -> Pass {
    let peer = Volary::start(case);
    let latch = Latch::leaked();
    let (sender, sink) = block_on(async { (peer.job(0).await, peer.sink(1, latch).await) });
    Box::new(move |count| {
        latch.arm(1);
        let (sink, sender) = (sink.clone(), sender.clone());
        peer.task(0, async move {
            let work: Work = Box::pin(async move { programs::tell::tell_all::<Volary>(&sink, count) });
            let answered = sender.ask(Run { work }).timeout(Duration::from_secs(3_600)).await;
            answered.expect("the actor lives");
        });
        latch.wait();
    })
}

/// Volary on its tokio runtime.
pub struct Volary {
    host: Host,
    system: ActorSystem,
    /// Slot 1 gets a thread of its own.
    apart: bool,
}

impl Volary {
    fn dispatcher(&self, slot: usize) -> Dispatcher {
        if self.apart && slot == 1 { Dispatcher::Pinned } else { Dispatcher::Default }
    }
}

impl Peer for Volary {
    type Job = ActorRef<Job>;
    type Sink = ActorRef<Sink>;
    type Bounded = ActorRef<Sink>;
    type Echo = ActorRef<Echo>;
    type Store = ActorRef<Store>;
    type Player = ActorRef<Player>;
    type Link = ActorRef<Link>;
    type Sleeper = ActorRef<Sleeper>;

    fn start(case: &Case) -> Self {
        let host = Host::start(case);
        let entered = host.handle(0).enter();
        let mut builder = ActorSystem::builder("bench");
        if case.workload.ends_with("/telemetry") {
            builder = builder.telemetry(volary::Telemetry::sampled(0.01));
        }
        let system = builder.start_now().expect("a system");
        drop(entered);
        Self { host, system, apart: case.workload == "ask/cross-thread" }
    }

    fn task(&self, slot: usize, work: impl Future<Output = ()> + Send + 'static) {
        self.host.handle(slot).spawn(work);
    }

    async fn job(&self, slot: usize) -> ActorRef<Job> {
        self.system.spawn(|| Job).dispatcher(self.dispatcher(slot)).await.expect("a job")
    }

    fn run(job: &ActorRef<Job>, work: Work) {
        job.tell(Run { work }).expect("the actor lives");
    }

    async fn sink(&self, _: usize, latch: &'static Latch) -> ActorRef<Sink> {
        self.system.spawn(move || Sink::new(latch)).await.expect("a sink")
    }

    fn tell(sink: &ActorRef<Sink>, value: u64) {
        sink.tell(Put { value }).expect("the actor lives");
    }

    async fn bounded(&self, _: usize, capacity: usize, latch: &'static Latch) -> ActorRef<Sink> {
        let mailbox = MailboxKind::Bounded(capacity);
        self.system.spawn(move || Sink::new(latch)).mailbox(mailbox).await.expect("a sink")
    }

    async fn tell_waiting(sink: &ActorRef<Sink>, value: u64) {
        sink.send(Put { value }).await.expect("the actor lives");
    }

    async fn echo(&self, slot: usize) -> ActorRef<Echo> {
        self.system.spawn(|| Echo { sum: 0 }).dispatcher(self.dispatcher(slot)).await.expect("an echo")
    }

    async fn ask(echo: &ActorRef<Echo>, value: u64) -> u64 {
        echo.ask(Add { value }).await.expect("a reply")
    }

    fn poke(echo: &ActorRef<Echo>, value: u64) {
        echo.tell(Add { value }).expect("the actor lives");
    }

    async fn store(&self, _: usize) -> ActorRef<Store> {
        self.system.spawn(|| Store).await.expect("a store")
    }

    async fn ask_bytes(store: &ActorRef<Store>, bytes: Vec<u8>) -> Vec<u8> {
        store.ask(Keep { bytes }).await.expect("a reply")
    }

    async fn players(&self, _: usize, latch: &'static Latch) -> ActorRef<Player> {
        let first = self.system.spawn(move || Player { other: None, latch }).await.expect("a player");
        let other = first.clone();
        let second = self
            .system
            .spawn(move || Player { other: Some(other.clone()), latch })
            .await
            .expect("a player");
        first.tell(Meet { other: second }).expect("the actor lives");
        first
    }

    fn serve(player: &ActorRef<Player>, ball: u64) {
        player.tell(Ball { left: ball }).expect("the actor lives");
    }

    async fn link(&self, _: usize, stream: StdStream) -> ActorRef<Link> {
        let entered = self.host.handle(0).enter();
        let stream = Mutex::new(Some(TcpStream::from_std(stream).expect("stream")));
        drop(entered);
        let factory = move || Link {
            stream: stream.lock().expect("stream lock").take().expect("started once"),
        };
        self.system.spawn(factory).await.expect("a link")
    }

    async fn round_trip(link: &ActorRef<Link>, value: u64) -> u64 {
        link.ask(Trip { value }).await.expect("a reply")
    }

    async fn sleeper(&self, _: usize, latch: &'static Latch) -> ActorRef<Sleeper> {
        self.system.spawn(move || Sleeper(latch)).await.expect("a sleeper")
    }

    async fn nap(sleeper: &ActorRef<Sleeper>, time: Duration) {
        sleeper.ask(Nap { time }).await.expect("a reply");
    }

    async fn sleepers(&self, count: u64, time: Duration, latch: &'static Latch) {
        let system = self.system.clone();
        let work = async move {
            for _ in 0..count {
                let sleeper = system.spawn(move || Sleeper(latch)).await.expect("a sleeper");
                sleeper.tell(Nap { time }).expect("the actor lives");
            }
        };
        self.host.at(0, work).await;
    }

    async fn set_timers(&self, sink: &ActorRef<Sink>, count: u64, delay: Duration) {
        let (scheduler, sink) = (self.system.scheduler(), sink.clone());
        let work = async move {
            for _ in 0..count {
                scheduler.once(delay).tell(&sink, Put { value: LAST }).expect("the system lives");
            }
        };
        self.host.at(0, work).await;
    }

    async fn set_and_cancel(&self, sink: &ActorRef<Sink>, count: u64, delay: Duration) {
        let (scheduler, sink) = (self.system.scheduler(), sink.clone());
        let work = async move {
            for number in 0..count {
                let timer = scheduler.once(delay).tell(&sink, Put { value: LAST }).expect("the system lives");
                timer.cancel();
                if number % PAUSE == 0 {
                    Self::pause().await;
                }
            }
        };
        self.host.at(0, work).await;
    }

    async fn named_sinks(&self, first: u64, count: u64, latch: &'static Latch) {
        let system = self.system.clone();
        let work = move |from, to| {
            let system = system.clone();
            async move {
                let mut sinks = Vec::with_capacity((to - from) as usize);
                for index in from..to {
                    let spawned = system.spawn(move || Sink::new(latch)).named(format!("sink-{index}")).await;
                    sinks.push(spawned.expect("a new name"));
                }
                for sink in &sinks {
                    Self::tell(sink, LAST);
                }
            }
        };
        self.host.shared_out(2, first, count, work).await;
    }

    async fn skynet(&self, leaves: u64) -> u64 {
        let system = self.system.clone();
        self.host.at(0, async move { skynet::sum(&system, leaves).await }).await
    }
}
