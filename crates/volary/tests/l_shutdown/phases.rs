//! The order of phases and hooks, and readiness.

use super::*;

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
