//! First in, first out.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Debug;
use std::marker::PhantomData;

use crate::check::{At, Call, Model};

/// With how many later pushes one is compared: few are under way at once.
const LOOK_AHEAD: usize = 64;

/// Begin and end of a call.
type Span = (At, At);

/// First in, first out.
///
/// In which order concurrent pushes happened shows only when the items come out. The search is spared most of the
/// guessing if no item is pushed twice.
///
/// ```
/// use volary_testkit::check::models::{Queue, QueueOp::*, QueueReturn::*};
/// use volary_testkit::check::{Checker, History};
///
/// let mut history = History::new();
/// history.call(1, "jobs", Push('a'), Done, 0..1);
/// history.call(2, "jobs", Pop, Item('a'), 2..4);
/// history.call(3, "jobs", Pop, Item('a'), 3..5); // done twice
/// assert!(Checker::new(Queue::new()).check(&history).is_violation());
/// ```
#[derive(Debug, Clone)]
pub struct Queue<V>(PhantomData<V>);

/// What can be asked of a [`Queue`].
///
/// ```
/// # use volary_testkit::check::{Model, models::{Queue, QueueOp, QueueReturn}};
/// assert_eq!(Queue::new().step(&['a'].into(), &QueueOp::Push('b')), (['a', 'b'].into(), QueueReturn::Done));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum QueueOp<V> {
    /// Put this at the end.
    Push(V),
    /// Take the first.
    Pop,
}

/// What comes back from a [`Queue`].
///
/// ```
/// # use volary_testkit::check::{Model, models::{Queue, QueueOp, QueueReturn}};
/// assert_eq!(Queue::<char>::new().step(&[].into(), &QueueOp::Pop).1, QueueReturn::Empty);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum QueueReturn<V> {
    /// To a push.
    Done,
    /// To a pop: this was the first.
    Item(V),
    /// To a pop: there was none.
    Empty,
}

impl<V> Queue<V> {
    /// A queue that is empty before the first push.
    ///
    /// ```
    /// # use volary_testkit::check::{Model, models::Queue};
    /// assert!(Queue::<char>::new().init().is_empty());
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self(PhantomData)
    }
}

impl<V> Default for Queue<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<V: Clone + Ord + Debug> Model for Queue<V> {
    type State = VecDeque<V>;
    type Op = QueueOp<V>;
    type Return = QueueReturn<V>;

    fn init(&self) -> VecDeque<V> {
        VecDeque::new()
    }

    fn step(&self, items: &VecDeque<V>, op: &Self::Op) -> (VecDeque<V>, Self::Return) {
        let mut after = items.clone();
        let returned = match op {
            QueueOp::Push(item) => {
                after.push_back(item.clone());
                QueueReturn::Done
            }
            QueueOp::Pop => after.pop_front().map_or(QueueReturn::Empty, QueueReturn::Item),
        };
        (after, returned)
    }

    /// What came out first went in first, and before what never came out.
    fn implied_order(&self, calls: &[Call<&Self::Op, &Self::Return>]) -> Vec<(usize, usize)> {
        let mut pushes: BTreeMap<&V, Vec<usize>> = BTreeMap::new();
        let mut pops: BTreeMap<&V, Span> = BTreeMap::new();
        let mut every_pop_is_known = true;
        for (place, call) in calls.iter().enumerate() {
            match (call.op, &call.returned) {
                (QueueOp::Push(item), _) => pushes.entry(item).or_default().push(place),
                (QueueOp::Pop, None) => every_pop_is_known = false,
                (QueueOp::Pop, Some(returned)) => {
                    if let QueueReturn::Item(item) = returned.value {
                        pops.insert(item, (call.begin, returned.at));
                    }
                }
            }
        }
        // Of an item that was pushed twice nobody knows which of them came out.
        let single = pushes.into_iter().filter(|(_, places)| places.len() == 1);
        let mut single: Vec<(At, usize, Option<Span>)> = single
            .map(|(item, places)| (calls[places[0]].begin, places[0], pops.get(item).copied()))
            .collect();
        single.sort_unstable();
        let goes_first = |one: Option<Span>, other: Option<Span>| match (one, other) {
            (Some((_, end)), Some((begin, _))) => end < begin,
            (Some(_), None) => every_pop_is_known,
            (None, _) => false,
        };
        let mut order = Vec::new();
        for (number, (_, one, popped)) in single.iter().enumerate() {
            let end = calls[*one].returned.as_ref().map_or(At::MAX, |returned| returned.at);
            let at_once = single[number + 1..].iter().take_while(|(begin, ..)| *begin <= end);
            for (_, other, other_popped) in at_once.take(LOOK_AHEAD) {
                if goes_first(*popped, *other_popped) {
                    order.push((*one, *other));
                } else if goes_first(*other_popped, *popped) {
                    order.push((*other, *one));
                }
            }
        }
        order
    }
}
