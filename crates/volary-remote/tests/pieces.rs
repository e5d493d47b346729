//! S20: messages in pieces that are not whole yet are within what the mail of all peers may take of a node.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that meets an error fails, and runs what it needs"
)]

mod common;

use std::time::Duration;

use bytes::BytesMut;
use common::stranger::{Stranger, envelope};
use common::*;
use volary_wire::native::{Chunk, Chunks, Frame, FrameDecoder, FrameWriter, Limits};

const INBOUND: usize = 8 << 20;
const LENGTH: usize = 1 << 20;
const EACH: u64 = 8;

/// An echo of a mebibyte, in pieces.
fn pieces(to: &str, sequence: u64) -> Vec<Chunk> {
    let mut out = BytesMut::new();
    let mut payload = vec![0x80, 0x80, 0x40]; // as long as that
    payload.resize(3 + LENGTH, 7);
    let echo = Frame::Tell(envelope(to, sequence, "test.Echo", payload));
    FrameWriter::new(&mut out).frame(&echo).unwrap();
    let (mut chunks, mut cut) = (Chunks::new(sequence, out.freeze(), 100_000), BytesMut::new());
    while chunks.write_next(&mut cut).unwrap() {}
    let mut decoder = FrameDecoder::new(Limits::default());
    decoder.feed(&cut);
    let next = || match decoder.next_frame().unwrap()? {
        Frame::Chunk(chunk) => Some(chunk),
        other => panic!("{other:?}"),
    };
    std::iter::from_fn(next).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s20_messages_that_strangers_never_end_are_within_the_budget_of_the_node() {
    let patient = options().inbound_bytes(INBOUND).silence(Duration::from_secs(3_600));
    let node = Node::start("one", builder().options(patient)).await;
    let desk = node.desk("desk").await;
    let to = node.address("desk").to_string();
    let mut strangers = Vec::new();
    for number in 0..3 {
        let mut stranger = Stranger::enter(&node, &format!("127.0.0.1:{}", 9 + number)).await;
        // All but the last piece of each.
        for sequence in 1..=EACH {
            let mut begun = pieces(&to, sequence);
            begun.pop();
            stranger.say(begun.into_iter().map(Frame::Chunk)).await;
        }
        strangers.push(stranger);
    }
    let read = || node.remote.metrics().counts.bytes_read;
    eventually("all is read", || read() >= 3 * EACH * 1_000_000).await;
    let sums = || node.remote.metrics().counts;
    let held = 3 * EACH - sums().abandoned;
    let taken = node.remote.metrics().inbound_bytes;
    assert!(
        taken <= INBOUND && taken >= held as usize * 1_000_000,
        "{taken} for {held}"
    );
    assert!((1..=INBOUND as u64 >> 20).contains(&held), "{held} are held");
    assert_eq!((sums().refused, sums().breaches), (sums().abandoned, 0));
    // Whoever ends them is heard, and those which were given up are busy.
    for stranger in &mut strangers {
        let last = (1..=EACH).map(|sequence| Frame::Chunk(pieces(&to, sequence).pop().unwrap()));
        stranger.say(last).await;
    }
    eventually("all have come to an end", || sums().received == 3 * EACH).await;
    let mut busy = 0;
    for mut stranger in strangers {
        let end = 1 << 40;
        stranger.say([Frame::Heartbeat { nonce: end }]).await;
        soon("what it has to hear", async {
            loop {
                match stranger.hear().await {
                    Some(Frame::Busy { .. }) => busy += 1,
                    Some(Frame::HeartbeatReply { nonce }) if nonce == end => break,
                    Some(_) => {}
                    None => panic!("it was not let go"),
                }
            }
        })
        .await;
    }
    assert_eq!(busy, sums().refused);
    eventually("all that came is handled", || node.remote.metrics().inbound_bytes == 0).await;
    // And there is room again.
    let mut late = Stranger::enter(&node, "127.0.0.1:19").await;
    let before = sums().refused;
    late.say(pieces(&to, 1).into_iter().map(Frame::Chunk)).await;
    eventually("one more", || sums().received == 3 * EACH + 1).await;
    assert_eq!(sums().refused, before);
    drop(desk);
    node.system.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s20_a_message_larger_than_half_of_the_budget_is_never_taken() {
    const LARGE: usize = 65 << 20;
    let large = options().max_frame(100 << 20).max_message(100 << 20);
    let node = Node::start("one", builder().options(large.inbound_bytes(2 * LARGE - 512))).await;
    node.desk("desk").await;
    let mut stranger = Stranger::enter(&node, "127.0.0.1:9").await;
    let whole = envelope(&node.address("desk").to_string(), 1, "test.Echo", vec![7; LARGE]);
    stranger.say([Frame::Tell(whole)]).await;
    let heard = async { while stranger.hear().await.unwrap() != (Frame::Busy { sequence: 1 }) {} };
    soon("that it is refused", heard).await;
    assert_eq!((reading(&node).refused, node.remote.metrics().inbound_bytes), (1, 0));
    node.system.stop().await.unwrap();
}
