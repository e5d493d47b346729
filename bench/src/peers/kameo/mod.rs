//! kameo 0.22, an actor per tokio task.
//!
//! Fairness choices:
//! - Features: none (`default-features = false`), so no `tracing` spans per
//!   message, no `remote`, no `metrics`; its fastest build.
//! - Tell: `tell(m).try_send()`, the synchronous call that neither allocates
//!   nor polls a future; `tell(m).send().await` only where the workload waits
//!   for room in a bounded mailbox.
//! - Ask: `ask(m).send().await` without a reply timeout.
//! - Mailbox: `mailbox::unbounded()` (the default is bounded to 64, which
//!   would make senders wait); `mailbox::bounded(1024)` for `tell/bounded`.
//! - Runtime: tokio multi-thread with two workers; `ask/cross-thread` uses two
//!   current-thread runtimes, `ask/same-thread` one. (`spawn_in_thread` for
//!   the target of `ask/cross-thread` was measured and is slower by a third.)
//! - Registry: `ActorRef::register`, kameo's own.
//! - Timers: `tell(m).send_after`, a task each, and `JoinHandle::abort`.
//! - skynet: a child ends when its last reference is dropped, kameo's cheapest
//!   end of life.
//! - Faults: kameo's supervision, see `restart.rs`. It has no stash and no
//!   passivation.
//! - Routers: the pool of `kameo_actors`, with the feature `kameo-pool`; see
//!   `router.rs`.

/// An actor which is its own start argument, as `#[derive(Actor)]` makes it.
macro_rules! actor {
    ($name:ident) => {
        impl kameo::Actor for $name {
            type Args = Self;
            type Error = kameo::error::Infallible;

            async fn on_start(args: Self, _: ActorRef<Self>) -> Result<Self, Self::Error> {
                Ok(args)
            }
        }
    };
}

mod actors;
mod publish;
mod restart;
#[cfg(feature = "kameo-pool")]
mod router;
mod skynet;
mod stream;

use std::future::Future;
use std::net::TcpStream as StdStream;
use std::time::Duration;

use kameo::actor::{ActorRef, Spawn};
use kameo::mailbox;
use tokio::net::TcpStream;

use crate::contender::{Bench, Case, Contender, Role};
use crate::host::Host;
use crate::latch::{LAST, Latch};
use crate::peer::{PAUSE, Peer, Work};
use crate::programs;

use actors::{Add, Echo, Job, Link, Meet, Player, Sink, Sleeper, Store};

/// kameo's row of the table.
pub const CONTENDER: Contender = Contender {
    name: "kameo",
    role: Role::ActorPeer,
    bench,
};

fn bench(workload: &str) -> Option<Bench> {
    #[cfg(feature = "kameo-pool")]
    if let Some(bench) = programs::router::bench::<Kameo>(workload) {
        return Some(bench);
    }
    programs::restart::bench::<Kameo>(workload)
        .or_else(|| programs::publish::topic::<Kameo>(workload))
        .or_else(|| programs::stream::bench::<Kameo>(workload))
        .or_else(|| programs::bench::<Kameo>(workload))
}

/// kameo on its tokio runtime.
pub struct Kameo {
    host: Host,
}

fn spawn<A: kameo::Actor<Args = A>>(actor: A) -> ActorRef<A> {
    A::spawn_with_mailbox(actor, mailbox::unbounded())
}

fn send<E: std::fmt::Debug>(result: Result<(), E>) {
    result.expect("the actor lives");
}

impl Kameo {
    /// Spawns on the runtime of `slot`.
    async fn at<A: kameo::Actor<Args = A>>(
        &self,
        slot: usize,
        make: impl FnOnce() -> A + Send + 'static,
    ) -> ActorRef<A> {
        self.host.at(slot, async move { spawn(make()) }).await
    }
}

impl Peer for Kameo {
    type Job = ActorRef<Job>;
    type Sink = ActorRef<Sink>;
    type Bounded = ActorRef<Sink>;
    type Echo = ActorRef<Echo>;
    type Store = ActorRef<Store>;
    type Player = ActorRef<Player>;
    type Link = ActorRef<Link>;
    type Sleeper = ActorRef<Sleeper>;

    fn start(case: &Case) -> Self {
        Self {
            host: Host::start(case),
        }
    }

    fn task(&self, slot: usize, work: impl Future<Output = ()> + Send + 'static) {
        self.host.handle(slot).spawn(work);
    }

    async fn job(&self, slot: usize) -> ActorRef<Job> {
        self.at(slot, || Job).await
    }

    fn run(job: &ActorRef<Job>, work: Work) {
        send(job.tell(work).try_send().map_err(|_| "job"));
    }

    async fn sink(&self, slot: usize, latch: &'static Latch) -> ActorRef<Sink> {
        self.at(slot, move || Sink { sum: 0, latch }).await
    }

    fn tell(sink: &ActorRef<Sink>, value: u64) {
        send(sink.tell(value).try_send());
    }

    async fn bounded(&self, slot: usize, capacity: usize, latch: &'static Latch) -> ActorRef<Sink> {
        let sink = Sink { sum: 0, latch };
        let spawn = async move { Sink::spawn_with_mailbox(sink, mailbox::bounded(capacity)) };
        self.host.at(slot, spawn).await
    }

    async fn tell_waiting(sink: &ActorRef<Sink>, value: u64) {
        send(sink.tell(value).send().await);
    }

    async fn echo(&self, slot: usize) -> ActorRef<Echo> {
        self.at(slot, || Echo(0)).await
    }

    async fn ask(echo: &ActorRef<Echo>, value: u64) -> u64 {
        echo.ask(Add(value)).send().await.expect("a reply")
    }

    fn poke(echo: &ActorRef<Echo>, value: u64) {
        send(echo.tell(value).try_send());
    }

    async fn store(&self, slot: usize) -> ActorRef<Store> {
        self.at(slot, || Store).await
    }

    async fn ask_bytes(store: &ActorRef<Store>, bytes: Vec<u8>) -> Vec<u8> {
        store.ask(bytes).send().await.expect("a reply")
    }

    async fn players(&self, slot: usize, latch: &'static Latch) -> ActorRef<Player> {
        let meet = async move {
            let first = spawn(Player {
                opponent: None,
                latch,
            });
            let second = spawn(Player {
                opponent: Some(first.clone()),
                latch,
            });
            send(first.tell(Meet(second)).try_send().map_err(|_| "player"));
            first
        };
        self.host.at(slot, meet).await
    }

    fn serve(player: &ActorRef<Player>, ball: u64) {
        send(player.tell(ball).try_send());
    }

    async fn link(&self, slot: usize, stream: StdStream) -> ActorRef<Link> {
        self.at(slot, || Link(TcpStream::from_std(stream).expect("stream")))
            .await
    }

    async fn round_trip(link: &ActorRef<Link>, value: u64) -> u64 {
        link.ask(value).send().await.expect("a reply")
    }

    async fn sleeper(&self, slot: usize, latch: &'static Latch) -> ActorRef<Sleeper> {
        self.at(slot, move || Sleeper(latch)).await
    }

    async fn nap(sleeper: &ActorRef<Sleeper>, time: Duration) {
        sleeper.ask(time).send().await.expect("a reply");
    }

    async fn sleepers(&self, count: u64, time: Duration, latch: &'static Latch) {
        let work = async move {
            for _ in 0..count {
                let sleeper = spawn(Sleeper(latch));
                send(sleeper.tell(time).try_send());
                std::mem::forget(sleeper);
            }
        };
        self.host.at(0, work).await;
    }

    async fn set_timers(&self, sink: &ActorRef<Sink>, count: u64, delay: Duration) {
        let sink = sink.clone();
        let work = async move {
            for _ in 0..count {
                drop(sink.tell(LAST).send_after(delay));
            }
        };
        self.host.at(0, work).await;
    }

    async fn set_and_cancel(&self, sink: &ActorRef<Sink>, count: u64, delay: Duration) {
        let sink = sink.clone();
        let work = async move {
            for number in 0..count {
                let timer = sink.tell(LAST).send_after(delay);
                timer.abort();
                if number % PAUSE == 0 {
                    Self::pause().await;
                }
            }
        };
        self.host.at(0, work).await;
    }

    async fn named_sinks(&self, first: u64, count: u64, latch: &'static Latch) {
        let work = move |from, to| async move {
            let mut sinks = Vec::with_capacity((to - from) as usize);
            for index in from..to {
                let sink = spawn(Sink { sum: 0, latch });
                sink.register(format!("sink-{index}")).expect("a new name");
                sinks.push(sink);
            }
            for sink in &sinks {
                Self::tell(sink, LAST);
            }
        };
        self.host.shared_out(2, first, count, work).await;
    }

    async fn skynet(&self, leaves: u64) -> u64 {
        self.host.at(0, skynet::sum(leaves)).await
    }
}
