//! Histories whose verdict is known, the report of a violation, and histories that are long.

use volary_testkit::check::models::{
    CompareAndSet, CompareAndSetOp, CompareAndSetReturn, Counter, CounterOp, CounterReturn, Lease, LeaseOp,
    LeaseReturn, List, ListOp, ListReturn, Queue, QueueOp, QueueReturn, Register, RegisterOp, RegisterReturn,
};
use volary_testkit::check::{Checker, History, Model, Verdict, Violation};
use workload::{Draw, honest};

mod workload;

use RegisterOp::{Read, Write};
use RegisterReturn::{Done, Value};

type RegisterHistory<K> = History<K, RegisterOp<u64>, RegisterReturn<u64>>;

fn judged<K: Ord + Clone>(history: &RegisterHistory<K>) -> Verdict<K, RegisterOp<u64>, RegisterReturn<u64>> {
    Checker::new(Register::new(0)).check(history)
}

fn violation<K, O, R>(verdict: Verdict<K, O, R>) -> Violation<K, O, R> {
    match verdict {
        Verdict::Violation(violation) => *violation,
        _ => panic!("no violation was found"),
    }
}

#[test]
fn check_reads_that_overlap_a_write_may_see_it_or_not() {
    let mut history = History::new();
    history.call(1, "x", Write(1), Done, 0..10);
    history.call(2, "x", Read, Value(0), 1..3);
    history.call(3, "x", Read, Value(1), 4..6);
    judged(&history).assert();
    history.call(2, "x", Read, Value(0), 7..8); // back again
    assert!(judged(&history).is_violation());
}

#[test]
fn check_stale_read_is_found() {
    let mut history = History::new();
    history.call(1, "x", Write(1), Done, 0..1);
    history.call(1, "x", Write(2), Done, 2..3);
    history.call(2, "x", Read, Value(1), 4..5);
    let violation = violation(judged(&history));
    assert_eq!(violation.calls.len(), 3);
    assert_eq!(violation.allowed.len(), 1);
    assert_eq!(violation.allowed[0].returned, Value(2));
}

#[test]
fn check_read_of_what_nobody_wrote_is_found_and_needs_no_other_call() {
    let mut history = History::new();
    history.call(1, "x", Write(1), Done, 0..1);
    history.call(2, "x", Read, Value(7), 2..3);
    history.call(1, "x", Write(2), Done, 4..5);
    let violation = violation(judged(&history));
    assert_eq!(violation.calls.len(), 1);
    assert_eq!(violation.left_out, 2);
}

#[test]
fn check_lost_update_is_found() {
    let mut history = History::new();
    for client in 1..=3 {
        let (begin, end) = (client, 10 + client);
        history.call(
            client,
            "x",
            CounterOp::AddAndRead(1),
            CounterReturn::Value(client as i64),
            begin..end,
        );
    }
    Checker::new(Counter).check(&history).assert();
    history.call(4, "x", CounterOp::AddAndRead(1), CounterReturn::Value(3), 4..14);
    let violation = violation(Checker::new(Counter).check(&history));
    let clients: Vec<u64> = violation.calls.iter().map(|call| call.client).collect();
    assert_eq!(
        clients,
        [3, 4],
        "these two got the same number, whatever the others did"
    );
}

#[test]
fn check_lock_granted_twice_is_found() {
    let mut history = History::new();
    history.call(1, "shard", LeaseOp::Acquire("a"), LeaseReturn::Granted(1), 0..5);
    history.call(2, "shard", LeaseOp::Acquire("b"), LeaseReturn::No, 1..6);
    history.call(1, "shard", LeaseOp::Release("a", 1), LeaseReturn::Yes, 6..9);
    history.call(2, "shard", LeaseOp::Acquire("b"), LeaseReturn::Granted(4), 7..8);
    Checker::new(Lease::lock()).check(&history).assert();
    history.call(3, "shard", LeaseOp::Acquire("c"), LeaseReturn::Granted(5), 10..11);
    let violation = violation(Checker::new(Lease::lock()).check(&history));
    assert_eq!(violation.culprit().client, 3);
    assert_eq!(violation.allowed[0].returned, LeaseReturn::No);
}

#[test]
fn check_lease_epochs_must_grow() {
    let mut history = History::new();
    history.call(1, "shard", LeaseOp::Acquire("a"), LeaseReturn::Granted(7), 0..1);
    history.call(2, "shard", LeaseOp::Acquire("b"), LeaseReturn::Granted(7), 2..3);
    assert!(Checker::new(Lease::expiring()).check(&history).is_violation());
}

#[test]
fn check_two_successful_replacements_of_one_value_are_found() {
    let mut history = History::new();
    for client in 1..=2 {
        let op = CompareAndSetOp::Replace { old: 0, new: client };
        history.call(client, "x", op, CompareAndSetReturn::Replaced, 0..9);
    }
    assert!(Checker::new(CompareAndSet::new(0)).check(&history).is_violation());
}

#[test]
fn check_list_and_queue_find_what_came_in_the_wrong_order() {
    let mut list = History::new();
    list.call(1, (), ListOp::Append(1), ListReturn::Done, 0..1);
    list.call(1, (), ListOp::Append(2), ListReturn::Done, 2..3);
    list.call(2, (), ListOp::Read, ListReturn::Items(vec![2]), 4..5);
    let report = violation(Checker::new(List::new()).check(&list));
    assert_eq!(report.allowed[0].returned, ListReturn::Items(vec![1, 2]));
    let mut queue = History::new();
    queue.call(1, (), QueueOp::Push(1), QueueReturn::Done, 0..1);
    queue.call(1, (), QueueOp::Push(2), QueueReturn::Done, 2..3);
    queue.call(2, (), QueueOp::Pop, QueueReturn::Item(2), 4..5);
    let report = violation(Checker::new(Queue::new()).check(&queue));
    assert_eq!(report.allowed[0].returned, QueueReturn::Item(1));
}

#[test]
fn check_a_lease_granted_unheard_may_have_any_greater_epoch() {
    let mut history = History::new();
    history.call(1, "shard", LeaseOp::Acquire("a"), LeaseReturn::Granted(3), 0..1);
    history.begin_at(2, "shard", LeaseOp::Acquire("b"), 2);
    let mut grown = history.clone();
    grown.call(2, "shard", LeaseOp::Holds("b", 7), LeaseReturn::Yes, 3..4);
    grown.call(2, "shard", LeaseOp::Release("b", 7), LeaseReturn::Yes, 5..6);
    Checker::new(Lease::expiring()).check(&grown).assert();
    assert!(Checker::new(Lease::lock()).check(&grown).is_violation());
    grown.call(2, "shard", LeaseOp::Acquire("c"), LeaseReturn::Granted(7), 7..8);
    assert!(Checker::new(Lease::expiring()).check(&grown).is_violation());
    history.call(2, "shard", LeaseOp::Holds("b", 3), LeaseReturn::Yes, 3..4);
    assert!(Checker::new(Lease::expiring()).check(&history).is_violation());
}

#[test]
fn check_queue_concludes_nothing_from_pops_that_overlap() {
    let mut history = History::new();
    history.call(1, (), QueueOp::Push('u'), QueueReturn::Done, 0..30);
    history.call(2, (), QueueOp::Push('v'), QueueReturn::Done, 0..5);
    history.call(2, (), QueueOp::Push('w'), QueueReturn::Done, 6..30);
    history.call(1, (), QueueOp::Pop, QueueReturn::Item('w'), 40..50);
    history.call(2, (), QueueOp::Pop, QueueReturn::Item('v'), 50..60);
    history.call(1, (), QueueOp::Pop, QueueReturn::Item('u'), 51..52);
    Checker::new(Queue::new()).check(&history).assert();
}

#[test]
fn check_queue_concludes_nothing_from_an_item_that_an_unheard_pop_may_have_taken() {
    let mut history = History::new();
    history.call(1, (), QueueOp::Push('u'), QueueReturn::Done, 0..5);
    history.call(1, (), QueueOp::Push('w'), QueueReturn::Done, 6..30);
    history.call(2, (), QueueOp::Push('v'), QueueReturn::Done, 0..30);
    history.begin_at(3, (), QueueOp::Pop, 31);
    history.call(1, (), QueueOp::Pop, QueueReturn::Item('w'), 40..41);
    history.call(1, (), QueueOp::Pop, QueueReturn::Item('v'), 42..43);
    Checker::new(Queue::new()).check(&history).assert();
}

#[test]
fn check_the_beginning_is_cut_off_only_as_far_as_the_rest_is_a_contradiction() {
    let mut history = History::new();
    for at in 0..30 {
        history.call(0, "x", CounterOp::Add(1), CounterReturn::Done, 2 * at..2 * at + 1);
    }
    for client in [1, 2] {
        history.call(
            client,
            "x",
            CounterOp::AddAndRead(1),
            CounterReturn::Value(31),
            100..100 + client as i32,
        );
    }
    let report = violation(Checker::new(Counter).check(&history));
    let clients: Vec<u64> = report.calls.iter().map(|call| call.client).collect();
    assert_eq!(clients, [1, 2]);
    assert_eq!(report.before.map(|before| before.states), Some(vec!["30".to_owned()]));
}

#[test]
fn check_the_states_after_the_beginning_are_those_that_the_wrong_answer_denies() {
    let mut history = History::new();
    for at in 0..30 {
        history.call(0, "x", ListOp::Append(at), ListReturn::Done, 2 * at..2 * at + 1);
    }
    history.call(0, "x", ListOp::Read, ListReturn::Items(vec![7]), 100..101);
    let report = violation(Checker::new(List::new()).check(&history));
    let all: Vec<i32> = (0..30).collect();
    assert_eq!(
        report.before.map(|before| before.states),
        Some(vec![format!("{all:?}")])
    );
    assert_eq!(report.calls.len(), 1);
}

#[test]
fn check_a_wrong_answer_that_others_depend_on_is_the_one_that_is_named() {
    let mut history = History::new();
    for at in 0..30 {
        history.call(0, "x", CounterOp::Add(1), CounterReturn::Done, 2 * at..2 * at + 1);
    }
    history.call(1, "x", CounterOp::AddAndRead(5), CounterReturn::Value(999), 100..110);
    history.call(2, "x", CounterOp::Read, CounterReturn::Value(35), 101..105);
    let report = violation(Checker::new(Counter).check(&history));
    assert_eq!(report.culprit().op, CounterOp::AddAndRead(5));
    assert_eq!(report.before.map(|before| before.states), Some(vec!["30".to_owned()]));
}

#[test]
fn check_queue_concludes_nothing_from_pops_of_what_was_pushed_before_the_cut() {
    let mut history = History::new();
    for at in 0..20 {
        history.call(0, (), QueueOp::Push('f'), QueueReturn::Done, 4 * at..4 * at + 1);
        history.call(0, (), QueueOp::Pop, QueueReturn::Item('f'), 4 * at + 2..4 * at + 3);
    }
    history.call(0, (), QueueOp::Push('v'), QueueReturn::Done, 90..91);
    history.call(1, (), QueueOp::Push('q'), QueueReturn::Empty, 85..200); // the wrong one
    history.call(2, (), QueueOp::Push('u'), QueueReturn::Done, 120..130);
    history.call(3, (), QueueOp::Push('v'), QueueReturn::Done, 121..131);
    history.call(2, (), QueueOp::Pop, QueueReturn::Item('v'), 140..141);
    history.call(2, (), QueueOp::Pop, QueueReturn::Item('u'), 150..151);
    let report = violation(Checker::new(Queue::new()).check(&history));
    let ops: Vec<_> = report.calls.iter().map(|call| call.op.clone()).collect();
    assert_eq!(ops, [QueueOp::Push('q')]);
}

#[test]
fn check_an_unheard_call_may_take_effect_late_or_never_but_not_early_and_not_twice() {
    let mut history = History::new();
    history.call(2, "x", Read, Value(0), 0..1);
    history.begin_at(1, "x", Write(1), 2);
    history.call(2, "x", Read, Value(0), 10..11);
    judged(&history).assert();
    history.call(2, "x", Read, Value(1), 20..21);
    judged(&history).assert();
    let mut twice = history.clone();
    twice.call(3, "x", Write(2), Done, 22..23);
    twice.call(2, "x", Read, Value(1), 24..25);
    assert!(judged(&twice).is_violation(), "twice");
    let mut early = History::new();
    early.call(2, "x", Read, Value(1), 0..1);
    early.begin_at(1, "x", Write(1), 2);
    assert!(judged(&early).is_violation(), "early");
}

#[test]
fn check_calls_that_meet_at_an_instant_are_concurrent() {
    let mut history = History::new();
    history.call(1, "x", Write(1), Done, 0..5);
    history.call(2, "x", Read, Value(0), 5..6);
    judged(&history).assert();
    let mut apart = History::new();
    apart.call(1, "x", Write(1), Done, 0..5);
    apart.call(2, "x", Read, Value(0), 6..6);
    assert!(judged(&apart).is_violation());
}

#[test]
fn check_keys_have_nothing_to_do_with_each_other_and_the_wrong_one_is_named() {
    let mut history = History::new();
    history.call(1, "a", Write(1), Done, 0..1);
    history.call(1, "b", Read, Value(0), 2..3);
    judged(&history).assert();
    history.call(1, "b", Read, Value(1), 4..5);
    assert_eq!(violation(judged(&history)).key, "b");
}

#[test]
fn check_a_call_taken_back_had_no_effect() {
    let mut history = History::new();
    let refused = history.begin(1, "x", Write(1));
    let read = history.begin(2, "x", Read);
    history.end(read, Value(1));
    judged(&history).assert();
    history.take_back(refused);
    assert!(judged(&history).is_violation());
}

/// Many concurrent calls of a model of which the checker knows nothing that could help it.
fn hard() -> History<u8, QueueOp<u8>, QueueReturn<u8>> {
    let mut history = History::new();
    for item in 0..14 {
        history.call(item, 1, QueueOp::Push((item % 7) as u8), QueueReturn::Done, 0..10);
    }
    history.call(0, 1, QueueOp::Pop, QueueReturn::Item(9), 20..30);
    history
}

#[test]
fn check_a_budget_used_up_is_no_verdict() {
    let verdict = Checker::new(Queue::new()).budget(500).check(&hard());
    assert!(verdict.is_unknown());
    assert!(verdict.to_string().contains("500 steps were not enough"), "{verdict}");
}

#[test]
fn check_a_violation_of_one_key_counts_more_than_doubt_about_another() {
    let mut history = hard();
    history.call(0, 2, QueueOp::Pop, QueueReturn::Item(9), 20..30);
    let violation = violation(Checker::new(Queue::new()).budget(500).check(&history));
    assert_eq!(violation.key, 2);
}

#[test]
#[should_panic(expected = "budget of 0 steps; allowed is 1 or more")]
fn check_a_budget_of_nothing_is_refused() {
    let _ = Checker::new(Counter).budget(0);
}

#[test]
#[should_panic(expected = "end 2 of CallId(0) is before its begin; allowed is 3 or later")]
fn check_a_call_that_ends_before_it_begins_is_refused() {
    let mut history = History::new();
    let call = history.begin_at(1, "x", Read, 3);
    history.end_at(call, Value(0), 2);
    judged(&history).assert();
}

struct Liar;

impl Model for Liar {
    type State = u8;
    type Op = ();
    type Return = ();
    fn init(&self) -> u8 {
        0
    }
    fn step(&self, state: &u8, (): &()) -> (u8, ()) {
        (state + 1, ())
    }
    fn is_read(&self, (): &()) -> bool {
        true
    }
}

#[test]
#[should_panic(expected = "the model says that () is a read, but it changes 0 to [1]")]
fn check_a_model_that_calls_a_change_a_read_is_refused() {
    let mut history = History::new();
    history.call(1, (), (), (), 0..1);
    let _ = Checker::new(Liar).check(&history);
}

#[test]
fn check_report_draws_clients_instants_and_what_was_allowed() {
    let mut history = History::new();
    history.call(1, "x", Write(1), Done, 0..10);
    history.call(2, "x", Write(2), Done, 20..30);
    history.call(3, "x", Write(3), Done, 25..70);
    history.call(3, "x", Read, Value(1), 40..50);
    assert_eq!(
        judged(&history).to_string(),
        r#"not linearizable: "x"

  client 1 ├ Write(1) → Done ┤
  client 2                     ├ Write(2) → Done ┤
  client 3                                         ├ Read → Value(1) ┤ ✗
           0                10 20               30 40               50

  ✗ no order of these calls explains Read → Value(1) of client 3
    the model allows Value(2), in state 2
    the model allows Value(3), in state 3
    1 other calls are left out: with or without their effects, it is a contradiction
"#
    );
}

#[test]
fn check_report_lists_calls_that_do_not_fit_on_a_screen() {
    let mut history = History::new();
    for at in 0..8 {
        history.call(
            at,
            "x",
            CounterOp::AddAndRead(1),
            CounterReturn::Value(1 + at as i64),
            10 * at..10 * at + 25,
        );
    }
    history.call(9, "x", CounterOp::Read, CounterReturn::Value(2), 200..201);
    let report = Checker::new(Counter).check(&history).to_string();
    assert!(report.lines().all(|line| line.chars().count() < 150), "{report}");
    assert!(report.contains("client 9"), "{report}");
}

/// An honest history and the number of steps that must suffice for it.
fn passes<M: Model + Clone>(
    model: &M,
    clients: u64,
    unheard: u64,
    steps_per_call: u64,
    op: impl Fn(&mut Draw, usize) -> M::Op,
) {
    const CALLS: usize = 2_000;
    for seed in 0..5 {
        let history = honest(model, CALLS, clients, unheard, &mut Draw::new(seed), &op);
        let budget = CALLS as u64 * steps_per_call;
        let verdict = Checker::new(model.clone()).budget(budget).check(&history);
        verdict.assert();
    }
}

#[test]
fn check_long_honest_histories_pass_in_few_steps() {
    for clients in [3, 5, 10] {
        passes(&Register::new(0), clients, 0, 50, |draw, _| match draw.below(2) {
            0 => Read,
            _ => Write(draw.below(50)),
        });
        passes(&Counter, clients, 0, 50, |draw, _| match draw.below(3) {
            0 => CounterOp::Read,
            1 => CounterOp::Add(1 + draw.below(3) as i64),
            _ => CounterOp::AddAndRead(1),
        });
        passes(&Queue::new(), clients, 0, 50, |draw, number| match draw.below(2) {
            0 => QueueOp::Push(number),
            _ => QueueOp::Pop,
        });
    }
}

#[test]
fn check_long_honest_histories_with_unheard_calls_pass() {
    passes(&Register::new(0), 10, 2, 200, |draw, _| match draw.below(2) {
        0 => Read,
        _ => Write(draw.below(50)),
    });
}

#[test]
fn check_one_stale_read_at_the_end_of_a_long_history_is_found_and_cut_out() {
    let model = Register::new(0);
    for clients in [3, 5, 10] {
        let mut history = honest(
            &model,
            1_000,
            clients,
            0,
            &mut Draw::new(clients),
            |draw, number| match draw.below(2) {
                0 => Read,
                _ => Write(number as u64),
            },
        );
        let last = history.begin(0, 0, Write(5_000));
        history.end(last, Done);
        let stale = history.begin(1, 0, Read);
        history.end(stale, Value(1));
        let report = violation(Checker::new(model.clone()).check(&history));
        let ops: Vec<_> = report.calls.iter().map(|call| call.op.clone()).collect();
        assert!(report.before.is_some());
        assert!(ops.ends_with(&[Read]) && ops.len() <= 2, "{report}");
        assert_eq!(report.allowed[0].returned, Value(5_000));
        assert_eq!(report.left_out + ops.len(), 1_002);
    }
}
