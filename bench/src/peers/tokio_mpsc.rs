//! Plain tokio, the reference line: a task with a channel, as written by hand.
//!
//! Fairness choices:
//! - Tell: `mpsc::UnboundedSender::send`; `mpsc::Sender::send(..).await` with
//!   1,024 slots for `tell/bounded`.
//! - Ask: a request with a `oneshot::Sender` through an unbounded `mpsc`.
//! - The receiving task is a `while let Some(m) = rx.recv().await` loop.
//! - Runtime: multi-thread with two workers; `ask/cross-thread` uses two
//!   current-thread runtimes, `ask/same-thread` one.
//! - Timers: a task that awaits `time::sleep` and sends; `JoinHandle::abort`.
//! - Registry: none, so names go into a std `HashMap` with the sender.
//! - Faults, stash and passivation: as written by hand, see `tokio_mpsc/`.

mod passivation;
mod publish;
mod restart;
mod stash;
mod stream;

use std::collections::HashMap;
use std::future::Future;
use std::hint::black_box;
use std::net::TcpStream as StdStream;
use std::pin::Pin;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};

use crate::contender::{Bench, Case, Contender, Role};
use crate::echo_server;
use crate::host::Host;
use crate::latch::{LAST, Latch};
use crate::peer::{PAUSE, Peer, Work};
use crate::programs;

/// tokio's row of the table.
pub const CONTENDER: Contender = Contender {
    name: "tokio",
    role: Role::Reference,
    bench,
};

fn bench(workload: &str) -> Option<Bench> {
    programs::restart::bench::<Tokio>(workload)
        .or_else(|| programs::stash::bench::<Tokio>(workload))
        .or_else(|| programs::passivation::bench::<Tokio>(workload))
        .or_else(|| programs::publish::events::<Tokio>(workload)).or_else(|| programs::stream::bench::<Tokio>(workload)).or_else(|| programs::bench::<Tokio>(workload))
}

/// A tokio runtime and nothing else.
pub struct Tokio {
    host: Host,
}

type Tx<M> = mpsc::UnboundedSender<M>;

/// Told, or asked with where the reply goes.
pub enum EchoMessage {
    /// Told.
    Poke(u64),
    /// Asked.
    Add(u64, oneshot::Sender<u64>),
}

/// A buffer and where to send it back.
pub struct Keep(Vec<u8>, oneshot::Sender<Vec<u8>>);
/// A number and where to send it after its round trip.
pub struct Trip(u64, oneshot::Sender<u64>);
/// How long to sleep and whom to tell afterwards.
pub struct Nap(Duration, Option<oneshot::Sender<()>>);

/// Starts a task that owns the receiving end.
fn spawn<M: Send + 'static, F>(body: impl FnOnce(mpsc::UnboundedReceiver<M>) -> F) -> Tx<M>
where
    F: Future<Output = ()> + Send + 'static,
{
    let (tx, rx) = mpsc::unbounded_channel();
    tokio::spawn(body(rx));
    tx
}

fn send<M>(to: &Tx<M>, message: M) {
    assert!(to.send(message).is_ok(), "the task lives");
}

async fn jobs(mut inbox: mpsc::UnboundedReceiver<Work>) {
    while let Some(work) = inbox.recv().await {
        work.await;
    }
}

async fn sink(mut inbox: mpsc::UnboundedReceiver<u64>, latch: &'static Latch) {
    let mut sum = 0u64;
    while let Some(value) = inbox.recv().await {
        sum = sum.wrapping_add(value);
        if value == LAST {
            latch.arrive();
        }
    }
    black_box(sum);
}

async fn bounded_sink(mut inbox: mpsc::Receiver<u64>, latch: &'static Latch) {
    let mut sum = 0u64;
    while let Some(value) = inbox.recv().await {
        sum = sum.wrapping_add(value);
        if value == LAST {
            latch.arrive();
        }
    }
    black_box(sum);
}

async fn echo(mut inbox: mpsc::UnboundedReceiver<EchoMessage>) {
    let mut sum = 0u64;
    while let Some(message) = inbox.recv().await {
        match message {
            EchoMessage::Poke(value) => sum = sum.wrapping_add(value),
            EchoMessage::Add(value, reply) => {
                sum = sum.wrapping_add(value);
                let _ = reply.send(sum);
            }
        }
    }
}

async fn store(mut inbox: mpsc::UnboundedReceiver<Keep>) {
    while let Some(Keep(bytes, reply)) = inbox.recv().await {
        let _ = reply.send(bytes);
    }
}

async fn player(mut inbox: mpsc::UnboundedReceiver<u64>, opponent: Tx<u64>, latch: &'static Latch) {
    while let Some(ball) = inbox.recv().await {
        match ball {
            0 => latch.arrive(),
            ball => send(&opponent, ball - 1),
        }
    }
}

async fn link(mut inbox: mpsc::UnboundedReceiver<Trip>, mut stream: TcpStream) {
    while let Some(Trip(value, reply)) = inbox.recv().await {
        let _ = reply.send(echo_server::round_trip(&mut stream, value).await);
    }
}

async fn sleeper(mut inbox: mpsc::UnboundedReceiver<Nap>, latch: &'static Latch) {
    while let Some(Nap(time, reply)) = inbox.recv().await {
        latch.arrive();
        tokio::time::sleep(time).await;
        if let Some(reply) = reply {
            let _ = reply.send(());
        }
    }
}

async fn tell_later(to: Tx<u64>, delay: Duration) {
    tokio::time::sleep(delay).await;
    send(&to, LAST);
}

/// A node of the tree: a task that waits for ten children on its channel.
fn grow(first: u64, leaves: u64, parent: Tx<u64>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        if leaves == 1 {
            return send(&parent, first);
        }
        let (tx, mut inbox) = mpsc::unbounded_channel();
        let share = leaves / 10;
        for index in 0..10 {
            tokio::spawn(grow(first + index * share, share, tx.clone()));
        }
        drop(tx);
        let mut total = 0;
        while let Some(sum) = inbox.recv().await {
            total += sum;
        }
        send(&parent, total);
    })
}

impl Tokio {
    /// Starts a task on the runtime of `slot`.
    async fn at<M: Send + 'static, F>(
        &self,
        slot: usize,
        body: impl FnOnce(mpsc::UnboundedReceiver<M>) -> F + Send + 'static,
    ) -> Tx<M>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.host.at(slot, async move { spawn(body) }).await
    }
}

impl Peer for Tokio {
    type Job = Tx<Work>;
    type Sink = Tx<u64>;
    type Bounded = mpsc::Sender<u64>;
    type Echo = Tx<EchoMessage>;
    type Store = Tx<Keep>;
    type Player = Tx<u64>;
    type Link = Tx<Trip>;
    type Sleeper = Tx<Nap>;

    fn start(case: &Case) -> Self {
        Self {
            host: Host::start(case),
        }
    }

    fn task(&self, slot: usize, work: impl Future<Output = ()> + Send + 'static) {
        self.host.handle(slot).spawn(work);
    }

    async fn job(&self, slot: usize) -> Tx<Work> {
        self.at(slot, jobs).await
    }

    fn run(job: &Tx<Work>, work: Work) {
        send(job, work);
    }

    async fn sink(&self, slot: usize, latch: &'static Latch) -> Tx<u64> {
        self.at(slot, move |inbox| sink(inbox, latch)).await
    }

    fn tell(sink: &Tx<u64>, value: u64) {
        send(sink, value);
    }

    async fn bounded(
        &self,
        slot: usize,
        capacity: usize,
        latch: &'static Latch,
    ) -> mpsc::Sender<u64> {
        let (tx, rx) = mpsc::channel(capacity);
        self.host.handle(slot).spawn(bounded_sink(rx, latch));
        tx
    }

    async fn tell_waiting(sink: &mpsc::Sender<u64>, value: u64) {
        sink.send(value).await.expect("the task lives");
    }

    async fn echo(&self, slot: usize) -> Tx<EchoMessage> {
        self.at(slot, echo).await
    }

    async fn ask(echo: &Tx<EchoMessage>, value: u64) -> u64 {
        let (reply_tx, reply_rx) = oneshot::channel();
        send(echo, EchoMessage::Add(value, reply_tx));
        reply_rx.await.expect("a reply")
    }

    fn poke(echo: &Tx<EchoMessage>, value: u64) {
        send(echo, EchoMessage::Poke(value));
    }

    async fn store(&self, slot: usize) -> Tx<Keep> {
        self.at(slot, store).await
    }

    async fn ask_bytes(store: &Tx<Keep>, bytes: Vec<u8>) -> Vec<u8> {
        let (reply_tx, reply_rx) = oneshot::channel();
        send(store, Keep(bytes, reply_tx));
        reply_rx.await.expect("a reply")
    }

    async fn players(&self, slot: usize, latch: &'static Latch) -> Tx<u64> {
        let (first_tx, first_rx) = mpsc::unbounded_channel();
        let (second_tx, second_rx) = mpsc::unbounded_channel();
        let runtime = self.host.handle(slot);
        runtime.spawn(player(first_rx, second_tx, latch));
        runtime.spawn(player(second_rx, first_tx.clone(), latch));
        first_tx
    }

    fn serve(player: &Tx<u64>, ball: u64) {
        send(player, ball);
    }

    async fn link(&self, slot: usize, stream: StdStream) -> Tx<Trip> {
        let own = move |inbox| async move {
            link(inbox, TcpStream::from_std(stream).expect("stream")).await;
        };
        self.at(slot, own).await
    }

    async fn round_trip(link: &Tx<Trip>, value: u64) -> u64 {
        let (reply_tx, reply_rx) = oneshot::channel();
        send(link, Trip(value, reply_tx));
        reply_rx.await.expect("a reply")
    }

    async fn sleeper(&self, slot: usize, latch: &'static Latch) -> Tx<Nap> {
        self.at(slot, move |inbox| sleeper(inbox, latch)).await
    }

    async fn nap(sleeper: &Tx<Nap>, time: Duration) {
        let (reply_tx, reply_rx) = oneshot::channel();
        send(sleeper, Nap(time, Some(reply_tx)));
        reply_rx.await.expect("a reply");
    }

    async fn sleepers(&self, count: u64, time: Duration, latch: &'static Latch) {
        let work = async move {
            for _ in 0..count {
                let sleeper = spawn(|inbox| sleeper(inbox, latch));
                send(&sleeper, Nap(time, None));
                std::mem::forget(sleeper);
            }
        };
        self.host.at(0, work).await;
    }

    async fn set_timers(&self, sink: &Tx<u64>, count: u64, delay: Duration) {
        let sink = sink.clone();
        let work = async move {
            for _ in 0..count {
                drop(tokio::spawn(tell_later(sink.clone(), delay)));
            }
        };
        self.host.at(0, work).await;
    }

    async fn set_and_cancel(&self, sink: &Tx<u64>, count: u64, delay: Duration) {
        let sink = sink.clone();
        let work = async move {
            for number in 0..count {
                let timer = tokio::spawn(tell_later(sink.clone(), delay));
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
            let mut registry = HashMap::new();
            let mut sinks = Vec::with_capacity((to - from) as usize);
            for index in from..to {
                let sink = spawn(|inbox| sink(inbox, latch));
                registry.insert(format!("sink-{index}"), sink.clone());
                sinks.push(sink);
            }
            for sink in &sinks {
                Self::tell(sink, LAST);
            }
            std::mem::forget(registry);
        };
        self.host.shared_out(2, first, count, work).await;
    }

    async fn skynet(&self, leaves: u64) -> u64 {
        let (result_tx, mut result_rx) = mpsc::unbounded_channel();
        self.host.handle(0).spawn(grow(0, leaves, result_tx));
        result_rx.recv().await.expect("the sum")
    }
}
