//! S12: stop, drain, kill, and who hears of the end.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary::{ActorFailed, AnyRef, Env, SpawnError};

#[test]
fn s12_drain_handles_the_queue_and_refuses_what_comes_later() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let desk = system.spawn(a_desk(&log)).await.unwrap();
        for number in 0..50 {
            desk.tell(Note { number }).unwrap();
        }
        let last = desk.ask(Note { number: 50 }).into_future();
        desk.drain();
        assert!(matches!(desk.tell(Note { number: 99 }), Err(TellError::Stopped(_))));
        desk.drain();
        assert_eq!(last.await.unwrap(), 51);
        desk.terminated().await;
        let numbers: Vec<_> = log.all().iter().filter_map(|e| e.parse::<u64>().ok()).collect();
        assert_eq!(numbers, (0..=50).collect::<Vec<_>>());
        assert_eq!(system.metrics().dead_letters, 0);
        system.stop().await.unwrap();
    });
}

#[test]
fn s12_unprocessed_asks_end_with_stopped() {
    for end in [ActorRef::<Desk>::stop, ActorRef::<Desk>::kill] {
        seeds(move |env| async move {
            let system = simulated(&env).await;
            let desk = system.spawn(a_desk(&Log::new())).await.unwrap();
            let (_keep, gate) = gate();
            desk.tell(Wait { gate }).unwrap();
            system.sleep(Duration::from_millis(1)).await;
            let long = Duration::from_secs(3_600); // beyond the time that the handler is given to end
            let asks: Vec<_> = (0..10)
                .map(|number| desk.ask(Note { number }).timeout(long).into_future())
                .collect();
            end(&desk);
            for ask in asks {
                let ended = ask.await;
                assert!(matches!(ended, Err(AskError::Stopped)), "{ended:?}");
            }
            desk.terminated().await;
            assert_eq!(system.metrics().dead_letters, 10);
            system.stop().await.unwrap();
        });
    }
}

/// All three at once, from many threads, again and again.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn s12_stop_drain_and_kill_are_idempotent_and_may_race() {
    let system = system().await;
    for round in 0..200 {
        let log = Log::new();
        let desk = system.spawn(a_desk(&log)).named("same").await;
        let desk = desk.unwrap_or_else(|error| panic!("round {round}: {error}"));
        let (_keep, gate) = gate();
        desk.tell(Wait { gate }).unwrap();
        let racers: Vec<_> = (0..4)
            .map(|n| {
                let desk = desk.clone();
                tokio::spawn(async move {
                    for i in 0..6 {
                        match (n + i) % 3 {
                            0 => desk.stop(),
                            1 => desk.drain(),
                            _ => desk.kill(),
                        }
                        let _ = desk.tell(Note { number: 1 });
                    }
                    desk.terminated().await;
                })
            })
            .collect();
        for racer in racers {
            soon("the end of a race", racer).await.unwrap();
        }
        assert_eq!(log.count("stopped"), 1);
        assert_eq!(log.count("dropped"), 1);
        desk.stop();
        desk.drain();
        desk.kill();
        desk.restart();
        soon("a dead one", desk.terminated()).await;
    }
    assert_eq!(system.actor_count(), 0);
    system.stop().await.unwrap();
}

#[tokio::test]
async fn s12_dropping_references_never_stops_an_actor() {
    let system = system().await;
    let log = Log::new();
    drop(system.spawn(a_desk(&log)).named("desk").await.unwrap());
    let desk = system.lookup::<Desk>("/user/desk").unwrap();
    assert_eq!(desk.ask(Note { number: 1 }).await.unwrap(), 1);
    assert_eq!(log.all(), ["started", "1"]);
    system.stop().await.unwrap();
}

/// Says goodbye in its last hook.
struct Dying {
    to: ActorRef<Heir>,
}

#[actor]
impl Dying {
    fn stopped(&mut self) {
        let _ = self.to.tell(Word { word: 2 });
    }
    fn speak(&mut self) {
        let _ = self.to.tell(Word { word: 1 });
    }
}

impl Drop for Dying {
    fn drop(&mut self) {
        let _ = self.to.tell(Word { word: 3 });
    }
}

struct Heir {
    log: Log,
}

#[actor]
impl Heir {
    fn word(&mut self, word: u32) {
        self.log.push(word);
    }
    fn mind(&mut self, ctx: &mut Context<Self>, whom: ActorRef<Dying>) {
        ctx.watch(&whom);
    }
    fn mind_talker(&mut self, ctx: &mut Context<Self>, whom: ActorRef<Talker>) {
        ctx.watch(&whom);
    }
    #[handles]
    fn gone(&mut self, _: Terminated) {
        self.log.push("gone");
    }
}

#[test]
fn s12_terminated_comes_once_and_after_the_last_word() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let logs: Vec<_> = (0..3).map(|_| Log::new()).collect();
        let mut heirs = Vec::new();
        for log in &logs {
            heirs.push(
                system
                    .spawn({
                        let log = log.clone();
                        move || Heir { log: log.clone() }
                    })
                    .await
                    .unwrap(),
            );
        }
        let dying = system
            .spawn({
                let to = heirs[0].clone();
                move || Dying { to: to.clone() }
            })
            .await
            .unwrap();
        for heir in &heirs {
            heir.tell(Mind { whom: dying.clone() }).unwrap();
            heir.ask(Mind { whom: dying.clone() }).await.unwrap(); // twice
        }
        dying.ask(Speak).await.unwrap();
        match env.random() % 3 {
            0 => dying.stop(),
            1 => dying.drain(),
            _ => dying.kill(),
        }
        dying.terminated().await;
        system.sleep(Duration::from_millis(1)).await;
        assert_eq!(logs[0].all(), ["1", "2", "3", "gone"]);
        assert_eq!(logs[1].all(), ["gone"]);
        assert_eq!(logs[2].all(), ["gone"]);
        system.stop().await.unwrap();
    });
}

/// Has a task that talks to its heir.
struct Talker {
    to: ActorRef<Heir>,
    log: Log,
}

#[actor]
impl Talker {
    fn talk(&mut self, ctx: &mut Context<Self>) {
        let (to, system) = (self.to.clone(), ctx.system());
        ctx.spawn(async move {
            loop {
                let _ = to.tell(Word { word: 1 });
                system.sleep(Duration::from_millis(1)).await;
            }
        });
    }
    fn talk_slowly(&mut self, ctx: &mut Context<Self>, gate: std::sync::mpsc::Receiver<()>) {
        let (to, log) = (self.to.clone(), self.log.clone());
        ctx.spawn(async move {
            let _end = OnDrop(log.clone(), "task ended");
            log.push("polled");
            let _ = gate.recv();
            let _ = to.tell(Word { word: 1 });
            tokio::task::yield_now().await;
            log.push("polled again");
        });
    }
}

#[test]
fn s12_a_task_of_an_actor_says_nothing_after_terminated() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let heard = Log::new();
        let heir = system
            .spawn({
                let log = heard.clone();
                move || Heir { log: log.clone() }
            })
            .await
            .unwrap();
        let talker = system
            .spawn({
                let to = heir.clone();
                move || Talker {
                    to: to.clone(),
                    log: Log::new(),
                }
            })
            .await
            .unwrap();
        heir.ask(MindTalker { whom: talker.clone() }).await.unwrap();
        talker.ask(Talk).await.unwrap();
        system.sleep(Duration::from_millis(1 + env.random() % 5)).await;
        match env.random() % 3 {
            0 => talker.stop(),
            1 => talker.drain(),
            _ => talker.kill(),
        }
        talker.terminated().await;
        system.sleep(Duration::from_millis(10)).await;
        let heard = heard.all();
        assert!(heard.len() > 1, "it spoke while it lived");
        assert_eq!(
            heard.iter().position(|word| word == "gone"),
            Some(heard.len() - 1),
            "{heard:?}"
        );
        system.stop().await.unwrap();
    });
}

/// The exception: nobody waits for a poll that is under way on another thread, but it is the last one.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn s12_a_task_polled_while_its_actor_ends_may_end_that_poll_and_has_no_other() {
    let system = system().await;
    let (heard, log) = (Log::new(), Log::new());
    let heir = system
        .spawn({
            let log = heard.clone();
            move || Heir { log: log.clone() }
        })
        .await
        .unwrap();
    let talker = system
        .spawn({
            let (to, log) = (heir.clone(), log.clone());
            move || Talker {
                to: to.clone(),
                log: log.clone(),
            }
        })
        .await
        .unwrap();
    heir.ask(MindTalker { whom: talker.clone() }).await.unwrap();
    let (open, gate) = std::sync::mpsc::channel();
    talker.tell(TalkSlowly { gate }).unwrap();
    eventually_async("the task is polled", || log.has("polled")).await;
    talker.stop();
    soon("the end", talker.terminated()).await;
    eventually_async("the heir hears of it", || heard.has("gone")).await;
    open.send(()).unwrap();
    eventually_async("the end of the task", || log.has("task ended")).await;
    eventually_async("its last word", || heard.all() == ["gone", "1"]).await;
    assert_eq!(log.all(), ["polled", "task ended"]);
    system.stop().await.unwrap();
}

#[test]
fn s12_watching_a_dead_actor_yields_terminated_at_once() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let seen = Log::new();
        let watcher = system
            .spawn({
                let seen = seen.clone();
                move || Watcher { log: seen.clone() }
            })
            .await
            .unwrap();
        let desk = system.spawn(a_desk(&Log::new())).named("desk").await.unwrap();
        desk.stop();
        let awaited = env.random() % 2 == 0;
        if awaited {
            desk.terminated().await;
        } else {
            system.sleep(Duration::from_millis(1)).await; // nobody ever looked at it
            assert!(!desk.is_alive());
        }
        watcher.ask(Observe { whom: desk.clone() }).await.unwrap();
        watcher.ask(Observe { whom: desk.clone() }).await.unwrap();
        system.sleep(Duration::from_millis(1)).await;
        assert!(seen.has("gone /user/desk"), "awaited: {awaited}");
        assert!(seen.len() <= 2, "{:?}", seen.all());
        system.stop().await.unwrap();
    });
}

#[test]
fn s12_unwatch_keeps_terminated_away_even_when_it_is_in_the_mailbox() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let seen = Log::new();
        let watcher = system
            .spawn({
                let seen = seen.clone();
                move || Watcher { log: seen.clone() }
            })
            .await
            .unwrap();
        let desk = system.spawn(a_desk(&Log::new())).named("desk").await.unwrap();
        watcher.ask(Observe { whom: desk.clone() }).await.unwrap();
        if env.random() % 2 == 0 {
            watcher.tell(Ignore { whom: desk.clone() }).unwrap();
            desk.stop();
        } else {
            watcher.ask(Ignore { whom: desk.clone() }).await.unwrap();
            desk.stop();
        }
        desk.terminated().await;
        system.sleep(Duration::from_millis(1)).await;
        assert!(seen.is_empty(), "{:?}", seen.all());
        system.stop().await.unwrap();
    });
}

/// Watches and deaths on threads: each watcher hears exactly once.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn s12_terminated_is_exact_when_watch_and_death_race() {
    let system = system().await;
    let seen = Log::new();
    let mut watchers = Vec::new();
    for _ in 0..4 {
        watchers.push(
            system
                .spawn({
                    let seen = seen.clone();
                    move || Watcher { log: seen.clone() }
                })
                .await
                .unwrap(),
        );
    }
    const ROUNDS: usize = 300;
    for _ in 0..ROUNDS {
        let desk = system.spawn(a_desk(&Log::new())).await.unwrap();
        for watcher in &watchers {
            watcher.tell(Observe { whom: desk.clone() }).unwrap();
        }
        desk.stop();
    }
    eventually_async("all news", || seen.len() == ROUNDS * watchers.len()).await;
    for watcher in &watchers {
        watcher.drain();
        soon("drain", watcher.terminated()).await;
    }
    assert_eq!(seen.len(), ROUNDS * watchers.len());
    system.stop().await.unwrap();
}

/// When the end was announced, the name is free.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn s12_the_name_is_free_once_the_end_was_announced() {
    let system = system().await;
    for round in 0..1_000 {
        let desk = system.spawn(a_desk(&Log::new())).named("same").await;
        let desk = desk.unwrap_or_else(|error| panic!("round {round}: {error}"));
        desk.stop();
        soon("the end", desk.terminated()).await;
    }
    system.stop().await.unwrap();
}

/// A watcher that replaces the dead under the same name, as supervisors by hand do.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn s12_a_watcher_can_replace_the_dead_under_its_name() {
    let system = system().await;
    let rounds = Arc::new(AtomicUsize::new(0));
    let nurse = system
        .spawn({
            let rounds = rounds.clone();
            move || Nurse { rounds: rounds.clone() }
        })
        .await
        .unwrap();
    nurse.tell(Replace).unwrap();
    eventually_async("five hundred lives", || {
        rounds.load(Ordering::SeqCst) >= 500 || !nurse.is_alive()
    })
    .await;
    nurse.kill();
    soon("the end", nurse.terminated()).await;
    assert!(
        rounds.load(Ordering::SeqCst) < 1_000_000,
        "the name of a dead child was taken"
    );
    system.stop().await.unwrap();
}

struct Nurse {
    rounds: Arc<AtomicUsize>,
}

#[actor]
impl Nurse {
    fn replace(&mut self, ctx: &mut Context<Self>) {
        let child = match ctx.spawn_child(|| Desk::new(&Log::new())).named("child").start() {
            Ok(child) => child,
            Err(error) => {
                eprintln!("{error}");
                self.rounds.fetch_add(1_000_000, Ordering::SeqCst);
                return;
            }
        };
        ctx.watch(&child);
        child.stop();
    }
    #[handles]
    fn gone(&mut self, _: Terminated, ctx: &mut Context<Self>) {
        self.rounds.fetch_add(1, Ordering::SeqCst);
        self.replace(ctx);
    }
}

#[test]
fn s12_a_kill_reaches_the_children_of_an_actor_that_is_stopping_already() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let parent = system
            .spawn({
                let log = log.clone();
                move || Household { log: log.clone() }
            })
            .await
            .unwrap();
        parent.ask(Adopt).await.unwrap();
        system.sleep(Duration::from_millis(1)).await;
        assert!(log.has("waiting"));
        parent.stop();
        system.sleep(Duration::from_millis(1)).await;
        let before = env.now();
        parent.kill();
        parent.terminated().await;
        env.assert_same_time(before, env.now(), "a kill waits for nothing, its children included");
        system.stop().await.unwrap();
    });
}

struct Household {
    log: Log,
}

#[actor]
impl Household {
    async fn adopt(&mut self, ctx: &mut Context<Self>) {
        let log = self.log.clone();
        let child = ctx.spawn_child(move || Desk::new(&log)).named("child").await.unwrap();
        let (open, gate) = gate();
        std::mem::forget(open);
        child.tell(Wait { gate }).unwrap();
    }
}

#[test]
fn s12_a_kill_drops_a_hook_that_hangs() {
    for hook in ["stopping", "stopped"] {
        seeds(move |env| async move {
            let system = simulated(&env).await;
            let hanging = system.spawn(move || Hanging { hook }).await.unwrap();
            hanging.stop();
            system.sleep(Duration::from_millis(1)).await;
            assert!(hanging.is_alive());
            let before = env.now();
            hanging.kill();
            hanging.terminated().await;
            env.assert_same_time(before, env.now(), &format!("a kill waits for nothing: {hook}"));
            system.stop().await.unwrap();
        });
    }
}

#[test]
fn s12_a_hook_that_hangs_is_given_up_after_the_grace() {
    for hook in ["stopping", "stopped"] {
        seeds(move |env| async move {
            let system = simulated(&env).await;
            let failures = system.events().subscribe::<ActorFailed>();
            let hanging = system.spawn(move || Hanging { hook }).await.unwrap();
            let before = env.now();
            hanging.stop();
            hanging.terminated().await;
            let took = env.now().since(before);
            assert!(
                took >= Duration::from_secs(5) && took < Duration::from_millis(5_200),
                "{took:?}"
            );
            assert!(failures.try_next().unwrap().unwrap().fault.to_string().contains(hook));
            system.stop().await.unwrap();
        });
    }
}

/// A child that comes while its parent ends would be left behind.
#[test]
fn s9_nobody_is_born_below_an_actor_whose_last_hooks_run() {
    for hook in ["stopping", "stopped"] {
        seeds(move |env| async move {
            let system = simulated(&env).await;
            let parent = system.spawn(move || Hanging { hook }).named("parent").await.unwrap();
            parent.stop();
            system.sleep(Duration::from_millis(1)).await;
            let late = AnyRef::from(&parent).spawn(a_desk(&Log::new())).await;
            assert!(matches!(late, Err(SpawnError::Stopping { .. })), "{hook}: {late:?}");
            parent.terminated().await;
            assert_eq!(system.actor_count(), 0);
            system.stop().await.unwrap();
        });
    }
}

#[tokio::test]
async fn s9_whoever_is_spawned_below_an_ending_actor_ends_before_it_or_is_refused() {
    let system = system().await;
    for _ in 0..200 {
        let parent = system.spawn(a_desk(&Log::new())).await.unwrap();
        let below = AnyRef::from(&parent);
        let spawner = tokio::task::spawn_blocking(move || {
            let mut born = Vec::new();
            loop {
                match below.spawn(a_desk(&Log::new())).start() {
                    Ok(child) => born.push(child),
                    Err(SpawnError::Stopping { .. }) => return born,
                    Err(other) => panic!("{other}"),
                }
            }
        });
        parent.stop();
        soon("the parent", parent.terminated()).await;
        let born = soon("the spawner", spawner).await.unwrap();
        assert!(born.iter().all(|child| !child.is_alive()));
        assert_eq!(system.actor_count(), 0);
    }
    system.stop().await.unwrap();
}

struct Hanging {
    hook: &'static str,
}

#[actor]
impl Hanging {
    async fn stopping(&mut self) {
        if self.hook == "stopping" {
            std::future::pending::<()>().await;
        }
    }
    async fn stopped(&mut self) {
        if self.hook == "stopped" {
            std::future::pending::<()>().await;
        }
    }
}

struct Watcher {
    log: Log,
}

#[actor]
impl Watcher {
    fn observe(&mut self, ctx: &mut Context<Self>, whom: ActorRef<Desk>) {
        ctx.watch(&whom);
    }
    fn ignore(&mut self, ctx: &mut Context<Self>, whom: ActorRef<Desk>) {
        ctx.unwatch(&whom);
    }
    #[handles]
    fn gone(&mut self, gone: Terminated) {
        self.log.push(format!("gone {}", gone.path()));
    }
}
