//! One workload for one contender in this process: warm up, time one pass,
//! read memory, then count allocations in a short pass of its own. Nothing is
//! counted while the clock runs.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::alloc::counted;
use crate::contender::{Bench, Case, Contender, Slumber};
use crate::memory;
use crate::workloads::Workload;

/// How long actors settle before their memory is read.
const SETTLE: Duration = Duration::from_millis(300);

/// What one run measured; absent fields don't apply to the workload.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// Operations per second.
    pub ops_per_sec: Option<f64>,
    /// Nanoseconds per operation.
    pub ns_per_op: Option<f64>,
    /// Allocations per operation.
    pub allocs_per_op: Option<f64>,
    /// Growth of the resident set per actor, or per timer.
    pub bytes_per_actor: Option<f64>,
    /// Median latency.
    pub p50_us: Option<f64>,
    /// 99th percentile.
    pub p99_us: Option<f64>,
    /// 99.9th percentile.
    pub p999_us: Option<f64>,
    /// The largest resident set of the process.
    pub peak_bytes: Option<f64>,
}

/// A field of a record: its JSON name and how to get at it.
pub type Field = (&'static str, fn(&mut Record) -> &mut Option<f64>);

impl Record {
    /// All fields in the order in which they are written.
    pub const FIELDS: &[Field] = &[
        ("ops_per_sec", |record| &mut record.ops_per_sec),
        ("ns_per_op", |record| &mut record.ns_per_op),
        ("allocs_per_op", |record| &mut record.allocs_per_op),
        ("bytes_per_actor", |record| &mut record.bytes_per_actor),
        ("p50_us", |record| &mut record.p50_us),
        ("p99_us", |record| &mut record.p99_us),
        ("p999_us", |record| &mut record.p999_us),
        ("peak_bytes", |record| &mut record.peak_bytes),
    ];

    /// The record as a JSON object with its workload and contender.
    pub fn to_json(&self, workload: &str, peer: &str) -> Value {
        let mut object = json!({ "workload": workload, "peer": peer });
        let mut record = self.clone();
        for (name, field) in Self::FIELDS {
            object[*name] = field(&mut record).map_or(Value::Null, |value| json!(value));
        }
        object
    }

    /// Reads a record back; missing and null fields are absent.
    pub fn from_json(value: &Value) -> Self {
        let mut record = Self::default();
        for (name, field) in Self::FIELDS {
            *field(&mut record) = value[*name].as_f64();
        }
        record
    }

    /// The median of each field over several runs.
    pub fn median(runs: &[Self]) -> Self {
        let mut median = Self::default();
        for (_, field) in Self::FIELDS {
            let mut values: Vec<f64> = runs
                .iter()
                .filter_map(|run| *field(&mut run.clone()))
                .collect();
            values.sort_by(f64::total_cmp);
            let middle = values.len() / 2;
            *field(&mut median) = match values.len() {
                0 => None,
                odd if odd % 2 == 1 => Some(values[middle]),
                _ => Some(f64::midpoint(values[middle - 1], values[middle])),
            };
        }
        median
    }
}

/// Runs `workload` for `contender`, or `None` if it is not offered.
pub fn run(workload: &Workload, contender: &Contender, case: &Case) -> Option<Record> {
    let mut record = match (contender.bench)(workload.name)? {
        Bench::Throughput(set_up) => throughput(workload, case, set_up),
        Bench::Slumber(set_up) => slumber(workload, case, set_up),
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

    fn with_rate(rate: f64) -> Record {
        Record {
            ops_per_sec: Some(rate),
            ..Record::default()
        }
    }

    #[test]
    fn median_of_odd_and_even_runs() {
        let odd = [with_rate(3.0), with_rate(1.0), with_rate(2.0)];
        assert_eq!(Record::median(&odd).ops_per_sec, Some(2.0));
        assert_eq!(Record::median(&odd[..2]).ops_per_sec, Some(2.0));
        assert_eq!(Record::median(&odd).p50_us, None);
    }

    #[test]
    fn json_round_trip() {
        let json = with_rate(5.0).to_json("tell", "kameo");
        assert!(json["p50_us"].is_null());
        assert_eq!(Record::from_json(&json).ops_per_sec, Some(5.0));
    }

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
