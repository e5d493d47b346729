//! Corners that once went wrong: each of these tests fails without the mend it stands for.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary::{Letter, Mailbox, SeededEnv, SendError};

const MS: Duration = Duration::from_millis(1);

/// Handles, and stops or is told to stop, in the middle of a backlog.
struct Counter {
    handled: Arc<AtomicUsize>,
    stop_at: usize,
}

#[actor]
impl Counter {
    fn tick(&mut self, ctx: &mut Context<Self>) {
        let handled = self.handled.fetch_add(1, Ordering::SeqCst) + 1;
        if handled == self.stop_at {
            ctx.stop();
        }
    }
    fn stop_other(&mut self, other: ActorRef<Counter>) {
        other.stop();
    }
}

fn counter(stop_at: usize) -> (Arc<AtomicUsize>, impl Fn() -> Counter + Send + Sync + use<>) {
    let handled = Arc::new(AtomicUsize::new(0));
    let shared = handled.clone();
    let make = move || Counter {
        handled: shared.clone(),
        stop_at,
    };
    (handled, make)
}

#[test]
fn s1_an_actor_that_stops_itself_handles_nothing_behind_that_message() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (handled, make) = counter(7);
        let actor = system.spawn(make).await.unwrap();
        for _ in 0..100 {
            actor.tell(Tick).unwrap();
        }
        actor.terminated().await;
        assert_eq!(handled.load(Ordering::SeqCst), 7);
        system.stop().await.unwrap();
    });
}

/// On threads: once `stop` has returned, one more message is begun at most, in a turn that is under
/// way with a plain handler that never suspends.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s1_a_stop_in_the_middle_of_a_turn_lets_one_more_message_through_at_most() {
    for _ in 0..50 {
        let system = system().await;
        let (handled, make) = counter(usize::MAX);
        let actor = system.spawn(make).await.unwrap();
        let go = Arc::new(AtomicUsize::new(0));
        let feeder = std::thread::spawn({
            let (actor, go) = (actor.clone(), go.clone());
            move || {
                while actor.tell(Tick).is_ok() {
                    go.store(1, Ordering::SeqCst);
                }
            }
        });
        eventually("it runs", || {
            handled.load(Ordering::SeqCst) > 1_000 && go.load(Ordering::SeqCst) == 1
        });
        let stopper = std::thread::spawn({
            let (actor, handled) = (actor.clone(), handled.clone());
            move || {
                actor.stop();
                handled.load(Ordering::SeqCst)
            }
        });
        let at_stop = stopper.join().unwrap();
        soon("the end", actor.terminated()).await;
        feeder.join().unwrap();
        // The one that was being handled, and one that was begun just then.
        assert!(handled.load(Ordering::SeqCst) <= at_stop + 2);
        system.stop().await.unwrap();
    }
}

/// Sends that have ended, by time or by being dropped, do not keep a place from those who wait.
#[test]
fn s4_a_place_is_not_lost_to_a_send_that_has_ended() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let desk = system
            .spawn(a_desk(&Log::new()))
            .mailbox(MailboxKind::Bounded(4))
            .await
            .unwrap();
        let (open, gate) = gate();
        desk.tell(Wait { gate }).unwrap();
        system.sleep(MS).await;
        for number in 0..4 {
            desk.tell(Note { number }).unwrap();
        }
        let mut late = Vec::new();
        for number in 10..14 {
            late.push(Box::pin(desk.send(Note { number }).timeout(MS)));
        }
        let bell = Bell::new();
        for send in &mut late {
            assert!(poll_with(send, &bell).is_pending());
        }
        let mut waiting = Box::pin(desk.send(Note { number: 99 }));
        let mine = Bell::new();
        assert!(poll_with(&mut waiting, &mine).is_pending());
        system.sleep(2 * MS).await;
        for send in &mut late {
            assert!(matches!(
                poll_with(send, &bell),
                std::task::Poll::Ready(Err(SendError::Timeout(_)))
            ));
        }
        open.send(()).unwrap();
        system.sleep(MS).await;
        assert!(mine.rung() > 0, "it was called");
        assert!(poll_with(&mut waiting, &mine).is_ready());
        drop(late);
        system.stop().await.unwrap();
    });
}

/// Senders wait in line: those who come later do not pass.
#[test]
fn s4_waiting_senders_are_served_in_their_order_and_newcomers_do_not_pass() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let desk = system
            .spawn(a_desk(&log))
            .mailbox(MailboxKind::Bounded(2))
            .await
            .unwrap();
        let (open, gate) = gate();
        desk.tell(Wait { gate }).unwrap();
        system.sleep(MS).await;
        desk.tell(Note { number: 0 }).unwrap();
        desk.tell(Note { number: 1 }).unwrap();
        let bell = Bell::new();
        let mut sends: Vec<_> = (2..20).map(|number| Box::pin(desk.send(Note { number }))).collect();
        for send in &mut sends {
            assert!(poll_with(send, &bell).is_pending());
        }
        open.send(()).unwrap();
        // Whoever is called is polled last: the others try first, in vain.
        while !sends.is_empty() {
            system.sleep(MS).await;
            let before = sends.len();
            sends.reverse();
            sends.retain_mut(|send| poll_with(send, &bell).is_pending());
            sends.reverse();
            assert!(sends.len() < before, "nobody gets through");
        }
        system.sleep(MS).await;
        let notes: Vec<usize> = log.all().iter().filter_map(|line| line.parse().ok()).collect();
        assert_eq!(notes.len(), 20);
        // Within what one call covers (two places) the order of polling decides.
        for (place, number) in notes.iter().enumerate() {
            assert!(place.abs_diff(*number) <= 2, "{notes:?}");
        }
        system.stop().await.unwrap();
    });
}

#[test]
fn s4_a_waiting_send_hears_of_a_stop_or_drain_at_once() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        for drain in [false, true] {
            let desk = system
                .spawn(a_desk(&Log::new()))
                .mailbox(MailboxKind::Bounded(1))
                .await
                .unwrap();
            let (_open, gate) = gate();
            desk.tell(Wait { gate }).unwrap();
            system.sleep(MS).await;
            desk.tell(Note { number: 1 }).unwrap();
            let mut send = Box::pin(desk.send(Note { number: 2 }));
            let bell = Bell::new();
            assert!(poll_with(&mut send, &bell).is_pending());
            if drain {
                desk.drain()
            } else {
                desk.stop()
            }
            system.sleep(MS).await;
            assert!(bell.rung() > 0, "long before the handler ends");
            assert!(poll_with(&mut send, &bell).is_ready());
            desk.kill();
        }
        system.stop().await.unwrap();
    });
}

#[test]
fn s4_a_send_that_the_byte_budget_refuses_does_not_wait_at_the_bound() {
    seeds(|env| async move {
        let system = builder("tight")
            .environment(env.clone())
            .settings(|s| s.mailbox_budget(volary::settings::ByteSize::new(1024)))
            .start()
            .await
            .unwrap();
        let hoarder = system.spawn(a_desk(&Log::new())).await.unwrap();
        let (_open, gate) = gate();
        hoarder.tell(Wait { gate }).unwrap();
        system.sleep(MS).await;
        while hoarder.tell(Note { number: 1 }).is_ok() {}
        let desk = system
            .spawn(a_desk(&Log::new()))
            .mailbox(MailboxKind::Bounded(1_000))
            .await
            .unwrap();
        let (_open, gate) = common::gate();
        desk.tell(Wait { gate }).unwrap();
        system.sleep(MS).await;
        let before = system.now();
        loop {
            match desk.send(Note { number: 2 }).await {
                Ok(()) => {}
                Err(SendError::Refused(TellError::Full(_))) => break,
                other => panic!("{other:?}"),
            }
        }
        assert!(system.now().since(before) < Duration::from_secs(1), "it did not wait");
        hoarder.kill();
        desk.kill();
        system.stop().await.unwrap();
    });
}

/// Many threads tell an actor that is nearly idle: nothing is refused by a depth that was read too late.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s4_a_mailbox_far_from_full_refuses_nothing() {
    let system = system().await;
    let (handled, make) = counter(usize::MAX);
    let actor = system.spawn(make).mailbox(MailboxKind::Bounded(1_000)).await.unwrap();
    let sent = Arc::new(AtomicUsize::new(0));
    let senders: Vec<_> = (0..2)
        .map(|_| {
            let (actor, handled, sent) = (actor.clone(), handled.clone(), sent.clone());
            std::thread::spawn(move || {
                for _ in 0..200_000_usize {
                    // Far below the bound, always.
                    let sent = sent.fetch_add(1, Ordering::SeqCst);
                    while sent > 200 + handled.load(Ordering::SeqCst) {
                        std::thread::yield_now();
                    }
                    actor.tell(Tick).unwrap();
                }
            })
        })
        .collect();
    for sender in senders {
        sender.join().unwrap();
    }
    system.stop().await.unwrap();
}

/// Refuses everything, or panics when asked for a letter.
#[derive(Default)]
struct Odd {
    refuses: bool,
    panics: AtomicUsize,
    letters: Mutex<Vec<Letter>>,
}

impl Mailbox for Odd {
    fn push(&self, letter: Letter) -> Result<(), Letter> {
        if self.refuses {
            return Err(letter);
        }
        self.letters.lock().unwrap().push(letter);
        Ok(())
    }
    fn pop(&self) -> Option<Letter> {
        if self.panics.load(Ordering::SeqCst) > 0 {
            self.panics.fetch_sub(1, Ordering::SeqCst);
            panic!("no letter today");
        }
        let mut letters = self.letters.lock().unwrap();
        (!letters.is_empty()).then(|| letters.remove(0))
    }
    fn len(&self) -> usize {
        self.letters.lock().unwrap().len()
    }
}

#[test]
fn l12_refusals_of_a_mailbox_of_ones_own_leave_nothing_in_the_log() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let mailbox = MailboxKind::Custom(Arc::new(|| {
            Box::new(Odd {
                refuses: true,
                ..Odd::default()
            })
        }));
        let desk = system.spawn(a_desk(&Log::new())).mailbox(mailbox).await.unwrap();
        for _ in 0..10 {
            for number in 0..100 {
                assert!(desk.tell(Note { number }).is_err());
            }
            system.sleep(MS).await;
            assert_eq!(desk.mailbox_len(), 0);
        }
        assert_eq!(system.metrics().mailbox_bytes, 0);
        system.stop().await.unwrap();
    });
}

#[test]
fn l12_a_mailbox_that_panics_on_pop_is_reported_and_the_letter_is_not_stranded() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let mailbox = MailboxKind::Custom(Arc::new(|| {
            Box::new(Odd {
                panics: AtomicUsize::new(2),
                ..Odd::default()
            })
        }));
        let desk = system.spawn(a_desk(&Log::new())).mailbox(mailbox).await.unwrap();
        assert_eq!(desk.ask(Note { number: 7 }).await.unwrap(), 1);
        assert_eq!(system.metrics().faults, 2, "every panic is counted");
        system.stop().await.unwrap();
    });
}

/// Tries asks when its own request is late.
struct Tardy {
    target: ActorRef<Desk>,
}

#[actor]
impl Tardy {
    async fn ask_late(&mut self, ctx: &mut Context<Self>) -> bool {
        ctx.sleep(Duration::from_secs(2)).await;
        matches!(self.target.ask(Note { number: 1 }).await, Err(AskError::Timeout { .. }))
    }
    fn begin(&mut self, ctx: &mut Context<Self>, env: SeededEnv, done: tokio::sync::oneshot::Sender<bool>) {
        ctx.me().tell(Linger { env, done }).unwrap();
    }
    /// Told by a request that is over before this ends, without a moment to look up.
    async fn linger(&mut self, env: SeededEnv, done: tokio::sync::oneshot::Sender<bool>) {
        self.target.tell(Note { number: 3 }).unwrap();
        env.advance(Duration::from_secs(2));
        let _ = done.send(self.target.ask(Note { number: 4 }).await.is_ok());
    }
    fn pass_on(&mut self, ctx: &mut Context<Self>, env: StoryEnv, done: tokio::sync::oneshot::Sender<u64>) {
        ctx.me().tell(SendMany { env, done }).unwrap();
    }
    fn send_many(&mut self, env: StoryEnv, done: tokio::sync::oneshot::Sender<u64>) {
        let before = env.looks();
        for number in 0..100 {
            self.target.tell(Note { number }).unwrap();
        }
        let _ = done.send(env.looks() - before);
    }
    fn spawn_late(&mut self, ctx: &mut Context<Self>, done: tokio::sync::oneshot::Sender<bool>) {
        let (target, system) = (self.target.clone(), ctx.system());
        ctx.spawn(async move {
            system.sleep(Duration::from_secs(60)).await;
            let _ = done.send(target.ask(Note { number: 2 }).await.is_ok());
        });
    }
}

#[test]
fn s3_an_ask_of_a_request_whose_time_is_over_is_not_executed() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let target = system.spawn(a_desk(&log)).await.unwrap();
        let tardy = system.spawn(move || Tardy { target: target.clone() }).await.unwrap();
        let answer = tardy.ask(AskLate).timeout(Duration::from_secs(1)).await;
        assert!(answer.is_err());
        system.sleep(Duration::from_secs(5)).await;
        assert!(!log.has("1"), "{:?}", log.all());
        assert_eq!(system.metrics().refused, 1, "in the books it was refused");
        system.stop().await.unwrap();
    });
}

#[test]
fn s3_a_task_that_outlives_its_request_asks_with_the_default_deadline() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let target = system.spawn(a_desk(&log)).await.unwrap();
        let tardy = system.spawn(move || Tardy { target: target.clone() }).await.unwrap();
        let (done, outcome) = tokio::sync::oneshot::channel();
        tardy
            .ask(SpawnLate { done })
            .timeout(Duration::from_secs(1))
            .await
            .unwrap();
        assert!(outcome.await.unwrap());
        system.stop().await.unwrap();
    });
}

#[test]
fn s3_a_handler_that_was_told_under_a_deadline_looks_at_the_clock_once() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let target = system.spawn(a_desk(&Log::new())).await.unwrap();
        let tardy = system.spawn(move || Tardy { target: target.clone() }).await.unwrap();
        let (done, looks) = tokio::sync::oneshot::channel();
        let env = env.clone();
        tardy.ask(PassOn { env, done }).await.unwrap();
        assert_eq!(looks.await.unwrap(), 1, "for a hundred messages");
        system.stop().await.unwrap();
    });
}

#[test]
fn s3_a_told_handler_that_outlives_the_request_behind_it_asks_with_the_default_deadline() {
    for seed in 0..50 {
        let env = SeededEnv::new(seed);
        env.block_on(async {
            let system = simulated(&StoryEnv::seeded(&env)).await;
            let target = system.spawn(a_desk(&Log::new())).await.unwrap();
            let tardy = system.spawn(move || Tardy { target: target.clone() }).await.unwrap();
            let (done, outcome) = tokio::sync::oneshot::channel();
            let env = env.clone();
            let begun = tardy.ask(Begin { env, done }).timeout(Duration::from_secs(1));
            begun.await.unwrap();
            assert!(outcome.await.unwrap());
            system.stop().await.unwrap();
        });
    }
}

/// Written by hand: the panic comes before there is a future.
struct Early;
impl Actor for Early {}
#[derive(Message)]
#[message(reply = u64)]
struct Go;
impl Handler<Go> for Early {
    #[allow(clippy::manual_async_fn, reason = "the panic must come before the future")]
    fn handle(&mut self, _: Go, _: &mut Context<Self>) -> impl Future<Output = Result<u64, Failure>> + Send {
        if std::hint::black_box(true) {
            panic!("too early");
        }
        async { Ok(1) }
    }
}

#[test]
fn s10_a_handler_that_panics_before_its_future_exists_has_failed() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let early = system.spawn(|| Early).await.unwrap();
        let answer = early.ask(Go).await;
        assert!(matches!(answer, Err(AskError::Failed(_))), "{answer:?}");
        system.stop().await.unwrap();
    });
}

/// A chain deeper than the stack ends, and is freed from its leaf upwards.
#[test]
fn l8_the_last_reference_to_a_leaf_of_a_very_deep_tree_frees_it_without_recursion() {
    struct Node;
    #[actor]
    impl Node {
        async fn grow(&mut self, ctx: &mut Context<Self>) -> ActorRef<Node> {
            ctx.spawn_child(|| Node).await.unwrap()
        }
    }
    let env = volary::SeededEnv::new(3);
    let leaf = env.block_on(async {
        let system = simulated(&env).await;
        let mut leaf = system.spawn(|| Node).await.unwrap();
        for _ in 0..50_000 {
            leaf = leaf.ask(Grow).await.unwrap();
        }
        system.stop().await.unwrap();
        leaf
    });
    let thread = std::thread::Builder::new().stack_size(128 * 1024);
    thread.spawn(move || drop(leaf)).unwrap().join().unwrap();
}

/// Tens of thousands of tasks, watches and subscriptions: none of it is quadratic. There is no clock in
/// this test; were it quadratic, it would run for minutes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l17_many_watches_and_tasks_of_one_actor_are_cheap() {
    struct Hub {
        gone: usize,
        all: usize,
        done: Option<tokio::sync::oneshot::Sender<()>>,
    }
    #[actor]
    impl Hub {
        async fn gather(&mut self, count: usize, ctx: &mut Context<Self>) {
            self.all = count;
            for _ in 0..count {
                let child = ctx.spawn_child(|| Early).await.unwrap();
                ctx.watch(&child);
                ctx.spawn(async {});
                child.stop();
            }
        }
        #[handles]
        fn terminated(&mut self, _gone: Terminated) {
            self.gone += 1;
            if self.gone == self.all
                && let Some(done) = self.done.take()
            {
                let _ = done.send(());
            }
        }
    }
    let system = system().await;
    let (done, outcome) = tokio::sync::oneshot::channel();
    let done = Mutex::new(Some(done));
    let make = move || Hub {
        gone: 0,
        all: usize::MAX,
        done: done.lock().unwrap().take(),
    };
    let hub = system.spawn(make).await.unwrap();
    hub.tell(Gather { count: 50_000 }).unwrap();
    soon("all are gone", outcome).await.unwrap();
    system.stop().await.unwrap();
}

#[test]
fn l7_an_ask_finds_whoever_lives_at_a_path() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        system.spawn(a_desk(&Log::new())).named("desk").await.unwrap();
        assert_eq!(system.ask("/user/desk", Note { number: 4 }).await.unwrap(), 1);
        assert!(matches!(
            system.ask("/user/nobody", Note { number: 4 }).await,
            Err(AskError::Stopped)
        ));
        system.stop().await.unwrap();
    });
}
