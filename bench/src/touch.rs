//! Touches memory in a process of its own, before one that is measured needs much of it. A virtual machine has its memory
//! from a host, which takes back what lies free and hands it out again page by page: whoever comes first would pay for
//! all, and whoever follows the largest contender for nothing.

use std::hint::black_box;
use std::process::{Command, Stdio};

/// More than all but the largest need.
const BYTES: usize = 1 << 30;

/// Workloads in which memory that was not touched before is a large part of the time.
const LARGE: [&str; 9] = [
    "tell",
    "tell/deadline",
    "tell/telemetry",
    "fan-in",
    "spawn",
    "skynet",
    "suspended",
    "timers",
    "passivation",
];

/// What the process of its own does.
pub fn touch() {
    black_box(vec![1_u8; BYTES]);
}

/// Runs it, if the workload is one of those.
pub fn before(workload: &str) {
    if LARGE.contains(&workload)
        && let Ok(program) = std::env::current_exe()
    {
        // Where it fails the machine is short of memory, which the contender will find out itself.
        let _ = Command::new(program).arg("touch").stdout(Stdio::null()).status();
    }
}
