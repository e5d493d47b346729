//! The figures of each type of actor, found without a lock by whoever has something to count again.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use super::histogram::Buckets;
use super::meter::Rare;
use crate::sync::atomic::AtomicU64;

/// How many types of actors have figures of their own.
pub(super) const KINDS: usize = 256;
/// Under which the others are counted.
pub(super) const OTHERS: &str = "other";
/// Twice as many places as kinds, so that most names lie where they belong.
const PLACES: usize = 2 * KINDS;
/// How far from where it belongs a name is looked for.
const REACH: usize = 8;

#[derive(Default)]
pub(super) struct Figures {
    pub(super) waited: Buckets,
    pub(super) took: Buckets,
    pub(super) rare: [AtomicU64; Rare::ALL],
    /// What the mailboxes of ended actors have given out.
    pub(super) taken_by_ended: AtomicU64,
}

pub(super) struct Kinds {
    by_name: Mutex<BTreeMap<&'static str, Arc<Figures>>>,
    /// The same by where the name lies, which is quicker to look up than what it says. The same name may lie in two
    /// places: its figures are the same.
    places: Box<[Place]>,
}

type Place = OnceLock<(Lies, Arc<Figures>)>;

/// Where a name lies: its address, and its length.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Lies(usize, usize);

impl Lies {
    fn at(name: &'static str) -> Self {
        Lies(name.as_ptr().addr(), name.len())
    }

    /// Where it belongs among the places.
    fn home(self) -> usize {
        ((self.0 as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - PLACES.ilog2())) as usize
    }
}

impl Kinds {
    pub(super) fn new() -> Self {
        Kinds {
            by_name: Mutex::default(),
            places: (0..PLACES).map(|_| Place::new()).collect(),
        }
    }

    /// Counts something among the figures of a type of actor, by its name.
    pub(super) fn with(&self, name: &'static str, count: impl FnOnce(&Figures)) {
        let lies = Lies::at(name);
        for step in 0..REACH {
            let place = &self.places[(lies.home() + step) % PLACES];
            let (found, figures) = place.get_or_init(|| (lies, self.named(name)));
            if *found == lies {
                return count(figures);
            }
        }
        // Crowded out.
        count(&self.named(name));
    }

    /// The figures under a name, or under that of all others if there are many names.
    fn named(&self, name: &'static str) -> Arc<Figures> {
        let mut kinds = self.by_name.lock();
        let name = if kinds.len() < KINDS || kinds.contains_key(name) {
            name
        } else {
            OTHERS
        };
        kinds.entry(name).or_default().clone()
    }

    /// Reads all of them.
    pub(super) fn all<R>(&self, read: impl Fn(&'static str, &Figures) -> R) -> Vec<R> {
        let kinds = self.by_name.lock();
        kinds.iter().map(|(name, figures)| read(name, figures)).collect()
    }
}

#[cfg(all(test, not(any(volary_loom, volary_shuttle))))]
mod tests {
    use super::*;
    use crate::sync::atomic::Ordering::Relaxed;

    fn count(kinds: &Kinds, name: &'static str) {
        kinds.with(name, |figures| {
            figures.taken_by_ended.fetch_add(1, Relaxed);
        });
    }

    fn read(kinds: &Kinds) -> Vec<(&'static str, u64)> {
        kinds.all(|name, figures| (name, figures.taken_by_ended.load(Relaxed)))
    }

    fn leaked(name: &str) -> &'static str {
        Box::leak(name.into())
    }

    #[test]
    fn a_name_that_lies_in_two_places_has_one_set_of_figures() {
        let kinds = Kinds::new();
        for name in [leaked("Account"), leaked("Account"), leaked("Room"), leaked("Acc")] {
            count(&kinds, name);
        }
        assert_eq!(read(&kinds), [("Acc", 1), ("Account", 2), ("Room", 1)]);
    }

    #[test]
    fn parts_of_one_text_are_told_apart() {
        let kinds = Kinds::new();
        let text = leaked("Accountant");
        for name in [text, &text[..7], &text[..7]] {
            count(&kinds, name);
        }
        assert_eq!(read(&kinds), [("Account", 2), ("Accountant", 1)]);
    }

    #[test]
    fn beyond_so_many_names_all_are_counted_together_and_none_is_lost() {
        let kinds = Kinds::new();
        let names: Vec<&'static str> = (0..3 * KINDS).map(|n| leaked(&format!("Kind{n}"))).collect();
        for _ in 0..2 {
            names.iter().for_each(|name| count(&kinds, name));
        }
        let read = read(&kinds);
        assert_eq!(read.iter().map(|(_, count)| count).sum::<u64>(), 6 * KINDS as u64);
        assert_eq!(read.len(), KINDS + 1);
        assert!(
            read.iter().all(|(name, count)| *count == 2 || *name == OTHERS),
            "{read:?}"
        );
    }
}
