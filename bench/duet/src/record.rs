//! What one run measured, as it is handed from process to process: one line of JSON.

use serde_json::{Value, json};

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
    /// Between two processes: processor time of this one per operation, in microseconds.
    pub cpu_us_per_op: Option<f64>,
    /// The same of the other process.
    pub far_cpu_us_per_op: Option<f64>,
    /// Allocations of the other process per operation.
    pub far_allocs_per_op: Option<f64>,
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
        ("cpu_us_per_op", |record| &mut record.cpu_us_per_op),
        ("far_cpu_us_per_op", |record| &mut record.far_cpu_us_per_op),
        ("far_allocs_per_op", |record| &mut record.far_allocs_per_op),
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
            let mut values: Vec<f64> = runs.iter().filter_map(|run| *field(&mut run.clone())).collect();
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
