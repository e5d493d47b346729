//! No work at all, the reference line of what is measured by latency: a thread
//! that reads the clock until an arrival is due, and records how late it saw
//! it. What is more than nothing here is the machine's doing, and nobody who
//! does something can be expected to have less.
//!
//! In `open-loop` it is one thread, as everybody there is best with one. In
//! `hog` a thread waits for what another sends, while a third one computes.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::contender::{Bench, Case, Contender, Role};
use crate::histogram::Histogram;
use crate::programs::hog::arrivals;
use crate::rng::Rng;
use crate::workloads::open_loop;

/// The clock's row of the table.
pub const CONTENDER: Contender = Contender {
    name: "clock",
    role: Role::Reference,
    bench,
};

fn bench(workload: &str) -> Option<Bench> {
    match workload {
        "hog" => Some(Bench::Latency(beside_another)),
        _ => open_loop(workload).map(|_| Bench::Latency(watch)),
    }
}

/// Waits for one arrival after the other.
fn watch(case: &Case) -> Histogram {
    let histogram = Histogram::new();
    let mut rng = Rng::new(2);
    let start = Instant::now();
    let mut offset = 0.0;
    for _ in 0..(case.rate * case.seconds) as u64 {
        offset += rng.exponential() / case.rate;
        let intended = start + Duration::from_secs_f64(offset);
        while Instant::now() < intended {
            std::hint::spin_loop();
        }
        histogram.record(intended.elapsed());
    }
    histogram
}

fn beside_another(case: &Case) -> Histogram {
    let over = AtomicBool::new(false);
    let (sender, receiver) = std::sync::mpsc::channel::<Instant>();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Relaxed) {
                std::hint::spin_loop();
            }
        });
        let waiting = scope.spawn(move || {
            let histogram = Histogram::new();
            receiver.iter().for_each(|sent| histogram.record(sent.elapsed()));
            histogram
        });
        arrivals(case.rate, case.seconds, 2, |_| sender.send(Instant::now()).expect("it waits"));
        drop(sender);
        over.store(true, Relaxed);
        waiting.join().expect("the waiting thread")
    })
}
