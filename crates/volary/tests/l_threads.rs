//! L14, S13: threads. One test at a time, because they count the threads of the process.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary::{DispatcherOptions, SpawnError};

static ALONE: Mutex<()> = Mutex::new(());

/// Threads of this process by name.
fn threads() -> BTreeMap<String, usize> {
    let mut threads = BTreeMap::new();
    for entry in std::fs::read_dir("/proc/self/task").unwrap() {
        // One that ends while we look is gone.
        if let Ok(name) = std::fs::read_to_string(entry.unwrap().path().join("comm")) {
            *threads.entry(name.trim().to_owned()).or_default() += 1;
        }
    }
    threads
}

/// What a test that failed has left behind is not counted against those after it.
static LEFT: AtomicUsize = AtomicUsize::new(0);

/// Threads of the runtime under test.
fn ours() -> usize {
    let count: usize = threads()
        .iter()
        .filter(|(name, _)| name.starts_with("volary"))
        .map(|(_, count)| count)
        .sum();
    count.saturating_sub(LEFT.load(Ordering::SeqCst))
}

/// Those and the threads of tokio. Others are of the test harness, which may begin with the next test at any time.
fn all() -> usize {
    let ours = |name: &str| name.starts_with("volary") || name.starts_with("tokio");
    threads()
        .iter()
        .filter(|(name, _)| ours(name))
        .map(|(_, count)| count)
        .sum()
}

fn alone(story: impl FnOnce() + Send + 'static) {
    alone_within(3 * PATIENCE, story);
}

fn alone_within(time: Duration, story: impl FnOnce() + Send + 'static) {
    let _alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
    LEFT.store(0, Ordering::SeqCst);
    // One that was joined just now may still be listed for a moment.
    let began = std::time::Instant::now();
    while ours() > 0 && began.elapsed() < Duration::from_secs(1) {
        std::thread::yield_now();
    }
    LEFT.store(ours(), Ordering::SeqCst);
    within_time(time, "a story about threads", story);
}

fn several() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}

struct Idle;

#[actor]
impl Idle {
    fn poke(&mut self) -> std::thread::ThreadId {
        std::thread::current().id()
    }
    fn name_of_thread(&mut self) -> String {
        std::thread::current().name().unwrap_or_default().to_owned()
    }
    async fn suspend(&mut self, gate: tokio::sync::oneshot::Receiver<()>) -> std::thread::ThreadId {
        let _ = gate.await;
        std::thread::current().id()
    }
}

#[test]
fn l14_a_million_actors_need_no_more_threads_than_one() {
    // Some seconds without optimization, if the machine has nothing else to do.
    alone_within(12 * PATIENCE, || {
        several().block_on(async {
            let system = system().await;
            let first = system.spawn(|| Idle).await.unwrap();
            first.ask(Poke).await.unwrap();
            eventually_async("the clock and two of tokio", || ours() == 1 && all() == 3).await;
            let mut actors = Vec::new();
            for _ in 0..1_000_000 {
                actors.push(system.spawn(|| Idle).start().unwrap());
            }
            for actor in &actors {
                actor.tell(Poke).unwrap();
            }
            for actor in actors.iter().step_by(10_000) {
                actor.ask(Poke).await.unwrap();
            }
            assert_eq!(system.actor_count(), 1_000_001);
            assert_eq!(all(), 3, "{:?}", threads());
            system.stop().await.unwrap();
            assert_eq!(system.actor_count(), 0);
        });
    });
}

#[test]
fn s13_a_stopped_system_leaves_no_thread_on_the_callers_runtime() {
    alone(|| {
        several().block_on(async {
            tokio::task::spawn_blocking(|| ()).await.unwrap();
            for _ in 0..3 {
                let system = builder("threads")
                    .dispatcher("own", DispatcherOptions::new().workers(2))
                    .start()
                    .await
                    .unwrap();
                for dispatcher in [Dispatcher::Default, Dispatcher::Blocking, Dispatcher::Pinned] {
                    let idle = system.spawn(|| Idle).dispatcher(dispatcher).await.unwrap();
                    idle.ask(Poke).await.unwrap();
                }
                eventually_async("a clock, a blocking and a pinned one", || ours() >= 3).await;
                system.stop().await.unwrap();
                eventually_async("no thread is listed", || ours() == 0).await;
            }
            // Tasks too: nothing of ours is on the runtime any more.
            eventually_async("no task", || {
                tokio::runtime::Handle::current().metrics().num_alive_tasks() == 0
            })
            .await;
        });
    });
}

#[test]
fn s13_a_stopped_system_leaves_no_thread_of_a_runtime_it_brought() {
    alone(|| {
        for _ in 0..3 {
            let system = builder("own").start_now().unwrap();
            let idle = block_on(system.spawn(|| Idle).into_future()).unwrap();
            block_on(idle.ask(Poke).into_future()).unwrap();
            assert!(ours() > 0);
            block_on(system.stop()).unwrap();
            eventually("no thread is left", || ours() == 0);
        }
    });
}

#[test]
fn s13_a_system_that_was_stopped_from_a_handler_leaves_no_thread() {
    alone(|| {
        let system = builder("own").start_now().unwrap();
        let ender = block_on(system.spawn(|| Ender).into_future()).unwrap();
        ender.tell(End).unwrap();
        block_on(ender.terminated());
        drop((system, ender));
        eventually("no thread is left", || ours() == 0);
    });
}

struct Ender;

#[actor]
impl Ender {
    async fn end(&mut self, ctx: &mut Context<Self>) {
        ctx.system().stop().await.unwrap();
    }
}

#[test]
fn l3_a_failed_start_of_the_system_leaves_no_thread() {
    alone(|| {
        for _ in 0..3 {
            builder("no spaces").start_now().unwrap_err();
            builder("x").settings(|s| s.workers(0)).start_now().unwrap_err();
            builder("x")
                .dispatcher("default", DispatcherOptions::new())
                .start_now()
                .unwrap_err();
        }
        assert_eq!(ours(), 0, "{:?}", threads());
    });
}

#[test]
fn l14_a_pinned_actor_has_one_thread_for_as_long_as_it_lives() {
    alone(|| {
        several().block_on(async {
            let system = system().await;
            eventually_async("the clock", || ours() == 1).await; // a thread names itself when it runs
            let before = ours();
            let (one, two) = (
                system.spawn(|| Idle).dispatcher(Dispatcher::Pinned).await.unwrap(),
                system.spawn(|| Idle).dispatcher(Dispatcher::Pinned).await.unwrap(),
            );
            let (first, second) = (one.ask(Poke).await.unwrap(), two.ask(Poke).await.unwrap());
            assert_ne!(first, second);
            assert_ne!(first, std::thread::current().id());
            for _ in 0..20 {
                assert_eq!(one.ask(Poke).await.unwrap(), first);
                let (open, gate) = gate();
                let ask = one.ask(Suspend { gate }).into_future();
                open.send(()).unwrap();
                assert_eq!(ask.await.unwrap(), first, "it wakes up where it fell asleep");
            }
            eventually_async("two threads", || ours() == before + 2).await;
            one.stop();
            two.kill();
            one.terminated().await;
            two.terminated().await;
            drop((one, two));
            eventually_async("the threads of the dead", || ours() == before).await;
            system.stop().await.unwrap();
        });
    });
}

#[test]
fn l14_blocking_actors_get_threads_that_leave_again() {
    alone(|| {
        several().block_on(async {
            let system = builder("blocking")
                .settings(|s| s.blocking_threads(8).blocking_keep_alive(Duration::from_millis(20)))
                .start()
                .await
                .unwrap();
            eventually_async("the clock", || ours() == 1).await;
            let before = ours();
            let log = Log::new();
            let mut gates = Vec::new();
            for _ in 0..20 {
                let log = log.clone();
                let desk = system
                    .spawn(move || Desk::new(&log))
                    .dispatcher(Dispatcher::Blocking)
                    .start()
                    .unwrap();
                let (open, gate) = std::sync::mpsc::channel();
                desk.tell(Block { gate }).unwrap();
                gates.push(open);
            }
            eventually_async("eight block", || log.count("blocking") == 8).await;
            eventually_async("eight threads", || ours() == before + 8).await;
            // The default workers are free.
            let idle = system.spawn(|| Idle).await.unwrap();
            idle.tell(Poke).unwrap();
            soon("an ask", idle.ask(Poke)).await.unwrap();
            drop(gates);
            eventually_async("all of them", || log.count("unblocked") == 20).await;
            eventually_async("the threads leave", || ours() == before).await;
            // And come back.
            let late = system.spawn(|| Idle).dispatcher(Dispatcher::Blocking).await.unwrap();
            assert!(late.ask(NameOfThread).await.unwrap().starts_with("volary-blocking"));
            system.stop().await.unwrap();
        });
    });
}

#[test]
fn l14_an_unknown_dispatcher_is_refused_and_the_known_are_listed() {
    alone(|| {
        several().block_on(async {
            let system = builder("d")
                .dispatcher("own", DispatcherOptions::new())
                .start()
                .await
                .unwrap();
            let error = system
                .spawn(|| Idle)
                .dispatcher(Dispatcher::Named("onw".to_owned()))
                .await
                .unwrap_err();
            assert!(matches!(&error, SpawnError::UnknownDispatcher { name, .. } if name == "onw"));
            for known in ["default", "blocking", "pinned", "own"] {
                assert!(error.to_string().contains(known), "{error}");
            }
            let own = system
                .spawn(|| Idle)
                .dispatcher(Dispatcher::Named("own".to_owned()))
                .await
                .unwrap();
            own.ask(Poke).await.unwrap();
            system.stop().await.unwrap();
        });
    });
}

/// The operating system gives no thread until it is told to.
struct Threadless {
    real: std::sync::Arc<dyn volary::Env>,
    /// So many more.
    gives: std::sync::Arc<AtomicUsize>,
}

impl volary::Env for Threadless {
    fn now(&self) -> volary::Moment {
        self.real.now()
    }
    fn wall(&self) -> std::time::SystemTime {
        self.real.wall()
    }
    fn random(&self) -> u64 {
        self.real.random()
    }
    fn spawn(&self, task: volary::BoxTask) {
        self.real.spawn(task);
    }
    fn spawn_thread(&self, name: &str, body: Box<dyn FnOnce() + Send>) -> Option<std::thread::JoinHandle<()>> {
        let one_less = |left: usize| left.checked_sub(1);
        let given = self.gives.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less);
        given.ok().and_then(|_| self.real.spawn_thread(name, body))
    }
    fn parallelism(&self) -> usize {
        2
    }
    fn tokio(&self) -> Option<tokio::runtime::Handle> {
        self.real.tokio()
    }
    fn attach(&self, driver: std::sync::Weak<dyn volary::Driver>) -> std::io::Result<()> {
        let real = self.real.clone();
        let drive = move || {
            while let Some(driver) = driver.upgrade() {
                driver.drive(real.now());
                drop(driver);
                std::thread::park_timeout(Duration::from_millis(1));
            }
        };
        std::thread::Builder::new().spawn(drive).map(drop)
    }
    fn timer_changed(&self, _: volary::Moment) {}
    fn disk(&self) -> std::sync::Arc<dyn volary::Disk> {
        self.real.disk()
    }
}

/// A system whose environment has so many threads to give, and what says so.
async fn threadless(host: &ActorSystem, gives: usize) -> (ActorSystem, std::sync::Arc<AtomicUsize>) {
    let gives = std::sync::Arc::new(AtomicUsize::new(gives));
    let env = Threadless {
        real: host.world().clone(),
        gives: gives.clone(),
    };
    let system = builder("threadless").environment(env).start().await.unwrap();
    (system, gives)
}

fn is_own(thread: &str) -> bool {
    thread == "volary-pinned" || thread == "volary-blocking"
}

#[test]
fn l14_s9_an_actor_whose_thread_cannot_be_made_runs_nevertheless_and_has_one_later() {
    alone(|| {
        several().block_on(async {
            let host = system().await;
            for dispatcher in [Dispatcher::Pinned, Dispatcher::Blocking] {
                let (system, gives) = threadless(&host, 0).await;
                let spawned = system.spawn(|| Idle).dispatcher(dispatcher);
                let actor = soon("a start", spawned.into_future()).await.unwrap();
                let name = soon("an answer", actor.ask(NameOfThread).into_future()).await.unwrap();
                assert!(!is_own(&name), "no thread could be made, but there is {name}");
                gives.store(usize::MAX, Ordering::SeqCst);
                // Not at once, if its turn elsewhere is not over yet.
                let has_own = async { while !is_own(&actor.ask(NameOfThread).await.unwrap()) {} };
                soon("a thread of its own", has_own).await;
                actor.kill();
                soon("the end", actor.terminated()).await;
                soon("stop", system.stop()).await.unwrap();
            }
            soon("stop", host.stop()).await.unwrap();
        });
    });
}

/// Always has more to do, and says where it does it.
struct Tireless(std::sync::Arc<Mutex<String>>);

#[actor]
impl Tireless {
    fn go_on(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        let name = std::thread::current().name().unwrap_or_default().to_owned();
        *self.0.lock().unwrap() = name;
        ctx.me().tell(GoOn).or_fault()
    }
}

#[test]
fn l14_an_actor_that_always_has_mail_has_its_thread_as_soon_as_one_can_be_made() {
    alone(|| {
        several().block_on(async {
            let host = system().await;
            for dispatcher in [Dispatcher::Pinned, Dispatcher::Blocking] {
                let (system, gives) = threadless(&host, 0).await;
                let place = std::sync::Arc::<Mutex<String>>::default();
                let told = place.clone();
                let spawned = system.spawn(move || Tireless(told.clone())).dispatcher(dispatcher);
                let actor = soon("a start", spawned.into_future()).await.unwrap();
                actor.tell(GoOn).unwrap();
                eventually_async("it runs", || !place.lock().unwrap().is_empty()).await;
                assert!(!is_own(&place.lock().unwrap()));
                gives.store(usize::MAX, Ordering::SeqCst);
                eventually_async("its own thread", || is_own(&place.lock().unwrap())).await;
                actor.kill();
                soon("the end", actor.terminated()).await;
                soon("stop", system.stop()).await.unwrap();
            }
            soon("stop", host.stop()).await.unwrap();
        });
    });
}

/// Blocks its thread until the other has answered.
struct Waiting(ActorRef<Idle>);

#[actor]
impl Waiting {
    fn ask_and_block(&mut self) -> Result<String, Fault> {
        block_on(self.0.ask(NameOfThread).into_future()).or_fault()
    }
}

#[test]
fn l14_who_waits_on_the_last_thread_that_can_be_made_is_answered() {
    alone(|| {
        several().block_on(async {
            let host = system().await;
            let (system, _) = threadless(&host, 1).await;
            let blocking = |idle: ActorRef<Idle>| system.spawn(move || Waiting(idle.clone()));
            let idle = system.spawn(|| Idle).dispatcher(Dispatcher::Blocking);
            let idle = soon("a start", idle.into_future()).await.unwrap();
            let waiting = blocking(idle).dispatcher(Dispatcher::Blocking);
            let waiting = soon("a start", waiting.into_future()).await.unwrap();
            let name = soon("an answer", waiting.ask(AskAndBlock).into_future()).await.unwrap();
            assert!(!is_own(&name), "there is only one such thread, which waits: {name}");
            soon("stop", system.stop()).await.unwrap();
            soon("stop", host.stop()).await.unwrap();
        });
    });
}
