//! Stop, drain and failure of an actor that sleeps.

use super::*;

#[test]
fn s12_a_sleeping_actor_stops_drains_and_dies_once() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        for how in 0..4 {
            let log = Log::new();
            let actor = system.spawn(session(&log)).await.unwrap();
            let watcher = system.spawn(watcher(&log, &actor)).await.unwrap();
            watcher.ask(Look).await.unwrap();
            actor.ask(Add).await.unwrap();
            actor.passivate();
            system.sleep(MS).await;
            assert!(actor.status().asleep);
            match how {
                0 => actor.stop(),
                1 => actor.kill(),
                2 => actor.drain(),
                _ => {
                    actor.tell(Add).unwrap();
                    actor.drain(); // what waits is handled first
                }
            }
            actor.terminated().await;
            system.sleep(MS).await;
            assert_eq!(log.count("gone"), 1);
            let lives = if how == 3 { 2 } else { 1 };
            assert_eq!(log.count("stopped at 1"), lives, "{how}: {:?}", log.all());
            assert!(!actor.is_alive());
            assert!(actor.tell(Add).is_err());
        }
        assert_eq!(system.metrics().dead_letters, 0);
        system.stop().await.unwrap();
    });
}

#[test]
fn l22_a_stop_that_comes_while_it_falls_asleep_ends_it() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (log, hang) = (Log::new(), Arc::new(AtomicBool::new(true)));
        let actor = system.spawn(session_with(&log, &Arc::default(), &hang)).await.unwrap();
        actor.passivate();
        system.sleep(MS).await;
        assert!(!actor.status().asleep, "its hook hangs");
        actor.tell(Add).unwrap();
        actor.stop();
        actor.terminated().await;
        assert_eq!(log.all(), ["started", "stopped at 0"]);
        assert_eq!(system.metrics().dead_letters, 1);

        // Without the stop the hook is cut off, and the actor sleeps and wakes.
        let actor = system.spawn(session_with(&log, &Arc::default(), &hang)).await.unwrap();
        actor.passivate();
        let asked = actor.ask(Add).timeout(HOUR).await;
        assert_eq!(asked.unwrap(), 1);
        assert_eq!(system.metrics().woken, 1);
        hang.store(false, Ordering::SeqCst);
        system.stop().await.unwrap();
    });
}

#[test]
fn s14_a_wake_up_that_fails_loses_nothing_in_silence() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let dead = system.events().subscribe::<DeadLetter>();
        let (log, refuse) = (Log::new(), Arc::new(AtomicBool::new(false)));
        let actor = system
            .spawn(session_with(&log, &refuse, &Arc::default()))
            .await
            .unwrap();
        actor.passivate();
        system.sleep(MS).await;
        refuse.store(true, Ordering::SeqCst);
        actor.tell(Add).unwrap();
        let answer = actor.ask(Add).await;
        assert!(matches!(answer, Err(AskError::Stopped)), "{answer:?}");
        actor.terminated().await;
        assert!(dead.try_next().is_some());
        system.stop().await.unwrap();
    });
}

#[test]
fn l22_wrong_settings_are_named() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let text = |error: SpawnError| error.to_string();
        let log = Log::new();
        let wrong = system
            .spawn(session(&log))
            .passivation(Passivation::after(Duration::ZERO))
            .await;
        assert_eq!(
            text(wrong.unwrap_err()),
            "`passivation` cannot be after 0ns: a millisecond to ten years without messages"
        );
        let wrong = system
            .spawn(session(&log))
            .passivation(Passivation::after(Duration::MAX))
            .await;
        assert!(text(wrong.unwrap_err()).ends_with("a millisecond to ten years without messages"));
        let wrong = system
            .spawn(session(&log))
            .passivation(Passivation::after_messages(0))
            .await;
        assert_eq!(
            text(wrong.unwrap_err()),
            "`passivation` cannot be after 0 messages: at least one message"
        );
        system.stop().await.unwrap();
    });
    let start = |eviction| builder("x").eviction(eviction).start_now().unwrap_err().to_string();
    assert_eq!(
        start(Eviction::lru()),
        "eviction: limit is missing, allowed is `at_most`, `at_most_bytes` or both"
    );
    assert_eq!(
        start(Eviction::lfu().at_most(0)),
        "eviction: at_most is 0, allowed is at least one actor"
    );
    assert_eq!(
        start(Eviction::mru().at_most(5).percent(0)),
        "eviction: percent is 0, allowed is 1 to 100"
    );
    assert_eq!(
        start(Eviction::mru().at_most_bytes(5)),
        "eviction: at_most_bytes is 5, allowed is at least 1,024 bytes"
    );
}
