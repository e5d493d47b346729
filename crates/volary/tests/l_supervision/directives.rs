//! What is done about a fault, and who hears of it.

use super::*;

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
