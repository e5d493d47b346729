use std::time::Duration;

use super::*;
use crate::time::Moment;

mod model;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn at(nanos: u64) -> Moment {
    Moment::from_nanos(nanos)
}

fn breaker(options: BreakerOptions) -> CircuitBreaker {
    CircuitBreaker::new(options).unwrap()
}

/// Opens at half of the last ten calls once there are four; open for 100 ns; three trial calls.
fn small() -> BreakerOptions {
    BreakerOptions::default()
        .window(Window::Calls(10))
        .minimum_calls(4)
        .open_for(Duration::from_nanos(100))
        .trial_calls(3)
}

fn call(breaker: &CircuitBreaker, outcome: Outcome, now: Moment) -> Option<Transition> {
    breaker.try_acquire(now).unwrap().record(outcome, now)
}

fn calls(breaker: &CircuitBreaker, outcomes: &str, now: Moment) {
    for outcome in outcomes.chars() {
        let outcome = if outcome == 'f' {
            Outcome::Failure
        } else {
            Outcome::Success
        };
        assert_eq!(call(breaker, outcome, now), None);
    }
}

/// A breaker that was opened at 0.
fn opened(options: BreakerOptions) -> CircuitBreaker {
    let breaker = breaker(options);
    assert!(breaker.trip(at(0)).is_some());
    breaker
}

#[test]
fn it_opens_when_the_failures_reach_the_share() {
    let breaker = breaker(small());
    calls(&breaker, "ssf", at(1));
    let transition = call(&breaker, Outcome::Failure, at(2)).unwrap();
    assert_eq!(
        (transition.from, transition.to, transition.at),
        (State::Closed, State::Open, at(2))
    );
    assert_eq!((transition.seen.calls, transition.seen.failures), (4, 2));
    let open = breaker.try_acquire(at(101)).unwrap_err();
    assert_eq!(open.retry_at, Some(at(102)));
    assert_eq!(open.to_string(), "circuit breaker open: trial calls from +102ns on");
    assert_eq!(breaker.counters(at(101)).refused, 1);
    assert_eq!(breaker.counters(at(101)).opened, 1);
}

#[test]
fn shares_are_exact() {
    // Three of thirty are ten percent, which floating point does not always find.
    let options = || {
        BreakerOptions::default()
            .window(Window::Calls(30))
            .minimum_calls(30)
            .failure_percent(10)
    };
    let reached = breaker(options());
    calls(&reached, &format!("ff{}", "s".repeat(27)), at(0));
    assert!(call(&reached, Outcome::Failure, at(0)).is_some());
    let not_reached = breaker(options());
    calls(&not_reached, &format!("ff{}", "s".repeat(28)), at(0));
    assert_eq!(not_reached.state(at(0)), State::Closed);
}

#[test]
fn it_stays_closed_below_the_minimum_of_calls() {
    let breaker = breaker(small());
    calls(&breaker, "fff", at(0));
    assert_eq!(breaker.state(at(0)), State::Closed);
    assert!(call(&breaker, Outcome::Failure, at(0)).is_some());
}

#[test]
fn only_the_last_calls_count() {
    let breaker = breaker(small().window(Window::Calls(4)));
    calls(&breaker, "fsssfsssfssss", at(0));
    assert_eq!(breaker.counters(at(0)).window.failures, 0);
    assert_eq!(breaker.counters(at(0)).failed, 3);
}

#[test]
fn a_call_counts_until_it_is_as_old_as_the_window() {
    let breaker = breaker(small().window(Window::CallsWithin(10, Duration::from_nanos(50))));
    calls(&breaker, "f", at(10));
    calls(&breaker, "f", at(20));
    let counted = |now| breaker.counters(at(now)).window.calls;
    assert_eq!([counted(59), counted(60), counted(69), counted(70)], [2, 1, 1, 0]);
}

#[test]
fn a_window_of_time_forgets_by_slots() {
    let breaker = breaker(
        small()
            .window(Window::Time(Duration::from_nanos(64)))
            .minimum_calls(100),
    );
    calls(&breaker, "fs", at(7));
    calls(&breaker, "f", at(8));
    let counted = |now| {
        let window = breaker.counters(at(now)).window;
        (window.calls, window.failures)
    };
    // Slots of two: 6 and 7, 8 and 9. The first goes with the end of slot 6 + 64.
    assert_eq!(
        [counted(8), counted(69), counted(70), counted(71), counted(72)],
        [(3, 2), (3, 2), (1, 1), (1, 1), (0, 0)]
    );
    calls(&breaker, "s", at(10_000_000_007));
    assert_eq!(counted(10_000_000_007), (1, 0));
}

#[test]
fn slow_calls_open_it_too() {
    let breaker = breaker(small().slow_calls(Duration::from_nanos(5), 50).minimum_calls(2));
    let (fast, slow) = (breaker.try_acquire(at(0)).unwrap(), breaker.try_acquire(at(0)).unwrap());
    assert_eq!(fast.record(Outcome::Success, at(4)), None);
    let transition = slow.record(Outcome::Success, at(5)).unwrap();
    assert_eq!(transition.to, State::Open);
    assert_eq!(
        (transition.seen.calls, transition.seen.failures, transition.seen.slow),
        (2, 0, 1)
    );
}

#[test]
fn half_open_begins_when_the_open_duration_is_over() {
    let breaker = opened(small());
    assert_eq!(
        [99, 100].map(|now| breaker.state(at(now))),
        [State::Open, State::HalfOpen]
    );
    assert!(breaker.try_acquire(at(99)).is_err());
    let first = breaker.try_acquire(at(100)).unwrap();
    let transition = first.transition().unwrap();
    assert_eq!(
        (transition.from, transition.to, transition.at),
        (State::Open, State::HalfOpen, at(100))
    );
    assert_eq!(breaker.try_acquire(at(100)).unwrap().transition(), None);
}

#[test]
fn looking_at_the_state_is_not_a_transition() {
    let breaker = opened(small());
    assert_eq!(breaker.state(at(100)), State::HalfOpen);
    assert!(breaker.try_acquire(at(100)).unwrap().transition().is_some());
}

#[test]
fn half_open_lets_through_as_many_as_decide() {
    let breaker = opened(small());
    let mut trials: Vec<Permit> = (0..3).map(|_| breaker.try_acquire(at(100)).unwrap()).collect();
    let refused = breaker.try_acquire(at(100)).unwrap_err();
    assert_eq!(refused.retry_at, None);
    assert_eq!(refused.to_string(), "circuit breaker open: waiting for trial calls");
    // One that has ended keeps its place, one that is dropped does not.
    assert_eq!(trials.remove(0).record(Outcome::Success, at(101)), None);
    assert!(breaker.try_acquire(at(101)).is_err());
    drop(trials.remove(0));
    let fourth = breaker.try_acquire(at(102)).unwrap();
    assert_eq!(trials.remove(0).record(Outcome::Success, at(103)), None);
    let closed = fourth.record(Outcome::Success, at(103)).unwrap();
    assert_eq!(
        (closed.from, closed.to, closed.seen.calls),
        (State::HalfOpen, State::Closed, 3)
    );
    assert_eq!(breaker.counters(at(103)).window.calls, 0, "a new start");
}

#[test]
fn an_ignored_trial_call_is_like_a_dropped_one() {
    let breaker = opened(small().trial_calls(1));
    let trial = breaker.try_acquire(at(100)).unwrap();
    assert!(breaker.try_acquire(at(100)).is_err());
    assert_eq!(trial.record(Outcome::Ignored, at(100)), None);
    assert!(breaker.try_acquire(at(100)).is_ok());
    assert_eq!(breaker.counters(at(100)).ignored, 2);
}

#[test]
fn half_open_opens_as_soon_as_the_trial_calls_cannot_mend_it() {
    // Two of three failures reach fifty percent, one does not.
    let breaker = opened(small());
    let trials = [(); 3].map(|()| breaker.try_acquire(at(100)).unwrap());
    let [first, second, third] = trials;
    assert_eq!(first.record(Outcome::Failure, at(110)), None);
    let reopened = second.record(Outcome::Failure, at(120)).unwrap();
    assert_eq!(
        (reopened.from, reopened.to, reopened.seen.failures),
        (State::HalfOpen, State::Open, 2)
    );
    assert_eq!(breaker.try_acquire(at(219)).unwrap_err().retry_at, Some(at(220)));
    // The third comes too late to matter.
    assert_eq!(third.record(Outcome::Success, at(130)), None);
    assert_eq!(breaker.counters(at(130)).late, 1);
}

#[test]
fn a_trial_call_that_never_ends_does_not_keep_it_half_open() {
    let breaker = opened(small().trial_calls(2));
    let lost = breaker.try_acquire(at(100)).unwrap();
    let slow = breaker.try_acquire(at(150)).unwrap();
    // Nobody was let through for as long as it stays open: the places of both are given to others.
    assert!(breaker.try_acquire(at(249)).is_err());
    let third = breaker.try_acquire(at(250)).unwrap();
    let fourth = breaker.try_acquire(at(250)).unwrap();
    assert!(breaker.try_acquire(at(250)).is_err());
    // The slow one counts, without leaving a place that it has not.
    assert_eq!(slow.record(Outcome::Success, at(260)), None);
    assert!(breaker.try_acquire(at(260)).is_err());
    assert_eq!(third.record(Outcome::Success, at(270)).unwrap().to, State::Closed);
    drop((lost, fourth));
    assert_eq!(breaker.counters(at(270)).in_flight, 0);
}

#[test]
fn changes_are_numbered() {
    let breaker = opened(small().trial_calls(1));
    let trial = breaker.try_acquire(at(100)).unwrap();
    assert_eq!(trial.transition().unwrap().number, 2);
    assert_eq!(trial.record(Outcome::Failure, at(100)).unwrap().number, 3);
    assert_eq!(breaker.reset(at(100)).unwrap().number, 4);
}

#[test]
fn slow_trial_calls_open_it_again() {
    let breaker = opened(small().slow_calls(Duration::from_nanos(5), 100).trial_calls(1));
    let trial = breaker.try_acquire(at(100)).unwrap();
    assert_eq!(trial.record(Outcome::Success, at(105)).unwrap().to, State::Open);
}

#[test]
fn a_call_of_an_earlier_term_decides_nothing() {
    let breaker = breaker(small().trial_calls(1));
    let [first, second, third] = [(); 3].map(|()| breaker.try_acquire(at(0)).unwrap());
    let _ = breaker.trip(at(0));
    assert_eq!(first.record(Outcome::Success, at(50)), None);
    let trial = breaker.try_acquire(at(100)).unwrap();
    // Neither closes it, nor opens it, nor frees the place of the trial call.
    assert_eq!(second.record(Outcome::Failure, at(100)), None);
    drop(third);
    assert!(breaker.try_acquire(at(100)).is_err());
    assert_eq!(trial.record(Outcome::Success, at(100)).unwrap().to, State::Closed);
    let counters = breaker.counters(at(100));
    assert_eq!((counters.late, counters.ignored, counters.in_flight), (2, 1, 0));
}

#[test]
fn time_never_runs_backwards() {
    let breaker = breaker(small().window(Window::CallsWithin(10, Duration::from_nanos(50))));
    calls(&breaker, "f", at(1000));
    calls(&breaker, "ff", at(10));
    assert_eq!(breaker.counters(at(0)).window.calls, 3);
    let opened = call(&breaker, Outcome::Failure, at(10)).unwrap();
    assert_eq!(opened.at, at(1000));
    assert_eq!(breaker.try_acquire(at(500)).unwrap_err().retry_at, Some(at(1100)));
    let window_of_time = super::tests::breaker(small().window(Window::Time(Duration::from_nanos(50))));
    calls(&window_of_time, "f", at(1000));
    calls(&window_of_time, "f", at(10));
    assert_eq!(window_of_time.counters(at(0)).window.calls, 2);
}

#[test]
fn the_end_of_time_is_no_trap() {
    let breaker = breaker(small().window(Window::Time(DAY)).open_for(DAY));
    calls(&breaker, "fff", at(u64::MAX));
    assert!(call(&breaker, Outcome::Failure, at(u64::MAX)).is_some());
    assert_eq!(breaker.state(at(u64::MAX)), State::HalfOpen);
}

#[test]
fn hands_may_open_and_close_it() {
    let breaker = breaker(small());
    calls(&breaker, "ff", at(0));
    assert_eq!(breaker.reset(at(0)), None);
    assert_eq!(breaker.counters(at(0)).window.calls, 0);
    let opened = breaker.trip(at(10)).unwrap();
    assert_eq!((opened.from, opened.to), (State::Closed, State::Open));
    assert_eq!(breaker.trip(at(60)), None);
    assert_eq!(breaker.try_acquire(at(60)).unwrap_err().retry_at, Some(at(160)));
    let closed = breaker.reset(at(70)).unwrap();
    assert_eq!((closed.from, closed.to), (State::Open, State::Closed));
    assert!(breaker.try_acquire(at(70)).is_ok());
}

#[test]
fn each_option_is_checked_and_named() {
    let nano = Duration::from_nanos(1);
    let options = BreakerOptions::default;
    let refused = [
        (options().named(""), "named: the value `` is refused"),
        (options().named("n".repeat(201)), "named: the value `nnn"),
        (
            options().window(Window::Calls(0)),
            "window: the value `Calls(0)` is refused",
        ),
        (
            options().window(Window::Calls(100_001)),
            "window: the value `Calls(100001)` is refused",
        ),
        (
            options().window(Window::Time(Duration::ZERO)),
            "window: the value `Time(0ns)` is refused",
        ),
        (
            options().window(Window::Time(DAY + nano)),
            "window: the value `Time(86400.000000001s)` is refused",
        ),
        (
            options().window(Window::CallsWithin(0, nano)),
            "window: the value `CallsWithin(0, 1ns)` is refused",
        ),
        (
            options().window(Window::CallsWithin(9, Duration::ZERO)),
            "window: the value `CallsWithin(9, 0ns)` is refused",
        ),
        (
            options().failure_percent(0),
            "failure_percent: the value `0` is refused",
        ),
        (
            options().failure_percent(101),
            "failure_percent: the value `101` is refused",
        ),
        (
            options().slow_calls(Duration::ZERO, 50),
            "slow_calls.after: the value `0ns` is refused",
        ),
        (
            options().slow_calls(DAY + nano, 50),
            "slow_calls.after: the value `86400.000000001s` is refused",
        ),
        (
            options().slow_calls(nano, 0),
            "slow_calls.percent: the value `0` is refused",
        ),
        (
            options().slow_calls(nano, 101),
            "slow_calls.percent: the value `101` is refused",
        ),
        (options().minimum_calls(0), "minimum_calls: the value `0` is refused"),
        (
            options().minimum_calls(101),
            "minimum_calls: the value `101` is refused",
        ),
        (
            options().window(Window::Time(DAY)).minimum_calls(100_001),
            "minimum_calls: the value `100001` is refused",
        ),
        (
            options().open_for(Duration::ZERO),
            "open_for: the value `0ns` is refused",
        ),
        (
            options().open_for(DAY + nano),
            "open_for: the value `86400.000000001s` is refused",
        ),
        (options().trial_calls(0), "trial_calls: the value `0` is refused"),
        (
            options().trial_calls(10_001),
            "trial_calls: the value `10001` is refused",
        ),
    ];
    for (options, begin) in refused {
        let error = CircuitBreaker::new(options).unwrap_err();
        assert!(error.to_string().starts_with(begin), "{error}");
        assert!(begin.starts_with(error.option()));
    }
    for options in [
        options(),
        options().window(Window::Calls(100_000)).minimum_calls(100_000),
        options().window(Window::CallsWithin(1, nano)).minimum_calls(1),
        options()
            .window(Window::Time(DAY))
            .minimum_calls(100_000)
            .open_for(DAY)
            .slow_calls(DAY, 100),
        options()
            .window(Window::Time(nano))
            .open_for(nano)
            .slow_calls(nano, 1)
            .failure_percent(1),
        options().failure_percent(100).trial_calls(10_000).minimum_calls(100),
    ] {
        assert!(CircuitBreaker::new(options).is_ok());
    }
}

#[test]
fn many_threads_share_the_trial_calls() {
    for round in 0..50 {
        let breaker = opened(small().trial_calls(3));
        let permits: Vec<Option<Permit>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| breaker.try_acquire(at(100)).ok()))
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let permits: Vec<Permit> = permits.into_iter().flatten().collect();
        assert_eq!(permits.len(), 3, "round {round}");
        let told = permits.iter().filter(|permit| permit.transition().is_some()).count();
        assert_eq!(told, 1, "one of them is told that it is half-open");
        let changes: Vec<Option<Transition>> = std::thread::scope(|scope| {
            let record = |permit: Permit| scope.spawn(|| permit.record(Outcome::Success, at(100)));
            let threads: Vec<_> = permits.into_iter().map(record).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(
            changes.iter().flatten().count(),
            1,
            "one of them is told that it is closed"
        );
    }
}

#[test]
fn nothing_is_lost_between_threads() {
    let breaker = breaker(small().window(Window::Time(Duration::from_nanos(320))));
    std::thread::scope(|scope| {
        for thread in 0..4_u64 {
            let breaker = breaker.clone();
            scope.spawn(move || {
                for step in 0..2_000_u64 {
                    let Ok(permit) = breaker.try_acquire(at(step * 3)) else {
                        continue;
                    };
                    match (step * 7 + thread) % 5 {
                        0 | 1 => drop(permit.record(Outcome::Failure, at(step * 3 + 1))),
                        2 => drop(permit),
                        _ => drop(permit.record(Outcome::Success, at(step * 3 + 1))),
                    }
                }
            });
        }
    });
    let counters = breaker.counters(at(0));
    assert_eq!(counters.in_flight, 0);
    assert_eq!(
        counters.permitted,
        counters.succeeded + counters.failed + counters.ignored
    );
    assert_eq!(counters.permitted + counters.refused, 8_000);
}
