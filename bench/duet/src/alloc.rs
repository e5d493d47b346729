//! The global allocator: mimalloc for every contender alike, wrapped in a
//! counter that is off (one relaxed load) except during the short counted
//! pass after the timed one. Counters are sharded so that threads don't meet.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};

use mimalloc::MiMalloc;

const SHARDS: usize = 16;

/// One counter alone on its cache lines.
#[repr(align(128))]
struct Shard(AtomicU64);

static ENABLED: AtomicBool = AtomicBool::new(false);
static NEXT_SHARD: AtomicUsize = AtomicUsize::new(0);
static COUNTS: [Shard; SHARDS] = [const { Shard(AtomicU64::new(0)) }; SHARDS];

thread_local! {
    static SHARD: Cell<usize> = const { Cell::new(usize::MAX) };
}

#[global_allocator]
static GLOBAL: Counting = Counting;

/// mimalloc that counts allocations while enabled.
struct Counting;

#[inline]
fn note() {
    if ENABLED.load(Relaxed) {
        count();
    }
}

#[cold]
fn count() {
    let shard = SHARD
        .try_with(|cell| {
            if cell.get() == usize::MAX {
                cell.set(NEXT_SHARD.fetch_add(1, Relaxed) % SHARDS);
            }
            cell.get()
        })
        .unwrap_or(0);
    COUNTS[shard].0.fetch_add(1, Relaxed);
}

// SAFETY: every call is handed to mimalloc unchanged; counting touches only
// atomics and a const-initialised thread-local without a destructor, so it
// neither allocates nor panics.
unsafe impl GlobalAlloc for Counting {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note();
        // SAFETY: the caller's contract is passed on as it is.
        unsafe { MiMalloc.alloc(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract is passed on as it is.
        unsafe { MiMalloc.dealloc(ptr, layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note();
        // SAFETY: the caller's contract is passed on as it is.
        unsafe { MiMalloc.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        note();
        // SAFETY: the caller's contract is passed on as it is.
        unsafe { MiMalloc.realloc(ptr, layout, new_size) }
    }
}

/// How many allocations (and reallocations) all threads make during `work`.
pub fn counted(work: impl FnOnce()) -> u64 {
    let before = total();
    ENABLED.store(true, Relaxed);
    work();
    ENABLED.store(false, Relaxed);
    total() - before
}

/// From now on allocations are counted: for a process that is told by another when.
pub fn start_counting() {
    ENABLED.store(true, Relaxed);
}

/// How many allocations were counted so far.
pub fn total() -> u64 {
    COUNTS.iter().map(|shard| shard.0.load(Relaxed)).sum()
}
