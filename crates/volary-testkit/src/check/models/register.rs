//! One value, read and overwritten.

use std::fmt::Debug;

use crate::check::Model;

/// One value, read and overwritten.
///
/// ```
/// use volary_testkit::check::models::{Register, RegisterOp::*, RegisterReturn::*};
/// use volary_testkit::check::{Checker, History};
///
/// let mut history = History::new();
/// history.call(1, "x", Write(7), Done, 0..2);
/// history.call(2, "x", Read, Value(0), 3..4); // stale
/// assert!(Checker::new(Register::new(0)).check(&history).is_violation());
/// ```
#[derive(Debug, Clone)]
pub struct Register<V> {
    initial: V,
}

/// What can be asked of a [`Register`].
///
/// ```
/// # use volary_testkit::check::{Model, models::{Register, RegisterOp, RegisterReturn}};
/// assert_eq!(Register::new(0).step(&0, &RegisterOp::Write(7)), (7, RegisterReturn::Done));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum RegisterOp<V> {
    /// What is the value?
    Read,
    /// Let this be the value.
    Write(V),
}

/// What comes back from a [`Register`].
///
/// ```
/// # use volary_testkit::check::{Model, models::{Register, RegisterOp, RegisterReturn}};
/// assert_eq!(Register::new(0).step(&7, &RegisterOp::Read), (7, RegisterReturn::Value(7)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum RegisterReturn<V> {
    /// To a read.
    Value(V),
    /// To a write.
    Done,
}

impl<V> Register<V> {
    /// A register that holds `initial` before the first write.
    ///
    /// ```
    /// # use volary_testkit::check::{Model, models::Register};
    /// assert_eq!(Register::new(3).init(), 3);
    /// ```
    pub fn new(initial: V) -> Self {
        Self { initial }
    }
}

impl<V: Clone + Ord + Debug> Model for Register<V> {
    type State = V;
    type Op = RegisterOp<V>;
    type Return = RegisterReturn<V>;

    fn init(&self) -> V {
        self.initial.clone()
    }

    fn step(&self, state: &V, op: &Self::Op) -> (V, Self::Return) {
        match op {
            RegisterOp::Read => (state.clone(), RegisterReturn::Value(state.clone())),
            RegisterOp::Write(value) => (value.clone(), RegisterReturn::Done),
        }
    }

    fn is_read(&self, op: &Self::Op) -> bool {
        matches!(op, RegisterOp::Read)
    }
}
