//! The bytes of every frame and codec, as they were when they were first released. A change here breaks nodes that are
//! running: it needs a new version of the dialect, never a new file of an old name.
//!
//! `VOLARY_GOLDEN=write cargo test -p volary-wire --all-features --test golden` writes files that are missing.
#![cfg(all(feature = "proto", feature = "json", feature = "cbor", feature = "postcard"))]
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::fmt::Write;
use std::path::PathBuf;

use bytes::{Bytes, BytesMut};
use serde::{Deserialize, Serialize};
use volary_wire::native::{
    Capability, Frame, FrameKind, Goodbye, GoodbyeReason, Intern, InternSpace, Lane, Limits, Name, Outcome, Refuse,
    RefuseReason, Reply, Terminated, TerminationCause,
};
use volary_wire::{Cbor, Codec, CodecId, Json, Postcard, Proto};

#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
struct Sample {
    #[prost(int64, tag = "1")]
    cents: i64,
    #[prost(string, tag = "2")]
    note: String,
    #[prost(bool, optional, tag = "3")]
    urgent: Option<bool>,
    #[prost(bytes = "vec", tag = "4")]
    proof: Vec<u8>,
}

fn sample() -> Sample {
    Sample {
        cents: -1_234,
        note: "für Zoë".to_owned(),
        urgent: Some(true),
        proof: vec![0, 127, 255],
    }
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.hex"))
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for line in bytes.chunks(32) {
        line.iter().for_each(|byte| write!(text, "{byte:02x}").unwrap());
        text.push('\n');
    }
    text
}

fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

/// The committed bytes, after comparing them with `written`.
fn golden(name: &str, written: &[u8]) -> Vec<u8> {
    let file = file(name);
    if !file.exists() && std::env::var("VOLARY_GOLDEN").is_ok_and(|what| what == "write") {
        std::fs::write(&file, hex(written)).unwrap();
    }
    let text = std::fs::read_to_string(&file).unwrap_or_else(|_| panic!("no golden file for `{name}`"));
    assert_eq!(hex(written), text, "`{name}` is written otherwise than before");
    unhex(&text)
}

#[test]
fn r1_every_frame_is_written_and_read_as_ever() {
    for (name, frame) in common::frames() {
        let bytes = golden(&format!("frame_{name}"), &common::encoded(&frame));
        assert_eq!(common::decoded(&bytes, &Limits::default()), Ok(vec![frame]), "{name}");
    }
}

#[test]
fn r1_every_kind_has_a_golden_frame() {
    let frames = common::frames();
    for kind in FrameKind::ALL {
        assert!(frames.iter().any(|(_, frame)| frame.kind() == *kind), "{kind}");
    }
}

/// What stands behind kind and flags of a frame.
fn body(frame: &Frame) -> Vec<u8> {
    let bytes = common::encoded(frame);
    assert_eq!(common::decoded(&bytes, &Limits::default()), Ok(vec![frame.clone()]));
    bytes[6..].to_vec()
}

#[test]
fn r1_every_kind_of_frame_has_the_number_that_it_ever_had() {
    let kinds = "Hello Welcome Refuse Intern Tell Ask Reply Cancel Chunk Abort Credit Confirm Busy Watch Unwatch Terminated \
                 Operation Answer Heartbeat HeartbeatReply Goodbye";
    let now = FrameKind::ALL.iter().map(|kind| (*kind as usize, format!("{kind:?}")));
    let ever = (1..).zip(kinds.split_whitespace().map(str::to_owned));
    assert!(now.eq(ever));
    for (_, frame) in common::frames() {
        assert_eq!(common::encoded(&frame)[4], frame.kind() as u8);
    }
}

#[test]
fn r1_every_reason_has_the_number_that_it_ever_had() {
    let refusals = [
        RefuseReason::Version,
        RefuseReason::Cluster,
        RefuseReason::Node,
        RefuseReason::Quarantined,
        RefuseReason::Forbidden,
        RefuseReason::Duplicate,
        RefuseReason::Busy,
        RefuseReason::Stopping,
        RefuseReason::Other(8),
        RefuseReason::Other(9),
    ];
    for (number, reason) in (0..).zip(refusals) {
        let text = "x".into();
        assert_eq!(
            body(&Frame::Refuse(Refuse { reason, text })),
            [number, b'x'],
            "{reason:?}"
        );
    }
    let ends = [
        GoodbyeReason::Leaving,
        GoodbyeReason::Idle,
        GoodbyeReason::Duplicate,
        GoodbyeReason::Violation,
        GoodbyeReason::Quarantined,
        GoodbyeReason::Other(5),
        GoodbyeReason::Other(6),
    ];
    for (number, reason) in (0..).zip(ends) {
        let text = "x".into();
        assert_eq!(
            body(&Frame::Goodbye(Goodbye { reason, text })),
            [number, b'x'],
            "{reason:?}"
        );
    }
    let causes = [
        TerminationCause::Ended,
        TerminationCause::Nobody,
        TerminationCause::NodeLost,
    ];
    for (number, cause) in (0..).zip(causes) {
        let (watcher, watched) = (Name::Id(1), Name::Id(2));
        let terminated = Frame::Terminated(Terminated {
            watcher,
            watched,
            cause,
        });
        assert_eq!(body(&terminated), [1, 2, number], "{cause:?}");
    }
}

#[test]
fn r1_every_space_codec_lane_and_capability_has_the_number_or_name_that_it_ever_had() {
    for (number, space) in (0..).zip([InternSpace::Address, InternSpace::Type]) {
        let text = "x".into();
        assert_eq!(
            body(&Frame::Intern(Intern { space, id: 7, text })),
            [number, 7, b'x'],
            "{space:?}"
        );
    }
    let codecs = [
        CodecId::NONE,
        CodecId::PROTO,
        CodecId::JSON,
        CodecId::CBOR,
        CodecId::POSTCARD,
    ];
    assert_eq!(codecs.map(CodecId::number), [0, 1, 2, 3, 4]);
    // The lane has the tag 6, and its own two bytes behind its length.
    let lanes = [
        (Lane::Control, [6, 2, 0, 0]),
        (Lane::Ordinary(9), [6, 2, 1, 9]),
        (Lane::Large, [6, 2, 2, 0]),
    ];
    for (lane, bytes) in lanes {
        let hello = common::frames().into_iter().find_map(|(_, frame)| match frame {
            Frame::Hello(hello) => Some(hello),
            _ => None,
        });
        let mut hello = hello.unwrap();
        hello.lane = lane;
        let written = body(&Frame::Hello(hello));
        assert!(written.windows(4).any(|part| part == bytes), "{lane:?}: {written:?}");
    }
    assert_eq!(Capability::ALL.map(Capability::name), ["chunks"]);
}

#[test]
fn r1_every_end_of_an_ask_has_the_number_that_it_ever_had() {
    let ends = [
        Outcome::FAILED,
        Outcome::NO_REPLY,
        Outcome::STOPPED,
        Outcome::BUSY,
        Outcome::UNKNOWN_TYPE,
        Outcome::REFUSED,
        Outcome::EXPIRED,
        Outcome::UNREADABLE,
    ];
    assert_eq!(ends, [2, 3, 4, 5, 6, 7, 8, 9]);
    let payload = Bytes::from_static(b"x");
    let codec = CodecId::JSON;
    let replies = [
        Outcome::Ok {
            codec,
            payload: payload.clone(),
        },
        Outcome::Rejected { codec, payload },
    ];
    for (number, outcome) in (0..).zip(replies) {
        let reply = Frame::Reply(Reply {
            correlation: 7,
            outcome,
        });
        assert_eq!(body(&reply), [7, number, 2, b'x']);
    }
}

#[test]
fn r1_no_golden_file_is_left_over() {
    let known: Vec<String> = common::frames()
        .into_iter()
        .map(|(name, _)| format!("frame_{name}.hex"))
        .chain(["proto", "json", "cbor", "postcard"].map(|name| format!("codec_{name}.hex")))
        .collect();
    for entry in std::fs::read_dir(file("x").parent().unwrap()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(known.contains(&name), "{name} belongs to nothing");
    }
}

fn as_ever<C: Codec<Sample>>(name: &str) {
    let mut out = BytesMut::new();
    C::encode(&sample(), &mut out).unwrap();
    let bytes = golden(&format!("codec_{name}"), &out);
    assert_eq!(C::decode(Bytes::from(bytes)).unwrap(), sample());
}

#[test]
fn r2_every_codec_writes_and_reads_as_ever() {
    as_ever::<Proto>("proto");
    as_ever::<Json>("json");
    as_ever::<Cbor>("cbor");
    as_ever::<Postcard>("postcard");
}
