//! How long the whole may take.

use super::*;

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
