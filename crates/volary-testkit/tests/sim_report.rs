//! T5: what a check finds and says: runs that differ at their very end, and how to see a failed run again.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use volary::{Disk, OpenMode};
use volary_testkit::Sim;
use volary_testkit::sim::{Chaos, Check};

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

#[test]
fn t5_a_run_of_one_seed_says_how_to_see_it_again() {
    let panic = std::panic::catch_unwind(AssertUnwindSafe(|| {
        Sim::new(7).run(|_| async { panic!("on purpose") });
    }));
    let report = panic.unwrap_err().downcast::<String>().unwrap();
    assert!(report.contains("replay it with `Sim::new(7)`"), "{report}");
    assert!(!report.contains("VOLARY_SEED"), "that is for checks: {report}");
}

#[test]
#[ignore = "run by the next one, with a seed in the environment"]
fn a_check_of_three_seeds() {
    let summary = Sim::check(3, |_| async {});
    println!("{summary}");
}

#[test]
fn t5_a_seed_to_replay_that_is_no_number_is_not_passed_over() {
    let check = |seed: &str| {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_check_of_three_seeds", "--ignored", "--nocapture"])
            .env("VOLARY_SEED", seed)
            .output()
            .unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&said).into_owned())
    };
    let (good, said) = check("2");
    assert!(good && said.contains("1 seeds passed"), "{said}");
    for wrong in ["0x2", "", "-1", "seven"] {
        let (good, said) = check(wrong);
        assert!(!good && said.contains("VOLARY_SEED"), "{wrong}: {said}");
    }
}

#[test]
fn t5_fewer_faults_do_not_turn_one_bug_into_another() {
    let second = Duration::from_secs(1);
    let failed = Check::new().seeds(1).run(|sim| async move {
        let a = sim.node("a");
        sim.chaos(&Chaos::within(second).crashes(2..=4));
        let mut crashed = false;
        for _ in 0..200 {
            sim.sleep(second / 100).await;
            crashed |= !a.is_up();
        }
        match crashed {
            true => Err("this one, after 12 steps"),
            false => Err("another one, which always comes"),
        }
    });
    let failed = failed.unwrap_err();
    assert!(failed.why().contains("this one"), "{failed}");
    assert_eq!(failed.faults().len(), 1, "{failed}");
}
