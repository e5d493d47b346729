//! T5: in a binary without `interpose!`, reading a real clock or the order of a map is found and reported.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod strange;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::SystemTime;

use volary_testkit::sim::{Check, FailedRun};

fn assert_reported(failed: &FailedRun) {
    assert!(failed.why().starts_with("nondeterminism at step"), "{}", failed.why());
    assert!(failed.why().contains("interpose!"), "{}", failed.why());
}

#[test]
fn t5_strangers_are_reported() {
    let check = Check::new().seeds(5).twice_every(1);
    assert_reported(&check.run(strange::scenario).unwrap_err());
}

#[test]
fn t5_the_order_of_a_map_alone_is_reported() {
    let check = Check::new().seeds(5).twice_every(1);
    let failed = check.run(|sim| async move {
        let map: HashMap<u32, ()> = (0..32).map(|number| (number, ())).collect();
        sim.note(format!("{:?}", map.keys()));
    });
    assert_reported(&failed.unwrap_err());
}

#[test]
fn t5_the_real_clock_alone_is_reported() {
    let check = Check::new().seeds(5).twice_every(1);
    let failed = check.run(|sim| async move { sim.note(format!("{:?}", SystemTime::now())) });
    assert_reported(&failed.unwrap_err());
}

#[test]
fn t5_a_difference_that_does_not_come_again_is_reported_all_the_same() {
    let runs = AtomicU64::new(0);
    let check = Check::new().seeds(1).twice_every(1);
    let failed = check.run(|sim| {
        let run = runs.fetch_add(1, SeqCst);
        async move { sim.note(if run == 0 { "the first time" } else { "later" }) }
    });
    assert_reported(&failed.unwrap_err());
}
