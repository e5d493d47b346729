//! Which incarnation of a peer is spoken to, and which never again.
//!
//! Incarnations grow with time, as a rule: they are read from a clock, which may have been set back when a node starts
//! again. Whoever calls must therefore be as new as the one that is known; but who answers a call is the one that lives
//! there, whatever its number, unless it was said to be over.

use std::collections::VecDeque;

/// How many that are over are remembered. Older ones are not among the living.
const REMEMBERED: usize = 64;

#[derive(Debug, Default)]
pub(crate) struct Lives {
    /// The one that is spoken to; 0 before the first time.
    present: u64,
    /// Those whose actors were said to be gone: they would speak after their end.
    over: VecDeque<u64>,
}

impl Lives {
    /// Whether this one is, or may be, the one that is spoken to.
    pub(crate) fn admits(&self, incarnation: u64) -> bool {
        incarnation >= self.present && !self.is_over(incarnation)
    }

    pub(crate) fn is_over(&self, incarnation: u64) -> bool {
        self.over.contains(&incarnation)
    }

    /// Whether there is one that is not to be spoken to again.
    pub(crate) fn has_ended(&self) -> bool {
        !self.over.is_empty()
    }

    /// This one is spoken to from now on; which one is over by that.
    pub(crate) fn begin(&mut self, incarnation: u64) -> Option<u64> {
        let before = std::mem::replace(&mut self.present, incarnation);
        let other = (before != 0 && before != incarnation).then_some(before)?;
        self.end(other);
        Some(other)
    }

    /// The present one is said to be lost.
    pub(crate) fn lose(&mut self) {
        self.end(self.present);
    }

    /// The actors of this one are said to be gone.
    pub(crate) fn end(&mut self, incarnation: u64) {
        if incarnation == 0 || self.is_over(incarnation) {
            return;
        }
        if self.over.len() == REMEMBERED {
            self.over.pop_front();
        }
        self.over.push_back(incarnation);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r8_the_last_life_and_later_ones_are_admitted_and_none_that_is_over() {
        let mut lives = Lives::default();
        assert!(lives.admits(1));
        assert_eq!(lives.begin(5), None);
        assert!(lives.admits(5) && lives.admits(6) && !lives.admits(4));
        assert_eq!(lives.begin(5), None, "the same again");
        lives.lose();
        assert!(!lives.admits(5) && lives.is_over(5) && lives.admits(6));
        // Its clock was set back.
        assert!(!lives.is_over(3));
        assert_eq!(lives.begin(3), Some(5));
        assert!(lives.admits(3) && !lives.admits(5));
        for life in 10..200 {
            lives.begin(life);
        }
        assert_eq!(lives.over.len(), REMEMBERED);
    }
}
