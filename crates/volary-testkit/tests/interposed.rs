//! T5: in a binary with `interpose!`, code that knows nothing of the simulator lives on its seed and its clocks.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod strange;

use std::collections::{BTreeSet, HashMap};
use std::ffi::{c_int, c_void};
use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime};

use volary_testkit::Sim;
use volary_testkit::sim::{Check, Clock};

volary_testkit::interpose!();

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn t5_strangers_are_the_same_in_every_run_of_a_seed() {
    let check = Check::new().seeds(20).twice_every(1);
    let summary = check.run(strange::scenario).unwrap_or_else(|failed| panic!("{failed}"));
    assert_eq!(summary.twice, 20);
}

#[test]
fn t5_each_seed_is_another_order_of_a_map() {
    let seen = Mutex::new(BTreeSet::new());
    Sim::check(20, |sim| {
        let seen = &seen;
        async move {
            let look = strange::looks(&sim).await;
            let order = look.split(']').next().unwrap().to_owned();
            seen.lock().unwrap().insert(order);
        }
    });
    assert_eq!(seen.into_inner().unwrap().len(), 20);
}

#[test]
fn t5_a_strangers_clock_is_that_of_the_node_it_runs_on() {
    Sim::check(20, |sim| async move {
        let (right, fast) = (sim.node("right"), sim.node("fast"));
        fast.set_clock(Clock::true_time().drifting(100_000).ahead(60 * SECOND));
        let passed = |node: &volary_testkit::sim::Node| {
            let (node, sim) = (node.clone(), sim.clone());
            let (sender, receiver) = tokio::sync::oneshot::channel();
            node.spawn(async move {
                let (began, date) = (Instant::now(), SystemTime::now());
                sim.sleep(100 * SECOND).await;
                let _ = sender.send((began.elapsed(), date.elapsed().unwrap(), date));
            });
            receiver
        };
        let (here, there) = (passed(&right), passed(&fast));
        let (here, there) = (here.await.unwrap(), there.await.unwrap());
        for passed in [here.0, here.1] {
            assert!(passed >= 100 * SECOND && passed < 101 * SECOND, "{passed:?}");
        }
        for passed in [there.0, there.1] {
            assert!(passed >= 110 * SECOND && passed < 111 * SECOND, "{passed:?}");
        }
        let ahead = there.2.duration_since(here.2).unwrap();
        assert!(ahead > 59 * SECOND && ahead < 61 * SECOND, "{ahead:?}");
    });
}

#[test]
fn t5_who_waits_by_looking_at_a_clock_gets_somewhere_and_no_clock_goes_back() {
    Sim::check(20, |sim| async move {
        let slow = sim.node("slow");
        slow.set_clock(Clock::true_time().drifting(-500_000));
        let (sender, receiver) = tokio::sync::oneshot::channel();
        slow.spawn(async move {
            let mut last = Instant::now();
            for _ in 0..1_000 {
                for _ in 0..10 {
                    let now = Instant::now();
                    assert!(now >= last, "it shows {now:?} after {last:?}");
                    last = now;
                }
                yield_once().await;
            }
            let end = last + Duration::from_micros(100);
            while Instant::now() < end {}
            let _ = sender.send(());
        });
        receiver.await.unwrap();
    });
}

/// Pending once, so that others may run.
async fn yield_once() {
    let mut yielded = false;
    std::future::poll_fn(|task| {
        if std::mem::replace(&mut yielded, true) {
            return std::task::Poll::Ready(());
        }
        task.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await;
}

unsafe extern "C" {
    fn getentropy(bytes: *mut c_void, length: usize) -> c_int;
    fn gettimeofday(time: *mut [i64; 2], zone: *mut c_void) -> c_int;
}

fn entropy() -> [u8; 16] {
    let mut bytes = [0_u8; 16];
    // SAFETY: there are 16 bytes to write to.
    assert_eq!(unsafe { getentropy(bytes.as_mut_ptr().cast(), 16) }, 0);
    bytes
}

fn time_of_day() -> i64 {
    let mut time = [0_i64; 2];
    // SAFETY: a `timeval` is two such numbers on these machines; the zone may be null.
    assert_eq!(unsafe { gettimeofday(&raw mut time, std::ptr::null_mut()) }, 0);
    assert!((0..1_000_000).contains(&time[1]), "microseconds: {}", time[1]);
    time[0]
}

/// 1 January 2030, when every run begins.
const BEGINNING: i64 = 1_893_456_000;

#[test]
fn t5_the_older_functions_of_the_c_library_are_the_seeds_too() {
    let run = |seed| {
        Sim::new(seed).run(|sim| async move {
            sim.sleep(5 * SECOND).await;
            assert_eq!(time_of_day(), BEGINNING + 5);
            entropy()
        })
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn t5_outside_of_runs_clocks_and_randomness_are_the_real_ones() {
    let is_real = |time: i64| assert!((time - BEGINNING).abs() > 60, "{time} is the time of a run");
    Sim::new(7).run(|_| async {
        let real = std::thread::spawn(|| (entropy(), time_of_day())).join().unwrap();
        assert_ne!(real.0, entropy());
        is_real(real.1);
    });
    is_real(time_of_day());
    assert_ne!(entropy(), entropy());
    let orders: BTreeSet<Vec<u32>> = (0..4)
        .map(|_| {
            let order = || {
                HashMap::<u32, ()>::from_iter((0..32).map(|n| (n, ())))
                    .into_keys()
                    .collect()
            };
            std::thread::spawn(order).join().unwrap()
        })
        .collect();
    assert_eq!(orders.len(), 4, "each thread has keys of its own");
}
