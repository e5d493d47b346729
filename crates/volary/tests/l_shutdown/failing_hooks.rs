//! Hooks that hang, fail or panic, and what is done about them.

use super::*;

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
