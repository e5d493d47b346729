//! One actor that computes without end beside a thousand that are asked: does the crowd notice?
//!
//! The machine has two cores, and whoever computes keeps one of them busy. So that nothing else does, the questions come
//! from a thread that belongs to no runtime and sleeps in between, and an answer is late from the moment its question was
//! put. (A generator that watches the clock keeps the second core busy, and then everybody's latencies are the time
//! slices of the kernel, also of those who do nothing at all.)

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::executor::block_on;

use crate::contender::Case;
use crate::histogram::Histogram;
use crate::latch::Latch;
use crate::peer::Peer;
use crate::rng::Rng;
use crate::workloads::CROWD;

/// How long one message keeps the hog busy.
const MEAL: Duration = Duration::from_millis(5);
/// How long the runtime warms up, unrecorded.
const WARM_UP: f64 = 0.2;

/// A thousand actors asked at a steady rate beside one whose handler computes for 5 ms per message and always has a next
/// message waiting.
pub fn hog<P: Peer>(case: &Case) -> Histogram {
    let peer = P::start(case);
    let hog = block_on(peer.job(1));
    let crowd: Arc<[P::Echo]> = (0..CROWD).map(|_| block_on(peer.echo(0))).collect();
    let seconds = case.seconds + WARM_UP + 0.5;
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    for _ in 0..(seconds / MEAL.as_secs_f64()) as u64 {
        P::run(&hog, Box::pin(async move { compute_until(end) }));
    }
    let ask_all = |seconds: f64, seed| {
        let histogram = Arc::new(Histogram::new());
        let latch = Latch::leaked();
        latch.arm((case.rate * seconds) as u64);
        arrivals(case.rate, seconds, seed, |target| {
            let (crowd, record, asked) = (Arc::clone(&crowd), Arc::clone(&histogram), Instant::now());
            peer.task(0, async move {
                black_box(P::ask(&crowd[target], 1).await);
                record.record(asked.elapsed());
                drop(record);
                latch.arrive();
            });
        });
        latch.wait();
        Arc::into_inner(histogram).expect("all asks are done")
    };
    ask_all(WARM_UP, 1);
    ask_all(case.seconds, 2)
}

/// Calls `arrive` by a seeded exponential schedule, and sleeps in between.
pub fn arrivals(rate: f64, seconds: f64, seed: u64, mut arrive: impl FnMut(usize)) {
    let mut rng = Rng::new(seed);
    let start = Instant::now();
    let mut offset = 0.0;
    for _ in 0..(rate * seconds) as u64 {
        offset += rng.exponential() / rate;
        let due = start + Duration::from_secs_f64(offset);
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        arrive(rng.below(CROWD));
    }
}

/// Burns 5 ms of processor, or nothing once the run is over.
pub fn compute_until(end: Instant) {
    let start = Instant::now();
    if start < end {
        while start.elapsed() < MEAL {
            std::hint::spin_loop();
        }
    }
}
