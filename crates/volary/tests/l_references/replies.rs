//! L6: replies by others, later or too late, and batches.

use super::*;

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
