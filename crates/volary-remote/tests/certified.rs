//! R5: a certificate can be bound to a cluster, and is good in no other.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that meets an error fails, and may use the network"
)]

#[path = "common/authority.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    missing_docs,
    reason = "each file uses its part, in tests only"
)]
mod authority;
mod common;

use authority::Authority;
use common::journal::journal;
use common::*;
use volary_remote::transport::Tls;
use volary_remote::{PeerEvent, RemoteBuilder, Right, Rights};

const HOST: &str = "127.0.0.1";

/// A builder for a node whose certificate is bound to these clusters.
fn bound(authority: &Authority, clusters: &[&str]) -> RemoteBuilder {
    builder().transport(Tls::new(authority.source_of(HOST, clusters)).unwrap())
}

/// Both say something to the other, on one connection and then on one that the other has made.
async fn speak(one: impl Fn() -> RemoteBuilder, other: impl Fn() -> RemoteBuilder) {
    for calls in ["one", "other"] {
        let one = Node::start("one", one()).await;
        let other = Node::start("other", other()).await;
        one.desk("desk").await;
        other.desk("desk").await;
        let (caller, called) = if calls == "one" { (&one, &other) } else { (&other, &one) };
        for (from, to) in [(caller, called), (called, caller)] {
            let desk = from.far(to, "desk");
            let answer = soon("an answer", desk.ask(Note { number: 1 })).await;
            assert_eq!(answer.unwrap(), 1);
        }
        stop(one, other).await;
    }
}

/// Why `from` has no connection to `to`, although it wants one, and tries more than once.
async fn why_not(from: &Node, to: &Node) -> String {
    let events = from.system.events().subscribe::<PeerEvent>();
    from.far(to, "desk").tell(Note { number: 1 }).unwrap();
    let why = soon("no connection", async {
        match events.next().await.unwrap() {
            PeerEvent::NotConnected { why, .. } => why,
            event => panic!("{event:?}"),
        }
    });
    let why = why.await;
    eventually("each attempt is counted", || to.remote.refused_connections() > 2).await;
    assert!(events.try_next().is_none(), "it is said once");
    assert!(to.remote.peers().iter().all(|peer| peer.connections == 0));
    assert_eq!(to.log.len(), 0, "nothing is delivered");
    why
}

/// The one has what it takes and the other does not, for this reason: they do not speak, whoever calls.
async fn refuse(good: impl Fn() -> RemoteBuilder, bad: impl Fn() -> RemoteBuilder, reason: &str) {
    let good = Node::start("good", good()).await;
    let bad = Node::start("bad", bad()).await;
    good.desk("desk").await;
    bad.desk("desk").await;
    assert_eq!(why_not(&good, &bad).await, format!("we refused: {reason}"));
    assert_eq!(why_not(&bad, &good).await, format!("it refused: {reason}"));
    let is_it = |line: &&String| line.contains("was not taken") && line.contains(&format!("we refused: {reason} "));
    eventually("it is in the log", || journal().all().iter().any(|line| is_it(&line))).await;
    let lines = journal().all();
    assert_eq!(lines.iter().filter(is_it).count(), 1, "once for each peer: {lines:#?}");
    stop(good, bad).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_nodes_whose_certificates_are_bound_to_their_cluster_speak() {
    let authority = Authority::new();
    let lenient = || bound(&authority, &["green"]).cluster("green");
    let strict = || bound(&authority, &["blue", "green"]).certified_cluster("green");
    speak(lenient, lenient).await;
    speak(strict, strict).await;
    speak(lenient, strict).await;
    let spaced = || bound(&authority, &["light%20green"]).certified_cluster("light green");
    speak(spaced, spaced).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_a_certificate_of_another_cluster_is_refused_whatever_its_node_says() {
    journal();
    let authority = Authority::new();
    refuse(
        || bound(&authority, &["green"]).cluster("green"),
        || bound(&authority, &["blue"]).cluster("green"),
        r#"the certificate is for the cluster "blue", not for "green""#,
    )
    .await;
    // Also by those whose own is bound to none.
    refuse(
        || bound(&authority, &[]).cluster("red"),
        || bound(&authority, &["Red", "re"]).cluster("red"),
        r#"the certificate is for the cluster "Red" or "re", not for "red""#,
    )
    .await;
    refuse(
        || bound(&authority, &["pink"]).certified_cluster("pink"),
        || bound(&authority, &["blue"]).cluster("pink"),
        r#"the certificate is for the cluster "blue", not for "pink""#,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_a_certificate_that_is_bound_is_refused_by_nodes_of_no_cluster() {
    journal();
    let authority = Authority::new();
    refuse(
        || bound(&authority, &[]),
        || bound(&authority, &["brown"]),
        r#"the certificate is for the cluster "brown", and this node is of none"#,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_a_certificate_of_no_cluster_is_taken_unless_that_must_be_certified() {
    journal();
    let authority = Authority::new();
    let unbound = |cluster| bound(&authority, &[]).cluster(cluster);
    speak(|| unbound("white"), || unbound("white")).await;
    speak(|| unbound("white"), || bound(&authority, &["white"]).cluster("white")).await;
    refuse(
        || bound(&authority, &["white"]).certified_cluster("white"),
        || unbound("white"),
        r#"the certificate names no cluster, and only those of "white" are taken"#,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_without_a_certificate_nobody_is_of_a_certified_cluster() {
    journal();
    refuse(
        || builder().certified_cluster("black"),
        || builder().cluster("black"),
        r#"it shows no certificate, and only those of the cluster "black" are taken"#,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_rights_can_go_by_the_clusters_in_a_certificate() {
    let authority = Authority::new();
    let strict = bound(&authority, &["grey"])
        .cluster("grey")
        .rights(|peer| match peer.verified() {
            Some(identity) if identity.is_of("admins") => Rights::all(),
            _ => Rights::all().without(Right::Tell),
        });
    let one = Node::start("one", strict).await;
    one.desk("desk").await;
    for (clusters, may) in [(&["grey"][..], false), (&["grey", "admins"], true)] {
        let other = Node::start("other", bound(&authority, clusters).cluster("grey")).await;
        let desk = other.far(&one, "desk");
        let answer = soon("an answer", desk.ask(Note { number: 1 })).await;
        assert_eq!(answer.is_ok(), may, "{answer:?}");
        other.system.stop().await.unwrap();
    }
    one.system.stop().await.unwrap();
}
