//! S20: every seed of the fuzz targets is replayed, and so are lies made of it: seeds in which some byte is a length of
//! much more than there is. None takes more memory at a time than its target says here.
//!
//! The allocator counts per thread, and the nodes of those targets that need one run on the thread of their test. It does
//! not see what zstd takes, which is C: its window is bounded by a parameter.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "../../../fuzz/src/lib.rs"]
#[allow(dead_code, unreachable_pub, reason = "a crate elsewhere")]
mod volary_fuzz;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use volary_fuzz::targets;

struct Counting;

thread_local! {
    static LIVE: Cell<i64> = const { Cell::new(0) };
    static PEAK: Cell<i64> = const { Cell::new(0) };
}

fn note(bytes: i64) {
    // Gone while the thread ends; nothing is measured then.
    let _ = LIVE.try_with(|live| {
        live.set(live.get() + bytes);
        PEAK.with(|peak| peak.set(peak.get().max(live.get())));
    });
}

// SAFETY: everything is left to the system's allocator; the counters do not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size() as i64);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    // Zeroes that nobody touches cost nothing, but a length that was trusted is one all the same.
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size() as i64);
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        note(-(layout.size() as i64));
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// By how much memory rose at most.
fn peak(call: impl FnOnce()) -> i64 {
    let before = LIVE.get();
    PEAK.set(before);
    call();
    PEAK.get() - before
}

fn seeds() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds")
}

/// How far into a seed its bytes are made lies of.
const LIES_WITHIN: usize = 160;

/// The seed with another length wherever one may be: as a number of seven bits a byte, as one of four bytes, and behind
/// the first byte of something in CBOR.
fn lies(seed: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    (0..seed.len().min(LIES_WITHIN)).flat_map(move |at| {
        let (before, behind) = (&seed[..at], &seed[at + 1..]);
        let cbor = [seed[at] & 0xe0 | 0x1b, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff];
        let spliced = [
            &[0xff, 0x7f][..],            // 16 KiB
            &[0xff, 0xff, 0xff, 0x07],    // 16 MiB, the longest frame
            &[0xff, 0xff, 0xff, 0xff, 7], // 2 GiB
            &cbor,
        ]
        .map(|lie| [before, lie, behind].concat());
        let four = seed
            .get(at + 4..)
            .map(|behind| [before, &[0, 0xff, 0xff, 0xff], behind].concat());
        spliced.into_iter().chain(four)
    })
}

struct Target {
    name: &'static str,
    run: fn(&[u8]),
    /// The most bytes at a time for such an input.
    most: fn(&[u8]) -> usize,
}

macro_rules! targets {
    ($($name:ident: $most:expr),* $(,)?) => {
        [$(Target { name: stringify!($name), run: targets::$name, most: $most }),*]
    };
}

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// Those that read bytes and nothing else.
static READERS: [Target; 11] = targets! {
    // What is read into grows by steps of 16 KiB.
    frame: |input| 52 * KIB + 16 * input.len(),
    metadata: |input| KIB + 4 * input.len(),
    handshake: |input| KIB + 8 * input.len(),
    chunks: |input| KIB + 8 * input.len(),
    address: |input| KIB + 4 * input.len(),
    // Most of it is what the target itself makes: certificates around the names, in two forms.
    certificate: |input| 4 * KIB + 64 * input.len(),
    // The window, which brotli lets the sender choose, and two steps of 16 KiB.
    decompressor: |input| match input.first().map(|which| which % 5) {
        Some(4) => 17 * MIB,
        _ => 320 * KIB,
    },
    // Each level of what holds itself takes a few bytes, and is a box; there are a hundred of them at most.
    codec_proto: |input| 32 * KIB + 8 * input.len(),
    codec_json: |input| KIB + 8 * input.len(),
    codec_cbor: |input| 32 * KIB + 8 * input.len(),
    codec_postcard: |input| 32 * KIB + 8 * input.len(),
};

/// Those that have a node, which does its own work meanwhile.
static NODES: [Target; 3] = targets! {
    operations: |input| 48 * KIB + 16 * input.len(),
    answers: |input| 48 * KIB + 16 * input.len(),
    arrival: |input| 48 * KIB + 16 * input.len(),
};

/// Says which input it was, if it panics.
struct Named<'a>(&'a str, &'a str, &'a [u8]);

impl Drop for Named<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Named(target, seed, input) = self;
            eprintln!("{target}, seed {seed}, with {input:02x?}");
        }
    }
}

impl Target {
    fn seeds(&self) -> Vec<(String, Vec<u8>)> {
        let files = fs::read_dir(seeds().join(self.name)).unwrap();
        let mut seeds: Vec<_> = files
            .map(|file| file.unwrap())
            .map(|file| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap()))
            .collect();
        seeds.sort();
        seeds
    }

    fn run(&self, seed: &str, input: &[u8]) {
        let _named = Named(self.name, seed, input);
        let rise = peak(|| (self.run)(input));
        let most = (self.most)(input) as i64;
        assert!(rise <= most, "{rise} bytes at a time, and not {most} at most");
    }

    fn replay(&self) {
        let seeds = self.seeds();
        // What is made once is not an input's.
        (self.run)(&seeds[0].1);
        for (seed, input) in &seeds {
            self.run(seed, input);
            lies(input).for_each(|lie| self.run(seed, &lie));
        }
    }
}

#[test]
fn s20_seeds_and_lies_made_of_them_cost_readers_no_more_than_stated() {
    READERS.iter().for_each(Target::replay);
}

#[test]
fn s20_seeds_and_lies_made_of_them_cost_nodes_no_more_than_stated() {
    NODES.iter().for_each(Target::replay);
}

#[test]
fn every_target_is_replayed() {
    let names = |folder: PathBuf| -> BTreeSet<String> {
        let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
        files
            .map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned())
            .collect()
    };
    let replayed: BTreeSet<String> = READERS
        .iter()
        .chain(&NODES)
        .map(|target| target.name.to_owned())
        .collect();
    assert_eq!(replayed, names(seeds()));
    assert_eq!(replayed, names(seeds().join("../fuzz_targets")));
}
