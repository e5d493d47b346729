//! What the checked thing would do if it were one copy that did one call at a time.

use std::fmt::Debug;

use super::history::Call;

/// The checked thing as if it were one copy that did one call at a time.
///
/// [`init`](Model::init) and [`step`](Model::step) are enough. The others make room for answers that are not determined,
/// or spare the search work. [Ready ones](super::models) exist for registers, counters, lists, sets, queues and leases.
///
/// ```
/// use volary_testkit::check::{Checker, History, Model};
///
/// struct Tickets;
///
/// impl Model for Tickets {
///     type State = u32;
///     type Op = ();
///     type Return = u32;
///     fn init(&self) -> u32 {
///         0
///     }
///     fn step(&self, sold: &u32, _: &()) -> (u32, u32) {
///         (sold + 1, sold + 1)
///     }
/// }
///
/// let mut history = History::new();
/// history.call(1, "opera", (), 2, 0..5);
/// history.call(2, "opera", (), 1, 3..4);
/// Checker::new(Tickets).check(&history).assert();
///
/// history.call(3, "opera", (), 2, 6..7); // sold before
/// assert!(Checker::new(Tickets).check(&history).is_violation());
/// ```
pub trait Model {
    /// All that decides what later calls return.
    type State: Clone + Ord + Debug;
    /// What can be asked for.
    type Op: Clone + PartialEq + Debug;
    /// What comes back.
    type Return: Clone + PartialEq + Debug;

    /// The state before any call.
    fn init(&self) -> Self::State;

    /// Does `op`: the state afterwards, and what is returned.
    fn step(&self, state: &Self::State, op: &Self::Op) -> (Self::State, Self::Return);

    /// The states that `op` may leave behind, given what it returned, or `None` if nobody knows what it returned: that
    /// must leave room for everything that any return leaves room for. No state at all: it cannot have returned that.
    ///
    /// Override it if more than one outcome is right, such as for a lease that may or may not be over:
    /// [`step`](Model::step) then is one example among them, for reports.
    fn states_after(&self, state: &Self::State, op: &Self::Op, returned: Option<&Self::Return>) -> Vec<Self::State> {
        let (next, value) = self.step(state, op);
        if returned.is_none_or(|returned| *returned == value) {
            vec![next]
        } else {
            Vec::new()
        }
    }

    /// Whether `op` never changes anything, in no state. Saying so spares the search most of its work.
    fn is_read(&self, op: &Self::Op) -> bool {
        let _ = op;
        false
    }

    /// Whether the [read](Model::is_read) `op` could return `returned` in `state` or any state that calls can make of
    /// it. Saying no early spares the search hopeless ways; a list that only grows, for one, must be a prefix of what
    /// is read later.
    fn can_lead_to(&self, state: &Self::State, op: &Self::Op, returned: &Self::Return) -> bool {
        let _ = (state, op, returned);
        true
    }

    /// Pairs of calls, by their places in `calls`, of which the first certainly took effect, and before the second if
    /// that did: what can be concluded from their returns, beyond what their times say. Of a queue that began empty, for
    /// one, what came out first went in first. Saying so spares the search hopeless ways.
    fn implied_order(&self, calls: &[Call<&Self::Op, &Self::Return>]) -> Vec<(usize, usize)> {
        let _ = calls;
        Vec::new()
    }
}
