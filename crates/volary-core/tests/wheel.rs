//! The timing wheel against the simplest thing that could be right: an ordered map.

use std::collections::BTreeMap;

use proptest::prelude::*;
use volary_core::time::{TimerKey, Wheel};

#[derive(Debug, Clone)]
enum Step {
    Insert { ahead: i64 },
    InsertAt(u64),
    Cancel(prop::sample::Index),
    Advance { by: u64 },
    ToNextExpiry,
    Shrink,
}

/// Distances of every magnitude, and those right at the edges of levels.
fn distance() -> impl Strategy<Value = u64> {
    let edge = (0..11u32, -2..=2i64).prop_map(|(level, by)| (1u64 << (6 * level)).saturating_add_signed(by));
    let any_magnitude = (0..64u32, any::<u64>()).prop_map(|(shift, bits)| bits >> shift);
    prop_oneof![3 => 0..200u64, 2 => edge, 1 => any_magnitude]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => distance().prop_map(|ahead| Step::Insert { ahead: ahead.min(i64::MAX as u64) as i64 }),
        1 => (-100..0i64).prop_map(|ahead| Step::Insert { ahead }),
        1 => any::<u64>().prop_map(Step::InsertAt),
        3 => any::<prop::sample::Index>().prop_map(Step::Cancel),
        3 => distance().prop_map(|by| Step::Advance { by }),
        2 => Just(Step::ToNextExpiry),
        1 => Just(Step::Shrink),
    ]
}

#[derive(Default)]
struct Model {
    now: u64,
    /// By deadline, then by insertion.
    timers: BTreeMap<(u64, usize), TimerKey>,
    keys: Vec<(TimerKey, u64)>,
}

impl Model {
    fn due(&mut self, now: u64) -> Vec<(TimerKey, usize)> {
        self.now = self.now.max(now);
        let later = self.timers.split_off(&(self.now, usize::MAX));
        std::mem::replace(&mut self.timers, later)
            .into_iter()
            .map(|((_, value), key)| (key, value))
            .collect()
    }
}

fn run(start: u64, steps: Vec<Step>) {
    let mut wheel = Wheel::new(start);
    let mut model = Model {
        now: start,
        ..Model::default()
    };
    let advance = |wheel: &mut Wheel<usize>, model: &mut Model, now: u64| {
        let mut fired = Vec::new();
        wheel.advance(now, &mut |key, value| fired.push((key, value)));
        assert_eq!(fired, model.due(now));
    };
    for step in steps {
        let deadline = match &step {
            Step::Insert { ahead } => Some(model.now.saturating_add_signed(*ahead)),
            Step::InsertAt(tick) => Some(*tick),
            _ => None,
        };
        match step {
            Step::Insert { .. } | Step::InsertAt(_) => {
                let deadline = deadline.expect("just computed");
                let value = model.keys.len();
                let key = wheel.insert(deadline, value);
                let counts_as = deadline.max(model.now);
                model.timers.insert((counts_as, value), key);
                model.keys.push((key, counts_as));
            }
            Step::Cancel(index) if !model.keys.is_empty() => {
                let value = index.index(model.keys.len());
                let (key, deadline) = model.keys[value];
                let expected = model.timers.remove(&(deadline, value)).map(|_| value);
                assert_eq!(wheel.cancel(key), expected);
            }
            Step::Cancel(_) => {}
            Step::Advance { by } => {
                let now = model.now.saturating_add(by);
                advance(&mut wheel, &mut model, now);
            }
            Step::ToNextExpiry => {
                if let Some(tick) = wheel.next_expiry() {
                    advance(&mut wheel, &mut model, tick);
                }
            }
            Step::Shrink => wheel.shrink(),
        }
        assert_eq!(wheel.len(), model.timers.len());
        assert_eq!(wheel.now(), model.now);
        let earliest = model.timers.keys().next().map(|(deadline, _)| *deadline);
        assert_eq!(wheel.next_expiry().is_some(), earliest.is_some());
        if let (Some(hint), Some(earliest)) = (wheel.next_expiry(), earliest) {
            assert!(
                hint <= earliest,
                "the hint {hint} is later than the deadline {earliest}"
            );
            assert!(hint >= model.now);
            // Within the current 64 ticks it is exact, and it never asks for a call that makes no progress.
            assert!(hint > model.now || earliest == model.now);
            assert!(hint == earliest || earliest >> 6 != model.now >> 6);
        }
    }
    advance(&mut wheel, &mut model, u64::MAX);
    assert!(wheel.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn wheel_is_an_ordered_map(start in prop_oneof![Just(0), any::<u64>()], steps in prop::collection::vec(step(), 0..120)) {
        run(start, steps);
    }

    /// Following the hints alone reaches every deadline in a handful of steps.
    #[test]
    fn hints_lead_to_the_deadline(start in any::<u32>(), ahead in 0..(1u64 << 36)) {
        let mut wheel = Wheel::new(u64::from(start));
        let deadline = u64::from(start) + ahead;
        wheel.insert(deadline, ());
        let mut fired_at = None;
        let mut steps = 0;
        while let Some(tick) = wheel.next_expiry() {
            wheel.advance(tick, &mut |_, ()| fired_at = Some(tick));
            steps += 1;
        }
        prop_assert_eq!(fired_at, Some(deadline));
        prop_assert!(steps <= 8, "{} steps", steps);
    }
}
