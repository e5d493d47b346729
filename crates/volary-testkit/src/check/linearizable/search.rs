//! Looks for an order of calls that the model can explain.
//!
//! ```text
//! done      ■ ■ ■ ■ □ ■ □ □    `base` is the first that is not done; few are `ahead` of it: only calls that began
//!                   ▲   ▲      before `base` ended can be
//!                 base  ahead
//! ```
//! A call may be next if it began before `base` ended. The search does one, asks the model for the states that may
//! follow, and goes on from there; where nothing fits it takes the last call back. Some ways need not be tried, because
//! another one leads at least as far:
//!
//! - A read that fits now may as well happen now, instead of anything else.
//! - Of two equal calls the one that ends first may as well go first.
//! - A call of unknown outcome is not worth doing if it changes nothing, nor if the call after it comes to the same
//!   without it. These calls come last: most histories need few of them.

use std::collections::BTreeSet;

use super::candidate::{Candidate, Seen, candidates};
use super::chain::Chain;
use super::dead_ends::DeadEnds;
use crate::check::history::At;
use crate::check::model::Model;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Explained,
    /// Nothing fits. `furthest` is the greatest number of calls, by their end, with which all went well.
    Contradiction {
        furthest: usize,
    },
    OutOfBudget,
}

pub(super) struct Search<'a, M: Model> {
    model: &'a M,
    calls: Vec<Candidate<'a, M>>,
    completed: usize,
    /// For each place in the order of ends the next read.
    next_read: Vec<usize>,
    is_done: Vec<bool>,
    /// The calls that came back and are not done, by their begin.
    open: Chain,
    /// The calls of unknown outcome that are not used, by their begin.
    unknown: Chain,
    base: usize,
    ahead: Vec<usize>,
    used: Vec<usize>,
    dead_ends: DeadEnds<M::State>,
    furthest: usize,
    steps: u64,
    budget: u64,
    starts: Vec<M::State>,
    /// How the last search went.
    way: Vec<Step<M::State>>,
    /// The search goes no further than to this call, and collects the states there.
    goal: Option<(usize, BTreeSet<M::State>)>,
}

/// One step of the way: the call that was done, the state it left, and what is still to be tried from there.
struct Step<S> {
    call: Option<usize>,
    state: S,
    /// To be tried, last one first.
    candidates: Vec<usize>,
    /// The states that the call tried now may leave.
    trying: usize,
    states: std::vec::IntoIter<S>,
}

impl<'a, M: Model> Search<'a, M> {
    pub(super) fn new(
        model: &'a M,
        history: impl IntoIterator<Item = Seen<'a, M::Op, M::Return>>,
        budget: u64,
    ) -> Self {
        let (calls, completed) = candidates(model, history);
        let mut next_read = vec![completed; completed + 1];
        for at in (0..completed).rev() {
            next_read[at] = if calls[at].is_read { at } else { next_read[at + 1] };
        }
        let mut by_begin: Vec<usize> = (0..completed).collect();
        by_begin.sort_by_key(|call| (calls[*call].begin, *call));
        let total = calls.len();
        Self {
            model,
            completed,
            next_read,
            is_done: vec![false; total],
            open: Chain::new(total, by_begin),
            unknown: Chain::new(total, completed..total),
            base: 0,
            ahead: Vec::new(),
            used: Vec::new(),
            dead_ends: DeadEnds::new(),
            furthest: 0,
            steps: 0,
            budget,
            starts: vec![model.init()],
            way: Vec::new(),
            goal: None,
            calls,
        }
    }

    /// From any of these states instead of the model's first.
    pub(super) fn starting_from(mut self, starts: &BTreeSet<M::State>) -> Self {
        if !starts.iter().eq(&self.starts) {
            // What the model concludes from the calls holds for those that begin with its first state.
            self.calls.iter_mut().for_each(|call| call.after.clear());
        }
        self.starts = starts.iter().cloned().collect();
        self
    }

    /// All states there can be at the moment when the last of the calls below number `call` is done, unless it takes too
    /// many steps to tell.
    pub(super) fn states_until(mut self, call: usize) -> (Option<BTreeSet<M::State>>, u64) {
        self.goal = Some((call, BTreeSet::new()));
        let outcome = self.search();
        let states = self.goal.map(|(_, states)| states);
        (states.filter(|_| outcome != Outcome::OutOfBudget), self.steps)
    }

    /// The outcome, and the steps it took.
    pub(super) fn run(mut self) -> (Outcome, u64) {
        let outcome = self.search();
        (outcome, self.steps)
    }

    /// The state in which the call with another return was done, if all went well so.
    pub(super) fn state_before_other_return(mut self) -> (Option<M::State>, u64) {
        let outcome = self.search();
        let done = self.way.windows(2).find(|steps| {
            let call = steps[1].call.map(|call| &self.calls[call]);
            call.is_some_and(|call| call.otherwise.is_some())
        });
        let state = done.map(|steps| steps[0].state.clone());
        (state.filter(|_| outcome == Outcome::Explained), self.steps)
    }

    fn search(&mut self) -> Outcome {
        let mut last = Outcome::Contradiction { furthest: 0 };
        for start in std::mem::take(&mut self.starts) {
            let mut way = Vec::new();
            last = self.search_from(start, &mut way);
            self.way = way;
            if !matches!(last, Outcome::Contradiction { .. }) {
                break;
            }
        }
        last
    }

    fn search_from(&mut self, start: M::State, way: &mut Vec<Step<M::State>>) -> Outcome {
        way.push(self.arrive(None, start));
        while self.base < self.completed {
            if self.steps > self.budget {
                return Outcome::OutOfBudget;
            }
            if let Some((call, state)) = self.next(way) {
                self.take(call);
                if self.is_hopeless(&state) || self.is_far_enough(&state) {
                    self.give_back(call);
                } else {
                    way.push(self.arrive(Some(call), state));
                }
                continue;
            }
            let Some(step) = way.pop() else { break };
            self.dead_ends.insert(self.base, &self.ahead, &self.used, step.state);
            match step.call {
                Some(call) => self.give_back(call),
                None => {
                    return Outcome::Contradiction {
                        furthest: self.furthest,
                    };
                }
            }
        }
        Outcome::Explained
    }

    /// The next call to do from the end of the way, and a state that follows.
    fn next(&mut self, way: &mut [Step<M::State>]) -> Option<(usize, M::State)> {
        let (step, before) = way.split_last_mut()?;
        loop {
            if let Some(state) = step.states.next() {
                return Some((step.trying, state));
            }
            let call = step.candidates.pop()?;
            let mut states = self.states_after(&step.state, call);
            if call >= self.completed {
                states.retain(|state| *state != step.state);
            }
            if step.call.is_some_and(|last| last >= self.completed)
                && !states.is_empty()
                && let Some(earlier) = before.last()
            {
                let without = self.states_after(&earlier.state, call);
                states.retain(|state| !without.contains(state));
            }
            step.trying = call;
            step.states = states.into_iter();
        }
    }

    fn states_after(&mut self, state: &M::State, call: usize) -> Vec<M::State> {
        self.steps += 1;
        let call = &self.calls[call];
        match call.otherwise {
            None => self.model.states_after(state, call.op, call.returned),
            Some(not) => {
                let (next, returned) = self.model.step(state, call.op);
                if not.contains(&returned) {
                    Vec::new()
                } else {
                    vec![next]
                }
            }
        }
    }

    /// A new step of the way, with all that may be tried from there.
    fn arrive(&mut self, call: Option<usize>, state: M::State) -> Step<M::State> {
        let mut step = Step {
            call,
            state,
            candidates: Vec::new(),
            trying: 0,
            states: Vec::new().into_iter(),
        };
        if self.base == self.completed {
            return step;
        }
        let until = self.calls[self.base].end;
        let mut next = self.open.first();
        while let Some(call) = next.filter(|call| self.calls[*call].begin <= until) {
            if self.calls[call].is_read {
                let states = self.states_after(&step.state, call);
                if !states.is_empty() {
                    self.expect_unchanged(&states, &step.state, call);
                    step.trying = call;
                    step.states = states.into_iter();
                    step.candidates.clear();
                    return step;
                }
            } else if self.may_be_next(call, until) {
                step.candidates.push(call);
            }
            next = self.open.after(call);
        }
        // What ends first is tried first, what may never have happened last.
        step.candidates.sort_unstable();
        let mut next = self.unknown.first();
        while let Some(call) = next.filter(|call| self.calls[*call].begin <= until) {
            if self.may_be_next(call, until) {
                step.candidates.push(call);
            }
            next = self.unknown.after(call);
        }
        step.candidates.reverse();
        step
    }

    /// Whether nothing says that another call should go before this one, which has begun.
    fn may_be_next(&self, call: usize, until: At) -> bool {
        let Candidate { twin, after, .. } = &self.calls[call];
        let twin_goes_first = twin.is_some_and(|twin| !self.is_done[twin] && self.calls[twin].begin <= until);
        !twin_goes_first && after.iter().all(|other| self.is_done[*other])
    }

    fn expect_unchanged(&self, states: &[M::State], state: &M::State, call: usize) {
        let op = self.calls[call].op;
        assert!(
            states.iter().all(|after| after == state),
            "the model says that {op:?} is a read, but it changes {state:?} to {states:?}"
        );
    }

    /// Whether the search need not go on from here.
    fn is_hopeless(&mut self, state: &M::State) -> bool {
        let mut read = self.next_read[self.base];
        while read < self.completed && self.is_done[read] {
            read = self.next_read[read + 1];
        }
        if let Some(call) = self.calls[..self.completed].get(read)
            && let (Some(returned), None) = (call.returned, call.otherwise)
            && !self.model.can_lead_to(state, call.op, returned)
        {
            return true;
        }
        let (dead, work) = self.dead_ends.contain(self.base, &self.ahead, &self.used, state);
        self.steps += work;
        dead
    }

    fn is_far_enough(&mut self, state: &M::State) -> bool {
        match &mut self.goal {
            Some((call, states)) if self.base >= *call => {
                states.insert(state.clone());
                true
            }
            _ => false,
        }
    }

    fn take(&mut self, call: usize) {
        self.is_done[call] = true;
        if call >= self.completed {
            self.unknown.remove(call);
            insert_sorted(&mut self.used, call);
            return;
        }
        self.open.remove(call);
        if call != self.base {
            insert_sorted(&mut self.ahead, call);
            return;
        }
        let passed = self.ahead.iter().zip(call + 1..).take_while(|(a, b)| *a == b).count();
        self.ahead.drain(..passed);
        self.base += 1 + passed;
        self.furthest = self.furthest.max(self.base);
    }

    /// Undoes [`take`](Self::take), the last one first.
    fn give_back(&mut self, call: usize) {
        self.is_done[call] = false;
        if call >= self.completed {
            self.unknown.put_back(call);
            remove_sorted(&mut self.used, call);
            return;
        }
        self.open.put_back(call);
        if call < self.base {
            self.ahead.splice(..0, call + 1..self.base);
            self.base = call;
        } else {
            remove_sorted(&mut self.ahead, call);
        }
    }
}

fn insert_sorted(sorted: &mut Vec<usize>, item: usize) {
    let at = sorted.partition_point(|other| *other < item);
    sorted.insert(at, item);
}

fn remove_sorted(sorted: &mut Vec<usize>, item: usize) {
    let at = sorted.partition_point(|other| *other < item);
    sorted.remove(at);
}
