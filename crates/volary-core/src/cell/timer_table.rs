//! The timers of one actor by their names.
//!
//! Most actors that have timers have one or two, and there may be a million such actors: a list does for them. With
//! more names it becomes a map.

use std::collections::BTreeMap;

use super::timed::{Armed, TimerName};

/// How long a list may be.
const LIST: usize = 8;

pub(crate) enum TimerTable {
    /// In order.
    Few(Vec<(TimerName, Armed)>),
    Many(BTreeMap<TimerName, Armed>),
}

impl Default for TimerTable {
    fn default() -> Self {
        TimerTable::Few(Vec::new())
    }
}

impl TimerTable {
    pub(crate) fn get_mut(&mut self, name: &TimerName) -> Option<&mut Armed> {
        match self {
            TimerTable::Few(few) => {
                let at = find(few, name).ok()?;
                Some(&mut few[at].1)
            }
            TimerTable::Many(many) => many.get_mut(name),
        }
    }

    /// Puts a timer in, in the place of one of the same name.
    pub(crate) fn insert(&mut self, name: TimerName, armed: Armed) {
        match self {
            TimerTable::Few(few) => match find(few, &name) {
                Ok(at) => few[at].1 = armed,
                Err(at) => {
                    few.reserve_exact(1);
                    few.insert(at, (name, armed));
                    if few.len() > LIST {
                        *self = TimerTable::Many(std::mem::take(few).into_iter().collect());
                    }
                }
            },
            TimerTable::Many(many) => {
                many.insert(name, armed);
            }
        }
    }

    pub(crate) fn remove(&mut self, name: &TimerName) -> Option<Armed> {
        let (removed, left) = match self {
            TimerTable::Few(few) => {
                let at = find(few, name).ok()?;
                (few.remove(at).1, few.len())
            }
            TimerTable::Many(many) => (many.remove(name)?, many.len()),
        };
        if left == 0 {
            *self = TimerTable::default(); // without any memory
        }
        Some(removed)
    }

    /// By name.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&TimerName, &Armed)> {
        let (few, many) = match self {
            TimerTable::Few(few) => (few.as_slice(), None),
            TimerTable::Many(many) => (&[][..], Some(many)),
        };
        let few = few.iter().map(|(name, armed)| (name, armed));
        few.chain(many.into_iter().flatten())
    }
}

/// Where a name is, or where it would be.
fn find(few: &[(TimerName, Armed)], name: &TimerName) -> Result<usize, usize> {
    few.binary_search_by(|(other, _)| other.cmp(name))
}
