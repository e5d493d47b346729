//! R5, S2: an address says the name of a system, and a system of another name is not spoken to under it.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that meets an error fails, and runs what it needs"
)]

mod common;

use std::time::Duration;

use common::journal::journal;
use common::stranger::{Stranger, introduction};
use common::*;
use volary::prelude::*;
use volary_core::{DeadLetter, DeadReason, RemoteError, Subscription};
use volary_remote::{PeerEvent, RemoteBuilder};
use volary_wire::native::{Frame, RefuseReason};

/// Gives up soon, so that what was sent comes to an end.
fn hasty() -> RemoteBuilder {
    builder().options(options().lost_after(Duration::from_millis(200)))
}

/// Never gives up while the test runs.
fn patient() -> RemoteBuilder {
    builder().options(options().lost_after(Duration::from_secs(600)))
}

/// The desk of a node, under the name of another system.
fn misnamed(from: &Node, to: &Node, system: &str) -> ActorRef<Desk> {
    let address = format!("volary://{system}@{}/user/desk", to.remote.node());
    from.remote.actor(&address.parse().unwrap()).unwrap()
}

async fn event(events: &Subscription<PeerEvent>, what: &str, is: impl Fn(&PeerEvent) -> bool) -> PeerEvent {
    let found = async {
        loop {
            let event = events.next().await.unwrap();
            if is(&event) {
                break event;
            }
        }
    };
    soon(what, found).await
}

/// The asker hears that the node cannot be reached, and both names.
fn says_both_names(asked: &Result<u64, AskError>, is: &str, called: &str) {
    let Err(AskError::Remote(error)) = asked else {
        panic!("{asked:?}")
    };
    let RemoteError::Unreachable { why, .. } = &**error else {
        panic!("{error:?}")
    };
    assert!(why.contains(&format!("{is:?}, not {called:?}")), "{why}");
}

async fn dead_letters(dead: &Subscription<DeadLetter>, count: usize) {
    for _ in 0..count {
        let letter = soon("a dead letter", dead.next()).await.unwrap();
        assert_eq!(letter.reason(), DeadReason::Unreachable);
        assert_eq!(letter.receiver().to_string(), "/user/desk");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_a_system_of_another_name_refuses_and_both_sides_say_so() {
    journal();
    let (one, other) = (Node::start("one", hasty()).await, Node::start("other", hasty()).await);
    other.desk("desk").await;
    let events = one.system.events().subscribe::<PeerEvent>();
    let dead = one.system.events().subscribe::<DeadLetter>();
    let far = misnamed(&one, &other, "wrong");
    far.tell(Note { number: 1 }).unwrap();
    let said = "this is the system \"other\", not \"wrong\"";
    let why = event(&events, "no connection", |event| {
        matches!(event, PeerEvent::NotConnected { .. })
    });
    assert_eq!(
        why.await,
        PeerEvent::NotConnected {
            node: other.remote.node().to_owned(),
            why: format!("it refused: {said}"),
        }
    );
    eventually("the other side says it too, and counts it", || {
        let lines = journal().all();
        let is_said = lines
            .iter()
            .any(|line| line.contains(&format!("why=we refused: {said}")));
        is_said && other.remote.refused_connections() > 0
    })
    .await;
    let (asked, ()) = tokio::join!(far.ask(Note { number: 2 }).timeout(PATIENCE), far.terminated());
    says_both_names(&asked, "other", "wrong");
    dead_letters(&dead, 2).await;
    event(&events, "the loss", |event| matches!(event, PeerEvent::Lost { .. })).await;
    let books = reading(&one);
    assert_eq!(
        (books.connections, books.sent, books.unreachable),
        (0, 2, 2),
        "{books:?}"
    );
    assert_eq!(
        (other.log.len(), other.remote.peers().len()),
        (0, 0),
        "nothing is delivered"
    );
    // By its own name it is spoken to.
    let asked = soon("an answer", one.far(&other, "desk").ask(Note { number: 3 })).await;
    assert_eq!(asked.unwrap(), 1);
    stop(one, other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_a_caller_is_taken_if_it_means_this_system_or_does_not_say() {
    journal();
    let node = Node::start("one", builder()).await;
    let cases: [(&[&str], bool); 6] = [
        (&["other"], false),
        (&["One"], false),
        (&["other", "another"], false),
        (&["one"], true),
        (&["other", "one"], true),
        (&[], true),
    ];
    for (called, is_taken) in cases {
        let mut hello = introduction("127.0.0.1:9", 7);
        hello.called = called.iter().map(|name| (*name).into()).collect();
        let mut peer = Stranger::introduce(&node, hello).await;
        let answer = soon("an answer", peer.hear()).await;
        match (&answer, is_taken) {
            (Some(Frame::Welcome(welcome)), true) => assert_eq!(welcome.system.as_str(), "one"),
            (Some(Frame::Refuse(refuse)), false) => assert_eq!(refuse.reason, RefuseReason::Node),
            _ => panic!("{called:?}: {answer:?}"),
        }
    }
    eventually("all are counted", || node.remote.refused_connections() == 3).await;
    node.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_beside_a_connection_a_wrong_name_leads_nowhere_and_disturbs_nobody() {
    journal();
    let (one, other) = (
        Node::start("one", patient()).await,
        Node::start("other", patient()).await,
    );
    other.desk("desk").await;
    let right = one.far(&other, "desk");
    assert_eq!(soon("an answer", right.ask(Note { number: 1 })).await.unwrap(), 1);
    let events = one.system.events().subscribe::<PeerEvent>();
    let dead = one.system.events().subscribe::<DeadLetter>();
    let wrong = misnamed(&one, &other, "wrong");
    wrong.tell(Note { number: 2 }).unwrap();
    says_both_names(&soon("an end", wrong.ask(Note { number: 3 })).await, "other", "wrong");
    dead_letters(&dead, 2).await;
    soon("the end that a watcher hears", wrong.terminated()).await;
    let said = event(&events, "that it is said", |event| {
        matches!(event, PeerEvent::Misnamed { .. })
    });
    assert_eq!(
        said.await,
        PeerEvent::Misnamed {
            node: other.remote.node().to_owned(),
            called: "wrong".to_owned(),
            system: "other".to_owned(),
        }
    );
    assert_eq!(soon("an answer", right.ask(Note { number: 4 })).await.unwrap(), 2);
    eventually("the books balance", || {
        let books = reading(&one);
        (books.sent, books.confirmed, books.unreachable, books.connections) == (4, 2, 2, 1)
    })
    .await;
    assert_eq!(other.log.all(), ["1", "4"]);
    stop(one, other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_what_waits_under_a_wrong_name_does_not_go_when_the_node_itself_calls() {
    journal();
    // The large one goes in pieces.
    let small = options().lost_after(Duration::from_secs(600)).chunk_bytes(4_096);
    let (one, other) = (
        Node::start("one", builder().options(small)).await,
        Node::start("other", patient()).await,
    );
    other.desk("desk").await;
    one.desk("desk").await;
    let events = one.system.events().subscribe::<PeerEvent>();
    let dead = one.system.events().subscribe::<DeadLetter>();
    let wrong = misnamed(&one, &other, "wrong");
    wrong.tell(Note { number: 1 }).unwrap();
    wrong
        .tell(Echo {
            bytes: vec![7; 100_000],
        })
        .unwrap();
    wrong.tell(Note { number: 2 }).unwrap();
    event(&events, "that it is refused", |event| {
        matches!(event, PeerEvent::NotConnected { .. })
    })
    .await;
    let answer = soon("an answer", other.far(&one, "desk").ask(Note { number: 3 })).await;
    assert_eq!(answer.unwrap(), 1);
    dead_letters(&dead, 3).await;
    soon("the end that a watcher hears", wrong.terminated()).await;
    let books = reading(&one);
    assert_eq!((books.sent, books.unreachable, books.under_way), (3, 3, 0), "{books:?}");
    let asked = soon("an answer", one.far(&other, "desk").ask(Note { number: 4 })).await;
    assert_eq!(asked.unwrap(), 1);
    assert_eq!(other.log.all(), ["4"]);
    stop(one, other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_an_operation_is_asked_of_whoever_is_there() {
    journal();
    let (one, other) = (
        Node::start("one", patient()).await,
        Node::start("other", patient()).await,
    );
    let events = one.system.events().subscribe::<PeerEvent>();
    let wrong = misnamed(&one, &other, "wrong");
    wrong.tell(Note { number: 1 }).unwrap();
    event(&events, "no connection", |event| {
        matches!(event, PeerEvent::NotConnected { .. })
    })
    .await;
    let kinds = soon("an answer", one.remote.kinds(other.remote.node())).await;
    assert_eq!(kinds.unwrap(), ["test.Desk"]);
    soon("the end that a watcher hears", wrong.terminated()).await;
    stop(one, other).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_who_comes_next_may_have_the_name_that_the_last_had_not() {
    journal();
    let (one, other) = (
        Node::start("one", patient()).await,
        Node::start("other", patient()).await,
    );
    other.desk("desk").await;
    let at = other.remote.node().to_owned();
    assert_eq!(
        soon("an answer", one.far(&other, "desk").ask(Note { number: 1 }))
            .await
            .unwrap(),
        1
    );
    let early = misnamed(&one, &other, "next");
    says_both_names(&soon("an end", early.ask(Note { number: 2 })).await, "other", "next");
    other.system.stop().await.unwrap();
    soon("its end with the connection", early.terminated()).await;
    let next = Node::start_at("next", patient(), &at).await;
    next.desk("desk").await;
    // What was sent before it was noticed that another is there is lost with the one that was.
    let answer = async {
        loop {
            if let Ok(count) = one.far(&next, "desk").ask(Note { number: 3 }).await {
                break count;
            }
        }
    };
    assert_eq!(soon("an answer", answer).await, 1);
    stop(one, next).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_a_loss_under_a_wrong_name_is_not_that_of_who_has_the_right_one() {
    journal();
    let node = Node::start("one", hasty()).await;
    drop(Stranger::enter(&node, "127.0.0.1:9").await);
    eventually("its end", || !reading(&node).connected).await;
    let lost = |system: &str| {
        let address = format!("volary://{system}@127.0.0.1:9/user/desk").parse().unwrap();
        node.remote.actor::<Desk>(&address).unwrap()
    };
    // It does not listen where it says it does, and so whoever is watched there is lost.
    soon("a loss", lost("wrong").terminated()).await;
    drop(Stranger::enter(&node, "127.0.0.1:9").await);
    eventually("its end", || !reading(&node).connected).await;
    soon("a loss", lost("stranger").terminated()).await;
    let mut again = Stranger::call(&node, "127.0.0.1:9").await;
    let answer = soon("an answer", again.hear()).await;
    assert!(
        matches!(&answer, Some(Frame::Refuse(refuse)) if refuse.reason == RefuseReason::Quarantined),
        "its own actors were said to be gone: {answer:?}"
    );
    node.system.stop().await.unwrap();
}
