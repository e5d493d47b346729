//! R3: what a message between two nodes allocates, on both sides together.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that meets an error fails, and runs what it needs"
)]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::future::IntoFuture;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use common::*;
use volary::prelude::*;

struct Counting;

static MADE: AtomicU64 = AtomicU64::new(0);

// SAFETY: everything is left to the system's allocator; the counter does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        MADE.fetch_add(1, Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Counts, and keeps nothing.
struct Tally(u64);

#[actor(kind = "test.Tally", remote(Add, Sum))]
impl Tally {
    #[message(remote = "test.Add", codec = postcard, derive(serde::Serialize, serde::Deserialize))]
    fn add(&mut self, number: u64) {
        self.0 += number;
    }

    #[message(remote = "test.Sum", codec = postcard, derive(serde::Serialize, serde::Deserialize))]
    fn sum(&mut self) -> u64 {
        self.0
    }
}

/// Tells in portions that fit the window, so that nobody waits in line.
async fn tell(far: &ActorRef<Tally>, count: u64) {
    let before = soon("a sum", far.ask(Sum).into_future()).await.unwrap();
    for told in 1..=count {
        far.tell(Add { number: 1 }).unwrap();
        if told % 1_000 == 0 {
            let sum = soon("a sum", far.ask(Sum).into_future()).await.unwrap();
            assert_eq!(sum, before + told);
        }
    }
}

/// Asks, 64 at a time.
async fn ask(far: &ActorRef<Tally>, count: u64) {
    let mut tasks = Vec::new();
    for _ in 0..64 {
        let far = far.clone();
        tasks.push(tokio::spawn(async move {
            for _ in 0..count / 64 {
                far.ask(Sum).timeout(PATIENCE).await.unwrap();
            }
        }));
    }
    for task in tasks {
        soon("all answers", task).await.unwrap();
    }
}

/// Asks, one after the other.
async fn ask_alone(far: &ActorRef<Tally>, count: u64) {
    for _ in 0..count {
        far.ask(Sum).timeout(PATIENCE).await.unwrap();
    }
}

async fn nodes() -> (Node, Node, ActorRef<Tally>) {
    let one = Node::start("one", builder().message::<Add>().message::<Sum>()).await;
    let other = Node::start("other", builder().kind::<Tally>()).await;
    other.system.spawn(|| Tally(0)).named("tally").await.unwrap();
    let far: ActorRef<Tally> = one.remote.actor(&other.address("tally")).unwrap();
    (one, other, far)
}

/// One test, since all of a process are counted together.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_steady_traffic_allocates_for_many_messages_at_a_time_and_once_for_an_ask() {
    const COUNT: u64 = 50_000;
    const ALONE: u64 = COUNT / 10;
    let (one, other, far) = nodes().await;
    tell(&far, COUNT / 5).await;
    let before = MADE.load(Relaxed);
    tell(&far, COUNT).await;
    let made = MADE.load(Relaxed) - before;
    // One for 29 is the pads of receipts; the rest are buffers, whose number depends on how much is read at a time.
    assert!(made < COUNT / 5, "{made} for {COUNT} messages");

    ask(&far, COUNT / 5).await;
    let before = MADE.load(Relaxed);
    ask(&far, COUNT).await;
    let made = MADE.load(Relaxed) - before;
    // One where it is asked of the actor. Run by a worker it would be three, for the bell and its place; a few are.
    assert!(made < 2 * COUNT, "{made} for {COUNT} asks");

    // Alone it takes no more: one where it is asked, and the pads of receipts. A second one for each would be too many.
    ask_alone(&far, ALONE / 5).await;
    let before = MADE.load(Relaxed);
    ask_alone(&far, ALONE).await;
    let made = MADE.load(Relaxed) - before;
    assert!(made < ALONE * 3 / 2, "{made} for {ALONE} asks, one at a time");
    stop(one, other).await;
}
