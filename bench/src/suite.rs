//! The whole comparison: each (round, workload, contender) in a process of its
//! own, rounds outermost so that slow drift of the machine hits everyone
//! alike. What fails or takes over 120 s is shown as failed, never dropped.

use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::child;
use crate::contender::{CONTENDERS, Role};
use crate::foreign::Foreign;
use crate::measure::Record;
use crate::workloads::{WORKLOADS, Workload, open_loop};

/// How long one process may take.
const LIMIT: Duration = Duration::from_secs(120);
/// The peers whose slower one sets the open-loop arrival rates.
const RATE_SETTERS: &[&str] = &["kameo", "ractor"];

/// What `all` was asked for.
pub struct Options {
    /// Small sizes.
    pub quick: bool,
    /// How often everything is run.
    pub rounds: usize,
    /// Workload filters; none selects all.
    pub filters: Vec<String>,
    /// The only contenders wanted; none wants all.
    pub peers: Vec<String>,
}

impl Options {
    /// Whether the contender of that name takes part.
    pub fn wants(&self, peer: &str) -> bool {
        self.peers.is_empty() || self.peers.iter().any(|wanted| wanted == peer)
    }
}

/// The result of one contender in one workload over all rounds.
pub enum Outcome {
    /// The median of the runs.
    Measured(Record),
    /// It has no function for the workload.
    NotOffered,
    /// Why it failed, in the first round in which it did.
    Failed(String),
}

/// One cell of the comparison.
pub struct Cell {
    /// The workload.
    pub workload: &'static Workload,
    /// The contender's name.
    pub peer: &'static str,
    /// What it is compared as.
    pub role: Role,
    /// The open-loop arrival rate, where there was one.
    pub rate: Option<f64>,
    /// What came of it.
    pub outcome: Outcome,
    /// The single runs.
    pub runs: Vec<Record>,
}

impl Cell {
    fn is_offered(&self) -> bool {
        !matches!(self.outcome, Outcome::NotOffered)
    }

    /// The cell for the JSON list.
    pub fn to_json(&self) -> Value {
        let record = match &self.outcome {
            Outcome::Measured(record) => record.clone(),
            _ => Record::default(),
        };
        let mut object = record.to_json(self.workload.name, self.peer);
        object["arrivals_per_sec"] = self.rate.map_or(Value::Null, |rate| json!(rate));
        object["status"] = match &self.outcome {
            Outcome::Measured(_) => json!("measured"),
            Outcome::NotOffered => json!("not offered"),
            Outcome::Failed(reason) => json!(format!("failed: {reason}")),
        };
        object["runs"] = self.runs.iter().map(|run| json!(run.ops_per_sec)).collect();
        object
    }
}

/// Runs everything selected and hands back the cells, workload by workload.
pub fn run(options: &Options, foreign: &[Foreign]) -> Vec<Cell> {
    let mut cells = cells(options, foreign);
    let rates = arrival_rates(options);
    for cell in &mut cells {
        cell.rate = rates
            .iter()
            .find(|(name, _)| *name == cell.workload.name)
            .map(|(_, rate)| *rate);
    }
    for round in 0..options.rounds {
        for cell in &mut cells {
            if !matches!(cell.outcome, Outcome::Measured(_)) {
                continue;
            }
            eprint!(
                "round {} {} {} … ",
                round + 1,
                cell.workload.name,
                cell.peer
            );
            let programs = foreign.iter().filter(|peer| peer.offers(cell.workload.name));
            crate::touch::before(cell.workload.name);
            let measured = match { programs }.find(|peer| peer.name() == cell.peer) {
                Some(peer) => record(peer.command(cell.workload, options.quick)),
                None => spawn(cell.workload.name, cell.peer, options.quick, cell.rate),
            };
            match measured {
                Ok(record) => {
                    eprintln!("{:.0} ops/s", record.ops_per_sec.unwrap_or(0.0));
                    cell.runs.push(record);
                }
                Err(reason) => {
                    eprintln!("FAILED: {reason}");
                    cell.outcome = Outcome::Failed(reason);
                }
            }
        }
    }
    for cell in &mut cells {
        if matches!(cell.outcome, Outcome::Measured(_)) {
            cell.outcome = Outcome::Measured(Record::median(&cell.runs));
        }
    }
    cells
}

fn cells(options: &Options, foreign: &[Foreign]) -> Vec<Cell> {
    let workloads = WORKLOADS.iter().filter(|workload| selected(workload, options));
    workloads.flat_map(|workload| row(workload, options, foreign)).collect()
}

/// The cells of one workload: everybody wanted, programs of their own last. A peer that is both is whichever offers the
/// workload. References are lines to compare with, and are left out where they have nothing to say.
fn row(workload: &'static Workload, options: &Options, foreign: &[Foreign]) -> Vec<Cell> {
    let cell = |peer, role, offered| Cell {
        workload,
        peer,
        role,
        rate: None,
        outcome: if offered { Outcome::Measured(Record::default()) } else { Outcome::NotOffered },
        runs: Vec::new(),
    };
    let own = CONTENDERS.iter().filter(|contender| options.wants(contender.name));
    let own: Vec<Cell> = own.map(|it| cell(it.name, it.role, (it.bench)(workload.name).is_some())).collect();
    let others = foreign.iter().map(|it| cell(it.name(), it.role(), it.offers(workload.name)));
    let (doubles, others): (Vec<Cell>, Vec<Cell>) =
        others.partition(|other| own.iter().any(|cell| cell.peer == other.peer));
    let either = |cell: Cell| match doubles.iter().find(|double| double.peer == cell.peer && double.is_offered()) {
        Some(double) => Cell { outcome: Outcome::Measured(Record::default()), role: double.role, ..cell },
        None => cell,
    };
    let all = own.into_iter().map(either).chain(others);
    all.filter(|cell| cell.is_offered() || cell.role != Role::Reference).collect()
}

/// Whether any workload between two processes is wanted.
pub fn is_between_processes(options: &Options) -> bool {
    let mut wanted = WORKLOADS.iter().filter(|workload| selected(workload, options));
    wanted.any(|workload| workload.name.starts_with("remote-"))
}

fn selected(workload: &Workload, options: &Options) -> bool {
    options.filters.is_empty()
        || options
            .filters
            .iter()
            .any(|filter| workload.matches(filter))
}

/// The arrival rate of each selected open-loop workload, the same for all: its
/// percentage of the capacity of the slower rate setter at that payload (the
/// median of three short runs each).
fn arrival_rates(options: &Options) -> Vec<(&'static str, f64)> {
    let mut capacities: Vec<(usize, f64)> = Vec::new();
    let mut rates = Vec::new();
    for workload in WORKLOADS
        .iter()
        .filter(|workload| selected(workload, options))
    {
        let Some((percent, bytes)) = open_loop(workload.name) else {
            continue;
        };
        let known = capacities.iter().find(|(size, _)| *size == bytes);
        let capacity = match known {
            Some((_, capacity)) => *capacity,
            None => {
                let measured = capacity(bytes);
                eprintln!("capacity at {bytes} B: {measured:.0} asks/s");
                capacities.push((bytes, measured));
                measured
            }
        };
        rates.push((workload.name, capacity * percent / 100.0));
    }
    rates
}

fn capacity(bytes: usize) -> f64 {
    let name = format!("capacity/{bytes}");
    RATE_SETTERS
        .iter()
        .filter_map(|peer| {
            let runs: Vec<Record> = (0..3)
                .filter_map(|_| spawn(&name, peer, true, None).ok())
                .collect();
            Record::median(&runs).ops_per_sec
        })
        .min_by(f64::total_cmp)
        .expect("the capacity of a rate setter")
}

/// Runs one workload for one contender in a process of its own.
fn spawn(workload: &str, peer: &str, quick: bool, rate: Option<f64>) -> Result<Record, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command.args(["run", workload, peer]);
    if quick {
        command.arg("--quick");
    }
    if let Some(rate) = rate {
        command.env("BENCH_RATE", rate.to_string());
    }
    record(command)
}

/// What the process measured: the one line of JSON it writes.
fn record(mut command: Command) -> Result<Record, String> {
    command.stderr(Stdio::inherit());
    let text = child::output(command, LIMIT).map_err(|failure| failure.reason)?;
    let value: Value = serde_json::from_str(text.trim()).map_err(|error| error.to_string())?;
    Ok(Record::from_json(&value))
}
