//! How long the checker takes: honest histories, and the same with one wrong answer near the end.
//!
//! `cargo run --release -p volary-testkit --example check_speed`

use std::time::Instant;

use volary_testkit::check::models::{
    CompareAndSet, CompareAndSetOp, Counter, CounterOp, List, ListOp, Queue, QueueOp, Register, RegisterOp, Set, SetOp,
};
use volary_testkit::check::{Checker, History, Model};
use workload::{Draw, honest};

#[path = "../tests/workload/mod.rs"]
mod workload;

fn main() {
    println!(
        "{:<18}{:>8}{:>9}{:>12}{:>14}{:>20}",
        "model", "calls", "clients", "unheard %", "honest", "one wrong answer"
    );
    for (calls, unheard) in [(1_000, 0), (10_000, 0), (1_000, 2)] {
        for clients in [3, 5, 10] {
            let size = Size {
                calls,
                clients,
                unheard,
            };
            let values = 50;
            size.measure("register", &Register::new(0), |draw, _| match draw.below(2) {
                0 => RegisterOp::Read,
                _ => RegisterOp::Write(draw.below(values)),
            });
            size.measure("compare and set", &CompareAndSet::new(0), |draw, _| {
                match draw.below(3) {
                    0 => CompareAndSetOp::Read,
                    1 => CompareAndSetOp::Write(draw.below(5)),
                    _ => CompareAndSetOp::Replace {
                        old: draw.below(5),
                        new: draw.below(5),
                    },
                }
            });
            size.measure("counter", &Counter, |draw, _| match draw.below(3) {
                0 => CounterOp::Read,
                1 => CounterOp::Add(1 + draw.below(3) as i64),
                _ => CounterOp::AddAndRead(1),
            });
            size.measure("set", &Set::new(), |draw, _| match draw.below(3) {
                0 => SetOp::Contains(draw.below(values)),
                1 => SetOp::Insert(draw.below(values)),
                _ => SetOp::Remove(draw.below(values)),
            });
            size.measure("queue", &Queue::new(), |draw, number| match draw.below(2) {
                0 => QueueOp::Push(number),
                _ => QueueOp::Pop,
            });
            if calls < 10_000 {
                size.measure("list", &List::new(), |draw, number| match draw.below(2) {
                    0 => ListOp::Read,
                    _ => ListOp::Append(number),
                });
            }
        }
    }
}

#[derive(Clone, Copy)]
struct Size {
    calls: usize,
    clients: u64,
    unheard: u64,
}

impl Size {
    fn measure<M: Model + Clone>(self, name: &str, model: &M, op: impl FnMut(&mut Draw, usize) -> M::Op) {
        let Size {
            calls,
            clients,
            unheard,
        } = self;
        let history = honest(model, calls, clients, unheard, &mut Draw::new(7), op);
        let wrong = with_a_wrong_answer(&history, calls * 9 / 10);
        let (good, bad) = (timed(model, &history), timed(model, &wrong));
        println!("{name:<18}{calls:>8}{clients:>9}{unheard:>12}{good:>14}{bad:>20}");
    }
}

fn timed<M: Model + Clone>(model: &M, history: &History<u8, M::Op, M::Return>) -> String {
    let start = Instant::now();
    let verdict = Checker::new(model.clone()).check(history);
    let took = start.elapsed();
    let verdict = match verdict {
        verdict if verdict.is_linearizable() => "",
        verdict if verdict.is_violation() => " ✗",
        _ => " ?",
    };
    format!("{:.1} ms{verdict}", took.as_secs_f64() * 1e3)
}

/// The same with two different answers exchanged, from the call number `from` on.
fn with_a_wrong_answer<O: Clone + PartialEq, R: Clone + PartialEq>(
    history: &History<u8, O, R>,
    from: usize,
) -> History<u8, O, R> {
    let calls: Vec<_> = history.calls().map(|(_, call)| call.clone()).collect();
    let answer = |number: usize| calls[number].returned.as_ref().map(|returned| &returned.value);
    let kind = |number: usize| std::mem::discriminant(&calls[number].op);
    let pair = (from..calls.len()).find_map(|one| {
        let other = (1..from).find(|other| kind(*other) == kind(one) && answer(*other) != answer(one))?;
        answer(other).map(|_| (one, other))
    });
    let mut wrong = History::new();
    for (number, call) in calls.iter().enumerate() {
        let id = wrong.begin_at(call.client, 0, call.op.clone(), call.begin);
        let Some(returned) = &call.returned else { continue };
        let value = match pair {
            Some((one, other)) if number == one => answer(other).cloned().unwrap_or(returned.value.clone()),
            _ => returned.value.clone(),
        };
        wrong.end_at(id, value, returned.at);
    }
    wrong
}
