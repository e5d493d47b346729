//! R8, S2: mail that is lost with a connection is seen as dead letters, and ends by those who still watch. The nodes that
//! are called here are at a port where no other test listens, however soon ports are given out again.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::future::IntoFuture;
use std::time::Duration;

use common::stranger::{Stranger, hello, operation, watch};
use common::*;
use volary_core::{DeadLetter, DeadReason, RemoteError};
use volary_remote::{PeerEvent, PeerReading};
use volary_wire::native::{Frame, Goodbye, GoodbyeReason, RefuseReason};

/// What the stranger calls itself.
const STRANGER: &str = "127.0.0.1:9";

fn reading(node: &Node) -> PeerReading {
    node.remote
        .peers()
        .into_iter()
        .find(|peer| peer.node == STRANGER)
        .unwrap()
}

/// Whether this is a letter to a desk of the stranger that was lost for this reason.
fn is_note(letter: &DeadLetter, reason: DeadReason, receiver: &str) {
    assert_eq!(letter.reason(), reason);
    assert_eq!(letter.receiver().to_string(), receiver);
    let node = letter.address().and_then(|address| address.node());
    assert_eq!(node.map(|node| node.to_string()).as_deref(), Some(STRANGER));
    assert!(letter.message_type().ends_with("Note"), "{}", letter.message_type());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r8_s2_what_a_cut_connection_leaves_unconfirmed_is_a_dead_letter() {
    let node = Node::start("one", builder()).await;
    let dead = node.system.events().subscribe::<DeadLetter>();
    let mut peer = Stranger::enter(&node, STRANGER).await;
    let address = format!("volary://stranger@{STRANGER}/user/desk").parse().unwrap();
    let far: volary::ActorRef<Desk> = node.remote.actor(&address).unwrap();
    for number in 0..3 {
        far.tell(Note { number }).unwrap();
    }
    let mut asked = Box::pin(far.ask(Note { number: 3 }).into_future());
    // An ask is sent when it is first looked at.
    let is_early = std::future::poll_fn(|task| std::task::Poll::Ready(asked.as_mut().poll(task).is_ready())).await;
    assert!(!is_early);
    // Nobody there confirms them, but they came: nobody can say whether they were handled.
    soon("the mail", async {
        while !matches!(peer.hear_news().await.unwrap(), Frame::Ask { .. }) {}
    })
    .await;
    drop(peer);
    for _ in 0..4 {
        let letter = soon("a dead letter", dead.next()).await.unwrap();
        is_note(&letter, DeadReason::Unconfirmed, "/user/desk");
    }
    let ended = soon("an end", asked).await;
    assert!(
        matches!(&ended, Err(volary::AskError::Remote(error)) if matches!(**error, RemoteError::Unconfirmed { .. })),
        "{ended:?}"
    );
    let books = reading(&node);
    assert_eq!(
        (books.sent, books.unconfirmed, books.unreachable),
        (4, 4, 0),
        "{books:?}"
    );
    node.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r8_s2_what_waits_for_a_node_that_never_comes_is_a_dead_letter() {
    let hasty = options().lost_after(Duration::from_millis(100));
    let node = Node::start("one", builder().options(hasty)).await;
    let dead = node.system.events().subscribe::<DeadLetter>();
    let events = node.system.events().subscribe::<PeerEvent>();
    let address = format!("volary://nowhere@{STRANGER}/user/desk").parse().unwrap();
    // The reference is dropped before the mail is lost.
    {
        let far: volary::ActorRef<Desk> = node.remote.actor(&address).unwrap();
        for number in 0..3 {
            far.tell(Note { number }).unwrap();
        }
    }
    soon("it is lost", async {
        while !matches!(events.next().await.unwrap(), PeerEvent::Lost { node } if node == STRANGER) {}
    })
    .await;
    for _ in 0..3 {
        let letter = soon("a dead letter", dead.next()).await.unwrap();
        is_note(&letter, DeadReason::Unreachable, "/user/desk");
    }
    let books = reading(&node);
    assert_eq!(
        (books.sent, books.unconfirmed, books.unreachable),
        (3, 0, 3),
        "{books:?}"
    );
    node.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r8_s2_what_waits_when_this_node_stops_is_a_dead_letter() {
    let node = Node::start("one", builder()).await;
    let dead = node.system.events().subscribe::<DeadLetter>();
    let address = format!("volary://nowhere@{STRANGER}/user/desk").parse().unwrap();
    let far: volary::ActorRef<Desk> = node.remote.actor(&address).unwrap();
    far.tell(Note { number: 1 }).unwrap();
    node.system.stop().await.unwrap();
    let letter = soon("a dead letter", dead.next()).await.unwrap();
    is_note(&letter, DeadReason::Unreachable, "/user/desk");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r8_who_watches_no_longer_hears_no_end() {
    let node = Node::start("one", builder()).await;
    let mut peer = Stranger::enter(&node, STRANGER).await;
    let (mut ended, mut desks) = (Vec::new(), Vec::new());
    for name in ["left", "kept", "again"] {
        desks.push(node.desk(name).await);
        let who = node.address(name).to_string();
        peer.say([Frame::Watch(watch(&who))]).await;
        if name != "kept" {
            peer.say([Frame::Unwatch(watch(&who))]).await;
        }
        if name == "again" {
            peer.say([Frame::Watch(watch(&who))]).await;
        }
    }
    // Whom nobody watches can be left too.
    peer.say([Frame::Unwatch(watch(&node.address("nobody").to_string()))])
        .await;
    // An answer comes behind all of that: it was heard.
    peer.say([operation(1, "kinds")]).await;
    let answer = soon("an answer", peer.hear_news()).await;
    assert!(matches!(answer, Some(Frame::Answer(_))), "{answer:?}");
    for desk in &desks {
        desk.stop();
        soon("it stops", desk.terminated()).await;
    }
    // Ends are told by tasks of their own, so there may be a last one to wait for: the two that are watched.
    while ended.len() < 2 {
        match soon("an end", peer.hear_news()).await {
            Some(Frame::Terminated(terminated)) => ended.push(format!("{:?}", terminated.watched)),
            other => panic!("{other:?}"),
        }
    }
    // Whatever else was said stands before the answer.
    peer.say([operation(2, "kinds")]).await;
    let answer = soon("an answer", peer.hear_news()).await;
    assert!(matches!(answer, Some(Frame::Answer(_))), "{answer:?}");
    ended.sort();
    assert!(
        ended[0].contains("/user/again") && ended[1].contains("/user/kept"),
        "{ended:?}"
    );
    node.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r8_s12_a_node_that_left_while_it_was_watched_does_not_come_back_as_the_same() {
    let node = Node::start("one", builder()).await;
    let mut peer = Stranger::enter(&node, STRANGER).await;
    let address = format!("volary://stranger@{STRANGER}/user/desk").parse().unwrap();
    let far: volary::ActorRef<Desk> = node.remote.actor(&address).unwrap();
    let mut watching = std::pin::pin!(far.terminated());
    // It is watched from when it is first looked at.
    let is_early = std::future::poll_fn(|task| std::task::Poll::Ready(watching.as_mut().poll(task).is_ready())).await;
    assert!(!is_early);
    let watched = soon("a watch", peer.hear_news()).await;
    assert!(matches!(watched, Some(Frame::Watch(_))), "{watched:?}");
    let (reason, text) = (GoodbyeReason::Leaving, "".into());
    peer.say([Frame::Goodbye(Goodbye { reason, text })]).await;
    soon("the end", watching).await;
    peer.hear_the_end().await;
    // Whoever watched has heard of its end, and nobody may hear from it after that.
    let mut peer = Stranger::call(&node, STRANGER).await;
    let refused = soon("an answer", peer.hear()).await;
    assert!(
        matches!(&refused, Some(Frame::Refuse(refuse)) if refuse.reason == RefuseReason::Quarantined),
        "{refused:?}"
    );
    // Its next life is welcome.
    let mut peer = Stranger::knock(&node).await;
    peer.say([hello(STRANGER, 8)]).await;
    let welcome = soon("an answer", peer.hear()).await;
    assert!(matches!(welcome, Some(Frame::Welcome(_))), "{welcome:?}");
    node.system.stop().await.unwrap();
}
