//! Callers who say what no node says, or half of it: each is closed, and the others are not disturbed.

use tokio::io::AsyncWriteExt;
use volary_wire::native::{Frame, Name, VERSIONS, Watch};

use crate::books::{End, balance_there};
use crate::home::{Home, lasting, until};
use crate::program::Setup;
use crate::raw::{Raw, bytes_of, hello, tell};
use crate::writer::Writer;

/// Numbers that look like chance.
fn noise(length: usize, mut state: u64) -> Vec<u8> {
    let step = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u8
    };
    std::iter::repeat_with(step).take(length).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s20_garbage_before_during_and_behind_the_handshake_ends_that_connection_only() {
    let home = Home::start(lasting(10_000, 60_000)).await;
    // A short silence, so that half a handshake is closed soon, and the heartbeats of home come within it.
    let mut child = Setup::of(&home).with("SILENCE", 2_000).start().await;
    let flow = Writer::new(&home, &child.node, "a").flow();
    until("traffic", || child.handled() > 200).await;
    let first = bytes_of(&hello("127.0.0.1:1", VERSIONS, 1));
    let mut openings: Vec<Vec<u8>> = (0..20).map(|seed| noise(4_000, seed)).collect();
    openings.push(b"GET / HTTP/1.1\r\nhost: here\r\n\r\n".to_vec());
    openings.push(vec![0x16, 0x03, 0x01, 0x02, 0x00, 0x01]);
    openings.push(vec![0xff; 64]);
    openings.push(first[..first.len() - 1].to_vec());
    openings.push(first[..3].to_vec());
    openings.push(Vec::new());
    openings.push(tell(1, "volary://child@127.0.0.1:1/user/a", "trouble.Count", b"x").to_vec());
    for opening in openings {
        let mut raw = Raw::connect(&child.node).await;
        let _ = raw.stream.write_all(&opening).await;
        raw.hear_the_end().await;
    }
    let address = format!("volary://child@{}/user/a", child.node);
    let behind: [Vec<u8>; 4] = [
        noise(4_000, 77),
        first.to_vec(),
        // A number that was never given to anything.
        bytes_of(&Frame::Watch(Watch {
            watcher: Name::Id(9),
            watched: Name::Id(9),
        }))
        .iter()
        .chain(&[0, 0, 0, 2, 0xee, 0])
        .copied()
        .collect(),
        vec![0xff; 64],
    ];
    for (round, words) in behind.into_iter().enumerate() {
        let mut raw = Raw::greet(&child.node, "127.0.0.1:1", 1 + round as u64).await;
        let _ = raw.stream.write_all(&words).await;
        raw.hear_the_end().await;
    }
    // What can be read but not be understood is refused, without the end of the connection.
    let mut raw = Raw::greet(&child.node, "127.0.0.1:1", 100).await;
    for (sequence, kind) in ["trouble.Count", "trouble.Nothing", "trouble.Hold"].iter().enumerate() {
        let _ = raw
            .stream
            .write_all(&tell(1 + sequence as u64, &address, kind, b"\xff\xff\xff"))
            .await;
    }
    while !matches!(raw.hear().await, Some(Frame::Confirm(confirm)) if confirm.up_to == 3) {}
    let writer = flow.stop().await;
    balance_there(&home, &[&writer], &mut [(&mut child, End::Lives)]).await;
    assert_eq!(
        home.reading(&child.node).connections,
        1,
        "the one that works was not disturbed"
    );
    home.stop().await;
}
