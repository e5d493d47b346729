//! Could one copy, doing one call at a time, have given these answers?
//!
//! ```text
//! History ──► by key ──► search.rs ──► an order was found               Linearizable
//!                           │     └──► none, and all were tried ──► explain.rs ──► Violation
//!                           └────────► the budget is used up            Unknown
//! ```
//! The search (`search.rs`) is that of Wing and Gong with Lowe's improvements: it takes one call after the other that
//! may have been next, asks the model, and goes back when nothing fits. Where it failed once it does not look again
//! (`dead_ends.rs`). A violation is cut down to calls that contradict each other (`explain.rs`) and drawn
//! (`timeline.rs`).

use std::fmt::Debug;

pub use violation::{Allowed, Before, Violation};

use super::history::History;
use super::model::Model;
use candidate::Seen;
use search::{Outcome, Search};

mod candidate;
mod chain;
mod dead_ends;
mod explain;
mod search;
mod timeline;
mod violation;

const DEFAULT_BUDGET: u64 = 2_000_000;

/// Judges whether histories are linearizable: whether each call can have taken effect at one instant between its begin
/// and its end, such that a [`Model`] gives the same answers. Each key is judged on its own, as if it had a model of its
/// own.
///
/// ```
/// use volary_testkit::check::models::{Register, RegisterOp::*, RegisterReturn::*};
/// use volary_testkit::check::{Checker, History};
///
/// let mut history = History::new();
/// history.call(1, "x", Write(1), Done, 0..10);
/// history.call(2, "x", Write(2), Done, 20..30);
/// history.call(3, "x", Read, Value(1), 40..50);
/// let verdict = Checker::new(Register::new(0)).check(&history);
/// assert_eq!(verdict.to_string(), r#"not linearizable: "x"
///
///   client 1 ├ Write(1) → Done ┤
///   client 2                     ├ Write(2) → Done ┤
///   client 3                                         ├ Read → Value(1) ┤ ✗
///            0                10 20               30 40               50
///
///   ✗ no order of these calls explains Read → Value(1) of client 3
///     the model allows Value(2), in state 2
/// "#);
/// ```
#[derive(Debug, Clone)]
pub struct Checker<M> {
    model: M,
    budget: u64,
}

impl<M: Model> Checker<M> {
    /// A checker against `model`, with a budget of two million steps for each key.
    ///
    /// ```
    /// # use volary_testkit::check::{Checker, History, models::Counter};
    /// assert!(Checker::new(Counter).check(&History::<&str, _, _>::new()).is_linearizable());
    /// ```
    pub fn new(model: M) -> Self {
        Self {
            model,
            budget: DEFAULT_BUDGET,
        }
    }

    /// How many steps of the model may be tried for one key until the verdict is [`Unknown`](Verdict::Unknown). Making a
    /// violation small may take a fifth of it again.
    ///
    /// ```
    /// # use volary_testkit::check::{Checker, History, models::{Counter, CounterOp::*, CounterReturn::*}};
    /// let mut history = History::new();
    /// history.call(1, "x", Add(1), Done, 0..1);
    /// history.call(1, "x", Read, Value(1), 2..3);
    /// assert!(Checker::new(Counter).budget(1).check(&history).is_unknown());
    /// ```
    ///
    /// # Panics
    ///
    /// If it is zero.
    #[must_use]
    #[track_caller]
    pub fn budget(mut self, steps: u64) -> Self {
        assert!(steps > 0, "budget of {steps} steps; allowed is 1 or more");
        self.budget = steps;
        self
    }

    /// Judges a history. One that breaks the rules at several keys is reported for the first of them.
    ///
    /// ```
    /// # use volary_testkit::check::{Checker, History, models::{Counter, CounterOp::*, CounterReturn::*}};
    /// let mut history = History::new();
    /// history.begin(1, "x", Add(1)); // and nobody knows whether it happened
    /// let read = history.begin(2, "x", Read);
    /// history.end(read, Value(1));
    /// assert!(Checker::new(Counter).check(&history).is_linearizable());
    /// ```
    pub fn check<K: Ord + Clone>(&self, history: &History<K, M::Op, M::Return>) -> Verdict<K, M::Op, M::Return> {
        let mut unknown = None;
        for (key, calls) in history.by_key() {
            let (outcome, steps) =
                Search::new(&self.model, calls.iter().copied().map(Seen::as_recorded), self.budget).run();
            match outcome {
                Outcome::Explained => {}
                Outcome::Contradiction { furthest } => {
                    let violation = explain::explain(&self.model, key.clone(), &calls, furthest, steps, self.budget);
                    return Verdict::Violation(Box::new(violation));
                }
                Outcome::OutOfBudget => unknown = unknown.or(Some(key)),
            }
        }
        unknown.map_or(Verdict::Linearizable, |key| Verdict::Unknown {
            key: key.clone(),
            budget: self.budget,
        })
    }
}

/// What a [`Checker`] says of a history. It prints as a report.
///
/// ```
/// # use volary_testkit::check::{Checker, History, Verdict, models::{Counter, CounterOp::*, CounterReturn::*}};
/// let mut history = History::new();
/// history.call(1, "x", Read, Value(7), 0..1);
/// match Checker::new(Counter).check(&history) {
///     Verdict::Linearizable => println!("all is well"),
///     Verdict::Violation(violation) => assert_eq!(violation.calls.len(), 1),
///     Verdict::Unknown { key, budget } => println!("gave up on {key} after {budget} steps"),
///     _ => {}
/// }
/// ```
#[derive(Debug, Clone)]
#[must_use]
#[non_exhaustive]
pub enum Verdict<K, O, R> {
    /// There is an order that explains everything.
    Linearizable,
    /// There is none.
    Violation(Box<Violation<K, O, R>>),
    /// The budget was used up before an order was found or ruled out; no key was seen to be violated.
    Unknown {
        /// Where.
        key: K,
        /// The steps that were not enough.
        budget: u64,
    },
}

impl<K, O, R> Verdict<K, O, R> {
    /// Whether there is an order that explains everything.
    ///
    /// ```
    /// # use volary_testkit::check::{Checker, History, models::Counter};
    /// assert!(Checker::new(Counter).check(&History::<&str, _, _>::new()).is_linearizable());
    /// ```
    #[must_use]
    pub fn is_linearizable(&self) -> bool {
        matches!(self, Verdict::Linearizable)
    }

    /// Whether there is certainly none.
    ///
    /// ```
    /// # use volary_testkit::check::{Checker, History, models::Counter};
    /// assert!(!Checker::new(Counter).check(&History::<&str, _, _>::new()).is_violation());
    /// ```
    #[must_use]
    pub fn is_violation(&self) -> bool {
        matches!(self, Verdict::Violation(_))
    }

    /// Whether the budget was too small to tell.
    ///
    /// ```
    /// # use volary_testkit::check::{Checker, History, models::Counter};
    /// assert!(!Checker::new(Counter).check(&History::<&str, _, _>::new()).is_unknown());
    /// ```
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        matches!(self, Verdict::Unknown { .. })
    }
}

impl<K: Debug, O: Debug, R: Debug> Verdict<K, O, R> {
    /// Passes if the history is linearizable.
    ///
    /// ```
    /// # use volary_testkit::check::{Checker, History, models::Counter};
    /// Checker::new(Counter).check(&History::<&str, _, _>::new()).assert();
    /// ```
    ///
    /// # Panics
    ///
    /// With the report if it is not, or if nobody knows.
    #[track_caller]
    pub fn assert(&self) {
        assert!(self.is_linearizable(), "{self}");
    }
}

impl<K: Debug, O: Debug, R: Debug> std::fmt::Display for Verdict<K, O, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Verdict::Linearizable => f.write_str("linearizable"),
            Verdict::Violation(violation) => write!(f, "{violation}"),
            Verdict::Unknown { key, budget } => write!(
                f,
                "unknown whether {key:?} is linearizable: {budget} steps were not enough; allow a larger budget, or let \
                 fewer calls be under way at once"
            ),
        }
    }
}
