//! A workload at one size, and the names of all of them.

/// How many senders and receivers `remote-tell/many` has.
pub const PAIRS: usize = 1_000;
/// How many asks are in flight in `remote-ask/64`.
pub const IN_FLIGHT: usize = 64;

/// The exact names, in the order in which they run.
pub const WORKLOADS: &[&str] = &[
    "remote-tell/one",
    "remote-tell/many",
    "remote-tell/mtls",
    "remote-tell/zstd",
    "remote-tell/slow-reader",
    "remote-ask/64",
    "remote-ask/one",
    "remote-mixed/alone",
    "remote-mixed",
    "remote-bulk",
];

/// What is to be run.
#[derive(Clone, Debug)]
pub struct Case {
    /// The workload's exact name.
    pub workload: String,
    /// Operations of the timed pass.
    pub ops: u64,
    /// Operations before it, which make the connection and warm up.
    pub warm_up: u64,
    /// Operations after it, during which allocations are counted.
    pub counted: u64,
}

impl Case {
    /// From `--ops N --warm-up N --counted N`, as they are given to every contender that is a program of its own. Options
    /// that are not known are skipped, their operands with them.
    ///
    /// # Errors
    /// If one of them is missing or not a number.
    pub fn parse(workload: &str, arguments: &[String]) -> Result<Self, String> {
        let number = |option: &str| {
            let place = arguments.iter().position(|argument| argument == option);
            let operand = place.and_then(|place| arguments.get(place + 1));
            operand
                .and_then(|text| text.parse().ok())
                .ok_or(format!("{option} N is missing"))
        };
        Ok(Self {
            workload: workload.to_owned(),
            ops: number("--ops")?,
            warm_up: number("--warm-up")?,
            counted: number("--counted")?,
        })
    }
}

/// How many actors serve in a workload.
pub fn receivers(workload: &str) -> usize {
    match workload {
        "remote-tell/many" => PAIRS,
        "remote-mixed" | "remote-tell/slow-reader" => 2,
        _ => 1,
    }
}

/// Whether the receiver of that number takes its time with each message.
pub fn is_slow(workload: &str, receiver: usize) -> bool {
    workload == "remote-tell/slow-reader" && receiver == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_from_the_command_line() {
        let words = "--ops 10 --operations 10 --warm-up 2 --counted 3"
            .split(' ')
            .map(str::to_owned);
        let words: Vec<String> = words.collect();
        let case = Case::parse("remote-ask/one", &words).expect("all are there");
        assert_eq!((case.ops, case.warm_up, case.counted), (10, 2, 3));
        assert!(Case::parse("remote-ask/one", &words[..4]).is_err());
    }
}
