//! The list of workloads: their names, their full and quick sizes, and how
//! many operations are reported for a pass of a given size. `capacity/*` are
//! the helper runs from which the open-loop arrival rates are derived.

use crate::contender::Case;

/// How many actors the ask-many and open-loop workloads address.
pub const CROWD: usize = 1_000;
/// How many connections and clients `io-handler` has.
pub const CONNECTIONS: usize = 100;
/// How many actors `fan-out` addresses.
pub const FAN_OUT: usize = 10_000;
/// How many actors subscribe to the topic of `topic`.
pub const SUBSCRIBERS: usize = 10_000;
/// How many listen to the events of `events`.
pub const LISTENERS: usize = 100;
/// How many actors a router has in `router`.
pub const ROUTEES: usize = 16;
/// The arrival rate of `hog`.
pub const HOG_RATE: f64 = 20_000.0;

/// A workload's name and sizes.
pub struct Workload {
    /// The exact name.
    pub name: &'static str,
    /// Operations of a full run.
    pub full: u64,
    /// Operations of a quick run.
    pub quick: u64,
    /// What is compared.
    pub metric: Metric,
}

/// The number by which contenders are ranked in a workload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Metric {
    /// Operations per second, more is better.
    Rate,
    /// The 99th percentile of the latency, less is better.
    Latency,
    /// The median of the latency, less is better.
    Median,
    /// Bytes per actor, or per timer, less is better (the rate is shown beside it).
    Memory,
}

const fn rate(name: &'static str, full: u64, quick: u64) -> Workload {
    Workload {
        name,
        full,
        quick,
        metric: Metric::Rate,
    }
}

const fn by(metric: Metric, name: &'static str, full: u64, quick: u64) -> Workload {
    Workload {
        name,
        full,
        quick,
        metric,
    }
}

const fn latency(name: &'static str) -> Workload {
    Workload {
        name,
        full: 0,
        quick: 0,
        metric: Metric::Latency,
    }
}

const M: u64 = 1_000_000;
const K: u64 = 1_000;

/// All workloads in the order in which they run.
pub const WORKLOADS: &[Workload] = &[
    rate("tell", 10 * M, M),
    rate("tell/outside", 10 * M, M),
    rate("tell/bounded", 10 * M, M),
    rate("tell/deadline", 10 * M, M),
    rate("tell/telemetry", 10 * M, M),
    rate("fan-in", 10 * M, M),
    rate("ask", M, 100 * K),
    // Most peers pay two thread wake-ups for each, so a million would take a minute.
    rate("ask/cross-thread", 100 * K, 20 * K),
    rate("ask/same-thread", M, 100 * K),
    rate("ask/busy", M, 100 * K),
    rate("ask/telemetry", M, 100 * K),
    rate("tokio-ask", 2 * M, 200 * K),
    rate("tokio-ask/one", 500 * K, 50 * K),
    rate("io-handler", 100 * K, 10 * K),
    // Each thousand takes as long as a timer of a millisecond does, so that few would be a matter of luck.
    rate("io-handler/timer", 200 * K, 5 * K),
    rate("pairs", 10 * M, M),
    rate("fan-out", 10 * M, M),
    rate("spawn", M, 100 * K),
    rate("skynet", M, 10 * K),
    latency("open-loop/50/64"),
    latency("open-loop/80/64"),
    latency("open-loop/50/256"),
    latency("open-loop/80/256"),
    latency("open-loop/50/4096"),
    latency("open-loop/80/4096"),
    latency("hog"),
    Workload {
        name: "suspended",
        full: 100 * K,
        quick: 10 * K,
        metric: Metric::Memory,
    },
    Workload {
        name: "timers",
        full: M,
        quick: 100 * K,
        metric: Metric::Memory,
    },
    rate("timers/fire", M, 100 * K),
    rate("timers/set-cancel", M, 100 * K),
    rate("restart", M, 100 * K),
    rate("restart/panic", M, 100 * K),
    rate("stash", 10 * M, M),
    rate("passivation", M, 100 * K),
    #[cfg(feature = "sim")]
    rate("sim-ping", M, 100 * K),
    #[cfg(feature = "sim")]
    rate("sim-seeds", 10 * K, K),
    rate("topic", 10 * M, M),
    rate("events", 10 * M, M),
    rate("stream", 10 * M, M),
    rate("router", 10 * M, M),
    rate("router/hash", 10 * M, M),
    rate("remote-tell/one", 4 * M, 200 * K),
    rate("remote-tell/many", 4 * M, 200 * K),
    rate("remote-tell/mtls", 4 * M, 200 * K),
    rate("remote-tell/zstd", 4 * M, 200 * K),
    rate("remote-tell/slow-reader", 4 * M, 200 * K),
    rate("remote-ask/64", 400 * K, 20 * K),
    by(Metric::Median, "remote-ask/one", 50 * K, 5 * K),
    by(Metric::Latency, "remote-mixed/alone", 20 * K, 2 * K),
    by(Metric::Latency, "remote-mixed", 20 * K, 2 * K),
    rate("remote-bulk", 4 * K, 400),
];

/// The helper runs: the capacity of the open-loop path per payload.
const CAPACITIES: &[Workload] = &[
    rate("capacity/64", M, 500 * K),
    rate("capacity/256", M, 500 * K),
    rate("capacity/4096", M, 500 * K),
];

/// The workload of that exact name, helper runs included.
pub fn find(name: &str) -> Option<&'static Workload> {
    WORKLOADS
        .iter()
        .chain(CAPACITIES)
        .find(|workload| workload.name == name)
}

/// `open-loop/<percent>/<bytes>` taken apart.
pub fn open_loop(name: &str) -> Option<(f64, usize)> {
    let (percent, bytes) = name.strip_prefix("open-loop/")?.split_once('/')?;
    Some((percent.parse().ok()?, bytes.parse().ok()?))
}

impl Workload {
    /// Whether a command-line filter (exact name, or the part before `/`)
    /// selects this workload.
    pub fn matches(&self, filter: &str) -> bool {
        self.name == filter || self.name.split('/').next() == Some(filter)
    }

    /// The case to run; `rate` is the open-loop arrival rate, if given.
    pub fn case(&self, quick: bool, rate: Option<f64>) -> Case {
        let payload = open_loop(self.name).map(|(_, bytes)| bytes).or_else(|| {
            let bytes = self.name.strip_prefix("capacity/")?;
            bytes.parse().ok()
        });
        Case {
            workload: self.name.to_owned(),
            ops: if quick { self.quick } else { self.full },
            rate: if self.name == "hog" {
                HOG_RATE
            } else {
                rate.unwrap_or(100_000.0)
            },
            payload: payload.unwrap_or(0),
            seconds: if quick { 1.0 } else { 3.0 },
        }
    }

    /// The size of the warm-up pass before the timed one.
    pub fn warm_up(&self, ops: u64) -> u64 {
        match self.name {
            "skynet" | "spawn" | "suspended" | "timers" | "passivation" | "io-handler/timer" => K,
            "remote-bulk" => ops / 10,
            _ => (ops / 10).max(K),
        }
    }

    /// The size of the counted pass after the timed one.
    pub fn counted(&self, ops: u64) -> u64 {
        match self.name {
            "skynet" | "spawn" | "suspended" | "timers" | "passivation" | "io-handler/timer" => K,
            "remote-bulk" => ops / 10,
            "fan-out" | "topic" => (ops / 20).max(10 * FAN_OUT as u64),
            _ => (ops / 20).max(K),
        }
    }

    /// How many operations a pass of size `ops` counts as. A skynet of n
    /// leaves has n + n/10 + … + 1 actors.
    pub fn operations(&self, ops: u64) -> u64 {
        if self.name == "skynet" {
            (10 * ops - 1) / 9
        } else {
            ops
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_parse() {
        for (index, workload) in WORKLOADS.iter().enumerate() {
            assert!(WORKLOADS[..index].iter().all(|w| w.name != workload.name));
            assert!(workload.matches(workload.name));
        }
        for name in volary_bench_duet::case::WORKLOADS {
            assert!(find(name).is_some(), "{name}");
        }
        assert_eq!(open_loop("open-loop/80/256"), Some((80.0, 256)));
        assert_eq!(find("skynet").map(|w| w.operations(1_000)), Some(1_111));
    }
}
