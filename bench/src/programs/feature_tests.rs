//! The programs of what only some libraries have, at small sizes on everyone
//! who offers them. That a pass does what it was told is checked by the
//! programs themselves.

use crate::contender::{Bench, CONTENDERS};
use crate::workloads;

fn offered_by(workload: &str) -> Vec<&'static str> {
    let offers = CONTENDERS
        .iter()
        .filter(|contender| (contender.bench)(workload).is_some());
    offers.map(|contender| contender.name).collect()
}

/// Has everyone who offers the workload do two passes.
fn run_everywhere(workload: &str) {
    let case = workloads::find(workload).expect("a workload").case(true, None);
    for contender in CONTENDERS {
        match (contender.bench)(workload) {
            Some(Bench::Throughput(set_up)) => {
                let mut pass = set_up(&case);
                pass(2_500);
                pass(1);
            }
            Some(Bench::Slumber(set_up)) => {
                let mut crowd = set_up(&case);
                crowd.gather(100);
                for _ in 0..2 {
                    crowd.sleep();
                    crowd.wake();
                }
                crowd.gather(1);
                crowd.sleep();
                crowd.wake();
            }
            Some(Bench::Latency(_)) => panic!("{workload} is not about latency"),
            Some(Bench::Duet(_)) => panic!("{workload} is within one process"),
            None => {}
        }
    }
}

#[test]
fn a_restart_follows_each_error() {
    assert_eq!(
        offered_by("restart"),
        ["volary", "kameo", "ractor", "actix", "coerce", "tokio"]
    );
    run_everywhere("restart");
}

#[test]
fn a_restart_follows_each_panic() {
    assert_eq!(
        offered_by("restart/panic"),
        ["volary", "kameo", "ractor", "coerce", "tokio"]
    );
    run_everywhere("restart/panic");
}

#[test]
fn what_is_stashed_comes_back() {
    assert_eq!(offered_by("stash"), ["volary", "tokio"]);
    run_everywhere("stash");
}

#[test]
fn a_router_loses_nothing() {
    let all = ["volary", "kameo", "ractor"];
    let offered = all.into_iter().filter(|name| *name != "kameo" || cfg!(feature = "kameo-pool"));
    assert_eq!(offered_by("router"), offered.collect::<Vec<_>>());
    run_everywhere("router");
    assert_eq!(offered_by("router/hash"), ["volary", "ractor"]);
    run_everywhere("router/hash");
}

#[test]
fn a_crowd_sleeps_and_wakes() {
    assert_eq!(offered_by("passivation"), ["volary", "tokio"]);
    run_everywhere("passivation");
}

#[test]
fn what_is_published_reaches_every_subscriber() {
    assert_eq!(offered_by("topic"), ["volary", "kameo", "ractor"]);
    run_everywhere("topic");
}

#[test]
fn events_reach_everybody_who_listens() {
    assert_eq!(offered_by("events"), ["volary", "tokio"]);
    run_everywhere("events");
}

#[test]
fn a_stream_is_handled_to_its_end() {
    assert_eq!(offered_by("stream"), ["volary", "kameo", "actix", "tokio"]);
    run_everywhere("stream");
}
