//! Nodes of versions that have nothing in common, or of another name, say so, on both sides.

use tokio::net::TcpListener;
use volary_remote::PeerEvent;
use volary_wire::native::{Frame, Refuse, RefuseReason};

use crate::books::{End, balance_there, dead_letters_at_home};
use crate::flat::flat_here;
use crate::home::{Home, event, lasting, until};
use crate::program::Setup;
use crate::raw::{Raw, hello, welcome};
use crate::writer::Writer;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_a_caller_of_another_version_is_told_which_are_spoken() {
    let home = Home::start(lasting(5_000, 5_000)).await;
    let mut child = Setup::of(&home).with("SILENCE", 5_000).start().await;
    let flow = Writer::new(&home, &child.node, "a").flow();
    until("traffic", || child.handled() > 100).await;
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
    let writer = flow.stop().await;
    balance_there(&home, &[&writer], &mut [(&mut child, End::Lives)]).await;
    let reading = home.reading(&child.node);
    assert_eq!(
        (reading.connections, reading.confirmed),
        (1, writer.taken),
        "nobody was disturbed"
    );
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
    let reading = home.reading(&node);
    assert_eq!(
        (reading.sent, reading.under_way, reading.connections),
        (10, 0, 0),
        "{reading:?}"
    );
    dead_letters_at_home(&home).await;
    assert_eq!(home.system.metrics().dead_letters, 10);
    flat_here(&home).await;
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

/// One that is too old to listen to whom it is called answers all the same; whoever called notices.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r5_a_node_of_another_name_that_does_not_refuse_is_refused() {
    let taken = why(|me| welcome(me, 1)).await;
    assert_eq!(taken, "we refused: the system there is \"raw\", not \"child\"");
}
