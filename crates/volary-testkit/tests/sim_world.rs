//! T5: the simulator itself: the same seed is the same run, and faults do what they say.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use volary::prelude::*;
use volary_testkit::Sim;
use volary_testkit::sim::{Chaos, Check, Clock, Link, Strategy, Wire};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

struct Counter {
    count: u64,
}

#[derive(Message, Clone)]
struct Hit;

#[actor]
impl Counter {
    #[handles]
    fn hit(&mut self, _: Hit) {
        self.count += 1;
    }
    fn count(&mut self) -> u64 {
        self.count
    }
    async fn wait(&mut self, time: Duration, ctx: &mut Context<Self>) -> u64 {
        ctx.sleep(time).await;
        self.count
    }
    async fn tokio_wait(&mut self, time: Duration) -> u64 {
        tokio::time::sleep(time).await;
        self.count
    }
    fn stray(&mut self) {
        drop(tokio::spawn(async {}));
    }
    async fn connect(&mut self) -> bool {
        tokio::net::TcpStream::connect("127.0.0.1:9").await.is_ok()
    }
}

fn counter() -> Counter {
    Counter { count: 0 }
}

/// Sends hits back and forth.
struct Pinger {
    wire: Wire<Hit>,
    left: u64,
}

#[actor]
impl Pinger {
    #[handles]
    fn hit(&mut self, _: Hit) {
        if self.left > 0 {
            self.left -= 1;
            self.wire.tell(Hit);
        }
    }
}

async fn ping(sim: Sim) -> u64 {
    for number in 0..4 {
        let (node, next) = (
            sim.node(format!("n{number}")),
            sim.node(format!("n{}", (number + 1) % 4)),
        );
        let wire = sim.wire::<Hit>(&node, &next, "/user/pinger");
        let system = node.start().await;
        let pinger = move || Pinger {
            wire: wire.clone(),
            left: 20,
        };
        let pinger = system.spawn(pinger).named("pinger").await.unwrap();
        pinger.tell(Hit).unwrap();
    }
    sim.chaos(
        &Chaos::within(SECOND)
            .partitions(0..=2)
            .pauses(0..=2)
            .one_way_cuts(0..=2)
            .clock_drifts(0..=1),
    );
    sim.sleep(2 * SECOND).await;
    sim.trace_hash()
}

#[test]
fn t5_the_same_seed_is_the_same_run_to_the_letter() {
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..20 {
        for strategy in [Strategy::Random, Strategy::Priorities { changes: 3 }] {
            let run = || Sim::new(seed).strategy(strategy).run(ping);
            let hash = run();
            assert_eq!(hash, run(), "seed {seed}");
            seen.insert(hash);
        }
    }
    assert!(seen.len() > 35, "other seeds are other runs: {}", seen.len());
}

#[test]
fn t5_a_source_of_chance_outside_of_the_seed_is_found_and_named() {
    let runs = AtomicU64::new(0);
    let failed = Check::new().seeds(3).twice_every(1).run(|sim| {
        let run = runs.fetch_add(1, SeqCst);
        async move {
            let system = sim.node("a").start().await;
            let one = system.spawn(counter).named("one").await.unwrap();
            if run % 2 == 1 {
                one.tell(Hit).unwrap(); // as the order of a HashMap would have it
            }
            sim.sleep(MS).await;
        }
    });
    let failed = failed.unwrap_err();
    assert!(failed.why().starts_with("nondeterminism at step"), "{}", failed.why());
    assert!(failed.why().contains("/user/one"), "{}", failed.why());
}

#[test]
fn t5_two_hours_take_no_time_and_tokios_timers_follow() {
    Sim::check(50, |sim| async move {
        let system = sim.node("a").start().await;
        let actor = system.spawn(counter).await.unwrap();
        let began = sim.now();
        actor
            .ask(Wait { time: 7_200 * SECOND })
            .timeout(9_000 * SECOND)
            .await
            .unwrap();
        let passed = sim.now() - began;
        assert!(passed >= 7_200 * SECOND && passed < 7_201 * SECOND, "{passed:?}");
        let began = sim.now();
        actor
            .ask(TokioWait { time: 3_600 * SECOND })
            .timeout(9_000 * SECOND)
            .await
            .unwrap();
        let passed = sim.now() - began;
        assert!(passed >= 3_599 * SECOND && passed < 3_601 * SECOND, "{passed:?}");
    });
}

#[test]
fn t5_a_task_given_to_tokio_is_found_and_reported_with_the_alternative() {
    let failed = Check::new().seeds(1).run(|sim| async move {
        let system = sim.node("a").start().await;
        let actor = system.spawn(counter).named("careless").await.unwrap();
        let _ = actor.ask(Stray).await;
        sim.sleep(SECOND).await;
    });
    let why = failed.unwrap_err().why().to_owned();
    assert!(why.contains("tokio::spawn") && why.contains("ctx.spawn"), "{why}");
}

#[test]
fn t5_tokios_io_is_refused_and_the_actor_named() {
    let failed = Check::new().seeds(1).run(|sim| async move {
        let system = sim.node("a").start().await;
        let actor = system.spawn(counter).named("caller").await.unwrap();
        let _ = actor.ask(Connect).await;
        sim.sleep(SECOND).await;
    });
    let why = failed.unwrap_err().why().to_owned();
    assert!(why.contains("/user/caller used tokio's I/O"), "{why}");
}

#[test]
fn t5_a_scenario_that_waits_for_ever_is_a_deadlock() {
    let failed = Check::new().seeds(1).run(|_| std::future::pending::<()>());
    assert!(failed.unwrap_err().why().starts_with("deadlock"));
}

#[test]
fn t5_a_crash_takes_everything_along_and_a_restart_begins_anew() {
    Sim::check(50, |sim| async move {
        let (outside, node) = (sim.node("outside"), sim.node("a"));
        let starts = Arc::new(AtomicU64::new(0));
        let counted = starts.clone();
        node.boot(move |node| {
            counted.fetch_add(1, SeqCst);
            async move {
                let system = node.start().await;
                system.spawn(counter).named("counter").await.unwrap();
            }
        })
        .await;
        let dropped = Arc::new(());
        let held = dropped.clone();
        node.spawn(async move {
            let _held = held;
            std::future::pending::<()>().await;
        });
        let wire = sim.wire::<Hit>(&outside, &node, "/user/counter");
        wire.tell(Hit);
        sim.sleep(10 * MS).await;
        wire.tell(Hit); // on its way when the node dies
        node.crash();
        assert_eq!(Arc::strong_count(&dropped), 1, "what ran there is gone");
        sim.sleep(10 * MS).await;
        node.restart().await;
        wire.tell(Hit);
        sim.sleep(10 * MS).await;
        assert_eq!(starts.load(SeqCst), 2);
        let system = node.systems().pop().unwrap();
        let count = system
            .lookup::<Counter>("/user/counter")
            .unwrap()
            .ask(Count)
            .await
            .unwrap();
        assert_eq!(count, 1, "the new incarnation knows nothing of the old one");
    });
}

#[test]
fn t5_a_paused_node_stands_still_and_its_packets_wait() {
    Sim::check(50, |sim| async move {
        let (outside, node) = (sim.node("outside"), sim.node("a"));
        let system = node.start().await;
        let actor = system.spawn(counter).named("counter").await.unwrap();
        let wire = sim.wire::<Hit>(&outside, &node, "/user/counter");
        node.pause();
        wire.tell(Hit);
        let ask = actor.ask(Count).timeout(60 * SECOND);
        let asked = std::pin::pin!(async move { ask.await.unwrap() });
        let early = sim.now();
        let resume = {
            let (sim, node) = (sim.clone(), node.clone());
            async move {
                sim.sleep(SECOND).await;
                node.resume();
            }
        };
        outside.spawn(resume);
        asked.await;
        assert!(sim.now() - early >= SECOND, "nothing ran while it was paused");
        sim.sleep(10 * MS).await;
        assert_eq!(actor.ask(Count).await.unwrap(), 1);
    });
}

#[test]
fn t5_a_clock_that_drifts_is_seen_by_its_node_alone() {
    Sim::check(20, |sim| async move {
        let (fast, right) = (sim.node("fast"), sim.node("right"));
        fast.set_clock(Clock::true_time().drifting(100_000).ahead(5 * SECOND));
        let (one, two) = (fast.start().await, right.start().await);
        let (before, then) = (one.now(), two.now());
        one.sleep(11 * SECOND).await; // by its own clock
        let (passed, really) = (one.now().since(before), two.now().since(then));
        assert!(passed >= 11 * SECOND);
        assert!(really > 9 * SECOND && really < 10 * SECOND + 100 * MS, "{really:?}");
        assert!(sim.now() < 11 * SECOND);
    });
}

#[test]
fn t5_links_lose_duplicate_reorder_and_are_cut() {
    let totals = Arc::new(Mutex::new((0, 0)));
    let sums = totals.clone();
    Sim::check(50, move |sim| {
        let sums = sums.clone();
        async move {
            let (a, b) = (sim.node("a"), sim.node("b"));
            let actor = b.start().await.spawn(counter).named("counter").await.unwrap();
            let wire = sim.wire::<Hit>(&a, &b, "/user/counter");
            sim.set_link(&a, &b, Link::default().loss(0.5));
            (0..20).for_each(|_| wire.tell(Hit));
            sim.sleep(SECOND).await;
            let lossy = actor.ask(Count).await.unwrap();
            sim.set_link(&a, &b, Link::default().duplication(0.5));
            (0..20).for_each(|_| wire.tell(Hit));
            sim.sleep(SECOND).await;
            let twice = actor.ask(Count).await.unwrap() - lossy;
            sim.cut(&a, &b);
            wire.tell(Hit);
            sim.sleep(SECOND).await;
            assert_eq!(actor.ask(Count).await.unwrap(), lossy + twice, "cut");
            sim.heal();
            sim.partition(&[&a]);
            wire.tell(Hit);
            sim.heal();
            sim.set_link(&a, &b, Link::default());
            wire.tell(Hit);
            sim.sleep(SECOND).await;
            assert_eq!(actor.ask(Count).await.unwrap(), lossy + twice + 1);
            let mut sums = sums.lock().unwrap();
            *sums = (sums.0 + lossy, sums.1 + twice);
        }
    });
    let (lossy, twice) = *totals.lock().unwrap();
    // 51 runs, one of them a repetition.
    assert!((400..620).contains(&lossy), "{lossy}");
    assert!((1_400..1_700).contains(&twice), "{twice}");
}

#[test]
fn t5_an_invariant_is_checked_after_every_step_and_the_timeline_tells() {
    let failed = Check::new().seeds(100).run(|sim| async move {
        let seen = Arc::new(AtomicU64::new(0));
        let looked = seen.clone();
        sim.invariant("fewer than three", move || match looked.load(SeqCst) {
            0..3 => Ok(()),
            many => Err(format!("there are {many}")),
        });
        let system = sim.node("a").start().await;
        let actor = system.spawn(counter).named("counter").await.unwrap();
        for _ in 0..5 {
            actor.tell(Hit).unwrap();
            sim.sleep(MS).await;
            seen.fetch_add(1, SeqCst);
        }
    });
    let failed = failed.unwrap_err();
    assert_eq!(failed.seed(), 0);
    assert_eq!(failed.why(), "`fewer than three` does not hold: there are 3");
    let report = failed.to_string();
    assert!(report.contains("VOLARY_SEED=0"), "{report}");
    assert!(report.contains("/user/counter") && report.contains("Hit"), "{report}");
    assert!(report.contains("FAILED"), "{report}");
}

#[test]
fn t5_the_faults_of_a_failing_run_are_made_as_few_as_possible() {
    let failed = Check::new().seeds(500).run(|sim| async move {
        let (a, b) = (sim.node("a"), sim.node("b"));
        b.boot(|node| async move {
            let system = node.start().await;
            system.spawn(counter).named("counter").await.unwrap();
        })
        .await;
        let wire = sim.wire::<Hit>(&a, &b, "/user/counter");
        wire.tell(Hit);
        sim.sleep(10 * MS).await;
        let chaos = Chaos::within(SECOND)
            .crashes(0..=2)
            .partitions(0..=3)
            .pauses(0..=3)
            .clock_drifts(0..=3);
        sim.chaos(&chaos);
        sim.sleep(2 * SECOND).await;
        // Forgets a hit when its node crashes, and only then.
        let count = b
            .systems()
            .pop()
            .unwrap()
            .lookup::<Counter>("/user/counter")
            .unwrap()
            .ask(Count)
            .await
            .unwrap();
        assert_eq!(count, 1, "a hit was forgotten");
    });
    let failed = failed.unwrap_err();
    assert_eq!(failed.faults().len(), 1, "{failed}");
    assert!(failed.faults()[0].contains("b is down"), "{failed}");
    assert!(failed.to_string().contains("faults are needed"), "{failed}");
}

#[test]
fn t5_crashes_leave_no_memory_behind() {
    let alive = Arc::new(());
    let held = alive.clone();
    Sim::check(20, move |sim| {
        let held = held.clone();
        async move {
            let node = sim.node("a");
            node.boot(move |node| {
                let held = held.clone();
                async move {
                    let system = node.start().await;
                    for _ in 0..10 {
                        let held = held.clone();
                        let factory = move || {
                            let _ = &held;
                            counter()
                        };
                        let actor = system.spawn(factory).await.unwrap();
                        actor.tell(Hit).unwrap();
                        actor.tell(Wait { time: SECOND }).unwrap();
                        actor.tell(Hit).unwrap();
                    }
                }
            })
            .await;
            sim.sleep(100 * MS).await;
            node.crash();
            node.restart().await;
        }
    });
    assert_eq!(Arc::strong_count(&alive), 1, "every factory was dropped");
}
