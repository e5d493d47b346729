//! A number that is added to.

use crate::check::Model;

/// A number that is added to, from zero; sums wrap around.
///
/// ```
/// use volary_testkit::check::models::{Counter, CounterOp::*, CounterReturn::*};
/// use volary_testkit::check::{Checker, History};
///
/// let mut history = History::new();
/// history.call(1, "visits", AddAndRead(1), Value(1), 0..5);
/// history.call(2, "visits", AddAndRead(1), Value(1), 1..6); // one of them is lost
/// assert!(Checker::new(Counter).check(&history).is_violation());
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Counter;

/// What can be asked of a [`Counter`].
///
/// ```
/// # use volary_testkit::check::{Model, models::{Counter, CounterOp, CounterReturn}};
/// assert_eq!(Counter.step(&3, &CounterOp::AddAndRead(-1)), (2, CounterReturn::Value(2)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CounterOp {
    /// What is the sum?
    Read,
    /// Add this.
    Add(i64),
    /// Add this; what is the sum then?
    AddAndRead(i64),
}

/// What comes back from a [`Counter`].
///
/// ```
/// # use volary_testkit::check::{Model, models::{Counter, CounterOp, CounterReturn}};
/// assert_eq!(Counter.step(&3, &CounterOp::Add(2)), (5, CounterReturn::Done));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CounterReturn {
    /// The sum.
    Value(i64),
    /// To an addition that asks for nothing.
    Done,
}

impl Model for Counter {
    type State = i64;
    type Op = CounterOp;
    type Return = CounterReturn;

    fn init(&self) -> i64 {
        0
    }

    fn step(&self, sum: &i64, op: &CounterOp) -> (i64, CounterReturn) {
        match op {
            CounterOp::Read => (*sum, CounterReturn::Value(*sum)),
            CounterOp::Add(number) => (sum.wrapping_add(*number), CounterReturn::Done),
            CounterOp::AddAndRead(number) => {
                let sum = sum.wrapping_add(*number);
                (sum, CounterReturn::Value(sum))
            }
        }
    }

    fn is_read(&self, op: &CounterOp) -> bool {
        matches!(op, CounterOp::Read)
    }
}
