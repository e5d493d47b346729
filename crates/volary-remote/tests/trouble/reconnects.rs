//! Connections that come and go, by the thousand: nothing of them stays.

use tokio::io::AsyncWriteExt;
use volary_wire::native::{Frame, Goodbye, GoodbyeReason, VERSIONS};

use crate::books::{End, balance_here, balance_there, dead_letters_at_home};
use crate::cutting::Cutting;
use crate::home::{Home, lasting, until};
use crate::program::Setup;
use crate::raw::{Raw, bytes_of, hello};
use crate::writer::Writer;

/// How many; `cargo xtask soak --reconnects` wants ten times as many.
fn rounds() -> u64 {
    std::env::var("VOLARY_RECONNECTS").map_or(1_000, |text| text.parse().unwrap())
}

/// Connects as one of a few nodes, says more or less of what is to be said, and goes in one of several ways.
async fn come_and_go(node: &str, round: u64) {
    let me = format!("127.0.0.1:{}", 1 + round % 8);
    match round % 5 {
        0 => drop(Raw::connect(node).await),
        1 => {
            let mut raw = Raw::connect(node).await;
            let words = bytes_of(&hello(&me, VERSIONS, 1 + round));
            let _ = raw.stream.write_all(&words[..words.len() / 2]).await;
        }
        2 => drop(Raw::greet(node, &me, 1 + round).await),
        3 => Raw::greet(node, &me, 1 + round).await.reset(),
        _ => {
            let mut raw = Raw::greet(node, &me, 1 + round).await;
            let (reason, text) = (GoodbyeReason::Leaving, "".into());
            raw.say(&Frame::Goodbye(Goodbye { reason, text })).await;
            raw.hear_the_end().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_connections_by_the_thousand_leave_nothing_behind() {
    let home = Home::start(lasting(10_000, 60_000)).await;
    let mut child = Setup::of(&home).with("SILENCE", 10_000).start().await;
    let flow = Writer::new(&home, &child.node, "a").flow();
    until("traffic", || child.handled() > 200).await;
    let warm = rounds() / 4;
    for round in 0..warm {
        come_and_go(&child.node, round).await;
    }
    let writer = flow.stop().await;
    let (files, memory) = (child.open_files(), child.memory());
    for round in warm..rounds() {
        come_and_go(&child.node, round).await;
    }
    until("its sockets are closed", || child.open_files() <= files).await;
    let grown = child.memory().saturating_sub(memory);
    println!("{} connections: {memory} KiB, then {grown} KiB more", rounds());
    assert!(grown < 4_096, "{grown} KiB more for {} connections", rounds() - warm);
    assert_eq!(
        child.report().await.get("peers"),
        9,
        "eight that come and go, and the test"
    );
    balance_there(&home, &[&writer], &mut [(&mut child, End::Lives)]).await;
    assert_eq!(
        home.reading(&child.node).connections,
        1,
        "the one that works was not disturbed"
    );
    home.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r8_an_association_that_reconnects_again_and_again_keeps_its_books() {
    let cutting = Cutting::default();
    let home = Home::start(lasting(10_000, 60_000).transport(cutting.clone())).await;
    let mut child = Setup::of(&home).with("SILENCE", 10_000).start().await;
    home.watch(&child).await;
    child.command("speak 100000000");
    let flow = Writer::new(&home, &child.node, "a").flow();
    // Each takes a hundred times as long as one of the above.
    let rounds = if rounds() > 1_000 { rounds() } else { rounds() / 5 };
    let mut memory = 0;
    for round in 0..rounds {
        let before = home.reading(&child.node);
        cutting.cut();
        until("another connection, and traffic", || {
            let reading = home.reading(&child.node);
            reading.connections > before.connections && reading.confirmed > before.confirmed
        })
        .await;
        if round == rounds / 4 {
            memory = child.memory();
        }
    }
    let before = child.handled();
    until("traffic", || child.handled() > before + 5).await;
    let writer = flow.stop().await;
    balance_there(&home, &[&writer], &mut [(&mut child, End::Lives)]).await;
    balance_here(&home, &mut child).await;
    dead_letters_at_home(&home).await;
    assert!(home.reading(&child.node).connections >= rounds);
    assert_eq!(home.heard.count("gone "), 0);
    let grown = child.memory().saturating_sub(memory);
    println!("{rounds} reconnects: {memory} KiB, then {grown} KiB more");
    assert!(grown < 4_096, "{grown} KiB more");
    child.command("end");
    until("the end", || home.heard.count("gone ") == 1).await;
    home.stop().await;
}
