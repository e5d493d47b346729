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
use volary_wire::native::{FrameKind, Limits};
use volary_wire::{Cbor, Codec, Json, Postcard, Proto};

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
