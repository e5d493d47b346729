//! ractor 0.16, an actor per tokio task.
//!
//! Fairness choices:
//! - Features: `tokio_runtime` alone, so no `message_span_propogation` (a
//!   tracing span per message), no `cluster`, no `async-trait` boxing; its
//!   fastest build. Its remaining tracing call sites are compiled out.
//! - Tell: `ActorRef::send_message`, which `cast` calls too.
//! - Ask: `ActorRef::call` without a timeout, reply through `RpcReplyPort`.
//! - A message type of its own per kind of actor, so that a told number is
//!   boxed as eight bytes and not as the largest variant of a big enum.
//! - Mailbox: unbounded, the only kind ractor has; `tell/bounded` is therefore
//!   not offered.
//! - Runtime: tokio multi-thread with two workers; `ask/cross-thread` uses two
//!   current-thread runtimes, `ask/same-thread` one.
//! - Registry: the name given when spawning, ractor's own.
//! - Timers: `ActorRef::send_after`, a task each, and `JoinHandle::abort`.
//! - Spawn: `ActorRuntime::spawn_instant` in `spawn` (measured half again as
//!   fast there as `Actor::spawn(..).await`, which runs each start in the
//!   spawning task); `Actor::spawn` elsewhere (equal in skynet, with fewer
//!   allocations).
//! - Faults: a supervisor that spawns another, see `restart.rs`. ractor has no
//!   stash and no passivation.
//! - Routers: the factory, see `router.rs`.

/// Start arguments become the state.
macro_rules! starts_with {
    ($message:ty, $state:ty) => {
        type Msg = $message;
        type State = $state;
        type Arguments = $state;

        async fn pre_start(
            &self,
            _: ractor::ActorRef<$message>,
            state: $state,
        ) -> Result<$state, ractor::ActorProcessingErr> {
            Ok(state)
        }
    };
}

mod actors;
mod publish;
mod restart;
mod router;
mod skynet;

use std::future::Future;
use std::net::TcpStream as StdStream;
use std::time::Duration;

use ractor::rpc::CallResult;
use ractor::{Actor, ActorRef, ActorRuntime};
use tokio::net::TcpStream;

use crate::contender::{Bench, Case, Contender, Role};
use crate::host::Host;
use crate::latch::{LAST, Latch};
use crate::peer::{PAUSE, Peer, Work};
use crate::programs;

use actors::{
    Echo, EchoMessage, Job, Keep, Link, Nap, Player, PlayerMessage, Sink, Sleeper, Store, Trip,
};

/// ractor's row of the table.
pub const CONTENDER: Contender = Contender {
    name: "ractor",
    role: Role::ActorPeer,
    bench,
};

fn bench(workload: &str) -> Option<Bench> {
    programs::restart::bench::<Ractor>(workload)
        .or_else(|| programs::router::bench::<Ractor>(workload))
        .or_else(|| programs::publish::topic::<Ractor>(workload))
        .or_else(|| programs::bench::<Ractor>(workload))
}

/// ractor on its tokio runtime.
pub struct Ractor {
    host: Host,
}

async fn spawn<A: Actor>(actor: A, arguments: A::Arguments) -> ActorRef<A::Msg> {
    let (actor, _) = A::spawn(None, actor, arguments).await.expect("a new actor");
    actor
}

fn send<M: ractor::Message>(actor: &ActorRef<M>, message: M) {
    assert!(actor.send_message(message).is_ok(), "the actor lives");
}

fn reply<T>(result: CallResult<T>) -> T {
    match result {
        CallResult::Success(value) => value,
        CallResult::Timeout | CallResult::SenderError => panic!("no reply"),
    }
}

impl Peer for Ractor {
    type Job = ActorRef<Work>;
    type Sink = ActorRef<u64>;
    type Bounded = ActorRef<u64>;
    type Echo = ActorRef<EchoMessage>;
    type Store = ActorRef<Keep>;
    type Player = ActorRef<PlayerMessage>;
    type Link = ActorRef<Trip>;
    type Sleeper = ActorRef<Nap>;

    fn start(case: &Case) -> Self {
        Self {
            host: Host::start(case),
        }
    }

    fn offers(workload: &str) -> bool {
        workload != "tell/bounded"
    }

    fn task(&self, slot: usize, work: impl Future<Output = ()> + Send + 'static) {
        self.host.handle(slot).spawn(work);
    }

    async fn job(&self, slot: usize) -> ActorRef<Work> {
        self.host.at(slot, spawn(Job, ())).await
    }

    fn run(job: &ActorRef<Work>, work: Work) {
        send(job, work);
    }

    async fn sink(&self, slot: usize, latch: &'static Latch) -> ActorRef<u64> {
        self.host.at(slot, spawn(Sink(latch), 0)).await
    }

    fn tell(sink: &ActorRef<u64>, value: u64) {
        send(sink, value);
    }

    async fn bounded(&self, _: usize, _: usize, _: &'static Latch) -> ActorRef<u64> {
        unreachable!("ractor has no bounded mailbox")
    }

    async fn tell_waiting(_: &ActorRef<u64>, _: u64) {
        unreachable!("ractor has no bounded mailbox")
    }

    async fn echo(&self, slot: usize) -> ActorRef<EchoMessage> {
        self.host.at(slot, spawn(Echo, 0)).await
    }

    async fn ask(echo: &ActorRef<EchoMessage>, value: u64) -> u64 {
        let asked = echo.call(|port| EchoMessage::Add(value, port), None).await;
        reply(asked.expect("the actor lives"))
    }

    fn poke(echo: &ActorRef<EchoMessage>, value: u64) {
        send(echo, EchoMessage::Poke(value));
    }

    async fn store(&self, slot: usize) -> ActorRef<Keep> {
        self.host.at(slot, spawn(Store, ())).await
    }

    async fn ask_bytes(store: &ActorRef<Keep>, bytes: Vec<u8>) -> Vec<u8> {
        let asked = store.call(|port| Keep(bytes, port), None).await;
        match asked {
            Ok(result) => reply(result),
            Err(_) => panic!("the actor lives"),
        }
    }

    async fn players(&self, slot: usize, latch: &'static Latch) -> ActorRef<PlayerMessage> {
        let meet = async move {
            let first = spawn(Player(latch), None).await;
            let second = spawn(Player(latch), Some(first.clone())).await;
            send(&first, PlayerMessage::Meet(second));
            first
        };
        self.host.at(slot, meet).await
    }

    fn serve(player: &ActorRef<PlayerMessage>, ball: u64) {
        send(player, PlayerMessage::Ball(ball));
    }

    async fn link(&self, slot: usize, stream: StdStream) -> ActorRef<Trip> {
        let spawn = async move { spawn(Link, TcpStream::from_std(stream).expect("stream")).await };
        self.host.at(slot, spawn).await
    }

    async fn round_trip(link: &ActorRef<Trip>, value: u64) -> u64 {
        let asked = link.call(|port| Trip(value, port), None).await;
        reply(asked.expect("the actor lives"))
    }

    async fn sleeper(&self, slot: usize, latch: &'static Latch) -> ActorRef<Nap> {
        self.host.at(slot, spawn(Sleeper(latch), ())).await
    }

    async fn nap(sleeper: &ActorRef<Nap>, time: Duration) {
        let asked = sleeper.call(|port| Nap(time, Some(port)), None).await;
        reply(asked.expect("the actor lives"));
    }

    async fn sleepers(&self, count: u64, time: Duration, latch: &'static Latch) {
        let work = async move {
            for _ in 0..count {
                let sleeper = spawn(Sleeper(latch), ()).await;
                send(&sleeper, Nap(time, None));
                std::mem::forget(sleeper);
            }
        };
        self.host.at(0, work).await;
    }

    async fn set_timers(&self, sink: &ActorRef<u64>, count: u64, delay: Duration) {
        let sink = sink.clone();
        let work = async move {
            for _ in 0..count {
                drop(sink.send_after(delay, || LAST));
            }
        };
        self.host.at(0, work).await;
    }

    async fn set_and_cancel(&self, sink: &ActorRef<u64>, count: u64, delay: Duration) {
        let sink = sink.clone();
        let work = async move {
            for number in 0..count {
                let timer = sink.send_after(delay, || LAST);
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
                let name = Some(format!("sink-{index}"));
                let spawned = ActorRuntime::spawn_instant(name, Sink(latch), 0);
                let (sink, _) = spawned.expect("a new name");
                sinks.push(sink);
            }
            for sink in &sinks {
                Self::tell(sink, LAST);
            }
        };
        self.host.shared_out(1, first, count, work).await;
    }

    async fn skynet(&self, leaves: u64) -> u64 {
        self.host.at(0, skynet::sum(leaves)).await
    }
}
