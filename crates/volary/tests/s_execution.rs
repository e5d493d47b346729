//! S5–S8: execution.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary::{DispatcherOptions, Env, SlowHandler};

/// Plain fields, no atomics: a second thread in here, or a write that is not seen, shows in the sum.
struct Tally {
    inside: Arc<AtomicBool>,
    sum: Cell<u64>,
    text: String,
}

#[actor]
impl Tally {
    fn add(&mut self) -> u64 {
        assert!(!self.inside.swap(true, Ordering::SeqCst), "two threads in one actor");
        self.sum.set(self.sum.get() + 1);
        self.text.push('x');
        assert_eq!(
            self.text.len() as u64,
            self.sum.get(),
            "a write of an earlier turn is not seen"
        );
        self.inside.store(false, Ordering::SeqCst);
        self.sum.get()
    }
    async fn add_slowly(&mut self) -> u64 {
        assert!(!self.inside.swap(true, Ordering::SeqCst), "two threads in one actor");
        let before = self.sum.get();
        self.inside.store(false, Ordering::SeqCst);
        tokio::task::yield_now().await;
        assert_eq!(self.sum.get(), before, "somebody ran while the handler was suspended");
        self.add()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn s5_one_actor_never_runs_on_two_threads() {
    let system = system().await;
    let inside = Arc::new(AtomicBool::new(false));
    let tally = system
        .spawn(move || Tally {
            inside: inside.clone(),
            sum: Cell::new(0),
            text: String::new(),
        })
        .on_fault(Directive::Stop)
        .await
        .unwrap();
    let tasks: Vec<_> = (0..16)
        .map(|n| {
            let tally = tally.clone();
            tokio::spawn(async move {
                for i in 0..300 {
                    match (n + i) % 3 {
                        0 => drop(tally.ask(Add).await.unwrap()),
                        1 => tally.tell(Add).unwrap(),
                        _ => drop(tally.ask(AddSlowly).await.unwrap()),
                    }
                }
            })
        })
        .collect();
    for task in tasks {
        soon("an asker", task).await.unwrap();
    }
    assert_eq!(tally.ask(Add).await.unwrap(), 16 * 300 + 1);
    system.stop().await.unwrap();
}

/// Keeps itself busy for ever.
struct Hog {
    turns: Arc<AtomicU64>,
}

#[actor]
impl Hog {
    fn spin(&mut self, ctx: &mut Context<Self>) {
        self.turns.fetch_add(1, Ordering::Relaxed);
        let _ = ctx.me().tell(Spin);
    }
}

/// Keeps each other busy for ever, through the last-in slot.
struct Player {
    other: Option<ActorRef<Player>>,
    balls: Arc<AtomicU64>,
}

#[actor]
impl Player {
    fn meet(&mut self, other: ActorRef<Player>) {
        self.other = Some(other);
    }
    fn ball(&mut self) {
        self.balls.fetch_add(1, Ordering::Relaxed);
        if let Some(other) = &self.other {
            let _ = other.tell(Ball);
        }
    }
}

/// Hogs and endless pairs on one thread; a third actor and a plain task still have their turn.
fn nobody_starves(runtime: tokio::runtime::Runtime) {
    within("fairness", move || {
        runtime.block_on(async {
            let system = system().await;
            let turns = Arc::new(AtomicU64::new(0));
            for _ in 0..4 {
                let turns = turns.clone();
                let hog = system.spawn(move || Hog { turns: turns.clone() }).await.unwrap();
                hog.tell(Spin).unwrap();
                hog.tell(Spin).unwrap();
            }
            let balls = Arc::new(AtomicU64::new(0));
            for _ in 0..4 {
                let factory = |balls: Arc<AtomicU64>| {
                    move || Player {
                        other: None,
                        balls: balls.clone(),
                    }
                };
                let one = system.spawn(factory(balls.clone())).await.unwrap();
                let two = system.spawn(factory(balls.clone())).await.unwrap();
                one.tell(Meet { other: two.clone() }).unwrap();
                two.tell(Meet { other: one.clone() }).unwrap();
                one.tell(Ball).unwrap();
            }
            let log = Log::new();
            let quiet = system.spawn(a_desk(&log)).await.unwrap();
            for number in 0..20 {
                let before = turns.load(Ordering::Relaxed) + balls.load(Ordering::Relaxed);
                quiet.tell(Note { number }).unwrap();
                eventually_async("the quiet one's turn", || log.has(&number.to_string())).await;
                let passed = turns.load(Ordering::Relaxed) + balls.load(Ordering::Relaxed) - before;
                // Twelve busy actors at 32 messages each, and the slack of one poll of a worker: far below this.
                assert!(passed < 200_000, "{passed} messages went before one of a ready actor");
            }
            let busy = turns.load(Ordering::Relaxed);
            eventually_async("the hogs go on", || turns.load(Ordering::Relaxed) > busy + 1_000).await;
            let busy = balls.load(Ordering::Relaxed);
            eventually_async("the pairs go on", || balls.load(Ordering::Relaxed) > busy + 1_000).await;
            soon("stop", system.stop()).await.unwrap();
        });
    });
}

#[test]
fn s6_nobody_starves_on_one_thread() {
    nobody_starves(
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap(),
    );
}

#[test]
fn s6_nobody_starves_on_two_threads() {
    nobody_starves(
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap(),
    );
}

#[test]
fn s6_the_budget_bounds_what_one_actor_may_do_before_another() {
    // On one worker of one thread: a backlog of thousands, and a ready actor behind it. It waits for a budget, not for all.
    within("fairness", || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let system = builder("fair").settings(|s| s.throughput(8)).start().await.unwrap();
            let log = Log::new();
            let backlog = system.spawn(a_desk(&log)).await.unwrap();
            let ready = system.spawn(a_desk(&log)).await.unwrap();
            for _ in 0..5_000 {
                backlog.tell(Note { number: 1 }).unwrap();
            }
            ready.tell(Note { number: 2 }).unwrap();
            eventually_async("all", || log.len() == 5_003).await;
            assert!(log.position("2") < 50, "{} messages went first", log.position("2"));
            system.stop().await.unwrap();
        });
    });
}

#[tokio::test(flavor = "current_thread")]
async fn s6_an_asker_is_not_kept_by_the_backlog_of_whom_it_asks() {
    let system = system().await;
    let turns = Arc::new(AtomicU64::new(0));
    let hog = system
        .spawn({
            let turns = turns.clone();
            move || Hog { turns: turns.clone() }
        })
        .await
        .unwrap();
    hog.tell(Spin).unwrap();
    for _ in 0..50 {
        soon("an ask to a busy actor", hog.ask(Spin)).await.unwrap();
    }
    hog.kill();
    soon("the kill of a busy actor", hog.terminated()).await;
    system.stop().await.unwrap();
}

#[test]
fn s7_while_a_handler_is_suspended_no_other_user_code_of_that_actor_runs() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let other = system.spawn(a_desk(&Log::new())).named("other").await.unwrap();
        let desk = system
            .spawn({
                let (log, other) = (log.clone(), other.clone());
                move || Patient {
                    log: log.clone(),
                    other: other.clone(),
                }
            })
            .await
            .unwrap();
        let (open, gate) = gate();
        desk.tell(Suspend { gate }).unwrap();
        desk.tell(Mark).unwrap();
        other.stop();
        other.terminated().await; // its `Terminated` waits
        system.sleep(Duration::from_secs(1)).await;
        assert_eq!(log.all(), ["suspended"], "something ran inside a suspended handler");
        open.send(()).unwrap();
        system.sleep(Duration::from_secs(1)).await;
        assert_eq!(log.all()[..2], ["suspended", "resumed"]);
        assert!(log.has("mark") && log.has("terminated"));
        system.stop().await.unwrap();
    });
}

struct Patient {
    log: Log,
    other: ActorRef<Desk>,
}

#[actor]
impl Patient {
    fn started(&mut self, ctx: &mut Context<Self>) {
        ctx.watch(&self.other);
    }
    async fn suspend(&mut self, gate: tokio::sync::oneshot::Receiver<()>) {
        self.log.push("suspended");
        let _ = gate.await;
        self.log.push("resumed");
    }
    fn mark(&mut self) {
        self.log.push("mark");
    }
    #[handles]
    fn terminated(&mut self, _: Terminated) {
        self.log.push("terminated");
    }
}

#[test]
fn s7_stop_waits_for_the_grace_then_drops_the_handler_and_its_asker_hears_stopped() {
    seeds(|env| async move {
        let system = builder("grace")
            .environment(env.clone())
            .settings(|s| {
                s.stop_grace(Duration::from_secs(2))
                    .ask_timeout(Duration::from_secs(60))
            })
            .start()
            .await
            .unwrap();
        let log = Log::new();
        let desk = system.spawn(a_desk(&log)).await.unwrap();
        let (_keep, gate) = gate();
        let mut asking = desk.ask(Wait { gate }).into_future();
        assert!(poll_with(&mut asking, &Bell::new()).is_pending());
        let behind = desk.ask(Note { number: 1 }).into_future();
        system.sleep(Duration::from_secs(1)).await;
        let before = env.now();
        desk.stop();
        system.sleep(Duration::from_secs(1)).await;
        assert!(desk.is_alive() && !log.has("wait dropped"), "the grace is not over");
        assert!(
            desk.tell(Note { number: 2 }).is_err(),
            "an actor that stops takes no mail"
        );
        desk.stop(); // again: no new grace
        assert!(matches!(asking.await, Err(AskError::Stopped)));
        let took = env.now().since(before);
        assert!(
            took >= Duration::from_secs(2) && took < Duration::from_millis(2_200),
            "{took:?}"
        );
        assert!(matches!(behind.await, Err(AskError::Stopped)));
        desk.terminated().await;
        assert_eq!(
            log.all(),
            ["started", "waiting", "wait dropped", "stopping", "stopped", "dropped"]
        );
        system.stop().await.unwrap();
    });
}

#[test]
fn s7_a_handler_that_ends_within_the_grace_ends_well() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let desk = system.spawn(a_desk(&log)).await.unwrap();
        let (open, gate) = gate();
        let mut asking = desk.ask(Wait { gate }).into_future();
        assert!(poll_with(&mut asking, &Bell::new()).is_pending());
        system.sleep(Duration::from_millis(1)).await;
        desk.stop();
        system.sleep(Duration::from_secs(1)).await;
        open.send(()).unwrap();
        assert!(matches!(asking.await, Ok(true)));
        desk.terminated().await;
        assert_eq!(
            log.all(),
            [
                "started",
                "waiting",
                "waited",
                "wait dropped",
                "stopping",
                "stopped",
                "dropped"
            ]
        );
        system.stop().await.unwrap();
    });
}

#[test]
fn s7_kill_drops_a_suspended_handler_at_once() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let desk = system.spawn(a_desk(&log)).await.unwrap();
        let (_keep, gate) = gate();
        let mut asking = desk.ask(Wait { gate }).into_future();
        assert!(poll_with(&mut asking, &Bell::new()).is_pending());
        system.sleep(Duration::from_millis(1)).await;
        let before = env.now();
        desk.kill();
        assert!(matches!(asking.await, Err(AskError::Stopped)));
        desk.terminated().await;
        assert_eq!(env.now(), before, "a kill waits for nothing");
        assert!(log.has("wait dropped"));
        system.stop().await.unwrap();
    });
}

#[test]
fn s7_a_kill_overtakes_a_stop_that_waits() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let desk = system.spawn(a_desk(&log)).await.unwrap();
        let (_keep, gate) = gate();
        desk.tell(Wait { gate }).unwrap();
        system.sleep(Duration::from_millis(1)).await;
        desk.stop();
        system.sleep(Duration::from_millis(1)).await;
        let before = env.now();
        desk.kill();
        desk.terminated().await;
        assert_eq!(env.now(), before);
        system.stop().await.unwrap();
    });
}

#[test]
fn s7_restart_waits_for_the_grace_then_drops_the_handler() {
    seeds(|env| async move {
        let system = builder("grace")
            .environment(env.clone())
            .settings(|s| {
                s.stop_grace(Duration::from_secs(2))
                    .ask_timeout(Duration::from_secs(60))
            })
            .start()
            .await
            .unwrap();
        let log = Log::new();
        let desk = system.spawn(a_desk(&log)).await.unwrap();
        let (_keep, gate) = gate();
        let mut asking = desk.ask(Wait { gate }).into_future();
        assert!(poll_with(&mut asking, &Bell::new()).is_pending());
        desk.tell(Note { number: 1 }).unwrap();
        let before = env.now();
        for _ in 0..4 {
            desk.restart(); // again and again: the grace is one
            system.sleep(Duration::from_millis(700)).await;
        }
        assert!(matches!(asking.await, Err(AskError::Stopped)));
        assert!(
            env.now().since(before) < Duration::from_secs(4),
            "{:?}",
            env.now().since(before)
        );
        desk.drain();
        desk.terminated().await;
        assert!(log.has("1"), "the mailbox stays");
        system.stop().await.unwrap();
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s8_a_handler_that_blocks_a_worker_is_counted_and_named() {
    let system = builder("slow")
        .settings(|s| s.slow_handler(Duration::from_millis(20)))
        .start()
        .await
        .unwrap();
    let slow = system.events().subscribe::<SlowHandler>();
    let log = Log::new();
    let desk = system.spawn(a_desk(&log)).named("sloth").await.unwrap();
    let (open, gate) = std::sync::mpsc::channel();
    desk.tell(Block { gate }).unwrap();
    let event = soon("the event", slow.next()).await.unwrap();
    assert_eq!(event.path.to_string(), "/user/sloth");
    assert_eq!(event.id, desk.id());
    assert!(event.running >= Duration::from_millis(20));
    assert_eq!(system.metrics().slow_handlers, 1);
    // Others go on meanwhile.
    let other = system.spawn(a_desk(&Log::new())).await.unwrap();
    other.tell(Note { number: 1 }).unwrap();
    assert_eq!(soon("somebody else", other.ask(Note { number: 2 })).await.unwrap(), 2);
    open.send(()).unwrap();
    assert_eq!(soon("the sloth itself", desk.ask(Note { number: 1 })).await.unwrap(), 1);
    assert_eq!(system.metrics().slow_handlers, 1, "one blockage, one warning");
    system.stop().await.unwrap();
}

/// What a blocked worker made ready before it blocked is run by others: its ring and its last-in slot.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s8_others_take_over_the_queue_of_a_blocked_worker() {
    let system = system().await;
    let log = Log::new();
    let mut desks = Vec::new();
    for _ in 0..40 {
        desks.push(system.spawn(a_desk(&log)).await.unwrap());
    }
    for count in [1, 2, 40] {
        let before = log.count("7");
        let (open, gate) = std::sync::mpsc::channel();
        let blocker = system
            .spawn({
                let desks = desks[..count].to_vec();
                move || Blocker { desks: desks.clone() }
            })
            .await
            .unwrap();
        blocker.tell(TellAndBlock { gate }).unwrap();
        eventually_async("what the blocked worker has sent", || log.count("7") == before + count).await;
        open.send(()).unwrap();
    }
    system.stop().await.unwrap();
}

struct Blocker {
    desks: Vec<ActorRef<Desk>>,
}

#[actor]
impl Blocker {
    fn tell_and_block(&mut self, gate: std::sync::mpsc::Receiver<()>) {
        for desk in &self.desks {
            desk.tell(Note { number: 7 }).unwrap();
        }
        let _ = gate.recv();
    }
    async fn pass_on(&mut self, gate: std::sync::mpsc::Receiver<()>) {
        let _ = self.desks[0].ask(Block { gate }).timeout(Duration::from_secs(60)).await;
    }
}

/// An ask runs its target on the asker's thread: the one who blocks is to be named, not the one who asked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s8_the_warning_names_the_actor_that_blocks_not_its_asker() {
    let system = builder("slow")
        .settings(|s| s.slow_handler(Duration::from_millis(20)))
        .start()
        .await
        .unwrap();
    let slow = system.events().subscribe::<SlowHandler>();
    let log = Log::new();
    let desk = system.spawn(a_desk(&log)).named("sloth").await.unwrap();
    let asker = system
        .spawn({
            let desks = vec![desk.clone()];
            move || Blocker { desks: desks.clone() }
        })
        .named("innocent")
        .await
        .unwrap();
    let (open, gate) = std::sync::mpsc::channel();
    asker.tell(PassOn { gate }).unwrap();
    let event = soon("the event", slow.next()).await.unwrap();
    open.send(()).unwrap();
    assert_eq!(event.path.to_string(), "/user/sloth");
    system.stop().await.unwrap();
}

/// The same when the asker is a task of the caller: a thread of its runtime is blocked all the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s8_a_handler_that_blocks_the_thread_of_an_asking_task_is_visible() {
    let system = builder("slow")
        .settings(|s| s.slow_handler(Duration::from_millis(20)))
        .start()
        .await
        .unwrap();
    let slow = system.events().subscribe::<SlowHandler>();
    let log = Log::new();
    let desk = system.spawn(a_desk(&log)).named("sloth").await.unwrap();
    let (open, gate) = std::sync::mpsc::channel();
    let asking = tokio::spawn({
        let desk = desk.clone();
        async move { desk.ask(Block { gate }).timeout(Duration::from_secs(60)).await }
    });
    eventually_async("it blocks", || log.has("blocking")).await;
    let event = tokio::time::timeout(Duration::from_secs(3), slow.next()).await;
    open.send(()).unwrap();
    soon("the ask", asking).await.unwrap().unwrap();
    let event = event.expect("a blocked thread was not noticed").unwrap();
    assert_eq!(event.path.to_string(), "/user/sloth");
    system.stop().await.unwrap();
}

/// The same on a dispatcher of one's own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s8_a_slow_handler_on_a_named_dispatcher_is_visible() {
    let system = builder("slow")
        .settings(|s| s.slow_handler(Duration::from_millis(20)))
        .dispatcher("own", DispatcherOptions::new().workers(2))
        .start()
        .await
        .unwrap();
    let slow = system.events().subscribe::<SlowHandler>();
    let log = Log::new();
    let desk = system
        .spawn(a_desk(&log))
        .named("sloth")
        .dispatcher(Dispatcher::Named("own".to_owned()))
        .await
        .unwrap();
    let (open, gate) = std::sync::mpsc::channel();
    desk.tell(Block { gate }).unwrap();
    let event = soon("the event", slow.next()).await.unwrap();
    assert_eq!(event.path.to_string(), "/user/sloth");
    open.send(()).unwrap();
    system.stop().await.unwrap();
}

/// Blocking where blocking is allowed is no news.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s8_a_handler_may_block_on_the_blocking_dispatcher() {
    let system = builder("slow")
        .settings(|s| s.slow_handler(Duration::from_millis(5)))
        .start()
        .await
        .unwrap();
    let log = Log::new();
    let desk = system
        .spawn(a_desk(&log))
        .dispatcher(Dispatcher::Blocking)
        .await
        .unwrap();
    let sloth = system.spawn(a_desk(&Log::new())).await.unwrap();
    let slow = system.events().subscribe::<SlowHandler>();
    let (open, gate) = std::sync::mpsc::channel();
    desk.tell(Block { gate }).unwrap();
    eventually_async("it blocks", || log.has("blocking")).await;
    // By the time that a worker was found slow, the other would have been found too.
    let (open_other, gate) = std::sync::mpsc::channel();
    sloth.tell(Block { gate }).unwrap();
    assert_eq!(soon("the event", slow.next()).await.unwrap().id, sloth.id());
    assert!(slow.try_next().is_none());
    open.send(()).unwrap();
    open_other.send(()).unwrap();
    system.stop().await.unwrap();
}

/// Is seen to be slow whenever it is told to.
struct Sloth {
    log: Log,
}

#[actor]
impl Sloth {
    fn dawdle(&mut self, ctx: &mut Context<Self>) {
        let me = ctx.me();
        eventually("somebody sees it", || me.status().slow);
    }
    fn thread(&mut self) -> std::thread::ThreadId {
        std::thread::current().id()
    }
    fn say(&mut self, word: &'static str) {
        self.log.push(word);
    }
    /// Makes both ready in one turn, so that they stand in the queue of the same worker.
    fn fill(&mut self, slow: ActorRef<Sloth>, other: ActorRef<Sloth>) {
        slow.tell_all((0..10).map(|_| Say { word: "slow" })).unwrap();
        other.tell_all((0..80).map(|_| Say { word: "other" })).unwrap();
    }
}

/// This thread belongs to the test: no worker ever lives on it, only asks can bring an actor here.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s8_an_actor_seen_to_be_slow_is_not_run_by_askers() {
    let system = system().await;
    let log = Log::new();
    let sloth = system.spawn(move || Sloth { log: log.clone() }).await.unwrap();
    let here = std::thread::current().id();
    let until = std::time::Instant::now() + PATIENCE;
    while soon("a quick one", sloth.ask(Thread)).await.unwrap() != here {
        assert!(
            std::time::Instant::now() < until,
            "no ask was ever run where it was made"
        );
    }
    assert!(!sloth.status().slow);
    sloth.tell(Dawdle).unwrap();
    eventually_async("it is seen", || sloth.status().slow).await;
    for _ in 0..30 {
        // Fewer than it takes to be forgiven.
        eventually_async("it is idle", || !sloth.status().busy).await;
        assert_ne!(soon("a slow one", sloth.ask(Thread)).await.unwrap(), here);
    }
    system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s8_an_actor_seen_to_be_slow_has_one_message_per_turn() {
    let system = builder("turns")
        .settings(|s| s.workers(2).throughput(8))
        .start()
        .await
        .unwrap();
    let log = Log::new();
    let mut actors = Vec::new();
    for _ in 0..3 {
        let log = log.clone();
        actors.push(system.spawn(move || Sloth { log: log.clone() }).await.unwrap());
    }
    let [slow, other, filler] = &actors[..] else {
        unreachable!()
    };
    slow.tell(Dawdle).unwrap();
    eventually_async("it is seen", || slow.status().slow && !slow.status().busy).await;
    // With one of the two workers kept busy, the order is that of the other's queue.
    let blocked = Log::new();
    let blocker = system.spawn(a_desk(&blocked)).await.unwrap();
    let (open, gate) = std::sync::mpsc::channel();
    blocker.tell(Block { gate }).unwrap();
    eventually_async("it blocks", || blocked.has("blocking")).await;
    filler
        .tell(Fill {
            slow: slow.clone(),
            other: other.clone(),
        })
        .unwrap();
    eventually_async("all is said", || log.len() == 90).await;
    open.send(()).unwrap();
    let said = log.all();
    let rivals = said.iter().rposition(|word| word == "other").unwrap();
    assert!(
        said[..rivals].windows(2).all(|two| two != ["slow", "slow"]),
        "two in a row while another was ready: {said:?}"
    );
    system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s8_an_actor_that_is_quick_again_is_not_slow_any_more() {
    let system = builder("forgiven").settings(|s| s.workers(2)).start().await.unwrap();
    let log = Log::new();
    let sloth = log.clone();
    let slow = system.spawn(move || Sloth { log: sloth.clone() }).await.unwrap();
    slow.tell(Dawdle).unwrap();
    eventually_async("it is seen", || slow.status().slow && !slow.status().busy).await;
    eventually_async("it is forgiven", || {
        slow.tell(Say { word: "quick" }).unwrap();
        !slow.status().slow
    })
    .await;
    system.stop().await.unwrap();
}
