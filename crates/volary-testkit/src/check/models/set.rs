//! Items that are in or out.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::marker::PhantomData;

use crate::check::Model;

/// Items that are in or out, at first out.
///
/// If nobody reads the whole set, make the item part of the history's key: each item is checked on its own then, which
/// is as strict and much faster.
///
/// ```
/// use volary_testkit::check::models::{Set, SetOp::*, SetReturn::*};
/// use volary_testkit::check::{Checker, History};
///
/// let mut history = History::new();
/// history.call(1, "members", Insert("a"), Yes, 0..1);
/// history.call(2, "members", Contains("a"), No, 2..3); // it was there
/// assert!(Checker::new(Set::new()).check(&history).is_violation());
/// ```
#[derive(Debug, Clone)]
pub struct Set<V>(PhantomData<V>);

/// What can be asked of a [`Set`].
///
/// ```
/// # use std::collections::BTreeSet;
/// # use volary_testkit::check::{Model, models::{Set, SetOp, SetReturn}};
/// let before = BTreeSet::from(['a']);
/// assert_eq!(Set::new().step(&before, &SetOp::Remove('a')), (BTreeSet::new(), SetReturn::Yes));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum SetOp<V> {
    /// What is in it?
    Read,
    /// Is this in it?
    Contains(V),
    /// Put this in. Was it out?
    Insert(V),
    /// Take this out. Was it in?
    Remove(V),
}

/// What comes back from a [`Set`].
///
/// ```
/// # use std::collections::BTreeSet;
/// # use volary_testkit::check::{Model, models::{Set, SetOp, SetReturn}};
/// assert_eq!(Set::new().step(&BTreeSet::from(['a']), &SetOp::Insert('a')).1, SetReturn::No);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum SetReturn<V> {
    /// It was so.
    Yes,
    /// It was not so.
    No,
    /// To a read of everything.
    Items(BTreeSet<V>),
}

impl<V> Set<V> {
    /// A set that is empty before the first insert.
    ///
    /// ```
    /// # use volary_testkit::check::{Model, models::Set};
    /// assert!(Set::<char>::new().init().is_empty());
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self(PhantomData)
    }
}

impl<V> Default for Set<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<V: Clone + Ord + Debug> Model for Set<V> {
    type State = BTreeSet<V>;
    type Op = SetOp<V>;
    type Return = SetReturn<V>;

    fn init(&self) -> BTreeSet<V> {
        BTreeSet::new()
    }

    fn step(&self, items: &BTreeSet<V>, op: &Self::Op) -> (BTreeSet<V>, Self::Return) {
        let mut after = items.clone();
        let was_so = match op {
            SetOp::Read => return (after, SetReturn::Items(items.clone())),
            SetOp::Contains(item) => items.contains(item),
            SetOp::Insert(item) => after.insert(item.clone()),
            SetOp::Remove(item) => after.remove(item),
        };
        (after, if was_so { SetReturn::Yes } else { SetReturn::No })
    }

    fn is_read(&self, op: &Self::Op) -> bool {
        matches!(op, SetOp::Read | SetOp::Contains(_))
    }
}
