//! When an actor goes, and when it may not.

use super::*;

/// L22: an idle actor is passivated, also if its time was over while supervision held it.
#[test]
fn l22_an_actor_whose_idle_time_ended_while_it_was_held_is_passivated_after_it_was_reinstated() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let actor = system
            .spawn(cat(&log))
            .props(Props::new().passivation(Passivation::after(SECOND)))
            .supervision(Supervision::new().otherwise(Directive::Suspend))
            .await
            .unwrap();
        assert!(actor.ask(Fall).await.is_err());
        system.sleep(10 * SECOND).await;
        actor.reinstate();
        system.sleep(HOUR).await;
        assert!(
            actor.status().asleep,
            "an hour without a message, and a second was the limit"
        );
        system.stop().await.unwrap();
    });
}

/// L22: an actor that is held cannot go, so others must, if they are idle.
#[test]
fn l22_an_eviction_does_not_count_on_an_actor_that_is_held() {
    seeds(|env| async move {
        let system = builder("sim")
            .environment(env.clone())
            .eviction(Eviction::lru().at_most(2))
            .start()
            .await
            .unwrap();
        let log = Log::new();
        let props = || Props::new().passivation(Passivation::on_demand());
        let held = system
            .spawn(cat(&log))
            .props(props())
            .supervision(Supervision::new().otherwise(Directive::Suspend))
            .await
            .unwrap();
        assert!(held.ask(Fall).await.is_err());
        let mut others = Vec::new();
        for _ in 0..3 {
            system.sleep(SECOND).await;
            others.push(system.spawn(cat(&log)).props(props()).await.unwrap());
        }
        system.sleep(SECOND).await;
        let awake = others.iter().filter(|one| !one.status().asleep).count();
        assert_eq!(awake + 1, 2, "the held one and one other are awake");
        system.stop().await.unwrap();
    });
}

/// L22: the same, and it is restarted later. From then on it is an actor like any other.
#[test]
fn l22_an_actor_that_was_restarted_instead_of_evicted_counts_again() {
    seeds(|env| async move {
        let system = builder("sim")
            .environment(env.clone())
            .eviction(Eviction::lru().at_most(1))
            .start()
            .await
            .unwrap();
        let log = Log::new();
        let props = || Props::new().passivation(Passivation::on_demand());
        let held = system
            .spawn(cat(&log))
            .props(props())
            .supervision(Supervision::new().otherwise(Directive::Suspend))
            .await
            .unwrap();
        assert!(held.ask(Fall).await.is_err());
        system.sleep(SECOND).await;
        let _second = system.spawn(cat(&log)).props(props()).await.unwrap();
        system.sleep(SECOND).await;
        held.restart();
        system.sleep(SECOND).await;
        let mut others = Vec::new();
        for _ in 0..5 {
            let other = system.spawn(cat(&log)).props(props()).await.unwrap();
            system.sleep(SECOND).await;
            other.ask(Count).await.unwrap();
            system.sleep(SECOND).await;
            others.push(other);
        }
        assert!(held.status().asleep, "it was idle longest, and one may be awake");
        system.stop().await.unwrap();
    });
}

/// L22: what has nothing to do sleeps. Here a bit says that something was taken back from the stash, and nothing is.
#[test]
fn l22_an_actor_that_goes_after_the_last_message_it_took_back_stays_asleep() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let actor = system.spawn(cat(&log)).await.unwrap();
        actor.tell(Aside(1)).unwrap();
        actor.ask(Open).await.unwrap();
        system.sleep(SECOND).await;
        assert!(actor.status().asleep, "{:?}", log.all());
        assert_eq!(log.all(), ["started", "stopped"]);
        system.stop().await.unwrap();
    });
}

/// L22: `after_messages` counts messages, not the suspensions of their handlers.
#[test]
fn l22_after_messages_counts_messages_and_not_polls() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let props = Props::new().passivation(Passivation::after_messages(5));
        let actor = system.spawn(cat(&log)).props(props).await.unwrap();
        for number in 1..=4 {
            let answer = actor.ask(Naps { times: 3 }).await.unwrap();
            assert_eq!(answer, number, "only {number} of five messages were handled");
            system.sleep(MS).await;
        }
        system.stop().await.unwrap();
    });
}

/// `Passivation`: "Timers end with it as well, and do not keep it awake."
#[test]
fn l22_timers_do_not_keep_an_actor_awake() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let props = || Props::new().passivation(Passivation::after(10 * SECOND));
        let actor = system.spawn(cat(&log)).props(props()).await.unwrap();
        actor.ask(TickEvery { time: SECOND }).await.unwrap();
        system.sleep(HOUR / 10).await;
        assert!(actor.status().asleep, "nobody has said anything for six minutes");
        system.stop().await.unwrap();
    });
}

#[test]
fn l22_a_receive_timeout_does_not_keep_an_actor_awake() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let props = || Props::new().passivation(Passivation::after(10 * SECOND));
        let actor = system.spawn(cat(&log)).props(props()).await.unwrap();
        actor.ask(QuietAfter { time: SECOND }).await.unwrap();
        system.sleep(HOUR / 10).await;
        assert!(actor.status().asleep, "nobody has said anything for six minutes");
        system.stop().await.unwrap();
    });
}

struct Tasked;
#[actor]
impl Tasked {
    fn begin(&mut self, ctx: &mut Context<Self>) {
        let sleep = ctx.sleep(SECOND);
        ctx.spawn(sleep);
    }
    fn once_more(&mut self) {}
}

/// L22: an actor that has handled its number of messages, and was busy then, goes when it is not busy any more.
#[test]
fn l22_an_actor_that_had_enough_messages_goes_when_its_task_has_ended() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let props = Props::new().passivation(Passivation::after_messages(1));
        let actor = system.spawn(|| Tasked).props(props).await.unwrap();
        actor.ask(Begin).await.unwrap();
        system.sleep(HOUR).await;
        assert!(actor.status().asleep, "its task ended an hour ago");
        system.stop().await.unwrap();
    });
}

/// L22: the same after a pause.
#[test]
fn l22_an_actor_that_had_enough_messages_while_paused_goes_when_that_is_over() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let props = Props::new().passivation(Passivation::after_messages(1));
        let actor = system.spawn(|| Tasked).props(props).await.unwrap();
        actor.pause_passivation();
        actor.ask(OnceMore).await.unwrap();
        actor.ask(OnceMore).await.unwrap();
        actor.resume_passivation();
        system.sleep(HOUR).await;
        assert!(actor.status().asleep);
        system.stop().await.unwrap();
    });
}

/// `Eviction`: "the limit can be passed for a while when all are busy". They are busy for a second.
#[test]
fn l22_a_limit_that_was_passed_while_all_were_busy_holds_when_they_are_not() {
    seeds(|env| async move {
        let system = builder("sim")
            .environment(env.clone())
            .eviction(Eviction::lru().at_most(1))
            .start()
            .await
            .unwrap();
        let props = || Props::new().passivation(Passivation::on_demand());
        let mut all = Vec::new();
        for _ in 0..5 {
            let one = system.spawn(|| Tasked).props(props()).await.unwrap();
            one.ask(Begin).await.unwrap();
            all.push(one);
        }
        system.sleep(HOUR).await;
        let awake = all.iter().filter(|one| !one.status().asleep).count();
        assert_eq!(awake, 1, "nobody has done anything for an hour");
        system.stop().await.unwrap();
    });
}
