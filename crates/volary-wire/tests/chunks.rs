//! R1 and S20: large messages in pieces, within a budget; and names that are said once.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use bytes::{Bytes, BytesMut};
use common::{decoded, encoded};
use proptest::prelude::*;
use volary_wire::CodecId;
use volary_wire::native::{
    Assembler, Chunk, ChunkError, Chunks, Envelope, Frame, FrameError, FrameKind, Intern, InternError, InternSpace,
    InternTable, Interned, Interner, Limits,
};

fn tell(sequence: u64, length: usize) -> Frame {
    Frame::Tell(Envelope {
        sequence,
        receiver: "volary://bank/user/alice".into(),
        sender: None,
        type_name: "bank.v1.Picture".into(),
        codec: CodecId::NONE,
        metadata: None,
        payload: (0..length).map(|at| at as u8).collect(),
    })
}

fn pieces(transfer: u64, frame: &Frame, piece: usize) -> Vec<Chunk> {
    let mut chunks = Chunks::new(transfer, encoded(frame).freeze(), piece);
    let mut out = BytesMut::new();
    while chunks.write_next(&mut out).unwrap() {}
    let chunk = |frame| match frame {
        Frame::Chunk(chunk) => chunk,
        other => panic!("{other:?}"),
    };
    decoded(&out, &Limits::default())
        .unwrap()
        .into_iter()
        .map(chunk)
        .collect()
}

fn chunk(transfer: u64, total: u64, offset: u64, length: usize) -> Chunk {
    Chunk {
        transfer,
        total,
        offset,
        payload: vec![5; length].into(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn r1_messages_in_pieces_of_any_size_arrive_whole_beside_each_other(
        lengths in prop::collection::vec(0_usize..5_000, 1..5),
        piece in 1_usize..700,
    ) {
        let mut waiting: Vec<Vec<Chunk>> = Vec::new();
        for (at, length) in lengths.iter().enumerate() {
            let mut chunks = pieces(at as u64, &tell(at as u64, *length), piece);
            chunks.reverse();
            waiting.push(chunks);
        }
        let mut assembler = Assembler::new(Limits::default());
        let mut arrived = Vec::new();
        while waiting.iter().any(|chunks| !chunks.is_empty()) {
            for chunks in &mut waiting {
                if let Some(chunk) = chunks.pop() {
                    arrived.extend(assembler.accept(chunk, 0).unwrap());
                }
            }
        }
        prop_assert_eq!(arrived.len(), lengths.len());
        for (at, length) in lengths.iter().enumerate() {
            prop_assert!(arrived.contains(&tell(at as u64, *length)));
        }
        prop_assert_eq!(assembler.held_bytes(), 0);
    }

    #[test]
    fn s20_any_pieces_stay_within_the_budget(
        chunks in prop::collection::vec((0_u64..6, 0_u64..200, 0_u64..200, 0_usize..100), 0..100),
    ) {
        let mut limits = Limits::default();
        limits.max_message = 150;
        limits.max_assemblies = 3;
        limits.max_assembly_bytes = 300;
        let mut assembler = Assembler::new(limits);
        for (transfer, total, offset, length) in chunks {
            let _ = assembler.accept(chunk(transfer, total, offset, length), 0);
            prop_assert!(assembler.held_bytes() <= 300);
        }
    }

    #[test]
    fn r1_the_reader_follows_the_interner(names in prop::collection::vec("[a-h]{1,3}", 1..300), max in 1_usize..9) {
        let mut limits = Limits::default();
        limits.max_interned = max;
        limits.max_interned_bytes = 20;
        let mut interner = Interner::new(limits.max_interned, limits.max_interned_bytes);
        let mut table = InternTable::new(InternSpace::Address, &limits);
        // Two names stand in each frame; both must mean what they did when they were looked up.
        for pair in names.chunks(2) {
            let mut ids = Vec::new();
            for name in pair {
                match interner.intern(name) {
                    Interned::Known(id) => ids.push((id, name)),
                    Interned::New(id) => {
                        let text = name.as_str().into();
                        table.define(&Intern { space: InternSpace::Address, id, text }, ()).unwrap();
                        ids.push((id, name));
                    }
                    Interned::InFull => {}
                }
            }
            for (id, name) in ids {
                prop_assert_eq!(table.get(id).map(|(name, ())| name), Some(name.as_str()));
            }
        }
    }
}

#[test]
fn s20_pieces_must_fit() {
    let mut assembler = Assembler::new(Limits::default());
    let mut refused = |chunk| assembler.accept(chunk, 0).unwrap_err();
    assert_eq!(refused(chunk(1, 10, 5, 5)), ChunkError::Unknown { transfer: 1 });
    assert_eq!(refused(chunk(1, 10, 0, 0)), ChunkError::Length { length: 0, left: 10 });
    assert_eq!(
        refused(chunk(1, 10, 0, 11)),
        ChunkError::Length { length: 11, left: 10 }
    );
    let huge = refused(chunk(1, u64::MAX, 0, 1));
    assert!(
        matches!(huge, ChunkError::TooLong { .. }) && !huge.is_violation(),
        "{huge}"
    );

    assert_eq!(assembler.accept(chunk(1, 10, 0, 5), 0), Ok(None));
    let out_of_place = assembler.accept(chunk(1, 11, 5, 5), 0).unwrap_err();
    assert!(out_of_place.is_violation(), "{out_of_place}");
    assert_eq!(assembler.held_bytes(), 0, "what went wrong is forgotten");
}

#[test]
fn s20_only_messages_and_answers_come_in_pieces() {
    let mut assembler = Assembler::new(Limits::default());
    let inner = Frame::Chunk(chunk(1, 1, 0, 1));
    let mut last = None;
    for chunk in pieces(7, &inner, 2) {
        last = Some(assembler.accept(chunk, 0));
    }
    let expected = ChunkError::Frame(FrameError::NotInPieces(FrameKind::Chunk));
    assert_eq!(last, Some(Err(expected)));
}

#[test]
fn s20_open_assemblies_are_bounded_and_given_up_when_idle() {
    let mut limits = Limits::default();
    limits.max_assemblies = 2;
    limits.max_assembly_bytes = 25;
    limits.max_message = 20;
    let mut assembler = Assembler::new(limits);
    assert_eq!(assembler.accept(chunk(1, 10, 0, 5), 100), Ok(None));
    let bytes = assembler.accept(chunk(2, 20, 0, 5), 100).unwrap_err();
    assert_eq!(
        bytes,
        ChunkError::Budget {
            what: "bytes",
            limit: 25
        }
    );
    assert_eq!(assembler.accept(chunk(2, 10, 0, 5), 200), Ok(None));
    let many = assembler.accept(chunk(3, 1, 0, 1), 200).unwrap_err();
    assert!(!many.is_violation(), "{many}");
    assert_eq!(assembler.held_bytes(), 20);

    assert_eq!(assembler.give_up_idle(150), [1]);
    assert!(assembler.abort(2) && !assembler.abort(2));
    assert_eq!(assembler.held_bytes(), 0);
}

#[test]
fn s20_definitions_keep_to_order_and_bounds() {
    let mut limits = Limits::default();
    limits.max_interned = 2;
    limits.max_interned_bytes = 5;
    let mut table = InternTable::new(InternSpace::Type, &limits);
    let mut define = |id, text: &str, space| {
        let text = text.into();
        table.define(&Intern { space, id, text }, id)
    };
    let space = InternSpace::Type;
    assert_eq!(define(0, "a", space), Err(InternError::Gap { id: 0, next: 1 }));
    assert_eq!(define(2, "a", space), Err(InternError::Gap { id: 2, next: 1 }));
    assert_eq!(
        define(1, "abcdef", space),
        Err(InternError::Full {
            what: "bytes",
            limit: 5
        })
    );
    assert_eq!(define(1, "abc", space), Ok(()));
    assert_eq!(define(2, "de", space), Ok(()));
    assert_eq!(
        define(3, "", space),
        Err(InternError::Full {
            what: "names",
            limit: 2
        })
    );
    assert_eq!(define(1, "x", space), Ok(()), "given again");
    assert_eq!(define(1, "y", InternSpace::Address), Err(InternError::WrongSpace));
    assert_eq!(table.get(1), Some(("x", &1)));
    assert_eq!(table.get(3), None);
}

#[test]
fn r1_empty_pieces_cannot_be_asked_for() {
    let frame = encoded(&tell(1, 10)).freeze();
    assert!(std::panic::catch_unwind(|| Chunks::new(1, frame, 0)).is_err());
    assert!(std::panic::catch_unwind(|| Chunks::new(1, Bytes::new(), 1)).is_err());
}
