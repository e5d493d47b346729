//! R5: nodes of different clusters do not speak, and both sides say so.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that meets an error fails, and runs what it needs"
)]

mod common;

use std::time::Duration;

use common::journal::journal;
use common::stranger::{Stranger, hello};
use common::*;
use volary::prelude::*;
use volary_core::RemoteError;
use volary_remote::{PeerEvent, RemoteBuilder};
use volary_wire::native::{Frame, RefuseReason};

/// Gives up soon, so that what was sent comes to an end.
fn of(cluster: &str) -> RemoteBuilder {
    builder()
        .options(options().lost_after(Duration::from_millis(100)))
        .cluster(cluster)
}

async fn refused(from: &Node, to: &Node, cluster: &str) {
    let events = from.system.events().subscribe::<PeerEvent>();
    let far = from.far(to, "desk");
    far.tell(Note { number: 1 }).unwrap();
    let why = soon("no connection", async {
        loop {
            if let PeerEvent::NotConnected { node, why } = events.next().await.unwrap() {
                assert_eq!(node, to.remote.node());
                break why;
            }
        }
    })
    .await;
    let said = format!("this is the cluster {cluster:?}");
    assert_eq!(why, format!("it refused: {said}"));
    eventually("the other side says it too", || {
        let lines = journal().all();
        let is_said =
            |line: &String| line.contains("was not taken") && line.contains(&format!("why=we refused: {said}"));
        lines.iter().any(is_said)
    })
    .await;
    let asked = soon("an end", far.ask(Note { number: 2 })).await;
    assert!(
        matches!(&asked, Err(AskError::Remote(error)) if matches!(**error, RemoteError::Unreachable { .. })),
        "{asked:?}"
    );
    assert_eq!(to.log.len(), 0, "nothing is delivered");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_nodes_of_different_clusters_refuse_each_other_and_say_so() {
    journal();
    let one = Node::start("one", of("green")).await;
    let other = Node::start("other", of("blue")).await;
    one.desk("desk").await;
    other.desk("desk").await;
    refused(&one, &other, "blue").await;
    refused(&other, &one, "green").await;
    for node in [&one, &other] {
        let books = node.remote.peers().remove(0);
        assert_eq!((books.connections, books.received), (0, 0), "{books:?}");
        node.system.stop().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_a_cluster_without_a_name_is_another_than_one_with_a_name() {
    journal();
    let node = Node::start("one", of("red")).await;
    // The stranger says no cluster.
    let mut peer = Stranger::call(&node, "127.0.0.1:9").await;
    let answer = soon("an answer", peer.hear()).await;
    assert!(
        matches!(&answer, Some(Frame::Refuse(refuse)) if refuse.reason == RefuseReason::Cluster),
        "{answer:?}"
    );
    soon("the end", peer.hear_the_end()).await;
    assert!(node.remote.peers().is_empty(), "it is no peer");
    // Nor is a name with other letters the same.
    let Frame::Hello(mut other) = hello("127.0.0.1:9", 7) else {
        unreachable!()
    };
    for (cluster, is_taken) in [("Red", false), ("red ", false), ("red", true)] {
        other.cluster = cluster.into();
        let mut peer = Stranger::knock(&node).await;
        peer.say([Frame::Hello(other.clone())]).await;
        let answer = soon("an answer", peer.hear()).await;
        assert_eq!(
            matches!(answer, Some(Frame::Welcome(_))),
            is_taken,
            "{cluster:?}: {answer:?}"
        );
    }
    node.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_nodes_of_one_cluster_speak() {
    journal();
    let one = Node::start("one", of("yellow")).await;
    let other = Node::start("other", of("yellow")).await;
    one.desk("desk").await;
    other.desk("desk").await;
    for (from, to) in [(&one, &other), (&other, &one)] {
        let answer = soon("an answer", from.far(to, "desk").ask(Note { number: 1 })).await;
        assert_eq!(answer.unwrap(), 1);
    }
    one.system.stop().await.unwrap();
    other.system.stop().await.unwrap();
}
