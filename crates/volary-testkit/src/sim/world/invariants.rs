//! What must be true in a run: after every step, or whenever it rests.

use std::sync::{MutexGuard, PoisonError};

use super::World;

/// When an invariant is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    EveryStep,
    AtRest,
}

pub(super) struct Invariant {
    name: String,
    holds: Box<dyn FnMut() -> Result<(), String> + Send>,
}

impl World {
    pub(crate) fn add_invariant(&self, when: When, name: String, holds: Box<dyn FnMut() -> Result<(), String> + Send>) {
        let invariant = Invariant { name, holds };
        self.invariants(when).push(invariant);
    }

    pub(super) fn invariants(&self, when: When) -> MutexGuard<'_, Vec<Invariant>> {
        let place = match when {
            When::EveryStep => &self.invariants,
            When::AtRest => &self.at_rest,
        };
        place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn check_invariants(&self, when: When) {
        let mut invariants = std::mem::take(&mut *self.invariants(when));
        for invariant in &mut invariants {
            if let Err(why) = (invariant.holds)() {
                let rest = match when {
                    When::EveryStep => "",
                    When::AtRest => " at rest",
                };
                self.fail(format!("`{}` does not hold{rest}: {why}", invariant.name));
                break;
            }
        }
        let mut kept = self.invariants(when);
        invariants.append(&mut kept); // some may have been added meanwhile
        *kept = invariants;
    }

    /// Why a run that went well says nothing: what must be true at rest was never looked at.
    pub(super) fn unseen(&self, ever_rested: bool) -> Option<String> {
        let unseen = self.invariants(When::AtRest);
        let first = unseen.first().filter(|_| !ever_rested)?;
        Some(format!(
            "`{}` was never looked at: the scenario ended before everything was at rest; let it sleep at its end",
            first.name
        ))
    }
}
