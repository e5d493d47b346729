//! T5: a library whose runtime is a set of static functions runs in the simulator, and a seed replays it to the letter.

use std::time::Duration;

use volary_interop_openraft::Cluster;
use volary_testkit::Sim;
use volary_testkit::sim::Check;

/// Three members elect a leader and take 20 writes; it crashes, the others go on; it comes back, and all are the same.
async fn scenario(sim: Sim) -> u64 {
    let cluster = Cluster::start(&sim, 3).await;
    let looked_at = cluster.clone();
    sim.invariant("no two machines differ", move || agree(&looked_at.commands()));
    for number in 0..20 {
        cluster.write(&format!("w{number}")).await;
    }
    let first = cluster.leader().await;
    cluster.crash(first);
    let second = cluster.leader().await;
    assert_ne!(first, second, "the leader is down");
    for number in 20..40 {
        cluster.write(&format!("w{number}")).await;
    }
    cluster.node(first).restart().await;
    let same = |lists: &[Vec<String>]| lists.iter().all(|list| *list == lists[0]);
    let whole = "a group of which all know the same";
    cluster
        .eventually(whole, || {
            let (commands, logs) = (cluster.commands(), cluster.logs());
            same(&commands) && same(&logs) && commands[0].iter().any(|command| command == "w39")
        })
        .await;
    let mut written = cluster.commands().remove(0);
    // A write whose answer was lost is written again.
    written.dedup();
    let wanted: Vec<String> = (0..40).map(|number| format!("w{number}")).collect();
    assert_eq!(written, wanted);
    sim.sleep(Duration::from_secs(1)).await;
    sim.trace_hash()
}

/// Each list is the beginning of the longest.
fn agree(lists: &[Vec<String>]) -> Result<(), String> {
    let longest = lists.iter().max_by_key(|list| list.len());
    match lists
        .iter()
        .find(|list| !longest.is_some_and(|longest| longest.starts_with(list)))
    {
        Some(list) => Err(format!("{list:?} is not the beginning of {longest:?}")),
        None => Ok(()),
    }
}

#[test]
fn t5_a_group_of_openraft_is_the_same_twice() {
    let run = |seed| Sim::new(seed).run(scenario);
    let hash = run(7);
    assert_eq!(hash, run(7));
    assert_ne!(hash, run(8), "another seed is another run");
}

#[test]
fn t5_a_group_of_openraft_survives_its_leader_under_twenty_seeds() {
    let check = Check::new().from(100).seeds(20).twice_every(5);
    let summary = check.run(|sim| async move {
        scenario(sim).await;
    });
    let summary = summary.unwrap_or_else(|failed| panic!("{failed}"));
    assert!(summary.twice > 0, "{summary}");
}
