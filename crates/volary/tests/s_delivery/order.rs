//! S1: the order of messages.

use super::*;

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
