//! R3, R6: asks of another node are answered where they arrive, and none waits for a handler that does not end.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that meets an error fails, and runs what it needs"
)]

mod common;

use std::sync::{Arc, mpsc};

use common::stubborn::{Quick, Stubborn, Stubborns, Think};
use common::*;
use parking_lot::Mutex;
use volary::prelude::*;
use volary_remote::RemoteOptions;

/// Two nodes, and of the second a desk and one that is stubborn, as the first sees them.
struct Two {
    one: Node,
    other: Node,
    desk: ActorRef<Desk>,
    stubborn: ActorRef<Stubborn>,
    stubborns: Stubborns,
}

impl Two {
    async fn new() -> Self {
        let one = Node::start("one", builder().message::<Think>().message::<Quick>()).await;
        let other = Node::start("other", builder().kind::<Stubborn>()).await;
        let stubborns = Stubborns::new();
        other.desk("desk").await;
        stubborns.spawn(&other, "stubborn").await;
        Two {
            desk: one.far(&other, "desk"),
            stubborn: one.remote.actor(&other.address("stubborn")).unwrap(),
            one,
            other,
            stubborns,
        }
    }

    /// While the stubborn one thinks, the other one answers.
    async fn the_desk_answers(&self) {
        self.stubborns.begin().await;
        for number in 0..200 {
            let answer = soon("an answer", self.desk.ask(Note { number })).await;
            assert_eq!(answer.unwrap(), number + 1);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 6)]
async fn r3_nothing_waits_behind_an_ask_whose_handler_does_not_end() {
    let two = Two::new().await;
    // It is known to be quick, and so it is run where its asks arrive.
    for _ in 0..200 {
        assert_eq!(soon("an answer", two.stubborn.ask(Quick)).await.unwrap(), 2);
    }
    let stubborn = two.stubborn.clone();
    let waiting = tokio::spawn(async move { stubborn.ask(Think).timeout(PATIENCE).await });
    two.the_desk_answers().await;
    assert!(!waiting.is_finished());
    two.stubborns.go_on();
    assert_eq!(soon("its answer", waiting).await.unwrap().unwrap(), 1);
    stop(two.one, two.other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 6)]
async fn r3_nothing_waits_behind_a_tell_whose_handler_does_not_end() {
    let two = Two::new().await;
    two.stubborn.tell(Think).unwrap();
    two.the_desk_answers().await;
    two.stubborns.go_on();
    stop(two.one, two.other).await;
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

/// What was taken out of its mailbox takes no share of it any more, although what follows it there takes long.
#[tokio::test(flavor = "multi_thread", worker_threads = 6)]
async fn r3_who_was_answered_may_send_the_next_although_the_actor_is_busy_with_others() {
    for options in [RemoteOptions::new().receiver_share(1), RemoteOptions::new()] {
        answered_and_sent_again(options).await;
    }
}

async fn answered_and_sent_again(options: RemoteOptions) {
    let one = Node::start("one", builder().message::<Think>().message::<Quick>()).await;
    let other = Node::start("other", builder().kind::<Stubborn>().options(options)).await;
    let stubborns = Stubborns::new();
    let near = stubborns.spawn(&other, "stubborn").await;
    let far: ActorRef<Stubborn> = one.remote.actor(&other.address("stubborn")).unwrap();
    for _ in 0..20 {
        // While it thinks about one of its own node, an ask of the other comes, and behind it another to think about.
        near.tell(Think).unwrap();
        stubborns.begin().await;
        let asking = tokio::spawn({
            let far = far.clone();
            async move { far.ask(Quick).timeout(PATIENCE).await }
        });
        eventually("the ask is there", || near.mailbox_len() == 1).await;
        near.tell(Think).unwrap();
        stubborns.go_on();
        assert_eq!(soon("an answer", asking).await.unwrap().unwrap(), 2);
        stubborns.begin().await;
        eventually("what was answered is confirmed", || reading(&one).under_way == 0).await;
        far.tell(Quick).unwrap();
        eventually("the next is there", || {
            near.mailbox_len() == 1 || reading(&one).busy > 0
        })
        .await;
        stubborns.go_on();
        eventually("both were taken", || reading(&one).under_way == 0).await;
        assert_eq!(reading(&one).busy, 0);
    }
    stop(one, other).await;
}
