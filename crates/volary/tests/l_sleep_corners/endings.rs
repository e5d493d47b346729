//! Stop and drain of actors that fall asleep or wake up.

use super::*;

/// S12: from a stop on, new messages are refused.
#[test]
fn s12_a_stop_of_an_actor_that_falls_asleep_refuses_new_messages() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (log, hang) = (Log::new(), Arc::new(AtomicBool::new(true)));
        let actor = system.spawn(hanging_cat(&log, &hang)).await.unwrap();
        actor.passivate();
        system.sleep(10 * MS).await;
        actor.stop();
        system.sleep(10 * MS).await;
        assert!(actor.tell(Count).is_err(), "it was told to stop ten milliseconds ago");
        actor.terminated().await;
        assert_eq!(system.metrics().dead_letters, 0);
        system.stop().await.unwrap();
    });
}

/// S14: answers that are due are something to do; "told to go, an actor does not look at what waits in its mailbox",
/// and nothing is said about answers.
#[test]
fn s14_an_actor_that_is_told_to_go_has_its_answers_first() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (log, other_log) = (Log::new(), Log::new());
        let other = system.spawn(cat(&other_log)).await.unwrap();
        let actor = system.spawn(cat(&log)).await.unwrap();
        actor.tell(AskAndDoze { other }).unwrap();
        system.sleep(HOUR).await;
        assert!(log.has("answered"), "{:?}", log.all());
        system.stop().await.unwrap();
    });
}
