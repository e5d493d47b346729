//! Expectations that are met.

use super::*;

/// The same story under several seeds.
fn stories(story: impl AsyncFn(&ActorSystem)) {
    for seed in 0..30 {
        let kit = TestKit::with(seed, |builder| builder);
        kit.run(story(kit.system()));
    }
}

#[test]
fn t1_messages_come_in_order_of_the_wanted_kind_and_none_for_a_while() {
    stories(async |system| {
        let mut probe = Probe::<Ping>::new(system).await;
        let to = probe.recipient();
        (1..=9).for_each(|number| to.tell(Ping(number)).unwrap());
        probe.expect(Ping(1)).await;
        assert_eq!(probe.expect_any().await, Ping(2));
        assert_eq!(probe.expect_that(|ping| ping.0 > 2).await, Ping(3));
        probe.expect_in_order([Ping(4), Ping(5)]).await;
        probe.expect_all_in_any_order([Ping(7), Ping(6)]).await;
        assert_eq!(probe.fish(|ping| ping.0 == 9).await, Ping(9), "skips the eighth");
        let before = system.now();
        probe.expect_none(SECOND).await;
        let waited = system.now().since(before);
        assert!(waited >= SECOND && waited < SECOND + 10 * MS, "{waited:?}");
    });
}

#[test]
fn t1_an_expectation_waits_as_long_as_its_patience_and_within_is_for_one() {
    stories(async |system| {
        let mut probe = Probe::<Ping>::new(system).await;
        let desk = system.spawn(|| Desk).await.unwrap();
        let later = |after| Later {
            after,
            ping: Ping(1),
            to: probe.recipient(),
        };
        desk.tell(later(2_900 * MS)).unwrap();
        desk.tell(later(59 * SECOND)).unwrap();
        desk.tell(later(2_900 * MS)).unwrap();
        probe.expect(Ping(1)).await;
        probe.within(60 * SECOND).expect(Ping(1)).await;
        probe.expect(Ping(1)).await;
    });
    let text = failure(async |system| {
        let mut probe = Probe::<Ping>::new(system).await;
        let _ = probe.within(60 * SECOND);
        probe.recipient().tell(Ping(1)).unwrap();
        probe.expect(Ping(1)).await;
        probe.expect(Ping(2)).await; // three seconds again
    });
    assert!(text.contains(" of 3s, by the clock of the system"), "{text}");
}

#[test]
fn t1_a_probe_of_several_types_keeps_the_order_across_them() {
    stories(async |system| {
        let probe = MultiProbe::builder().takes::<Ping>().takes::<Pong>().takes::<Count>();
        let mut probe = probe.named("all").start(system).await;
        assert_eq!(probe.path().to_string(), "/user/all");
        let (ping, pong) = (probe.recipient::<Ping>(), probe.recipient::<Pong>());
        for number in 0..20 {
            ping.tell(Ping(number)).unwrap();
            pong.tell(Pong("back")).unwrap();
        }
        for number in 0..20 {
            probe.expect(Ping(number)).await;
            assert_eq!(probe.expect_any::<Pong>().await, Pong("back"));
        }
        // By its path alone, too.
        let answer = system.recipient::<Count>("/user/all").unwrap();
        let (answer, ()) = tokio::join!(answer.ask(Count).into_future(), async {
            probe.expect(Count).await;
            probe.reply::<Count>(3);
        });
        assert_eq!(answer.unwrap(), 3);
        probe.expect_none(SECOND).await;
    });
}

#[test]
fn t1_a_message_that_is_not_in_the_list_is_a_dead_letter() {
    stories(async |system| {
        let dead = system.events().subscribe::<DeadLetter>();
        let mut probe = Probe::<Ping>::new(system).await;
        probe.actor_ref().tell(Pong("who?")).unwrap();
        probe.expect_none(SECOND).await;
        let letter = dead.try_next().unwrap().unwrap();
        assert_eq!(letter.reason(), DeadReason::Unhandled);
    });
}

#[test]
fn t1_the_probe_answers() {
    stories(async |system| {
        let mut probe = Probe::<Count>::new(system).await;
        let to = probe.recipient();
        let asks = async { tokio::join!(to.ask(Count).into_future(), to.ask(Count).into_future()) };
        let ((one, two), ()) = tokio::join!(asks, async {
            probe.expect_any().await;
            probe.reply(1);
            let (Count, reply) = probe.expect_ask().await;
            reply.send(2);
        });
        assert_eq!((one.unwrap(), two.unwrap()), (1, 2));
        let (three, ()) = tokio::join!(to.ask(Count).into_future(), async move {
            probe.expect(Count).await;
            drop(probe);
        });
        assert!(matches!(three, Err(AskError::NoReply)));
        assert!(
            matches!(to.ask(Count).await, Err(AskError::NoReply)),
            "its probe is gone"
        );
    });
}

#[test]
fn t1_ends_and_children_are_seen_before_and_after() {
    stories(async |system| {
        let mut probe = Probe::<Ping>::new(system).await;
        let desk = system.spawn(|| Desk).named("desk").await.unwrap();
        let hire = |name, after| Hire { name, after };
        desk.tell(hire("first", Duration::ZERO)).unwrap();
        desk.tell(hire("second", SECOND)).unwrap();
        assert_eq!(
            probe.expect_child(&desk, "second").await.path.to_string(),
            "/user/desk/second"
        );
        assert_eq!(probe.expect_child(&desk, "first").await.path.name(), "first");
        desk.tell(Quit { after: 2 * SECOND }).unwrap();
        probe.expect_terminated(&desk).await;
        assert!(!desk.is_alive());
        probe.expect_terminated(&desk).await;
    });
}

#[test]
fn t1_probes_work_on_real_threads() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let system = ActorSystem::builder("real").ignore_environment();
        let system = system.settings(|s| s.log_config(false)).start().await.unwrap();
        let mut probe = MultiProbe::builder()
            .takes::<Ping>()
            .takes::<Count>()
            .start(&system)
            .await;
        let desk = system.spawn(|| Desk).named("desk").await.unwrap();
        let to = probe.recipient();
        desk.tell(Later {
            after: 5 * MS,
            ping: Ping(7),
            to,
        })
        .unwrap();
        probe.expect(Ping(7)).await;
        let answer = probe.recipient::<Count>();
        let (answer, ()) = tokio::join!(answer.ask(Count).into_future(), async {
            probe.expect(Count).await;
            probe.reply::<Count>(9);
        });
        assert_eq!(answer.unwrap(), 9);
        desk.tell(Hire {
            name: "aide",
            after: 5 * MS,
        })
        .unwrap();
        probe.expect_child(&desk, "aide").await;
        desk.stop();
        probe.expect_terminated(&desk).await;
        probe.expect_none(MS).await;
        system.stop().await.unwrap();
    });
}
