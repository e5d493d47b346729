//! L4, L6: references, protocols, recipients, and the family of asks.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::time::Duration;

use common::*;
use tokio::sync::oneshot;
use volary::prelude::*;
use volary::{ActorId, DeadLetter, DeadReason, Env, Recipient};

protocol!(Noting { Note, Who });

#[tokio::test]
async fn l4_references_are_equal_by_incarnation_and_cheap_to_clone() {
    let system = system().await;
    let log = Log::new();
    let one = system.spawn(a_desk(&log)).named("one").await.unwrap();
    let two = system.spawn(a_desk(&log)).named("two").await.unwrap();
    assert_eq!(one, one.clone());
    assert_ne!(one, two);
    let set: std::collections::HashSet<_> = [one.clone(), one.clone(), two.clone()].into();
    assert_eq!(set.len(), 2);
    assert_eq!(one.recipient::<Note>(), one.recipient::<Note>());
    assert_ne!(one.recipient::<Note>(), two.recipient::<Note>());
    fn anywhere<T: Send + Sync + Clone + 'static>(_: &T) {}
    anywhere(&one);
    anywhere(&one.recipient::<Note>());
    anywhere(&one.downgrade());
    system.stop().await.unwrap();
}

#[tokio::test]
async fn l4_a_protocol_hides_the_actor_and_keeps_its_messages() {
    let system = system().await;
    let log = Log::new();
    let desk = system.spawn(a_desk(&log)).await.unwrap();
    let narrow: ActorRef<Noting> = desk.narrow();
    narrow.tell(Note { number: 1 }).unwrap();
    narrow.send(Note { number: 2 }).await.unwrap();
    assert_eq!(narrow.ask(Note { number: 3 }).await.unwrap(), 3);
    let weak = narrow.downgrade();
    assert_eq!(weak.upgrade().unwrap().ask(Note { number: 4 }).await.unwrap(), 4);
    let recipient: Recipient<Note> = narrow.recipient();
    assert_eq!(recipient.ask(Note { number: 5 }).await.unwrap(), 5);
    assert_eq!(narrow.id(), desk.id());
    narrow.stop();
    soon("the end", narrow.terminated()).await;
    assert!(narrow.tell(Note { number: 6 }).is_err());
    assert!(!recipient.is_alive());
    system.stop().await.unwrap();
}

#[tokio::test]
async fn l4_a_weak_reference_leads_to_the_living_only() {
    let system = system().await;
    let log = Log::new();
    let desk = system.spawn(a_desk(&log)).await.unwrap();
    let weak = desk.downgrade();
    drop(desk);
    let desk = weak.upgrade().expect("the actor lives without references");
    assert_eq!(desk.ask(Note { number: 1 }).await.unwrap(), 1);
    desk.stop();
    soon("the end", desk.terminated()).await;
    assert!(weak.upgrade().is_none());
    drop(desk);
    assert!(weak.upgrade().is_none());
    assert!(weak.clone().upgrade().is_none());
    system.stop().await.unwrap();
    drop(system);
    assert!(weak.upgrade().is_none());
}

/// kameo#199, #179: a reference is a reply like any other.
struct Directory {
    desk: ActorRef<Desk>,
}

#[actor]
impl Directory {
    fn find(&mut self) -> (ActorRef<Desk>, Recipient<Note>) {
        (self.desk.clone(), self.desk.recipient())
    }
    async fn ask_who(&mut self) -> Option<ActorId> {
        self.desk.ask(Who).await.unwrap()
    }
    fn forward_note(&mut self, number: u64, reply: ReplyTo<u64>) {
        let _ = self.desk.forward(Note { number }, reply);
    }
    async fn forward_later(&mut self, ctx: &mut Context<Self>, number: u64, reply: ReplyTo<u64>) -> Result<(), Fault> {
        let desk = self.desk.clone();
        ctx.spawn(async move {
            tokio::task::yield_now().await;
            let _ = desk.forward(Note { number }, reply);
        });
        Ok(())
    }
    fn forward_crash(&mut self, reply: ReplyTo<u64>) {
        let _ = self.desk.forward(Crash, reply);
    }
    fn forward_refusal(&mut self, code: u32, reply: ReplyTo<u64, Refused>) {
        let _ = self.desk.forward(Refuse { code }, reply);
    }
}

fn directory(desk: &ActorRef<Desk>) -> impl Fn() -> Directory + Send + Sync + 'static {
    let desk = desk.clone();
    move || Directory { desk: desk.clone() }
}

#[tokio::test]
async fn l6_a_reply_may_be_a_reference() {
    let system = system().await;
    let desk = system.spawn(a_desk(&Log::new())).await.unwrap();
    let directory = system.spawn(directory(&desk)).await.unwrap();
    let (found, recipient) = directory.ask(Find).await.unwrap();
    assert_eq!(found, desk);
    assert_eq!(recipient.ask(Note { number: 1 }).await.unwrap(), 1);
    system.stop().await.unwrap();
}

#[test]
fn l6_forward_lets_another_answer() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let desk = system
            .spawn(a_desk(&Log::new()))
            .on_fault(Directive::Resume)
            .await
            .unwrap();
        let directory = system.spawn(directory(&desk)).await.unwrap();
        assert_eq!(directory.ask(ForwardNote { number: 1 }).await.unwrap(), 1);
        assert_eq!(directory.ask(ForwardLater { number: 2 }).await.unwrap(), 2);
        assert!(matches!(directory.ask(ForwardCrash).await, Err(AskError::Failed(fault)) if fault.is_panic()));
        assert!(matches!(
            directory.ask(ForwardRefusal { code: 7 }).await,
            Err(AskError::Rejected(Refused(7)))
        ));
        directory.tell(ForwardNote { number: 3 }).unwrap(); // nobody waits
        system.sleep(Duration::from_millis(1)).await;
        assert_eq!(desk.ask(Note { number: 4 }).await.unwrap(), 4);
        desk.stop();
        desk.terminated().await;
        assert!(matches!(
            directory.ask(ForwardNote { number: 5 }).await,
            Err(AskError::Stopped)
        ));
        system.stop().await.unwrap();
    });
}

#[test]
fn l6_forward_to_a_full_mailbox_says_full() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let desk = system
            .spawn(a_desk(&Log::new()))
            .mailbox(MailboxKind::Bounded(1))
            .await
            .unwrap();
        let directory = system.spawn(directory(&desk)).await.unwrap();
        let (_keep, gate) = gate();
        desk.tell(Wait { gate }).unwrap();
        system.sleep(Duration::from_millis(1)).await;
        desk.tell(Note { number: 1 }).unwrap();
        let heard = directory.ask(ForwardNote { number: 2 }).await;
        assert!(
            matches!(heard, Err(AskError::Full)),
            "the desk is full and alive, but the asker heard {heard:?}"
        );
        desk.kill();
        system.stop().await.unwrap();
    });
}

#[test]
fn l6_the_sender_is_known_to_the_handler() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let desk = system.spawn(a_desk(&Log::new())).await.unwrap();
        let directory = system.spawn(directory(&desk)).await.unwrap();
        assert_eq!(desk.ask(Who).await.unwrap(), None, "from outside");
        assert_eq!(directory.ask(AskWho).await.unwrap(), Some(directory.id()));
        system.stop().await.unwrap();
    });
}

/// Keeps questions and answers them when told.
#[derive(Default)]
struct Gatekeeper {
    waiting: Vec<ReplyTo<u64>>,
}

#[actor]
impl Gatekeeper {
    fn enter(&mut self, reply: ReplyTo<u64>) {
        self.waiting.push(reply);
    }
    fn open(&mut self) -> usize {
        let all = std::mem::take(&mut self.waiting);
        let wanted = all.iter().filter(|reply| reply.is_wanted()).count();
        for (n, reply) in all.into_iter().enumerate() {
            reply.send(n as u64);
        }
        wanted
    }
    fn open_elsewhere(&mut self) {
        for reply in self.waiting.drain(..) {
            std::thread::spawn(move || reply.send(7));
        }
    }
    fn shut(&mut self) {
        self.waiting.clear();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l6_a_reply_may_come_later_and_from_elsewhere() {
    let system = system().await;
    let keeper = system.spawn(Gatekeeper::default).await.unwrap();
    let asks: Vec<_> = (0..5)
        .map(|_| {
            let keeper = keeper.clone();
            tokio::spawn(async move { keeper.ask(Enter).await })
        })
        .collect();
    eventually_async("all wait", || keeper.mailbox_len() == 0).await;
    let mut wanted = 0;
    while wanted < 5 {
        wanted += soon("open", keeper.ask(Open)).await.unwrap();
    }
    for ask in asks {
        soon("an ask", ask).await.unwrap().unwrap();
    }
    let (one, two) = (keeper.clone(), keeper.clone());
    let ask = tokio::spawn(async move { one.ask(Enter).await });
    eventually_async("answered from another thread", || {
        two.tell(OpenElsewhere).unwrap();
        ask.is_finished()
    })
    .await;
    assert_eq!(ask.await.unwrap().unwrap(), 7);
    let (one, two) = (keeper.clone(), keeper.clone());
    let ask = tokio::spawn(async move { one.ask(Enter).await });
    eventually_async("forgotten", || {
        two.tell(Shut).unwrap();
        ask.is_finished()
    })
    .await;
    assert!(matches!(ask.await.unwrap(), Err(AskError::NoReply)));
    system.stop().await.unwrap();
}

#[test]
fn l6_a_late_reply_is_counted_and_not_delivered() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let keeper = system.spawn(Gatekeeper::default).await.unwrap();
        let late = keeper.ask(Enter).timeout(Duration::from_secs(1)).await;
        assert!(matches!(late, Err(AskError::Timeout { after }) if after == Duration::from_secs(1)));
        assert_eq!(keeper.ask(Open).await.unwrap(), 0, "nobody wants it any more");
        assert_eq!(system.metrics().late_replies, 1);
        assert_eq!(system.metrics().dead_letters, 0, "it was handled");
        system.stop().await.unwrap();
    });
}

#[tokio::test]
async fn l6_a_late_reply_from_outside_of_any_actor_is_counted_too() {
    let system = system().await;
    let keeper = system.spawn(Gatekeeper::default).await.unwrap();
    let late = keeper.ask(Enter).timeout(Duration::from_millis(1)).await;
    assert!(matches!(late, Err(AskError::Timeout { .. })));
    keeper.ask(OpenElsewhere).await.unwrap();
    eventually_async("the count", || system.metrics().late_replies == 1).await;
    system.stop().await.unwrap();
}

#[test]
fn l6_an_ask_that_was_never_handled_is_a_dead_letter_and_no_late_reply() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let desk = system.spawn(a_desk(&Log::new())).await.unwrap();
        for number in 0..10 {
            drop(desk.ask(Note { number }).into_future());
        }
        desk.ask(Note { number: 10 }).await.unwrap();
        assert_eq!(system.metrics().dead_letters, 10);
        assert_eq!(system.metrics().late_replies, 0);
        system.stop().await.unwrap();
    });
}

#[test]
fn l6_batches_keep_their_order_and_each_answer_its_own_result() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let desk = system.spawn(a_desk(&log)).on_fault(Directive::Resume).await.unwrap();
        desk.tell_all((0..20).map(|number| Note { number })).unwrap();
        let answers = desk.ask_all((20..40).map(|number| Note { number })).await;
        let answers: Vec<_> = answers.into_iter().map(|answer| answer.unwrap()).collect();
        assert_eq!(answers, (21..=40).collect::<Vec<_>>());
        let numbers: Vec<_> = log.all().iter().filter_map(|e| e.parse::<u64>().ok()).collect();
        assert_eq!(numbers, (0..40).collect::<Vec<_>>());
        assert!(desk.ask_all(Vec::<Note>::new()).await.is_empty());
        let mixed = desk.ask_all((0..3).map(|code| Fail { code })).await;
        for (code, answer) in mixed.into_iter().enumerate() {
            assert!(matches!(answer, Err(AskError::Failed(fault)) if fault.find() == Some(&Broken(code as u32))));
        }
        system.stop().await.unwrap();
    });
}

#[test]
fn l6_a_batch_into_a_bounded_mailbox_says_which_were_refused() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let desk = system
            .spawn(a_desk(&Log::new()))
            .mailbox(MailboxKind::Bounded(4))
            .await
            .unwrap();
        let (open, gate) = gate();
        desk.tell(Wait { gate }).unwrap();
        system.sleep(Duration::from_millis(1)).await;
        let refused = desk.tell_all((0..10).map(|number| Note { number })).unwrap_err();
        let back: Vec<_> = refused.into_messages().iter().map(|note| note.number).collect();
        assert_eq!(back, [4, 5, 6, 7, 8, 9]);
        open.send(()).unwrap();
        system.sleep(Duration::from_millis(1)).await;
        assert_eq!(desk.mailbox_len(), 0);
        system.stop().await.unwrap();
    });
}

#[tokio::test]
async fn l6_absurd_deadlines_are_no_problem() {
    let system = system().await;
    let desk = system.spawn(a_desk(&Log::new())).await.unwrap();
    assert_eq!(desk.ask(Note { number: 1 }).timeout(Duration::MAX).await.unwrap(), 1);
    let (open, gate) = gate();
    let mut ask = desk.ask(Wait { gate }).timeout(Duration::MAX).into_future();
    assert!(poll_with(&mut ask, &Bell::new()).is_pending());
    open.send(()).unwrap();
    assert!(soon("an ask without end", ask).await.unwrap());
    let (_keep, gate) = common::gate();
    let none = soon("an ask without time", desk.ask(Wait { gate }).timeout(Duration::ZERO)).await;
    assert!(matches!(none, Err(AskError::Timeout { .. })), "{none:?}");
    drop(system.sleep(Duration::MAX));
    desk.kill();
    system.stop().await.unwrap();
}

/// Asks whom it is told, in rings.
struct Asker {
    log: Log,
}

#[actor]
impl Asker {
    /// Asks the first of the list to ask the next.
    async fn pass(
        &mut self,
        ctx: &mut Context<Self>,
        to: Vec<ActorRef<Asker>>,
        pause: Duration,
    ) -> Result<String, Fault> {
        if !pause.is_zero() {
            ctx.sleep(pause).await;
        }
        let Some((next, rest)) = to.split_first() else {
            return Ok("end".to_owned());
        };
        match next
            .ask(Pass {
                to: rest.to_vec(),
                pause,
            })
            .timeout(Duration::from_secs(60))
            .await
        {
            Err(AskError::Cycle(cycle)) => {
                self.log.push(&cycle);
                Ok(format!("cycle of {}", cycle.members().join(" ")))
            }
            other => other.or_fault(),
        }
    }
    async fn pass_both(
        &mut self,
        one: ActorRef<Asker>,
        other: ActorRef<Desk>,
        gate: oneshot::Receiver<()>,
        me: ActorRef<Asker>,
    ) -> String {
        let (answer, _) = tokio::join!(
            one.ask(Pass {
                to: vec![me],
                pause: Duration::from_millis(1)
            })
            .timeout(Duration::from_secs(3))
            .into_future(),
            other.ask(Wait { gate }).timeout(Duration::from_secs(3)).into_future(),
        );
        answer.unwrap_or_else(|error| error.to_string())
    }
    async fn by_task(&mut self, ctx: &mut Context<Self>) -> bool {
        let me = ctx.me();
        let (send, receive) = oneshot::channel();
        ctx.spawn(async move {
            let _ = send.send(me.ask(Hello).await.is_ok());
        });
        // The handler does not wait for the task: no ring.
        let log = self.log.clone();
        ctx.spawn(async move { log.push(receive.await.unwrap()) });
        true
    }
    fn hello(&mut self) {}
}

fn ring_of(length: usize) {
    seeds(move |env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let mut ring = Vec::new();
        for n in 0..length {
            let log = log.clone();
            ring.push(
                system
                    .spawn(move || Asker { log: log.clone() })
                    .named(format!("a{n}"))
                    .await
                    .unwrap(),
            );
        }
        for pause in [Duration::ZERO, Duration::from_millis(1)] {
            let before = env.now();
            let mut to: Vec<_> = ring[1..].to_vec();
            to.push(ring[0].clone());
            let answer = ring[0]
                .ask(Pass { to, pause })
                .timeout(Duration::from_secs(60))
                .await
                .unwrap();
            assert!(answer.starts_with("cycle of"), "{answer}");
            for n in 0..length {
                assert!(answer.contains(&format!("/user/a{n}")), "{answer} does not name a{n}");
            }
            assert!(
                env.now().since(before) < Duration::from_secs(1),
                "found, not waited out"
            );
        }
        // Nobody is stuck, and what was asked in the ring was not executed later.
        for actor in &ring {
            actor.ask(Hello).await.unwrap();
        }
        system.stop().await.unwrap();
    });
}

#[test]
fn l6_an_actor_that_asks_itself_is_told() {
    ring_of(1);
}

#[test]
fn l6_a_ring_of_two_is_found_and_named() {
    ring_of(2);
}

#[test]
fn l6_a_ring_of_three_is_found_and_named() {
    ring_of(3);
}

#[test]
fn l6_a_ring_of_twelve_is_found_beyond_the_nesting_of_inline_turns() {
    ring_of(12);
}

#[test]
fn s3_the_longest_ring_that_is_looked_for_is_found() {
    ring_of(64);
}

#[test]
fn s3_a_longer_ring_is_left_to_the_deadline() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let mut ring = Vec::new();
        for _ in 0..65 {
            let log = log.clone();
            ring.push(system.spawn(move || Asker { log: log.clone() }).await.unwrap());
        }
        let mut to = ring[1..].to_vec();
        to.push(ring[0].clone());
        let (pause, limit) = (Duration::ZERO, Duration::from_secs(2));
        let before = env.now();
        let answer = ring[0].ask(Pass { to, pause }).timeout(limit).await;
        assert!(
            matches!(answer, Err(AskError::Timeout { .. } | AskError::Failed(_))),
            "{answer:?}"
        );
        let took = env.now().since(before);
        assert!(took >= limit && took < limit + Duration::from_millis(100), "{took:?}");
        assert!(log.is_empty(), "{:?}", log.all());
        // With the deadline everybody is free again.
        for actor in &ring {
            actor.ask(Hello).await.unwrap();
        }
        system.stop().await.unwrap();
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l6_a_ring_is_found_on_threads_and_when_both_close_it_at_once() {
    let system = system().await;
    for _ in 0..100 {
        let log = Log::new();
        let make = |log: &Log| {
            let log = log.clone();
            move || Asker { log: log.clone() }
        };
        let one = system.spawn(make(&log)).await.unwrap();
        let two = system.spawn(make(&log)).await.unwrap();
        let long = Duration::from_secs(60);
        let a = tokio::spawn({
            let (one, two) = (one.clone(), two.clone());
            async move {
                one.ask(Pass {
                    to: vec![two],
                    pause: Duration::ZERO,
                })
                .timeout(long)
                .await
            }
        });
        let b = tokio::spawn({
            let (one, two) = (one.clone(), two.clone());
            async move {
                two.ask(Pass {
                    to: vec![one],
                    pause: Duration::ZERO,
                })
                .timeout(long)
                .await
            }
        });
        for task in [a, b] {
            let answer = soon("one in a ring", task).await.unwrap().unwrap();
            assert!(answer == "end" || answer.starts_with("cycle of"), "{answer}");
        }
        one.kill();
        two.kill();
    }
    system.stop().await.unwrap();
}

#[test]
fn l6_a_ring_is_found_when_the_handler_waits_for_two_at_once() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let make = |log: &Log| {
            let log = log.clone();
            move || Asker { log: log.clone() }
        };
        let one = system.spawn(make(&log)).named("one").await.unwrap();
        let two = system.spawn(make(&log)).named("two").await.unwrap();
        let other = system.spawn(a_desk(&Log::new())).await.unwrap();
        let (_keep, gate) = gate();
        let before = env.now();
        let answer = one
            .ask(PassBoth {
                one: two.clone(),
                other: other.clone(),
                gate,
                me: one.clone(),
            })
            .timeout(Duration::from_secs(60))
            .await
            .unwrap();
        assert!(answer.starts_with("cycle of"), "{answer}");
        assert!(env.now().since(before) < Duration::from_secs(4));
        other.kill();
        system.stop().await.unwrap();
    });
}

#[test]
fn l6_an_ask_from_a_task_of_the_actor_is_no_ring() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let asker = system
            .spawn({
                let log = log.clone();
                move || Asker { log: log.clone() }
            })
            .await
            .unwrap();
        assert!(asker.ask(ByTask).await.unwrap());
        system.sleep(Duration::from_millis(1)).await;
        assert_eq!(log.all(), ["true"]);
        system.stop().await.unwrap();
    });
}

#[test]
fn l6_a_long_chain_of_asks_is_answered() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let mut chain = Vec::new();
        for _ in 0..40 {
            let log = log.clone();
            chain.push(system.spawn(move || Asker { log: log.clone() }).await.unwrap());
        }
        let answer = chain[0]
            .ask(Pass {
                to: chain[1..].to_vec(),
                pause: Duration::ZERO,
            })
            .await
            .unwrap();
        assert_eq!(answer, "end");
        system.stop().await.unwrap();
    });
}

#[test]
fn l18_a_dead_letter_names_reason_sender_and_receiver_and_keeps_the_message() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (letters, others) = (
            system.events().subscribe::<DeadLetter>(),
            system.events().subscribe::<DeadLetter>(),
        );
        let desk = system.spawn(a_desk(&Log::new())).named("desk").await.unwrap();
        let directory = system.spawn(directory(&desk)).named("directory").await.unwrap();
        let (_keep, gate) = gate();
        desk.tell(Wait { gate }).unwrap();
        system.sleep(Duration::from_millis(1)).await;
        directory.tell(ForwardNote { number: 42 }).unwrap();
        system.sleep(Duration::from_millis(1)).await;
        desk.kill();
        desk.terminated().await;
        let letter = letters.next().await.unwrap();
        assert_eq!(letter.reason(), DeadReason::Stopped);
        assert_eq!(letter.sender(), Some(directory.id()));
        assert_eq!(letter.sender_path().unwrap().to_string(), "/user/directory");
        assert_eq!(letter.receiver().to_string(), "/user/desk");
        assert_eq!(letter.receiver_id(), Some(desk.id()));
        assert!(letter.message_type().ends_with("Note"));
        assert!(letter.take::<Who>().is_none());
        assert_eq!(letter.take::<Note>().unwrap().number, 42);
        assert!(letter.take::<Note>().is_none(), "taken once");
        assert!(others.next().await.unwrap().take::<Note>().is_none(), "by one of all");
        assert!(letters.try_next().is_none(), "exactly one");
        assert_eq!(system.metrics().dead_letters, 1);
        system.stop().await.unwrap();
    });
}

#[test]
fn l9_the_status_follows_the_life_of_an_actor() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let desk = system.spawn(a_desk(&log)).await.unwrap();
        system.sleep(Duration::from_millis(1)).await;
        let idle = desk.status();
        assert!(
            idle.running && !idle.busy && !idle.stopping && !idle.ended && !idle.slow && !idle.system,
            "{idle:?}"
        );
        let (open, gate) = gate();
        desk.tell(Wait { gate }).unwrap();
        system.sleep(Duration::from_millis(1)).await;
        let waiting = desk.status();
        assert!(waiting.running && waiting.busy, "{waiting:?}");
        desk.stop();
        let stopping = desk.status();
        assert!(
            !stopping.running && stopping.stopping && !stopping.ended,
            "{stopping:?}"
        );
        assert_eq!(system.actors()[0].status, stopping, "listed with the same flags");
        drop(open);
        desk.terminated().await;
        let ended = desk.status();
        assert!(
            ended.ended && !ended.running && !ended.stopping && !ended.busy,
            "{ended:?}"
        );
        system.stop().await.unwrap();
    });
}
