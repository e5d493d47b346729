//! Callers under ever new names: those that are gone are forgotten, and there are never too many.

use std::time::Duration;

use volary_wire::native::{Frame, RefuseReason, VERSIONS};

use crate::books::{End, balance_there};
use crate::home::{Home, lasting, until};
use crate::program::Setup;
use crate::raw::{Raw, hello};
use crate::writer::Writer;

const PEERS: usize = 8;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s20_nodes_under_ever_new_names_are_forgotten_and_no_more_than_allowed_are_known() {
    let home = Home::start(lasting(10_000, 60_000)).await;
    let setup = Setup::of(&home).with("SILENCE", 10_000).with("PEERS", PEERS);
    let mut child = setup.start().await;
    let flow = Writer::new(&home, &child.node, "a").flow();
    until("traffic", || child.handled() > 200).await;
    let mut port = 0;
    let mut name = || {
        port += 1;
        format!("127.0.0.1:{port}")
    };
    for _ in 0..10 * PEERS {
        drop(greet_in_time(&child.node, &name()).await);
    }
    // As many as there is room for.
    let mut held = Vec::new();
    let refused = loop {
        let mut raw = Raw::connect(&child.node).await;
        raw.say(&hello(&name(), VERSIONS, 1)).await;
        match raw.hear().await {
            Some(Frame::Welcome(_)) => held.push(raw),
            other => break other,
        }
    };
    let is_busy = matches!(&refused, Some(Frame::Refuse(refuse)) if refuse.reason == RefuseReason::Busy);
    assert!(is_busy, "{refused:?}");
    assert!(child.report().await.get("peers") <= PEERS as u64);
    drop(held);
    drop(greet_in_time(&child.node, &name()).await);
    let writer = flow.stop().await;
    balance_there(&home, &[&writer], &mut [(&mut child, End::Lives)]).await;
    let reading = home.reading(&child.node);
    assert_eq!((reading.connections, reading.unconfirmed), (1, 0), "{reading:?}");
    home.stop().await;
}

/// Connects, as soon as the end of those before was noticed.
async fn greet_in_time(node: &str, me: &str) -> Raw {
    for _ in 0..1_000 {
        let mut raw = Raw::connect(node).await;
        raw.say(&hello(me, VERSIONS, 1)).await;
        match raw.hear().await {
            Some(Frame::Welcome(_)) => return raw,
            Some(Frame::Refuse(refuse)) => assert_eq!(refuse.reason, RefuseReason::Busy),
            other => panic!("{other:?}"),
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("never welcome");
}
