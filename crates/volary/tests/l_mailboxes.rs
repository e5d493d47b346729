//! L12, L13: mailboxes, the trait included.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary::{DeadLetter, DeadReason, Letter, Mailbox, MailboxHighWater, SpawnError, Subscription};

fn numbers(log: &Log) -> Vec<u64> {
    log.all().iter().filter_map(|e| e.parse().ok()).collect()
}

fn reasons(letters: &Subscription<DeadLetter>) -> Vec<DeadReason> {
    std::iter::from_fn(|| letters.try_next())
        .map(|letter| letter.unwrap().reason())
        .collect()
}

#[tokio::test]
async fn l12_a_mailbox_without_room_for_anything_is_refused_at_spawn() {
    let system = system().await;
    for kind in [MailboxKind::Bounded(0), MailboxKind::BoundedRefusing(0)] {
        let error = system.spawn(a_desk(&Log::new())).mailbox(kind).await.unwrap_err();
        assert!(matches!(error, SpawnError::Capacity { capacity: 0 }));
    }
    assert_eq!(system.actor_count(), 0);
    system.stop().await.unwrap();
}

#[test]
fn l12_bounded_refusing_refuses_tell_send_and_ask_alike() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let desk = system
            .spawn(a_desk(&log))
            .mailbox(MailboxKind::BoundedRefusing(2))
            .await
            .unwrap();
        let (open, gate) = gate();
        desk.tell(Wait { gate }).unwrap();
        system.sleep(Duration::from_millis(1)).await;
        desk.tell(Note { number: 1 }).unwrap();
        desk.send(Note { number: 2 }).await.unwrap();
        assert!(desk.tell(Note { number: 3 }).unwrap_err().is_full());
        assert_eq!(
            desk.send(Note { number: 4 }).await.unwrap_err().into_message().number,
            4
        );
        assert!(matches!(desk.ask(Note { number: 5 }).await, Err(AskError::Full)));
        open.send(()).unwrap();
        system.sleep(Duration::from_millis(1)).await;
        desk.tell(Note { number: 6 }).unwrap();
        desk.drain();
        desk.terminated().await;
        assert_eq!(numbers(&log), [1, 2, 6]);
        assert_eq!(system.metrics().dead_letters, 0);
        system.stop().await.unwrap();
    });
}

/// kameo#84: a start that talks to itself in a small mailbox ends.
#[test]
fn l12_a_start_that_fills_its_own_small_mailbox_ends() {
    seeds(|env| async move {
        let system = builder("small")
            .environment(env.clone())
            .settings(|s| s.init_retries(0))
            .start()
            .await
            .unwrap();
        let log = Log::new();
        let talker = system
            .spawn({
                let log = log.clone();
                move || SelfTalker {
                    log: log.clone(),
                    waits: false,
                }
            })
            .mailbox(MailboxKind::Bounded(1))
            .await
            .unwrap();
        talker.drain();
        talker.terminated().await;
        assert_eq!(log.all(), ["refused", "heard"]);
        let stuck = system
            .spawn({
                let log = Log::new();
                move || SelfTalker {
                    log: log.clone(),
                    waits: true,
                }
            })
            .mailbox(MailboxKind::Bounded(1))
            .await;
        assert!(
            matches!(stuck, Err(SpawnError::Start { .. })),
            "it waits for room that only it can make"
        );
        assert_eq!(system.actor_count(), 0);
        system.stop().await.unwrap();
    });
}

struct SelfTalker {
    log: Log,
    waits: bool,
}

#[actor]
impl SelfTalker {
    async fn started(&mut self, ctx: &mut Context<Self>) {
        ctx.me().tell(Hear).unwrap();
        if ctx.me().tell(Hear).is_err() {
            self.log.push("refused");
        }
        if self.waits {
            let _ = ctx.me().send(Hear).await;
        }
    }
    fn hear(&mut self) {
        self.log.push("heard");
    }
}

#[tokio::test]
async fn l12_an_unbounded_mailbox_that_grows_is_announced_once() {
    for mark in [500, 1_100, 3_000] {
        announced_once(mark).await;
    }
}

/// In mailboxes with few messages and with many, which grow by more at a time.
async fn announced_once(mark: u64) {
    let system = builder("deep")
        .settings(|s| s.mailbox_high_water(mark as usize))
        .start()
        .await
        .unwrap();
    let events = system.events().subscribe::<MailboxHighWater>();
    let desk = system.spawn(a_desk(&Log::new())).named("deep").await.unwrap();
    let (open, gate) = gate();
    desk.tell(Wait { gate }).unwrap();
    for number in 0..5_000 {
        desk.tell(Note { number }).unwrap();
    }
    let event = soon("the event", events.next()).await.unwrap();
    assert_eq!(event.path.to_string(), "/user/deep");
    assert!(event.depth >= mark && event.depth < mark + 100, "{}", event.depth);
    assert!(events.try_next().is_none(), "once");
    assert_eq!(system.metrics().high_water, 1);
    open.send(()).unwrap();
    system.stop().await.unwrap();
}

/// The one who listens to this event gets it into a mailbox that passes the mark itself.
#[test]
fn l12_the_listener_to_high_water_may_itself_be_above_it() {
    within("the event that announces itself", || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let system = builder("deep")
                .settings(|s| s.mailbox_high_water(1))
                .start()
                .await
                .unwrap();
            let log = Log::new();
            let listener = system
                .spawn({
                    let log = log.clone();
                    move || Listener { log: log.clone() }
                })
                .await
                .unwrap();
            system
                .events()
                .subscribe_actor::<MailboxHighWater>(&listener.recipient());
            let (open, gate) = gate();
            listener.tell(Pause { gate }).unwrap();
            for _ in 0..40 {
                let other = system.spawn(a_desk(&Log::new())).await.unwrap();
                let (_, gate) = common::gate();
                other.tell(Wait { gate }).unwrap();
                for number in 0..200 {
                    other.tell(Note { number }).unwrap();
                }
            }
            open.send(()).unwrap();
            eventually_async("the events", || log.len() >= 40).await;
            soon("stop", system.stop()).await.unwrap();
        });
    });
}

struct Listener {
    log: Log,
}

#[actor]
impl Listener {
    async fn pause(&mut self, gate: tokio::sync::oneshot::Receiver<()>) {
        let _ = gate.await;
    }
    #[handles]
    fn high(&mut self, _: MailboxHighWater) {
        self.log.push("high");
    }
}

#[tokio::test]
async fn l12_the_byte_budget_refuses_instead_of_growing() {
    let system = builder("tight")
        .toml_str("t", "mailbox-budget = \"8KiB\"")
        .start()
        .await
        .unwrap();
    let log = Log::new();
    let desk = system.spawn(a_desk(&log)).await.unwrap();
    let (open, gate) = gate();
    desk.tell(Wait { gate }).unwrap();
    let mut taken = 0;
    while desk.tell(Note { number: taken }).is_ok() {
        taken += 1;
        assert!(taken < 100_000, "the budget does not bite");
    }
    assert!(system.metrics().mailbox_bytes <= 8 * 1024);
    assert!(matches!(desk.ask(Note { number: 0 }).await, Err(AskError::Full)));
    open.send(()).unwrap();
    eventually_async("all of them", || numbers(&log).len() as u64 == taken).await;
    assert_eq!(desk.ask(Note { number: taken }).await.unwrap(), taken + 1);
    system.stop().await.unwrap();
    assert_eq!(system.metrics().mailbox_bytes, 0, "blocks left behind");
}

/// A mailbox that does as the test says.
#[derive(Default)]
struct Odd {
    letters: Mutex<VecDeque<Letter>>,
    rule: Rule,
    pops: AtomicUsize,
}

#[derive(Default, Clone, Copy, PartialEq)]
enum Rule {
    #[default]
    Newest,
    RefuseBeyond(usize),
    DropOldestBeyond(usize),
    ReturnOldestBeyond(usize),
    PanicOnPush,
    PanicOnFirstPop,
    NothingOnFirstPop,
    PanicOnLen,
}

impl Mailbox for Odd {
    fn push(&self, letter: Letter) -> Result<(), Letter> {
        assert!(self.rule != Rule::PanicOnPush, "push");
        let mut letters = self.letters.lock().unwrap();
        let old = match self.rule {
            Rule::RefuseBeyond(n) if letters.len() >= n => return Err(letter),
            Rule::DropOldestBeyond(n) | Rule::ReturnOldestBeyond(n) if letters.len() >= n => letters.pop_front(),
            _ => None,
        };
        letters.push_back(letter);
        drop(letters);
        match old {
            Some(old) if matches!(self.rule, Rule::ReturnOldestBeyond(_)) => Err(old),
            _ => Ok(()),
        }
    }
    fn pop(&self) -> Option<Letter> {
        let first = self.pops.fetch_add(1, Ordering::SeqCst) == 0;
        assert!(!(first && self.rule == Rule::PanicOnFirstPop), "pop");
        if first && self.rule == Rule::NothingOnFirstPop {
            return None;
        }
        let mut letters = self.letters.lock().unwrap();
        if self.rule == Rule::Newest {
            letters.pop_back()
        } else {
            letters.pop_front()
        }
    }
    fn len(&self) -> usize {
        assert!(self.rule != Rule::PanicOnLen, "len");
        self.letters.lock().unwrap().len()
    }
}

fn odd(rule: Rule) -> MailboxKind {
    MailboxKind::Custom(Arc::new(move || Box::new(Odd { rule, ..Odd::default() })))
}

#[test]
fn l12_a_mailbox_of_ones_own_decides_the_order() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let desk = system.spawn(a_desk(&log)).mailbox(odd(Rule::Newest)).await.unwrap();
        let (open, gate) = gate();
        desk.tell(Wait { gate }).unwrap();
        system.sleep(Duration::from_millis(1)).await;
        for number in 0..5 {
            desk.tell(Note { number }).unwrap();
        }
        let mut ask = desk.ask(Note { number: 5 }).into_future();
        assert!(poll_with(&mut ask, &Bell::new()).is_pending());
        open.send(()).unwrap();
        assert_eq!(ask.await.unwrap(), 1);
        desk.drain();
        desk.terminated().await;
        assert_eq!(numbers(&log), [5, 4, 3, 2, 1, 0]);
        system.stop().await.unwrap();
    });
}

#[test]
fn l12_a_mailbox_of_ones_own_may_refuse() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let desk = system
            .spawn(a_desk(&log))
            .mailbox(odd(Rule::RefuseBeyond(1)))
            .await
            .unwrap();
        let (open, gate) = gate();
        desk.tell(Wait { gate }).unwrap();
        system.sleep(Duration::from_millis(1)).await;
        desk.tell(Note { number: 1 }).unwrap();
        assert_eq!(desk.tell(Note { number: 2 }).unwrap_err().into_message().number, 2);
        assert!(matches!(desk.ask(Note { number: 3 }).await, Err(AskError::Full)));
        assert!(desk.send(Note { number: 4 }).await.is_err());
        open.send(()).unwrap();
        desk.drain();
        desk.terminated().await;
        assert_eq!(numbers(&log), [1]);
        assert_eq!(system.metrics().dead_letters, 0);
        system.stop().await.unwrap();
    });
}

#[test]
fn l12_a_letter_dropped_by_a_mailbox_is_one_dead_letter_and_its_asker_hears() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let letters = system.events().subscribe::<DeadLetter>();
        let log = Log::new();
        let desk = system
            .spawn(a_desk(&log))
            .mailbox(odd(Rule::DropOldestBeyond(1)))
            .await
            .unwrap();
        let (open, gate) = gate();
        desk.tell(Wait { gate }).unwrap();
        system.sleep(Duration::from_millis(1)).await;
        let mut dropped = desk.ask(Note { number: 1 }).into_future();
        assert!(poll_with(&mut dropped, &Bell::new()).is_pending());
        desk.tell(Note { number: 2 }).unwrap();
        assert!(matches!(dropped.await, Err(AskError::NoReply)));
        open.send(()).unwrap();
        desk.drain();
        desk.terminated().await;
        assert_eq!(numbers(&log), [2]);
        assert_eq!(reasons(&letters), [DeadReason::Discarded]);
        system.stop().await.unwrap();
    });
}

/// A mailbox that returns another letter than the one it was given breaks its contract, and nobody else.
#[test]
fn l12_a_mailbox_that_returns_another_letter_loses_nothing_in_silence() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let desk = system
            .spawn(a_desk(&log))
            .mailbox(odd(Rule::ReturnOldestBeyond(1)))
            .await
            .unwrap();
        let (open, gate) = gate();
        desk.tell(Wait { gate }).unwrap();
        system.sleep(Duration::from_millis(1)).await;
        let mut evicted = desk.ask(Who).timeout(Duration::from_secs(60)).into_future(); // of another type
        assert!(poll_with(&mut evicted, &Bell::new()).is_pending());
        let second = desk.tell(Note { number: 2 });
        let third = desk.tell(Note { number: 3 });
        let before = system.now();
        let heard = evicted.await;
        assert!(heard.is_err());
        assert!(
            system.now().since(before) < Duration::from_secs(1),
            "the asker waited out its time: {heard:?}"
        );
        open.send(()).unwrap();
        desk.drain();
        desk.terminated().await;
        // Wait and three others: each was handled, refused or a dead letter.
        let refused = usize::from(second.is_err()) + usize::from(third.is_err());
        let dead = system.metrics().dead_letters as usize;
        assert_eq!(
            numbers(&log).len() + refused + dead,
            3,
            "{:?} {refused} {dead}",
            log.all()
        );
        system.stop().await.unwrap();
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l12_a_mailbox_that_panics_on_push_harms_its_actor_alone() {
    let system = system().await;
    let broken = system
        .spawn(a_desk(&Log::new()))
        .mailbox(odd(Rule::PanicOnPush))
        .await
        .unwrap();
    let sender = system
        .spawn({
            let to = broken.clone();
            move || Innocent {
                to: to.clone(),
                sent: 0,
            }
        })
        .await
        .unwrap();
    for n in 1..=3 {
        let sent = soon("the sender", sender.ask(Try)).await;
        assert_eq!(sent.unwrap_or_else(|error| panic!("the sender was harmed: {error}")), n);
    }
    assert_eq!(system.metrics().restarts, 0);
    broken.stop();
    soon("the end", broken.terminated()).await;
    soon("stop", system.stop()).await.unwrap();
}

struct Innocent {
    to: ActorRef<Desk>,
    sent: u32,
}

#[actor]
impl Innocent {
    fn try_(&mut self) -> u32 {
        let _ = self.to.tell(Note { number: 1 });
        self.sent += 1;
        self.sent
    }
}

/// Letters that outlive their bell are found when the actor ends.
#[test]
fn l12_letters_left_in_a_mailbox_of_ones_own_become_dead_letters() {
    for rule in [Rule::PanicOnFirstPop, Rule::NothingOnFirstPop] {
        seeds(move |env| async move {
            let system = simulated(&env).await;
            let letters = system.events().subscribe::<DeadLetter>();
            let log = Log::new();
            let desk = system.spawn(a_desk(&log)).mailbox(odd(rule)).await.unwrap();
            for number in 0..3 {
                desk.tell(Note { number }).unwrap();
            }
            system.sleep(Duration::from_millis(1)).await;
            desk.stop();
            desk.terminated().await;
            assert_eq!(numbers(&log).len() + reasons(&letters).len(), 3, "{:?}", log.all());
            system.stop().await.unwrap();
        });
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l12_a_mailbox_whose_len_panics_is_contained() {
    let system = system().await;
    let desk = system
        .spawn(a_desk(&Log::new()))
        .mailbox(odd(Rule::PanicOnLen))
        .await
        .unwrap();
    assert_eq!(soon("an ask", desk.ask(Note { number: 1 })).await.unwrap(), 1);
    assert!(desk.mailbox_len() <= 1);
    assert_eq!(system.actors().len(), 1);
    desk.stop();
    soon("the end", desk.terminated()).await;
    soon("stop", system.stop()).await.unwrap();
}

#[tokio::test]
async fn l12_a_mailbox_that_cannot_be_made_fails_the_spawn() {
    let system = system().await;
    let kind = MailboxKind::Custom(Arc::new(|| panic!("no mailbox")));
    let spawner = system
        .spawn(move || Maker { kind: kind.clone() })
        .on_fault(Directive::Resume)
        .await
        .unwrap();
    assert!(!soon("the spawner", spawner.ask(Make)).await.unwrap_or(false));
    assert_eq!(system.actor_count(), 1, "nothing is left behind");
    assert!(
        !soon("the spawner", spawner.ask(Make)).await.unwrap_or(false),
        "the name is not taken either"
    );
    system.stop().await.unwrap();
}

struct Maker {
    kind: MailboxKind,
}

#[actor]
impl Maker {
    async fn make(&mut self, ctx: &mut Context<Self>) -> bool {
        ctx.spawn_child(|| Desk::new(&Log::new()))
            .named("child")
            .mailbox(self.kind.clone())
            .await
            .is_ok()
    }
}

#[test]
fn l12_system_events_reach_a_watcher_with_a_mailbox_that_refuses_everything() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let watched = system.spawn(a_desk(&Log::new())).named("watched").await.unwrap();
        let watcher = system
            .spawn({
                let (log, watched) = (log.clone(), watched.clone());
                move || FromStart {
                    log: log.clone(),
                    watched: watched.clone(),
                }
            })
            .mailbox(odd(Rule::RefuseBeyond(0)))
            .await
            .unwrap();
        assert!(watcher.tell(Nothing).is_err());
        watched.stop();
        watched.terminated().await;
        system.sleep(Duration::from_millis(1)).await;
        assert_eq!(log.all(), ["gone"]);
        watcher.stop();
        watcher.terminated().await;
        system.stop().await.unwrap();
    });
}

struct FromStart {
    log: Log,
    watched: ActorRef<Desk>,
}

#[actor]
impl FromStart {
    fn started(&mut self, ctx: &mut Context<Self>) {
        ctx.watch(&self.watched);
    }
    fn nothing(&mut self) {}
    #[handles]
    fn gone(&mut self, _: Terminated) {
        self.log.push("gone");
    }
}

#[tokio::test]
async fn l13_a_stop_overtakes_two_hundred_thousand_messages() {
    let system = builder("big").settings(|s| s.dead_letter_log(0)).start().await.unwrap();
    let log = Log::new();
    let desk = system.spawn(a_desk(&log)).await.unwrap();
    let (open, gate) = gate();
    desk.tell(Wait { gate }).unwrap();
    eventually_async("it waits", || log.has("waiting")).await;
    const MANY: u64 = 200_000;
    desk.tell_all((0..MANY).map(|number| Note { number })).unwrap();
    desk.stop();
    open.send(()).unwrap();
    soon("the end", desk.terminated()).await;
    let handled = numbers(&log).len() as u64;
    assert!(handled <= 1, "{handled}");
    assert_eq!(system.metrics().dead_letters + handled, MANY);
    system.stop().await.unwrap();
}
