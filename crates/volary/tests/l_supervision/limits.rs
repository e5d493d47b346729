//! Limits, backoff, and actors that are held.

use super::*;

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
