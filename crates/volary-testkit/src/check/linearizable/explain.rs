//! Cuts a history that contradicts itself down to the calls that do.
//!
//! First to its shortest prefix: the one that ends when the first call came back that cannot be explained. If that is
//! long, its beginning is replaced by the states in which it may have left things. Then as many calls as possible are
//! doubted: as if nobody had heard of them, so that they may have happened at any time or never.
//! If the others contradict each other even so, the doubted ones have no part in it and are left out. To drop a call
//! for good instead would make a new contradiction, such as a read of what nobody wrote any more.

use std::collections::BTreeSet;
use std::ops::Range;

use super::candidate::Seen;
use super::search::{Outcome, Search};
use super::violation::{Allowed, Before, Violation};
use crate::check::history::{At, Call};
use crate::check::model::Model;

/// Doubting may make a search much longer than the first one was. It is given up then: the call stays.
const PATIENCE: u64 = 4;
const MINIMUM_PATIENCE: u64 = 10_000;
/// The part of the budget that may be spent on making a violation small.
const SHARE: u64 = 5;
/// More other answers than this explain nothing.
const MAXIMUM_ANSWERS: usize = 8;
/// A history up to this length is explained from its beginning.
const SHORT: usize = 16;
/// More states than this explain nothing.
const MAXIMUM_STARTS: usize = 1_000;

/// Explains why a search over `calls` failed after `steps`, having got as far as `furthest`.
pub(super) fn explain<K, M: Model>(
    model: &M,
    key: K,
    calls: &[&Call<M::Op, M::Return>],
    furthest: usize,
    steps: u64,
    budget: u64,
) -> Violation<K, M::Op, M::Return> {
    let mut case = Case {
        model,
        completed: calls.iter().copied().filter(|call| call.returned.is_some()).collect(),
        unknown: calls.iter().copied().filter(|call| call.returned.is_none()).collect(),
        doubted: Vec::new(),
        first: 0,
        starts: BTreeSet::from([model.init()]),
        patience: steps.saturating_mul(PATIENCE).max(MINIMUM_PATIENCE),
        budget: (budget / SHARE).max(MINIMUM_PATIENCE),
    };
    case.completed.sort_by_key(|call| (end_of(call), call.begin));
    case.doubted = vec![false; case.completed.len()];
    let culprit = case.first_contradiction(furthest);
    let allowed = case.allowed(culprit);
    if culprit >= SHORT {
        case.cut_beginning(culprit);
    }
    case.doubt(case.first..culprit, culprit);
    case.into_violation(key, culprit, allowed)
}

struct Case<'a, M: Model> {
    model: &'a M,
    /// Those that came back, by their end.
    completed: Vec<&'a Call<M::Op, M::Return>>,
    unknown: Vec<&'a Call<M::Op, M::Return>>,
    /// For each of those that came back whether the search shall act as if it had not.
    doubted: Vec<bool>,
    /// The first call that is looked at, and the states in which those before it may have left things.
    first: usize,
    starts: BTreeSet<M::State>,
    patience: u64,
    budget: u64,
}

impl<'a, M: Model> Case<'a, M> {
    /// What was known when the call number `last` came back.
    fn known(&self, last: usize) -> impl Iterator<Item = Seen<'a, M::Op, M::Return>> {
        let until = end_of(self.completed[last]);
        let heard_of = (self.first..self.completed.len()).map(move |number| {
            let call = self.completed[number];
            if number <= last && self.counts(number) {
                Seen::as_recorded(call)
            } else {
                Seen::as_unknown(call)
            }
        });
        let unknown = self.unknown.iter().map(|call| Seen::as_unknown(call));
        heard_of.chain(unknown).filter(move |seen| seen.call.begin <= until)
    }

    /// Whether the return of a call that came back counts. What was under way when the last call of the beginning ended
    /// may be part of the states there.
    fn counts(&self, number: usize) -> bool {
        let is_later = |since| since < self.completed[number].begin;
        number >= self.first && !self.doubted[number] && self.cut().is_none_or(is_later)
    }

    /// When the beginning ended that is cut off.
    fn cut(&self) -> Option<At> {
        self.first.checked_sub(1).map(|number| end_of(self.completed[number]))
    }

    fn search(&self, last: usize) -> Search<'a, M> {
        let budget = self.patience.min(self.budget);
        Search::new(self.model, self.known(last), budget).starting_from(&self.starts)
    }

    fn is_contradiction(&mut self, last: usize) -> bool {
        let (outcome, steps) = self.search(last).run();
        self.budget = self.budget.saturating_sub(steps);
        matches!(outcome, Outcome::Contradiction { .. })
    }

    /// The first call whose return cannot be explained by what was known then. The search got to `furthest` with the
    /// knowledge of later returns, so it cannot be before.
    fn first_contradiction(&mut self, furthest: usize) -> usize {
        let (mut low, mut high) = (furthest, self.completed.len() - 1);
        let mut middle = low;
        while low < high {
            if self.is_contradiction(middle) {
                high = middle;
            } else {
                low = middle + 1;
            }
            middle = low.midpoint(high);
        }
        high
    }

    /// Replaces as much of the beginning as possible by the states that it may have led to. Short ends are tried first:
    /// they take the fewest steps.
    fn cut_beginning(&mut self, culprit: usize) {
        let whole = self.starts.clone();
        let mut length = 0;
        while length < culprit {
            // Without the culprit nothing contradicts anything.
            self.doubted[culprit] = true;
            let (states, steps) = self.search(culprit).states_until(culprit - length);
            self.doubted[culprit] = false;
            self.budget = self.budget.saturating_sub(steps);
            if let Some(states) = states.filter(|states| states.len() <= MAXIMUM_STARTS) {
                (self.first, self.starts) = (culprit - length, states);
                if self.is_contradiction(culprit) {
                    return;
                }
                (self.first, self.starts) = (0, whole.clone());
            }
            length = (2 * length).max(1);
        }
    }

    /// What the call might have returned instead.
    fn allowed(&mut self, culprit: usize) -> Vec<Allowed<M::Return>> {
        let mut allowed: Vec<Allowed<M::Return>> = Vec::new();
        let mut seen: Vec<M::Return> = Vec::new();
        while allowed.len() < MAXIMUM_ANSWERS {
            let call = self.completed[culprit];
            let budget = self.patience.min(self.budget);
            let until = end_of(call);
            let others = self.known(culprit).filter(|seen| !std::ptr::eq(seen.call, call));
            let history = others.chain([Seen::with_other_return(call, &seen)]);
            let search = Search::new(self.model, history.filter(|seen| seen.call.begin <= until), budget);
            let (state, steps) = search.state_before_other_return();
            self.budget = self.budget.saturating_sub(steps);
            let Some(state) = state else { break };
            let (_, returned) = self.model.step(&state, &call.op);
            seen.push(returned.clone());
            let state = format!("{state:?}");
            allowed.push(Allowed { returned, state });
        }
        allowed
    }

    /// Doubts the calls of a range, all at once if that does no harm, else in halves.
    fn doubt(&mut self, range: Range<usize>, culprit: usize) {
        if range.is_empty() || self.budget == 0 {
            return;
        }
        self.doubted[range.clone()].fill(true);
        if self.is_contradiction(culprit) {
            return;
        }
        self.doubted[range.clone()].fill(false);
        if range.len() > 1 {
            let middle = range.start.midpoint(range.end);
            self.doubt(range.start..middle, culprit);
            self.doubt(middle..range.end, culprit);
        }
    }

    fn into_violation<K>(
        self,
        key: K,
        culprit: usize,
        allowed: Vec<Allowed<M::Return>>,
    ) -> Violation<K, M::Op, M::Return> {
        let shown = (self.first..=culprit).filter(|number| self.counts(*number));
        let calls: Vec<_> = shown.map(|number| self.completed[number].clone()).collect();
        let before = self.cut().map(|at| Before {
            at,
            states: self.starts.iter().map(|state| format!("{state:?}")).collect(),
        });
        let left_out = self.completed.len() + self.unknown.len() - calls.len();
        Violation {
            key,
            before,
            calls,
            allowed,
            left_out,
        }
    }
}

/// When a call that came back did so.
fn end_of<O, R>(call: &Call<O, R>) -> At {
    call.returned.as_ref().map_or(At::MAX, |returned| returned.at)
}
