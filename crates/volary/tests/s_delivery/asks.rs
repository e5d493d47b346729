//! S3: how asks end, and their deadlines.

use super::*;

#[tokio::test]
async fn s3_an_ask_takes_its_place_when_it_is_made_not_when_it_is_awaited() {
    let system = system().await;
    let log = Log::new();
    let desk = system.spawn(a_desk(&log)).await.unwrap();
    let first = desk.ask(Note { number: 1 }).into_future();
    desk.tell(Note { number: 2 }).unwrap();
    assert_eq!(desk.ask(Note { number: 3 }).await.unwrap(), 3);
    assert_eq!(first.await.unwrap(), 1);
    assert_eq!(log.all(), ["started", "1", "2", "3"]);
    system.stop().await.unwrap();
}

/// Each way an ask can end, and that it ends in that way alone.
#[tokio::test]
async fn s3_an_ask_ends_in_each_of_its_ways() {
    let system = system().await;
    let log = Log::new();
    let desk = system.spawn(a_desk(&log)).on_fault(Directive::Resume).await.unwrap();
    assert_eq!(desk.ask(Note { number: 1 }).await.unwrap(), 1);
    assert!(matches!(
        desk.ask(Refuse { code: 4 }).await,
        Err(AskError::Rejected(Refused(4)))
    ));
    match desk.ask(Fail { code: 5 }).await {
        Err(AskError::Failed(fault)) => assert_eq!(fault.find::<Broken>(), Some(&Broken(5))),
        other => panic!("{other:?}"),
    }
    match desk.ask(Crash).await {
        Err(AskError::Failed(fault)) => assert!(fault.is_panic() && fault.to_string().contains("as told")),
        other => panic!("{other:?}"),
    }
    assert!(matches!(desk.ask(Forget).await, Err(AskError::NoReply)));
    let (_keep, gate) = gate();
    let short = Duration::from_millis(5);
    assert!(matches!(desk.ask(Wait { gate }).timeout(short).await, Err(AskError::Timeout { after }) if after == short));
    let waiting = desk.ask(Note { number: 2 }).into_future();
    desk.kill();
    assert!(matches!(
        soon("an ask behind a kill", waiting).await,
        Err(AskError::Stopped)
    ));
    assert!(matches!(desk.ask(Note { number: 3 }).await, Err(AskError::Stopped)));
    system.stop().await.unwrap();
}

#[test]
fn s3_an_expired_ask_that_has_not_begun_is_not_executed() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let letters = system.events().subscribe::<DeadLetter>();
        let log = Log::new();
        let desk = system.spawn(a_desk(&log)).await.unwrap();
        desk.tell(Nap {
            time: Duration::from_secs(3),
        })
        .unwrap();
        let late = desk.ask(Note { number: 1 }).timeout(Duration::from_secs(1)).await;
        assert!(matches!(late, Err(AskError::Timeout { .. })));
        assert_eq!(desk.ask(Note { number: 2 }).await.unwrap(), 1);
        assert!(!log.has("1"), "it was executed after its asker had given up");
        let letter = letters.try_next().unwrap().unwrap();
        assert_eq!(
            letter.reason(),
            DeadReason::Expired,
            "its deadline had passed before it was begun"
        );
        assert!(letters.try_next().is_none());
        system.stop().await.unwrap();
    });
}

#[test]
fn s3_a_cancelled_ask_that_has_not_begun_is_not_executed() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let letters = system.events().subscribe::<DeadLetter>();
        let log = Log::new();
        let desk = system.spawn(a_desk(&log)).await.unwrap();
        desk.tell(Nap {
            time: Duration::from_secs(1),
        })
        .unwrap();
        let mut cancelled = desk.ask(Note { number: 1 }).into_future();
        assert!(poll_with(&mut cancelled, &Bell::new()).is_pending());
        drop(cancelled);
        drop(desk.ask(Note { number: 2 }).into_future()); // never even polled
        drop(desk.ask(Note { number: 3 })); // never even made
        assert_eq!(desk.ask(Note { number: 4 }).await.unwrap(), 1);
        assert!(!log.has("1") && !log.has("2") && !log.has("3"), "{:?}", log.all());
        for _ in 0..2 {
            assert_eq!(letters.try_next().unwrap().unwrap().reason(), DeadReason::Abandoned);
        }
        assert!(letters.try_next().is_none());
        system.stop().await.unwrap();
    });
}

/// A dropped ask that was never polled must not leave mail behind it stranded.
#[tokio::test]
async fn s3_a_dropped_fresh_ask_does_not_strand_the_mail_behind_it() {
    let system = system().await;
    let log = Log::new();
    let desk = system.spawn(a_desk(&log)).await.unwrap();
    for round in 0..200 {
        let fresh = desk.ask(Note { number: 1_000 }).into_future();
        desk.tell(Note { number: round }).unwrap();
        drop(fresh);
        eventually_async("the message behind", || log.has(&round.to_string())).await;
    }
    system.stop().await.unwrap();
}

struct Relay {
    to: ActorRef<Desk>,
}

#[actor]
impl Relay {
    async fn remaining(&mut self, longer: bool) -> Option<Duration> {
        let ask = self.to.ask(TimeLeft);
        if longer {
            ask.timeout(Duration::from_secs(3_600)).await.unwrap()
        } else {
            ask.await.unwrap()
        }
    }
    async fn later(&mut self, ctx: &mut Context<Self>, time: Duration) -> Option<Duration> {
        ctx.sleep(time).await;
        self.to.ask(TimeLeft).await.unwrap()
    }
    async fn stuck(&mut self, gate: tokio::sync::oneshot::Receiver<()>) -> Result<bool, Fault> {
        self.to
            .ask(Wait { gate })
            .timeout(Duration::from_secs(3_600))
            .await
            .or_fault()
    }
    fn idle(&mut self) -> bool {
        true
    }
}

#[test]
fn s3_nested_asks_inherit_the_remaining_time() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let desk = system.spawn(a_desk(&log)).await.unwrap();
        let relay = system
            .spawn({
                let desk = desk.clone();
                move || Relay { to: desk.clone() }
            })
            .await
            .unwrap();
        let two = Duration::from_secs(2);
        for longer in [true, false] {
            let left = relay.ask(Remaining { longer }).timeout(two).await.unwrap();
            assert!(
                left.is_some_and(|left| left <= two && left > Duration::from_secs(1)),
                "{left:?}"
            );
        }
        let left = relay
            .ask(Later {
                time: Duration::from_millis(1_500),
            })
            .timeout(two)
            .await
            .unwrap()
            .unwrap();
        assert!(
            left <= Duration::from_millis(500),
            "{left:?} of 2 s are left after 1.5 s"
        );
        assert!(!left.is_zero());
        // A nested ask that wants an hour ends with its request.
        let before = env.now();
        let (_keep, gate) = gate();
        let ended = relay.ask(Stuck { gate }).timeout(two).await;
        assert!(
            matches!(ended, Err(AskError::Timeout { .. } | AskError::Failed(_))),
            "{ended:?}"
        );
        assert!(
            env.now().since(before) < Duration::from_millis(2_100),
            "{:?}",
            env.now().since(before)
        );
        // The relay is free again: its own ask ended with the request. The desk still waits.
        assert!(relay.ask(Idle).timeout(two).await.unwrap());
        assert!(relay.ask(Remaining { longer: false }).timeout(two).await.is_err());
        system.stop().await.unwrap();
    });
}

#[test]
fn s3_the_default_deadline_is_five_seconds() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let desk = system.spawn(a_desk(&Log::new())).await.unwrap();
        let before = env.now();
        let (_keep, gate) = gate();
        let ended = desk.ask(Wait { gate }).await;
        assert!(matches!(ended, Err(AskError::Timeout { after }) if after == Duration::from_secs(5)));
        let took = env.now().since(before);
        assert!(
            took >= Duration::from_secs(5) && took < Duration::from_millis(5_100),
            "{took:?}"
        );
        desk.kill();
        system.stop().await.unwrap();
    });
}

/// Says by when its request must have been answered.
struct Timekeeper;

#[actor]
impl Timekeeper {
    async fn due_after(&mut self, ctx: &mut Context<Self>, nap: Duration) -> Moment {
        ctx.sleep(nap).await;
        ctx.now() + ctx.time_left().unwrap()
    }
    async fn pause(&mut self, ctx: &mut Context<Self>, time: Duration) {
        ctx.sleep(time).await;
    }
    fn due(&mut self, ctx: &mut Context<Self>) -> Moment {
        ctx.now() + ctx.time_left().unwrap()
    }
}

#[test]
fn s3_the_deadline_starts_no_later_than_the_first_suspension() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let keeper = system.spawn(|| Timekeeper).await.unwrap();
        system.sleep(Duration::from_millis(1)).await; // it is idle
        let (nap, limit) = (Duration::from_millis(700), Duration::from_secs(2));

        // The asker waits as soon as the handler does.
        let asked = env.now();
        let due = keeper.ask(DueAfter { nap }).timeout(limit).await.unwrap();
        env.assert_same_time(asked + limit, due, "the asker waits at once");

        // The asker waits before the handler has begun.
        keeper.tell(Pause { time: nap }).unwrap();
        let asked = env.now();
        let due = keeper.ask(Due).timeout(limit).await.unwrap();
        env.assert_same_time(asked + limit, due, "the handler has not begun");

        // Nobody looks at the ask while its handler suspends.
        let made = keeper.ask(DueAfter { nap }).timeout(limit).into_future();
        system.sleep(Duration::from_secs(1)).await;
        let suspended = env.now();
        keeper.ask(Due).timeout(limit).await.unwrap();
        env.assert_same_time(suspended + limit, made.await.unwrap(), "neither earlier nor later");
        system.stop().await.unwrap();
    });
}
