//! The printed comparison: one markdown table per workload, with the subject's
//! ratio to each contender as the last column (above 1 is in the subject's
//! favour), and a closing table against the best actor peer and references.

use crate::contender::Role;
use crate::measure::Record;
use crate::suite::{Cell, Outcome};
use crate::workloads::Metric;

/// All tables.
pub fn render(cells: &[Cell]) -> String {
    let groups: Vec<&[Cell]> = cells
        .chunk_by(|a, b| a.workload.name == b.workload.name)
        .collect();
    let mut text: String = groups.iter().map(|group| table(group)).collect();
    text.push_str(&summary(&groups));
    text
}

/// One workload: a row per contender.
fn table(group: &[Cell]) -> String {
    let workload = group[0].workload;
    let mut text = format!("\n## {}", workload.name);
    if let Some(rate) = group[0].rate {
        text.push_str(&format!(" ({rate:.0} arrivals/s)"));
    }
    let sides = if is_between_processes(group) { Sides::Both } else { Sides::One };
    let (titles, rule) = sides.columns();
    text.push_str(&format!(
        "\n\n| contender | ops/s | ns/op | allocs/op | B/actor | p50 µs | p99 µs | p99.9 µs \
         | peak MiB |{titles} subject's ratio by {} |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|{rule}---:|\n",
        unit(workload.metric)
    ));
    let own = subject(group).and_then(score);
    let mut not_offered = Vec::new();
    for cell in group {
        match &cell.outcome {
            Outcome::Measured(record) => {
                let ratio = own.zip(score(cell)).map(|(own, other)| own / other);
                text.push_str(&row(cell.peer, record, sides, ratio));
            }
            Outcome::Failed(reason) => text.push_str(&format!(
                "| {} | **FAILED: {reason}** | | | | | | | | |\n",
                cell.peer
            )),
            Outcome::NotOffered => not_offered.push(cell.peer),
        }
    }
    if let Some(best) = best_peer(group) {
        text.push_str(&format!("\nbest actor peer: {}\n", best.peer));
    }
    if !not_offered.is_empty() {
        text.push_str(&format!("not offered: {}\n", not_offered.join(", ")));
    }
    text
}

/// Whether the other process has columns of its own.
#[derive(Clone, Copy)]
enum Sides {
    One,
    Both,
}

impl Sides {
    /// Their titles, and the rule below them.
    fn columns(self) -> (&'static str, &'static str) {
        match self {
            Self::One => ("", ""),
            Self::Both => (" CPU µs/op | CPU µs/op there | allocs/op there |", "---:|---:|---:|"),
        }
    }

    fn figures(self, record: &Record) -> String {
        match self {
            Self::One => String::new(),
            Self::Both => format!(
                " {} | {} | {} |",
                number(record.cpu_us_per_op, 2),
                number(record.far_cpu_us_per_op, 2),
                number(record.far_allocs_per_op, 2)
            ),
        }
    }
}

fn is_between_processes(group: &[Cell]) -> bool {
    let far = |cell: &Cell| measured(cell).and_then(|record| record.far_cpu_us_per_op);
    group.iter().any(|cell| far(cell).is_some())
}

fn row(peer: &str, record: &Record, sides: Sides, ratio: Option<f64>) -> String {
    format!(
        "| {peer} | {} | {} | {} | {} | {} | {} | {} | {} |{} {} |\n",
        number(record.ops_per_sec, 0),
        number(record.ns_per_op, 1),
        number(record.allocs_per_op, 2),
        number(record.bytes_per_actor, 0),
        number(record.p50_us, 1),
        number(record.p99_us, 1),
        number(record.p999_us, 1),
        number(mebibytes(record), 1),
        sides.figures(record),
        times(ratio),
    )
}

/// The closing table; empty without a subject.
fn summary(groups: &[&[Cell]]) -> String {
    if !groups.iter().any(|group| subject(group).is_some()) {
        return String::new();
    }
    let mut text =
        "\n## Summary\n\n| workload | by | best actor peer | against it | against tokio \
                    | against queue | against echo | against tonic | peak MiB | its peak MiB \
                    | best beyond Rust | against it |\n\
                    |---|---|---|---:|---:|---:|---:|---:|---:|---:|---|---:|\n"
            .to_owned();
    for group in groups {
        let (subject, best) = (subject(group), best_peer(group));
        let beyond = best_of(group, Role::ForeignPeer);
        let against = |cell: Option<&Cell>| {
            let ratio = subject.and_then(score).zip(cell.and_then(score));
            times(ratio.map(|(own, other)| own / other))
        };
        let named = |name: &str| group.iter().find(|cell| cell.peer == name);
        text.push_str(&format!(
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
            group[0].workload.name,
            unit(group[0].workload.metric),
            best.map_or("–", |cell| cell.peer),
            against(best),
            against(named("tokio")),
            against(named("queue")),
            against(named("echo")),
            against(named("tonic")),
            number(subject.and_then(measured).and_then(mebibytes), 1),
            number(best.and_then(measured).and_then(mebibytes), 1),
            beyond.map_or("–", |cell| cell.peer),
            against(beyond),
        ));
    }
    text
}

fn subject(group: &[Cell]) -> Option<&Cell> {
    group.iter().find(|cell| cell.role == Role::Subject)
}

fn best_peer(group: &[Cell]) -> Option<&Cell> {
    best_of(group, Role::ActorPeer)
}

fn best_of(group: &[Cell], role: Role) -> Option<&Cell> {
    group
        .iter()
        .filter(|cell| cell.role == role && score(cell).is_some())
        .max_by(|a, b| score(a).partial_cmp(&score(b)).expect("scores are numbers"))
}

fn measured(cell: &Cell) -> Option<&Record> {
    match &cell.outcome {
        Outcome::Measured(record) => Some(record),
        _ => None,
    }
}

/// A number that grows with merit.
fn score(cell: &Cell) -> Option<f64> {
    let record = measured(cell)?;
    match cell.workload.metric {
        Metric::Rate => record.ops_per_sec,
        Metric::Latency => record.p99_us.map(|micros| 1.0 / micros.max(0.001)),
        Metric::Median => record.p50_us.map(|micros| 1.0 / micros.max(0.001)),
        Metric::Memory => record.bytes_per_actor.map(|bytes| 1.0 / bytes.max(1.0)),
    }
}

fn unit(metric: Metric) -> &'static str {
    match metric {
        Metric::Rate => "ops/s",
        Metric::Latency => "p99",
        Metric::Median => "p50",
        Metric::Memory => "B/actor",
    }
}

fn mebibytes(record: &Record) -> Option<f64> {
    record.peak_bytes.map(|bytes| bytes / 1_048_576.0)
}

fn times(ratio: Option<f64>) -> String {
    ratio.map_or("–".to_owned(), |ratio| format!("{ratio:.2}×"))
}

/// Digits in groups of three, or a dash for what doesn't apply.
fn number(value: Option<f64>, decimals: usize) -> String {
    let Some(value) = value else {
        return "–".to_owned();
    };
    let plain = format!("{value:.decimals$}");
    let (whole, fraction) = plain.split_once('.').unwrap_or((&plain, ""));
    let mut grouped = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    if fraction.is_empty() {
        grouped
    } else {
        format!("{grouped}.{fraction}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads;

    fn cell(peer: &'static str, role: Role, ops_per_sec: f64) -> Cell {
        Cell {
            workload: workloads::find("tell").expect("tell"),
            peer,
            role,
            rate: None,
            outcome: Outcome::Measured(Record {
                ops_per_sec: Some(ops_per_sec),
                ..Record::default()
            }),
            runs: Vec::new(),
        }
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(number(Some(1_234_567.0), 0), "1,234,567");
        assert_eq!(number(Some(999.25), 2), "999.25");
        assert_eq!(number(None, 1), "–");
    }

    #[test]
    fn ratios_are_to_the_best_actor_peer_and_to_references() {
        let cells = [
            cell("subject", Role::Subject, 30.0),
            cell("slow", Role::ActorPeer, 5.0),
            cell("fast", Role::ActorPeer, 10.0),
            cell("tokio", Role::Reference, 60.0),
            cell("erlang", Role::ForeignPeer, 15.0),
        ];
        let text = render(&cells);
        assert!(text.contains("best actor peer: fast"), "{text}");
        assert!(
            text.contains("| tell | ops/s | fast | 3.00× | 0.50× | – |"),
            "{text}"
        );
        assert!(text.contains("| erlang | 2.00× |\n"), "{text}");
    }

    #[test]
    fn both_sides_are_shown_where_there_are_two() {
        let mut pair = cell("subject", Role::Subject, 30.0);
        let record = Record {
            far_cpu_us_per_op: Some(1.25),
            ..Record::default()
        };
        pair.outcome = Outcome::Measured(record);
        let text = render(&[pair]);
        assert!(text.contains("CPU µs/op there"), "{text}");
        assert!(text.contains("| – | 1.25 | – | – |"), "{text}");
        assert!(!render(&[cell("subject", Role::Subject, 30.0)]).contains("there"));
    }

    #[test]
    fn failures_and_gaps_are_shown() {
        let mut failed = cell("a", Role::ActorPeer, 1.0);
        failed.outcome = Outcome::Failed("why".to_owned());
        let mut missing = cell("b", Role::ActorPeer, 1.0);
        missing.outcome = Outcome::NotOffered;
        let text = render(&[failed, missing]);
        assert!(text.contains("FAILED: why"), "{text}");
        assert!(text.contains("not offered: b"), "{text}");
    }
}
