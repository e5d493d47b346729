//! The process that serves: says where it is to be found, then answers questions about itself until nobody can ask any
//! more.
//!
//! ```text
//! there → ready INVITATION
//! here  → usage              how much of the processor was used up so far
//! there → {"cpu_us":…,"allocations":…}
//! here  → count              the same, and allocations are counted from now on
//! ```
//!
//! The end of stdin ends it, so it does not outlive the one who started it, however that one ends.

use std::io::{BufRead, Write};
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::programs::runtime;
use crate::{Remoting, alloc, cpu};

/// After this it ends in any case.
const LIFE: Duration = Duration::from_secs(240);

/// Serves `workload` until stdin ends.
pub fn serve<R: Remoting>(workload: &str) -> ! {
    thread::spawn(|| {
        thread::sleep(LIFE);
        std::process::exit(3)
    });
    let runtime = runtime();
    let name = workload.to_owned();
    let served = runtime.spawn(async move { R::serve(&name).await });
    let invitation = runtime.block_on(served).expect("somebody who serves");
    let mut out = std::io::stdout();
    let mut say = |line: String| writeln!(out, "{line}").and_then(|()| out.flush()).is_ok();
    let mut heard = say(format!("ready {invitation}"));
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        if line == "count" {
            alloc::start_counting();
        }
        heard = heard && say(json!({ "cpu_us": cpu::micros(), "allocations": alloc::total() }).to_string());
    }
    std::process::exit(0)
}
