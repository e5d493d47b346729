//! Against a model that remembers everything and works out the answer from that each time: every short story, and random
//! long ones.

use proptest::prelude::*;

use super::*;
use crate::breaker::window::SLOTS;

#[derive(Debug, Clone, Copy)]
enum Step {
    Acquire,
    /// Ends the n-th permit that is out.
    End(usize, Outcome),
    Drop(usize),
    /// Time passes.
    Pass(u64),
    /// An acquire by somebody whose clock is late by so much.
    AcquireLate(u64),
    Trip,
    Reset,
}

#[derive(Debug, Clone, Copy)]
struct Limits {
    window: Window,
    failure_percent: u8,
    slow: Option<(u64, u8)>,
    minimum: u32,
    open_for: u64,
    trials: u32,
}

impl Limits {
    fn options(self) -> BreakerOptions {
        let options = BreakerOptions::default()
            .window(self.window)
            .failure_percent(self.failure_percent)
            .minimum_calls(self.minimum)
            .open_for(Duration::from_nanos(self.open_for))
            .trial_calls(self.trials);
        match self.slow {
            Some((after, percent)) => options.slow_calls(Duration::from_nanos(after), percent),
            None => options,
        }
    }

    /// Whether failures or slow calls reach their share of `of` calls.
    fn reached(self, calls: &[Call], of: usize) -> bool {
        let share = |part: usize, percent: u8| part * 100 >= of * usize::from(percent);
        let failures = calls.iter().filter(|call| call.failed).count();
        let slow = calls.iter().filter(|call| call.slow).count();
        share(failures, self.failure_percent) || self.slow.is_some_and(|(_, percent)| share(slow, percent))
    }
}

#[derive(Debug, Clone, Copy)]
struct Call {
    at: u64,
    failed: bool,
    slow: bool,
}

/// What has happened in the current stay in a state.
#[derive(Debug, Clone)]
struct Stay {
    number: u32,
    state: State,
    since: u64,
    ended: Vec<Call>,
    /// Permits that were given and neither recorded nor dropped, nor given up on.
    out: usize,
    /// How often those that were out were given up on, and when the last one was given.
    round: u32,
    last: u64,
}

struct Model {
    limits: Limits,
    stay: Stay,
}

impl Model {
    fn new(limits: Limits) -> Self {
        let stay = Stay {
            number: 0,
            state: State::Closed,
            since: 0,
            ended: Vec::new(),
            out: 0,
            round: 0,
            last: 0,
        };
        Self { limits, stay }
    }

    fn enter(&mut self, state: State, now: u64) -> (State, State) {
        let from = self.stay.state;
        self.stay = Stay {
            number: self.stay.number + 1,
            state,
            since: now,
            ended: Vec::new(),
            out: 0,
            round: 0,
            last: 0,
        };
        (from, state)
    }

    fn state(&self, now: u64) -> State {
        match self.stay.state {
            State::Open if now >= self.stay.since + self.limits.open_for => State::HalfOpen,
            state => state,
        }
    }

    fn acquire(&mut self, now: u64) -> Result<Option<(State, State)>, Option<Moment>> {
        let change = (self.state(now) != self.stay.state).then(|| self.enter(State::HalfOpen, now));
        let free = |stay: &Stay| stay.ended.len() + stay.out < self.limits.trials as usize;
        if self.stay.state == State::HalfOpen && !free(&self.stay) && now >= self.stay.last + self.limits.open_for {
            self.stay.round += 1;
            self.stay.out = 0;
        }
        let free = free(&self.stay);
        match self.stay.state {
            State::Open => return Err(Some(at(self.stay.since + self.limits.open_for))),
            State::HalfOpen if !free => return Err(None),
            _ => self.stay.out += 1,
        }
        self.stay.last = now;
        Ok(change)
    }

    fn counted(&self, now: u64) -> Vec<Call> {
        let all = &self.stay.ended;
        if self.stay.state == State::HalfOpen {
            return all.clone();
        }
        let last = |most: u32| all[all.len().saturating_sub(most as usize)..].iter().copied();
        match self.limits.window {
            Window::Calls(most) => last(most).collect(),
            Window::CallsWithin(most, age) => last(most)
                .filter(|call| u128::from(now - call.at) < age.as_nanos())
                .collect(),
            Window::Time(time) => {
                let slot = (time.as_nanos() as u64).div_ceil(SLOTS);
                let first = (now / slot + 1).saturating_sub(SLOTS) * slot;
                all.iter().copied().filter(|call| call.at >= first).collect()
            }
        }
    }

    fn end(&mut self, permit: Given, outcome: Outcome, now: u64) -> Option<(State, State)> {
        if permit.stay != self.stay.number {
            return None;
        }
        if permit.round == self.stay.round {
            self.stay.out -= 1;
        }
        let failed = match outcome {
            Outcome::Success => false,
            Outcome::Failure => true,
            Outcome::Ignored => return None,
        };
        let slow = self.limits.slow.is_some_and(|(after, _)| now - permit.at >= after);
        self.stay.ended.push(Call { at: now, failed, slow });
        let counted = self.counted(now);
        match self.stay.state {
            State::Closed => {
                let bad = counted.len() >= self.limits.minimum as usize && self.limits.reached(&counted, counted.len());
                bad.then(|| self.enter(State::Open, now))
            }
            _ if self.limits.reached(&counted, self.limits.trials as usize) => Some(self.enter(State::Open, now)),
            _ if counted.len() == self.limits.trials as usize => Some(self.enter(State::Closed, now)),
            _ => None,
        }
    }

    fn trip(&mut self, now: u64) -> Option<(State, State)> {
        if self.stay.state == State::Open {
            self.stay.since = now;
            return None;
        }
        Some(self.enter(State::Open, now))
    }

    fn reset(&mut self, now: u64) -> Option<(State, State)> {
        if self.stay.state == State::Closed {
            self.stay.ended.clear();
            return None;
        }
        Some(self.enter(State::Closed, now))
    }
}

/// What the model knows of a permit.
#[derive(Debug, Clone, Copy)]
struct Given {
    stay: u32,
    round: u32,
    at: u64,
}

fn ends(transition: Option<Transition>, now: u64) -> Option<(State, State)> {
    transition.map(|transition| {
        assert_eq!(transition.at, at(now));
        assert_ne!(transition.from, transition.to);
        (transition.from, transition.to)
    })
}

/// Both do the same and must agree after each step.
fn run(limits: Limits, steps: &[Step]) {
    let breaker = breaker(limits.options());
    let mut model = Model::new(limits);
    let mut permits: Vec<(Permit, Given)> = Vec::new();
    let mut now = 0;
    for step in steps {
        match *step {
            Step::Pass(time) => now += time,
            Step::Acquire | Step::AcquireLate(_) => {
                let late = if let Step::AcquireLate(late) = *step { late } else { 0 };
                // The latest time is known to the breaker before somebody comes late.
                let _ = breaker.counters(at(now));
                let expected = model.acquire(now);
                let got = breaker.try_acquire(at(now.saturating_sub(late)));
                match (got, expected) {
                    (Ok(permit), Ok(change)) => {
                        assert_eq!(ends(permit.transition(), now), change);
                        let Stay { number, round, .. } = model.stay;
                        let (stay, at) = (number, now);
                        permits.push((permit, Given { stay, round, at }));
                    }
                    (Err(open), Err(retry_at)) => assert_eq!(open.retry_at, retry_at),
                    (got, expected) => panic!("{got:?} instead of {expected:?}"),
                }
            }
            Step::End(which, outcome) if !permits.is_empty() => {
                let (permit, given) = permits.remove(which % permits.len());
                assert_eq!(
                    ends(permit.record(outcome, at(now)), now),
                    model.end(given, outcome, now)
                );
            }
            Step::Drop(which) if !permits.is_empty() => {
                let (permit, given) = permits.remove(which % permits.len());
                drop(permit);
                assert_eq!(model.end(given, Outcome::Ignored, now), None);
            }
            Step::End(..) | Step::Drop(_) => {}
            Step::Trip => assert_eq!(ends(breaker.trip(at(now)), now), model.trip(now)),
            Step::Reset => assert_eq!(ends(breaker.reset(at(now)), now), model.reset(now)),
        }
        assert_eq!(breaker.state(at(now)), model.state(now));
        let counters = breaker.counters(at(now));
        let counted = model.counted(now);
        let failures = counted.iter().filter(|call| call.failed).count();
        let slow = counted.iter().filter(|call| call.slow).count();
        let window = [counters.window.calls, counters.window.failures, counters.window.slow];
        assert_eq!(window.map(|count| count as usize), [counted.len(), failures, slow]);
        assert_eq!(counters.in_flight as usize, permits.len());
        let over = counters.succeeded + counters.failed + counters.ignored;
        assert_eq!(counters.permitted, over + counters.in_flight);
    }
}

#[test]
fn every_short_story_is_the_models() {
    const STEPS: [Step; 6] = [
        Step::Acquire,
        Step::End(0, Outcome::Success),
        Step::End(0, Outcome::Failure),
        Step::Drop(0),
        Step::Pass(1),
        Step::Pass(2),
    ];
    let limits = Limits {
        window: Window::Calls(2),
        failure_percent: 50,
        slow: None,
        minimum: 1,
        open_for: 2,
        trials: 1,
    };
    let all = [
        limits,
        Limits { trials: 2, ..limits },
        Limits {
            slow: Some((2, 100)),
            window: Window::CallsWithin(2, Duration::from_nanos(2)),
            ..limits
        },
        Limits {
            minimum: 2,
            window: Window::Time(Duration::from_nanos(2)),
            trials: 2,
            ..limits
        },
    ];
    const LENGTH: u32 = 6;
    for story in 0..STEPS.len().pow(LENGTH) {
        let steps = [0, 1, 2, 3, 4, 5].map(|at| STEPS[story / STEPS.len().pow(at) % STEPS.len()]);
        // Each begins after the breaker has opened, and at the beginning.
        for limits in all {
            run(limits, &steps);
            let opened = [Step::Acquire, Step::Trip, Step::Pass(2), Step::Acquire];
            run(limits, &[&opened[..], &steps[..]].concat());
        }
    }
}

fn limits() -> impl Strategy<Value = Limits> {
    let time = || (1_u64..200).prop_map(Duration::from_nanos);
    let window = prop_oneof![
        (1_u32..12).prop_map(Window::Calls),
        time().prop_map(Window::Time),
        (1_u32..12, time()).prop_map(|(calls, time)| Window::CallsWithin(calls, time)),
    ];
    let slow = prop::option::of((1_u64..30, 1_u8..=100));
    (window, 1_u8..=100, slow, 1_u32..8, 1_u64..60, 1_u32..6).prop_map(
        |(window, failure_percent, slow, minimum, open_for, trials)| Limits {
            minimum: minimum.min(window.capacity().unwrap_or(minimum)),
            window,
            failure_percent,
            slow,
            open_for,
            trials,
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    let outcome = prop_oneof![
        4 => Just(Outcome::Success),
        4 => Just(Outcome::Failure),
        1 => Just(Outcome::Ignored),
    ];
    prop_oneof![
        8 => Just(Step::Acquire),
        8 => (any::<usize>(), outcome).prop_map(|(which, outcome)| Step::End(which, outcome)),
        2 => any::<usize>().prop_map(Step::Drop),
        5 => (0_u64..20).prop_map(Step::Pass),
        1 => (20_u64..500).prop_map(Step::Pass),
        1 => (0_u64..100).prop_map(Step::AcquireLate),
        1 => prop_oneof![Just(Step::Trip), Just(Step::Reset)],
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn every_long_story_is_the_models(limits in limits(), steps in prop::collection::vec(step(), 0..150)) {
        run(limits, &steps);
    }

    /// A window of time counts what is younger by a slot for sure, and nothing that is older for sure.
    #[test]
    fn slots_are_close_to_the_window(time in 32_u64..1_000, gaps in prop::collection::vec(0_u64..80, 1..60)) {
        let options = BreakerOptions::default().window(Window::Time(Duration::from_nanos(time))).minimum_calls(100_000);
        let breaker = breaker(options);
        let mut now = 0;
        let mut moments = Vec::new();
        for gap in gaps {
            now += gap;
            calls(&breaker, "s", at(now));
            moments.push(now);
            let counted = breaker.counters(at(now)).window.calls as usize;
            let younger = |age: u64| moments.iter().filter(|moment| now - **moment < age).count();
            let slot = time.div_ceil(SLOTS);
            prop_assert!(younger(slot * (SLOTS - 1)) <= counted);
            prop_assert!(counted <= younger(slot * SLOTS));
        }
    }
}
