//! A storm of crashes on real threads.

use super::*;

/// The same on threads: crashes, escalations and reinstatements in a storm, and a clean end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l10_a_storm_of_crashes_on_threads_ends_well() {
    let system = system().await;
    let log = Log::new();
    let own = restart().limit(1_000_000, Duration::from_secs(1));
    let staff = vec![
        ("a", restart().strategy(Strategy::OneForAll)),
        ("b", escalating()),
        ("c", Supervision::new().otherwise(Directive::Suspend)),
    ];
    let (boss, _) = a_boss(&system, &log, own, staff).await;
    for round in 0..500 {
        for name in ["a", "b", "c"] {
            let Some(worker) = system.lookup::<Worker>(&format!("/user/boss/{name}")) else {
                continue;
            };
            let _ = worker.tell(FailDisk);
            let _ = worker.tell(Work);
            if round % 3 == 0 {
                worker.reinstate();
            }
        }
        tokio::task::yield_now().await;
    }
    assert!(boss.is_alive());
    soon("the stop", system.stop()).await.unwrap();
}
