//! actix 0.13, actors on single-threaded arbiters.
//!
//! Fairness choices:
//! - Runtime: actix's own `System` with arbiters (a thread each). How many is
//!   chosen per workload by what actix is faster with (see `arbiters`): actors
//!   that talk to each other stay on one arbiter, independent work is spread
//!   over two.
//! - Tell: `Addr::do_send`, which ignores the mailbox capacity and cannot fail.
//! - Ask: `Addr::send(..).await` without a timeout.
//! - Mailbox: capacity 0, actix's "no limit", since an ask over the capacity
//!   would be parked; capacity 1,024 for `tell/bounded`. actix has no call that
//!   waits for room without also waiting for the reply, so there the sender
//!   uses `try_send` and yields while the mailbox is full.
//! - Handlers are synchronous where the work is (actix's fastest kind); those
//!   that await return `AtomicResponse`, so that the actor takes no other
//!   message meanwhile, as in the other libraries.
//! - `hog`: the hog alone on one arbiter, everyone else on the other, as one
//!   would place them; actix has no way to move actors later.
//! - skynet: the root's ten subtrees are dealt to both arbiters, each subtree
//!   then stays where it is.
//! - Timers: `run_later` and `cancel_future` of the actor's own context, the
//!   only timers actix has. What is cancelled stays in the context until the
//!   handler is over and is then searched for, so a handler cancels few: six
//!   (one to five, and eight to 256, were measured and are slower).
//! - Registry: actix's is per type, not per name, so names go into a std
//!   `HashMap` with the address, one per arbiter.
//! - Faults: actix's `Supervisor`, see `restart.rs`; it cannot contain panics. It
//!   has no stash and no passivation.

/// Declares a message type with its result.
macro_rules! message {
    ($(#[$doc:meta])* $name:ident($($field:ty),*) -> $result:ty) => {
        $(#[$doc])*
        pub struct $name($(pub $field),*);

        impl actix::Message for $name {
            type Result = $result;
        }
    };
}

/// An ordinary asynchronous actor.
macro_rules! actor {
    ($name:ident) => {
        impl actix::Actor for $name {
            type Context = actix::Context<Self>;
        }
    };
}

mod actors;
mod restart;
mod skynet;
mod stream;

use std::collections::HashMap;
use std::future::Future;
use std::net::TcpStream as StdStream;
use std::time::Duration;

use actix::{Actor, Addr, Context};
use actix_rt::{Arbiter, ArbiterHandle, System};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use crate::contender::{Bench, Case, Contender, Role};
use crate::latch::{LAST, Latch};
use crate::peer::{Peer, Work};
use crate::programs;

use actors::{Ask, Do, Echo, Job, Keep, Link, Meet, Nap, Player, SetAndCancel, SetTimers, Sink, Sleeper, Store, Tell};

/// actix's row of the table.
pub const CONTENDER: Contender = Contender {
    name: "actix",
    role: Role::ActorPeer,
    bench,
};

fn bench(workload: &str) -> Option<Bench> {
    programs::restart::bench::<Actix>(workload).or_else(|| programs::stream::bench::<Actix>(workload)).or_else(|| programs::bench::<Actix>(workload))
}

/// An actix system and its arbiters.
pub struct Actix {
    arbiters: Vec<ArbiterHandle>,
}

/// How many timers a handler sets and cancels.
const BATCH: u64 = 6;

/// How many arbiters a workload gets: the faster of one and two, as measured
/// (`BENCH_ARBITERS` overrides the choice, to check it).
fn arbiters(workload: &str) -> usize {
    if let Ok(forced) = std::env::var("BENCH_ARBITERS") {
        return forced.parse().expect("a number of arbiters");
    }
    match workload {
        "tell/outside" | "ask/cross-thread" | "io-handler/timer" | "pairs" | "spawn" | "skynet"
        | "hog" | "suspended" => 2,
        _ => 1,
    }
}

/// Starts an actor on the current arbiter; a capacity of 0 is no limit.
fn start<A: Actor<Context = Context<A>>>(actor: A, capacity: usize) -> Addr<A> {
    A::create(|ctx| {
        ctx.set_mailbox_capacity(capacity);
        actor
    })
}

impl Actix {
    /// Runs `make` on the arbiter of `slot` and hands back its result.
    async fn at<T: Send + 'static>(
        &self,
        slot: usize,
        make: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        let (tx, rx) = oneshot::channel();
        self.arbiter(slot).spawn_fn(move || {
            let _ = tx.send(make());
        });
        rx.await.expect("the arbiter lives")
    }

    fn arbiter(&self, slot: usize) -> &ArbiterHandle {
        &self.arbiters[slot % self.arbiters.len()]
    }

    /// Has each arbiter do its share of `first..first + count`, all at once.
    async fn shared_out<F>(&self, first: u64, count: u64, work: F)
    where
        F: Fn(u64, u64) + Clone + Send + 'static,
    {
        let parts = self.arbiters.len() as u64;
        let shares = (0..parts).map(|part| {
            let work = work.clone();
            let (from, to) = (count * part / parts, count * (part + 1) / parts);
            self.at(part as usize, move || work(first + from, first + to))
        });
        futures::future::join_all(shares).await;
    }
}

impl Peer for Actix {
    type Job = Addr<Job>;
    type Sink = Addr<Sink>;
    type Bounded = Addr<Sink>;
    type Echo = Addr<Echo>;
    type Store = Addr<Store>;
    type Player = Addr<Player>;
    type Link = Addr<Link>;
    type Sleeper = Addr<Sleeper>;

    fn start(case: &Case) -> Self {
        let count = arbiters(&case.workload);
        let (tx, rx) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let system = System::new();
            let handles: Vec<_> = (0..count).map(|_| Arbiter::new().handle()).collect();
            tx.send(handles).expect("hand over the arbiters");
            let _ = system.run();
        });
        Self {
            arbiters: rx.recv().expect("the arbiters"),
        }
    }

    fn offers(workload: &str) -> bool {
        workload != "restart/panic"
    }

    fn task(&self, slot: usize, work: impl Future<Output = ()> + Send + 'static) {
        self.arbiter(slot).spawn(work);
    }

    fn detach(work: impl Future<Output = ()> + Send + 'static) {
        actix_rt::spawn(work);
    }

    async fn job(&self, slot: usize) -> Addr<Job> {
        self.at(slot, || start(Job, 0)).await
    }

    fn run(job: &Addr<Job>, work: Work) {
        job.do_send(Do(work));
    }

    async fn sink(&self, slot: usize, latch: &'static Latch) -> Addr<Sink> {
        self.at(slot, move || start(Sink { sum: 0, latch }, 0))
            .await
    }

    fn tell(sink: &Addr<Sink>, value: u64) {
        sink.do_send(Tell(value));
    }

    async fn bounded(&self, slot: usize, capacity: usize, latch: &'static Latch) -> Addr<Sink> {
        self.at(slot, move || start(Sink { sum: 0, latch }, capacity))
            .await
    }

    async fn tell_waiting(sink: &Addr<Sink>, value: u64) {
        while sink.try_send(Tell(value)).is_err() {
            tokio::task::yield_now().await;
        }
    }

    async fn echo(&self, slot: usize) -> Addr<Echo> {
        self.at(slot, || start(Echo(0), 0)).await
    }

    async fn ask(echo: &Addr<Echo>, value: u64) -> u64 {
        echo.send(Ask(value)).await.expect("a reply")
    }

    fn poke(echo: &Addr<Echo>, value: u64) {
        echo.do_send(Tell(value));
    }

    async fn store(&self, slot: usize) -> Addr<Store> {
        self.at(slot, || start(Store, 0)).await
    }

    async fn ask_bytes(store: &Addr<Store>, bytes: Vec<u8>) -> Vec<u8> {
        store.send(Keep(bytes)).await.expect("a reply")
    }

    async fn players(&self, slot: usize, latch: &'static Latch) -> Addr<Player> {
        let meet = move || {
            let player = |opponent| start(Player { opponent, latch }, 0);
            let first = player(None);
            let second = player(Some(first.clone()));
            first.do_send(Meet(second));
            first
        };
        self.at(slot, meet).await
    }

    fn serve(player: &Addr<Player>, ball: u64) {
        player.do_send(Tell(ball));
    }

    async fn link(&self, slot: usize, stream: StdStream) -> Addr<Link> {
        let make = || {
            let stream = TcpStream::from_std(stream).expect("stream");
            start(Link(Some(stream)), 0)
        };
        self.at(slot, make).await
    }

    async fn round_trip(link: &Addr<Link>, value: u64) -> u64 {
        link.send(Ask(value)).await.expect("a reply")
    }

    async fn sleeper(&self, slot: usize, latch: &'static Latch) -> Addr<Sleeper> {
        self.at(slot, move || start(Sleeper(latch), 0)).await
    }

    async fn nap(sleeper: &Addr<Sleeper>, time: Duration) {
        sleeper.send(Nap(time)).await.expect("a reply");
    }

    async fn sleepers(&self, count: u64, time: Duration, latch: &'static Latch) {
        let work = move |from, to| {
            for _ in from..to {
                let sleeper = Sleeper(latch).start();
                sleeper.do_send(Nap(time));
                std::mem::forget(sleeper);
            }
        };
        self.shared_out(0, count, work).await;
    }

    async fn set_timers(&self, sink: &Addr<Sink>, count: u64, delay: Duration) {
        sink.send(SetTimers(count, delay)).await.expect("a reply");
    }

    async fn set_and_cancel(&self, sink: &Addr<Sink>, count: u64, delay: Duration) {
        for _ in 0..count.div_ceil(BATCH) {
            sink.send(SetAndCancel(BATCH, delay)).await.expect("a reply");
        }
    }

    async fn named_sinks(&self, first: u64, count: u64, latch: &'static Latch) {
        let work = move |from, to| {
            let mut registry = HashMap::new();
            for index in from..to {
                let sink = Sink { sum: 0, latch }.start();
                registry.insert(format!("sink-{index}"), sink);
            }
            for sink in registry.values() {
                Self::tell(sink, LAST);
            }
            std::mem::forget(registry);
        };
        self.shared_out(first, count, work).await;
    }

    async fn skynet(&self, leaves: u64) -> u64 {
        let (result_tx, result_rx) = oneshot::channel();
        let arbiters = self.arbiters.clone();
        self.at(0, move || skynet::grow(leaves, arbiters, result_tx))
            .await;
        result_rx.await.expect("the sum")
    }
}
