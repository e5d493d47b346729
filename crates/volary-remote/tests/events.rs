//! R3, R8: connections are seen on the event stream.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::time::Duration;

use common::*;
use volary_core::{ActorStarted, ActorStopped};
use volary_remote::PeerEvent;
use volary_remote::transport::Memory;

/// Waits for the event that fits.
macro_rules! heard {
    ($events:expr, $pattern:pat) => {
        soon(stringify!($pattern), async {
            loop {
                let event = $events.next().await.unwrap();
                if matches!(&event, $pattern) {
                    break event;
                }
            }
        })
        .await
    };
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_a_connection_is_seen_to_come_and_go_on_both_sides() {
    let (one, other) = pair().await;
    let here = one.system.events().subscribe::<PeerEvent>();
    let there = other.system.events().subscribe::<PeerEvent>();
    one.remote.kinds(other.remote.node()).await.unwrap();
    let (of_one, of_other) = (one.remote.node().to_owned(), other.remote.node().to_owned());
    assert_eq!(heard!(here, PeerEvent::Connected { .. }).node(), of_other);
    assert_eq!(heard!(there, PeerEvent::Connected { .. }).node(), of_one);
    other.system.stop().await.unwrap();
    let gone = heard!(here, PeerEvent::Disconnected { .. });
    assert_eq!(gone.node(), of_other);
    assert!(
        matches!(&gone, PeerEvent::Disconnected { why, .. } if why.contains("goodbye")),
        "{gone:?}"
    );
    one.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r8_a_peer_that_stays_away_is_lost_and_its_actors_with_it() {
    let patient = options().lost_after(Duration::from_millis(100));
    // A network of its own: nobody else can come to be where the other node was.
    let network = Memory::default();
    let one = Node::start("one", builder().options(patient).transport(network.clone())).await;
    let other = Node::start("other", builder().transport(network)).await;
    other.desk("desk").await;
    let desk = one.far(&other, "desk");
    soon("an answer", desk.ask(Note { number: 1 })).await.unwrap();
    let events = one.system.events().subscribe::<PeerEvent>();
    let node = other.remote.node().to_owned();
    other.system.stop().await.unwrap();
    heard!(events, PeerEvent::Disconnected { .. });
    // Somebody there is needed again, but the node does not come back.
    let again = format!("volary://other@{node}/user/desk").parse().unwrap();
    let again: volary::ActorRef<Desk> = one.remote.actor(&again).unwrap();
    let _ = again.tell(Note { number: 2 });
    assert_eq!(heard!(events, PeerEvent::Lost { .. }).node(), node);
    soon("its actors are gone", again.terminated()).await;
    one.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r8_another_incarnation_quarantines_the_one_before() {
    let network = Memory::default();
    let one = Node::start("one", builder().transport(network.clone())).await;
    let other = Node::start("other", builder().transport(network.clone())).await;
    one.remote.kinds(other.remote.node()).await.unwrap();
    let events = one.system.events().subscribe::<PeerEvent>();
    let node = other.remote.node().to_owned();
    other.system.stop().await.unwrap();
    heard!(events, PeerEvent::Disconnected { .. });
    let again = Node::start_at("other", builder().transport(network), &node).await;
    soon("it answers", one.remote.kinds(&node)).await.unwrap();
    let event = heard!(events, PeerEvent::Quarantined { .. });
    assert!(
        matches!(&event, PeerEvent::Quarantined { node: of, incarnation } if *of == node && *incarnation > 0),
        "{event:?}"
    );
    one.system.stop().await.unwrap();
    again.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r8_actors_of_other_nodes_neither_start_nor_stop_here() {
    let (one, other) = pair().await;
    let real = other.desk("desk").await;
    let started = one.system.events().subscribe::<ActorStarted>();
    let stopped = one.system.events().subscribe::<ActorStopped>();
    let far = one.far(&other, "desk");
    soon("an answer", far.ask(Note { number: 1 })).await.unwrap();
    // Whoever stands for it ends with it.
    real.stop();
    soon("the end is heard", far.terminated()).await;
    drop(far);
    let near = one.desk("near").await;
    near.stop();
    // What remoting has of its own is in `/system`.
    let first = async {
        loop {
            let path = started.next().await.unwrap().path;
            if path.as_str().starts_with("/user") {
                break path;
            }
        }
    };
    assert_eq!(soon("a start", first).await.as_str(), "/user/near");
    assert_eq!(
        soon("an end", stopped.next()).await.unwrap().path.as_str(),
        "/user/near"
    );
    stop(one, other).await;
}
