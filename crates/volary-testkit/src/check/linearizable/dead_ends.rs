//! Where the search has failed before.
//!
//! What can still happen depends on three things: which calls are done, which of the calls of unknown outcome are used
//! up, and the state. Calls that came back are numbered by their end, so the done ones are everything before `base` and
//! the few `ahead` of it that ran at the same time. Of the calls of unknown outcome, having used fewer is never worse:
//! a place is dead if one was that had used only some of the same.

use std::collections::BTreeMap;

/// The calls of unknown outcome that were used up, in ascending order.
type Used = Box<[usize]>;
type States<S> = BTreeMap<S, Vec<Used>>;

pub(super) struct DeadEnds<S> {
    places: BTreeMap<usize, BTreeMap<Box<[usize]>, States<S>>>,
}

impl<S: Ord> DeadEnds<S> {
    pub(super) fn new() -> Self {
        Self {
            places: BTreeMap::new(),
        }
    }

    /// Whether it is known that nothing is to be found here; and how much work it was to tell.
    pub(super) fn contain(&self, base: usize, ahead: &[usize], used: &[usize], state: &S) -> (bool, u64) {
        let found = self
            .places
            .get(&base)
            .and_then(|places| places.get(ahead))
            .and_then(|states| states.get(state));
        let Some(dead) = found else { return (false, 0) };
        let position = dead.iter().position(|dead| is_subset(dead, used));
        (position.is_some(), position.unwrap_or(dead.len()) as u64)
    }

    pub(super) fn insert(&mut self, base: usize, ahead: &[usize], used: &[usize], state: S) {
        let states = self.places.entry(base).or_default();
        let dead = match states.get_mut(ahead) {
            Some(states) => states.entry(state).or_default(),
            None => states.entry(ahead.into()).or_default().entry(state).or_default(),
        };
        dead.retain(|other| !is_subset(used, other));
        dead.push(used.into());
    }
}

fn is_subset(some: &[usize], all: &[usize]) -> bool {
    let mut rest = all.iter();
    some.len() <= all.len() && some.iter().all(|one| rest.any(|other| other == one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_used_calls_are_never_worse() {
        let mut dead = DeadEnds::new();
        dead.insert(3, &[5], &[1, 2], 'a');
        assert!(dead.contain(3, &[5], &[1, 2], &'a').0);
        assert!(dead.contain(3, &[5], &[0, 1, 2, 4], &'a').0);
        assert!(!dead.contain(3, &[5], &[1], &'a').0);
        assert!(!dead.contain(3, &[5], &[1, 3], &'a').0);
        assert!(!dead.contain(3, &[5], &[1, 2], &'b').0);
        assert!(!dead.contain(3, &[6], &[1, 2], &'a').0);
        assert!(!dead.contain(2, &[5], &[1, 2], &'a').0);
        dead.insert(3, &[5], &[1], 'a');
        assert!(dead.contain(3, &[5], &[1], &'a').0);
        assert_eq!(dead.places[&3][&[5][..]][&'a'].len(), 1);
    }
}
