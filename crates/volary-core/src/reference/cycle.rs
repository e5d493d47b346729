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
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/cycle.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, cycle) = cycle().await?;
/// println!("{cycle}"); // /user/a asks /user/b asks /user/a: none of them can answer
/// # assert!(cycle.to_string().contains("/user/a asks /user/b"));
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Cycle(Box<[String]>);

impl Cycle {
    /// The paths of the actors in the ring, beginning with the asker.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/cycle.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, cycle) = cycle().await?;
    /// assert_eq!(cycle.members().len(), 2);
    /// assert!(cycle.members().contains(&"/user/a".to_owned()));
    /// # system.stop().await?; Ok(()) }
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
        write!(
            f,
            "{}: none of them can answer",
            self.0.first().map_or("?", |path| path)
        )
    }
}

impl fmt::Debug for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Writes down that a handler of `asker` waits for `target`.
pub(crate) fn note(asker: &Header, target: u64) {
    asker.with_links(|links| links.waits.push(target));
}

/// The wait is over.
pub(crate) fn forget(asker: &Header, target: u64) {
    asker.with_links(|links| {
        if let Some(at) = links.waits.iter().position(|other| *other == target) {
            links.waits.swap_remove(at);
        }
    });
}

/// Whom an actor waits for: the one it runs where it stands, and those it has gone to sleep for.
fn waits_of(actor: &Header, into: &mut Vec<u64>) {
    let inline = actor.waits_for.load(SeqCst);
    if inline != 0 {
        into.push(inline);
    }
    if let Some(extras) = actor.extras_if_any() {
        into.extend(&extras.links.lock().waits);
    }
}

/// Follows the notes from `target`; the ring, if they lead back to `asker`.
pub(crate) fn find(asker: &Header, target: &Header) -> Option<Cycle> {
    if !std::ptr::eq(asker.system(), target.system()) {
        return None; // a ring through several systems is left to the deadline
    }
    if target.id == asker.id {
        return Some(Cycle([asker.path().to_string()].into()));
    }
    let mut open = Vec::new();
    waits_of(target, &mut open);
    if open.is_empty() {
        return None; // nearly always
    }
    search(asker, target, open)
}

/// Looks in every direction, remembering the way, so that the ring can be named.
#[cold]
fn search(asker: &Header, target: &Header, first: Vec<u64>) -> Option<Cycle> {
    let directory = asker.system().directory();
    // Each with the place of the one who waits for it.
    let mut seen: Vec<(u64, usize)> = vec![(target.id, usize::MAX)];
    let mut next = first;
    for at in 0..LONGEST {
        // Whoever is waited for is looked at, however many they are; followed are only so many.
        if next.contains(&asker.id) {
            return Some(name(asker, &seen, at));
        }
        for id in next.drain(..) {
            if seen.len() < LONGEST - 1 && !seen.iter().any(|(known, _)| *known == id) {
                seen.push((id, at));
            }
        }
        let (id, _) = *seen.get(at + 1)?;
        if let Some(actor) = directory.get(id) {
            waits_of(&actor, &mut next);
        }
    }
    None
}

/// The way to the one at `last`, who waits for the asker.
fn name(asker: &Header, seen: &[(u64, usize)], last: usize) -> Cycle {
    let directory = asker.system().directory();
    let mut ring = Vec::new();
    let mut at = last;
    while let Some((id, before)) = seen.get(at) {
        ring.extend(directory.get(*id).map(|actor| actor.path().to_string()));
        at = *before;
    }
    ring.push(asker.path().to_string());
    ring.reverse();
    Cycle(ring.into())
}
