//! R3: what happens to messages for which there is no room on their way.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that meets an error fails, and runs what it needs"
)]

mod common;

use std::future::IntoFuture;
use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary_core::{DeadLetter, DeadReason, RemoteError};
use volary_remote::transport::Memory;
use volary_remote::{Overflow, RemoteBuilder};

const WINDOW: u64 = 16;
const AT: &str = "127.0.0.1:4242";

fn narrow(network: &Memory, overflow: Overflow) -> RemoteBuilder {
    let options = options().window(WINDOW).receiver_share(WINDOW);
    let options = options.overflow(overflow).lost_after(Duration::from_secs(600));
    builder().options(options).transport(network.clone())
}

/// What is known of the one peer: messages sent, and those that were dropped for want of room.
fn books(node: &Node) -> (u64, u64) {
    let reading = reading(node);
    (reading.sent, reading.busy)
}

/// A node, and an actor of another one that is not there yet: what is told now waits for a connection.
async fn apart(network: &Memory, overflow: Overflow) -> (Node, ActorRef<Desk>) {
    let one = Node::start("one", narrow(network, overflow)).await;
    let far = format!("volary://other@{AT}/user/desk").parse().unwrap();
    let far = one.remote.actor(&far).unwrap();
    (one, far)
}

/// The other node comes, and hears what has waited.
async fn hear(network: &Memory, one: &Node) -> Vec<String> {
    let system = ActorSystem::builder("other").ignore_environment();
    let system = system.settings(|s| s.log_config(false)).start().await.unwrap();
    let log = Log::default();
    system.spawn(desk(&log)).named("desk").await.unwrap();
    let remote = builder().transport(network.clone());
    remote.start(&system, AT).await.unwrap();
    eventually("all arrive", || reading(one).under_way == 0).await;
    system.stop().await.unwrap();
    log.all()
}

fn numbers(range: std::ops::Range<u64>) -> Vec<String> {
    range.map(|number| number.to_string()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_what_there_is_no_room_for_is_given_back_unless_told_otherwise() {
    let network = Memory::default();
    let (one, far) = apart(&network, Overflow::Refuse).await;
    for number in 0..WINDOW {
        far.tell(Note { number }).unwrap();
    }
    for number in WINDOW..2 * WINDOW {
        let refused = far.tell(Note { number }).unwrap_err();
        assert!(matches!(refused, TellError::Full(Note { number: back }) if back == number));
    }
    assert_eq!(books(&one), (WINDOW, 0));
    assert_eq!(hear(&network, &one).await, numbers(0..WINDOW));
    one.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_the_newest_is_dropped_where_that_was_asked_for() {
    let network = Memory::default();
    let (one, far) = apart(&network, Overflow::DropNewest).await;
    let dead = one.system.events().subscribe::<DeadLetter>();
    for number in 0..2 * WINDOW {
        far.tell(Note { number }).unwrap();
    }
    // Nobody waits for room.
    soon("no room", far.send(Note { number: 99 })).await.unwrap();
    let asked = soon("an end", far.ask(Note { number: 100 }).into_future()).await;
    let busy = matches!(&asked, Err(AskError::Remote(error)) if matches!(**error, RemoteError::Busy { .. }));
    assert!(busy, "{asked:?}");
    for _ in 0..WINDOW + 2 {
        let letter = soon("a dead letter", dead.next()).await.unwrap();
        assert_eq!(letter.reason(), DeadReason::Full);
        assert!(letter.address().is_some_and(|address| address.node().is_some()));
    }
    assert_eq!(books(&one), (2 * WINDOW + 2, WINDOW + 2));
    assert_eq!(hear(&network, &one).await, numbers(0..WINDOW));
    assert!(dead.try_next().is_none(), "each once");
    one.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_the_oldest_is_dropped_where_that_was_asked_for() {
    let network = Memory::default();
    let (one, far) = apart(&network, Overflow::DropOldest).await;
    let dead = one.system.events().subscribe::<DeadLetter>();
    // What is done beside messages is not dropped with them: this stands before all of them.
    far.restart();
    let asker = far.clone();
    let first = tokio::spawn(async move { asker.ask(Note { number: 0 }).timeout(PATIENCE).await });
    eventually("the ask", || reading(&one).sent == 1).await;
    for number in 1..1_000 {
        far.tell(Note { number }).unwrap();
    }
    let asked = soon("an end", first).await.unwrap();
    let busy = matches!(&asked, Err(AskError::Remote(error)) if matches!(**error, RemoteError::Busy { .. }));
    assert!(busy, "{asked:?}");
    let dropped = 1_000 - WINDOW;
    for _ in 0..dropped {
        let letter = soon("a dead letter", dead.next()).await.unwrap();
        assert_eq!(letter.reason(), DeadReason::Full);
    }
    assert_eq!(books(&one), (1_000, dropped));
    assert_eq!(hear(&network, &one).await, numbers(1_000 - WINDOW..1_000));
    assert!(dead.try_next().is_none(), "each once");
    one.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_large_messages_are_dropped_in_the_same_order() {
    let network = Memory::default();
    let (one, far) = apart(&network, Overflow::DropOldest).await;
    for number in 0..WINDOW {
        match number % 2 {
            0 => far.tell(Long::of(number)).unwrap(),
            _ => far.tell(Note { number }).unwrap(),
        }
    }
    // The large 0, 2 and 4 and the small 1 and 3 make room, in that order.
    for number in 100..105 {
        far.tell(Note { number }).unwrap();
    }
    assert_eq!(books(&one), (WINDOW + 5, 5));
    let heard = hear(&network, &one).await;
    let expected = numbers(5..WINDOW).into_iter().chain(numbers(100..105));
    assert_eq!(heard, expected.collect::<Vec<_>>());
    one.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_what_is_on_its_way_is_not_dropped_for_others() {
    for overflow in [Overflow::DropNewest, Overflow::DropOldest] {
        let network = Memory::default();
        let one = Node::start("one", narrow(&network, overflow)).await;
        let other = Node::start("other", narrow(&network, Overflow::Refuse)).await;
        let stuck = other.desk("stuck").await;
        let far = one.far(&other, "stuck");
        far.tell(Nap { millis: 3_600_000 }).unwrap();
        eventually("it naps", || other.log.len() == 1 && reading(&one).under_way == 0).await;
        for number in 0..WINDOW + 3 {
            far.tell(Note { number }).unwrap();
        }
        assert_eq!(books(&one), (WINDOW + 4, 3), "{overflow:?}");
        stuck.kill();
        eventually("all are heard of", || reading(&one).under_way == 0).await;
        stop(one, other).await;
    }
}
