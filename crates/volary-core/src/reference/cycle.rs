//! Finding actors that wait for each other.
//!
//! A handler that waits for an answer writes down whom it asked. Before it sleeps it follows these
//! notes from the actor it asked; if they lead back to itself, nobody in the ring would ever answer
//! and the ask ends at once, naming the ring. Each writes before it follows, so of two that close a
//! ring at the same time at least one sees it.

use std::fmt;

use crate::cell::Header;
use crate::sync::atomic::Ordering::*;

/// Longer rings are left to the deadline.
const LONGEST: usize = 64;

/// Actors that would have waited for each other for ever, by path; the first is the asker.
///
/// ```
/// # use volary_core::{AskError};
/// # fn show(error: AskError) {
/// if let AskError::Cycle(cycle) = error {
///     println!("{cycle}"); // /user/a asks /user/b asks /user/a: …
/// }
/// # }
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Cycle(Box<[String]>);

impl Cycle {
    /// The paths of the actors in the ring, beginning with the asker.
    ///
    /// ```
    /// # fn show(cycle: &volary_core::Cycle) {
    /// assert!(cycle.members().len() >= 1);
    /// # }
    /// ```
    #[must_use]
    pub fn members(&self) -> &[String] {
        &self.0
    }
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for path in &self.0 {
            write!(f, "{path} asks ")?;
        }
        write!(f, "{}: none of them can answer", self.0.first().map_or("?", |path| path))
    }
}

impl fmt::Debug for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Follows the notes from `target`; the ring, if they lead back to `asker`.
pub(crate) fn find(asker: &Header, target: &Header) -> Option<Cycle> {
    let mut last = target.id;
    let mut next = target.waits_for.load(SeqCst);
    let directory = asker.system().directory();
    let mut steps = 1;
    while last != asker.id {
        if next == 0 || steps == LONGEST {
            return None;
        }
        last = next;
        next = directory.get(last)?.waits_for.load(SeqCst);
        steps += 1;
    }
    Some(name(asker, target))
}

/// Goes round once more, for the names. Somebody in the ring may have moved on; then it is shorter.
#[cold]
fn name(asker: &Header, target: &Header) -> Cycle {
    let directory = asker.system().directory();
    let mut ring = vec![asker.path().to_string()];
    let mut next = target.id;
    while next != asker.id && ring.len() < LONGEST {
        let Some(actor) = directory.get(next) else { break };
        ring.push(actor.path().to_string());
        next = actor.waits_for.load(SeqCst);
    }
    Cycle(ring.into())
}
