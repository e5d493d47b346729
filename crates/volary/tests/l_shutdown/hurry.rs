//! Stops that are begun in a handler, and those that must be over now.

use super::*;

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
