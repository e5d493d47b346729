//! The state of the actors that fail, the same for all contenders: it fails
//! at every number but `LAST`, and counts how often it was built.

use std::fmt;

use crate::latch::{LAST, Latch};
use crate::tally::Tally;

/// What the failing handlers panic with.
const BROKEN: &str = "broken on purpose";

/// How a handler fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure {
    /// It returns an error, or does what the library has instead.
    Error,
    /// It panics.
    Panic,
}

/// What a `Fragile` is built from.
#[derive(Clone, Copy)]
pub struct Fragility {
    /// How it fails.
    pub failure: Failure,
    /// Whom it reports `LAST` to.
    pub latch: &'static Latch,
    /// How often one was built.
    pub built: &'static Tally,
}

/// What is lost in a failure, and built anew.
pub struct Fragile {
    fragility: Fragility,
    sum: u64,
}

/// A handler failed.
#[derive(Debug)]
pub struct Broken;

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(BROKEN)
    }
}

impl std::error::Error for Broken {}

impl Fragile {
    /// A new one.
    pub fn build(fragility: Fragility) -> Self {
        fragility.built.add(1);
        Self { fragility, sum: 0 }
    }

    /// Fails, unless it is the last.
    pub fn handle(&mut self, value: u64) -> Result<(), Broken> {
        self.sum = std::hint::black_box(self.sum.wrapping_add(value));
        if value == LAST {
            self.fragility.latch.arrive();
            return Ok(());
        }
        match self.fragility.failure {
            Failure::Error => Err(Broken),
            Failure::Panic => panic!("{BROKEN}"),
        }
    }
}

/// Has the panics of `Fragile` leave no trace, for every contender alike;
/// printing a million of them would be all that is measured. Others speak up.
pub fn panic_quietly() {
    let loud = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if info.payload_as_str() != Some(BROKEN) {
            loud(info);
        }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fails_at_all_but_the_last_and_counts_its_builds() {
        let (latch, built) = (Latch::leaked(), Tally::leaked());
        let failure = Failure::Error;
        let mut fragile = Fragile::build(Fragility { failure, latch, built });
        latch.arm(1);
        assert!(fragile.handle(1).is_err());
        assert!(fragile.handle(LAST).is_ok());
        latch.wait();
        assert_eq!(built.total(), 1);
    }
}
