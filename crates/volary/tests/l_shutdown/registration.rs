//! Adding hooks, taking them back, and what is refused.

use super::*;

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
