//! The workloads over the trait `Remoting`, so that every library runs the same text, and how they are measured: warm up,
//! which makes the connection, then one timed pass with the processor time of both sides, then a counted one.

use std::future::Future;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;

use crate::case::{IN_FLIGHT, PAIRS};
use crate::histogram::Histogram;
use crate::partner::Partner;
use crate::{Case, Record, Remoting, alloc, cpu, memory, parcel};

/// A pass longer than this is a failure: every loop is bounded.
const PATIENCE: Duration = Duration::from_secs(100);
/// How often a sender asks whether all was handled, if the first answer is that it was not.
const LOOK_AGAIN: Duration = Duration::from_millis(1);
/// How many large parcels are under way beside the small ones, and alone.
const LARGE_BESIDE: usize = 4;
const LARGE_ALONE: usize = 8;
/// How many messages the slow reader has waiting; they keep it busy for ten seconds.
const WAITING: u64 = 10_000;

/// Two workers, in either process (`BENCH_WORKERS` overrides it).
pub fn runtime() -> Runtime {
    let forced = std::env::var("BENCH_WORKERS").ok().and_then(|workers| workers.parse().ok());
    Builder::new_multi_thread()
        .worker_threads(forced.unwrap_or(2))
        .enable_all()
        .build()
        .expect("a tokio runtime")
}

/// Measures the case; `there` starts the process that serves.
///
/// # Panics
/// If anything goes wrong: a measurement with an error in it is none.
pub fn measure<R: Remoting>(case: &Case, there: Command) -> Record {
    let (mut partner, invitation) = Partner::start(there);
    let runtime = runtime();
    let workload = case.workload.clone();
    let called = runtime.spawn(async move { Caller::<R>::new(&workload, &invitation).await });
    let mut caller = runtime.block_on(within(called)).expect("a connection");

    runtime.block_on(within(caller.pass(case.warm_up)));
    caller.latencies = Arc::new(Histogram::new());
    let (far_before, before, start) = (partner.usage(), cpu::micros(), Instant::now());
    runtime.block_on(within(caller.pass(case.ops)));
    let (elapsed, after, far_after) = (start.elapsed().as_secs_f64(), cpu::micros(), partner.usage());
    let latencies = std::mem::replace(&mut caller.latencies, Arc::new(Histogram::new()));

    let far_counted = partner.count();
    let allocations = alloc::counted(|| runtime.block_on(within(caller.pass(case.counted))));
    let far_allocations = partner.usage().allocations.zip(far_counted.allocations);

    let (ops, counted) = (case.ops as f64, case.counted as f64);
    let percentile = |fraction| (!latencies.is_empty()).then(|| latencies.percentile_us(fraction));
    let record = Record {
        ops_per_sec: Some(ops / elapsed),
        ns_per_op: Some(elapsed * 1e9 / ops),
        allocs_per_op: Some(allocations as f64 / counted),
        far_allocs_per_op: far_allocations.map(|(after, before)| (after - before) / counted),
        cpu_us_per_op: Some((after - before) / ops),
        far_cpu_us_per_op: Some((far_after.cpu_us - far_before.cpu_us) / ops),
        p50_us: percentile(0.5),
        p99_us: percentile(0.99),
        p999_us: percentile(0.999),
        peak_bytes: Some(memory::peak() as f64),
        ..Record::default()
    };
    // What it would still do is not measured.
    std::mem::forget(runtime);
    record
}

async fn within<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, work)
        .await
        .expect("the pass ends in time")
}

/// The calling side of a workload.
struct Caller<R: Remoting> {
    library: R,
    workload: String,
    far: Vec<R::Far>,
    small: Bytes,
    large: Bytes,
    /// What each receiver has been told so far.
    told: u64,
    latencies: Arc<Histogram>,
}

impl<R: Remoting> Caller<R> {
    async fn new(workload: &str, invitation: &str) -> Self {
        let library = R::call(workload, invitation).await;
        let mut far = Vec::new();
        for receiver in 0..crate::case::receivers(workload) {
            far.push(library.far(receiver).await);
        }
        let caller = Self {
            library,
            workload: workload.to_owned(),
            far,
            small: parcel::small(),
            large: parcel::large(),
            told: 0,
            latencies: Arc::new(Histogram::new()),
        };
        if workload == "remote-tell/slow-reader" {
            for number in 0..WAITING {
                R::tell(&caller.far[1], number, &caller.small).await;
            }
        }
        caller
    }

    async fn pass(&mut self, count: u64) {
        match self.workload.as_str() {
            "remote-tell/many" => self.tell(PAIRS, count).await,
            "remote-ask/64" => self.ask(IN_FLIGHT, count, Size::Small).await,
            "remote-ask/one" | "remote-mixed/alone" => self.ask(1, count, Size::Small).await,
            "remote-mixed" => self.beside_large(count).await,
            "remote-bulk" => self.ask(LARGE_ALONE, count, Size::Large).await,
            _ => self.tell(1, count).await,
        }
    }

    /// Each sender tells its receiver, and then asks it whether it has handled everything.
    async fn tell(&mut self, pairs: usize, count: u64) {
        let share = count / pairs as u64;
        self.told += share;
        let (mut crowd, told) = (Crowd::new(), self.told);
        for far in &self.far[..pairs] {
            let (far, body, done) = (far.clone(), self.small.clone(), crowd.member());
            let work = async move {
                for number in 0..share {
                    R::tell(&far, number, &body).await;
                }
                loop {
                    let handled = R::handled(&far).await;
                    assert!(handled <= told, "{handled} of {told} handled");
                    if handled == told {
                        break;
                    }
                    tokio::time::sleep(LOOK_AGAIN).await;
                }
                done.finish();
            };
            self.library.act(Box::pin(work)).await;
        }
        crowd.finished().await;
    }

    /// So many askers, each of which asks the first receiver again as soon as it has an answer.
    async fn ask(&self, askers: usize, count: u64, size: Size) {
        let mut crowd = Crowd::new();
        for _ in 0..askers {
            let (far, done, latencies) = (self.far[0].clone(), crowd.member(), self.latencies.clone());
            let body = match size {
                Size::Small => self.small.clone(),
                Size::Large => self.large.clone(),
            };
            let work = async move {
                for number in 0..count / askers as u64 {
                    let start = Instant::now();
                    assert_eq!(R::ask(&far, number, &body).await, number);
                    latencies.record(start.elapsed());
                }
                done.finish();
            };
            self.library.act(Box::pin(work)).await;
        }
        crowd.finished().await;
    }

    /// One asker with small parcels, while others ask another actor with large ones.
    async fn beside_large(&self, count: u64) {
        let over = Arc::new(AtomicBool::new(false));
        let mut crowd = Crowd::new();
        for _ in 0..LARGE_BESIDE {
            let (far, body) = (self.far[1].clone(), self.large.clone());
            let (done, over) = (crowd.member(), over.clone());
            let work = async move {
                while !over.load(Relaxed) {
                    assert_eq!(R::ask(&far, 1, &body).await, 1);
                }
                done.finish();
            };
            self.library.act(Box::pin(work)).await;
        }
        self.ask(1, count, Size::Small).await;
        over.store(true, Relaxed);
        crowd.finished().await;
    }
}

/// Which body is sent.
#[derive(Clone, Copy)]
enum Size {
    Small,
    Large,
}

/// Those who work on a pass. It is over when all are gone, and went well if all of them said so before. Whoever waits for
/// them is woken once, by the last: a thousand wake-ups would be a part of what is measured.
struct Crowd {
    /// Nothing is ever sent: it is closed when all members are gone.
    membership: mpsc::Sender<()>,
    members: mpsc::Receiver<()>,
    finished: Arc<AtomicUsize>,
    size: usize,
}

/// One of them. Dropped without a word if its actor crashed.
struct Member {
    _membership: mpsc::Sender<()>,
    finished: Arc<AtomicUsize>,
}

impl Member {
    fn finish(self) {
        self.finished.fetch_add(1, Relaxed);
    }
}

impl Crowd {
    fn new() -> Self {
        let (membership, members) = mpsc::channel(1);
        Self {
            membership,
            members,
            finished: Arc::default(),
            size: 0,
        }
    }

    fn member(&mut self) -> Member {
        self.size += 1;
        Member {
            _membership: self.membership.clone(),
            finished: Arc::clone(&self.finished),
        }
    }

    async fn finished(self) {
        let Self { membership, mut members, finished, size } = self;
        drop(membership);
        assert!(members.recv().await.is_none(), "nothing is sent");
        assert_eq!(finished.load(Relaxed), size, "some did not finish");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crowd_is_done_when_all_have_finished() {
        let mut crowd = Crowd::new();
        let members = [crowd.member(), crowd.member()];
        runtime().block_on(async {
            for member in members {
                tokio::spawn(async { member.finish() });
            }
            within(crowd.finished()).await;
        });
    }

    #[test]
    #[should_panic(expected = "some did not finish")]
    fn whoever_crashes_is_missed() {
        let mut crowd = Crowd::new();
        drop(crowd.member());
        runtime().block_on(crowd.finished());
    }
}
