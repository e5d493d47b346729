//! R8: what remoting does is among the figures of its system, of all peers together and of each.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that meets an error fails, and runs what it needs"
)]

mod common;

use std::time::Duration;

use common::stranger::{Stranger, hello, introduction};
use common::*;
use volary::prelude::*;
use volary_core::{Instrument, InstrumentKind};
use volary_remote::RemoteOptions;
use volary_wire::native::{Confirm, Frame};

/// The value of an instrument: of all peers, or of one.
fn find(all: &[Instrument], name: &str, peer: Option<&str>) -> Option<u64> {
    let found: Vec<_> = all.iter().filter(|one| one.name == name).collect();
    let [instrument] = found[..] else {
        panic!("{} of {name}", found.len())
    };
    let labels: Vec<_> = peer.iter().map(|peer| ("remote.peer", (*peer).to_owned())).collect();
    let mut points = instrument.points.iter();
    points.find(|point| point.labels == labels).map(|point| point.value)
}

fn figure(node: &Node, name: &str, peer: Option<&str>) -> Option<u64> {
    find(&node.system.instruments(), name, peer)
}

/// That of all and that of the peer, which is the only one: at one moment they are the same.
fn both(node: &Node, name: &str, peer: &str) -> u64 {
    let all = node.system.instruments();
    let sum = find(&all, &format!("remote.{name}"), None).unwrap();
    let of_peer = find(&all, &format!("remote.peer.{name}"), Some(peer));
    assert_eq!(of_peer, Some(sum), "{name}");
    sum
}

fn beating() -> RemoteOptions {
    options().heartbeat(Duration::from_millis(20))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r8_so_many_peers_have_figures_of_their_own_and_all_are_in_the_sums() {
    let one = Node::start("one", builder().options(options().peer_figures(1))).await;
    let none = Node::start("none", builder().options(options().peer_figures(0))).await;
    let (other, third) = (
        Node::start("other", builder()).await,
        Node::start("third", builder()).await,
    );
    for node in [&other, &third] {
        node.desk("desk").await;
        for from in [&one, &none] {
            soon("an answer", from.far(node, "desk").ask(Note { number: 1 }))
                .await
                .unwrap();
        }
    }
    for (node, rows) in [(&one, 1), (&none, 0)] {
        let all = node.system.instruments();
        assert_eq!(find(&all, "remote.messages.sent.count", None), Some(2));
        let of_each = all
            .iter()
            .find(|one| one.name == "remote.peer.messages.sent.count")
            .unwrap();
        assert_eq!(of_each.points.len(), rows);
    }
    for node in [one, none, other, third] {
        node.system.stop().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r8_what_becomes_of_messages_and_connections_is_told_under_names() {
    let hoarding = || builder().kind::<Hoarder>();
    let one = Node::start("one", hoarding().options(beating())).await;
    let other = Node::start("other", hoarding()).await;
    other.desk("desk").await;
    other.system.spawn(Hoarder::default).named("hoarder").await.unwrap();
    let (here, there) = (one.remote.node().to_owned(), other.remote.node().to_owned());
    let far = one.far(&other, "desk");
    for number in 1..=5 {
        soon("an answer", far.ask(Note { number })).await.unwrap();
    }
    eventually("that all are confirmed", || reading(&one).under_way == 0).await;
    assert_eq!(both(&one, "messages.sent.count", &there), 5);
    assert_eq!(both(&one, "messages.confirmed.count", &there), 5);
    assert_eq!(both(&other, "messages.received.count", &here), 5);
    assert_eq!(both(&one, "connections.attempts.count", &there), 1);
    assert_eq!(both(&one, "connections.made.count", &there), 1);
    assert_eq!(both(&one, "connected", &there), 1);
    assert_eq!(figure(&one, "remote.peers.count", None), Some(1));
    assert!(both(&one, "written", &there) > 0 && both(&one, "read", &there) > 0);
    eventually("a heartbeat and its answer", || {
        figure(&one, "remote.peer.round.trip", Some(&there)).is_some()
    })
    .await;
    assert!(reading(&one).round_trip.unwrap() < PATIENCE);

    // An ask that is not answered, and is lost with the connection.
    let hoarder: ActorRef<Hoarder> = one.remote.actor(&other.address("hoarder")).unwrap();
    let asked = tokio::spawn(async move { hoarder.ask(Hoard).timeout(PATIENCE).await });
    eventually("that it is asked", || both(&one, "asks.open", &there) == 1).await;
    other.system.stop().await.unwrap();
    assert!(soon("an end", asked).await.unwrap().is_err());
    eventually("the end of the connection", || {
        both(&one, "connections.lost.count", &there) == 1
    })
    .await;
    assert_eq!(
        (both(&one, "connected", &there), both(&one, "asks.open", &there)),
        (0, 0)
    );

    // Nobody is there any more.
    far.tell(Note { number: 6 }).unwrap();
    eventually("attempts that come to nothing", || {
        both(&one, "connections.failed.count", &there) >= 2
    })
    .await;
    assert!(figure(&one, "remote.outbound.waiting", None) > Some(0));
    assert_eq!(
        reading(&one).waiting_bytes as u64,
        both(&one, "outbound.waiting", &there)
    );
    assert_eq!(both(&one, "messages.underway", &there), 1);
    one.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r8_whoever_breaks_a_rule_or_is_refused_is_counted_and_every_life_that_is_over() {
    let node = Node::start("one", builder()).await;
    let name = "127.0.0.1:9";
    let mut peer = Stranger::enter(&node, name).await;
    eventually("that it is known", || reading(&node).connected).await;
    peer.say([Frame::Confirm(Confirm::new(7, &[]).unwrap())]).await;
    soon("the end", peer.hear_the_end()).await;
    eventually("a breach", || both(&node, "connections.breaches.count", name) == 1).await;
    eventually("a connection that is lost", || {
        both(&node, "connections.lost.count", name) == 1
    })
    .await;

    let mut later = Stranger::introduce(&node, introduction(name, 8)).await;
    assert!(matches!(later.hear().await, Some(Frame::Welcome(_))));
    eventually("the end of the life before", || {
        both(&node, "quarantines.count", name) == 1
    })
    .await;
    let mut earlier = Stranger::knock(&node).await;
    earlier.say([hello(name, 7)]).await;
    assert!(matches!(soon("a word", earlier.hear()).await, Some(Frame::Refuse(_))));
    eventually("that it is counted", || {
        figure(&node, "remote.connections.refused.count", None) == Some(1)
    })
    .await;
    node.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r8_an_answer_to_no_heartbeat_says_nothing_of_the_way() {
    let node = Node::start("one", builder()).await;
    let mut peer = Stranger::enter(&node, "127.0.0.1:9").await;
    let answers = [0, 1_000, u64::MAX].map(|nonce| Frame::HeartbeatReply { nonce });
    peer.say(answers.into_iter().chain([Frame::Heartbeat { nonce: 5 }]))
        .await;
    while soon("that they were read", peer.hear()).await != Some(Frame::HeartbeatReply { nonce: 5 }) {}
    assert_eq!(reading(&node).round_trip, None);
    node.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r8_sums_do_not_fall_when_a_peer_is_forgotten() {
    let node = Node::start("one", builder().options(options().peers(1))).await;
    for round in 1..=5 {
        let name = format!("127.0.0.1:{}", 8 + round);
        // As soon as there is a place.
        let peer = loop {
            let mut peer = Stranger::call(&node, &name).await;
            if let Some(Frame::Welcome(_)) = soon("an answer", peer.hear()).await {
                break peer;
            }
        };
        eventually("one more", || node.remote.metrics().counts.connections == round).await;
        drop(peer);
        eventually("its end", || node.remote.metrics().counts.disconnections == round).await;
        let metrics = node.remote.metrics();
        assert_eq!((metrics.peers.len(), metrics.connected()), (1, 0));
        assert_eq!((&*metrics.peers[0].node, metrics.peers[0].connections), (&*name, 1));
    }
    node.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r8_every_figure_has_a_name_of_its_own_and_says_what_it_is() {
    let (one, other) = pair().await;
    other.desk("desk").await;
    soon("an answer", one.far(&other, "desk").ask(Note { number: 1 }))
        .await
        .unwrap();
    let all = one.system.instruments();
    let ours: Vec<_> = all.iter().filter(|one| one.name.starts_with("remote.")).collect();
    assert!(ours.len() > 40, "{}", ours.len());
    for (at, instrument) in ours.iter().enumerate() {
        assert!(!instrument.help.is_empty(), "{}", instrument.name);
        assert!(ours[..at].iter().all(|before| before.name != instrument.name));
        let counts = instrument.name.ends_with(".count") && instrument.name != "remote.peers.count";
        let is_counter = instrument.kind == InstrumentKind::Counter;
        assert!(!counts || is_counter, "{}", instrument.name);
        let is_of_each = instrument.name.starts_with("remote.peer.");
        for point in &instrument.points {
            assert_eq!(point.labels.len(), usize::from(is_of_each), "{}", instrument.name);
        }
    }
    // The same ones, in the same order, whoever is known.
    let names = |node: &Node| -> Vec<_> { node.system.instruments().iter().map(|one| one.name).collect() };
    let alone = Node::start("alone", builder()).await;
    assert_eq!(names(&one), names(&alone));
    alone.system.stop().await.unwrap();
    stop(one, other).await;
}
