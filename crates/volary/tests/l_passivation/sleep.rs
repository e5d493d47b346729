//! Going to sleep and coming back.

use super::*;

#[test]
fn l22_an_idle_actor_lets_go_of_its_state_and_comes_back_with_a_message() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (slept, woke) = (
            system.events().subscribe::<ActorPassivated>(),
            system.events().subscribe::<ActorWoken>(),
        );
        let log = Log::new();
        let actor = system
            .spawn(session(&log))
            .named("s")
            .props(after(2 * HOUR))
            .await
            .unwrap();
        assert_eq!(actor.ask(Add).await.unwrap(), 1);
        assert_eq!(actor.ask(Add).await.unwrap(), 2);
        system.sleep(2 * HOUR - 10 * MS).await;
        assert!(!actor.status().asleep);
        system.sleep(20 * MS).await;
        assert!(actor.status().asleep);
        assert!(actor.is_alive());
        assert_eq!(log.all(), ["started", "stopped at 2"]);
        assert_eq!(slept.try_next().unwrap().unwrap().path, actor.path());
        assert!(woke.try_next().is_none());

        assert_eq!(
            actor.ask(Add).await.unwrap(),
            1,
            "a new incarnation, at the same address"
        );
        assert!(!actor.status().asleep);
        assert_eq!(woke.try_next().unwrap().unwrap().id, actor.id());
        system.sleep(3 * HOUR).await;
        assert!(actor.status().asleep, "and again");
        let metrics = system.metrics();
        assert_eq!((metrics.passivated, metrics.woken, metrics.dead_letters), (2, 1, 0));
        assert_eq!(metrics.timers, 0, "nothing is left on the wheel for it");
        system.stop().await.unwrap();
        assert_eq!(log.count("started"), 2);
        assert_eq!(log.len(), 4, "`stopped` ran once for each incarnation");
    });
}

#[test]
fn l22_activity_puts_it_off() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let actor = system.spawn(session(&log)).props(after(10 * MS)).await.unwrap();
        for number in 1..=20 {
            assert_eq!(actor.ask(Add).await.unwrap(), number);
            system.sleep(8 * MS).await;
        }
        system.sleep(10 * MS).await;
        assert!(actor.status().asleep);
        system.stop().await.unwrap();
    });
}

#[test]
fn s14_after_so_many_messages_the_rest_go_to_the_next_incarnation() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let props = Props::new().passivation(Passivation::after_messages(3));
        let actor = system.spawn(session(&log)).props(props).await.unwrap();
        for _ in 0..10 {
            actor.tell(Add).unwrap();
        }
        assert_eq!(
            actor.ask(Add).await.unwrap(),
            2,
            "the eleventh is the second of the fourth incarnation"
        );
        assert_eq!(log.count("stopped at 3"), 3);
        assert_eq!(log.count("started"), 4);
        assert_eq!(system.metrics().dead_letters, 0);
        system.stop().await.unwrap();
    });
}

#[test]
fn l22_an_actor_that_ends_instead_is_drained_and_its_watchers_hear() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let props = Props::new().passivation(Passivation::after(10 * MS).ending());
        let actor = system.spawn(session(&log)).named("s").props(props).await.unwrap();
        let watcher = system.spawn(watcher(&log, &actor)).await.unwrap();
        watcher.ask(Look).await.unwrap();
        actor.terminated().await;
        system.sleep(MS).await;
        assert!(log.has("gone"), "{:?}", log.all());
        assert!(actor.tell(Add).is_err());
        system.spawn(session(&log)).named("s").await.unwrap();
        system.stop().await.unwrap();
    });
}

#[test]
fn l22_an_actor_with_something_to_do_is_left_alone() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let other = system.spawn(session(&log)).await.unwrap();
        for what in 0..5 {
            let actor = system.spawn(session(&log)).props(after(10 * MS)).await.unwrap();
            let time = 100 * MS;
            match what {
                0 => actor.tell(Nap { time }).unwrap(),
                1 => actor.tell(Work { time }).unwrap(),
                2 => actor
                    .tell(Request {
                        other: other.clone(),
                        time,
                    })
                    .unwrap(),
                3 => actor.tell(Later(7)).unwrap(),
                _ => actor.ask(Child).await.unwrap().tell(Nap { time }).unwrap(),
            }
            system.sleep(95 * MS).await;
            assert!(!actor.status().asleep, "{what}");
            if what == 3 {
                assert_eq!(actor.ask(Open).await.unwrap(), 1);
            }
            system.sleep(30 * MS).await;
            assert!(actor.status().asleep, "{what}");
        }
        system.stop().await.unwrap();
    });
}

#[test]
fn l22_passivation_can_be_paused_and_asked_for() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let actor = system.spawn(session(&log)).props(after(10 * MS)).await.unwrap();
        assert!(actor.ask(Awake { keep: true }).await.unwrap());
        system.sleep(HOUR).await;
        assert!(!actor.status().asleep);
        assert!(actor.ask(Awake { keep: false }).await.unwrap());
        system.sleep(20 * MS).await;
        assert!(actor.status().asleep);
        actor.ask(Add).await.unwrap();
        assert!(actor.pause_passivation());
        system.sleep(HOUR).await;
        assert!(!actor.status().asleep);
        actor.resume_passivation();
        system.sleep(20 * MS).await;
        assert!(actor.status().asleep);

        let plain = system.spawn(session(&log)).await.unwrap();
        assert!(
            !plain.ask(Awake { keep: true }).await.unwrap(),
            "it never goes by itself"
        );
        plain.ask(Add).await.unwrap();
        plain.tell(Doze).unwrap();
        assert_eq!(plain.ask(Add).await.unwrap(), 1, "it goes when it is told to");
        plain.passivate();
        system.sleep(MS).await;
        assert!(plain.status().asleep);
        system.stop().await.unwrap();
    });
}

#[test]
fn l22_a_suspended_handler_ends_before_an_actor_that_was_told_to_go_goes() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let actor = system.spawn(session(&log)).await.unwrap();
        actor.tell(Nap { time: 10 * MS }).unwrap();
        system.sleep(MS).await;
        actor.passivate();
        system.sleep(MS).await;
        assert!(!actor.status().asleep);
        system.sleep(20 * MS).await;
        assert!(actor.status().asleep);
        system.stop().await.unwrap();
    });
}

#[test]
fn l22_what_was_put_aside_and_timers_do_not_outlive_the_incarnation_wrongly() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let actor = system.spawn(session(&log)).await.unwrap();
        actor.tell(Tick).unwrap();
        system.sleep(5 * MS).await;
        assert!(log.has("tick"));
        actor.passivate();
        system.sleep(MS).await;
        let ticks = log.count("tick");
        system.sleep(HOUR).await;
        assert_eq!(
            log.count("tick"),
            ticks,
            "timers end with the incarnation and wake nobody"
        );
        assert!(actor.status().asleep);

        let pending = actor.ask(Later(7)).timeout(HOUR);
        let (answer, ()) = futures_join(pending, async {
            system.sleep(MS).await;
            actor.passivate();
            system.sleep(MS).await;
            actor.ask(Open).await.unwrap();
        })
        .await;
        assert_eq!(answer.unwrap(), 7, "a message put aside goes to the next incarnation");
        system.stop().await.unwrap();
    });
}

async fn futures_join<A: std::future::IntoFuture, B: Future>(a: A, b: B) -> (A::Output, B::Output) {
    let (mut a, mut b) = (Box::pin(a.into_future()), Box::pin(b));
    let (mut left, mut right) = (None, None);
    std::future::poll_fn(|task| {
        if left.is_none()
            && let std::task::Poll::Ready(value) = a.as_mut().poll(task)
        {
            left = Some(value);
        }
        if right.is_none()
            && let std::task::Poll::Ready(value) = b.as_mut().poll(task)
        {
            right = Some(value);
        }
        match left.is_some() && right.is_some() {
            true => std::task::Poll::Ready(()),
            false => std::task::Poll::Pending,
        }
    })
    .await;
    (left.unwrap(), right.unwrap())
}
