//! One frame of every kind and shape.
#![allow(
    dead_code,
    unreachable_pub,
    missing_docs,
    reason = "each file uses its part, in tests only"
)]

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use volary_wire::CodecId;
use volary_wire::native::{
    Answer, Bounds, Capabilities, Chunk, Confirm, Credit, Envelope, Frame, FrameDecoder, FrameError, FrameWriter,
    Goodbye, GoodbyeReason, Hello, Intern, InternSpace, Lane, Limits, Metadata, Name, Operation, Outcome, Refuse,
    RefuseReason, Reply, Terminated, TerminationCause, TraceContext, Watch, Welcome,
};

pub fn metadata() -> Metadata {
    Metadata::builder()
        .deadline(Duration::from_millis(250))
        .trace(TraceContext {
            trace: [0xaa; 16],
            span: [0xbb; 8],
            flags: 1,
        })
        .header("tenant", b"acme")
        .header("empty", b"")
        .build()
}

fn envelope() -> Envelope {
    Envelope {
        sequence: 300,
        receiver: "volary://bank/user/alice".into(),
        sender: None,
        type_name: "bank.v1.Deposit".into(),
        codec: CodecId::PROTO,
        metadata: None,
        payload: Bytes::from_static(&[0x08, 0x0a]),
    }
}

fn reply(outcome: Outcome) -> Frame {
    Frame::Reply(Reply {
        correlation: 7,
        outcome,
    })
}

fn bounds() -> Bounds {
    let bounds = Bounds::of(&Limits::default());
    let golden = (Some(16 << 20), Some(64 << 20), Some(64));
    assert_eq!((bounds.frame, bounds.message, bounds.headers), golden);
    bounds
}

/// All of them, each under the name of its golden file.
pub fn frames() -> Vec<(&'static str, Frame)> {
    let watch = || Watch {
        watcher: Name::Id(3),
        watched: "volary://bank/user/bob#2f".into(),
    };
    let terminated = |cause| {
        Frame::Terminated(Terminated {
            watcher: Name::Id(3),
            watched: Name::Id(4),
            cause,
        })
    };
    vec![
        (
            "hello",
            Frame::Hello(Hello {
                versions: (1, 3),
                cluster: "production".into(),
                system: "bank".into(),
                node: "10.0.0.7:4242".into(),
                incarnation: 1_700_000_000_000,
                lane: Lane::Ordinary(2),
                capabilities: vec!["chunks".into(), "watch".into()],
                compressions: vec!["zstd".into(), "lz4".into()],
                called: Vec::new(),
                bounds: Bounds::default(),
            }),
        ),
        (
            "hello_called",
            Frame::Hello(Hello {
                versions: (1, 1),
                cluster: "".into(),
                system: "bank".into(),
                node: "10.0.0.7:4242".into(),
                incarnation: 3,
                lane: Lane::Control,
                capabilities: Capabilities::all().names(),
                compressions: Vec::new(),
                called: vec!["shop".into()],
                bounds: Bounds::default(),
            }),
        ),
        (
            "hello_bounds",
            Frame::Hello(Hello {
                versions: (1, 1),
                cluster: "".into(),
                system: "bank".into(),
                node: "10.0.0.7:4242".into(),
                incarnation: 3,
                lane: Lane::Control,
                capabilities: Capabilities::all().names(),
                compressions: Vec::new(),
                called: Vec::new(),
                bounds: bounds(),
            }),
        ),
        (
            "hello_window",
            Frame::Hello(Hello {
                versions: (1, 1),
                cluster: "".into(),
                system: "bank".into(),
                node: "10.0.0.7:4242".into(),
                incarnation: 3,
                lane: Lane::Control,
                capabilities: Capabilities::all().names(),
                compressions: Vec::new(),
                called: Vec::new(),
                bounds: bounds().with_window(65_536),
            }),
        ),
        (
            "welcome",
            Frame::Welcome(Welcome {
                version: 1,
                system: "bank".into(),
                node: "[::1]:4242".into(),
                incarnation: 9,
                capabilities: vec!["chunks".into()],
                compression: Some("zstd".into()),
                bounds: Bounds::default(),
            }),
        ),
        (
            "welcome_bounds",
            Frame::Welcome(Welcome {
                version: 1,
                system: "bank".into(),
                node: "[::1]:4242".into(),
                incarnation: 9,
                capabilities: Vec::new(),
                compression: None,
                bounds: bounds(),
            }),
        ),
        (
            "welcome_window",
            Frame::Welcome(Welcome {
                version: 1,
                system: "bank".into(),
                node: "[::1]:4242".into(),
                incarnation: 9,
                capabilities: Vec::new(),
                compression: None,
                bounds: bounds().with_window(64),
            }),
        ),
        (
            "refuse",
            Frame::Refuse(Refuse {
                reason: RefuseReason::Cluster,
                text: "this is `staging`".into(),
            }),
        ),
        (
            "intern_address",
            Frame::Intern(Intern {
                space: InternSpace::Address,
                id: 1,
                text: "volary://bank/user/alice".into(),
            }),
        ),
        (
            "intern_type",
            Frame::Intern(Intern {
                space: InternSpace::Type,
                id: 8192,
                text: "bank.v1.Deposit".into(),
            }),
        ),
        ("tell", Frame::Tell(envelope())),
        (
            "tell_interned",
            Frame::Tell(Envelope {
                receiver: Name::Id(1),
                sender: Some(Name::Id(2)),
                type_name: Name::Id(200),
                ..envelope()
            }),
        ),
        (
            "tell_metadata",
            Frame::Tell(Envelope {
                metadata: Some(metadata()),
                ..envelope()
            }),
        ),
        (
            "ask",
            Frame::Ask {
                correlation: 7,
                envelope: Envelope {
                    codec: CodecId::JSON,
                    payload: Bytes::from_static(b"{\"cents\":10}"),
                    ..envelope()
                },
            },
        ),
        (
            "reply_ok",
            reply(Outcome::Ok {
                codec: CodecId::JSON,
                payload: "42".into(),
            }),
        ),
        (
            "reply_rejected",
            reply(Outcome::Rejected {
                codec: CodecId::CBOR,
                payload: Bytes::from_static(&[0xf6]),
            }),
        ),
        (
            "reply_failed",
            reply(Outcome::ended(Outcome::FAILED, 500, "the ledger is gone")),
        ),
        ("reply_no_reply", reply(Outcome::ended(Outcome::NO_REPLY, 0, ""))),
        ("reply_stopped", reply(Outcome::stopped("the actor has stopped"))),
        ("reply_busy", reply(Outcome::ended(Outcome::BUSY, 0, ""))),
        (
            "reply_unknown_type",
            reply(Outcome::ended(Outcome::UNKNOWN_TYPE, 0, "bank.v1.Deposti")),
        ),
        (
            "reply_refused",
            reply(Outcome::ended(Outcome::REFUSED, 3, "not listed")),
        ),
        ("reply_expired", reply(Outcome::ended(Outcome::EXPIRED, 0, ""))),
        ("reply_unreadable", reply(Outcome::ended(Outcome::UNREADABLE, 0, ""))),
        ("reply_of_a_later_version", reply(Outcome::ended(77, 1, "?"))),
        ("cancel", Frame::Cancel { correlation: 7 }),
        (
            "chunk",
            Frame::Chunk(Chunk {
                transfer: 5,
                total: 100_000,
                offset: 65_536,
                payload: Bytes::from_static(b"piece"),
            }),
        ),
        ("abort", Frame::Abort { transfer: 5 }),
        (
            "credit",
            Frame::Credit(Credit {
                receiver: None,
                count: 64,
                bytes: 6_400,
            }),
        ),
        (
            "credit_receiver",
            Frame::Credit(Credit {
                receiver: Some(Name::Id(4)),
                count: 1,
                bytes: 100,
            }),
        ),
        (
            "confirm",
            Frame::Confirm(Confirm::new(1_000, &[1_002..=1_010, 2_000..=2_000]).expect("in order")),
        ),
        ("busy", Frame::Busy { sequence: u64::MAX }),
        ("watch", Frame::Watch(watch())),
        ("unwatch", Frame::Unwatch(watch())),
        ("terminated", terminated(TerminationCause::Ended)),
        ("terminated_nobody", terminated(TerminationCause::Nobody)),
        ("terminated_node_lost", terminated(TerminationCause::NodeLost)),
        (
            "operation",
            Frame::Operation(Operation {
                correlation: 9,
                name: "lookup".into(),
                payload: Bytes::from_static(b"/user/alice"),
            }),
        ),
        (
            "answer",
            Frame::Answer(Answer {
                correlation: 9,
                status: 0,
                payload: Bytes::from_static(b"found"),
            }),
        ),
        ("heartbeat", Frame::Heartbeat { nonce: 128 }),
        ("heartbeat_reply", Frame::HeartbeatReply { nonce: 128 }),
        (
            "goodbye",
            Frame::Goodbye(Goodbye {
                reason: GoodbyeReason::Leaving,
                text: "the system stops".into(),
            }),
        ),
    ]
}

pub fn encoded(frame: &Frame) -> BytesMut {
    let mut out = BytesMut::new();
    FrameWriter::new(&mut out).frame(frame).expect("short enough");
    out
}

/// All frames in these bytes.
pub fn decoded(bytes: &[u8], limits: &Limits) -> Result<Vec<Frame>, FrameError> {
    let mut decoder = FrameDecoder::new(limits.clone());
    decoder.feed(bytes);
    drained(&mut decoder)
}

pub fn drained(decoder: &mut FrameDecoder) -> Result<Vec<Frame>, FrameError> {
    let mut frames = Vec::new();
    while let Some(frame) = decoder.next_frame()? {
        frames.push(frame);
    }
    Ok(frames)
}
