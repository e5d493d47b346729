//! S13 and S21: the way down, and a start that is refused.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::time::Duration;

use common::journal::Journal;
use common::*;
use volary::prelude::*;
use volary::{ActorFailed, Env, SeededEnv, SpawnError, StopProblem, SystemStartError};

#[test]
fn s13_a_stop_kills_what_does_not_stop_in_time_and_says_so() {
    seeds(|env| async move {
        let system = builder("late")
            .environment(env.clone())
            .settings(|s| {
                s.stop_grace(Duration::from_hours(1))
                    .stop_timeout(Duration::from_secs(2))
            })
            .start()
            .await
            .unwrap();
        let log = Log::new();
        let desk = system.spawn(a_desk(&log)).named("late").await.unwrap();
        let (_keep, gate) = gate();
        desk.tell(Wait { gate }).unwrap();
        system.sleep(Duration::from_millis(1)).await;
        let before = env.now();
        let error = system.stop().await.unwrap_err();
        assert!(
            env.now().since(before) < Duration::from_secs(3),
            "{:?}",
            env.now().since(before)
        );
        match error.problems() {
            [
                StopProblem::Killed {
                    count: 1,
                    within,
                    examples,
                },
            ] => {
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
    let stories: Vec<_> = [Dispatcher::Default, Dispatcher::Blocking, Dispatcher::Pinned]
        .into_iter()
        .map(|dispatcher| std::thread::spawn(move || stuck_on(dispatcher)))
        .collect();
    for story in stories {
        story.join().unwrap();
    }
}

fn stuck_on(dispatcher: Dispatcher) {
    let (open, gate) = std::sync::mpsc::channel();
    let log = Log::new();
    let factory = a_desk(&log);
    let wanted = dispatcher.clone();
    let (desk, problems) = within("the stop of a system with a stuck handler", move || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let outcome = runtime.block_on(async {
            let system = builder("stuck")
                .settings(|s| s.stop_timeout(Duration::from_millis(50)))
                .start()
                .await
                .unwrap();
            let desk = system.spawn(factory).named("stuck").dispatcher(wanted).await.unwrap();
            desk.tell(Block { gate }).unwrap();
            eventually_async("it blocks", || log.has("blocking")).await;
            let error = system.stop().await.unwrap_err();
            (desk, error.problems().to_vec())
        });
        runtime.shutdown_background();
        outcome
    });
    let named = |examples: &[String]| examples == ["/user/stuck"];
    let killed = problems
        .iter()
        .filter(|p| matches!(p, StopProblem::Killed { examples, .. } if named(examples)))
        .count();
    let stuck = problems
        .iter()
        .filter(|p| matches!(p, StopProblem::Stuck { examples, .. } if named(examples)))
        .count();
    assert_eq!((killed, stuck), (1, 1), "{dispatcher:?}: {problems:?}");
    // When it lets go after all, it ends as it was told, long after its system.
    drop(open);
    eventually("the end of the stuck one", || !desk.is_alive());
}

#[tokio::test]
async fn s13_a_stop_from_inside_a_handler_begins_and_the_handler_ends_well() {
    for round in 0..20 {
        let system = system().await;
        let log = Log::new();
        let ender = system
            .spawn({
                let log = log.clone();
                move || Ender { log: log.clone() }
            })
            .await
            .unwrap();
        if round % 2 == 0 {
            ender.tell(EndAll).unwrap();
        } else {
            soon("the ask", ender.ask(EndAll)).await.unwrap();
        }
        soon("the end of the actor", ender.terminated()).await;
        soon("the stop", system.stop()).await.unwrap();
        assert!(system.is_stopping());
        assert_eq!(log.all(), ["begun", "stopped"]);
        let error = system.spawn(a_desk(&Log::new())).await.unwrap_err();
        assert!(matches!(error, SpawnError::Stopping { .. }), "{error}");
        assert!(ender.tell(EndAll).is_err());
        assert_eq!(system.actor_count(), 0);
        assert!(system.actors().is_empty());
        assert!(system.lookup::<Ender>("/user/x").is_none());
        assert!(matches!(system.tell("/user/x", EndAll), Err(TellError::Stopped(_))));
    }
}

#[test]
fn s13_a_stop_from_a_task_of_an_actor_only_begins() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let ender = system
            .spawn({
                let log = log.clone();
                move || Ender { log: log.clone() }
            })
            .await
            .unwrap();
        ender.ask(EndAllByTask).await.unwrap();
        system.stopped().await.unwrap();
        // Had it waited for the end of its own actor, it would have been ended with it.
        assert_eq!(log.all(), ["begun", "stopped"]);
    });
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
    fn end_all_by_task(&mut self, ctx: &mut Context<Self>) {
        let (system, log) = (ctx.system(), self.log.clone());
        ctx.spawn(async move {
            system.stop().await.unwrap();
            log.push("begun");
        });
    }
    fn stopped(&mut self) {
        self.log.push("stopped");
    }
}

/// Fails on its way down, in the place it is told.
struct Clumsy {
    place: &'static str,
}

#[actor]
impl Clumsy {
    fn stopping(&mut self) -> Result<(), Fault> {
        match self.place {
            "stopping" => Err(Fault::msg("tripped")),
            _ => Ok(()),
        }
    }
    fn stopped(&mut self) {
        assert_ne!(self.place, "stopped", "tripped");
    }
}

impl Drop for Clumsy {
    fn drop(&mut self) {
        assert_ne!(self.place, "drop", "tripped");
    }
}

#[test]
fn s13_hooks_that_fail_during_a_stop_are_in_its_error() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let failed = system.events().subscribe::<ActorFailed>();
        let early = system.spawn(|| Clumsy { place: "stopping" }).await.unwrap();
        early.stop();
        early.terminated().await;
        assert!(failed.try_next().is_some(), "published, before any stop of the system");
        let places = ["stopping", "stopped", "drop"];
        for place in places {
            system.spawn(move || Clumsy { place }).named(place).await.unwrap();
        }
        system.spawn(|| Clumsy { place: "nowhere" }).await.unwrap();

        let error = system.stop().await.unwrap_err();
        let mut named = Vec::new();
        for problem in error.problems() {
            match problem {
                StopProblem::Hook { path, hook, fault } => {
                    assert!(fault.contains("tripped"), "{fault}");
                    assert!(error.to_string().contains(path), "{error}");
                    named.push((path.clone(), *hook));
                }
                other => panic!("{other:?}"),
            }
        }
        named.sort();
        let mut expected = places.map(|place| (format!("/user/{place}"), place)).to_vec();
        expected.sort();
        assert_eq!(named, expected, "those that failed during the stop, and nobody else");
        let published = std::iter::from_fn(|| failed.try_next()).count();
        assert_eq!(published, 3, "published as well");
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn s13_several_stops_are_one() {
    let system = system().await;
    let log = Log::new();
    for _ in 0..20 {
        system.spawn(a_desk(&log)).await.unwrap();
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
    let two = builder("wrong")
        .settings(|s| s.workers(0).throughput(1))
        .start()
        .await
        .unwrap_err()
        .to_string();
    assert_eq!(two.lines().count(), 2, "one line per mistake: {two}");
    let file = builder("wrong")
        .file("/nowhere/volary.toml")
        .start()
        .await
        .unwrap_err()
        .to_string();
    assert!(file.contains("/nowhere/volary.toml"), "{file}");
}

#[tokio::test]
async fn s21_a_wrong_name_or_dispatcher_is_refused_at_start() {
    let name = ActorSystem::builder("no spaces").start().await.unwrap_err();
    assert!(matches!(name, SystemStartError::Name { .. }));
    assert!(name.to_string().contains("no spaces"));
    let few = builder("x")
        .dispatcher("own", volary::DispatcherOptions::new().workers(1))
        .start()
        .await
        .unwrap_err();
    assert_eq!(
        few.to_string(),
        "dispatcher \"own\": workers is 1, allowed is 2 to 1024"
    );
    for reserved in ["default", "blocking", "pinned", ""] {
        builder("x")
            .dispatcher(reserved, volary::DispatcherOptions::new())
            .start()
            .await
            .unwrap_err();
    }
    let twice = builder("x")
        .dispatcher("own", volary::DispatcherOptions::new())
        .dispatcher("own", volary::DispatcherOptions::new());
    twice.start().await.unwrap_err();
}

#[test]
fn s21_the_effective_configuration_is_logged_at_start_without_its_secrets() {
    let start = |logs: bool| {
        let env = SeededEnv::new(1);
        let builder = ActorSystem::builder("told")
            .environment(env.clone())
            .toml_str(
                "told.toml",
                "throughput = 16\n[app]\nurl = \"nats://bank:hunter2@host\"",
            )
            .settings(|s| s.log_config(logs).app("db.password", "hunter2"));
        let (system, logged) = Journal::during(|| builder.start_now().unwrap());
        let effective = system.settings().effective();
        let effective: Vec<_> = effective
            .iter()
            .map(|setting| format!("{setting} system=told"))
            .collect();
        env.block_on(system.stop()).unwrap();
        (logged, effective)
    };
    let (logged, effective) = start(true);
    assert_eq!(logged, effective, "every setting, in one line each");
    for line in [
        "throughput = 16 (file told.toml, line 1, key throughput)",
        "app.db.password = *** (code)",
        "app.url = nats://bank:***@host (file told.toml, line 3, key app.url)",
    ] {
        assert!(
            logged.iter().any(|logged| logged.starts_with(line)),
            "no {line} in {logged:#?}"
        );
    }
    assert!(!logged.concat().contains("hunter2"), "{logged:#?}");
    let (logged, _) = start(false);
    assert!(logged.is_empty(), "`log-config` is off: {logged:#?}");
}
