//! R3, R6: asks of another node are answered where they arrive, and none waits for a handler that does not end.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that meets an error fails, and runs what it needs"
)]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc;

use common::*;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use volary::prelude::*;

/// Keeps its thread until it is told to go on.
struct Stubborn {
    began: Arc<AtomicBool>,
    go_on: Arc<Mutex<mpsc::Receiver<()>>>,
}

#[actor(kind = "test.Stubborn", remote(Think, Quick))]
impl Stubborn {
    #[message(remote = "test.Think", codec = postcard, derive(Serialize, Deserialize))]
    fn think(&mut self) -> u64 {
        self.began.store(true, SeqCst);
        self.go_on.lock().recv().unwrap();
        1
    }

    #[message(remote = "test.Quick", codec = postcard, derive(Serialize, Deserialize))]
    fn quick(&mut self) -> u64 {
        2
    }
}

struct Thinker {
    began: Arc<AtomicBool>,
    go_on: mpsc::Sender<()>,
}

async fn thinker(node: &Node, name: &str) -> Thinker {
    let (go_on, receiver) = mpsc::channel();
    let (began, receiver) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(receiver)));
    let noted = began.clone();
    let actor = move || Stubborn {
        began: noted.clone(),
        go_on: receiver.clone(),
    };
    node.system.spawn(actor).named(name).await.unwrap();
    Thinker { began, go_on }
}

async fn nodes() -> (Node, Node) {
    let one = Node::start("one", builder().message::<Think>().message::<Quick>()).await;
    let other = Node::start("other", builder().kind::<Stubborn>()).await;
    (one, other)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 6)]
async fn r3_nothing_waits_behind_an_ask_whose_handler_does_not_end() {
    let (one, other) = nodes().await;
    other.desk("desk").await;
    let (stubborn, desk): (ActorRef<Stubborn>, _) = (
        one.remote.actor(&other.address("stubborn")).unwrap(),
        one.far(&other, "desk"),
    );
    let thinker = thinker(&other, "stubborn").await;
    // It is known to be quick, and so it is run where its asks arrive.
    for _ in 0..200 {
        assert_eq!(soon("an answer", stubborn.ask(Quick)).await.unwrap(), 2);
    }
    let waiting = tokio::spawn(async move { stubborn.ask(Think).await });
    eventually("it thinks", || thinker.began.load(SeqCst)).await;
    for number in 0..200 {
        assert_eq!(soon("an answer", desk.ask(Note { number })).await.unwrap(), number + 1);
    }
    assert!(!waiting.is_finished());
    thinker.go_on.send(()).unwrap();
    assert_eq!(soon("its answer", waiting).await.unwrap().unwrap(), 1);
    stop(one, other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 6)]
async fn r3_nothing_waits_behind_a_tell_whose_handler_does_not_end() {
    let (one, other) = nodes().await;
    other.desk("desk").await;
    let (stubborn, desk): (ActorRef<Stubborn>, _) = (
        one.remote.actor(&other.address("stubborn")).unwrap(),
        one.far(&other, "desk"),
    );
    let thinker = thinker(&other, "stubborn").await;
    stubborn.tell(Think).unwrap();
    eventually("it thinks", || thinker.began.load(SeqCst)).await;
    for number in 0..200 {
        assert_eq!(soon("an answer", desk.ask(Note { number })).await.unwrap(), number + 1);
    }
    thinker.go_on.send(()).unwrap();
    stop(one, other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_asks_that_arrive_together_are_all_answered_quick_or_not() {
    const COUNT: u64 = 500;
    let (one, other) = pair().await;
    for name in ["a", "b", "c"] {
        other.desk(name).await;
    }
    let desks = ["a", "b", "c"].map(|name| one.far(&other, name));
    let asks = (0..COUNT).map(|number| {
        let desk = desks[number as usize % 3].clone();
        tokio::spawn(async move {
            match number % 5 {
                0 => desk.ask(Nap { millis: 1 }).await,
                _ => desk.ask(Note { number }).await,
            }
        })
    });
    let asks: Vec<_> = asks.collect();
    for ask in asks {
        soon("an answer", ask).await.unwrap().unwrap();
    }
    // A nap is noted twice.
    assert_eq!(other.log.len() as u64, COUNT + COUNT / 5);
    stop(one, other).await;
}

/// Passes a note on, and keeps its thread then.
struct Hasty {
    to: ActorRef<Desk>,
    go_on: Arc<Mutex<mpsc::Receiver<()>>>,
}

#[actor]
impl Hasty {
    fn pass_on(&mut self) {
        self.to.tell(Note { number: 7 }).unwrap();
        self.go_on.lock().recv().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 6)]
async fn r3_what_was_told_leaves_although_the_handler_that_told_it_does_not_end() {
    let (one, other) = pair().await;
    other.desk("desk").await;
    let desk = one.far(&other, "desk");
    let (go_on, receiver) = mpsc::channel();
    let receiver = Arc::new(Mutex::new(receiver));
    // From a worker, and from the task that asks.
    for round in 1..=2 {
        let (to, go_on_there) = (desk.clone(), receiver.clone());
        let hasty = one.system.spawn(move || Hasty {
            to: to.clone(),
            go_on: go_on_there.clone(),
        });
        let hasty = hasty.await.unwrap();
        let told = tokio::spawn(async move {
            match round {
                1 => hasty.tell(PassOn).unwrap(),
                _ => hasty.ask(PassOn).await.unwrap(),
            }
        });
        eventually("the note arrives", || other.log.len() == round).await;
        go_on.send(()).unwrap();
        soon("the end", told).await.unwrap();
    }
    stop(one, other).await;
}
