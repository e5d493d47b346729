//! S11: a panic harms the actor alone in whose code it happened.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary::{ActorFailed, DeadLetter};

/// Panics wherever user code runs.
struct Bomb {
    hook: &'static str,
    log: Log,
}

impl Drop for Bomb {
    fn drop(&mut self) {
        if self.hook == "drop" {
            self.hook = "";
            panic!("drop");
        }
    }
}

#[actor]
impl Bomb {
    fn stopping(&mut self) {
        assert!(self.hook != "stopping", "stopping");
    }
    async fn stopped(&mut self) {
        tokio::task::yield_now().await;
        assert!(self.hook != "stopped", "stopped");
        self.log.push("stopped");
    }
    async fn suspend_then_panic(&mut self) {
        tokio::task::yield_now().await;
        panic!("after a suspension");
    }
    async fn hold_bomb(&mut self) {
        let _bomb = DropBomb;
        std::future::pending::<()>().await;
    }
    fn fine(&mut self) {}
    fn give(&mut self) -> DropBomb {
        DropBomb
    }
    fn object(&mut self) -> Result<(), BadDebug> {
        Err(BadDebug)
    }
    fn odd_payload(&mut self) {
        std::panic::panic_any(DropBomb);
    }
    fn take(&mut self, _bomb: DropBomb) {}
}

struct DropBomb;

impl Drop for DropBomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("dropped");
        }
    }
}

#[derive(volary::Rejection)]
struct BadDebug;

impl std::fmt::Debug for BadDebug {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        panic!("cannot be shown");
    }
}

fn bomb(hook: &'static str, log: &Log) -> impl Fn() -> Bomb + Send + Sync + Clone + 'static {
    let log = log.clone();
    move || Bomb { hook, log: log.clone() }
}

/// Somebody else on the same workers answers, and the one that panicked is as its directive says.
async fn unharmed(system: &ActorSystem) {
    for _ in 0..4 {
        let other = system.spawn(a_desk(&Log::new())).await.unwrap();
        for number in 0..10 {
            other.tell(Note { number }).unwrap();
        }
        other.drain();
        soon("an actor beside the one that panicked", other.terminated()).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s11_a_panic_in_a_hook_or_in_drop_harms_that_actor_alone() {
    let system = system().await;
    for hook in ["stopping", "stopped", "drop"] {
        for (end, is_kill) in [
            (ActorRef::stop as fn(&_), false),
            (ActorRef::drain, false),
            (ActorRef::kill, true),
        ] {
            let failures = system.events().subscribe::<ActorFailed>();
            let log = Log::new();
            let bomb = system.spawn(bomb(hook, &log)).named("bomb").await.unwrap();
            end(&bomb);
            soon(hook, bomb.terminated()).await;
            eventually_async("the name", || system.lookup::<Bomb>("/user/bomb").is_none()).await;
            if hook == "stopping" {
                assert_eq!(log.count("stopped"), 1, "a failed hook does not spare the next");
            }
            let failed = failures.try_next();
            // Who is killed may not get to it.
            let spared = is_kill && hook == "stopping" && failed.is_none();
            assert!(spared || failed.unwrap().unwrap().fault.to_string().contains(hook));
            unharmed(&system).await;
        }
    }
    system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s11_a_panic_after_a_suspension_restarts_the_actor() {
    let system = system().await;
    let bomb = system.spawn(bomb("", &Log::new())).await.unwrap();
    match bomb.ask(SuspendThenPanic).await {
        Err(AskError::Failed(fault)) => assert!(fault.is_panic()),
        other => panic!("{other:?}"),
    }
    bomb.ask(Fine).await.unwrap();
    assert_eq!(system.metrics().restarts, 1);
    system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s11_a_dropped_handler_that_panics_in_drop_is_contained() {
    let system = system().await;
    let bomb = system.spawn(bomb("", &Log::new())).await.unwrap();
    bomb.tell(HoldBomb).unwrap();
    eventually_async("it holds", || bomb.mailbox_len() == 0).await;
    bomb.kill();
    soon("kill", bomb.terminated()).await;
    unharmed(&system).await;
    system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s11_an_answer_nobody_wants_may_panic_in_drop() {
    let system = system().await;
    let bomb = system
        .spawn(bomb("", &Log::new()))
        .on_fault(Directive::Resume)
        .await
        .unwrap();
    for _ in 0..4 {
        bomb.tell(Give).unwrap();
    }
    soon("the actor whose answer panicked", bomb.ask(Fine)).await.unwrap();
    unharmed(&system).await;
    system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s11_a_rejection_that_cannot_be_shown_is_contained() {
    let system = system().await;
    let _unheard = system.events().subscribe::<volary::RejectionUnheard>();
    let bomb = system
        .spawn(bomb("", &Log::new()))
        .on_fault(Directive::Resume)
        .await
        .unwrap();
    for _ in 0..4 {
        bomb.tell(Object).unwrap();
    }
    soon("the actor whose rejection panicked", bomb.ask(Fine))
        .await
        .unwrap();
    unharmed(&system).await;
    system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s11_a_panic_whose_payload_panics_in_drop_is_contained() {
    let system = system().await;
    let bomb = system
        .spawn(bomb("", &Log::new()))
        .on_fault(Directive::Resume)
        .await
        .unwrap();
    for _ in 0..4 {
        bomb.tell(OddPayload).unwrap();
    }
    soon("the actor with the odd payload", bomb.ask(Fine)).await.unwrap();
    unharmed(&system).await;
    system.stop().await.unwrap();
}

/// Messages that panic in drop: handled, left behind as dead letters with and without somebody listening.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s11_a_message_that_panics_in_drop_is_contained() {
    for listening in ["never", "once", "still"] {
        let system = builder("drops")
            .settings(|s| s.dead_letter_log(0))
            .start()
            .await
            .unwrap();
        let letters = (listening != "never").then(|| system.events().subscribe::<DeadLetter>());
        let letters = letters.filter(|_| listening == "still");
        let actor = system
            .spawn(bomb("", &Log::new()))
            .on_fault(Directive::Resume)
            .await
            .unwrap();
        for _ in 0..4 {
            actor.tell(Take { _bomb: DropBomb }).unwrap();
        }
        soon("the actor whose message panicked", actor.ask(Fine)).await.unwrap();
        let left = system.spawn(bomb("", &Log::new())).await.unwrap();
        left.tell(HoldBomb).unwrap();
        eventually_async("it holds", || left.mailbox_len() == 0).await;
        for _ in 0..4 {
            left.tell(Take { _bomb: DropBomb }).unwrap();
        }
        left.kill();
        soon("the end of an actor whose mail panics", left.terminated()).await;
        assert_eq!(system.metrics().dead_letters, 4, "{listening}");
        unharmed(&system).await;
        soon("stop", system.stop()).await.unwrap();
        std::mem::forget(letters); // the letters in it would panic here
    }
}

/// A task of an actor that panics.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s11_a_panic_in_a_task_of_an_actor_is_contained() {
    let system = system().await;
    let tasker = system.spawn(|| Tasker).await.unwrap();
    let task = tasker.ask(Launch).await.unwrap();
    eventually_async("the end of the task", || task.is_finished()).await;
    tasker.ask(Still).await.unwrap();
    system.stop().await.unwrap();
}

#[test]
fn s11_a_panic_in_a_task_of_an_actor_is_contained_in_simulation_too() {
    let env = volary::SeededEnv::new(1);
    env.block_on(async {
        let system = simulated(&env).await;
        let tasker = system.spawn(|| Tasker).await.unwrap();
        let task = tasker.ask(Launch).await.unwrap();
        system.sleep(Duration::from_millis(1)).await;
        assert!(task.is_finished());
        tasker.ask(Still).await.unwrap();
        system.stop().await.unwrap();
    });
}

struct Tasker;

#[actor]
impl Tasker {
    fn launch(&mut self, ctx: &mut Context<Self>) -> volary::Task {
        ctx.spawn(async { panic!("task") })
    }
    fn still(&mut self) {}
}
