//! A bare lock-free queue between OS threads, the second reference line: what
//! moving a number from one thread to another costs without any scheduling.
//!
//! Fairness choices: crossbeam's `SegQueue`, unbounded; one receiving thread
//! that spins; a thread per sender. It has no actors and nothing to wake, so
//! only `tell`, `tell/outside` (the same thing here), `fan-in` and, with an
//! `ArrayQueue` whose sender spins while it is full, `tell/bounded` exist.

use std::hint::{black_box, spin_loop};
use std::sync::Arc;

use crossbeam_queue::{ArrayQueue, SegQueue};

use crate::contender::{Bench, Case, Contender, Pass, Role};

/// What a bounded mailbox holds, too.
const CAPACITY: usize = 1_024;

/// The queue's row of the table.
pub const CONTENDER: Contender = Contender {
    name: "queue",
    role: Role::Reference,
    bench,
};

fn bench(workload: &str) -> Option<Bench> {
    match workload {
        "tell" | "tell/outside" => Some(Bench::Throughput(|case| senders(case, 1))),
        "tell/bounded" => Some(Bench::Throughput(bounded)),
        "fan-in" => Some(Bench::Throughput(|case| senders(case, 8))),
        _ => None,
    }
}

fn senders(_: &Case, senders: u64) -> Pass {
    let queue = Arc::new(SegQueue::new());
    Box::new(move |count| {
        let share = count / senders;
        let sending: Vec<_> = (0..senders)
            .map(|_| {
                let queue = Arc::clone(&queue);
                std::thread::spawn(move || (0..share).for_each(|value| queue.push(value)))
            })
            .collect();
        let queue = Arc::clone(&queue);
        let receiving = std::thread::spawn(move || receive(|| queue.pop(), share * senders));
        for thread in sending {
            thread.join().expect("sending thread");
        }
        receiving.join().expect("receiving thread");
    })
}

fn bounded(_: &Case) -> Pass {
    let queue = Arc::new(ArrayQueue::new(CAPACITY));
    Box::new(move |count| {
        let theirs = Arc::clone(&queue);
        let sending = std::thread::spawn(move || {
            for mut value in 0..count {
                while let Err(full) = theirs.push(value) {
                    value = full;
                    spin_loop();
                }
            }
        });
        let queue = Arc::clone(&queue);
        let receiving = std::thread::spawn(move || receive(|| queue.pop(), count));
        sending.join().expect("sending thread");
        receiving.join().expect("receiving thread");
    })
}

fn receive(pop: impl Fn() -> Option<u64>, count: u64) {
    let mut sum = 0u64;
    let mut left = count;
    while left > 0 {
        match pop() {
            Some(value) => {
                sum = sum.wrapping_add(value);
                left -= 1;
            }
            None => spin_loop(),
        }
    }
    black_box(sum);
}
