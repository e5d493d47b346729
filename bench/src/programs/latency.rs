//! Open-loop programs: asks arrive by a seeded exponential schedule whether or
//! not earlier ones were answered, and latency counts from the *intended*
//! arrival, so a stall is charged to everyone it delayed.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::executor::block_on;

use crate::contender::{Case, Pass};
use crate::histogram::Histogram;
use crate::latch::Latch;
use crate::peer::Peer;
use crate::rng::Rng;
use crate::workloads::CROWD;

/// Arrivals per second that are more than anyone can answer.
const FLOOD: f64 = 5e6;
/// Arrivals further away than this are slept for, nearer ones yielded for.
const COARSE: Duration = Duration::from_millis(3);

/// A thousand actors echo buffers at a given arrival rate.
pub fn open_loop<P: Peer>(case: &Case) -> Histogram {
    let peer = P::start(case);
    let (stores, payload) = (stores(&peer), case.payload);
    arrivals(&peer, case, move |target| {
        echo::<P>(Arc::clone(&stores), target, payload)
    })
}

/// The capacity of the same program: asks arrive faster than anyone can answer
/// them, and what counts is how fast they are all answered. (A loop closed over
/// a window leaves the generator's own cost out and fits the runtime's local
/// queues; it showed up to twice what an open loop can sustain.)
pub fn capacity<P: Peer>(case: &Case) -> Pass {
    let peer = P::start(case);
    let (stores, payload) = (stores(&peer), case.payload);
    let issue = Arc::new(move |target| echo::<P>(Arc::clone(&stores), target, payload));
    let histogram = Arc::new(Histogram::new());
    Box::new(move |count| play(&peer, FLOOD, count, 0, &issue, &histogram))
}

/// The echoing crowd.
fn stores<P: Peer>(peer: &P) -> Arc<[P::Store]> {
    (0..CROWD).map(|slot| block_on(peer.store(slot))).collect()
}

/// One ask of the echoing crowd.
async fn echo<P: Peer>(stores: Arc<[P::Store]>, target: usize, payload: usize) {
    black_box(P::ask_bytes(&stores[target], vec![7; payload]).await);
}

/// Plays the schedule: `issue(target)` is started at each arrival as a task of
/// its own by one generator task. A short unrecorded stretch warms up first.
fn arrivals<P: Peer, F, A>(peer: &P, case: &Case, issue: F) -> Histogram
where
    F: Fn(usize) -> A + Send + Sync + 'static,
    A: Future<Output = ()> + Send + 'static,
{
    let issue = Arc::new(issue);
    let warm = Arc::new(Histogram::new());
    play(peer, case.rate, (case.rate * 0.2) as u64, 1, &issue, &warm);
    let histogram = Arc::new(Histogram::new());
    let count = (case.rate * case.seconds) as u64;
    play(peer, case.rate, count, 2, &issue, &histogram);
    Arc::into_inner(histogram).expect("all asks are done")
}

fn play<P: Peer, F, A>(
    peer: &P,
    rate: f64,
    count: u64,
    seed: u64,
    issue: &Arc<F>,
    histogram: &Arc<Histogram>,
) where
    F: Fn(usize) -> A + Send + Sync + 'static,
    A: Future<Output = ()> + Send + 'static,
{
    let latch = Latch::leaked();
    latch.arm(count + 1);
    let issue = Arc::clone(issue);
    let record = Arc::clone(histogram);
    peer.task(0, async move {
        let mut rng = Rng::new(seed);
        let start = Instant::now();
        let mut offset = 0.0;
        for _ in 0..count {
            offset += rng.exponential() / rate;
            let intended = start + Duration::from_secs_f64(offset);
            until::<P>(intended).await;
            let ask = issue(rng.below(CROWD));
            let record = Arc::clone(&record);
            P::detach(async move {
                ask.await;
                record.record(intended.elapsed());
                drop(record);
                latch.arrive();
            });
        }
        drop(record);
        latch.arrive();
    });
    latch.wait();
}

/// Waits for a moment without holding up other tasks of the same thread.
async fn until<P: Peer>(moment: Instant) {
    loop {
        let now = Instant::now();
        if now >= moment {
            return;
        }
        if moment - now > COARSE {
            tokio::time::sleep(moment - now - COARSE).await;
        } else {
            P::pause().await;
        }
    }
}
