//! What interposed system functions answer while a run goes on: its seed and its clocks. The functions themselves are in
//! [`crate::interposed`]; without them nobody asks, and nothing here has an effect.
//!
//! All of it is a few numbers of the thread, without a lock or a destructor: a clock is read in the oddest places.

use std::cell::Cell;
use std::hash::RandomState;
use std::time::Duration;

use super::choice::Random;

thread_local! {
    /// The bytes of the run that goes on here.
    static CHANCE: Cell<Option<Random>> = const { Cell::new(None) };
    /// The clocks of the code that runs here, and how often they were looked at.
    static CLOCKS: Cell<Option<(Clocks, u64)>> = const { Cell::new(None) };
}

/// Different from the streams of the chooser and the faults, which must not depend on how often others draw.
const STREAM: u64 = 3;

/// What the clocks of a node show.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clocks {
    /// Since the machine was started.
    pub(crate) monotonic: Duration,
    /// Since 1970.
    pub(crate) calendar: Duration,
}

/// While this lives, a run goes on on this thread.
pub(crate) struct Seeded {
    outer: Option<Random>,
}

impl Seeded {
    pub(crate) fn new(seed: u64) -> Self {
        let random = Random::new(seed, STREAM);
        let outer = CHANCE.replace(Some(random.clone()));
        // The first map of a thread draws the keys of all. A thread that has them draws less, and must not be ahead.
        let _keys = RandomState::new();
        CHANCE.set(Some(random));
        Seeded { outer }
    }
}

impl Drop for Seeded {
    fn drop(&mut self) {
        CHANCE.set(self.outer.take());
    }
}

/// While this lives, code of the run goes on on this thread, and these are its clocks. Between its steps the simulator
/// itself works, on the real ones.
pub(crate) struct Shown {
    outer: Option<(Clocks, u64)>,
}

impl Shown {
    pub(crate) fn new(clocks: Clocks) -> Self {
        Shown {
            outer: CLOCKS.replace(Some((clocks, 0))),
        }
    }

    /// How far they were moved by being read.
    pub(crate) fn passed(&self) -> Duration {
        CLOCKS.get().map_or(Duration::ZERO, |(_, reads)| passed(reads))
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        CLOCKS.set(self.outer);
    }
}

fn passed(reads: u64) -> Duration {
    Duration::from_micros(reads / LOOKS_PER_MICROSECOND)
}

/// Fills `bytes` from the seed, if a run goes on on this thread.
pub(crate) fn fill(bytes: &mut [u8]) -> bool {
    CHANCE.with(|chance| {
        let Some(mut random) = chance.take() else {
            return false;
        };
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&random.next().to_le_bytes()[..chunk.len()]);
        }
        chance.set(Some(random));
        true
    })
}

/// Whoever waits for a clock in a loop sees it move; a look now and then, as a lock takes that was contended by chance,
/// changes nothing.
const LOOKS_PER_MICROSECOND: u64 = 64;

/// What the clocks show, if code of a run goes on on this thread.
pub(crate) fn clocks() -> Option<Clocks> {
    let (clocks, reads) = CLOCKS.get()?;
    CLOCKS.set(Some((clocks, reads + 1)));
    let passed = passed(reads);
    Some(Clocks {
        monotonic: clocks.monotonic + passed,
        calendar: clocks.calendar + passed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_run_is_given_bytes_and_each_seed_its_own() {
        let draw = |seed| {
            let _seeded = Seeded::new(seed);
            let mut bytes = [0; 13];
            assert!(fill(&mut bytes));
            bytes
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        assert!(!fill(&mut [0; 4]), "the run is over");
    }

    #[test]
    fn clocks_move_when_they_are_read_and_are_gone_afterwards() {
        let at = Duration::from_secs(1);
        let shown = Shown::new(Clocks {
            monotonic: at,
            calendar: at,
        });
        let read = || clocks().map(|clocks| clocks.monotonic);
        assert_eq!(read(), read());
        let early = read();
        for _ in 0..1_000 {
            let _ = read();
        }
        assert!(early < read());
        assert!(shown.passed() > Duration::from_micros(10));
        drop(shown);
        assert!(clocks().is_none());
    }
}
