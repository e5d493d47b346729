//! What the contract tests share: waiting without sleeping, seeds, and an actor that does as it is told.
#![allow(
    dead_code,
    unreachable_pub,
    missing_docs,
    clippy::unwrap_used,
    reason = "each file uses its part, in tests only"
)]

pub mod journal;
mod story_env;

use std::future::{Future, IntoFuture};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context as TaskContext, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use volary::prelude::*;
use volary::{ActorId, Env, SeededEnv, SystemBuilder};
use volary_testkit::Sim;

pub use story_env::StoryEnv;

/// So many interleavings of a story are tried in the simulator.
const SIMULATED_SEEDS: u64 = 50;

/// Longer than anything takes that ends at all.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Waits for a condition on real threads.
pub fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < until, "never came: {what}");
        std::thread::yield_now();
    }
}

/// The same from a task, which lets the runtime go on.
pub async fn eventually_async(what: &str, mut condition: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < until, "never came: {what}");
        tokio::task::yield_now().await;
    }
}

/// A future that must end.
pub async fn soon<F: IntoFuture>(what: &str, future: F) -> F::Output {
    match tokio::time::timeout(PATIENCE, future).await {
        Ok(output) => output,
        Err(_) => panic!("never ended: {what}"),
    }
}

/// Runs `body` on a thread of its own, and fails instead of hanging when it does not end.
pub fn within<T: Send + 'static>(what: &str, body: impl FnOnce() -> T + Send + 'static) -> T {
    within_time(3 * PATIENCE, what, body)
}

/// The same for one that has much to do.
pub fn within_time<T: Send + 'static>(time: Duration, what: &str, body: impl FnOnce() -> T + Send + 'static) -> T {
    let (send, receive) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        let _ = send.send(body());
    });
    match receive.recv_timeout(time) {
        Ok(value) => value,
        Err(std::sync::mpsc::RecvTimeoutError::Timeout) => panic!("never ended: {what}"),
        Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => {
            std::panic::resume_unwind(thread.join().expect_err("it sent nothing"))
        }
    }
}

struct Unpark(std::thread::Thread, AtomicBool);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.1.store(true, Ordering::SeqCst);
        self.0.unpark();
    }
}

/// The smallest executor: no tokio anywhere.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let unpark = Arc::new(Unpark(std::thread::current(), AtomicBool::new(false)));
    let waker = Waker::from(unpark.clone());
    let until = Instant::now() + PATIENCE;
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut TaskContext::from_waker(&waker)) {
            return output;
        }
        while !unpark.1.swap(false, Ordering::SeqCst) {
            let left = until.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "never woken");
            std::thread::park_timeout(left);
        }
    }
}

/// A waker that counts.
#[derive(Default)]
pub struct Bell(AtomicUsize);

impl Bell {
    pub fn new() -> Arc<Self> {
        Arc::default()
    }
    pub fn rung(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Polls once.
pub fn poll_with<F: Future + Unpin>(future: &mut F, bell: &Arc<Bell>) -> Poll<F::Output> {
    Pin::new(future).poll(&mut TaskContext::from_waker(&Waker::from(bell.clone())))
}

/// The same story under many interleavings, of the core's own environment and of the simulator; one that spins or waits for
/// ever fails.
pub fn seeds<F: Future<Output = ()>>(story: impl Fn(StoryEnv) -> F + Send + 'static) {
    within("a story under a seed", move || {
        under_seeds(&story);
        for seed in 0..SIMULATED_SEEDS {
            Sim::new(seed).run(|sim| story(StoryEnv::simulated(&sim.node("sim"))));
        }
    });
}

/// The same for stories that know the time to the millisecond. In the simulator every step takes a little.
pub fn seeds_by_the_clock<F: Future<Output = ()>>(story: impl Fn(StoryEnv) -> F + Send + 'static) {
    within("a story under a seed", move || under_seeds(&story));
}

fn under_seeds<F: Future<Output = ()>>(story: &impl Fn(StoryEnv) -> F) {
    for seed in 0..200 {
        let env = SeededEnv::new(seed);
        let told = || env.block_on(story(StoryEnv::seeded(&env)));
        let run = std::panic::catch_unwind(std::panic::AssertUnwindSafe(told));
        if let Err(panic) = run {
            eprintln!("seed {seed}");
            std::panic::resume_unwind(panic);
        }
    }
}

pub fn builder(name: &str) -> SystemBuilder {
    ActorSystem::builder(name)
        .ignore_environment()
        .settings(|s| s.log_config(false))
}

pub async fn system() -> ActorSystem {
    builder("test").start().await.unwrap()
}

pub async fn simulated(env: &(impl Env + Clone)) -> ActorSystem {
    builder("sim").environment(env.clone()).start().await.unwrap()
}

/// What happened, in order.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub fn new() -> Self {
        Log::default()
    }
    pub fn push(&self, what: impl ToString) {
        self.0.lock().unwrap_or_else(|e| e.into_inner()).push(what.to_string());
    }
    pub fn all(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(|e| e.into_inner()).clone()
    }
    pub fn len(&self) -> usize {
        self.all().len()
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    pub fn count(&self, what: &str) -> usize {
        self.all().iter().filter(|entry| *entry == what).count()
    }
    pub fn has(&self, what: &str) -> bool {
        self.count(what) > 0
    }
    pub fn position(&self, what: &str) -> usize {
        self.all()
            .iter()
            .position(|entry| entry == what)
            .unwrap_or_else(|| panic!("no {what} in {:?}", self.all()))
    }
}

/// Writes into a log when it is dropped.
pub struct OnDrop(pub Log, pub &'static str);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.push(self.1);
    }
}

/// The error that `Fail` crashes with.
#[derive(Debug, PartialEq, Eq)]
pub struct Broken(pub u32);

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "broken {}", self.0)
    }
}

impl std::error::Error for Broken {}

#[derive(Debug, PartialEq, Eq, volary::Rejection)]
pub struct Refused(pub u32);

/// Does as it is told, and writes down what it did.
pub struct Desk {
    pub log: Log,
    pub handled: u64,
    gone: OnDrop,
}

#[actor]
impl Desk {
    pub fn new(log: &Log) -> Self {
        Desk {
            log: log.clone(),
            handled: 0,
            gone: OnDrop(log.clone(), "dropped"),
        }
    }

    fn started(&mut self) {
        self.log.push("started");
    }

    fn stopping(&mut self) {
        self.log.push("stopping");
    }

    fn stopped(&mut self) {
        self.log.push("stopped");
    }

    /// Writes down a number and says how many messages this incarnation of the state has seen.
    pub fn note(&mut self, number: u64) -> u64 {
        self.log.push(number);
        self.handled += 1;
        self.handled
    }

    /// Suspended until the gate opens, or for ever.
    pub async fn wait(&mut self, gate: oneshot::Receiver<()>) -> bool {
        let _gone = OnDrop(self.log.clone(), "wait dropped");
        self.log.push("waiting");
        let opened = gate.await.is_ok();
        self.log.push("waited");
        opened
    }

    /// Suspended on the system's clock.
    pub async fn nap(&mut self, ctx: &mut Context<Self>, time: Duration) {
        self.log.push("napping");
        ctx.sleep(time).await;
        self.log.push("napped");
    }

    /// Keeps its thread until the gate opens.
    pub fn block(&mut self, gate: std::sync::mpsc::Receiver<()>) {
        self.log.push("blocking");
        let _ = gate.recv();
        self.log.push("unblocked");
    }

    pub fn crash(&mut self) -> u64 {
        panic!("as told")
    }

    pub fn fail(&mut self, code: u32) -> Result<u64, Fault> {
        Err(Broken(code)).or_fault()
    }

    pub fn refuse(&mut self, code: u32) -> Result<u64, Refused> {
        Err(Refused(code))
    }

    pub fn who(&mut self, ctx: &mut Context<Self>) -> Option<ActorId> {
        ctx.sender()
    }

    pub fn time_left(&mut self, ctx: &mut Context<Self>) -> Option<Duration> {
        ctx.time_left()
    }

    /// Answers never, and forgets the question.
    pub fn forget(&mut self, reply: ReplyTo<u64>) {
        drop(reply);
    }

    #[handles]
    fn terminated(&mut self, gone: Terminated) {
        self.log.push(format!("gone {}", gone.path()));
    }
}

/// Makes desks that write into this log.
pub fn a_desk(log: &Log) -> impl Fn() -> Desk + Send + Sync + Clone + use<> {
    let log = log.clone();
    move || Desk::new(&log)
}

/// A gate, and what opens it.
pub fn gate() -> (oneshot::Sender<()>, oneshot::Receiver<()>) {
    oneshot::channel()
}
