//! One workload for one contender in this process: warm up, time one pass,
//! read memory, then count allocations in a short pass of its own. Nothing is
//! counted while the clock runs.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::alloc::counted;
use crate::contender::{Bench, Case, Contender};
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
}
