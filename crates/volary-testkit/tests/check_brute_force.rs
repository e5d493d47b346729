//! The checker against a search that tries every order there is.

use std::cell::Cell;
use std::fmt::Debug;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use volary_testkit::check::models::{
    CompareAndSet, CompareAndSetOp, CompareAndSetReturn, Counter, CounterOp, CounterReturn, Lease, LeaseOp,
    LeaseReturn, List, ListOp, ListReturn, Queue, QueueOp, QueueReturn, Register, RegisterOp, RegisterReturn, Set,
    SetOp, SetReturn,
};
use volary_testkit::check::{At, Call, Checker, History, Model, Returned, Verdict};

const CASES: u32 = 3_000;
const CALLS: usize = 7;

/// A call before it is known what it returns. Its number is its client.
#[derive(Debug, Clone)]
struct Plan<O, R> {
    op: O,
    begin: u8,
    length: u8,
    /// When it takes effect, if the history is an honest one.
    effect: u8,
    /// Out of ten.
    unheard: u8,
    /// Out of ten, and what it returns then.
    lie: (u8, R),
}

fn plans<O: Debug + Clone, R: Debug + Clone>(
    op: impl Strategy<Value = O>,
    returned: impl Strategy<Value = R>,
) -> impl Strategy<Value = Vec<Plan<O, R>>> {
    let times = (0_u8..12, 0_u8..8, 0_u8..8);
    let plan = (op, times, 0_u8..10, (0_u8..10, returned));
    let plan = plan.prop_map(|(op, (begin, length, effect), unheard, lie)| Plan {
        op,
        begin,
        length,
        effect: effect.min(length),
        unheard,
        lie,
    });
    prop::collection::vec(plan, 1..=CALLS)
}

/// The calls as one copy would have answered them, except for some lies.
fn calls<M: Model>(model: &M, plans: &[Plan<M::Op, M::Return>]) -> Vec<Call<M::Op, M::Return>> {
    let mut order: Vec<usize> = (0..plans.len()).collect();
    order.sort_by_key(|number| plans[*number].begin + plans[*number].effect);
    let mut state = model.init();
    let mut calls: Vec<Option<Call<M::Op, M::Return>>> = vec![None; plans.len()];
    for number in order {
        let plan = &plans[number];
        let is_unheard = plan.unheard < 2;
        let (next, honest) = model.step(&state, &plan.op);
        if plan.unheard != 0 {
            state = next;
        }
        let value = if plan.lie.0 < 2 { plan.lie.1.clone() } else { honest };
        let at = At::from(plan.begin + plan.length);
        calls[number] = Some(Call {
            client: number as u64,
            op: plan.op.clone(),
            begin: At::from(plan.begin),
            returned: (!is_unheard).then_some(Returned { at, value }),
        });
    }
    calls.into_iter().flatten().collect()
}

/// Whether any order of the calls, with any of the unheard ones, is what the model would do.
fn is_linearizable<M: Model>(model: &M, state: &M::State, calls: &[Call<M::Op, M::Return>]) -> bool {
    let end = |call: &Call<M::Op, M::Return>| call.returned.as_ref().map(|returned| returned.at);
    if calls.iter().all(|call| call.returned.is_none()) {
        return true;
    }
    (0..calls.len()).any(|next| {
        let may_be_first = calls
            .iter()
            .all(|other| end(other).is_none_or(|end| end >= calls[next].begin));
        let returned = calls[next].returned.as_ref().map(|returned| &returned.value);
        let mut rest = calls.to_vec();
        let call = rest.remove(next);
        may_be_first
            && model
                .states_after(state, &call.op, returned)
                .iter()
                .any(|state| is_linearizable(model, state, &rest))
    })
}

fn history<O: Clone, R: Clone>(calls: &[Call<O, R>]) -> History<(), O, R> {
    let mut history = History::new();
    for call in calls {
        let id = history.begin_at(call.client, (), call.op.clone(), call.begin);
        if let Some(Returned { at, value }) = call.returned.clone() {
            history.end_at(id, value, at);
        }
    }
    history
}

fn agrees<M: Model + Clone>(model: &M, calls: &[Call<M::Op, M::Return>]) -> Result<bool, TestCaseError> {
    let expected = is_linearizable(model, &model.init(), calls);
    match Checker::new(model.clone()).check(&history(calls)) {
        Verdict::Linearizable => prop_assert!(expected, "a violation was not found"),
        Verdict::Violation(violation) => {
            prop_assert!(!expected, "no violation, but: {violation}");
            explains(model, calls, &violation.calls)?;
            let report = violation.to_string();
            prop_assert!(report.contains('✗'), "{report}");
            let culprit = violation.culprit();
            for allowed in &violation.allowed {
                let mut repaired = until(calls, culprit, &|_| true);
                let wrong = repaired.iter_mut().find(|call| call.client == culprit.client);
                if let Some(returned) = wrong.and_then(|call| call.returned.as_mut()) {
                    returned.value = allowed.returned.clone();
                }
                prop_assert!(
                    is_linearizable(model, &model.init(), &repaired),
                    "not allowed: {allowed}"
                );
            }
        }
        verdict => prop_assert!(false, "{verdict}"),
    }
    Ok(expected)
}

/// What was known when `last` came back, of the calls that count; the others may have happened or not.
fn until<O: Clone, R: Clone>(
    calls: &[Call<O, R>],
    last: &Call<O, R>,
    counts: &dyn Fn(&Call<O, R>) -> bool,
) -> Vec<Call<O, R>> {
    let end = |call: &Call<O, R>| {
        call.returned
            .as_ref()
            .map(|returned| (returned.at, call.begin, call.client))
    };
    let mut known = calls.to_vec();
    known.retain(|call| Some(call.begin) <= end(last).map(|(at, ..)| at));
    for call in &mut known {
        if end(call) > end(last) || !counts(call) {
            call.returned = None;
        }
    }
    known
}

/// Whether the calls of a report contradict each other whatever the others did, and none of them is superfluous.
fn explains<M: Model>(
    model: &M,
    all: &[Call<M::Op, M::Return>],
    core: &[Call<M::Op, M::Return>],
) -> Result<(), TestCaseError> {
    let Some(culprit) = core.last() else {
        return Err(TestCaseError::fail("an empty report"));
    };
    let init = model.init();
    let is_in_core = |call: &Call<M::Op, M::Return>| core.iter().any(|other| other.client == call.client);
    prop_assert!(!is_linearizable(model, &init, core), "the report is no contradiction");
    prop_assert!(!is_linearizable(model, &init, &until(all, culprit, &is_in_core)));
    for doubted in core {
        let counts = |call: &Call<M::Op, M::Return>| is_in_core(call) && call.client != doubted.client;
        prop_assert!(
            is_linearizable(model, &init, &until(all, culprit, &counts)),
            "{doubted:?} is superfluous"
        );
    }
    Ok(())
}

/// Runs many histories; both verdicts must come up often, or the comparison says little.
fn compare<M: Model + Clone>(model: M, op: impl Strategy<Value = M::Op>, returned: impl Strategy<Value = M::Return>) {
    let mut runner = TestRunner::new(Config {
        cases: CASES,
        failure_persistence: None,
        ..Config::default()
    });
    let (good, bad) = (Cell::new(0), Cell::new(0));
    let result = runner.run(&plans(op, returned), |plans| {
        let verdict = agrees(&model, &calls(&model, &plans))?;
        let count = if verdict { &good } else { &bad };
        count.set(count.get() + 1);
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    assert!(good.get() > CASES / 10, "only {} were linearizable", good.get());
    assert!(bad.get() > CASES / 10, "only {} were not", bad.get());
}

#[test]
fn check_register_agrees_with_brute_force() {
    let op = prop_oneof![Just(RegisterOp::Read), (0_u8..3).prop_map(RegisterOp::Write)];
    let returned = prop_oneof![4 => (0_u8..3).prop_map(RegisterReturn::Value), 1 => Just(RegisterReturn::Done)];
    compare(Register::new(0), op, returned);
}

#[test]
fn check_compare_and_set_agrees_with_brute_force() {
    let replace = (0_u8..3, 0_u8..3).prop_map(|(old, new)| CompareAndSetOp::Replace { old, new });
    let write = (0_u8..3).prop_map(CompareAndSetOp::Write);
    let op = prop_oneof![1 => Just(CompareAndSetOp::Read), 1 => write, 3 => replace];
    let returned = prop_oneof![
        Just(CompareAndSetReturn::Replaced),
        Just(CompareAndSetReturn::Kept),
        (0_u8..3).prop_map(CompareAndSetReturn::Value),
    ];
    compare(CompareAndSet::new(0), op, returned);
}

#[test]
fn check_counter_agrees_with_brute_force() {
    let op = prop_oneof![
        Just(CounterOp::Read),
        (-1_i64..3).prop_map(CounterOp::Add),
        (-1_i64..3).prop_map(CounterOp::AddAndRead),
    ];
    let returned = (-1_i64..5).prop_map(CounterReturn::Value);
    compare(Counter, op, returned);
}

#[test]
fn check_list_agrees_with_brute_force() {
    let op = prop_oneof![Just(ListOp::Read), (0_u8..3).prop_map(ListOp::Append)];
    let returned = prop::collection::vec(0_u8..3, 0..3).prop_map(ListReturn::Items);
    compare(List::new(), op, returned);
}

#[test]
fn check_set_agrees_with_brute_force() {
    let item = || 0_u8..2;
    let op = prop_oneof![
        Just(SetOp::Read),
        item().prop_map(SetOp::Contains),
        item().prop_map(SetOp::Insert),
        item().prop_map(SetOp::Remove),
    ];
    let items = prop::collection::btree_set(item(), 0..2).prop_map(SetReturn::Items);
    let returned = prop_oneof![2 => Just(SetReturn::Yes), 2 => Just(SetReturn::No), 1 => items];
    compare(Set::new(), op, returned);
}

#[test]
fn check_queue_agrees_with_brute_force() {
    let op = prop_oneof![Just(QueueOp::Pop), (0_u8..9).prop_map(QueueOp::Push)];
    let returned = prop_oneof![3 => (0_u8..9).prop_map(QueueReturn::Item), 1 => Just(QueueReturn::Empty)];
    compare(Queue::new(), op, returned);
}

fn lease_op() -> impl Strategy<Value = LeaseOp<u8>> {
    prop_oneof![
        2 => (0_u8..2).prop_map(LeaseOp::Acquire),
        1 => (0_u8..2, 1_u64..4).prop_map(|(owner, epoch)| LeaseOp::Release(owner, epoch)),
        1 => (0_u8..2, 1_u64..4).prop_map(|(owner, epoch)| LeaseOp::Holds(owner, epoch)),
    ]
}

fn lease_return() -> impl Strategy<Value = LeaseReturn> {
    prop_oneof![
        2 => (1_u64..4).prop_map(LeaseReturn::Granted),
        1 => Just(LeaseReturn::Yes),
        1 => Just(LeaseReturn::No),
    ]
}

#[test]
fn check_lock_agrees_with_brute_force() {
    compare(Lease::lock(), lease_op(), lease_return());
}

#[test]
fn check_expiring_lease_agrees_with_brute_force() {
    compare(Lease::expiring(), lease_op(), lease_return());
}
