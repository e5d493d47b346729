//! One value that is also changed on condition.

use std::fmt::Debug;

use crate::check::Model;

/// One value, read, overwritten, and replaced on condition that it is still what the caller thinks.
///
/// ```
/// use volary_testkit::check::models::{CompareAndSet, CompareAndSetOp::*, CompareAndSetReturn::*};
/// use volary_testkit::check::{Checker, History};
///
/// let mut history = History::new();
/// history.call(1, "owner", Replace { old: "", new: "a" }, Replaced, 0..5);
/// history.call(2, "owner", Replace { old: "", new: "b" }, Replaced, 1..6); // both won
/// assert!(Checker::new(CompareAndSet::new("")).check(&history).is_violation());
/// ```
#[derive(Debug, Clone)]
pub struct CompareAndSet<V> {
    initial: V,
}

/// What can be asked of a [`CompareAndSet`] register.
///
/// ```
/// # use volary_testkit::check::{Model, models::{CompareAndSet, CompareAndSetOp, CompareAndSetReturn}};
/// let op = CompareAndSetOp::Replace { old: 1, new: 2 };
/// assert_eq!(CompareAndSet::new(0).step(&1, &op), (2, CompareAndSetReturn::Replaced));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum CompareAndSetOp<V> {
    /// What is the value?
    Read,
    /// Let this be the value, whatever it was.
    Write(V),
    /// If the value is `old`, let it be `new`.
    Replace {
        /// What the caller thinks it is.
        old: V,
        /// What it shall be.
        new: V,
    },
}

/// What comes back from a [`CompareAndSet`] register.
///
/// ```
/// # use volary_testkit::check::{Model, models::{CompareAndSet, CompareAndSetOp, CompareAndSetReturn}};
/// let op = CompareAndSetOp::Replace { old: 1, new: 2 };
/// assert_eq!(CompareAndSet::new(0).step(&5, &op), (5, CompareAndSetReturn::Kept));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum CompareAndSetReturn<V> {
    /// To a read.
    Value(V),
    /// To a write.
    Done,
    /// It was the old value, and is the new one.
    Replaced,
    /// It was something else, and stays.
    Kept,
}

impl<V> CompareAndSet<V> {
    /// A register that holds `initial` before the first change.
    ///
    /// ```
    /// # use volary_testkit::check::{Model, models::CompareAndSet};
    /// assert_eq!(CompareAndSet::new(3).init(), 3);
    /// ```
    pub fn new(initial: V) -> Self {
        Self { initial }
    }
}

impl<V: Clone + Ord + Debug> Model for CompareAndSet<V> {
    type State = V;
    type Op = CompareAndSetOp<V>;
    type Return = CompareAndSetReturn<V>;

    fn init(&self) -> V {
        self.initial.clone()
    }

    fn step(&self, state: &V, op: &Self::Op) -> (V, Self::Return) {
        match op {
            CompareAndSetOp::Read => (state.clone(), CompareAndSetReturn::Value(state.clone())),
            CompareAndSetOp::Write(value) => (value.clone(), CompareAndSetReturn::Done),
            CompareAndSetOp::Replace { old, new } if old == state => (new.clone(), CompareAndSetReturn::Replaced),
            CompareAndSetOp::Replace { .. } => (state.clone(), CompareAndSetReturn::Kept),
        }
    }

    fn is_read(&self, op: &Self::Op) -> bool {
        matches!(op, CompareAndSetOp::Read)
    }
}
