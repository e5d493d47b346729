//! T5: what a check finds and says: runs that differ at their very end.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use volary::{Disk, OpenMode};
use volary_testkit::sim::Check;

#[test]
fn t5_two_runs_that_differ_after_their_last_line_are_found() {
    let runs = AtomicU64::new(0);
    let failed = Check::new().seeds(1).twice_every(1).threads(1).run(|sim| {
        let run = runs.fetch_add(1, SeqCst) as usize;
        async move {
            let file = sim.node("a").disk().open(Path::new("/x"), OpenMode::Create).unwrap();
            file.append(&vec![0; 1 + run]).unwrap(); // of which no line tells
        }
    });
    let failed = failed.unwrap_err();
    assert!(failed.why().contains("nondeterminism at step"), "{failed}");
    assert!(failed.why().contains("the end of the run"), "{failed}");
}
