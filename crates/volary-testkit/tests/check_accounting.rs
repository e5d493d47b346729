//! What may become of messages.

use volary_testkit::check::{AccountingViolation, Ledger, Tally};

type Messages = Ledger<&'static str, u32>;

/// Messages 0 to 4 from `a` to `b`.
fn sent() -> Messages {
    let mut ledger = Ledger::new();
    (0..5).for_each(|message| ledger.sent("a", "b", message));
    ledger
}

#[test]
fn check_every_fate_is_right_once() {
    let mut ledger = sent();
    ledger.handled(0);
    ledger.dead(3);
    ledger.refused(1);
    ledger.handled(2);
    ledger.unconfirmed(4);
    assert_eq!(ledger.check(), Ok(()));
}

#[test]
fn check_a_message_without_fate_is_lost_and_the_first_is_named() {
    let mut ledger = sent();
    ledger.handled(0);
    ledger.handled(2);
    let Err(AccountingViolation::Lost(record)) = ledger.check() else {
        panic!("not found")
    };
    assert_eq!(record.message, 1);
}

#[test]
fn check_a_second_fate_is_found_with_the_whole_history() {
    type Fate = fn(&mut Messages, u32);
    let fates: [Fate; 3] = [Ledger::handled, Ledger::dead, Ledger::refused];
    for first in fates {
        for second in fates {
            let mut ledger = Ledger::new();
            ledger.sent("a", "b", 7);
            first(&mut ledger, 7);
            assert_eq!(ledger.check(), Ok(()));
            second(&mut ledger, 7);
            assert!(matches!(ledger.check(), Err(AccountingViolation::TwoFates(_))));
        }
    }
    let mut ledger = Ledger::new();
    ledger.sent("a", "b", 7);
    ledger.handled(7);
    ledger.dead(7);
    assert_eq!(
        ledger.check().unwrap_err().to_string(),
        "message 7 had more than one fate\n  7: sent by \"a\" to \"b\" [0], handled [1], dead [2]"
    );
}

#[test]
fn check_an_unconfirmed_message_may_have_arrived_once_but_was_not_refused() {
    let unconfirmed = || {
        let mut ledger = Ledger::new();
        ledger.sent("a", "b", 7);
        ledger.unconfirmed(7);
        ledger
    };
    let mut ledger = unconfirmed();
    ledger.dead(7);
    assert_eq!(ledger.check(), Ok(()));
    ledger.handled(7);
    assert!(ledger.check().is_err());
    let mut ledger = unconfirmed();
    ledger.refused(7);
    assert!(ledger.check().is_err());
    let mut ledger = unconfirmed();
    ledger.unconfirmed(7);
    assert!(ledger.check().is_err());
}

#[test]
fn check_a_message_that_nobody_sent_and_one_sent_twice_are_found() {
    let mut ledger: Messages = Ledger::new();
    ledger.handled(7);
    assert!(matches!(ledger.check(), Err(AccountingViolation::NeverSent(_))));
    ledger.sent("a", "b", 7); // written down late
    assert_eq!(ledger.check(), Ok(()));
    ledger.sent("a", "b", 7);
    assert!(matches!(ledger.check(), Err(AccountingViolation::SentTwice(_))));
}

#[test]
fn check_order_is_that_of_each_pair_alone() {
    let mut ledger = Ledger::new();
    ledger.sent("a", "b", 1);
    ledger.sent("a", "c", 2);
    ledger.sent("d", "b", 3);
    ledger.sent("a", "b", 4);
    for message in [3, 2, 1, 4] {
        ledger.handled(message);
    }
    assert_eq!(ledger.check(), Ok(()));
}

#[test]
fn check_a_message_that_was_overtaken_is_found_with_the_one_that_did() {
    let mut ledger = sent();
    for message in [0, 3, 1, 2, 4] {
        ledger.handled(message);
    }
    let Err(AccountingViolation::Overtaken { late, by }) = ledger.check() else {
        panic!("not found")
    };
    assert_eq!((late.message, by.message), (1, 3));
    assert_eq!(ledger.check_fates(), Ok(()));
}

#[test]
fn check_dead_letters_and_refused_messages_have_no_order() {
    let mut ledger = sent();
    ledger.dead(4);
    ledger.handled(2);
    ledger.refused(1);
    ledger.handled(3);
    ledger.dead(0);
    assert_eq!(ledger.check(), Ok(()));
}

#[test]
fn check_the_first_message_is_named_whatever_is_wrong_with_it() {
    let mut ledger = sent();
    for message in [1, 0, 2, 3, 3] {
        ledger.handled(message); // 0 was overtaken, 3 was handled twice, 4 is lost
    }
    assert_eq!(ledger.check().unwrap_err().record().message, 0);
    assert_eq!(ledger.check_fates().unwrap_err().record().message, 3);
}

#[test]
fn check_numbers_add_up_for_each_pair() {
    let mut tally = Tally::new();
    for pair in ["a to b", "c to d"] {
        tally.sent(pair, 10);
        tally.handled(pair, 5);
        tally.dead(pair, 2);
        tally.refused(pair, 2);
        tally.unconfirmed(pair, 1);
    }
    assert_eq!(tally.check(), Ok(()));
    tally.sent("c to d", 1);
    assert!(
        tally
            .check()
            .unwrap_err()
            .to_string()
            .starts_with("\"c to d\": 1 lost; sent 11")
    );
    tally.handled("c to d", 1);
    assert_eq!(tally.check(), Ok(()));
    tally.handled("a to b", 1);
    assert_eq!(tally.check(), Ok(()), "the unconfirmed one was handled");
    tally.handled("a to b", 1);
    assert!(
        tally
            .check()
            .unwrap_err()
            .to_string()
            .starts_with("\"a to b\": 1 too many")
    );
}

#[test]
fn check_more_unconfirmed_than_can_be_are_too_many() {
    let mut tally = Tally::new();
    tally.sent("a to b", 3);
    tally.refused("a to b", 2);
    tally.unconfirmed("a to b", 2);
    assert!(tally.check().is_err());
}
