//! The tokio runtimes the tokio-based peers run on. A slot says where an
//! actor or task is wanted; which runtime that is depends on the workload:
//! one with two workers (nearly always), one thread, or two separate threads.
//! The same for all of them, as actix has as many arbiters as it is faster with.

use std::future::Future;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinHandle;

use crate::contender::Case;

/// How many worker threads the shared runtime has: the faster of one and two,
/// as measured (`BENCH_WORKERS` overrides the choice, to check it).
fn workers(workload: &str) -> usize {
    if let Ok(forced) = std::env::var("BENCH_WORKERS") {
        return forced.parse().expect("a number of workers");
    }
    match workload {
        // The echo server has a thread, too.
        "io-handler" | "io-handler/timer" => 1,
        // Where one waits for the other, they wait least on one thread.
        "tell/bounded" => 1,
        // Messages that cross between cores cost more than a second core gains; in `fan-in` two thirds of the rate.
        "tell" | "tell/deadline" | "tell/telemetry" | "fan-in" => 1,
        // Everybody's latencies are lower where the generator's tasks are not stolen by a worker that has to be woken.
        _ if workload.starts_with("open-loop/") => 1,
        _ => 2,
    }
}

/// One or two runtimes, chosen by the workload.
pub struct Host {
    handles: Vec<Handle>,
}

impl Host {
    /// Starts what `case` needs. The runtimes live as long as the process.
    pub fn start(case: &Case) -> Self {
        let handles = match case.workload.as_str() {
            "ask/same-thread" => vec![lone_thread()],
            "ask/cross-thread" => vec![lone_thread(), lone_thread()],
            _ => vec![keep(
                Builder::new_multi_thread()
                    .worker_threads(workers(&case.workload))
                    .enable_all()
                    .build()
                    .expect("tokio runtime"),
            )],
        };
        Self { handles }
    }

    /// The runtime for a slot.
    pub fn handle(&self, slot: usize) -> &Handle {
        &self.handles[slot % self.handles.len()]
    }

    /// Runs `work` on the runtime of `slot` and hands back its output.
    pub async fn at<T: Send + 'static>(
        &self,
        slot: usize,
        work: impl Future<Output = T> + Send + 'static,
    ) -> T {
        let task: JoinHandle<T> = self.handle(slot).spawn(work);
        task.await.expect("set-up task")
    }

    /// Has as many tasks as a contender is faster with do their shares of `first..first + count`, all at once
    /// (`BENCH_TASKS` overrides the choice, to check it).
    pub async fn shared_out<W>(&self, tasks: u64, first: u64, count: u64, work: impl Fn(u64, u64) -> W)
    where
        W: Future<Output = ()> + Send + 'static,
    {
        let tasks = std::env::var("BENCH_TASKS").map_or(tasks, |forced| forced.parse().expect("a number of tasks"));
        let from = |task| first + count * task / tasks;
        let shares: Vec<_> = (0..tasks)
            .map(|task| self.handle(0).spawn(work(from(task), from(task + 1))))
            .collect();
        for share in shares {
            share.await.expect("a share");
        }
    }
}

fn keep(runtime: Runtime) -> Handle {
    let handle = runtime.handle().clone();
    std::mem::forget(runtime);
    handle
}

/// A thread of its own. Without the I/O driver, which no workload here needs
/// on such a thread: it is then woken by a futex, about a tenth faster.
fn lone_thread() -> Handle {
    let runtime = Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("tokio runtime");
    let handle = runtime.handle().clone();
    std::thread::spawn(move || runtime.block_on(std::future::pending::<()>()));
    handle
}
