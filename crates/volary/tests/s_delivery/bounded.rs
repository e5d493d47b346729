//! S4: bounded mailboxes and senders that wait.

use super::*;

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
