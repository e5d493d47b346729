//! One workload for one contender in this process: warm up, time one pass,
//! read memory, then count allocations in a short pass of its own. Nothing is
//! counted while the clock runs.

use std::process::Command;
use std::time::{Duration, Instant};

pub use volary_bench_duet::Record;

use crate::alloc::counted;
use crate::contender::{Bench, Case, Contender, Duet, Slumber};
use crate::memory;
use crate::workloads::Workload;

/// How long actors settle before their memory is read.
const SETTLE: Duration = Duration::from_millis(300);

/// Runs `workload` for `contender`, or `None` if it is not offered.
pub fn run(workload: &Workload, contender: &Contender, case: &Case) -> Option<Record> {
    let mut record = match (contender.bench)(workload.name)? {
        Bench::Throughput(set_up) => throughput(workload, case, set_up),
        Bench::Slumber(set_up) => slumber(workload, case, set_up),
        Bench::Duet(pair) => return Some(duet(workload, contender, case, &pair)),
        Bench::Latency(play) => {
            let histogram = play(case);
            Record {
                ops_per_sec: Some(histogram.len() as f64 / case.seconds),
                p50_us: Some(histogram.percentile_us(0.5)),
                p99_us: Some(histogram.percentile_us(0.99)),
                p999_us: Some(histogram.percentile_us(0.999)),
                ..Record::default()
            }
        }
    };
    record.peak_bytes = Some(memory::peak() as f64);
    Some(record)
}

fn throughput(
    workload: &Workload,
    case: &Case,
    set_up: fn(&Case) -> crate::contender::Pass,
) -> Record {
    let keeps_actors = matches!(workload.name, "spawn" | "suspended" | "timers");
    let mut pass = set_up(case);
    pass(workload.warm_up(case.ops));

    let before = memory::resident();
    let start = Instant::now();
    pass(case.ops);
    let elapsed = start.elapsed().as_secs_f64();

    let bytes_per_actor = keeps_actors.then(|| {
        std::thread::sleep(SETTLE);
        memory::resident().saturating_sub(before) as f64 / case.ops as f64
    });
    let sample = workload.counted(case.ops);
    let allocations = counted(|| pass(sample));

    let operations = workload.operations(case.ops) as f64;
    Record {
        ops_per_sec: Some(operations / elapsed),
        ns_per_op: Some(elapsed * 1e9 / operations),
        allocs_per_op: Some(allocations as f64 / workload.operations(sample) as f64),
        bytes_per_actor,
        ..Record::default()
    }
}

/// This process calls; the same program is started once more to serve.
fn duet(workload: &Workload, contender: &Contender, case: &Case, pair: &Duet) -> Record {
    let mut there = Command::new(std::env::current_exe().expect("the path of this program"));
    there.args(["serve", workload.name, contender.name]);
    let sizes = volary_bench_duet::Case {
        workload: workload.name.to_owned(),
        ops: case.ops,
        warm_up: workload.warm_up(case.ops),
        counted: workload.counted(case.ops),
    };
    (pair.measure)(&sizes, there)
}

/// Falling asleep and waking up are timed; in between, memory is read.
fn slumber(workload: &Workload, case: &Case, set_up: fn(&Case) -> Box<dyn Slumber>) -> Record {
    let mut crowd = set_up(case);
    crowd.gather(workload.warm_up(case.ops));
    crowd.sleep();
    crowd.wake();

    let before = memory::resident();
    crowd.gather(case.ops);
    let falling_asleep = timed(|| crowd.sleep());
    std::thread::sleep(SETTLE);
    let grown = memory::resident().saturating_sub(before);
    let waking_up = timed(|| crowd.wake());

    let sample = workload.counted(case.ops);
    crowd.gather(sample);
    let allocations = counted(|| {
        crowd.sleep();
        crowd.wake();
    });

    let (elapsed, operations) = (falling_asleep + waking_up, case.ops as f64);
    Record {
        ops_per_sec: Some(operations / elapsed),
        ns_per_op: Some(elapsed * 1e9 / operations),
        allocs_per_op: Some(allocations as f64 / sample as f64),
        bytes_per_actor: Some(grown as f64 / operations),
        ..Record::default()
    }
}

/// How many seconds `work` takes.
fn timed(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Awake until it is put to sleep, and the other way round.
    struct Fake {
        asleep: bool,
        gathered: u64,
    }

    impl Slumber for Fake {
        fn gather(&mut self, count: u64) {
            assert!(!self.asleep, "whoever sleeps is woken first");
            self.gathered += count;
        }

        fn sleep(&mut self) {
            assert!(self.gathered > 0 && !std::mem::replace(&mut self.asleep, true));
        }

        fn wake(&mut self) {
            assert!(std::mem::replace(&mut self.asleep, false));
        }
    }

    #[test]
    fn a_crowd_is_gathered_put_to_sleep_and_woken() {
        let workload = crate::workloads::find("passivation").expect("passivation");
        let fake = |_: &Case| -> Box<dyn Slumber> {
            Box::new(Fake {
                asleep: false,
                gathered: 0,
            })
        };
        let record = slumber(workload, &workload.case(true, None), fake);
        assert!(record.ops_per_sec > Some(0.0));
        assert!(record.bytes_per_actor.is_some());
    }
}
