//! S9–S13 and S21: life and failure.
mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary::{
    ActorFailed, ActorRestarted, ActorStarted, ActorStopped, AskError, DeadLetter, Env, SpawnError, StopProblem,
    SystemStartError,
};

/// Starts as its plan says: how often to fail, and how.
#[derive(Clone, Default)]
struct Plan {
    log: Log,
    tries: Arc<AtomicU32>,
    fail_first: u32,
    how: How,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum How {
    #[default]
    Error,
    Panic,
    ErrorLater,
    Hang,
}

struct Starter(Plan);

#[actor]
impl Starter {
    async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        let plan = &self.0;
        let n = plan.tries.fetch_add(1, Ordering::SeqCst) + 1;
        plan.log.push(format!("try {n}"));
        if n <= plan.fail_first {
            match plan.how {
                How::Error => return Err(Broken(n)).or_fault(),
                How::Panic => panic!("start {n}"),
                How::ErrorLater => {
                    ctx.sleep(Duration::from_millis(1)).await;
                    return Err(Broken(n)).or_fault();
                }
                How::Hang => std::future::pending::<()>().await,
            }
        }
        plan.log.push("started");
        Ok(())
    }
    fn stopped(&mut self) {
        self.0.log.push("stopped");
    }
    fn first(&mut self) -> u32 {
        self.0.log.push("message");
        self.0.tries.load(Ordering::SeqCst)
    }
}

#[test]
fn s9_started_completes_before_the_first_message() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let plan = Plan { fail_first: 2, how: How::ErrorLater, ..Plan::default() };
        let starter = system.spawn({ let plan = plan.clone(); move || Starter(plan.clone()) }).start().unwrap();
        starter.tell(First).unwrap();
        assert_eq!(starter.ask(First).await.unwrap(), 3);
        assert_eq!(plan.log.all(), ["try 1", "try 2", "try 3", "started", "message", "message"]);
        system.stop().await.unwrap();
    });
}

#[test]
fn s9_a_failed_start_is_retried_then_reported_and_leaves_nothing_behind() {
    for how in [How::Error, How::Panic, How::ErrorLater] {
        seeds(move |env| async move {
            let system = simulated(&env).await;
            let stopped = system.events().subscribe::<ActorStarted>();
            let plan = Plan { fail_first: 100, how, ..Plan::default() };
            let factory = { let plan = plan.clone(); move || Starter(plan.clone()) };
            let error = system.spawn(factory.clone()).named("starter").await.unwrap_err();
            match &error {
                SpawnError::Start { path, attempts, fault } => {
                    assert_eq!(path.to_string(), "/user/starter");
                    assert_eq!(*attempts, 6, "one and five retries");
                    assert_eq!(fault.is_panic(), how == How::Panic);
                    assert_eq!(fault.find::<Broken>().is_some(), how != How::Panic);
                }
                other => panic!("{other:?}"),
            }
            assert!(error.to_string().contains("/user/starter"), "{error}");
            assert_eq!(plan.tries.load(Ordering::SeqCst), 6);
            assert_eq!(system.actor_count(), 0);
            assert!(system.actors().is_empty());
            assert!(system.lookup::<Starter>("/user/starter").is_none());
            assert!(!plan.log.has("stopped"), "what never started does not stop");
            while let Some(event) = stopped.try_next() {
                assert_ne!(event.unwrap().path.to_string(), "/user/starter", "it never started");
            }
            // The name is free again.
            plan.tries.store(100, Ordering::SeqCst);
            system.spawn(factory).named("starter").await.unwrap();
            system.stop().await.unwrap();
        });
    }
}

#[test]
fn s9_a_start_that_takes_too_long_is_a_failed_attempt() {
    seeds(|env| async move {
        let system = builder("init").environment(env.clone()).settings(|s| s.init_retries(2)).start().await.unwrap();
        let plan = Plan { fail_first: 100, how: How::Hang, ..Plan::default() };
        let before = env.now();
        let error = system.spawn({ let plan = plan.clone(); move || Starter(plan.clone()) }).await.unwrap_err();
        assert!(matches!(error, SpawnError::Start { attempts: 3, .. }), "{error:?}");
        let took = env.now().since(before);
        assert!(took >= Duration::from_secs(3) && took < Duration::from_millis(3_300), "{took:?}: three times a second");
        assert_eq!(system.actor_count(), 0);
        system.stop().await.unwrap();
    });
}

#[test]
fn s9_a_start_that_hangs_once_succeeds_on_the_next_attempt() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let plan = Plan { fail_first: 1, how: How::Hang, ..Plan::default() };
        let starter = system.spawn({ let plan = plan.clone(); move || Starter(plan.clone()) }).await.unwrap();
        assert_eq!(starter.ask(First).await.unwrap(), 2);
        system.stop().await.unwrap();
    });
}

#[tokio::test]
async fn s9_a_factory_that_fails_or_panics_is_retried_and_reported() {
    let system = system().await;
    let tries = Arc::new(AtomicU32::new(0));
    let factory = {
        let tries = tries.clone();
        move || match tries.fetch_add(1, Ordering::SeqCst) {
            0 => Err(Fault::new(Broken(0))),
            1 => panic!("factory"),
            _ => Ok(Desk::new(&Log::new())),
        }
    };
    let desk = system.spawn(factory).await.unwrap();
    assert_eq!(desk.ask(Note { number: 1 }).await.unwrap(), 1);
    let error = system.spawn(|| -> Desk { panic!("always") }).await.unwrap_err();
    match error {
        SpawnError::Start { attempts: 6, fault, .. } => assert!(fault.is_panic() && fault.to_string().contains("always")),
        other => panic!("{other:?}"),
    }
    assert_eq!(system.actor_count(), 1);
    system.stop().await.unwrap();
}

/// Makes a child before it fails.
struct Parent {
    tries: Arc<AtomicU32>,
    log: Log,
}

#[actor]
impl Parent {
    async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        let log = self.log.clone();
        ctx.spawn_child(move || Desk::new(&log)).named("child").await.or_fault()?;
        if self.tries.fetch_add(1, Ordering::SeqCst) < 2 {
            return Err(Fault::msg("not yet"));
        }
        Ok(())
    }
    fn names(&mut self, ctx: &mut Context<Self>) -> Vec<String> {
        ctx.children()
    }
}

#[test]
fn s9_what_a_failed_attempt_began_does_not_stand_in_the_way_of_the_next() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (tries, log) = (Arc::new(AtomicU32::new(0)), Log::new());
        let parent = system
            .spawn({ let (tries, log) = (tries.clone(), log.clone()); move || Parent { tries: tries.clone(), log: log.clone() } })
            .await
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(parent.ask(Names).await.unwrap(), ["child"]);
        assert_eq!(log.count("started"), 3);
        assert_eq!(log.count("stopped"), 2, "the children of failed attempts have ended");
        system.stop().await.unwrap();
    });
}

#[test]
fn s9_a_start_that_fails_for_good_takes_its_children_along() {
    seeds(|env| async move {
        let system = builder("init").environment(env.clone()).settings(|s| s.init_retries(0)).start().await.unwrap();
        let (tries, log) = (Arc::new(AtomicU32::new(0)), Log::new());
        let factory = { let (tries, log) = (tries.clone(), log.clone()); move || Parent { tries: tries.clone(), log: log.clone() } };
        system.spawn(factory).named("parent").await.unwrap_err();
        assert_eq!(system.actor_count(), 0, "the spawner has heard of the failure, and somebody is left");
        assert_eq!(log.all(), ["started", "stopping", "stopped", "dropped"]);
        system.stop().await.unwrap();
    });
}

/// A spawner that hears of a failure finds the name free, on threads too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s9_the_name_of_a_failed_start_is_free_when_the_spawner_hears_of_it() {
    let system = builder("init").settings(|s| s.init_retries(0)).start().await.unwrap();
    for _ in 0..500 {
        let error = system.spawn(|| Yielder).named("same").await.unwrap_err();
        assert!(matches!(error, SpawnError::Start { .. }), "{error}");
    }
    system.stop().await.unwrap();
}

struct Yielder;

#[actor]
impl Yielder {
    async fn started(&mut self) -> Result<(), Fault> {
        tokio::task::yield_now().await;
        Err(Fault::msg("no"))
    }
}

/// A tree of three levels.
struct Node {
    log: Log,
    name: String,
}

#[actor]
impl Node {
    fn stopping(&mut self) {
        self.log.push(format!("stopping {}", self.name));
    }
    async fn stopped(&mut self, ctx: &mut Context<Self>) {
        ctx.sleep(Duration::from_millis(ctx.random() % 3)).await;
        self.log.push(format!("stopped {}", self.name));
    }
    async fn grow(&mut self, ctx: &mut Context<Self>, depth: u32) {
        if depth == 0 {
            return;
        }
        for n in 0..2 {
            let (log, name) = (self.log.clone(), format!("{}{n}", self.name));
            let child = ctx
                .spawn_child(move || Node { log: log.clone(), name: name.clone() })
                .named(format!("n{n}"))
                .await
                .unwrap();
            child.ask(Grow { depth: depth - 1 }).await.unwrap();
        }
    }
    fn crash_now(&mut self) {
        panic!("node");
    }
    fn offspring(&mut self, ctx: &mut Context<Self>) -> Vec<String> {
        ctx.children()
    }
}

#[test]
fn s9_children_stop_before_their_parents_and_stopped_runs_once() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let root = system
            .spawn({ let log = log.clone(); move || Node { log: log.clone(), name: "r".to_owned() } })
            .named("r")
            .await
            .unwrap();
        root.ask(Grow { depth: 2 }).await.unwrap();
        assert_eq!(system.actor_count(), 7);
        let leaf = system.lookup::<Node>("/user/r/n1/n0").unwrap();
        match env.random() % 4 {
            0 => root.stop(),
            1 => root.drain(),
            2 => root.kill(),
            _ => {
                let system = system.clone();
                let stop = system.stop();
                stop.await.unwrap();
            }
        }
        root.stop();
        root.terminated().await;
        assert!(!leaf.is_alive());
        for name in ["r", "r0", "r1", "r00", "r01", "r10", "r11"] {
            assert_eq!(log.count(&format!("stopped {name}")), 1, "{name}");
            if name.len() > 1 {
                let above = &name[..name.len() - 1];
                assert!(log.position(&format!("stopped {name}")) < log.position(&format!("stopped {above}")));
            }
        }
        system.stop().await.unwrap();
    });
}

#[test]
fn s9_hooks_run_in_their_order() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let events = Log::new();
        let (started, stopped) = (system.events().subscribe::<ActorStarted>(), system.events().subscribe::<ActorStopped>());
        let desk = system.spawn({ let log = events.clone(); move || Desk::new(&log) }).named("desk").await.unwrap();
        desk.ask(Note { number: 1 }).await.unwrap();
        desk.stop();
        desk.terminated().await;
        assert_eq!(events.all(), ["started", "1", "stopping", "stopped", "dropped"]);
        let mut paths = std::iter::from_fn(|| started.try_next()).map(|event| event.unwrap().path.to_string());
        assert!(paths.any(|path| path == "/user/desk"));
        assert_eq!(stopped.try_next().unwrap().unwrap().id, desk.id());
        system.stop().await.unwrap();
    });
}

#[test]
fn s10_restart_keeps_mailbox_address_and_watchers() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let restarted = system.events().subscribe::<ActorRestarted>();
        let (log, seen) = (Log::new(), Log::new());
        let desk = system.spawn({ let log = log.clone(); move || Desk::new(&log) }).named("desk").await.unwrap();
        let watcher = system.spawn({ let seen = seen.clone(); move || Watcher { log: seen.clone() } }).await.unwrap();
        watcher.ask(Observe { whom: desk.clone() }).await.unwrap();
        let address = desk.address();
        desk.tell(Note { number: 1 }).unwrap();
        let failing = desk.ask(Fail { code: 9 }).into_future();
        for number in 2..12 {
            desk.tell(Note { number }).unwrap();
        }
        match failing.await {
            Err(AskError::Failed(fault)) => assert_eq!(fault.find::<Broken>(), Some(&Broken(9)), "the fault keeps its type"),
            other => panic!("{other:?}"),
        }
        // Ten notes since the restart: the state is new, the mailbox is not, the failing message is gone.
        assert_eq!(desk.ask(Note { number: 12 }).await.unwrap(), 11);
        assert_eq!(desk.address(), address);
        assert_eq!(system.lookup::<Desk>("/user/desk"), Some(desk.clone()));
        let numbers: Vec<_> = log.all().iter().filter_map(|e| e.parse::<u64>().ok()).collect();
        assert_eq!(numbers, (1..=12).collect::<Vec<_>>());
        assert_eq!(log.count("started"), 2);
        assert_eq!(log.count("dropped"), 1);
        assert_eq!(restarted.try_next().unwrap().unwrap().id, desk.id());
        assert!(restarted.try_next().is_none());
        assert!(seen.is_empty(), "a restart is no end");
        desk.stop();
        desk.terminated().await;
        system.sleep(Duration::from_millis(1)).await;
        assert_eq!(seen.all(), ["gone /user/desk"]);
        system.stop().await.unwrap();
    });
}

/// What ractor does not: one bad request among fifty fails one, and that one knows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s10_one_bad_request_among_fifty_fails_alone() {
    let system = system().await;
    let log = Log::new();
    let desk = system.spawn({ let log = log.clone(); move || Desk::new(&log) }).await.unwrap();
    let asks: Vec<_> = (0..50)
        .map(|number| {
            let desk = desk.clone();
            tokio::spawn(async move { if number == 11 { desk.ask(Crash).await } else { desk.ask(Note { number }).await } })
        })
        .collect();
    let mut failed = 0;
    for ask in asks {
        match soon("an ask", ask).await.unwrap() {
            Ok(_) => {}
            Err(AskError::Failed(fault)) => {
                assert!(fault.is_panic());
                failed += 1;
            }
            Err(other) => panic!("an innocent one heard {other}"),
        }
    }
    assert_eq!(failed, 1);
    system.stop().await.unwrap();
}

#[test]
fn s10_resume_keeps_the_state_and_stop_ends() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let failures = system.events().subscribe::<ActorFailed>();
        let log = Log::new();
        let factory = { let log = log.clone(); move || Desk::new(&log) };
        let steady = system.spawn(factory.clone()).on_fault(Directive::Resume).await.unwrap();
        steady.tell(Note { number: 1 }).unwrap();
        steady.tell(Crash).unwrap();
        assert_eq!(steady.ask(Note { number: 2 }).await.unwrap(), 2);
        let failed = failures.try_next().unwrap().unwrap();
        assert_eq!((failed.id, failed.directive), (steady.id(), Some(Directive::Resume)));
        let frail = system.spawn(factory).on_fault(Directive::Stop).await.unwrap();
        frail.tell(Fail { code: 1 }).unwrap();
        let behind = frail.ask(Note { number: 3 }).await;
        assert!(matches!(behind, Err(AskError::Stopped)), "{behind:?}");
        frail.terminated().await;
        let failed = failures.try_next().unwrap().unwrap();
        assert_eq!(failed.directive, Some(Directive::Stop));
        assert!(failed.fault.is::<Broken>());
        assert_eq!(system.metrics().faults, 2);
        system.stop().await.unwrap();
    });
}

#[test]
fn s10_a_rejection_is_no_fault_even_when_told() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let unheard = system.events().subscribe::<volary::RejectionUnheard>();
        let log = Log::new();
        let desk = system.spawn({ let log = log.clone(); move || Desk::new(&log) }).on_fault(Directive::Stop).await.unwrap();
        desk.tell(Refuse { code: 3 }).unwrap();
        assert!(matches!(desk.ask(Refuse { code: 4 }).await, Err(AskError::Rejected(Refused(4)))));
        assert_eq!(desk.ask(Note { number: 1 }).await.unwrap(), 1);
        assert_eq!(system.metrics().faults, 0);
        assert_eq!(system.metrics().unheard_rejections, 1);
        assert_eq!(unheard.try_next().unwrap().unwrap().rejection, "Refused(3)");
        system.stop().await.unwrap();
    });
}

#[test]
fn s10_a_restart_ends_children_tasks_and_kept_questions() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let keeper = system.spawn({ let log = log.clone(); move || Keeper { log: log.clone(), kept: None } }).await.unwrap();
        keeper.ask(Settle).await.unwrap();
        let mut asking = keeper.ask(Keep).into_future();
        assert!(poll_with(&mut asking, &Bell::new()).is_pending());
        system.sleep(Duration::from_millis(1)).await;
        assert_eq!(system.actor_count(), 2);
        keeper.restart();
        assert!(matches!(asking.await, Err(AskError::Stopped)), "a question kept in the old state");
        assert_eq!(keeper.ask(Family).await.unwrap(), 0);
        assert_eq!(system.actor_count(), 1);
        system.sleep(Duration::from_millis(1)).await;
        assert!(log.has("task ended"), "{:?}", log.all());
        // A child of the same name can be had again.
        keeper.ask(Settle).await.unwrap();
        system.stop().await.unwrap();
    });
}

struct Keeper {
    log: Log,
    kept: Option<ReplyTo<u64>>,
}

#[actor]
impl Keeper {
    async fn settle(&mut self, ctx: &mut Context<Self>) {
        let log = Log::new();
        ctx.spawn_child(move || Desk::new(&log)).named("child").await.unwrap();
        let end = OnDrop(self.log.clone(), "task ended");
        ctx.spawn(async move {
            let _end = end;
            std::future::pending::<()>().await;
        });
    }
    fn keep(&mut self, reply: ReplyTo<u64>) {
        self.kept = Some(reply);
    }
    fn family(&mut self, ctx: &mut Context<Self>) -> usize {
        ctx.children().len()
    }
}

#[test]
fn s10_a_restart_that_fails_ends_the_actor_and_its_mail() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let letters = system.events().subscribe::<DeadLetter>();
        let seen = Log::new();
        let plan = Plan { fail_first: 0, ..Plan::default() };
        let starter = system.spawn({ let plan = plan.clone(); move || Fickle { plan: plan.clone() } }).named("x").await.unwrap();
        let watcher = system.spawn({ let seen = seen.clone(); move || Watcher { log: seen.clone() } }).await.unwrap();
        watcher.ask(ObserveFickle { whom: starter.clone() }).await.unwrap();
        starter.tell(Explode).unwrap();
        let behind = starter.ask(Idle).await;
        assert!(matches!(behind, Err(AskError::Stopped)), "{behind:?}");
        starter.terminated().await;
        system.sleep(Duration::from_millis(1)).await;
        assert_eq!(seen.all(), ["gone /user/x"]);
        assert_eq!(letters.try_next().unwrap().unwrap().receiver_id(), starter.id());
        assert!(system.lookup::<Fickle>("/user/x").is_none());
        system.stop().await.unwrap();
    });
}

/// Starts once.
struct Fickle {
    plan: Plan,
}

#[actor]
impl Fickle {
    fn started(&mut self) -> Result<(), Fault> {
        if self.plan.tries.fetch_add(1, Ordering::SeqCst) > 0 { Err(Fault::msg("once is enough")) } else { Ok(()) }
    }
    fn explode(&mut self) {
        panic!("explode");
    }
    fn idle(&mut self) {}
}

struct Watcher {
    log: Log,
}

#[actor]
impl Watcher {
    fn observe(&mut self, ctx: &mut Context<Self>, whom: ActorRef<Desk>) {
        ctx.watch(&whom);
    }
    fn observe_fickle(&mut self, ctx: &mut Context<Self>, whom: ActorRef<Fickle>) {
        ctx.watch(&whom);
    }
    fn ignore(&mut self, ctx: &mut Context<Self>, whom: ActorRef<Desk>) {
        ctx.unwatch(&whom);
    }
    #[handles]
    fn gone(&mut self, gone: Terminated) {
        self.log.push(format!("gone {}", gone.path()));
    }
}

/// Panics wherever user code runs.
struct Bomb {
    hook: &'static str,
    log: Log,
}

impl Drop for Bomb {
    fn drop(&mut self) {
        if self.hook == "drop" {
            self.hook = "";
            panic!("drop");
        }
    }
}

#[actor]
impl Bomb {
    fn stopping(&mut self) {
        assert!(self.hook != "stopping", "stopping");
    }
    async fn stopped(&mut self) {
        tokio::task::yield_now().await;
        assert!(self.hook != "stopped", "stopped");
        self.log.push("stopped");
    }
    async fn suspend_then_panic(&mut self) {
        tokio::task::yield_now().await;
        panic!("after a suspension");
    }
    async fn hold_bomb(&mut self) {
        let _bomb = DropBomb;
        std::future::pending::<()>().await;
    }
    fn fine(&mut self) {}
    fn give(&mut self) -> DropBomb {
        DropBomb
    }
    fn object(&mut self) -> Result<(), BadDebug> {
        Err(BadDebug)
    }
    fn odd_payload(&mut self) {
        std::panic::panic_any(DropBomb);
    }
    fn take(&mut self, _bomb: DropBomb) {}
}

struct DropBomb;

impl Drop for DropBomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("dropped");
        }
    }
}

#[derive(volary::Rejection)]
struct BadDebug;

impl std::fmt::Debug for BadDebug {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        panic!("cannot be shown");
    }
}

fn bomb(hook: &'static str, log: &Log) -> impl Fn() -> Bomb + Send + Sync + Clone + 'static {
    let log = log.clone();
    move || Bomb { hook, log: log.clone() }
}

/// Somebody else on the same workers answers, and the one that panicked is as its directive says.
async fn unharmed(system: &ActorSystem) {
    for _ in 0..4 {
        let other = system.spawn({ let log = Log::new(); move || Desk::new(&log) }).await.unwrap();
        for number in 0..10 {
            other.tell(Note { number }).unwrap();
        }
        other.drain();
        soon("an actor beside the one that panicked", other.terminated()).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s11_a_panic_in_a_hook_or_in_drop_harms_that_actor_alone() {
    let system = system().await;
    for hook in ["stopping", "stopped", "drop"] {
        for end in [ActorRef::stop, ActorRef::drain, ActorRef::kill] {
            let failures = system.events().subscribe::<ActorFailed>();
            let log = Log::new();
            let bomb = system.spawn(bomb(hook, &log)).named("bomb").await.unwrap();
            end(&bomb);
            soon(hook, bomb.terminated()).await;
            eventually_async("the name", || system.lookup::<Bomb>("/user/bomb").is_none()).await;
            if hook == "stopping" {
                assert_eq!(log.count("stopped"), 1, "a failed hook does not spare the next");
            }
            let failed = failures.try_next();
            let killed_before_stopping = hook == "stopping" && failed.is_none();
            assert!(killed_before_stopping || failed.unwrap().unwrap().fault.to_string().contains(hook));
            unharmed(&system).await;
        }
    }
    system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s11_a_panic_after_a_suspension_restarts_the_actor() {
    let system = system().await;
    let bomb = system.spawn(bomb("", &Log::new())).await.unwrap();
    match bomb.ask(SuspendThenPanic).await {
        Err(AskError::Failed(fault)) => assert!(fault.is_panic()),
        other => panic!("{other:?}"),
    }
    bomb.ask(Fine).await.unwrap();
    assert_eq!(system.metrics().restarts, 1);
    system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s11_a_dropped_handler_that_panics_in_drop_is_contained() {
    let system = system().await;
    let bomb = system.spawn(bomb("", &Log::new())).await.unwrap();
    bomb.tell(HoldBomb).unwrap();
    eventually_async("it holds", || bomb.mailbox_len() == 0).await;
    bomb.kill();
    soon("kill", bomb.terminated()).await;
    unharmed(&system).await;
    system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s11_an_answer_nobody_wants_may_panic_in_drop() {
    let system = system().await;
    let bomb = system.spawn(bomb("", &Log::new())).on_fault(Directive::Resume).await.unwrap();
    for _ in 0..4 {
        bomb.tell(Give).unwrap();
    }
    soon("the actor whose answer panicked", bomb.ask(Fine)).await.unwrap();
    unharmed(&system).await;
    system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s11_a_rejection_that_cannot_be_shown_is_contained() {
    let system = system().await;
    let _unheard = system.events().subscribe::<volary::RejectionUnheard>();
    let bomb = system.spawn(bomb("", &Log::new())).on_fault(Directive::Resume).await.unwrap();
    for _ in 0..4 {
        bomb.tell(Object).unwrap();
    }
    soon("the actor whose rejection panicked", bomb.ask(Fine)).await.unwrap();
    unharmed(&system).await;
    system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s11_a_panic_whose_payload_panics_in_drop_is_contained() {
    let system = system().await;
    let bomb = system.spawn(bomb("", &Log::new())).on_fault(Directive::Resume).await.unwrap();
    for _ in 0..4 {
        bomb.tell(OddPayload).unwrap();
    }
    soon("the actor with the odd payload", bomb.ask(Fine)).await.unwrap();
    unharmed(&system).await;
    system.stop().await.unwrap();
}

/// Messages that panic in drop: handled, left behind as dead letters with and without somebody listening.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s11_a_message_that_panics_in_drop_is_contained() {
    for listening in ["never", "once", "still"] {
        let system = builder("drops").settings(|s| s.dead_letter_log(0)).start().await.unwrap();
        let letters = (listening != "never").then(|| system.events().subscribe::<DeadLetter>());
        let letters = letters.filter(|_| listening == "still");
        let actor = system.spawn(bomb("", &Log::new())).on_fault(Directive::Resume).await.unwrap();
        for _ in 0..4 {
            actor.tell(Take { _bomb: DropBomb }).unwrap();
        }
        soon("the actor whose message panicked", actor.ask(Fine)).await.unwrap();
        let left = system.spawn(bomb("", &Log::new())).await.unwrap();
        left.tell(HoldBomb).unwrap();
        eventually_async("it holds", || left.mailbox_len() == 0).await;
        for _ in 0..4 {
            left.tell(Take { _bomb: DropBomb }).unwrap();
        }
        left.kill();
        soon("the end of an actor whose mail panics", left.terminated()).await;
        assert_eq!(system.metrics().dead_letters, 4, "{listening}");
        unharmed(&system).await;
        soon("stop", system.stop()).await.unwrap();
        std::mem::forget(letters); // the letters in it would panic here
    }
}

/// A task of an actor that panics.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s11_a_panic_in_a_task_of_an_actor_is_contained() {
    let system = system().await;
    let tasker = system.spawn(|| Tasker).await.unwrap();
    let task = tasker.ask(Launch).await.unwrap();
    eventually_async("the end of the task", || task.is_finished()).await;
    tasker.ask(Still).await.unwrap();
    system.stop().await.unwrap();
}

#[test]
fn s11_a_panic_in_a_task_of_an_actor_is_contained_in_simulation_too() {
    let env = volary::SeededEnv::new(1);
    env.block_on(async {
        let system = simulated(&env).await;
        let tasker = system.spawn(|| Tasker).await.unwrap();
        let task = tasker.ask(Launch).await.unwrap();
        system.sleep(Duration::from_millis(1)).await;
        assert!(task.is_finished());
        tasker.ask(Still).await.unwrap();
        system.stop().await.unwrap();
    });
}

struct Tasker;

#[actor]
impl Tasker {
    fn launch(&mut self, ctx: &mut Context<Self>) -> volary::Task {
        ctx.spawn(async { panic!("task") })
    }
    fn still(&mut self) {}
}

#[test]
fn s12_drain_handles_the_queue_and_refuses_what_comes_later() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let desk = system.spawn({ let log = log.clone(); move || Desk::new(&log) }).await.unwrap();
        for number in 0..50 {
            desk.tell(Note { number }).unwrap();
        }
        let last = desk.ask(Note { number: 50 }).into_future();
        desk.drain();
        assert!(matches!(desk.tell(Note { number: 99 }), Err(TellError::Stopped(_))));
        desk.drain();
        assert_eq!(last.await.unwrap(), 51);
        desk.terminated().await;
        let numbers: Vec<_> = log.all().iter().filter_map(|e| e.parse::<u64>().ok()).collect();
        assert_eq!(numbers, (0..=50).collect::<Vec<_>>());
        assert_eq!(system.metrics().dead_letters, 0);
        system.stop().await.unwrap();
    });
}

#[test]
fn s12_unprocessed_asks_end_with_stopped() {
    for end in [ActorRef::<Desk>::stop, ActorRef::<Desk>::kill] {
        seeds(move |env| async move {
            let system = simulated(&env).await;
            let desk = system.spawn({ let log = Log::new(); move || Desk::new(&log) }).await.unwrap();
            let (_keep, gate) = gate();
            desk.tell(Wait { gate }).unwrap();
            system.sleep(Duration::from_millis(1)).await;
            let asks: Vec<_> = (0..10).map(|number| desk.ask(Note { number }).into_future()).collect();
            end(&desk);
            for ask in asks {
                assert!(matches!(ask.await, Err(AskError::Stopped | AskError::Timeout { .. })));
            }
            desk.terminated().await;
            assert_eq!(system.metrics().dead_letters, 10);
            system.stop().await.unwrap();
        });
    }
}

/// All three at once, from many threads, again and again.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn s12_stop_drain_and_kill_are_idempotent_and_may_race() {
    let system = system().await;
    for round in 0..200 {
        let log = Log::new();
        let desk = system.spawn({ let log = log.clone(); move || Desk::new(&log) }).named("same").await;
        let desk = desk.unwrap_or_else(|error| panic!("round {round}: {error}"));
        let (_keep, gate) = gate();
        desk.tell(Wait { gate }).unwrap();
        let racers: Vec<_> = (0..4)
            .map(|n| {
                let desk = desk.clone();
                tokio::spawn(async move {
                    for i in 0..6 {
                        match (n + i) % 3 {
                            0 => desk.stop(),
                            1 => desk.drain(),
                            _ => desk.kill(),
                        }
                        let _ = desk.tell(Note { number: 1 });
                    }
                    desk.terminated().await;
                })
            })
            .collect();
        for racer in racers {
            soon("the end of a race", racer).await.unwrap();
        }
        assert_eq!(log.count("stopped"), 1);
        assert_eq!(log.count("dropped"), 1);
        desk.stop();
        desk.drain();
        desk.kill();
        desk.restart();
        soon("a dead one", desk.terminated()).await;
    }
    assert_eq!(system.actor_count(), 0);
    system.stop().await.unwrap();
}

#[tokio::test]
async fn s12_dropping_references_never_stops_an_actor() {
    let system = system().await;
    let log = Log::new();
    drop(system.spawn({ let log = log.clone(); move || Desk::new(&log) }).named("desk").await.unwrap());
    let desk = system.lookup::<Desk>("/user/desk").unwrap();
    assert_eq!(desk.ask(Note { number: 1 }).await.unwrap(), 1);
    assert_eq!(log.all(), ["started", "1"]);
    system.stop().await.unwrap();
}

/// Says goodbye in its last hook.
struct Dying {
    to: ActorRef<Heir>,
}

#[actor]
impl Dying {
    fn stopped(&mut self) {
        let _ = self.to.tell(Word { word: 2 });
    }
    fn speak(&mut self) {
        let _ = self.to.tell(Word { word: 1 });
    }
}

impl Drop for Dying {
    fn drop(&mut self) {
        let _ = self.to.tell(Word { word: 3 });
    }
}

struct Heir {
    log: Log,
}

#[actor]
impl Heir {
    fn word(&mut self, word: u32) {
        self.log.push(word);
    }
    fn mind(&mut self, ctx: &mut Context<Self>, whom: ActorRef<Dying>) {
        ctx.watch(&whom);
    }
    #[handles]
    fn gone(&mut self, _: Terminated) {
        self.log.push("gone");
    }
}

#[test]
fn s12_terminated_comes_once_and_after_the_last_word() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let logs: Vec<_> = (0..3).map(|_| Log::new()).collect();
        let mut heirs = Vec::new();
        for log in &logs {
            heirs.push(system.spawn({ let log = log.clone(); move || Heir { log: log.clone() } }).await.unwrap());
        }
        let dying = system.spawn({ let to = heirs[0].clone(); move || Dying { to: to.clone() } }).await.unwrap();
        for heir in &heirs {
            heir.tell(Mind { whom: dying.clone() }).unwrap();
            heir.ask(Mind { whom: dying.clone() }).await.unwrap(); // twice
        }
        dying.ask(Speak).await.unwrap();
        match env.random() % 3 {
            0 => dying.stop(),
            1 => dying.drain(),
            _ => dying.kill(),
        }
        dying.terminated().await;
        system.sleep(Duration::from_millis(1)).await;
        assert_eq!(logs[0].all(), ["1", "2", "3", "gone"]);
        assert_eq!(logs[1].all(), ["gone"]);
        assert_eq!(logs[2].all(), ["gone"]);
        system.stop().await.unwrap();
    });
}

#[test]
fn s12_watching_a_dead_actor_yields_terminated_at_once() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let seen = Log::new();
        let watcher = system.spawn({ let seen = seen.clone(); move || Watcher { log: seen.clone() } }).await.unwrap();
        let desk = system.spawn({ let log = Log::new(); move || Desk::new(&log) }).named("desk").await.unwrap();
        desk.stop();
        let awaited = env.random() % 2 == 0;
        if awaited {
            desk.terminated().await;
        } else {
            system.sleep(Duration::from_millis(1)).await; // nobody ever looked at it
            assert!(!desk.is_alive());
        }
        watcher.ask(Observe { whom: desk.clone() }).await.unwrap();
        watcher.ask(Observe { whom: desk.clone() }).await.unwrap();
        system.sleep(Duration::from_millis(1)).await;
        assert!(seen.has("gone /user/desk"), "awaited: {awaited}");
        assert!(seen.len() <= 2, "{:?}", seen.all());
        system.stop().await.unwrap();
    });
}

#[test]
fn s12_unwatch_keeps_terminated_away_even_when_it_is_in_the_mailbox() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let seen = Log::new();
        let watcher = system.spawn({ let seen = seen.clone(); move || Watcher { log: seen.clone() } }).await.unwrap();
        let desk = system.spawn({ let log = Log::new(); move || Desk::new(&log) }).named("desk").await.unwrap();
        watcher.ask(Observe { whom: desk.clone() }).await.unwrap();
        if env.random() % 2 == 0 {
            watcher.tell(Ignore { whom: desk.clone() }).unwrap();
            desk.stop();
        } else {
            watcher.ask(Ignore { whom: desk.clone() }).await.unwrap();
            desk.stop();
        }
        desk.terminated().await;
        system.sleep(Duration::from_millis(1)).await;
        assert!(seen.is_empty(), "{:?}", seen.all());
        system.stop().await.unwrap();
    });
}

/// Watches and deaths on threads: each watcher hears exactly once.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn s12_terminated_is_exact_when_watch_and_death_race() {
    let system = system().await;
    let seen = Log::new();
    let mut watchers = Vec::new();
    for _ in 0..4 {
        watchers.push(system.spawn({ let seen = seen.clone(); move || Watcher { log: seen.clone() } }).await.unwrap());
    }
    const ROUNDS: usize = 300;
    for _ in 0..ROUNDS {
        let desk = system.spawn({ let log = Log::new(); move || Desk::new(&log) }).await.unwrap();
        for watcher in &watchers {
            watcher.tell(Observe { whom: desk.clone() }).unwrap();
        }
        desk.stop();
    }
    eventually_async("all news", || seen.len() == ROUNDS * watchers.len()).await;
    for watcher in &watchers {
        watcher.drain();
        soon("drain", watcher.terminated()).await;
    }
    assert_eq!(seen.len(), ROUNDS * watchers.len());
    system.stop().await.unwrap();
}

/// When the end was announced, the name is free.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn s12_the_name_is_free_once_the_end_was_announced() {
    let system = system().await;
    for round in 0..1_000 {
        let desk = system.spawn({ let log = Log::new(); move || Desk::new(&log) }).named("same").await;
        let desk = desk.unwrap_or_else(|error| panic!("round {round}: {error}"));
        desk.stop();
        soon("the end", desk.terminated()).await;
    }
    system.stop().await.unwrap();
}

/// A watcher that replaces the dead under the same name, as supervisors by hand do.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn s12_a_watcher_can_replace_the_dead_under_its_name() {
    let system = system().await;
    let rounds = Arc::new(AtomicUsize::new(0));
    let nurse = system.spawn({ let rounds = rounds.clone(); move || Nurse { rounds: rounds.clone() } }).await.unwrap();
    nurse.tell(Replace).unwrap();
    eventually_async("five hundred lives", || rounds.load(Ordering::SeqCst) >= 500 || !nurse.is_alive()).await;
    nurse.kill();
    soon("the end", nurse.terminated()).await;
    assert!(rounds.load(Ordering::SeqCst) < 1_000_000, "the name of a dead child was taken");
    system.stop().await.unwrap();
}

struct Nurse {
    rounds: Arc<AtomicUsize>,
}

#[actor]
impl Nurse {
    fn replace(&mut self, ctx: &mut Context<Self>) {
        let child = match ctx.spawn_child(|| Desk::new(&Log::new())).named("child").start() {
            Ok(child) => child,
            Err(error) => {
                eprintln!("{error}");
                self.rounds.fetch_add(1_000_000, Ordering::SeqCst);
                return;
            }
        };
        ctx.watch(&child);
        child.stop();
    }
    #[handles]
    fn gone(&mut self, _: Terminated, ctx: &mut Context<Self>) {
        self.rounds.fetch_add(1, Ordering::SeqCst);
        self.replace(ctx);
    }
}

#[test]
fn s12_a_kill_reaches_the_children_of_an_actor_that_is_stopping_already() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let parent = system.spawn({ let log = log.clone(); move || Household { log: log.clone() } }).await.unwrap();
        parent.ask(Adopt).await.unwrap();
        system.sleep(Duration::from_millis(1)).await;
        assert!(log.has("waiting"));
        parent.stop();
        system.sleep(Duration::from_millis(1)).await;
        let before = env.now();
        parent.kill();
        parent.terminated().await;
        assert_eq!(env.now(), before, "a kill waits for nothing, its children included");
        system.stop().await.unwrap();
    });
}

struct Household {
    log: Log,
}

#[actor]
impl Household {
    async fn adopt(&mut self, ctx: &mut Context<Self>) {
        let log = self.log.clone();
        let child = ctx.spawn_child(move || Desk::new(&log)).named("child").await.unwrap();
        let (open, gate) = gate();
        std::mem::forget(open);
        child.tell(Wait { gate }).unwrap();
    }
}

#[test]
fn s12_a_kill_drops_a_hook_that_hangs() {
    for hook in ["stopping", "stopped"] {
        seeds(move |env| async move {
            let system = simulated(&env).await;
            let hanging = system.spawn(move || Hanging { hook }).await.unwrap();
            hanging.stop();
            system.sleep(Duration::from_millis(1)).await;
            assert!(hanging.is_alive());
            let before = env.now();
            hanging.kill();
            hanging.terminated().await;
            assert_eq!(env.now(), before, "a kill waits for nothing: {hook}");
            system.stop().await.unwrap();
        });
    }
}

#[test]
fn s12_a_hook_that_hangs_is_given_up_after_the_grace() {
    for hook in ["stopping", "stopped"] {
        seeds(move |env| async move {
            let system = simulated(&env).await;
            let failures = system.events().subscribe::<ActorFailed>();
            let hanging = system.spawn(move || Hanging { hook }).await.unwrap();
            let before = env.now();
            hanging.stop();
            hanging.terminated().await;
            let took = env.now().since(before);
            assert!(took >= Duration::from_secs(5) && took < Duration::from_millis(5_200), "{took:?}");
            assert!(failures.try_next().unwrap().unwrap().fault.to_string().contains(hook));
            system.stop().await.unwrap();
        });
    }
}

struct Hanging {
    hook: &'static str,
}

#[actor]
impl Hanging {
    async fn stopping(&mut self) {
        if self.hook == "stopping" {
            std::future::pending::<()>().await;
        }
    }
    async fn stopped(&mut self) {
        if self.hook == "stopped" {
            std::future::pending::<()>().await;
        }
    }
}

#[test]
fn s13_a_stop_kills_what_does_not_stop_in_time_and_says_so() {
    seeds(|env| async move {
        let system = builder("late")
            .environment(env.clone())
            .settings(|s| s.stop_grace(Duration::from_hours(1)).stop_timeout(Duration::from_secs(2)))
            .start()
            .await
            .unwrap();
        let log = Log::new();
        let desk = system.spawn({ let log = log.clone(); move || Desk::new(&log) }).named("late").await.unwrap();
        let (_keep, gate) = gate();
        desk.tell(Wait { gate }).unwrap();
        system.sleep(Duration::from_millis(1)).await;
        let before = env.now();
        let error = system.stop().await.unwrap_err();
        assert!(env.now().since(before) < Duration::from_secs(3), "{:?}", env.now().since(before));
        match error.problems() {
            [StopProblem::Killed { count: 1, within, examples }] => {
                assert_eq!(*within, Duration::from_secs(2));
                assert_eq!(examples, &["/user/late"]);
            }
            other => panic!("{other:?}"),
        }
        assert!(log.has("wait dropped") && log.has("stopped"), "{:?}", log.all());
        assert!(!desk.is_alive());
        // Once down, a stop says the same again.
        assert_eq!(system.stop().await.unwrap_err(), error);
    });
}

/// A handler that keeps its thread for ever cannot be ended; the stop says so and returns.
#[test]
fn s13_a_stop_with_a_stuck_handler_returns_and_names_it() {
    for dispatcher in [Dispatcher::Default, Dispatcher::Blocking, Dispatcher::Pinned] {
        let (open, gate) = std::sync::mpsc::channel();
        let problems = within("the stop of a system with a stuck handler", move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
            let problems = runtime.block_on(async {
                let system =
                    builder("stuck").settings(|s| s.stop_timeout(Duration::from_millis(50))).start().await.unwrap();
                let log = Log::new();
                let desk = system
                    .spawn({ let log = log.clone(); move || Desk::new(&log) })
                    .named("stuck")
                    .dispatcher(dispatcher)
                    .await
                    .unwrap();
                desk.tell(Block { gate }).unwrap();
                eventually_async("it blocks", || log.has("blocking")).await;
                system.stop().await.unwrap_err().problems().to_vec()
            });
            runtime.shutdown_background();
            problems
        });
        drop(open);
        let stuck = problems.iter().any(
            |problem| matches!(problem, StopProblem::Stuck { examples, .. } if examples.contains(&"/user/stuck".to_owned())),
        );
        assert!(stuck, "{problems:?}");
    }
}

#[tokio::test]
async fn s13_a_stop_from_inside_a_handler_begins_and_the_handler_ends_well() {
    for round in 0..20 {
        let system = system().await;
        let log = Log::new();
        let ender = system.spawn({ let log = log.clone(); move || Ender { log: log.clone() } }).await.unwrap();
        if round % 2 == 0 {
            ender.tell(EndAll).unwrap();
        } else {
            soon("the ask", ender.ask(EndAll)).await.unwrap();
        }
        soon("the end of the actor", ender.terminated()).await;
        soon("the stop", system.stop()).await.unwrap();
        assert!(system.is_stopping());
        assert_eq!(log.all(), ["begun", "stopped"]);
        let error = system.spawn(|| Tasker).await.unwrap_err();
        assert!(matches!(error, SpawnError::Stopping { .. }), "{error}");
        assert!(ender.tell(EndAll).is_err());
        assert_eq!(system.actor_count(), 0);
        assert!(system.actors().is_empty());
        assert!(system.lookup::<Ender>("/user/x").is_none());
        assert!(matches!(system.tell("/user/x", EndAll), Err(TellError::Stopped(_))));
    }
}

struct Ender {
    log: Log,
}

#[actor]
impl Ender {
    async fn end_all(&mut self, ctx: &mut Context<Self>) {
        ctx.system().stop().await.unwrap();
        self.log.push("begun");
    }
    fn stopped(&mut self) {
        self.log.push("stopped");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn s13_several_stops_are_one() {
    let system = system().await;
    let log = Log::new();
    for _ in 0..20 {
        system.spawn({ let log = log.clone(); move || Desk::new(&log) }).await.unwrap();
    }
    let stops: Vec<_> = (0..8)
        .map(|_| {
            let system = system.clone();
            tokio::spawn(async move { system.stop().await })
        })
        .collect();
    let dropped = system.stop();
    drop(dropped);
    for stop in stops {
        soon("a stop", stop).await.unwrap().unwrap();
    }
    assert_eq!(log.count("stopped"), 20);
}

#[tokio::test]
async fn s21_a_wrong_setting_is_named_with_its_value_and_what_is_allowed() {
    let cases: [(&str, &[&str]); 6] = [
        ("workers = 1", &["workers", "1", "2 to 1024"]),
        ("throughput = 7", &["throughput", "7", "8 to 256"]),
        ("ask-timeout = 5", &["ask-timeout", "5", "unit"]),
        ("ask-timeout = \"0s\"", &["ask-timeout", "0", "more than 0"]),
        ("throughputs = 8", &["throughputs", "did you mean throughput"]),
        ("workers = \"many\"", &["workers", "many", "whole number"]),
    ];
    for (text, words) in cases {
        let error = builder("wrong").toml_str("wrong.toml", text).start().await.unwrap_err();
        assert!(matches!(error, SystemStartError::Settings(_)));
        let message = error.to_string();
        for word in words {
            assert!(message.contains(word), "{text}: no {word} in {message}");
        }
        assert!(message.contains("wrong.toml"), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
    let two = builder("wrong").settings(|s| s.workers(0).throughput(1)).start().await.unwrap_err().to_string();
    assert_eq!(two.lines().count(), 2, "one line per mistake: {two}");
    let file = builder("wrong").file("/nowhere/volary.toml").start().await.unwrap_err().to_string();
    assert!(file.contains("/nowhere/volary.toml"), "{file}");
}

#[tokio::test]
async fn s21_a_wrong_name_or_dispatcher_is_refused_at_start() {
    let name = ActorSystem::builder("no spaces").start().await.unwrap_err();
    assert!(matches!(name, SystemStartError::Name { .. }));
    assert!(name.to_string().contains("no spaces"));
    let few = builder("x").dispatcher("own", volary::DispatcherOptions::new().workers(1)).start().await.unwrap_err();
    assert_eq!(few.to_string(), "dispatcher \"own\": workers is 1, allowed is 2 to 1024");
    for reserved in ["default", "blocking", "pinned", ""] {
        builder("x").dispatcher(reserved, volary::DispatcherOptions::new()).start().await.unwrap_err();
    }
    let twice = builder("x")
        .dispatcher("own", volary::DispatcherOptions::new())
        .dispatcher("own", volary::DispatcherOptions::new());
    twice.start().await.unwrap_err();
}
