//! Nodes of versions that have nothing in common say so, on both sides.

use tokio::net::TcpListener;
use volary_remote::PeerEvent;
use volary_wire::native::{Frame, Refuse, RefuseReason};

use crate::home::{Home, event, lasting, until};
use crate::program::Setup;
use crate::raw::{Raw, hello, welcome};
use crate::writer::Writer;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_a_caller_of_another_version_is_told_which_are_spoken() {
    let home = Home::start(lasting(5_000, 5_000)).await;
    let child = Setup::of(&home).start().await;
    let mut raw = Raw::connect(&child.node).await;
    raw.say(&hello("127.0.0.1:1", (7, 9), 1)).await;
    let Some(Frame::Refuse(refuse)) = raw.hear().await else {
        panic!("not refused")
    };
    assert_eq!(refuse.reason, RefuseReason::Version);
    assert_eq!(refuse.text.as_str(), "versions 1 to 1 are spoken here, not 7 to 9");
    assert!(raw.hear().await.is_none(), "and that was all");
    // One that knows this version among others is taken.
    let mut raw = Raw::connect(&child.node).await;
    raw.say(&hello("127.0.0.1:1", (0, 9), 1)).await;
    assert!(matches!(raw.hear().await, Some(Frame::Welcome(welcome)) if welcome.version == 1));
    home.stop().await;
}

/// What a node says of one that answers so, and how its messages end.
async fn why(answer: impl Fn(&str) -> Frame + Send + 'static) -> String {
    let home = Home::start(lasting(1_000, 500)).await;
    let events = home.events();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let node = listener.local_addr().unwrap().to_string();
    let me = node.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let mut raw = Raw::around(stream);
            raw.hear().await;
            raw.say(&answer(&me)).await;
        }
    });
    let mut writer = Writer::new(&home, &node, "a");
    writer.write(10).await;
    let event = event(&events, "a reason", |event| {
        matches!(event, PeerEvent::NotConnected { .. })
    })
    .await;
    until("they are given up", || home.reading(&node).unreachable == 10).await;
    assert_eq!(
        (home.reading(&node).under_way, home.system.metrics().dead_letters),
        (0, 10)
    );
    home.stop().await;
    let PeerEvent::NotConnected { why, .. } = event else {
        unreachable!("it was looked for")
    };
    why
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_a_node_of_another_version_is_named_as_the_reason() {
    let refused = why(|_| {
        let text = "versions 7 to 9 are spoken here, not 1 to 1".into();
        Frame::Refuse(Refuse {
            reason: RefuseReason::Version,
            text,
        })
    });
    assert_eq!(refused.await, "it refused: versions 7 to 9 are spoken here, not 1 to 1");
    let chosen = why(|me| welcome(me, 9)).await;
    assert_eq!(chosen, "it broke a rule: it chose version 9, which was not offered");
}
