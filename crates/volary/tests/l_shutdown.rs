//! L27: coordinated shutdown.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary::{
    CutShort, Env, HookError, HookRecovery, PhasePlace, Reentrancy, SeededEnv, ShutdownHook, StopProblem,
    SystemBuilder, SystemStartError, shutdown,
};

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_hours(1);

fn on(env: &SeededEnv) -> SystemBuilder {
    builder("down").environment(env.clone())
}

/// A hook that writes its name into the log.
fn noting(log: &Log, phase: &str, name: &'static str) -> ShutdownHook {
    let log = log.clone();
    ShutdownHook::new(phase, name, move || {
        let log = log.clone();
        async move { log.push(name) }
    })
}

/// A hook that never ends.
fn hanging(log: &Log, phase: &str, name: &'static str) -> ShutdownHook {
    let log = log.clone();
    ShutdownHook::new(phase, name, move || {
        let log = log.clone();
        async move {
            let _gone = OnDrop(log.clone(), "hang dropped");
            log.push(name);
            pending::<()>().await;
        }
    })
}

/// A hook that fails so many times, and then no more.
fn failing(log: &Log, name: &'static str, times: u32, recovery: HookRecovery) -> ShutdownHook {
    let (log, failures) = (log.clone(), Arc::new(AtomicU32::new(0)));
    let hook = ShutdownHook::new(shutdown::INTAKE, name, move || {
        let (log, failures) = (log.clone(), failures.clone());
        async move {
            log.push(name);
            match failures.fetch_add(1, Ordering::SeqCst) {
                n if n < times => Err(Broken(n)),
                _ => Ok(()),
            }
        }
    });
    hook.recovery(recovery)
}

fn not_run(phase: &str, hook: &str, why: CutShort) -> StopProblem {
    StopProblem::HookNotRun {
        phase: phase.to_owned(),
        hook: hook.to_owned(),
        why,
    }
}

#[test]
fn l27_phases_run_in_order_and_hooks_in_order_of_registration() {
    seeds(|env| async move {
        let log = Log::new();
        let system = on(&env)
            .shutdown_phase("audit", PhasePlace::before("settle"))
            .shutdown_phase("settle", PhasePlace::after(shutdown::DRAIN))
            .on_shutdown(noting(&log, shutdown::AFTER_ACTORS, "after"))
            .on_shutdown(noting(&log, "settle", "settle"))
            .on_shutdown(noting(&log, "audit", "audit"))
            .on_shutdown(noting(&log, shutdown::INTAKE, "intake 1"))
            .on_shutdown(noting(&log, shutdown::UNREADY, "unready"))
            .start()
            .await
            .unwrap();
        let desk = system.spawn(a_desk(&log)).named("desk").await.unwrap();
        system.on_shutdown(noting(&log, shutdown::INTAKE, "intake 2")).unwrap();
        system.on_shutdown(noting(&log, shutdown::DRAIN, "drain")).unwrap();
        // Actors are of use to hooks until their phase has come.
        let asking = desk.clone();
        let ask = ShutdownHook::once(shutdown::ACTORS, "ask", move || async move {
            asking
                .ask(Note { number: 7 })
                .await
                .map(drop)
                .map_err(|e| e.to_string())
        });
        system.on_shutdown(ask).unwrap();
        system.stop().await.unwrap();
        assert_eq!(
            log.all(),
            [
                "started", "unready", "intake 1", "intake 2", "drain", "audit", "settle", "7", "stopping", "stopped",
                "dropped", "after"
            ]
        );
    });
}

#[test]
fn l27_hooks_of_a_phase_do_not_overlap() {
    seeds(|env| async move {
        let log = Log::new();
        let system = on(&env).start().await.unwrap();
        for name in ["a", "b"] {
            let (log, clock) = (log.clone(), system.clone());
            let hook = ShutdownHook::once(shutdown::DRAIN, name, move || async move {
                log.push(format!("{name} begins"));
                clock.sleep(SECOND).await;
                log.push(format!("{name} ends"));
            });
            system.on_shutdown(hook).unwrap();
        }
        system.stop().await.unwrap();
        assert_eq!(log.all(), ["a begins", "a ends", "b begins", "b ends"]);
    });
}

#[test]
fn l27_readiness_turns_false_first_and_whoever_waits_hears_of_it() {
    seeds(|env| async move {
        let log = Log::new();
        let system = on(&env).start().await.unwrap();
        let readiness = system.readiness();
        assert!(system.is_ready() && readiness.is_ready() && !system.is_stopping());
        let (bell, gone) = (Bell::new(), Bell::new());
        let mut lost = readiness.lost();
        let mut dropped = readiness.lost();
        assert!(poll_with(&mut lost, &bell).is_pending());
        assert!(poll_with(&mut lost, &bell).is_pending());
        assert!(poll_with(&mut dropped, &gone).is_pending());
        drop(dropped);
        let seen = {
            let (log, readiness) = (log.clone(), readiness.clone());
            move || {
                log.push(readiness.is_ready());
                async {}
            }
        };
        system
            .on_shutdown(ShutdownHook::new(shutdown::UNREADY, "look", seen))
            .unwrap();
        system.stop().await.unwrap();
        assert_eq!(log.all(), ["false"], "before the first hook");
        assert_eq!((bell.rung(), gone.rung()), (1, 0));
        assert!(poll_with(&mut lost, &bell).is_ready());
        readiness.lost().await;
        assert!(!system.is_ready());
    });
}

#[test]
fn l27_a_hook_that_hangs_is_cut_off_at_its_timeout_and_named() {
    seeds(|env| async move {
        let log = Log::new();
        let system = on(&env)
            .on_shutdown(hanging(&log, shutdown::INTAKE, "listener").timeout(3 * SECOND))
            .on_shutdown(noting(&log, shutdown::INTAKE, "next"))
            .start()
            .await
            .unwrap();
        let before = env.now();
        let error = system.stop().await.unwrap_err();
        let took = env.now().since(before);
        assert!((3 * SECOND..4 * SECOND).contains(&took), "{took:?}");
        assert_eq!(
            log.all(),
            ["listener", "hang dropped", "next"],
            "dropped before the next one runs"
        );
        let expected = StopProblem::HookTimedOut {
            phase: "intake".to_owned(),
            hook: "listener".to_owned(),
            attempts: 1,
            within: 3 * SECOND,
        };
        assert_eq!(error.problems(), [expected]);
        let text = error.to_string();
        let sentence = "shutdown hook \"listener\" of phase \"intake\" did not end within 3s and was cut off";
        assert!(text.ends_with(sentence), "{text}");
    });
}

/// Panics in the place it is told.
struct Mine(&'static str, &'static str);

impl Drop for Mine {
    fn drop(&mut self) {
        assert_ne!(self.0, self.1, "stepped on in {}", self.0);
    }
}

#[derive(Debug)]
struct Unspeakable;

impl std::fmt::Display for Unspeakable {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        panic!("stepped on in showing")
    }
}

impl std::error::Error for Unspeakable {}

#[test]
fn l27_a_panic_in_any_part_of_a_hook_is_contained_and_named() {
    seeds(|env| async move {
        let log = Log::new();
        let system = on(&env).start().await.unwrap();
        let parts = [
            "calling",
            "polling",
            "showing",
            "dropping the future",
            "dropping the hook",
        ];
        for part in parts {
            let closure = Mine(part, "dropping the hook");
            let hook = ShutdownHook::new(shutdown::INTAKE, part, move || {
                let _ = &closure;
                assert_ne!(part, "calling", "stepped on in calling");
                async move {
                    let _future = Mine(part, "dropping the future");
                    assert_ne!(part, "polling", "stepped on in polling");
                    match part {
                        "showing" => Err(Unspeakable),
                        _ => Ok(()),
                    }
                }
            });
            system.on_shutdown(hook).unwrap();
        }
        // Dropped without being run.
        let closure = Mine("x", "x");
        let unused = ShutdownHook::new(shutdown::DRAIN, "unused", move || {
            let _ = &closure;
            async {}
        });
        assert!(system.on_shutdown(unused).unwrap().take_back());
        system.on_shutdown(noting(&log, shutdown::INTAKE, "next")).unwrap();
        let error = system.stop().await.unwrap_err();
        assert_eq!(log.all(), ["next"]);
        let named: Vec<_> = error
            .problems()
            .iter()
            .map(|problem| match problem {
                StopProblem::HookFailed { phase, hook, fault, .. } if phase == "intake" => {
                    assert!(
                        fault.contains(&format!("stepped on in {hook}")) || hook.starts_with("dropping"),
                        "{fault}"
                    );
                    assert!(fault.contains("panicked"), "{fault}");
                    hook.as_str()
                }
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(named, parts[..4], "the last one has done its work");
    });
}

#[test]
fn l27_a_panic_in_the_drop_of_a_hook_that_is_cut_off_is_contained() {
    seeds(|env| async move {
        let log = Log::new();
        let hook = ShutdownHook::new(shutdown::INTAKE, "hangs", || async {
            let _future = Mine("x", "x");
            pending::<()>().await;
        });
        let system = on(&env)
            .on_shutdown(hook.timeout(SECOND))
            .on_shutdown(noting(&log, shutdown::INTAKE, "next"))
            .start()
            .await
            .unwrap();
        let error = system.stop().await.unwrap_err();
        assert!(
            matches!(error.problems(), [StopProblem::HookTimedOut { .. }]),
            "{error}"
        );
        assert_eq!(log.all(), ["next"]);
    });
}

#[test]
fn l27_a_recovery_is_carried_out() {
    seeds(|env| async move {
        let retry_skip = HookRecovery::RetrySkip {
            attempts: 3,
            delay: 10 * SECOND,
        };
        let retry_fail = HookRecovery::RetryFail {
            attempts: 2,
            delay: SECOND,
        };
        // The recovery, how often the hook fails; how often it was run, whether the next one was, and how long it took.
        let cases = [
            (HookRecovery::Skip, 1, 1, true, 0),
            (HookRecovery::Fail, 1, 1, false, 0),
            (HookRecovery::Fail, 0, 1, true, 0),
            (retry_skip, 2, 3, true, 20),
            (retry_skip, 9, 3, true, 20),
            (retry_fail, 1, 2, true, 1),
            (retry_fail, 9, 2, false, 1),
        ];
        for (recovery, failures, runs, next, seconds) in cases {
            let log = Log::new();
            let system = on(&env)
                .on_shutdown(failing(&log, "shaky", failures, recovery))
                .on_shutdown(noting(&log, shutdown::INTAKE, "next"))
                .on_shutdown(noting(&log, shutdown::AFTER_ACTORS, "last"))
                .start()
                .await
                .unwrap();
            let desk = system.spawn(a_desk(&Log::new())).await.unwrap();
            let before = env.now();
            let result = system.stop().await;
            let took = env.now().since(before).as_secs();
            assert_eq!(log.count("shaky"), runs, "{recovery:?}");
            assert_eq!((log.has("next"), log.has("last")), (next, next), "{recovery:?}");
            assert_eq!(took, seconds, "{recovery:?}");
            assert!(!desk.is_alive(), "{recovery:?}");
            if failures < u32::try_from(runs).unwrap() {
                result.unwrap(); // made good
                continue;
            }
            let attempts = u32::try_from(runs).unwrap();
            let mut expected = vec![StopProblem::HookFailed {
                phase: "intake".to_owned(),
                hook: "shaky".to_owned(),
                attempts,
                fault: format!("broken {}", attempts - 1),
            }];
            if !next {
                let why = || CutShort::HookFailed {
                    hook: "shaky".to_owned(),
                };
                expected.push(not_run("intake", "next", why()));
                expected.push(not_run("after-actors", "last", why()));
            }
            assert_eq!(result.unwrap_err().problems(), expected, "{recovery:?}");
        }
    });
}

#[test]
fn l27_a_hook_that_hangs_is_tried_again_as_well() {
    seeds(|env| async move {
        let log = Log::new();
        let recovery = HookRecovery::RetrySkip {
            attempts: 2,
            delay: SECOND,
        };
        let system = on(&env)
            .on_shutdown(
                hanging(&log, shutdown::INTAKE, "slow")
                    .timeout(SECOND)
                    .recovery(recovery),
            )
            .start()
            .await
            .unwrap();
        let error = system.stop().await.unwrap_err();
        assert_eq!(log.count("slow"), 2);
        assert!(
            matches!(error.problems(), [StopProblem::HookTimedOut { attempts: 2, .. }]),
            "{error}"
        );
    });
}

#[test]
fn l27_the_whole_ends_at_its_timeout_and_what_was_cut_off_is_named() {
    seeds(|env| async move {
        let log = Log::new();
        let system = on(&env)
            .settings(|s| s.shutdown_timeout(5 * SECOND))
            .on_shutdown(noting(&log, shutdown::UNREADY, "in time"))
            .on_shutdown(hanging(&log, shutdown::INTAKE, "listener").timeout(HOUR))
            .on_shutdown(noting(&log, shutdown::AFTER_ACTORS, "too late"))
            .start()
            .await
            .unwrap();
        let actors = Log::new();
        system.spawn(a_desk(&actors)).await.unwrap();
        let before = env.now();
        let error = system.stop().await.unwrap_err();
        let took = env.now().since(before);
        assert!((5 * SECOND..6 * SECOND).contains(&took), "{took:?}");
        assert_eq!(log.all(), ["in time", "listener", "hang dropped"]);
        assert!(actors.has("stopped"), "the actors end well nevertheless");
        let why = || CutShort::Timeout { within: 5 * SECOND };
        let cut_off = StopProblem::HookCutOff {
            phase: "intake".to_owned(),
            hook: "listener".to_owned(),
            why: why(),
        };
        assert_eq!(error.problems(), [cut_off, not_run("after-actors", "too late", why())]);
        assert!(
            error.to_string().contains("the shutdown-timeout of 5s was over"),
            "{error}"
        );
    });
}

#[test]
fn l27_a_retry_does_not_outlast_the_whole() {
    seeds(|env| async move {
        let log = Log::new();
        let recovery = HookRecovery::RetryFail {
            attempts: 100,
            delay: 3 * SECOND,
        };
        let system = on(&env)
            .settings(|s| s.shutdown_timeout(5 * SECOND))
            .on_shutdown(failing(&log, "shaky", 100, recovery))
            .on_shutdown(noting(&log, shutdown::DRAIN, "next"))
            .start()
            .await
            .unwrap();
        let before = env.now();
        let error = system.stop().await.unwrap_err();
        assert_eq!(env.now().since(before).as_secs(), 5);
        assert_eq!(log.all(), ["shaky", "shaky"]);
        let problems = error.problems();
        assert!(
            matches!(problems[0], StopProblem::HookFailed { attempts: 2, .. }),
            "{error}"
        );
        let why = CutShort::Timeout { within: 5 * SECOND };
        assert_eq!(problems[1..], [not_run("drain", "next", why)]);
    });
}

#[test]
fn l27_the_actors_have_what_the_hooks_have_left_and_no_more_than_their_own_limit() {
    seeds(|env| async move {
        for (whole, own, within) in [(5, 60, 3_u128), (60, 4, 4), (2, 60, 1)] {
            let system = on(&env)
                .settings(|s| {
                    s.shutdown_timeout(whole * SECOND)
                        .stop_timeout(own * SECOND)
                        .stop_grace(HOUR)
                })
                .on_shutdown(hanging(&Log::new(), shutdown::INTAKE, "slow").timeout(2 * SECOND))
                .start()
                .await
                .unwrap();
            let log = Log::new();
            let desk = system.spawn(a_desk(&log)).named("late").await.unwrap();
            let (_keep, gate) = gate();
            desk.tell(Wait { gate }).unwrap();
            let error = system.stop().await.unwrap_err();
            match error.problems() {
                [
                    _,
                    StopProblem::Killed {
                        count: 1, within: had, ..
                    },
                ] => {
                    assert_eq!(had.as_millis().div_ceil(100), within * 10, "{had:?}");
                }
                other => panic!("{other:?}"),
            }
            assert!(log.has("stopped"));
        }
    });
}

/// Sends what it is given on, after a while.
struct Relay {
    next: ActorRef<Desk>,
}

#[actor]
impl Relay {
    async fn pass(&mut self, number: u64, ctx: &mut Context<Self>) -> Result<(), Fault> {
        ctx.sleep(SECOND).await;
        self.next.tell(Note { number }).or_fault()
    }
}

/// Three messages at the door of one actor, each of them work for another.
async fn busy(env: &SeededEnv, drain: Duration, log: &Log) -> ActorSystem {
    let system = on(env).settings(|s| s.drain_timeout(drain)).start().await.unwrap();
    let desk = system.spawn(a_desk(log)).named("desk").await.unwrap();
    let relay = system.spawn(move || Relay { next: desk.clone() }).named("relay");
    let relay = relay.await.unwrap();
    for number in 1..=3 {
        relay.tell(Pass { number }).unwrap();
    }
    system
}

#[test]
fn l27_a_drain_lets_the_actors_finish_their_work_together() {
    seeds(|env| async move {
        let log = Log::new();
        let system = busy(&env, HOUR, &log).await;
        let before = env.now();
        system.stop().await.unwrap();
        assert_eq!(log.all(), ["started", "1", "2", "3", "stopping", "stopped", "dropped"]);
        assert_eq!(system.metrics().dead_letters, 0);
        let took = env.now().since(before);
        assert!(took < 4 * SECOND, "no longer than the work takes: {took:?}");
    });
}

#[test]
fn l27_without_a_drain_what_waits_becomes_dead_letters() {
    seeds(|env| async move {
        let log = Log::new();
        let system = busy(&env, Duration::ZERO, &log).await;
        system.stop().await.unwrap();
        assert!(!log.has("3"));
        assert!(system.metrics().dead_letters >= 2);
    });
}

#[test]
fn l27_a_drain_ends_at_its_timeout_and_names_who_still_had_work() {
    seeds(|env| async move {
        let log = Log::new();
        let system = busy(&env, 1500 * SECOND / 1000, &log).await;
        let error = system.stop().await.unwrap_err();
        let expected = StopProblem::NotDrained {
            count: 1,
            within: 1500 * SECOND / 1000,
            examples: vec!["/user/relay".to_owned()],
        };
        assert_eq!(error.problems(), [expected]);
        assert!(log.has("1") && log.has("stopped") && !log.has("3"));
    });
}

#[test]
fn l27_a_drain_does_not_wait_for_an_actor_that_is_held() {
    seeds(|env| async move {
        let system = on(&env).settings(|s| s.drain_timeout(HOUR)).start().await.unwrap();
        let desk = system
            .spawn(a_desk(&Log::new()))
            .on_fault(Directive::Suspend)
            .await
            .unwrap();
        desk.tell(Crash).unwrap();
        desk.tell(Note { number: 1 }).unwrap();
        while !desk.status().suspended {
            system.sleep(Duration::from_millis(1)).await;
        }
        let before = env.now();
        system.stop().await.unwrap();
        assert!(env.now().since(before) < SECOND);
    });
}

/// Asks a desk of another system, and handles other messages meanwhile.
struct Client {
    desk: ActorRef<Desk>,
    log: Log,
}

#[actor]
impl Client {
    fn order(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        let nap = Nap { time: SECOND };
        ctx.request(&self.desk, nap).then(|client: &mut Client, answer, _| {
            client.log.push(answer.is_ok());
            Ok(())
        })?;
        Ok(())
    }
}

#[test]
fn l27_a_drain_waits_for_the_answers_to_requests() {
    seeds(|env| async move {
        let log = Log::new();
        let other = simulated(&env).await;
        let desk = other.spawn(a_desk(&Log::new())).await.unwrap();
        let system = on(&env).settings(|s| s.drain_timeout(HOUR)).start().await.unwrap();
        let written = log.clone();
        let client = system.spawn(move || Client {
            desk: desk.clone(),
            log: written.clone(),
        });
        let client = client.reentrancy(Reentrancy::all()).await.unwrap();
        client.tell(Order).unwrap();
        system.stop().await.unwrap();
        assert_eq!(log.all(), ["true"]);
        other.stop().await.unwrap();
    });
}

#[test]
fn l27_hooks_run_once_and_in_order_however_often_a_stop_is_called() {
    seeds(|env| async move {
        let log = Log::new();
        let system = on(&env)
            .on_shutdown(hanging(&log, shutdown::INTAKE, "first").timeout(2 * SECOND))
            .on_shutdown(noting(&log, shutdown::DRAIN, "second"))
            .start()
            .await
            .unwrap();
        drop(system.stop());
        assert!(system.is_ready(), "a stop that nobody polls has not begun");
        let mut begun = Box::pin(system.stop());
        assert!(poll_with(&mut begun, &Bell::new()).is_pending());
        drop(begun);
        system.sleep(SECOND).await;
        assert_eq!(log.all(), ["first"]);
        let error = system.stop().await.unwrap_err();
        assert_eq!(log.all(), ["first", "hang dropped", "second"]);
        assert_eq!(system.stop().await.unwrap_err(), error);
        assert_eq!(log.len(), 3);
    });
}

#[test]
fn l27_a_hook_can_be_taken_back_until_it_runs() {
    seeds(|env| async move {
        let log = Log::new();
        let system = on(&env).start().await.unwrap();
        let first = system.on_shutdown(noting(&log, shutdown::INTAKE, "first")).unwrap();
        let second = system.on_shutdown(noting(&log, shutdown::INTAKE, "second")).unwrap();
        let third = system.on_shutdown(noting(&log, shutdown::DRAIN, "third")).unwrap();
        assert!(first.take_back());
        assert!(!first.take_back());
        // Even from a hook before it.
        let taken = {
            let log = log.clone();
            ShutdownHook::once(
                shutdown::UNREADY,
                "take",
                move || async move { log.push(third.take_back()) },
            )
        };
        system.on_shutdown(taken).unwrap();
        system.stop().await.unwrap();
        assert_eq!(log.all(), ["true", "second"]);
        assert!(!second.take_back());
    });
}

#[test]
fn l27_a_hook_is_refused_once_the_stop_is_past_its_phase() {
    seeds(|env| async move {
        let log = Log::new();
        let system = on(&env).start().await.unwrap();
        let (inside, written) = (system.clone(), log.clone());
        let late = ShutdownHook::once(shutdown::INTAKE, "registers", move || async move {
            let past = inside.on_shutdown(noting(&written, shutdown::UNREADY, "past"));
            written.push(past.unwrap_err());
            inside.on_shutdown(noting(&written, shutdown::INTAKE, "same")).unwrap();
            inside.on_shutdown(noting(&written, shutdown::DRAIN, "later")).unwrap();
        });
        system.on_shutdown(late).unwrap();
        system.on_shutdown(noting(&log, shutdown::INTAKE, "before")).unwrap();
        system.stop().await.unwrap();
        let refused = "shutdown hook \"past\": the stop is past its phase \"unready\"";
        assert_eq!(log.all(), [refused, "before", "same", "later"]);
        let error = system
            .on_shutdown(noting(&log, shutdown::AFTER_ACTORS, "x"))
            .unwrap_err();
        assert!(matches!(error, HookError::TooLate { .. }), "{error}");
    });
}

#[test]
fn l27_what_is_wrong_with_phases_and_hooks_is_said_at_start() {
    let env = SeededEnv::new(1);
    let log = Log::new();
    let refused = |builder: SystemBuilder| builder.start_now().unwrap_err().to_string();
    let after = |phase: &str| PhasePlace::after(phase);
    for (builder, words) in [
        (
            on(&env).shutdown_phase("drain", after("intake")),
            "\"drain\": name is \"drain\"",
        ),
        (on(&env).shutdown_phase("a", after("b")), "\"a\": place is after \"b\""),
        (
            on(&env).shutdown_phase("a", after("b")).shutdown_phase("b", after("a")),
            "does not depend on \"a\"",
        ),
        (
            on(&env).on_shutdown(noting(&log, "drian", "flush")),
            "\"flush\": phase is \"drian\", allowed is one of unready, intake, drain, actors, after-actors",
        ),
        (
            on(&env).on_shutdown(noting(&log, "drain", "flush").timeout(Duration::ZERO)),
            "\"flush\": timeout is 0ns, allowed is more than 0",
        ),
        (
            on(&env).settings(|s| s.shutdown_timeout(Duration::ZERO)),
            "shutdown-timeout",
        ),
    ] {
        let message = refused(builder);
        assert!(message.contains(words), "no {words} in {message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
    let error = on(&env).shutdown_phase("a", after("b")).start_now().unwrap_err();
    assert!(matches!(error, SystemStartError::Phase(_)));
    let error = on(&env).on_shutdown(noting(&log, "a", "b")).start_now().unwrap_err();
    assert!(matches!(error, SystemStartError::Hook(HookError::UnknownPhase { .. })));
}

#[test]
fn l27_a_stop_from_a_handler_begins_and_the_hooks_can_ask_that_actor() {
    seeds(|env| async move {
        let log = Log::new();
        let system = on(&env).start().await.unwrap();
        let ender = system.spawn(|| Ender).await.unwrap();
        let (asked, written) = (ender.clone(), log.clone());
        let hook = ShutdownHook::once(shutdown::INTAKE, "ask", move || async move {
            written.push(asked.ask(Hello).await.unwrap());
        });
        system.on_shutdown(hook).unwrap();
        ender.ask(EndAll).await.unwrap();
        assert!(!system.is_ready());
        system.stopped().await.unwrap();
        assert_eq!(log.all(), ["hello"]);
    });
}

struct Ender;

#[actor]
impl Ender {
    async fn end_all(&mut self, ctx: &mut Context<Self>) {
        ctx.system().stop().await.unwrap();
    }
    fn hello(&mut self) -> &'static str {
        "hello"
    }
}

#[test]
fn l27_a_hurry_cuts_off_the_hook_that_runs_and_passes_the_others_by() {
    seeds(|env| async move {
        let log = Log::new();
        let system = on(&env)
            .on_shutdown(hanging(&log, shutdown::INTAKE, "listener").timeout(HOUR))
            .on_shutdown(noting(&log, shutdown::AFTER_ACTORS, "last"))
            .settings(|s| s.shutdown_timeout(2 * HOUR))
            .start()
            .await
            .unwrap();
        system.hurry_stop(); // nothing to hurry
        let actors = Log::new();
        system.spawn(a_desk(&actors)).await.unwrap();
        let mut stop = Box::pin(system.stop());
        assert!(poll_with(&mut stop, &Bell::new()).is_pending());
        system.sleep(SECOND).await;
        assert_eq!(log.all(), ["listener"]);
        let before = env.now();
        system.hurry_stop();
        system.hurry_stop();
        let error = stop.await.unwrap_err();
        assert!(env.now().since(before) < SECOND);
        let cut_off = StopProblem::HookCutOff {
            phase: "intake".to_owned(),
            hook: "listener".to_owned(),
            why: CutShort::Hurried,
        };
        assert_eq!(
            error.problems(),
            [cut_off, not_run("after-actors", "last", CutShort::Hurried)]
        );
        assert_eq!(log.all(), ["listener", "hang dropped"]);
        assert!(actors.has("stopped"));
    });
}

#[test]
fn l27_a_hurry_ends_a_drain_and_kills_actors_that_do_not_stop() {
    seeds(|env| async move {
        for drain in [Duration::ZERO, HOUR] {
            let system = on(&env)
                .settings(|s| s.drain_timeout(drain).stop_grace(HOUR).stop_timeout(HOUR))
                .start()
                .await
                .unwrap();
            let log = Log::new();
            let desk = system.spawn(a_desk(&log)).named("late").await.unwrap();
            let (_keep, gate) = gate();
            desk.tell(Wait { gate }).unwrap();
            system.sleep(Duration::from_millis(1)).await;
            assert!(log.has("waiting"));
            let mut stop = Box::pin(system.stop());
            assert!(poll_with(&mut stop, &Bell::new()).is_pending());
            system.sleep(SECOND).await;
            let before = env.now();
            system.hurry_stop();
            let error = stop.await.unwrap_err();
            assert!(env.now().since(before) < 2 * SECOND);
            let drained = error
                .problems()
                .iter()
                .any(|p| matches!(p, StopProblem::NotDrained { .. }));
            assert_eq!(drained, !drain.is_zero(), "{error}");
            assert!(
                matches!(error.problems().last(), Some(StopProblem::Killed { .. })),
                "{error}"
            );
            assert!(log.has("wait dropped") && log.has("stopped"));
        }
    });
}

/// A hook that keeps its thread cannot be ended; the stop says so and goes on.
#[test]
fn l27_a_hook_that_blocks_its_thread_is_named_and_holds_up_nobody() {
    let (open, blocked) = std::sync::mpsc::channel::<()>();
    let log = Log::new();
    let written = log.clone();
    let problems = within("the stop", move || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let problems = runtime.block_on(async {
            let hook = ShutdownHook::once(shutdown::INTAKE, "stuck", move || async move {
                let _ = blocked.recv();
            });
            let system = builder("blocked")
                .on_shutdown(hook.timeout(Duration::from_millis(20)))
                .on_shutdown(noting(&written, shutdown::AFTER_ACTORS, "last"))
                .start()
                .await
                .unwrap();
            let error = system.stop().await.unwrap_err();
            error.problems().to_vec()
        });
        runtime.shutdown_background();
        problems
    });
    drop(open);
    assert_eq!(log.all(), ["last"]);
    assert!(
        matches!(
            &problems[..],
            [
                StopProblem::HookTimedOut { hook, .. },
                StopProblem::HookStuck { hook: stuck, .. }
            ] if hook == "stuck" && stuck == "stuck"
        ),
        "{problems:?}"
    );
}

#[test]
fn l27_hooks_without_a_runtime_are_named_as_not_run() {
    within("the stop", || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .unwrap();
        let log = Log::new();
        let system = runtime.block_on(async { builder("gone").start().await.unwrap() });
        system.on_shutdown(noting(&log, shutdown::INTAKE, "a")).unwrap();
        system.on_shutdown(noting(&log, shutdown::AFTER_ACTORS, "b")).unwrap();
        drop(runtime);
        let error = block_on(system.stop()).unwrap_err();
        assert!(log.is_empty());
        assert_eq!(
            error.problems(),
            [
                not_run("intake", "a", CutShort::RuntimeGone),
                not_run("after-actors", "b", CutShort::RuntimeGone),
                StopProblem::RuntimeGone { count: 0 },
            ]
        );
        assert!(!system.is_ready());
    });
}

#[test]
fn l27_a_runtime_that_goes_away_under_a_hook_leaves_nobody_waiting() {
    within("the stop", || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .unwrap();
        let log = Log::new();
        let system = runtime.block_on(async { builder("going").start().await.unwrap() });
        let failed = failing(&log, "failed", 1, HookRecovery::Skip);
        system.on_shutdown(failed).unwrap();
        system
            .on_shutdown(hanging(&log, shutdown::DRAIN, "hangs").timeout(HOUR))
            .unwrap();
        system.on_shutdown(noting(&log, shutdown::DRAIN, "b")).unwrap();
        let waiting = std::thread::spawn({
            let system = system.clone();
            move || block_on(system.stop())
        });
        eventually("the hook", || log.has("hangs"));
        drop(runtime);
        let error = waiting.join().unwrap().unwrap_err();
        let cut_off = StopProblem::HookCutOff {
            phase: "drain".to_owned(),
            hook: "hangs".to_owned(),
            why: CutShort::RuntimeGone,
        };
        let problems = error.problems();
        assert!(
            matches!(problems[0], StopProblem::HookFailed { .. }),
            "what was known is kept: {error}"
        );
        assert_eq!(
            problems[1..],
            [
                cut_off,
                not_run("drain", "b", CutShort::RuntimeGone),
                StopProblem::RuntimeGone { count: 0 }
            ]
        );
        assert!(log.has("hang dropped") && !log.has("b"));
    });
}
