//! What wakes an actor, and what meets it then.

use super::*;

struct Shut;
impl volary::Mailbox for Shut {
    fn push(&self, letter: volary::Letter) -> Result<(), volary::Letter> {
        Err(letter)
    }
    fn pop(&self) -> Option<volary::Letter> {
        None
    }
    fn len(&self) -> usize {
        0
    }
}

/// S14: a message wakes an actor; one that was refused is none.
#[test]
fn l22_a_refused_message_does_not_wake_an_actor() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let actor = system
            .spawn(cat(&log))
            .mailbox(MailboxKind::Custom(Arc::new(|| Box::new(Shut))))
            .await
            .unwrap();
        actor.passivate();
        system.sleep(MS).await;
        assert!(actor.status().asleep);
        assert!(actor.tell(Count).is_err());
        system.sleep(MS).await;
        assert!(actor.status().asleep, "{:?}", log.all());
        system.stop().await.unwrap();
    });
}

/// A sleeping actor has nobody who could look after children, until a message wakes it.
#[test]
fn l22_nobody_is_born_below_a_sleeping_actor() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let hang = Arc::new(AtomicBool::new(false));
        let parent = system.spawn(hanging_cat(&log, &hang)).named("parent").await.unwrap();
        for is_slow in [false, true] {
            hang.store(is_slow, Ordering::SeqCst);
            parent.passivate();
            system.sleep(MS).await;
            assert_eq!(parent.status().asleep, !is_slow, "its hook takes a second");
            let below = AnyRef::from(&parent);
            let refused = below.spawn(cat(&log)).named("kitten").await;
            assert!(matches!(refused, Err(SpawnError::Asleep { .. })), "{refused:?}");
            parent.ask(Count).await.unwrap();
            assert!(below.spawn(cat(&log)).named("kitten").await.is_ok());
        }
        hang.store(false, Ordering::SeqCst);
        parent.passivate();
        system.sleep(MS).await;
        parent.stop();
        parent.terminated().await;
        assert_eq!(system.actor_count(), 0, "its child went when it fell asleep");
        system.stop().await.unwrap();
    });
}

/// S14 with stop: what is told to stop while it wakes up stops once, and nothing is lost in silence.
#[test]
fn s14_stop_drain_and_kill_race_with_sleep_and_wake_up_and_every_message_ends_once() {
    within("races", || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(4)
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let system = system().await;
            for round in 0..400u32 {
                let log = Log::new();
                let before = system.metrics().dead_letters;
                let actor = system.spawn(cat(&log)).await.unwrap();
                let teller = actor.clone();
                let told = tokio::spawn(async move {
                    let mut asks = Vec::new();
                    for _ in 0..20 {
                        asks.push(teller.ask(Count).into_future());
                    }
                    let mut ok = 0u64;
                    let mut stopped = 0u64;
                    for ask in asks {
                        match ask.await {
                            Ok(_) => ok += 1,
                            Err(volary::AskError::Stopped) => stopped += 1,
                            Err(other) => panic!("{other:?}"),
                        }
                    }
                    (ok, stopped)
                });
                let sleeper = actor.clone();
                let slept = tokio::spawn(async move {
                    for _ in 0..10 {
                        sleeper.passivate();
                        tokio::task::yield_now().await;
                    }
                });
                let ender = actor.clone();
                tokio::spawn(async move {
                    for _ in 0..(round % 7) {
                        tokio::task::yield_now().await;
                    }
                    match round % 3 {
                        0 => ender.stop(),
                        1 => ender.drain(),
                        _ => ender.kill(),
                    }
                })
                .await
                .unwrap();
                let (ok, stopped) = soon("asks", told).await.unwrap();
                assert_eq!(ok + stopped, 20);
                slept.await.unwrap();
                soon("the end", actor.terminated()).await;
                let _ = before;
                let (up, down) = (log.count("started"), log.count("stopped"));
                assert!(up == down, "{round}: {up} started, {down} stopped");
            }
            system.stop().await.unwrap();
        });
    });
}

struct Asker {
    log: Log,
    other: ActorRef<Cat>,
}
#[actor]
impl Asker {
    fn request(&mut self, times: u32, ctx: &mut Context<Self>) -> Result<(), Fault> {
        let log = self.log.clone();
        ctx.request(&self.other, Naps { times })
            .then(move |_: &mut Asker, _, _| log.push("answer"))?;
        Ok(())
    }
    async fn nap(&mut self, time: Duration, ctx: &mut Context<Self>) {
        ctx.sleep(time).await;
    }
    fn say(&mut self, number: u32) {
        self.log.push(number);
    }
}

/// S1: answers to requests keep their place in user mail; also when the mailbox is closed by a drain.
#[test]
fn s1_an_answer_keeps_its_place_among_the_messages_of_an_actor_that_drains() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let other = system.spawn(cat(&Log::new())).await.unwrap();
        let made = log.clone();
        let asker = system
            .spawn(move || Asker {
                log: made.clone(),
                other: other.clone(),
            })
            .await
            .unwrap();
        asker.tell(Request { times: 10 }).unwrap();
        asker.tell(Nap { time: SECOND }).unwrap();
        for number in 1..=3 {
            asker.tell(Say { number }).unwrap();
        }
        system.sleep(2 * MS).await;
        asker.drain(); // the answer comes eight milliseconds later, behind the three
        asker.terminated().await;
        assert_eq!(log.all(), ["1", "2", "3", "answer"]);
        system.stop().await.unwrap();
    });
}
