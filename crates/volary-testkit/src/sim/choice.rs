//! Who is next: the decisions of a run, drawn from its seed.

use std::collections::BTreeMap;

/// A stream of random numbers (splitmix64).
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    /// Different `stream`s of one seed have nothing to do with each other.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let mut random = Random(seed ^ stream.wrapping_mul(0xd1b5_4a32_d192_ed03));
        random.next();
        random
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`, which is at least one.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }

    /// True with this probability.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        // 53 bits are what an `f64` can tell apart.
        probability > 0.0 && ((self.next() >> 11) as f64) < probability * (1_u64 << 53) as f64
    }
}

/// How the next step is chosen among those that are possible.
///
/// ```
/// use volary_testkit::sim::Strategy;
/// assert_eq!(Strategy::default(), Strategy::Random);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Strategy {
    /// Each with the same chance: good at what needs many things to happen in some order.
    #[default]
    Random,
    /// Everybody has a priority, and the highest one runs for as long as it can; at `changes` moments of a run the one
    /// that runs falls behind all others. Good at what needs somebody to be slow for a long time. (After Burckhardt and
    /// others, "A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs".)
    Priorities {
        /// How many such moments.
        changes: u32,
    },
}

/// Within how many steps the changes of priority lie.
const HORIZON: u64 = 2_000;

pub(crate) struct Chooser {
    strategy: Strategy,
    random: Random,
    priorities: BTreeMap<u64, u64>,
    /// Steps at which priorities change, last first.
    changes: Vec<u64>,
    steps: u64,
    /// The next priority to fall back to: lower than all before.
    lowest: u64,
}

impl Chooser {
    pub(crate) fn new(seed: u64, strategy: Strategy) -> Self {
        let mut random = Random::new(seed, 1);
        let mut changes = Vec::new();
        if let Strategy::Priorities { changes: count } = strategy {
            changes = (0..count).map(|_| random.below(HORIZON)).collect();
            changes.sort_unstable_by(|a, b| b.cmp(a));
        }
        Chooser {
            strategy,
            random,
            priorities: BTreeMap::new(),
            changes,
            steps: 0,
            lowest: 1 << 32,
        }
    }

    pub(crate) fn random(&mut self) -> &mut Random {
        &mut self.random
    }

    /// Chooses one of these; each is known by a number of its own.
    pub(crate) fn pick(&mut self, among: impl ExactSizeIterator<Item = u64>) -> usize {
        let count = among.len();
        match self.strategy {
            Strategy::Random => self.random.below(count as u64) as usize,
            Strategy::Priorities { .. } => self.pick_highest(among),
        }
    }

    fn pick_highest(&mut self, among: impl Iterator<Item = u64>) -> usize {
        self.steps += 1;
        let mut best = (0, 0, 0);
        for (index, key) in among.enumerate() {
            let random = &mut self.random;
            // Above every priority that somebody has fallen back to.
            let priority = *self.priorities.entry(key).or_insert_with(|| random.next() | 1 << 63);
            if priority >= best.1 {
                best = (index, priority, key);
            }
        }
        if self.changes.last().is_some_and(|at| *at <= self.steps) {
            self.changes.pop();
            self.lowest -= 1;
            self.priorities.insert(best.2, self.lowest);
        }
        best.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_draws_the_same_numbers_and_streams_differ() {
        let draw = |seed, stream| {
            let mut random = Random::new(seed, stream);
            (0..8).map(|_| random.next()).collect::<Vec<_>>()
        };
        assert_eq!(draw(7, 1), draw(7, 1));
        assert_ne!(draw(7, 1), draw(7, 2));
        assert_ne!(draw(7, 1), draw(8, 1));
    }

    #[test]
    fn a_chance_is_what_it_says() {
        let mut random = Random::new(1, 1);
        assert!(!random.chance(0.0));
        assert!(random.chance(1.0));
        let hits = (0..10_000).filter(|_| random.chance(0.25)).count();
        assert!((2_200..2_800).contains(&hits), "{hits}");
    }

    #[test]
    fn with_priorities_one_runs_until_it_falls_behind() {
        let mut chooser = Chooser::new(3, Strategy::Priorities { changes: 1 });
        let mut order = Vec::new();
        for _ in 0..HORIZON + 10 {
            order.push(chooser.pick([10, 20, 30].into_iter()));
        }
        order.dedup();
        assert_eq!(order.len(), 2, "one change: {order:?}");
    }
}
