//! T5: corners of the simulator: crashes from within, times without end, readers that go away, boots that are cut short.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

use std::io::ErrorKind;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use volary::prelude::*;
use volary_testkit::Sim;
use volary_testkit::sim::{Check, Node, current};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

/// Fails instead of hanging: a lock that is taken twice ends no run.
fn ends(body: impl FnOnce() + Send + 'static) {
    let (send, receive) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        body();
        let _ = send.send(());
    });
    match receive.recv_timeout(Duration::from_secs(60)) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("it hangs"),
        _ => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
    }
}

/// Looks at the run when it is dropped, as a stream or a file does.
struct LooksBack(Sim);

impl Drop for LooksBack {
    fn drop(&mut self) {
        self.0.note("looks back");
    }
}

#[test]
fn t5_a_task_may_crash_its_own_node_whatever_it_holds() {
    ends(|| {
        Sim::check(20, |sim| async move {
            let node = sim.node("a");
            let (held, dying) = (LooksBack(sim.clone()), node.clone());
            node.spawn(async move {
                let _held = held;
                dying.crash();
                std::future::pending::<()>().await;
            });
            sim.sleep(SECOND).await;
            assert!(!node.is_up());
        });
    });
}

#[test]
fn t5_a_task_that_crashed_its_own_node_may_panic_in_drop() {
    struct Falls;
    impl Drop for Falls {
        fn drop(&mut self) {
            panic!("on the way out");
        }
    }
    Sim::check(20, |sim| async move {
        let node = sim.node("a");
        let dying = node.clone();
        node.spawn(async move {
            let _falls = Falls;
            dying.crash();
            std::future::pending::<()>().await;
        });
        sim.sleep(SECOND).await;
        assert!(!node.is_up());
    });
}

#[test]
fn t5_a_time_without_end_never_comes_and_overflows_nowhere() {
    Sim::check(20, |sim| async move {
        let node = sim.node("a");
        let (ours, theirs) = (sim.sleep(Duration::MAX), node.sleep(Duration::MAX));
        node.spawn(ours);
        node.spawn(theirs);
        sim.sleep(SECOND).await;
        assert!(sim.now() < 2 * SECOND);
    });
    let stuck = Check::new()
        .seeds(1)
        .run(|sim| async move { sim.sleep(Duration::MAX).await });
    assert!(stuck.unwrap_err().why().contains("deadlock"));
}

#[test]
fn t5_a_writer_that_waits_for_room_hears_that_the_reader_has_gone() {
    Sim::check(50, |sim| async move {
        let (a, b) = (sim.node("a"), sim.node("b"));
        let listener = b.listen(80).unwrap();
        let mut client = a.connect("b", 80).await.unwrap();
        let (server, _) = listener.accept().await.unwrap();
        let gone = sim.sleep(SECOND);
        b.spawn(async move {
            gone.await; // all that there is room for has arrived, and nothing is on its way
            drop(server);
        });
        let broken = client.write_all(&[7; 200_000]).await.unwrap_err();
        assert_eq!(broken.kind(), ErrorKind::ConnectionReset);
    });
}

#[derive(Default)]
struct Idle;

#[actor]
impl Idle {
    fn hello(&mut self) -> u32 {
        1
    }
}

/// Starts a system and takes its time.
async fn slow_boot(node: Node, boots: Arc<AtomicU64>) {
    assert_eq!(
        current().map(|here| here.name()),
        Some(node.name()),
        "it runs on the node"
    );
    let system = node.start().await;
    node.sleep(100 * MS).await;
    let idle = system.spawn(Idle::default).await.unwrap();
    assert_eq!(idle.ask(Hello).await.unwrap(), 1);
    boots.fetch_add(1, SeqCst);
}

#[test]
fn t5_a_boot_is_over_when_its_node_crashes_and_does_not_go_on() {
    Sim::check(50, |sim| async move {
        let node = sim.node("a");
        let boots = Arc::new(AtomicU64::new(0));
        let (counted, dying, later) = (boots.clone(), node.clone(), sim.sleep(50 * MS));
        sim.node("operator").spawn(async move {
            later.await;
            dying.crash();
        });
        node.boot(move |node| slow_boot(node, counted.clone())).await;
        assert!(!node.is_up());
        assert_eq!(boots.load(SeqCst), 0, "what was begun is gone");
        node.restart().await;
        assert_eq!(boots.load(SeqCst), 1);
        assert_eq!(node.systems().len(), 1);
    });
}

#[test]
fn t5_a_boot_stands_still_with_its_node() {
    Sim::check(20, |sim| async move {
        let node = sim.node("a");
        let boots = Arc::new(AtomicU64::new(0));
        let (counted, paused, until) = (boots.clone(), node.clone(), sim.sleep(10 * SECOND));
        sim.node("operator").spawn(async move {
            paused.pause();
            until.await;
            paused.resume();
        });
        node.boot(move |node| slow_boot(node, counted.clone())).await;
        assert_eq!(boots.load(SeqCst), 1);
        assert!(sim.now() >= 100 * MS);
    });
}

#[test]
fn t5_the_last_of_all_seeds_is_a_seed() {
    let failed = Check::new().from(u64::MAX).seeds(1).threads(4).run(|sim| async move {
        assert_ne!(sim.seed(), u64::MAX, "the last one");
    });
    assert_eq!(failed.unwrap_err().seed(), u64::MAX);
    let summary = Check::new().from(u64::MAX - 3).seeds(10).run(|_| async {});
    assert_eq!(summary.unwrap().seeds, 4, "there are no more");
}
