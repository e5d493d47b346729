//! Who may begin a turn when.

use volary_testkit::check::{Activation, ActivationViolation, Activations, Turn};

type Seen = Activations<&'static str, &'static str>;

/// Owned by `a` from 0 under epoch 1, by `b` from 50 under epoch 2.
fn moved() -> Seen {
    let mut seen = Activations::new();
    seen.began("cart", "a", 1, 0);
    seen.began("cart", "b", 2, 50);
    seen
}

fn turn(owner: &'static str, epoch: u64, begin: i128, end: i128) -> Turn<&'static str> {
    Turn {
        owner,
        epoch,
        begin,
        end,
    }
}

#[test]
fn check_a_turn_may_run_on_while_the_next_owner_begins() {
    let mut seen = moved();
    seen.turn("cart", "a", 1, 10..90);
    seen.turn("cart", "b", 2, 60..61);
    seen.turn("cart", "b", 2, 61..61);
    assert_eq!(seen.check(), Ok(()));
}

#[test]
fn check_the_old_owner_may_begin_until_the_first_turn_of_the_new_one() {
    let mut seen = moved();
    seen.turn("cart", "a", 1, 55..56);
    seen.turn("cart", "b", 2, 60..61);
    assert_eq!(seen.check(), Ok(()));
    seen.turn("cart", "a", 1, 61..62);
    let violation = ActivationViolation::Stale {
        entity: "cart",
        stale: turn("a", 1, 61, 62),
        newer: turn("b", 2, 60, 61),
    };
    assert_eq!(seen.check(), Err(violation));
}

#[test]
fn check_a_stale_turn_is_measured_by_the_first_newer_turn_not_the_last() {
    let mut seen = moved();
    for begin in [60, 70, 80] {
        seen.turn("cart", "b", 2, begin..begin + 1);
    }
    seen.turn("cart", "a", 1, 75..76);
    let Err(ActivationViolation::Stale { newer, .. }) = seen.check() else {
        panic!("not found")
    };
    assert_eq!(newer, turn("b", 2, 60, 61));
}

#[test]
fn check_two_owners_may_not_begin_at_one_instant() {
    let mut seen = moved();
    seen.turn("cart", "b", 2, 60..61);
    seen.turn("cart", "a", 1, 60..65);
    let violation = seen.check().unwrap_err();
    let text = violation.to_string();
    assert!(matches!(violation, ActivationViolation::TwoOwners { .. }));
    for part in [
        "\"cart\"",
        "\"a\" under epoch 1 from 60 to 65",
        "\"b\" under epoch 2 from 60 to 61",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn check_entities_have_nothing_to_do_with_each_other() {
    let mut seen = moved();
    seen.began("tab", "a", 1, 0);
    seen.turn("cart", "b", 2, 60..61);
    seen.turn("tab", "a", 1, 60..61);
    assert_eq!(seen.check(), Ok(()));
}

#[test]
fn check_epochs_grow_in_time_not_in_the_order_of_recording() {
    let mut seen = Activations::new();
    seen.began("cart", "b", 2, 50);
    seen.began("cart", "a", 1, 0);
    assert_eq!(seen.check(), Ok(()));
    seen.began("cart", "c", 2, 70);
    let violation = ActivationViolation::EpochNotGreater {
        entity: "cart",
        earlier: Activation {
            owner: "b",
            epoch: 2,
            at: 50,
        },
        later: Activation {
            owner: "c",
            epoch: 2,
            at: 70,
        },
    };
    assert_eq!(seen.check(), Err(violation));
}

#[test]
fn check_a_turn_needs_an_activation_of_its_owner_and_epoch() {
    for (owner, epoch, begin) in [("c", 2, 60), ("b", 3, 60), ("b", 2, 49)] {
        let mut seen = moved();
        seen.turn("cart", owner, epoch, begin..begin + 1);
        let violation = seen.check().unwrap_err();
        assert!(
            matches!(violation, ActivationViolation::NotActivated { owner: Some(_), .. }),
            "{violation}"
        );
    }
    let mut seen = Activations::new();
    seen.turn("cart", "a", 1, 0..1);
    assert!(matches!(
        seen.check(),
        Err(ActivationViolation::NotActivated { owner: None, .. })
    ));
}

#[test]
fn check_no_turn_begins_after_its_activation_ended() {
    let mut seen = moved();
    seen.turn("cart", "a", 1, 20..40);
    seen.ended("cart", "a", 1, 20);
    assert_eq!(seen.check(), Ok(()));
    seen.turn("cart", "a", 1, 41..42);
    assert!(matches!(seen.check(), Err(ActivationViolation::AfterEnd { .. })));
}

#[test]
fn check_no_turn_begins_after_its_owner_crashed_unless_it_owns_anew() {
    let mut seen = moved();
    seen.crashed("a", 20);
    seen.turn("cart", "a", 1, 20..40);
    seen.began("cart", "a", 3, 100);
    seen.turn("cart", "a", 3, 101..102);
    assert_eq!(seen.check(), Ok(()));
    seen.turn("cart", "a", 1, 41..42);
    assert!(matches!(
        seen.check(),
        Err(ActivationViolation::AfterCrash { crashed: 20, .. })
    ));
}

#[test]
fn check_turns_of_one_activation_do_not_overlap() {
    let mut seen = moved();
    seen.turn("cart", "a", 1, 10..20);
    seen.turn("cart", "a", 1, 20..25);
    assert_eq!(seen.check(), Ok(()));
    seen.turn("cart", "a", 1, 24..30);
    let violation = ActivationViolation::Overlap {
        entity: "cart",
        earlier: turn("a", 1, 20, 25),
        later: turn("a", 1, 24, 30),
    };
    assert_eq!(seen.check(), Err(violation));
}

#[test]
fn check_the_first_violation_in_time_is_reported() {
    let mut seen = moved();
    seen.turn("cart", "b", 2, 60..61);
    seen.turn("cart", "a", 1, 70..71);
    seen.began("tab", "a", 5, 10);
    seen.began("tab", "b", 4, 65);
    assert!(matches!(
        seen.check(),
        Err(ActivationViolation::EpochNotGreater { entity: "tab", .. })
    ));
}

#[test]
#[should_panic(expected = "end 1 of a turn is before its begin; allowed is 2 or later")]
fn check_a_turn_that_ends_before_it_begins_is_refused() {
    let (begin, end) = (2, 1);
    moved().turn("cart", "a", 1, begin..end);
}
