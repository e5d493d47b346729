//! What the wheel promises, case by case. `tests/wheel.rs` compares it with an ordered map.

use super::*;

fn fired(wheel: &mut Wheel<u32>, now: Tick) -> Vec<u32> {
    let mut values = Vec::new();
    wheel.advance(now, &mut |_, value| values.push(value));
    values
}

#[test]
fn steady_state_allocates_nothing() {
    let mut wheel = Wheel::new(0);
    let mut capacity = 0;
    for round in 0..1_000 {
        let keys: Vec<_> = (0..100)
            .map(|step| wheel.insert(wheel.now() + step * step, 0))
            .collect();
        if round == 0 {
            capacity = wheel.lists.capacity();
        }
        assert_eq!(wheel.lists.capacity(), capacity);
        for key in &keys[50..] {
            assert!(wheel.cancel(*key).is_some());
        }
        wheel.advance(wheel.now() + 10_000, &mut |_, _| {});
    }
}

#[test]
fn ties_fire_in_insertion_order_however_they_got_there() {
    let mut wheel = Wheel::new(0);
    wheel.insert(5_000, 0);
    assert_eq!(fired(&mut wheel, 4_000), []);
    wheel.insert(5_000, 1);
    assert_eq!(fired(&mut wheel, 4_990), []);
    wheel.insert(5_000, 2);
    assert_eq!(fired(&mut wheel, 5_000), [0, 1, 2]);
}

#[test]
fn beyond_the_horizon() {
    let horizon = 1 << HORIZON_BITS;
    let mut wheel = Wheel::new(horizon - 1);
    wheel.insert(Tick::MAX, 4);
    wheel.insert(5 * horizon + 3, 3);
    wheel.insert(horizon, 1);
    wheel.insert(5 * horizon + 2, 2);
    assert_eq!(wheel.next_expiry(), Some(horizon));
    assert_eq!(fired(&mut wheel, horizon), [1]);
    assert_eq!(wheel.next_expiry(), Some(2 * horizon));
    assert_eq!(fired(&mut wheel, 5 * horizon + 1), []);
    assert_eq!(wheel.next_expiry(), Some(5 * horizon + 2));
    assert_eq!(fired(&mut wheel, Tick::MAX), [2, 3, 4]);
    wheel.insert(0, 5);
    assert_eq!(wheel.next_expiry(), Some(Tick::MAX));
    assert_eq!(fired(&mut wheel, 0), [5]);
}

#[test]
fn time_does_not_run_backwards() {
    let mut wheel = Wheel::new(100);
    wheel.insert(150, 1);
    assert_eq!(fired(&mut wheel, 120), []);
    assert_eq!(fired(&mut wheel, 10), []);
    assert_eq!(wheel.now(), 120);
    assert_eq!(fired(&mut wheel, 150), [1]);
}

#[test]
fn a_panic_while_firing_loses_one_timer_only() {
    let mut wheel = Wheel::new(0);
    for value in 0..4 {
        wheel.insert(10 + u64::from(value / 2), value);
    }
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        wheel.advance(20, &mut |_, value| assert_ne!(value, 0, "on purpose"));
    }));
    assert!(caught.is_err());
    assert_eq!(wheel.len(), 3);
    assert_eq!(fired(&mut wheel, 20), [1, 2, 3]);
}

#[test]
fn shrink_releases_memory_and_old_keys_stay_dead() {
    let mut wheel = Wheel::new(0);
    let old = wheel.insert(1, 0);
    for value in 1..10_000 {
        wheel.insert(1, value);
    }
    assert_eq!(fired(&mut wheel, 1).len(), 10_000);
    wheel.shrink();
    assert_eq!(wheel.lists.capacity(), 0);
    wheel.insert(5, 7);
    assert_eq!(wheel.cancel(old), None);
    assert_eq!(fired(&mut wheel, 5), [7]);
}
