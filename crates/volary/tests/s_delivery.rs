//! S1–S4: delivery and order.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary::{DeadLetter, DeadReason, Env, Moment, SendError, SystemBuilder};

/// Tells numbers, tagged with who tells them.
struct Talker {
    to: ActorRef<Desk>,
}

#[actor]
impl Talker {
    fn talk(&mut self, from: u64, count: u64) {
        for n in 0..count {
            self.to
                .tell(Note {
                    number: from * 1_000_000 + n,
                })
                .unwrap();
        }
    }
    /// Tells and asks in turns.
    async fn mix(&mut self, count: u64) {
        for n in 0..count {
            if n % 3 == 0 {
                self.to.ask(Note { number: n }).await.unwrap();
            } else if n % 3 == 1 {
                self.to.tell(Note { number: n }).unwrap();
            } else {
                self.to.send(Note { number: n }).await.unwrap();
            }
        }
    }
}

fn in_order(log: &Log, senders: u64, each: u64) {
    let mut next = vec![0; senders as usize];
    for entry in log.all().iter().filter_map(|entry| entry.parse::<u64>().ok()) {
        let (from, n) = (entry / 1_000_000, entry % 1_000_000);
        assert_eq!(n, next[from as usize], "sender {from} was overtaken by itself");
        next[from as usize] += 1;
    }
    assert!(next.iter().all(|seen| *seen == each), "{next:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn s1_messages_of_each_sender_keep_their_order_on_threads() {
    const SENDERS: u64 = 8;
    const EACH: u64 = 2_000;
    let system = system().await;
    let log = Log::new();
    let desk = system.spawn(a_desk(&log)).await.unwrap();
    for from in 0..SENDERS {
        let to = desk.clone();
        let talker = system.spawn(move || Talker { to: to.clone() }).await.unwrap();
        talker.tell(Talk { from, count: EACH }).unwrap();
    }
    eventually_async("all messages", || log.len() as u64 > SENDERS * EACH).await;
    in_order(&log, SENDERS, EACH);
    system.stop().await.unwrap();
}

#[test]
fn s1_tell_send_and_ask_of_one_sender_keep_their_order_under_any_seed() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let desk = system.spawn(a_desk(&log)).await.unwrap();
        let talkers = {
            let mut talkers = Vec::new();
            for _ in 0..2 {
                let to = desk.clone();
                talkers.push(system.spawn(move || Talker { to: to.clone() }).await.unwrap());
            }
            talkers
        };
        talkers[0].tell(Mix { count: 30 }).unwrap();
        talkers[1].tell(Talk { from: 1, count: 30 }).unwrap();
        talkers.iter().for_each(ActorRef::drain);
        for talker in &talkers {
            talker.terminated().await;
        }
        desk.drain();
        desk.terminated().await;
        in_order(&log, 2, 30);
        system.stop().await.unwrap();
    });
}

#[test]
fn s1_a_stop_overtakes_a_backlog() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let desk = system.spawn(a_desk(&log)).await.unwrap();
        let (open, gate) = gate();
        desk.tell(Wait { gate }).unwrap();
        for number in 0..100 {
            desk.tell(Note { number }).unwrap();
        }
        desk.stop();
        open.send(()).unwrap();
        desk.terminated().await;
        // The message at hand when the stop arrives, and at most one more.
        let after = log.all().iter().filter(|entry| entry.parse::<u64>().is_ok()).count();
        assert!(after <= 1, "{after} messages of a backlog of 100 came before the stop");
        system.stop().await.unwrap();
    });
}

#[test]
fn s1_terminated_keeps_its_place_in_user_mail() {
    // What the dying actor says last comes before the news of its death: `s12_…` proves that half. Here: mail that was
    // in the box before the death is handled before the news.
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let watched = system.spawn(a_desk(&Log::new())).named("watched").await.unwrap();
        let watcher = system
            .spawn({
                let log = log.clone();
                move || Watcher { desk: Desk::new(&log) }
            })
            .await
            .unwrap();
        watcher.ask(Observe { whom: watched.clone() }).await.unwrap();
        let (open, gate) = gate();
        watcher.tell(Hold { gate }).unwrap();
        for number in 0..10 {
            watcher.tell(Write { number }).unwrap();
        }
        watched.kill();
        watched.terminated().await;
        open.send(()).unwrap();
        watcher.drain();
        watcher.terminated().await;
        let all: Vec<_> = log
            .all()
            .into_iter()
            .filter(|e| e.parse::<u64>().is_ok() || e.starts_with("gone"))
            .collect();
        let mut expected: Vec<_> = (0..10).map(|n| n.to_string()).collect();
        expected.push("gone /user/watched".to_owned());
        assert_eq!(all, expected);
        system.stop().await.unwrap();
    });
}

struct Watcher {
    desk: Desk,
}

#[actor]
impl Watcher {
    fn observe(&mut self, ctx: &mut Context<Self>, whom: ActorRef<Desk>) {
        ctx.watch(&whom);
    }
    async fn hold(&mut self, gate: tokio::sync::oneshot::Receiver<()>) {
        let _ = gate.await;
    }
    fn write(&mut self, number: u64) {
        self.desk.log.push(number);
    }
    #[handles]
    fn gone(&mut self, gone: Terminated) {
        self.desk.log.push(format!("gone {}", gone.path()));
    }
}

#[test]
fn s1_terminated_is_exempt_from_capacity() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let watched = system.spawn(a_desk(&Log::new())).named("watched").await.unwrap();
        let watcher = system
            .spawn({
                let log = log.clone();
                move || Watcher { desk: Desk::new(&log) }
            })
            .mailbox(MailboxKind::BoundedRefusing(1))
            .await
            .unwrap();
        watcher.ask(Observe { whom: watched.clone() }).await.unwrap();
        let (open, gate) = gate();
        watcher.send(Hold { gate }).await.unwrap();
        system.sleep(Duration::from_millis(1)).await;
        watcher.tell(Write { number: 1 }).unwrap();
        assert!(watcher.tell(Write { number: 2 }).unwrap_err().is_full());
        watched.stop();
        watched.terminated().await;
        open.send(()).unwrap();
        system.sleep(Duration::from_millis(1)).await;
        assert!(log.has("gone /user/watched"), "{:?}", log.all());
        system.stop().await.unwrap();
    });
}

#[tokio::test]
async fn s1_terminated_is_exempt_from_the_byte_budget_too() {
    // One block for all mailboxes of the system, and it is taken.
    let system = builder("tight")
        .toml_str("t", "mailbox-budget = \"1KiB\"")
        .start()
        .await
        .unwrap();
    let log = Log::new();
    let hog = system.spawn(a_desk(&Log::new())).await.unwrap();
    let watched = system.spawn(a_desk(&Log::new())).named("watched").await.unwrap();
    let watcher = system
        .spawn({
            let log = log.clone();
            move || Watcher { desk: Desk::new(&log) }
        })
        .await
        .unwrap();
    watcher.ask(Observe { whom: watched.clone() }).await.unwrap();
    let (_keep, gate_of_hog) = gate();
    hog.tell(Wait { gate: gate_of_hog }).unwrap();
    let (open, gate_of_watcher) = gate();
    watcher.tell(Hold { gate: gate_of_watcher }).unwrap();
    eventually_async("both hold", || hog.mailbox_len() + watcher.mailbox_len() == 0).await;
    let mut number = 0;
    while hog.tell(Note { number }).is_ok() {
        number += 1;
        assert!(number < 100_000, "the budget does not bite");
    }
    while watcher.tell(Write { number }).is_ok() {}
    watched.stop();
    soon("the end of the watched", watched.terminated()).await;
    open.send(()).unwrap();
    eventually_async("Terminated", || log.has("gone /user/watched")).await;
    hog.kill();
    system.stop().await.unwrap();
}

/// Sent = handled + dead letters, and nothing twice.
#[test]
fn s2_every_accepted_message_is_handled_or_one_dead_letter() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let letters = system.events().subscribe::<DeadLetter>();
        let log = Log::new();
        let desk = system.spawn(a_desk(&log)).named("desk").await.unwrap();
        let mut accepted = 0;
        for number in 0..40 {
            if desk.tell(Note { number }).is_ok() {
                accepted += 1;
            }
            match env.random() % 24 {
                0 => desk.stop(),
                1 => desk.drain(),
                2 => desk.kill(),
                3 => desk.tell(Crash).map(|()| accepted += 1).unwrap_or(()),
                4 => desk.restart(),
                5 => system.sleep(Duration::from_micros(10)).await,
                _ => {}
            }
        }
        desk.drain();
        desk.terminated().await;
        let handled = log.all().iter().filter(|entry| entry.parse::<u64>().is_ok()).count() as u64;
        let crashed = system.metrics().faults;
        let mut dead = Vec::new();
        while let Some(letter) = letters.try_next() {
            dead.push(letter.unwrap());
        }
        assert_eq!(dead.len() as u64, system.metrics().dead_letters);
        assert_eq!(accepted, handled + crashed + dead.len() as u64);
        for letter in &dead {
            assert_eq!(letter.reason(), DeadReason::Stopped);
            assert_eq!(letter.receiver().to_string(), "/user/desk");
            assert_eq!(letter.receiver_id(), Some(desk.id()));
        }
        system.stop().await.unwrap();
    });
}

#[tokio::test]
async fn s2_a_refused_message_comes_back_and_is_no_dead_letter() {
    let system = system().await;
    let desk = system.spawn(a_desk(&Log::new())).await.unwrap();
    desk.stop();
    soon("stop", desk.terminated()).await;
    let back = desk.tell(Note { number: 7 }).unwrap_err();
    assert!(matches!(back, TellError::Stopped(_)));
    assert_eq!(back.into_message().number, 7);
    let back = desk.send(Note { number: 8 }).await.unwrap_err();
    assert_eq!(back.into_message().number, 8);
    assert!(matches!(desk.ask(Note { number: 9 }).await, Err(AskError::Stopped)));
    let refused = desk.tell_all((10..20).map(|number| Note { number })).unwrap_err();
    assert_eq!(refused.into_messages().len(), 10);
    assert_eq!(system.metrics().dead_letters, 0);
    assert_eq!(
        system.metrics().refused,
        4,
        "a tell, a send, an ask and the first of a batch were refused"
    );
    system.stop().await.unwrap();
}

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
        // The relay is free again: its own ask ended with the request.
        assert!(
            relay.ask(Remaining { longer: false }).timeout(two).await.is_err(),
            "the desk still waits"
        );
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
        assert_eq!(due, asked + limit);

        // The asker waits before the handler has begun.
        keeper.tell(Pause { time: nap }).unwrap();
        let asked = env.now();
        let due = keeper.ask(Due).timeout(limit).await.unwrap();
        assert_eq!(due, asked + limit);

        // Nobody looks at the ask while its handler suspends.
        let made = keeper.ask(DueAfter { nap }).timeout(limit).into_future();
        system.sleep(Duration::from_secs(1)).await;
        let suspended = env.now();
        keeper.ask(Due).timeout(limit).await.unwrap();
        assert_eq!(made.await.unwrap(), suspended + limit, "neither earlier nor later");
        system.stop().await.unwrap();
    });
}

fn tight(env: &volary::SeededEnv) -> SystemBuilder {
    builder("tight").environment(env.clone())
}

#[test]
fn s4_a_full_bounded_mailbox_refuses_tell_and_makes_send_wait() {
    seeds(|env| async move {
        let system = tight(&env).start().await.unwrap();
        let log = Log::new();
        let desk = system
            .spawn(a_desk(&log))
            .mailbox(MailboxKind::Bounded(2))
            .await
            .unwrap();
        let (open, gate) = gate();
        desk.tell(Wait { gate }).unwrap();
        system.sleep(Duration::from_millis(1)).await; // the handler is suspended, its message taken
        desk.tell(Note { number: 1 }).unwrap();
        desk.tell(Note { number: 2 }).unwrap();
        assert_eq!(desk.mailbox_len(), 2);
        assert_eq!(desk.tell(Note { number: 3 }).unwrap_err().into_message().number, 3);
        assert!(matches!(desk.ask(Note { number: 3 }).await, Err(AskError::Full)));
        let bell = Bell::new();
        let mut waiting = desk.send(Note { number: 4 });
        assert!(poll_with(&mut waiting, &bell).is_pending());
        assert_eq!(desk.mailbox_len(), 2, "a waiting send is not in the mailbox");
        open.send(()).unwrap();
        waiting.await.unwrap();
        desk.drain();
        desk.terminated().await;
        assert_eq!(
            log.all()
                .iter()
                .filter(|e| e.parse::<u64>().is_ok())
                .cloned()
                .collect::<Vec<_>>(),
            ["1", "2", "4"]
        );
        assert_eq!(system.metrics().dead_letters, 0);
        system.stop().await.unwrap();
    });
}

#[test]
fn s4_a_send_gives_up_at_its_deadline_with_the_message() {
    seeds(|env| async move {
        let system = tight(&env).start().await.unwrap();
        let log = Log::new();
        let desk = system
            .spawn(a_desk(&log))
            .mailbox(MailboxKind::Bounded(1))
            .await
            .unwrap();
        let (_keep, gate) = gate();
        desk.tell(Wait { gate }).unwrap();
        system.sleep(Duration::from_millis(1)).await;
        desk.tell(Note { number: 1 }).unwrap();
        match desk.send(Note { number: 2 }).await {
            Err(SendError::Timeout(message)) => assert_eq!(message.number, 2),
            other => panic!("{other:?}"),
        }
        desk.kill();
        system.stop().await.unwrap();
    });
}

#[test]
fn s4_a_send_that_waits_hears_of_the_stop() {
    seeds(|env| async move {
        let system = tight(&env).start().await.unwrap();
        let desk = system
            .spawn(a_desk(&Log::new()))
            .mailbox(MailboxKind::Bounded(1))
            .await
            .unwrap();
        let (_keep, gate) = gate();
        desk.tell(Wait { gate }).unwrap();
        system.sleep(Duration::from_millis(1)).await;
        desk.tell(Note { number: 1 }).unwrap();
        let mut waiting = desk.send(Note { number: 2 });
        assert!(poll_with(&mut waiting, &Bell::new()).is_pending());
        let before = env.now();
        desk.kill();
        match waiting.await {
            Err(SendError::Refused(TellError::Stopped(message))) => assert_eq!(message.number, 2),
            other => panic!("{other:?}"),
        }
        assert!(env.now().since(before) < Duration::from_secs(1));
        system.stop().await.unwrap();
    });
}

/// The wake-up of a sender that gave up must not be lost on those behind it.
#[test]
fn s4_room_is_not_offered_to_a_sender_that_has_given_up() {
    seeds(|env| async move {
        let system = tight(&env).start().await.unwrap();
        let desk = system
            .spawn(a_desk(&Log::new()))
            .mailbox(MailboxKind::Bounded(1))
            .await
            .unwrap();
        let (open, gate) = gate();
        desk.tell(Wait { gate }).unwrap();
        system.sleep(Duration::from_millis(1)).await;
        desk.tell(Note { number: 1 }).unwrap();
        let (first, second) = (Bell::new(), Bell::new());
        let mut early = desk.send(Note { number: 2 });
        let mut late = desk.send(Note { number: 3 });
        assert!(poll_with(&mut late, &second).is_pending());
        assert!(poll_with(&mut early, &first).is_pending());
        drop(early); // passes on a wake-up in case it was its own: to `late`, which finds no room yet
        if second.rung() > 0 {
            assert!(poll_with(&mut late, &second).is_pending());
        }
        let before = second.rung();
        open.send(()).unwrap();
        system.sleep(Duration::from_millis(10)).await; // the desk has handled everything
        assert_eq!(desk.mailbox_len(), 0);
        assert!(
            second.rung() > before,
            "there is room, and the one who waits for it was not told"
        );
        assert!(poll_with(&mut late, &second).is_ready());
        system.stop().await.unwrap();
    });
}

#[test]
fn s4_room_is_not_offered_to_a_sender_whose_time_was_over() {
    seeds(|env| async move {
        let system = tight(&env)
            .settings(|s| s.ask_timeout(Duration::from_secs(5)))
            .start()
            .await
            .unwrap();
        let desk = system
            .spawn(a_desk(&Log::new()))
            .mailbox(MailboxKind::Bounded(1))
            .await
            .unwrap();
        desk.tell(Nap {
            time: Duration::from_millis(5_500),
        })
        .unwrap();
        system.sleep(Duration::from_millis(1)).await;
        desk.tell(Nap {
            time: Duration::from_secs(3_600),
        })
        .unwrap();
        let (first, second) = (Bell::new(), Bell::new());
        let mut early = desk.send(Note { number: 2 });
        assert!(poll_with(&mut early, &first).is_pending());
        system.sleep(Duration::from_secs(1)).await;
        let mut late = desk.send(Note { number: 3 });
        assert!(poll_with(&mut late, &second).is_pending());
        system.sleep(Duration::from_millis(4_100)).await;
        assert!(poll_with(&mut early, &first).is_ready(), "its five seconds are over");
        drop(early);
        if second.rung() > 0 {
            assert!(poll_with(&mut late, &second).is_pending());
        }
        let before = second.rung();
        system.sleep(Duration::from_millis(500)).await; // the first nap is over: there is room
        assert_eq!(desk.mailbox_len(), 0);
        assert!(
            second.rung() > before,
            "there is room, and the one who waits for it was not told"
        );
        assert!(matches!(poll_with(&mut late, &second), std::task::Poll::Ready(Ok(()))));
        desk.kill();
        system.stop().await.unwrap();
    });
}

#[test]
fn s4_senders_are_called_in_their_order_one_for_each_place_of_an_actor_that_pauses() {
    seeds(|env| async move {
        let system = tight(&env).start().await.unwrap();
        let log = Log::new();
        let desk = system
            .spawn(a_desk(&log))
            .mailbox(MailboxKind::Bounded(8))
            .await
            .unwrap();
        let mut gates = Vec::new();
        for _ in 0..9 {
            let (open, gate) = gate();
            gates.push(open);
            desk.tell(Wait { gate }).unwrap();
            system.sleep(Duration::from_millis(1)).await; // the first of them is taken and waits
        }
        assert_eq!(desk.mailbox_len(), 8);
        let bells: Vec<_> = (0..6).map(|_| Bell::new()).collect();
        let mut waiting: Vec<_> = (0..6).map(|number| desk.send(Note { number })).collect();
        for (send, bell) in waiting.iter_mut().zip(&bells) {
            assert!(poll_with(send, bell).is_pending());
        }
        let rung = || bells.iter().map(|bell| bell.rung()).collect::<Vec<_>>();
        for (taken, open) in gates.drain(..4).enumerate() {
            let called = rung();
            assert!(
                called.is_sorted_by(|before, after| before >= after),
                "in their order: {called:?}"
            );
            let count = called.iter().filter(|count| **count > 0).count();
            // Nobody has come yet, so a place that was offered before may be offered again.
            assert!(
                (taken..=2 * taken).contains(&count),
                "{taken} of eight places are free: {called:?}"
            );
            open.send(()).unwrap();
            system.sleep(Duration::from_millis(1)).await;
        }
        assert_eq!(desk.mailbox_len(), 4);
        for send in &mut waiting[..4] {
            assert!(poll_with(send, &Bell::new()).is_ready());
        }
        drop(gates);
        for send in &mut waiting[4..] {
            send.await.unwrap();
        }
        desk.drain();
        desk.terminated().await;
        let handled: Vec<_> = log
            .all()
            .into_iter()
            .filter(|entry| entry.parse::<u64>().is_ok())
            .collect();
        assert_eq!(handled, ["0", "1", "2", "3", "4", "5"]);
        system.stop().await.unwrap();
    });
}

/// Many senders, a tiny mailbox, real threads: nobody is forgotten, nothing is lost, no thread is blocked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s4_many_waiting_senders_all_get_through() {
    let system = system().await;
    let sum = Arc::new(AtomicU64::new(0));
    let sink = system
        .spawn({
            let sum = sum.clone();
            move || Sink { sum: sum.clone() }
        })
        .mailbox(MailboxKind::Bounded(2))
        .await
        .unwrap();
    let tasks: Vec<_> = (0..64)
        .map(|_| {
            let sink = sink.clone();
            tokio::spawn(async move {
                for _ in 0..50 {
                    sink.send(Pour { by: 1 }).await.unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        soon("a sender", task).await.unwrap();
    }
    sink.drain();
    soon("drain", sink.terminated()).await;
    assert_eq!(sum.load(Ordering::SeqCst), 64 * 50);
    system.stop().await.unwrap();
}

struct Sink {
    sum: Arc<AtomicU64>,
}

#[actor]
impl Sink {
    fn pour(&mut self, by: u64) {
        self.sum.fetch_add(by, Ordering::SeqCst);
    }
}

/// An actor that fills somebody's mailbox does not block: it is refused and goes on.
#[tokio::test(flavor = "current_thread")]
async fn s4_a_full_mailbox_blocks_no_worker() {
    let system = system().await;
    let log = Log::new();
    let slow = system
        .spawn(a_desk(&log))
        .mailbox(MailboxKind::Bounded(1))
        .await
        .unwrap();
    let (open, gate) = gate();
    slow.tell(Wait { gate }).unwrap();
    let senders: Vec<_> = {
        let mut senders = Vec::new();
        for _ in 0..16 {
            let to = slow.clone();
            senders.push(system.spawn(move || Sender { to: to.clone() }).await.unwrap());
        }
        senders
    };
    for sender in &senders {
        sender.tell(Push { count: 3 }).unwrap();
    }
    // All sixteen handlers wait for room on one thread, and others still run on it.
    let other = system.spawn(a_desk(&Log::new())).await.unwrap();
    other.tell(Note { number: 1 }).unwrap();
    assert_eq!(soon("somebody else", other.ask(Note { number: 2 })).await.unwrap(), 2);
    open.send(()).unwrap();
    eventually_async("all that was pushed", || log.count("77") == 48).await;
    system.stop().await.unwrap();
}

struct Sender {
    to: ActorRef<Desk>,
}

#[actor]
impl Sender {
    async fn push(&mut self, count: u32) {
        for _ in 0..count {
            self.to.send(Note { number: 77 }).await.unwrap();
        }
    }
}
