//! L10, S10: what is done about an actor that crashes. Everything under seeds and virtual time.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary::{ActorFailed, ActorReinstated, ActorSuspended, Backoff, ChildFailed, ChildrenPolicy};
use volary::{SpawnError, Strategy, Supervision};

#[derive(Debug, thiserror::Error)]
#[error("disk")]
struct Disk;

#[derive(Debug, thiserror::Error)]
#[error("network")]
struct Network(#[source] Disk);

/// A worker that can fail in several ways, and counts what it has done in this incarnation.
struct Worker {
    name: &'static str,
    log: Log,
    done: u64,
}

impl Worker {
    fn make(name: &'static str, log: &Log) -> impl Fn() -> Worker + Send + Sync + Clone + use<> {
        let log = log.clone();
        move || Worker {
            name,
            log: log.clone(),
            done: 0,
        }
    }
}

#[actor]
impl Worker {
    fn started(&mut self) {
        self.log.push(format!("{} started", self.name));
    }
    fn stopped(&mut self) {
        self.log.push(format!("{} stopped", self.name));
    }
    fn work(&mut self) -> u64 {
        self.done += 1;
        self.done
    }
    fn fail_disk(&mut self) -> Result<u64, Fault> {
        Err(Disk).or_fault()
    }
    fn fail_network(&mut self) -> Result<u64, Fault> {
        Err(Network(Disk)).or_fault()
    }
    fn panic(&mut self) -> u64 {
        panic!("on purpose")
    }
}

/// A parent with workers below it, which hears of their failures.
struct Boss {
    log: Log,
    staff: Vec<(&'static str, Supervision)>,
}

#[actor]
impl Boss {
    async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        self.log.push("boss started".to_owned());
        for (name, supervision) in &self.staff {
            if ctx.child::<Worker>(name).is_some() {
                continue; // it has outlived our last incarnation
            }
            let child = ctx.spawn_child(Worker::make(name, &self.log)).named(*name);
            child.supervision(supervision.clone()).await.or_fault()?;
        }
        Ok(())
    }
    fn stopped(&mut self) {
        self.log.push("boss stopped".to_owned());
    }
    #[handles]
    fn child_failed(&mut self, failed: ChildFailed) {
        let name = failed.path.name();
        self.log
            .push(format!("boss hears of {name}: {} {:?}", failed.fault, failed.directive));
    }
}

async fn a_boss(
    system: &ActorSystem,
    log: &Log,
    own: Supervision,
    staff: Vec<(&'static str, Supervision)>,
) -> (ActorRef<Boss>, Vec<ActorRef<Worker>>) {
    let names: Vec<_> = staff.iter().map(|(name, _)| *name).collect();
    let make = {
        let log = log.clone();
        move || Boss {
            log: log.clone(),
            staff: staff.clone(),
        }
    };
    let boss = system.spawn(make).named("boss").supervision(own).await.unwrap();
    let find = |name: &&str| system.lookup(&format!("/user/boss/{name}")).unwrap();
    (boss, names.iter().map(find).collect())
}

fn restart() -> Supervision {
    Supervision::new()
}

const MS: Duration = Duration::from_millis(1);

/// Long enough for everything that is ready to run, and shorter than any delay here.
async fn settle(system: &ActorSystem) {
    system.sleep(MS).await;
}

#[test]
fn l10_a_directive_is_chosen_by_the_type_of_error_through_its_sources() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let supervision = Supervision::new()
            .on::<Network>(Directive::Resume)
            .on::<Disk>(Directive::Stop)
            .on_panic(Directive::Restart);
        let worker = system
            .spawn(Worker::make("w", &log))
            .supervision(supervision)
            .await
            .unwrap();
        worker.ask(Work).await.unwrap();
        match worker.ask(FailNetwork).await {
            Err(AskError::Failed(fault)) => assert!(fault.is::<Network>() && fault.is::<Disk>(), "the asker hears why"),
            other => panic!("{other:?}"),
        }
        assert_eq!(worker.ask(Work).await.unwrap(), 2, "resumed: the state is kept");
        assert!(worker.ask(Panic).await.is_err());
        assert_eq!(worker.ask(Work).await.unwrap(), 1, "restarted: the state is new");
        assert!(worker.ask(FailDisk).await.is_err());
        worker.terminated().await;
        assert_eq!(log.all(), ["w started", "w started", "w stopped"]);
        system.stop().await.unwrap();
    });
}

#[test]
fn l10_the_parent_hears_of_every_failure_restarts_included() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let (boss, staff) = a_boss(&system, &log, restart(), vec![("a", restart())]).await;
        assert!(staff[0].ask(FailDisk).await.is_err());
        assert!(staff[0].ask(Panic).await.is_err());
        settle(&system).await;
        let heard: Vec<_> = log.all().into_iter().filter(|line| line.contains("hears")).collect();
        assert_eq!(
            heard,
            [
                "boss hears of a: disk Restart",
                "boss hears of a: panicked: on purpose Restart"
            ]
        );
        assert!(boss.is_alive() && staff[0].is_alive());
        system.stop().await.unwrap();
    });
}

#[test]
fn l10_one_for_all_restarts_every_sibling_and_rest_for_one_the_younger_ones() {
    for (strategy, restarted) in [
        (Strategy::OneForOne, vec!["b"]),
        (Strategy::RestForOne, vec!["b", "c"]),
        (Strategy::OneForAll, vec!["a", "b", "c"]),
    ] {
        seeds(move |env| {
            let restarted = restarted.clone();
            async move {
                let system = simulated(&env).await;
                let log = Log::new();
                let family = restart().strategy(strategy);
                let staff = ["a", "b", "c"].map(|name| (name, family.clone()));
                let (_boss, staff) = a_boss(&system, &log, restart(), staff.into()).await;
                for worker in &staff {
                    worker.ask(Work).await.unwrap();
                }
                assert!(staff[1].ask(FailDisk).await.is_err());
                settle(&system).await;
                let mut fresh = Vec::new();
                for (worker, name) in staff.iter().zip(["a", "b", "c"]) {
                    if worker.ask(Work).await.unwrap() == 1 {
                        fresh.push(name);
                    }
                }
                assert_eq!(fresh, restarted, "{strategy:?}");
                system.stop().await.unwrap();
            }
        });
    }
}

#[test]
fn l10_one_for_all_stops_every_sibling_when_the_directive_is_stop() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let family = Supervision::new()
            .otherwise(Directive::Stop)
            .strategy(Strategy::OneForAll);
        let staff = vec![("a", restart()), ("b", family)];
        let (boss, staff) = a_boss(&system, &log, restart(), staff).await;
        assert!(staff[1].ask(FailDisk).await.is_err());
        staff[0].terminated().await;
        staff[1].terminated().await;
        assert!(boss.is_alive());
        system.stop().await.unwrap();
    });
}

#[test]
fn l10_too_many_restarts_in_a_window_suspend_and_reinstate_revives() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let (suspended, reinstated) = (
            system.events().subscribe::<ActorSuspended>(),
            system.events().subscribe::<ActorReinstated>(),
        );
        let supervision = restart().limit(2, Duration::from_secs(10));
        let worker = system
            .spawn(Worker::make("w", &log))
            .supervision(supervision)
            .await
            .unwrap();
        for _ in 0..2 {
            assert!(worker.ask(FailDisk).await.is_err());
        }
        worker.ask(Work).await.unwrap();
        assert!(worker.ask(FailDisk).await.is_err());
        settle(&system).await;
        assert!(
            worker.status().suspended && !worker.status().running,
            "{:?}",
            worker.status()
        );
        assert!(suspended.try_next().is_some());

        worker.tell(Work).unwrap(); // waits
        let answer = worker.ask(Work).timeout(Duration::from_secs(1)).await;
        assert!(matches!(answer, Err(AskError::Timeout { .. })), "{answer:?}");
        worker.reinstate();
        settle(&system).await;
        assert!(reinstated.try_next().is_some());
        assert_eq!(
            worker.ask(Work).await.unwrap(),
            3,
            "its state and its mail were kept; the expired ask was not run"
        );
        assert_eq!(log.count("w started"), 3);
        for _ in 0..2 {
            assert!(worker.ask(FailDisk).await.is_err());
        }
        worker.ask(Work).await.unwrap(); // restarts were forgiven
        system.stop().await.unwrap();
    });
}

#[test]
fn l10_the_window_of_a_limit_slides_with_virtual_time() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let supervision = restart().limit(1, Duration::from_hours(2));
        let worker = system
            .spawn(Worker::make("w", &Log::new()))
            .supervision(supervision)
            .await
            .unwrap();
        for _ in 0..5 {
            assert!(worker.ask(FailDisk).await.is_err());
            worker.ask(Work).await.unwrap();
            system.sleep(Duration::from_hours(2)).await;
        }
        assert!(worker.ask(FailDisk).await.is_err());
        assert!(worker.ask(FailDisk).await.is_err());
        settle(&system).await;
        assert!(worker.status().suspended);
        system.stop().await.unwrap();
    });
}

#[test]
fn l10_a_backoff_delays_restarts_longer_and_longer_and_begins_anew_after_quiet() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let backoff = Backoff::new(100 * MS, Duration::from_secs(1))
            .jitter(0.0)
            .reset_after(Duration::from_secs(5));
        let worker = system
            .spawn(Worker::make("w", &log))
            .supervision(restart().backoff(backoff))
            .await
            .unwrap();
        let mut delays = Vec::new();
        for _ in 0..6 {
            assert!(worker.ask(FailDisk).await.is_err());
            let before = system.now();
            assert!(worker.status().suspended);
            worker.ask(Work).timeout(Duration::from_secs(3)).await.unwrap();
            delays.push(system.now().since(before).as_millis() / 100);
        }
        assert_eq!(delays, [1, 2, 4, 8, 10, 10]);
        system.sleep(Duration::from_secs(5)).await;
        assert!(worker.ask(FailDisk).await.is_err());
        let before = system.now();
        worker.ask(Work).await.unwrap();
        assert_eq!(system.now().since(before).as_millis() / 100, 1, "it begins anew");
        system.stop().await.unwrap();
    });
}

#[test]
fn l10_a_stop_ends_an_actor_that_is_held_or_waits_for_its_restart() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let held = system
            .spawn(Worker::make("held", &log))
            .on_fault(Directive::Suspend)
            .await
            .unwrap();
        let backoff = Backoff::new(Duration::from_hours(1), Duration::from_hours(1));
        let late = system
            .spawn(Worker::make("late", &log))
            .supervision(restart().backoff(backoff))
            .await
            .unwrap();
        let killed = system
            .spawn(Worker::make("killed", &log))
            .on_fault(Directive::Suspend)
            .await
            .unwrap();
        for worker in [&held, &late, &killed] {
            assert!(worker.ask(FailDisk).await.is_err());
        }
        let began = system.now();
        held.stop();
        late.stop();
        killed.kill();
        for worker in [&held, &late, &killed] {
            worker.terminated().await;
        }
        assert!(
            system.now().since(began) < Duration::from_secs(1),
            "nobody waits for the delay"
        );
        for name in ["held", "late", "killed"] {
            assert_eq!(log.count(&format!("{name} stopped")), 1);
        }
        system.stop().await.unwrap();
    });
}

#[test]
fn l10_a_restart_from_outside_revives_an_actor_that_is_held() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let worker = system
            .spawn(Worker::make("w", &log))
            .on_fault(Directive::Suspend)
            .await
            .unwrap();
        worker.ask(Work).await.unwrap();
        assert!(worker.ask(FailDisk).await.is_err());
        worker.restart();
        assert_eq!(worker.ask(Work).await.unwrap(), 1);
        assert_eq!(log.count("w started"), 2);
        system.stop().await.unwrap();
    });
}

fn escalating() -> Supervision {
    Supervision::new().otherwise(Directive::Escalate)
}

#[test]
fn l10_an_escalated_fault_keeps_its_source_and_the_parents_directive_decides() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let failures = system.events().subscribe::<ActorFailed>();
        // The parent resumes on `Disk`, which only the child's fault holds.
        let own = Supervision::new()
            .otherwise(Directive::Stop)
            .on::<Disk>(Directive::Resume);
        let (boss, staff) = a_boss(&system, &log, own, vec![("a", escalating())]).await;
        staff[0].ask(Work).await.unwrap();
        assert!(staff[0].ask(FailNetwork).await.is_err());
        assert_eq!(
            staff[0].ask(Work).await.unwrap(),
            2,
            "the parent resumed, and so did the child"
        );
        let mut seen = Vec::new();
        while let Some(Ok(failed)) = failures.try_next() {
            assert!(failed.fault.is::<Network>() && failed.fault.is::<Disk>());
            seen.push((
                failed.path.to_string(),
                failed.directive.unwrap(),
                failed.fault.to_string(),
            ));
        }
        assert_eq!(
            seen,
            [
                (
                    "/user/boss/a".to_owned(),
                    Directive::Escalate,
                    "network: disk".to_owned()
                ),
                (
                    "/user/boss".to_owned(),
                    Directive::Resume,
                    "/user/boss/a failed: network: disk".to_owned()
                ),
            ]
        );
        assert!(boss.is_alive());
        system.stop().await.unwrap();
    });
}

#[test]
fn l10_an_escalation_restarts_the_parent_and_its_children_with_it() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let staff = vec![("a", escalating()), ("b", restart())];
        let (boss, old) = a_boss(&system, &log, restart(), staff).await;
        assert!(old[0].ask(Panic).await.is_err());
        old[0].terminated().await;
        old[1].terminated().await;
        settle(&system).await;
        assert!(boss.is_alive());
        assert_eq!(log.count("boss started"), 2);
        let a: ActorRef<Worker> = system.lookup("/user/boss/a").unwrap();
        assert_eq!(a.ask(Work).await.unwrap(), 1);
        system.stop().await.unwrap();
    });
}

#[test]
fn l10_an_escalation_climbs_and_at_the_top_the_branch_is_stopped() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let (boss, staff) = a_boss(&system, &log, escalating(), vec![("a", escalating())]).await;
        assert!(staff[0].ask(FailDisk).await.is_err());
        boss.terminated().await;
        assert!(!staff[0].is_alive());
        assert_eq!(log.all().last().unwrap(), "boss stopped");
        system.stop().await.unwrap();
    });
}

/// The parent's handler waits for something when the fault arrives: it is taken up afterwards.
#[test]
fn l10_an_escalation_waits_for_the_handler_of_the_parent() {
    struct Busy {
        log: Log,
    }
    #[actor]
    impl Busy {
        async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
            self.log.push("started".to_owned());
            let child = ctx.spawn_child(Worker::make("child", &self.log)).named("child");
            child.supervision(escalating()).await.or_fault()?;
            Ok(())
        }
        async fn wait_long(&mut self, gate: tokio::sync::oneshot::Receiver<()>) {
            let _ = gate.await;
            self.log.push("handler ended".to_owned());
        }
    }
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let made = log.clone();
        let busy = system
            .spawn(move || Busy { log: made.clone() })
            .named("busy")
            .await
            .unwrap();
        let child: ActorRef<Worker> = system.lookup("/user/busy/child").unwrap();
        let (open, gate) = gate();
        busy.tell(WaitLong { gate }).unwrap();
        settle(&system).await;
        assert!(child.ask(FailDisk).await.is_err());
        settle(&system).await;
        assert_eq!(log.count("started"), 1, "not while the handler waits");
        open.send(()).unwrap();
        settle(&system).await;
        let all: Vec<_> = log
            .all()
            .into_iter()
            .filter(|line| !line.starts_with("child"))
            .collect();
        assert_eq!(all, ["started", "handler ended", "started"]);
        system.stop().await.unwrap();
    });
}

#[test]
fn l10_children_are_kept_over_a_restart_if_the_policy_says_so() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let own = restart().children(ChildrenPolicy::Keep);
        let staff = vec![("a", restart()), ("b", escalating())];
        let (boss, staff) = a_boss(&system, &log, own, staff).await;
        staff[0].ask(Work).await.unwrap();
        staff[1].ask(Work).await.unwrap();
        boss.restart();
        settle(&system).await;
        assert_eq!(log.count("boss started"), 2);
        assert_eq!(staff[0].ask(Work).await.unwrap(), 2, "it was not touched");
        // A child that escalates shares the parent's fate: both restart.
        assert!(staff[1].ask(FailDisk).await.is_err());
        assert_eq!(staff[1].ask(Work).await.unwrap(), 1);
        assert_eq!(log.count("boss started"), 3);
        assert_eq!(staff[0].ask(Work).await.unwrap(), 3);
        system.stop().await.unwrap();
    });
}

#[test]
fn l10_a_crash_costs_the_failing_message_only() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let worker = system.spawn(Worker::make("w", &Log::new())).await.unwrap();
        let mut answers = Vec::new();
        for n in 0..20 {
            let answer = worker.ask(Work).into_future();
            answers.push(answer);
            if n % 5 == 4 {
                worker.tell(Panic).unwrap();
            }
        }
        for answer in answers {
            answer.await.unwrap();
        }
        system.stop().await.unwrap();
    });
}

#[test]
fn l10_supervision_that_makes_no_sense_is_refused_and_named() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        for (supervision, text) in [
            (restart().limit(3, Duration::ZERO), "limit"),
            (restart().backoff(Backoff::new(Duration::ZERO, MS)), "backoff"),
            (restart().backoff(Backoff::new(2 * MS, MS)), "backoff"),
            (restart().backoff(Backoff::new(MS, MS).jitter(2.0)), "jitter"),
        ] {
            let spawned = system
                .spawn(Worker::make("w", &Log::new()))
                .supervision(supervision)
                .await;
            let error = spawned.unwrap_err();
            assert!(matches!(error, SpawnError::Supervision(_)), "{error:?}");
            assert!(error.to_string().contains(text), "{error}");
        }
        assert_eq!(system.actor_count(), 0);
        system.stop().await.unwrap();
    });
}

/// The same on threads: crashes, escalations and reinstatements in a storm, and a clean end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l10_a_storm_of_crashes_on_threads_ends_well() {
    let system = system().await;
    let log = Log::new();
    let own = restart().limit(1_000_000, Duration::from_secs(1));
    let staff = vec![
        ("a", restart().strategy(Strategy::OneForAll)),
        ("b", escalating()),
        ("c", Supervision::new().otherwise(Directive::Suspend)),
    ];
    let (boss, _) = a_boss(&system, &log, own, staff).await;
    for round in 0..500 {
        for name in ["a", "b", "c"] {
            let Some(worker) = system.lookup::<Worker>(&format!("/user/boss/{name}")) else {
                continue;
            };
            let _ = worker.tell(FailDisk);
            let _ = worker.tell(Work);
            if round % 3 == 0 {
                worker.reinstate();
            }
        }
        tokio::task::yield_now().await;
    }
    assert!(boss.is_alive());
    soon("the stop", system.stop()).await.unwrap();
}

/// Parent and child must not keep each other's memory after an escalation.
#[test]
fn l10_an_escalation_leaves_nothing_behind() {
    struct Marked {
        _mark: std::sync::Arc<()>,
        child: bool,
    }
    #[actor]
    impl Marked {
        async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
            if !self.child {
                let mark = self._mark.clone();
                let make = move || Marked {
                    _mark: mark.clone(),
                    child: true,
                };
                ctx.spawn_child(make)
                    .named("child")
                    .supervision(escalating())
                    .await
                    .or_fault()?;
            }
            Ok(())
        }
        fn blow_up(&mut self) -> Result<u64, Fault> {
            Err(Disk).or_fault()
        }
    }
    for directive in [
        Directive::Stop,
        Directive::Restart,
        Directive::Resume,
        Directive::Suspend,
    ] {
        seeds(move |env| async move {
            let mark = std::sync::Arc::new(());
            let system = simulated(&env).await;
            let own = mark.clone();
            let make = move || Marked {
                _mark: own.clone(),
                child: false,
            };
            let parent = system.spawn(make).named("parent").on_fault(directive).await.unwrap();
            let child: ActorRef<Marked> = system.lookup("/user/parent/child").unwrap();
            assert!(child.ask(BlowUp).await.is_err());
            settle(&system).await;
            system.stop().await.unwrap();
            assert!(!parent.is_alive() && !child.is_alive() && !child.status().suspended);
            drop((parent, child, system));
            drop(env);
            assert_eq!(std::sync::Arc::strong_count(&mark), 1, "{directive:?}");
        });
    }
}

#[test]
fn l10_a_drain_of_a_held_actor_ends_it() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let worker = system
            .spawn(Worker::make("w", &Log::new()))
            .on_fault(Directive::Suspend)
            .await
            .unwrap();
        assert!(worker.ask(FailDisk).await.is_err());
        worker.tell(Work).unwrap();
        worker.drain();
        worker.terminated().await;
        assert_eq!(system.metrics().dead_letters, 1);
        system.stop().await.unwrap();
    });
}

/// Two children escalate at once: the parent restarts for the first, which ends both. What the second
/// handed up belongs to the past, and must not crash the new incarnation.
#[test]
fn l10_a_fault_of_a_child_that_is_gone_does_not_crash_the_next_incarnation() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let staff = vec![("a", escalating()), ("b", escalating())];
        let (boss, old) = a_boss(&system, &log, restart(), staff).await;
        old[0].tell(FailDisk).unwrap();
        old[1].tell(FailDisk).unwrap();
        old[0].terminated().await;
        old[1].terminated().await;
        system.sleep(10 * MS).await;
        assert_eq!(log.count("boss started"), 2, "{:?}", log.all());
        assert!(boss.is_alive());
        system.stop().await.unwrap();
    });
}
