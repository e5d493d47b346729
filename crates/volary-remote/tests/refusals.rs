//! R3: a caller that is refused hears why, however much it has said already, in the simulator.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use volary_remote::Remote;
use volary_testkit::Sim;
use volary_wire::native::{Bounds, Frame, FrameDecoder, FrameWriter, Hello, Lane, Limits, RefuseReason};

/// The first words of a later version, which does not wait for an answer before it says more.
fn words() -> BytesMut {
    let hello = Hello {
        versions: (7, 9),
        cluster: "".into(),
        system: "later".into(),
        node: "later:1".into(),
        incarnation: 1,
        lane: Lane::Control,
        capabilities: Vec::new(),
        compressions: Vec::new(),
        called: Vec::new(),
        bounds: Bounds::default(),
    };
    let mut words = BytesMut::new();
    FrameWriter::new(&mut words).frame(&Frame::Hello(hello)).unwrap();
    words.extend_from_slice(&[7; 20_000]);
    words
}

#[test]
fn r3_a_caller_that_says_more_than_is_heard_still_hears_why_it_is_refused() {
    Sim::check(50, |sim| async move {
        let (bank, later) = (sim.node("bank"), sim.node("later"));
        let builder = Remote::builder().transport(bank.transport());
        let remote = builder.start(&bank.start().await, "bank:4242").await.unwrap();
        let mut stream = later.connect("bank", 4242).await.unwrap();
        stream.write_all(&words()).await.unwrap();
        let mut decoder = FrameDecoder::new(Limits::default());
        let answer = loop {
            if let Some(frame) = decoder.next_frame().unwrap() {
                break frame;
            }
            assert_ne!(
                stream.read_buf(decoder.buffer()).await.unwrap(),
                0,
                "the end, and no reason"
            );
        };
        assert!(matches!(answer, Frame::Refuse(refuse) if refuse.reason == RefuseReason::Version));
        drop(stream);
        sim.sleep(Duration::from_secs(2)).await;
        assert_eq!((remote.refused_connections(), bank.open_connections()), (1, 0));
    });
}

#[test]
fn r3_who_does_not_stop_talking_when_it_was_refused_is_not_heard_for_long() {
    Sim::check(10, |sim| async move {
        let (bank, later) = (sim.node("bank"), sim.node("later"));
        let builder = Remote::builder().transport(bank.transport());
        let remote = builder.start(&bank.start().await, "bank:4242").await.unwrap();
        let mut stream = later.connect("bank", 4242).await.unwrap();
        while stream.write_all(&words()).await.is_ok() {
            sim.sleep(Duration::from_millis(50)).await;
        }
        assert!(sim.now() < Duration::from_secs(3), "{:?}", sim.now());
        assert_eq!((remote.refused_connections(), bank.open_connections()), (1, 0));
    });
}
