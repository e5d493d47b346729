//! S9 and S10: start, restart and faults.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary::{ActorFailed, ActorRestarted, ActorStarted, ActorStopped, DeadLetter, Env, SpawnError};

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
        let plan = Plan {
            fail_first: 2,
            how: How::ErrorLater,
            ..Plan::default()
        };
        let starter = system
            .spawn({
                let plan = plan.clone();
                move || Starter(plan.clone())
            })
            .start()
            .unwrap();
        starter.tell(First).unwrap();
        assert_eq!(starter.ask(First).await.unwrap(), 3);
        assert_eq!(
            plan.log.all(),
            ["try 1", "try 2", "try 3", "started", "message", "message"]
        );
        system.stop().await.unwrap();
    });
}

#[test]
fn s9_a_failed_start_is_retried_then_reported_and_leaves_nothing_behind() {
    for how in [How::Error, How::Panic, How::ErrorLater] {
        seeds(move |env| async move {
            let system = simulated(&env).await;
            let stopped = system.events().subscribe::<ActorStarted>();
            let plan = Plan {
                fail_first: 100,
                how,
                ..Plan::default()
            };
            let factory = {
                let plan = plan.clone();
                move || Starter(plan.clone())
            };
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
        let system = builder("init")
            .environment(env.clone())
            .settings(|s| s.init_retries(2))
            .start()
            .await
            .unwrap();
        let plan = Plan {
            fail_first: 100,
            how: How::Hang,
            ..Plan::default()
        };
        let before = env.now();
        let error = system
            .spawn({
                let plan = plan.clone();
                move || Starter(plan.clone())
            })
            .await
            .unwrap_err();
        assert!(matches!(error, SpawnError::Start { attempts: 3, .. }), "{error:?}");
        let took = env.now().since(before);
        assert!(
            took >= Duration::from_secs(3) && took < Duration::from_millis(3_300),
            "{took:?}: three times a second"
        );
        assert_eq!(system.actor_count(), 0);
        system.stop().await.unwrap();
    });
}

#[test]
fn s9_a_start_that_hangs_once_succeeds_on_the_next_attempt() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let plan = Plan {
            fail_first: 1,
            how: How::Hang,
            ..Plan::default()
        };
        let starter = system
            .spawn({
                let plan = plan.clone();
                move || Starter(plan.clone())
            })
            .await
            .unwrap();
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
        SpawnError::Start { attempts: 6, fault, .. } => {
            assert!(fault.is_panic() && fault.to_string().contains("always"))
        }
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
        ctx.spawn_child(move || Desk::new(&log))
            .named("child")
            .await
            .or_fault()?;
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
            .spawn({
                let (tries, log) = (tries.clone(), log.clone());
                move || Parent {
                    tries: tries.clone(),
                    log: log.clone(),
                }
            })
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
        let system = builder("init")
            .environment(env.clone())
            .settings(|s| s.init_retries(0))
            .start()
            .await
            .unwrap();
        let (tries, log) = (Arc::new(AtomicU32::new(0)), Log::new());
        let factory = {
            let (tries, log) = (tries.clone(), log.clone());
            move || Parent {
                tries: tries.clone(),
                log: log.clone(),
            }
        };
        system.spawn(factory).named("parent").await.unwrap_err();
        assert_eq!(
            system.actor_count(),
            0,
            "the spawner has heard of the failure, and somebody is left"
        );
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
                .spawn_child(move || Node {
                    log: log.clone(),
                    name: name.clone(),
                })
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
            .spawn({
                let log = log.clone();
                move || Node {
                    log: log.clone(),
                    name: "r".to_owned(),
                }
            })
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
        let (started, stopped) = (
            system.events().subscribe::<ActorStarted>(),
            system.events().subscribe::<ActorStopped>(),
        );
        let desk = system.spawn(a_desk(&events)).named("desk").await.unwrap();
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
        let desk = system.spawn(a_desk(&log)).named("desk").await.unwrap();
        let watcher = system
            .spawn({
                let seen = seen.clone();
                move || Watcher { log: seen.clone() }
            })
            .await
            .unwrap();
        watcher.ask(Observe { whom: desk.clone() }).await.unwrap();
        let address = desk.address();
        desk.tell(Note { number: 1 }).unwrap();
        let failing = desk.ask(Fail { code: 9 }).into_future();
        for number in 2..12 {
            desk.tell(Note { number }).unwrap();
        }
        match failing.await {
            Err(AskError::Failed(fault)) => {
                assert_eq!(fault.find::<Broken>(), Some(&Broken(9)), "the fault keeps its type")
            }
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
    let desk = system.spawn(a_desk(&log)).await.unwrap();
    let asks: Vec<_> = (0..50)
        .map(|number| {
            let desk = desk.clone();
            tokio::spawn(async move {
                if number == 11 {
                    desk.ask(Crash).await
                } else {
                    desk.ask(Note { number }).await
                }
            })
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
        let factory = a_desk(&log);
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
        let desk = system.spawn(a_desk(&log)).on_fault(Directive::Stop).await.unwrap();
        desk.tell(Refuse { code: 3 }).unwrap();
        assert!(matches!(
            desk.ask(Refuse { code: 4 }).await,
            Err(AskError::Rejected(Refused(4)))
        ));
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
        let keeper = system
            .spawn({
                let log = log.clone();
                move || Keeper {
                    log: log.clone(),
                    kept: None,
                }
            })
            .await
            .unwrap();
        keeper.ask(Settle).await.unwrap();
        let mut asking = keeper.ask(Keep).into_future();
        assert!(poll_with(&mut asking, &Bell::new()).is_pending());
        system.sleep(Duration::from_millis(1)).await;
        assert_eq!(system.actor_count(), 2);
        keeper.restart();
        assert!(
            matches!(asking.await, Err(AskError::Stopped)),
            "a question kept in the old state"
        );
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
        let plan = Plan {
            fail_first: 0,
            ..Plan::default()
        };
        let starter = system
            .spawn({
                let plan = plan.clone();
                move || Fickle { plan: plan.clone() }
            })
            .named("x")
            .await
            .unwrap();
        let watcher = system
            .spawn({
                let seen = seen.clone();
                move || Watcher { log: seen.clone() }
            })
            .await
            .unwrap();
        watcher.ask(ObserveFickle { whom: starter.clone() }).await.unwrap();
        starter.tell(Explode).unwrap();
        let behind = starter.ask(Idle).await;
        assert!(matches!(behind, Err(AskError::Stopped)), "{behind:?}");
        starter.terminated().await;
        system.sleep(Duration::from_millis(1)).await;
        assert_eq!(seen.all(), ["gone /user/x"]);
        assert_eq!(letters.try_next().unwrap().unwrap().receiver_id(), Some(starter.id()));
        assert!(system.lookup::<Fickle>("/user/x").is_none());
        system.stop().await.unwrap();
    });
}

#[test]
fn s9_stopped_is_not_run_after_a_restart_that_failed_for_good() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let by_fault = env.random() % 2 == 0;
        let plan = Plan::default();
        let fickle = system
            .spawn({
                let plan = plan.clone();
                move || Fickle { plan: plan.clone() }
            })
            .await
            .unwrap();
        if by_fault {
            fickle.tell(Explode).unwrap();
        } else {
            fickle.restart();
        }
        fickle.terminated().await;
        assert_eq!(
            plan.tries.load(Ordering::SeqCst),
            1 + 6,
            "one start, six attempts at another"
        );
        assert!(plan.log.is_empty(), "{:?}", plan.log.all());
        // The hooks are not run late either; and where a start succeeded, they are run.
        let other = Plan::default();
        let steady = system
            .spawn({
                let plan = other.clone();
                move || Fickle { plan: plan.clone() }
            })
            .await
            .unwrap();
        steady.stop();
        steady.terminated().await;
        assert_eq!(other.log.all(), ["stopping", "stopped"]);
        system.stop().await.unwrap();
        assert!(plan.log.is_empty(), "{:?}", plan.log.all());
    });
}

/// Starts once.
struct Fickle {
    plan: Plan,
}

#[actor]
impl Fickle {
    fn started(&mut self) -> Result<(), Fault> {
        if self.plan.tries.fetch_add(1, Ordering::SeqCst) > 0 {
            Err(Fault::msg("once is enough"))
        } else {
            Ok(())
        }
    }
    fn stopping(&mut self) {
        self.plan.log.push("stopping");
    }
    fn stopped(&mut self) {
        self.plan.log.push("stopped");
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
    #[handles]
    fn gone(&mut self, gone: Terminated) {
        self.log.push(format!("gone {}", gone.path()));
    }
}
