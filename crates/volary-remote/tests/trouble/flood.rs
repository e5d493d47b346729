//! A peer that sends without regard to anything: what it can make a node keep is bounded.

use tokio::io::AsyncWriteExt;
use volary_wire::native::Frame;

use crate::books::{End, balance_there};
use crate::counter::{Counter, Hold};
use crate::home::{Home, lasting, until};
use crate::program::Setup;
use crate::raw::{Raw, bytes_of, tell};
use crate::writer::Writer;

/// Bytes of a flood; more than any budget.
const FLOOD: usize = 300 << 20;

/// Writes these bytes again and again, until there were many or the other side has enough; hears nothing.
async fn pour(raw: &mut Raw, mut next: impl FnMut() -> Vec<u8>) -> usize {
    let mut poured = 0;
    while poured < FLOOD {
        let bytes = next();
        let write = raw.stream.write_all(&bytes);
        match tokio::time::timeout(std::time::Duration::from_secs(2), write).await {
            Ok(Ok(())) => poured += bytes.len(),
            _ => break,
        }
    }
    poured
}

/// A message for a counter, of a million bytes, from nobody: a text of no bytes, a number, and the rest.
fn word(number: u64) -> Vec<u8> {
    let mut payload = vec![0];
    let mut left = number;
    while left >= 0x80 {
        payload.push(0x80 | (left & 0x7f) as u8);
        left >>= 7;
    }
    payload.extend([left as u8, 0xc0, 0x84, 0x3d]);
    payload.resize(payload.len() + 1_000_000, 7);
    payload
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s20_messages_beyond_the_budget_of_the_node_are_refused() {
    let home = Home::start(lasting(10_000, 60_000)).await;
    let mut child = Setup::of(&home)
        .with("SILENCE", 10_000)
        .with("INBOUND", 16 << 20)
        .start()
        .await;
    let flow = Writer::new(&home, &child.node, "a").flow();
    until("traffic", || child.handled() > 200).await;
    let stuck = format!("volary://child@{}/user/stuck", child.node);
    let mut raw = Raw::greet(&child.node, "127.0.0.1:1", 1).await;
    home.far::<Counter>(&child, "stuck").tell(Hold { number: 1 }).unwrap();
    until("it is stuck", || child.lines.count("h stuck holder") == 1).await;
    let before = child.memory();
    let mut sequence = 0;
    let mut next = || {
        sequence += 1;
        tell(sequence, &stuck, "trouble.Count", &word(sequence)).to_vec()
    };
    let poured = pour(&mut raw, &mut next).await;
    let grown = child.memory().saturating_sub(before) / 1_024;
    println!("{} MiB poured, {grown} MiB kept", poured >> 20);
    assert!(poured >= 100 << 20, "it took only {poured} bytes");
    assert!(grown < 60, "{grown} MiB are kept");
    let handled = child.handled();
    until("the others go on", || child.handled() > handled + 200).await;
    let writer = flow.stop().await;
    let reading = home.reading(&child.node);
    assert_eq!(
        (reading.connections, reading.busy),
        (1, 0),
        "whoever floods leaves room to the others"
    );
    child.command("release");
    until("what was taken is handled", || child.lines.count("h stuck ") > 5).await;
    // And there is room again.
    let handled = child.handled();
    raw.stream.write_all(&next()).await.unwrap();
    until("one more", || child.handled() > handled).await;
    let mut held = Writer::new(&home, &child.node, "stuck");
    held.taken = 1; // the one that holds
    balance_there(&home, &[&writer, &held], &mut [(&mut child, End::Lives)]).await;
    home.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s20_who_asks_for_words_and_does_not_listen_is_not_heard_either() {
    let home = Home::start(lasting(10_000, 60_000)).await;
    let mut child = Setup::of(&home)
        .with("SILENCE", 10_000)
        .with("OUTBOUND", 4 << 20)
        .start()
        .await;
    let flow = Writer::new(&home, &child.node, "a").flow();
    until("traffic", || child.handled() > 200).await;
    let before = child.memory();
    let beats: Vec<u8> = (0..5_000)
        .flat_map(|nonce| bytes_of(&Frame::Heartbeat { nonce }).to_vec())
        .collect();
    let mut raw = Raw::greet(&child.node, "127.0.0.1:1", 1).await;
    let poured = pour(&mut raw, || beats.clone()).await;
    let grown = child.memory().saturating_sub(before) / 1_024;
    println!("{} MiB of heartbeats poured, {grown} MiB kept", poured >> 20);
    assert!(grown < 50, "{grown} MiB are kept");
    drop(raw);
    let writer = flow.stop().await;
    balance_there(&home, &[&writer], &mut [(&mut child, End::Lives)]).await;
    assert_eq!(
        home.reading(&child.node).connections,
        1,
        "the one that works was not disturbed"
    );
    home.stop().await;
}
