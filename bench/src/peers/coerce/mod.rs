//! coerce 0.8, an actor per tokio task.
//!
//! Fairness choices:
//! - Features: none (`default-features = false`): no metrics, no remoting, no
//!   actor tracing. Its tracing call sites are compiled out; the two clock
//!   reads and the boxed handler future per message are part of the library.
//! - Tell: `LocalActorRef::notify`; ask: `LocalActorRef::send(..).await`.
//! - Mailbox: unbounded, the only kind coerce has; `tell/bounded` is therefore
//!   not offered.
//! - Runtime: tokio multi-thread with two workers; `ask/cross-thread` uses two
//!   current-thread runtimes, `ask/same-thread` one.
//! - Spawn: `new_actor_deferred` with `Anonymous` and a short number as the
//!   id: no random UUID, no registration, no waiting for the start.
//! - Registry: `Tracked` under a name for `spawn`, coerce's own (an actor that
//!   is asked to register each name).
//! - Messages must be `Sync` in coerce, hence the `Mutex` around told work
//!   (once per pass, not per message).
//! - Faults: a parent that spawns another, see `restart.rs`. coerce has no stash.
//!   Its sharding has states and messages for passivation, but what would
//!   passivate an entity is not written yet.

/// Declares a message type with its result.
macro_rules! message {
    ($(#[$doc:meta])* $name:ident($($field:ty),*) -> $result:ty) => {
        $(#[$doc])*
        pub struct $name($(pub $field),*);

        impl coerce::actor::message::Message for $name {
            type Result = $result;
        }
    };
}

mod actors;
mod restart;
mod skynet;

use std::future::Future;
use std::net::TcpStream as StdStream;
use std::sync::Mutex;
use std::time::Duration;

use coerce::actor::message::{Handler, Message};
use coerce::actor::scheduler::ActorType::{Anonymous, Tracked};
use coerce::actor::system::ActorSystem;
use coerce::actor::{Actor, LocalActorRef};
use tokio::net::TcpStream;

use crate::contender::{Bench, Case, Contender, Role};
use crate::host::Host;
use crate::latch::{LAST, Latch};
use crate::peer::{Peer, Work};
use crate::programs;

use actors::{Ask, Do, Echo, Job, Keep, Link, Meet, Nap, Player, Sink, Sleeper, Store, Tell};

/// coerce's row of the table.
pub const CONTENDER: Contender = Contender {
    name: "coerce",
    role: Role::ActorPeer,
    bench,
};

fn bench(workload: &str) -> Option<Bench> {
    programs::restart::bench::<Coerce>(workload).or_else(|| programs::bench::<Coerce>(workload))
}

/// coerce on its tokio runtime.
pub struct Coerce {
    host: Host,
    system: ActorSystem,
}

fn send<A: Handler<M>, M: Message>(actor: &LocalActorRef<A>, message: M) {
    assert!(actor.notify(message).is_ok(), "the actor lives");
}

impl Coerce {
    /// Spawns on the runtime of `slot`.
    async fn at<A: Actor>(
        &self,
        slot: usize,
        make: impl FnOnce() -> A + Send + 'static,
    ) -> LocalActorRef<A> {
        let system = self.system.clone();
        let spawn = async move { system.new_actor_deferred(slot, make(), Anonymous).await };
        self.host.at(slot, spawn).await
    }
}

impl Peer for Coerce {
    type Job = LocalActorRef<Job>;
    type Sink = LocalActorRef<Sink>;
    type Bounded = LocalActorRef<Sink>;
    type Echo = LocalActorRef<Echo>;
    type Store = LocalActorRef<Store>;
    type Player = LocalActorRef<Player>;
    type Link = LocalActorRef<Link>;
    type Sleeper = LocalActorRef<Sleeper>;

    fn start(case: &Case) -> Self {
        let host = Host::start(case);
        let guard = host.handle(0).enter();
        let system = ActorSystem::builder().system_name("bench").build();
        drop(guard);
        Self { host, system }
    }

    fn offers(workload: &str) -> bool {
        workload != "tell/bounded" && !workload.starts_with("timers")
    }

    fn task(&self, slot: usize, work: impl Future<Output = ()> + Send + 'static) {
        self.host.handle(slot).spawn(work);
    }

    async fn job(&self, slot: usize) -> LocalActorRef<Job> {
        self.at(slot, || Job).await
    }

    fn run(job: &LocalActorRef<Job>, work: Work) {
        send(job, Do(Mutex::new(work)));
    }

    async fn sink(&self, slot: usize, latch: &'static Latch) -> LocalActorRef<Sink> {
        self.at(slot, move || Sink { sum: 0, latch }).await
    }

    fn tell(sink: &LocalActorRef<Sink>, value: u64) {
        send(sink, Tell(value));
    }

    async fn bounded(&self, _: usize, _: usize, _: &'static Latch) -> LocalActorRef<Sink> {
        unreachable!("coerce has no bounded mailbox")
    }

    async fn tell_waiting(_: &LocalActorRef<Sink>, _: u64) {
        unreachable!("coerce has no bounded mailbox")
    }

    async fn echo(&self, slot: usize) -> LocalActorRef<Echo> {
        self.at(slot, || Echo(0)).await
    }

    async fn ask(echo: &LocalActorRef<Echo>, value: u64) -> u64 {
        echo.send(Ask(value)).await.expect("a reply")
    }

    fn poke(echo: &LocalActorRef<Echo>, value: u64) {
        send(echo, Tell(value));
    }

    async fn store(&self, slot: usize) -> LocalActorRef<Store> {
        self.at(slot, || Store).await
    }

    async fn ask_bytes(store: &LocalActorRef<Store>, bytes: Vec<u8>) -> Vec<u8> {
        store.send(Keep(bytes)).await.expect("a reply")
    }

    async fn players(&self, slot: usize, latch: &'static Latch) -> LocalActorRef<Player> {
        let start = move |opponent| move || Player { opponent, latch };
        let first = self.at(slot, start(None)).await;
        let second = self.at(slot, start(Some(first.clone()))).await;
        send(&first, Meet(second));
        first
    }

    fn serve(player: &LocalActorRef<Player>, ball: u64) {
        send(player, Tell(ball));
    }

    async fn link(&self, slot: usize, stream: StdStream) -> LocalActorRef<Link> {
        self.at(slot, || Link(TcpStream::from_std(stream).expect("stream")))
            .await
    }

    async fn round_trip(link: &LocalActorRef<Link>, value: u64) -> u64 {
        link.send(Ask(value)).await.expect("a reply")
    }

    async fn sleeper(&self, slot: usize, latch: &'static Latch) -> LocalActorRef<Sleeper> {
        self.at(slot, move || Sleeper(latch)).await
    }

    async fn nap(sleeper: &LocalActorRef<Sleeper>, time: Duration) {
        sleeper.send(Nap(time)).await.expect("a reply");
    }

    async fn sleepers(&self, count: u64, time: Duration, latch: &'static Latch) {
        let system = self.system.clone();
        let work = async move {
            for id in 0..count {
                let sleeper = system
                    .new_actor_deferred(id, Sleeper(latch), Anonymous)
                    .await;
                send(&sleeper, Nap(time));
            }
        };
        self.host.at(0, work).await;
    }

    async fn set_timers(&self, _: &LocalActorRef<Sink>, _: u64, _: Duration) {
        unreachable!("coerce has no timer that goes off once")
    }

    async fn set_and_cancel(&self, _: &LocalActorRef<Sink>, _: u64, _: Duration) {
        unreachable!("coerce has no timer that is cancelled before it goes off")
    }

    async fn named_sinks(&self, first: u64, count: u64, latch: &'static Latch) {
        let system = self.system.clone();
        let work = move |from, to| {
            let system = system.clone();
            async move {
                let mut sinks = Vec::with_capacity((to - from) as usize);
                for index in from..to {
                    let name = format!("sink-{index}");
                    let sink = Sink { sum: 0, latch };
                    sinks.push(system.new_actor_deferred(name, sink, Tracked).await);
                }
                for sink in &sinks {
                    Self::tell(sink, LAST);
                }
            }
        };
        self.host.shared_out(1, first, count, work).await;
    }

    async fn skynet(&self, leaves: u64) -> u64 {
        let system = self.system.clone();
        self.host.at(0, skynet::sum(system, leaves)).await
    }
}
