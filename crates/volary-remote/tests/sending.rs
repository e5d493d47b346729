//! R3: `send` waits for room on the way to another node as it does for room in a mailbox.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that meets an error fails, and runs what it needs"
)]

mod common;

use std::future::IntoFuture;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context as Task, Poll, Wake, Waker};
use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary_core::SendError;
use volary_remote::RemoteOptions;

fn narrow() -> RemoteOptions {
    options().window(16).receiver_share(16)
}

/// Two nodes, and an actor on the other that naps until it is killed; as much is under way to it as may be.
async fn full() -> (Node, Node, ActorRef<Desk>, ActorRef<Desk>) {
    let one = Node::start("one", builder().options(narrow())).await;
    let other = Node::start("other", builder().options(narrow())).await;
    let stuck = other.desk("stuck").await;
    let far = one.far(&other, "stuck");
    far.tell(Nap { millis: 3_600_000 }).unwrap();
    eventually("it naps", || other.log.len() == 1 && reading(&one).under_way == 0).await;
    for number in 0..16 {
        far.tell(Note { number }).unwrap();
    }
    assert!(matches!(far.tell(Note { number: 16 }), Err(TellError::Full(_))));
    (one, other, stuck, far)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_send_waits_until_there_is_room_and_keeps_the_order() {
    let one = Node::start("one", builder().options(narrow())).await;
    let other = Node::start("other", builder().options(narrow())).await;
    other.desk("desk").await;
    let far = one.far(&other, "desk");
    for number in 0..2_000 {
        soon("room", far.send(Note { number })).await.unwrap();
    }
    eventually("all arrive", || other.log.len() == 2_000).await;
    let expected: Vec<String> = (0..2_000).map(|number| number.to_string()).collect();
    assert_eq!(other.log.all(), expected);
    stop(one, other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_many_senders_wait_and_all_come_to_their_turn() {
    let one = Node::start("one", builder().options(narrow())).await;
    let other = Node::start("other", builder().options(narrow())).await;
    other.desk("desk").await;
    let far = one.far(&other, "desk");
    let senders: Vec<_> = (0..100)
        .map(|sender| {
            let far = far.clone();
            tokio::spawn(async move {
                for number in 0..20 {
                    let number = 1_000 * sender + number;
                    far.send(Note { number }).timeout(PATIENCE).await.unwrap();
                }
            })
        })
        .collect();
    for sender in senders {
        soon("a sender", sender).await.unwrap();
    }
    eventually("all arrive", || other.log.len() == 2_000).await;
    stop(one, other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_send_gives_the_message_back_when_there_is_no_room_in_time() {
    let (one, other, stuck, far) = full().await;
    let late = far.send(Note { number: 77 }).timeout(Duration::from_millis(50));
    let late = soon("a timeout", late).await;
    assert!(
        matches!(&late, Err(SendError::Timeout(Note { number: 77 }))),
        "{late:?}"
    );
    stuck.kill();
    stop(one, other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_a_send_that_is_dropped_sends_nothing_and_passes_its_place_on() {
    let (one, other, stuck, far) = full().await;
    let (gone, left) = (Note { number: 100 }, Note { number: 200 });
    {
        let mut dropped = pin!(far.send(gone).into_future());
        assert!(dropped.as_mut().poll(&mut Task::from_waker(Waker::noop())).is_pending());
        let mut waiting = Box::pin(far.send(left).timeout(PATIENCE).into_future());
        assert!(waiting.as_mut().poll(&mut Task::from_waker(Waker::noop())).is_pending());
        // The mail of whoever is killed is confirmed, and both are called; the first does not come.
        let far = far.clone();
        let second = tokio::spawn(async move {
            let sent = far.send(Note { number: 300 }).timeout(PATIENCE).await;
            drop(far);
            sent
        });
        stuck.kill();
        eventually("room", || reading(&one).under_way == 0).await;
        assert!(soon("the second", waiting).await.is_ok());
        assert!(soon("the third", second).await.unwrap().is_ok());
    }
    eventually("they are settled", || reading(&one).under_way == 0).await;
    let books = reading(&one);
    assert_eq!(books.sent, 19, "the one that was dropped was not sent: {books:?}");
    stop(one, other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_a_send_that_was_called_and_is_not_polled_holds_up_nobody() {
    struct Called(AtomicBool);
    impl Wake for Called {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Relaxed);
        }
    }
    let (one, other, stuck, far) = full().await;
    let calls: Vec<_> = (0..4).map(|_| Arc::new(Called(AtomicBool::new(false)))).collect();
    let mut sends = Vec::new();
    for (call, number) in calls.iter().zip(0..) {
        let mut send = Box::pin(far.send(Note { number }).timeout(PATIENCE * 10).into_future());
        let waker = Waker::from(call.clone());
        assert!(send.as_mut().poll(&mut Task::from_waker(&waker)).is_pending());
        sends.push(send);
    }
    stuck.kill();
    // Nobody comes, and all are called.
    eventually("the last one is called", || {
        calls.iter().all(|call| call.0.load(Relaxed))
    })
    .await;
    for send in sends.into_iter().rev() {
        assert!(soon("room", send).await.is_ok());
    }
    stop(one, other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_the_end_of_the_connection_makes_room() {
    let (one, other, _stuck, far) = full().await;
    let sending = far.clone();
    let waiting = tokio::spawn(async move { sending.send(Note { number: 100 }).timeout(PATIENCE).await });
    let mut probe = Box::pin(far.send(Note { number: 101 }).timeout(PATIENCE).into_future());
    assert!(matches!(
        probe.as_mut().poll(&mut Task::from_waker(Waker::noop())),
        Poll::Pending
    ));
    other.system.stop().await.unwrap();
    // What was under way is lost, and those who waited are the first to wait for the next connection.
    assert!(soon("the first", waiting).await.unwrap().is_ok());
    assert!(soon("the second", probe).await.is_ok());
    one.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_the_end_of_this_node_ends_the_wait() {
    let (one, other, stuck, far) = full().await;
    let waiting = tokio::spawn(async move { far.send(Note { number: 100 }).timeout(PATIENCE).await });
    tokio::task::yield_now().await;
    one.system.stop().await.unwrap();
    let ended = soon("an end", waiting).await.unwrap();
    assert!(
        matches!(&ended, Err(SendError::Refused(TellError::Stopped(_)))) || ended.is_ok(),
        "{ended:?}"
    );
    stuck.kill();
    other.system.stop().await.unwrap();
}
