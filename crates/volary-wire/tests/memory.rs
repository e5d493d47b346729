//! S20 and law 6: what reading and writing frames allocates. The allocator counts per thread.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
#[cfg(all(feature = "cbor", feature = "postcard"))]
use std::collections::HashMap;

use bytes::{BufMut, BytesMut};
use common::{encoded, frames};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use volary_wire::CodecId;
use volary_wire::native::{Assembler, Chunk, Frame, FrameDecoder, FrameWriter, Head, Limits, NameRef, Oversize};

struct Counting;

thread_local! {
    static MADE: Cell<u64> = const { Cell::new(0) };
    static LIVE: Cell<i64> = const { Cell::new(0) };
    static PEAK: Cell<i64> = const { Cell::new(0) };
}

fn note(made: u64, bytes: i64) {
    // Gone while the thread ends; nothing is measured then.
    let _ = MADE.try_with(|count| count.set(count.get() + made));
    let _ = LIVE.try_with(|live| {
        live.set(live.get() + bytes);
        PEAK.with(|peak| peak.set(peak.get().max(live.get())));
    });
}

// SAFETY: everything is left to the system's allocator; the counters do not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(1, layout.size() as i64);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        note(0, -(layout.size() as i64));
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn made(call: impl FnOnce()) -> u64 {
    let before = MADE.get();
    call();
    MADE.get() - before
}

/// By how much memory rose at most.
fn peak(call: impl FnOnce()) -> i64 {
    let before = LIVE.get();
    PEAK.set(before);
    call();
    PEAK.get() - before
}

fn write_tell(out: &mut BytesMut, sequence: u64) {
    let head = Head {
        sequence,
        receiver: NameRef::Id(1),
        sender: Some(NameRef::Id(2)),
        type_name: NameRef::Id(3),
        codec: CodecId::PROTO,
        metadata: None,
    };
    let payload = |out: &mut BytesMut| {
        out.put_bytes(7, 100);
        Ok::<(), Oversize>(())
    };
    FrameWriter::new(out).tell(&head, payload).unwrap().unwrap();
}

#[test]
fn r1_steady_traffic_allocates_nothing_per_frame() {
    let mut decoder = FrameDecoder::new(Limits::default());
    let mut out = BytesMut::with_capacity(64 * 1024);
    let mut round = |from: u64| {
        out.clear();
        (from..from + 100).for_each(|sequence| write_tell(&mut out, sequence));
        // In pieces that cut frames, as a socket would.
        let mut read = 0;
        for bytes in out.chunks(4_000) {
            decoder.buffer().put_slice(bytes);
            while let Some(frame) = decoder.next_frame().unwrap() {
                assert!(matches!(frame, Frame::Tell(envelope) if envelope.payload.len() == 100));
                read += 1;
            }
        }
        assert_eq!(read, 100);
    };
    for warm in 0..20 {
        round(1_000 + warm * 100);
    }
    let allocations = made(|| (0..100).for_each(|more| round(10_000 + more * 100)));
    assert_eq!(allocations, 0, "for 10,000 messages");
}

#[test]
fn r1_small_frames_that_are_kept_share_their_buffers() {
    const COUNT: u64 = 1_000;
    let mut decoder = FrameDecoder::new(Limits::default());
    let mut kept = Vec::with_capacity(COUNT as usize);
    let mut one = BytesMut::new();
    write_tell(&mut one, 1);
    let made = made(|| {
        for _ in 0..COUNT {
            decoder.buffer().extend_from_slice(&one); // as if it had been read alone
            let Ok(Some(Frame::Tell(envelope))) = decoder.next_frame() else {
                unreachable!("a whole frame")
            };
            kept.push(envelope.payload);
        }
    });
    assert!(
        made < COUNT / 4,
        "{made} allocations for {COUNT} frames of {} bytes",
        one.len()
    );
    assert!(kept.iter().all(|payload| *payload == kept[0]));
}

#[test]
fn s20_a_large_promise_costs_nothing() {
    let mut limits = Limits::default();
    limits.max_assembly_bytes = usize::MAX;
    limits.max_message = usize::MAX;
    let rise = peak(|| {
        let mut decoder = FrameDecoder::new(Limits::default());
        let _ = decoder.buffer();
        decoder.feed(&[0, 0xff, 0xff, 0xff, 5, 0]);
        assert_eq!(decoder.next_frame(), Ok(None));
        let _ = decoder.buffer();
        let mut assembler = Assembler::new(limits.clone());
        let chunk = Chunk {
            transfer: 1,
            total: 1 << 40,
            offset: 0,
            payload: vec![0; 100].into(),
        };
        assert_eq!(assembler.accept(chunk, 0), Ok(None));
    });
    assert!(rise < 80 * 1024, "{rise} bytes");
}

/// Holds itself in a list and in a map, so that there is a length at each level.
#[cfg(all(feature = "cbor", feature = "postcard"))]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
struct Lists(Vec<Lists>);

#[cfg(all(feature = "cbor", feature = "postcard"))]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
struct Maps(HashMap<u8, Maps>);

#[cfg(all(feature = "cbor", feature = "postcard"))]
#[test]
fn s20_lengths_within_a_value_are_not_believed_at_any_depth() {
    use volary_wire::{Cbor, Codec, Postcard};

    const LEVELS: usize = 100;
    // In CBOR a list of 2³¹ is in a list of as many, and so on; in postcard it must be said that there are no more elements
    // than bytes, for which zeroes are behind.
    let cbor = |head: &[u8]| [head, &[0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff]].concat();
    let lists = cbor(&[0x9b]).repeat(LEVELS);
    let maps = [cbor(&[0xbb]), vec![0]].concat().repeat(LEVELS);
    let rise = peak(|| assert!(<Cbor as Codec<Lists>>::decode(lists.into()).is_err()));
    assert!(rise < 256 * 1024, "{rise} bytes");
    let rise = peak(|| assert!(<Cbor as Codec<Maps>>::decode(maps.into()).is_err()));
    assert!(rise < 1024 * 1024, "{rise} bytes");
    let lists = [[0x80, 0x08].repeat(LEVELS), vec![0x80; 2_000]].concat();
    let maps = [0xff, 0xff, 0xff, 0x07, 0].repeat(LEVELS);
    let rise = peak(|| assert!(<Postcard as Codec<Lists>>::decode(lists.into()).is_err()));
    assert!(rise < 256 * 1024, "{rise} bytes");
    let rise = peak(|| assert!(<Postcard as Codec<Maps>>::decode(maps.into()).is_err()));
    assert!(rise < 1024 * 1024, "{rise} bytes");
}

#[test]
fn s20_random_bytes_allocate_little_more_than_they_are() {
    let mut runner = TestRunner::new(Config {
        failure_persistence: None,
        cases: 2_000,
        ..Config::default()
    });
    let all: Vec<BytesMut> = frames().iter().map(|(_, frame)| encoded(frame)).collect();
    let mutated = (
        0..all.len(),
        prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
    );
    let random = prop::collection::vec(any::<u8>(), 0..2_000);
    runner
        .run(&(mutated, random), |((which, changes), random)| {
            let mut changed = all[which].to_vec();
            for (at, byte) in changes {
                let at = at.index(changed.len());
                changed[at] = byte;
            }
            for bytes in [changed, random] {
                let rise = peak(|| {
                    let mut decoder = FrameDecoder::new(Limits::default());
                    decoder.feed(&bytes);
                    while let Ok(Some(frame)) = decoder.next_frame() {
                        drop(frame);
                    }
                });
                // The buffer, its count of owners, and the lists of a handshake.
                let budget = 4 * bytes.len() as i64 + 4 * 1024;
                prop_assert!(rise <= budget, "{rise} bytes for {}", bytes.len());
            }
            Ok(())
        })
        .unwrap();
}
