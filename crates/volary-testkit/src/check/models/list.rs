//! A list that only grows.

use std::fmt::Debug;
use std::marker::PhantomData;

use crate::check::Model;

/// A list that only grows, at its end. What is read tells the order of everything before it, which finds more than a
/// register does.
///
/// ```
/// use volary_testkit::check::models::{List, ListOp::*, ListReturn::*};
/// use volary_testkit::check::{Checker, History};
///
/// let mut history = History::new();
/// history.call(1, "log", Append('a'), Done, 0..1);
/// history.call(2, "log", Append('b'), Done, 2..3);
/// history.call(3, "log", Read, Items(vec!['b', 'a']), 4..5); // the wrong way round
/// assert!(Checker::new(List::new()).check(&history).is_violation());
/// ```
#[derive(Debug, Clone)]
pub struct List<V>(PhantomData<V>);

/// What can be asked of a [`List`].
///
/// ```
/// # use volary_testkit::check::{Model, models::{List, ListOp, ListReturn}};
/// assert_eq!(List::new().step(&vec!['a'], &ListOp::Append('b')), (vec!['a', 'b'], ListReturn::Done));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ListOp<V> {
    /// What is in it?
    Read,
    /// Put this at the end.
    Append(V),
}

/// What comes back from a [`List`].
///
/// ```
/// # use volary_testkit::check::{Model, models::{List, ListOp, ListReturn}};
/// assert_eq!(List::new().step(&vec!['a'], &ListOp::Read).1, ListReturn::Items(vec!['a']));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ListReturn<V> {
    /// To a read: everything, oldest first.
    Items(Vec<V>),
    /// To an append.
    Done,
}

impl<V> List<V> {
    /// A list that is empty before the first append.
    ///
    /// ```
    /// # use volary_testkit::check::{Model, models::List};
    /// assert!(List::<char>::new().init().is_empty());
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self(PhantomData)
    }
}

impl<V> Default for List<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<V: Clone + Ord + Debug> Model for List<V> {
    type State = Vec<V>;
    type Op = ListOp<V>;
    type Return = ListReturn<V>;

    fn init(&self) -> Vec<V> {
        Vec::new()
    }

    fn step(&self, items: &Vec<V>, op: &Self::Op) -> (Vec<V>, Self::Return) {
        match op {
            ListOp::Read => (items.clone(), ListReturn::Items(items.clone())),
            ListOp::Append(item) => {
                let mut longer = Vec::with_capacity(items.len() + 1);
                longer.extend_from_slice(items);
                longer.push(item.clone());
                (longer, ListReturn::Done)
            }
        }
    }

    fn is_read(&self, op: &Self::Op) -> bool {
        matches!(op, ListOp::Read)
    }

    fn can_lead_to(&self, items: &Vec<V>, _: &Self::Op, returned: &Self::Return) -> bool {
        match returned {
            ListReturn::Items(seen) => seen.starts_with(items),
            ListReturn::Done => true,
        }
    }
}
