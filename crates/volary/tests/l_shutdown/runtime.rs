//! Hooks on real threads and without a runtime.

use super::*;

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
