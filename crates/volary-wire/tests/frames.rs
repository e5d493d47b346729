//! R1 and S20: what goes in comes out however it was cut, and what no node writes is refused without harm.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use common::{decoded, drained, encoded, frames};
use proptest::prelude::*;
use volary_wire::native::{
    Chunk, Frame, FrameDecoder, FrameError, FrameKind, FrameWriter, Head, Limits, Metadata, NameRef, Oversize,
};
use volary_wire::{Answered, CodecId};

/// A number in as few bytes as it takes.
fn number(value: u64) -> Vec<u8> {
    let frame = encoded(&Frame::Cancel { correlation: value });
    frame[6..].to_vec()
}

fn framed(kind: u8, flags: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = u32::try_from(body.len() + 2).unwrap().to_be_bytes().to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(body);
    bytes
}

fn refused(kind: u8, flags: u8, body: &[u8]) -> FrameError {
    decoded(&framed(kind, flags, body), &Limits::default()).unwrap_err()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn r1_any_frames_cut_anywhere_are_the_same_frames(
        which in prop::collection::vec(0..frames().len(), 1..20),
        cuts in prop::collection::vec(1_usize..40, 1..200),
    ) {
        let all = frames();
        let sent: Vec<Frame> = which.iter().map(|at| all[*at].1.clone()).collect();
        let mut stream = BytesMut::new();
        for frame in &sent {
            FrameWriter::new(&mut stream).frame(frame).unwrap();
        }
        let mut decoder = FrameDecoder::new(Limits::default());
        let mut received = Vec::new();
        let mut left = &stream[..];
        for cut in cuts.iter().cycle() {
            if left.is_empty() {
                break;
            }
            let (now, later) = left.split_at((*cut).min(left.len()));
            decoder.feed(now);
            left = later;
            received.extend(drained(&mut decoder).unwrap());
        }
        prop_assert_eq!(received, sent);
    }

    #[test]
    fn s20_what_is_read_is_written_back_to_the_letter(kind in 0_u8..24, flags in 0_u8..4, body in prop::collection::vec(any::<u8>(), 0..60)) {
        // Every frame has one encoding, so nothing that is read can have had another. Handshakes and metadata skip what
        // they do not know, and metadata keeps it.
        let bytes = framed(kind, flags, &body);
        if let Ok(read) = decoded(&bytes, &Limits::default()) {
            for frame in read {
                if !matches!(frame, Frame::Hello(_) | Frame::Welcome(_)) {
                    prop_assert_eq!(&encoded(&frame)[..], &bytes[..]);
                }
            }
        }
    }

    #[test]
    fn s20_a_changed_byte_never_panics(which in 0..frames().len(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = encoded(&frames()[which].1);
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let _ = decoded(&bytes, &Limits::default());
    }

    #[test]
    fn s20_random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = decoded(&bytes, &Limits::default());
    }

    #[test]
    fn r1_numbers_survive(value in any::<u64>()) {
        let frame = Frame::Busy { sequence: value };
        prop_assert_eq!(decoded(&encoded(&frame), &Limits::default()), Ok(vec![frame]));
    }
}

#[test]
fn r1_a_frame_cut_off_says_where() {
    for (name, frame) in frames() {
        let whole = encoded(&frame);
        // Cut in the body, with a length that fits: what ends with a payload or text may just be shorter.
        for length in 6..whole.len() {
            let mut cut = whole[..length].to_vec();
            let told = u32::try_from(length - 4).unwrap().to_be_bytes();
            cut[..4].copy_from_slice(&told);
            if let Ok(read) = decoded(&cut, &Limits::default()) {
                assert!(read.first() != Some(&frame), "{name} cut to {length}");
            }
        }
    }
}

#[test]
fn s20_the_length_is_checked_before_anything_is_kept() {
    let mut limits = Limits::default();
    limits.max_frame = 100;
    let error = decoded(&[0, 0, 0, 101], &limits).unwrap_err();
    assert_eq!(
        error,
        FrameError::TooLong {
            length: 101,
            limit: 100
        }
    );
    assert_eq!(
        decoded(&[0, 0, 0, 1, 5], &limits),
        Err(FrameError::TooShort { length: 1 })
    );
}

#[test]
fn s20_an_error_is_the_last_word() {
    let mut decoder = FrameDecoder::new(Limits::default());
    decoder.feed(&framed(99, 0, b""));
    assert_eq!(decoder.next_frame(), Err(FrameError::UnknownKind(99)));
    decoder.feed(&encoded(&Frame::Heartbeat { nonce: 1 }));
    assert_eq!(decoder.next_frame(), Err(FrameError::UnknownKind(99)));
}

#[test]
fn r1_unknown_kinds_are_skipped_only_when_marked() {
    let mut decoder = FrameDecoder::new(Limits::default());
    decoder.feed(&framed(99, 0x80, b"something new"));
    decoder.feed(&encoded(&Frame::Heartbeat { nonce: 1 }));
    assert_eq!(decoder.next_frame(), Ok(Some(Frame::Heartbeat { nonce: 1 })));
    assert_eq!(decoder.skipped(), 1);
}

#[test]
fn s20_each_broken_rule_has_its_error() {
    let kind = FrameKind::Cancel;
    assert_eq!(refused(8, 1, &[7]), FrameError::Flags { kind, flags: 1 });
    assert_eq!(refused(8, 0, &[7, 0]), FrameError::Trailing { kind, left: 1 });
    let field = "correlation";
    assert_eq!(refused(8, 0, &[]), FrameError::Truncated { kind, field });
    assert_eq!(refused(8, 0, &[0x80]), FrameError::Truncated { kind, field });
    assert_eq!(
        refused(8, 0, &[0x80, 0]),
        FrameError::Number { kind, field },
        "longer than need be"
    );
    assert_eq!(
        refused(8, 0, &[0xff; 10]),
        FrameError::Number { kind, field },
        "more than 64 bits"
    );
    let kind = FrameKind::Goodbye;
    assert_eq!(refused(21, 0, &[0, 0xff]), FrameError::NotText { kind, field: "text" });
    let long = [vec![0], vec![b'a'; 5_000]].concat();
    let error = refused(21, 0, &long);
    assert_eq!(
        error.to_string(),
        "a goodbye has a `text` of 5000, where 4096 are allowed"
    );
    assert_eq!(
        refused(4, 0, &[9, 1, b'a']).to_string(),
        "a definition cannot have 9 as `space`"
    );
    assert_eq!(
        refused(16, 0, &[1, 1, 3]).to_string(),
        "a terminated cannot have 3 as `cause`"
    );
    assert_eq!(refused(1, 0, &[]).to_string(), "a hello ends within `versions`");
    // A receiver of 9,000 bytes, more than an address can have.
    let name = [vec![1, 0], number(9_000), vec![b'a'; 9_000]].concat();
    assert_eq!(
        refused(5, 0, &name).to_string(),
        "a tell has a `receiver` of 9000, where 8192 are allowed"
    );
}

fn tell_with(metadata: &[u8]) -> Result<Vec<Frame>, FrameError> {
    let body = [vec![1, 1, 1, 0], number(metadata.len() as u64), metadata.to_vec()].concat();
    decoded(&framed(5, 2, &body), &Limits::default())
}

#[test]
fn r1_metadata_is_bounded_and_later_fields_are_skipped() {
    assert!(tell_with(&[1, 1, 5]).is_ok());
    assert!(tell_with(&[1, 1, 5, 1, 1, 5]).is_err(), "two deadlines");
    assert!(tell_with(&[2, 3, 0, 0, 0]).is_err(), "half a trace");
    let read = tell_with(&[200, 2, 9, 9, 3, 3, 1, b'k', b'v']).unwrap();
    let Frame::Tell(envelope) = &read[0] else {
        panic!("{read:?}")
    };
    let metadata = envelope.metadata.as_ref().unwrap();
    assert_eq!(metadata.headers().collect::<Vec<_>>(), [("k", &b"v"[..])]);

    // In any order, the unknown kept; they are written again in the usual one.
    let read = tell_with(&[3, 3, 1, b'k', b'v', 1, 1, 5, 200, 1, 9]).unwrap();
    let Frame::Tell(envelope) = &read[0] else {
        panic!("{read:?}")
    };
    let metadata = envelope.metadata.as_ref().unwrap();
    assert_eq!(metadata.deadline(), Some(Duration::from_micros(5)));
    assert_eq!(metadata.header("k"), Some(&b"v"[..]));
    assert_eq!(tell_with(&[1, 1, 5, 3, 3, 1, b'k', b'v', 200, 1, 9]).unwrap(), read);

    let many = (0..65).fold(Metadata::builder(), |builder, _| builder.header("a", b""));
    let error = tell_with(&tail_of(&many.build())).unwrap_err();
    assert_eq!(error.to_string(), "a tell has a `headers` of 65, where 64 are allowed");
    let large = Metadata::builder().header("a", &[0; 19_000]).build();
    assert!(matches!(
        tell_with(&tail_of(&large)),
        Err(FrameError::Field { field: "metadata", .. })
    ));
}

/// The bytes of metadata, taken out of a frame.
fn tail_of(metadata: &Metadata) -> Vec<u8> {
    let mut out = BytesMut::new();
    let head = Head {
        sequence: 1,
        receiver: NameRef::Id(1),
        sender: None,
        type_name: NameRef::Id(1),
        codec: CodecId::NONE,
        metadata: Some(metadata),
    };
    FrameWriter::new(&mut out)
        .tell(&head, |_| Ok::<(), Oversize>(()))
        .unwrap()
        .unwrap();
    let body = &out[10..];
    let length = body.iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
    body[length..].to_vec()
}

#[test]
fn r1_what_cannot_be_written_leaves_the_buffer_as_it_was() {
    let mut out = BytesMut::from(&b"before"[..]);
    let head = Head {
        sequence: 1,
        receiver: NameRef::Id(1),
        sender: None,
        type_name: NameRef::Id(1),
        codec: CodecId::NONE,
        metadata: None,
    };
    let failed = FrameWriter::new(&mut out).tell(&head, |payload| {
        payload.put_slice(b"half of");
        Err("no")
    });
    assert_eq!(failed, Ok(Err("no")));
    let long = FrameWriter::new(&mut out).at_most(10).ask(1, &head, |payload| {
        payload.put_slice(b"twelve bytes");
        Ok::<(), ()>(())
    });
    assert!(
        matches!(
            long,
            Err(Oversize {
                length: 19,
                limit: 10,
                ..
            })
        ),
        "{long:?}"
    );
    let long = FrameWriter::new(&mut out).at_most(10).reply(1, |payload| {
        payload.put_slice(b"twelve bytes");
        Answered::Ok(CodecId::NONE)
    });
    assert!(long.is_err());
    assert_eq!(out, "before");
}

#[test]
fn r1_replies_written_in_place_are_replies() {
    for (name, frame) in frames() {
        let Frame::Reply(reply) = &frame else { continue };
        let mut out = BytesMut::new();
        let put = |payload: &mut BytesMut| match &reply.outcome {
            volary_wire::native::Outcome::Ok { codec, payload: bytes } => {
                payload.put_slice(bytes);
                Answered::Ok(*codec)
            }
            volary_wire::native::Outcome::Rejected { codec, payload: bytes } => {
                payload.put_slice(bytes);
                Answered::Rejected(*codec)
            }
            ended => Answered::Ended(ended.clone()),
        };
        FrameWriter::new(&mut out).reply(reply.correlation, put).unwrap();
        assert_eq!(out, encoded(&frame), "{name}");
    }
}

#[test]
fn s20_a_chunk_says_nothing_that_is_believed_unseen() {
    let chunk = Frame::Chunk(Chunk {
        transfer: u64::MAX,
        total: u64::MAX,
        offset: u64::MAX,
        payload: Bytes::new(),
    });
    assert_eq!(decoded(&encoded(&chunk), &Limits::default()), Ok(vec![chunk]));
}
