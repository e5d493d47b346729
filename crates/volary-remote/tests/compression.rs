//! R4: fewer bytes between two nodes, as both agree, and never more in memory than allowed.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::time::Duration;

use bytes::BytesMut;
use common::*;
use volary_remote::compression::{Compression, Squeeze, Stretch, StretchError};
use volary_remote::transport::{Memory, Transport};
use volary_wire::native::{Frame, FrameDecoder, FrameWriter, Limits, Operation};

use Compression::*;

const ALL: [Compression; 5] = [Zstd, Lz4, Gzip, Deflate, Brotli];
const PLENTY: usize = 128 << 20;

fn squeezed(squeeze: &mut Squeeze, bytes: &[u8]) -> Vec<u8> {
    squeeze.write(bytes).unwrap();
    squeeze.flush().unwrap();
    let out = squeeze.squeezed().to_vec();
    squeeze.clear();
    out
}

fn stretched(stretch: &mut Stretch, bytes: &[u8]) -> Result<Vec<u8>, StretchError> {
    let mut out = BytesMut::new();
    stretch.feed(bytes);
    while stretch.next(&mut out)? > 0 {}
    Ok(out.to_vec())
}

/// Bytes that no compression makes fewer.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    };
    (0..length).map(|_| next()).collect()
}

#[test]
fn r4_each_flush_gives_the_other_side_all_that_was_written() {
    for compression in ALL {
        let mut squeeze = Squeeze::new(compression).unwrap();
        let mut stretch = Stretch::new(compression, PLENTY).unwrap();
        let mut batches: Vec<Vec<u8>> = (0..200)
            .map(|n| format!("a message to /user/desk-{} with the number {n}", n % 7).into_bytes())
            .collect();
        batches.push(vec![0; 1 << 20]);
        batches.push(noise(256 << 10));
        batches.push(Vec::new());
        batches.push(b"end".to_vec());
        let (mut before, mut after) = (0, 0);
        for batch in &batches[..200] {
            let wire = squeezed(&mut squeeze, batch);
            (before, after) = (before + batch.len(), after + wire.len());
            assert_eq!(stretched(&mut stretch, &wire).unwrap(), *batch, "{compression}");
        }
        // The context lasts: alone, such a message would become longer.
        assert!(after * 10 < before * 8, "{compression}: {before} became {after}");
        for batch in &batches[200..] {
            let wire = squeezed(&mut squeeze, batch);
            assert_eq!(stretched(&mut stretch, &wire).unwrap(), *batch, "{compression}");
        }
    }
}

#[test]
fn r4_a_stream_may_be_cut_anywhere() {
    for compression in ALL {
        let mut squeeze = Squeeze::new(compression).unwrap();
        let text: Vec<u8> = (0..5_000_u32).flat_map(|n| (n % 97).to_be_bytes()).collect();
        let wire = squeezed(&mut squeeze, &text);
        for step in [1, 2, 3, 7, 1000] {
            let mut stretch = Stretch::new(compression, PLENTY).unwrap();
            let mut out = Vec::new();
            for piece in wire.chunks(step) {
                out.extend(stretched(&mut stretch, piece).unwrap());
            }
            assert_eq!(out, text, "{compression} by {step}");
        }
        // What is missing is waited for, not made up.
        let mut stretch = Stretch::new(compression, PLENTY).unwrap();
        let part = stretched(&mut stretch, &wire[..wire.len() / 2]).unwrap();
        assert!(part.len() < text.len() && text.starts_with(&part), "{compression}");
    }
}

#[test]
fn r4_small_frames_that_are_kept_share_their_buffers() {
    const COUNT: usize = 200;
    for compression in ALL {
        let mut squeeze = Squeeze::new(compression).unwrap();
        let mut stretch = Stretch::new(compression, PLENTY).unwrap();
        let mut decoder = FrameDecoder::new(Limits::default());
        let mut kept = Vec::new();
        for correlation in 0..COUNT as u64 {
            let (name, payload) = ("stop".into(), noise(100).into());
            let operation = Operation {
                correlation,
                name,
                payload,
            };
            let mut frame = BytesMut::new();
            FrameWriter::new(&mut frame)
                .frame(&Frame::Operation(operation))
                .unwrap();
            stretch.feed(&squeezed(&mut squeeze, &frame));
            while stretch.next(decoder.buffer()).unwrap() > 0 {}
            let Ok(Some(Frame::Operation(operation))) = decoder.next_frame() else {
                unreachable!("a whole frame")
            };
            kept.push(operation.payload);
        }
        let gap = |two: &[bytes::Bytes]| two[1].as_ptr().addr().wrapping_sub(two[0].as_ptr().addr());
        let buffers = 1 + kept.windows(2).filter(|two| gap(two) > 200).count();
        assert!(
            buffers <= COUNT / 8,
            "{compression}: {buffers} buffers for {COUNT} frames"
        );
    }
}

#[test]
fn r4_a_bomb_ends_within_the_budget() {
    for compression in ALL {
        let mut squeeze = Squeeze::new(compression).unwrap();
        let bomb = squeezed(&mut squeeze, &vec![0; 8 << 20]);
        assert!(bomb.len() < 1 << 19, "{compression}: {}", bomb.len());
        let limit = 1 << 20;
        let mut stretch = Stretch::new(compression, limit).unwrap();
        stretch.feed(&bomb);
        let mut out = BytesMut::new();
        let (mut most, mut sum) = (0, 0);
        let error = loop {
            match stretch.next(&mut out) {
                Ok(made) => {
                    assert_ne!(made, 0, "{compression}: no end");
                    (most, sum) = (most.max(out.capacity()), sum + made);
                    out.clear();
                }
                Err(error) => break error,
            }
        };
        assert!(matches!(error, StretchError::TooMuch { .. }), "{compression}: {error}");
        assert!(
            sum <= limit && most <= 64 << 10,
            "{compression}: {sum} bytes, {most} at a time"
        );
    }
}

#[test]
fn r4_corrupt_streams_are_refused_or_wrong_but_never_a_panic() {
    for compression in ALL {
        let mut stretch = Stretch::new(compression, PLENTY).unwrap();
        let error = stretched(&mut stretch, &[0xff; 64]).unwrap_err();
        assert!(matches!(error, StretchError::Corrupt { .. }), "{compression}: {error}");
        assert!(error.to_string().contains(compression.name()), "{error}");

        let mut squeeze = Squeeze::new(compression).unwrap();
        let wire = squeezed(&mut squeeze, &noise(300).repeat(4));
        for at in 0..wire.len() {
            let mut wrong = wire.clone();
            wrong[at] ^= 0x55;
            let mut stretch = Stretch::new(compression, 1 << 20).unwrap();
            let _ = stretched(&mut stretch, &wrong);
        }
    }
}

async fn nodes(one: &[Compression], other: &[Compression]) -> (Node, Node) {
    let with = |list: &[Compression]| builder().compressions(list.to_vec());
    (
        Node::start("one", with(one)).await,
        Node::start("other", with(other)).await,
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r4_two_nodes_agree_on_the_first_of_the_callers_that_both_have() {
    let cases: &[(&[Compression], &[Compression], Option<Compression>)] = &[
        (&[], &[], None),
        (&[Zstd], &[], None),
        (&[], &[Zstd], None),
        (&[Zstd], &[Lz4], None),
        (&[Zstd], &[Zstd], Some(Zstd)),
        (&[Lz4], &[Zstd, Lz4], Some(Lz4)),
        (&[Brotli, Gzip], &[Gzip, Brotli], Some(Brotli)),
        (&[Deflate, Lz4], &[Lz4], Some(Lz4)),
        (&[Gzip], &[Gzip], Some(Gzip)),
        (&[Deflate], &[Deflate], Some(Deflate)),
    ];
    for (caller, called, expected) in cases {
        let (one, other) = nodes(caller, called).await;
        other.desk("desk").await;
        let desk = one.far(&other, "desk");
        assert_eq!(soon("an answer", desk.ask(Note { number: 2 })).await.unwrap(), 1);
        assert_eq!(one.remote.peers()[0].compression, *expected, "{caller:?} {called:?}");
        assert_eq!(other.remote.peers()[0].compression, *expected, "{caller:?} {called:?}");
        stop(one, other).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r4_by_default_nothing_is_compressed_on_loopback_and_zstd_is_used_beyond() {
    for (at, expected) in [("127.0.0.1:0", None), ("10.1.2.3:0", Some(Zstd))] {
        let network = Memory::default();
        let one = Node::start_at("one", builder().transport(network.clone()), at).await;
        let other = Node::start_at("other", builder().transport(network), at).await;
        other.desk("desk").await;
        soon("an answer", one.far(&other, "desk").ask(Note { number: 1 }))
            .await
            .unwrap();
        assert_eq!(one.remote.peers()[0].compression, expected);
        stop(one, other).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r4_small_and_large_messages_arrive_in_order_in_fewer_bytes_and_the_books_balance() {
    for compression in ALL {
        let (one, other) = nodes(&[compression], &[compression]).await;
        other.desk("desk").await;
        let desk = one.far(&other, "desk");
        let (flat, rough) = (vec![7; 256 << 10], noise(100_000));
        for number in 0..2_000 {
            while desk.tell(Note { number }).is_err() {
                tokio::task::yield_now().await;
            }
            if number % 1_000 == 500 {
                desk.tell(Echo { bytes: flat.clone() }).unwrap();
                desk.tell(Echo { bytes: rough.clone() }).unwrap();
            }
        }
        let echoed = soon("an echo", desk.ask(Echo { bytes: flat.clone() })).await.unwrap();
        assert!(echoed == flat, "{compression}");
        let echoed = soon("an echo", desk.ask(Echo { bytes: rough.clone() })).await.unwrap();
        assert!(echoed == rough, "{compression}");
        let expected: Vec<String> = (0..2_000).map(|n: u64| n.to_string()).collect();
        assert!(
            other.log.all() == expected,
            "{compression}: all came, once and in order"
        );
        eventually("all are confirmed", || one.remote.peers()[0].under_way == 0).await;
        let (here, there) = (&one.remote.peers()[0], &other.remote.peers()[0]);
        assert_eq!((here.sent, here.confirmed), (2_006, 2_006), "{compression}: {here:?}");
        assert_eq!((there.received, there.refused), (2_006, 0), "{compression}: {there:?}");
        // Without it, more than a million.
        assert!(here.bytes_written < 500_000, "{compression}: {here:?}");
        stop(one, other).await;
    }
}

/// A peer that agrees on a compression and then sends these bytes.
async fn call_and_send(network: &Memory, other: &Node, compression: Compression, bytes: &[u8]) {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use volary_wire::native::{Bounds, Frame, FrameDecoder, FrameWriter, Hello, Lane, Limits, VERSIONS};
    let mut connection = network.connect(other.remote.node()).await.unwrap();
    let hello = Frame::Hello(Hello {
        versions: VERSIONS,
        cluster: "".into(),
        system: "mallory".into(),
        node: "127.0.0.1:6666".into(),
        incarnation: 1,
        lane: Lane::Control,
        capabilities: Vec::new(),
        compressions: vec![compression.name().into()],
        called: Vec::new(),
        bounds: Bounds::default(),
    });
    let mut out = BytesMut::new();
    FrameWriter::new(&mut out).frame(&hello).unwrap();
    connection.writer.write_all(&out).await.unwrap();
    let mut decoder = FrameDecoder::new(Limits::default());
    let welcome = loop {
        if let Some(frame) = decoder.next_frame().unwrap() {
            break frame;
        }
        connection.reader.read_buf(decoder.buffer()).await.unwrap();
    };
    assert!(matches!(welcome, Frame::Welcome(welcome) if welcome.compression.is_some()));
    // It may be closed before all is written, which is the point.
    let _ = connection.writer.write_all(bytes).await;
    let mut rest = Vec::new();
    let _ = soon("the connection is closed", connection.reader.read_to_end(&mut rest)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r4_a_peer_that_sends_a_bomb_or_nonsense_is_disconnected_and_others_go_on() {
    for compression in ALL {
        let network = Memory::default();
        let with = || {
            builder()
                .transport(network.clone())
                .compressions([compression])
                .options(options().stretch_bytes(1 << 20).silence(Duration::from_secs(600)))
        };
        let (one, other) = (Node::start("one", with()).await, Node::start("other", with()).await);
        other.desk("desk").await;
        let desk = one.far(&other, "desk");
        soon("an answer", desk.ask(Note { number: 1 })).await.unwrap();

        // The beginning of a frame that is not too long: only what is decompressed can be too much.
        let mut squeeze = Squeeze::new(compression).unwrap();
        let mut bomb = vec![0; 4 << 20];
        bomb[..4].copy_from_slice(&(15_u32 << 20).to_be_bytes());
        let bomb = squeezed(&mut squeeze, &bomb);
        for bytes in [&bomb[..], &[0xff; 64]] {
            call_and_send(&network, &other, compression, bytes).await;
            let mallory = |node: &Node| {
                let peers = node.remote.peers();
                peers.into_iter().find(|peer| peer.node.ends_with(":6666")).unwrap()
            };
            eventually("it is disconnected", || !mallory(&other).connected).await;
        }
        assert_eq!(soon("an answer", desk.ask(Note { number: 2 })).await.unwrap(), 2);
        stop(one, other).await;
    }
}
