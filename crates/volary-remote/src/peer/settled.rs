//! Which messages have left their mailboxes: a first run without gaps, and what is settled beyond it.
//!
//! ```text
//!   1 … up_to │ old: runs, by their first number        │ recent: a bit for each
//!   all       │ 70…81   90…4711                         │ 1101 1111 0101 …
//! ```
//!
//! Many actors take their messages in any order, so that nearly every number of late is a run of its own: there are bits
//! for these. A message that waits for hours is followed by a run of millions: these are kept as their two ends.

use std::collections::{BTreeMap, VecDeque};
use std::ops::RangeInclusive;

/// How many numbers have a bit, in words of 64.
const RECENT: usize = 2_048;
const BITS: u64 = u64::BITS as u64;

/// Sequence numbers that are settled, of one connection; its first is 1. Pure bookkeeping.
#[derive(Debug, Default)]
pub(crate) struct Settled {
    /// Everything up to here is.
    up_to: u64,
    /// Runs behind that, from first to last, of numbers that have no bits any more.
    old: Runs,
    /// Of these runs the parts that were not said. What was is not said again, or a run that grows for long behind one
    /// message that is stuck would cost ever more.
    old_news: Runs,
    /// Numbers from `first_word` times 64 on.
    recent: VecDeque<Word>,
    first_word: u64,
    /// No word of `recent` before this one has news.
    quiet: usize,
    /// How many were settled since it was last said.
    unsaid: u64,
}

/// 64 numbers.
#[derive(Debug, Default, Clone, Copy)]
struct Word {
    settled: u64,
    /// Of these, what was not said.
    news: u64,
}

impl Settled {
    pub(crate) fn settle(&mut self, number: u64) {
        self.settle_run(number..=number);
    }

    /// The same for numbers one behind the other.
    #[inline]
    pub(crate) fn settle_run(&mut self, run: RangeInclusive<u64>) {
        if *run.start() == self.up_to + 1 && self.recent.is_empty() && self.old.0.is_empty() {
            // Nearly always, where few actors have mail.
            self.unsaid += run.end() + 1 - run.start();
            self.up_to = *run.end();
            return;
        }
        self.settle_beyond(run);
    }

    /// How many were settled since it was last said.
    pub(crate) fn unsaid(&self) -> u64 {
        self.unsaid
    }

    fn settle_beyond(&mut self, run: RangeInclusive<u64>) {
        let (mut first, last) = ((*run.start()).max(self.up_to + 1), *run.end());
        while first <= last {
            // As many as have their bits in one word.
            let end = last.min(first | (BITS - 1));
            self.settle_word(first, end);
            first = (end + 1).max(self.up_to + 1);
        }
    }

    /// These have their bits in one word.
    fn settle_word(&mut self, first: u64, last: u64) {
        if self.recent.is_empty() {
            let next = (self.up_to + 1) / BITS;
            // Old ones have no bits again.
            self.first_word = if self.old.0.is_empty() {
                next
            } else {
                next.max(self.first_word)
            };
        }
        if first / BITS < self.first_word {
            for number in first..=last {
                if self.old.insert(number, number) {
                    self.old_news.insert(number, number);
                    self.unsaid += 1;
                }
            }
        } else {
            let word = self.word_of(first);
            let entry = &mut self.recent[word];
            let bits = (u64::MAX >> (BITS - 1 - (last - first))) << (first % BITS) & !entry.settled;
            entry.settled |= bits;
            entry.news |= bits;
            self.unsaid += u64::from(bits.count_ones());
            self.quiet = self.quiet.min(word);
        }
        if first == self.up_to + 1 {
            self.advance();
        }
    }

    /// Where the word of a number is. If it is far from the others, the first of these become old.
    fn word_of(&mut self, number: u64) -> usize {
        let word = number / BITS;
        let last = self.first_word + RECENT as u64 - 1;
        if word > last {
            for _ in 0..(word - last).min(self.recent.len() as u64) {
                self.age();
            }
            if self.recent.is_empty() {
                self.first_word = word;
            }
        }
        let at = (word - self.first_word) as usize;
        if at >= self.recent.len() {
            self.recent.resize(at + 1, Word::default());
        }
        at
    }

    /// The first of the recent words becomes old.
    fn age(&mut self) {
        let Some(word) = self.take_first() else { return };
        let start = (self.first_word - 1) * BITS;
        for (bits, into) in [(word.settled, &mut self.old), (word.news, &mut self.old_news)] {
            // Those that the first run has reached are among them.
            runs_of(bits, start).for_each(|(first, last)| {
                if last > self.up_to {
                    into.insert(first.max(self.up_to + 1), last);
                }
            });
        }
    }

    fn take_first(&mut self) -> Option<Word> {
        let word = self.recent.pop_front()?;
        self.first_word += 1;
        self.quiet = self.quiet.saturating_sub(1);
        Some(word)
    }

    /// The first run goes as far as there are no gaps.
    fn advance(&mut self) {
        loop {
            let next = self.up_to + 1;
            if let Some(last) = self.old.take_from(next) {
                self.up_to = last;
                self.old_news.take_up_to(last);
                continue;
            }
            let Some(at) = (next / BITS).checked_sub(self.first_word) else {
                return;
            };
            let Some(word) = self.recent.get(at as usize) else {
                return;
            };
            let reached = u64::from((word.settled >> (next % BITS)).trailing_ones());
            if reached == 0 {
                return;
            }
            self.up_to += reached;
            while !self.recent.is_empty() && (self.first_word + 1) * BITS <= self.up_to + 1 {
                self.take_first();
            }
            if self.recent.len() == 1 && self.recent[0].settled >> ((self.up_to + 1) % BITS) == 0 {
                self.recent.clear(); // there are no gaps any more
                self.quiet = 0;
            }
        }
    }

    /// How many runs there are beyond the first, of those that are old.
    pub(crate) fn runs(&self) -> usize {
        self.old.0.len()
    }

    /// Whether anything is to be said.
    pub(crate) fn has_news(&self) -> bool {
        self.unsaid > 0
    }

    /// What is to be said, if anything: the first run, and up to `most` runs beyond it that are news. If there are more,
    /// they are to be said next.
    pub(crate) fn say(&mut self, most: usize) -> Option<(u64, Vec<RangeInclusive<u64>>)> {
        if self.unsaid == 0 {
            return None;
        }
        let mut news = Vec::new();
        while news.len() < most
            && let Some((first, last)) = self.old_news.0.pop_first()
        {
            news.push(first..=last);
        }
        while news.len() < most
            && let Some((first, last)) = self.next_recent()
        {
            match news.last_mut() {
                // Of two words, or the last of what is old.
                Some(run) if *run.end() + 1 == first => *run = *run.start()..=last,
                _ => news.push(first..=last),
            }
        }
        let all = self.old_news.0.is_empty() && self.word_with_news().is_none();
        self.unsaid = u64::from(!all);
        Some((self.up_to, news))
    }

    /// The next run of one word that is news; it is said.
    fn next_recent(&mut self) -> Option<(u64, u64)> {
        let start = (self.first_word + self.word_with_news()? as u64) * BITS;
        let word = &mut self.recent[self.quiet];
        let (first, last) = runs_of(word.news, start).next()?;
        word.news &= u64::MAX.checked_shl((last - start + 1) as u32).unwrap_or(0);
        Some((first, last))
    }

    /// The first word that has news beyond the first run, with which the others are said.
    fn word_with_news(&mut self) -> Option<usize> {
        while let Some(word) = self.recent.get_mut(self.quiet) {
            let start = (self.first_word + self.quiet as u64) * BITS;
            let reached = (self.up_to + 1).saturating_sub(start).min(BITS);
            word.news &= u64::MAX.checked_shl(reached as u32).unwrap_or(0);
            if word.news != 0 {
                return Some(self.quiet);
            }
            self.quiet += 1;
        }
        None
    }
}

/// Runs of numbers, from first to last.
#[derive(Debug, Default)]
struct Runs(BTreeMap<u64, u64>);

impl Runs {
    /// Adds numbers of which either all or none are in there; false if they are.
    fn insert(&mut self, first: u64, last: u64) -> bool {
        let below = self.0.range(..=first).next_back();
        let start = match below {
            Some((_, &end)) if end >= first => return false,
            Some((&start, &end)) if end + 1 == first => start,
            _ => first,
        };
        let end = self.0.remove(&(last + 1)).unwrap_or(last);
        self.0.insert(start, end);
        true
    }

    /// Takes out the run that begins with this number; its last.
    fn take_from(&mut self, first: u64) -> Option<u64> {
        if self.0.is_empty() {
            return None;
        }
        self.0.remove(&first)
    }

    /// Takes out everything up to a number that no run goes beyond.
    fn take_up_to(&mut self, last: u64) {
        while let Some(run) = self.0.first_entry()
            && *run.key() <= last
        {
            run.remove();
        }
    }
}

/// The runs among 64 numbers, of which `start` is the first.
fn runs_of(mut bits: u64, start: u64) -> impl Iterator<Item = (u64, u64)> {
    std::iter::from_fn(move || {
        if bits == 0 {
            return None;
        }
        let first = bits.trailing_zeros();
        let length = (bits >> first).trailing_ones();
        bits &= u64::MAX.checked_shl(first + length).unwrap_or(0);
        let first = start + u64::from(first);
        Some((first, first + u64::from(length) - 1))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use volary_wire::native::Confirm;

    use super::*;

    #[test]
    fn r8_runs_are_joined_and_said_once() {
        let mut settled = Settled::default();
        assert_eq!(settled.say(8), None);
        for number in [2, 1, 4, 3, 5, 7, 9, 8, 12] {
            settled.settle(number);
        }
        assert_eq!(settled.say(8), Some((5, vec![7..=9, 12..=12])));
        assert_eq!(settled.say(8), None);
        settled.settle(8);
        assert_eq!(settled.unsaid(), 0, "again says nothing");
        settled.settle(6);
        assert_eq!(settled.say(8), Some((9, vec![])), "12 was said");
        settled.settle(11);
        settled.settle(10);
        assert_eq!(settled.say(8), Some((12, vec![])));
    }

    #[test]
    fn r8_everything_is_said_however_many_gaps_there_are() {
        let mut settled = Settled::default();
        let stuck = |number: u64| number % 2 == 1 && number < 200;
        (1..=1_000).filter(|number| !stuck(*number)).for_each(|number| {
            settled.settle(number);
        });
        let mut said = BTreeSet::new();
        while let Some((up_to, runs)) = settled.say(8) {
            assert!(runs.len() <= 8);
            said.extend(1..=up_to);
            runs.into_iter().for_each(|run| said.extend(run));
        }
        assert_eq!(said.len(), 900, "all but those that are stuck");
        settled.settle(51);
        assert_eq!(settled.say(8), Some((0, vec![51..=51])), "no more than what is new");
    }

    #[test]
    fn r8_whatever_is_said_fits_a_confirmation() {
        let mut settled = Settled::default();
        let taken: BTreeSet<u64> = (1..=5_000).map(|number| 2 * number).collect();
        taken.iter().for_each(|number| {
            settled.settle(*number);
        });
        let mut said = BTreeSet::new();
        while let Some((up_to, runs)) = settled.say(Confirm::MAX_RANGES) {
            let confirm = Confirm::new(up_to, &runs).expect("a confirmation");
            confirm.beyond().for_each(|run| said.extend(run));
        }
        assert_eq!(said, taken);
    }

    #[test]
    fn r8_a_message_that_is_stuck_costs_no_more_for_each_that_follows() {
        let mut settled = Settled::default();
        let far = 1_000_000;
        (2..=far).for_each(|number| {
            settled.settle(number);
        });
        assert_eq!(settled.runs(), 1);
        assert!(settled.recent.len() <= RECENT);
        let said: u64 = std::iter::from_fn(|| settled.say(8))
            .flat_map(|(_, runs)| runs)
            .map(|run| run.end() - run.start() + 1)
            .sum();
        assert_eq!(said, far - 1);
        settled.settle(1);
        assert_eq!(settled.say(8), Some((far, vec![])));
        assert!(settled.recent.is_empty());
    }

    #[test]
    fn r8_a_number_that_is_far_away_takes_little_memory() {
        let mut settled = Settled::default();
        let far = [1 << 20, 1 << 40, (1 << 40) + 2, (1 << 46) - 1, 5, 3];
        far.into_iter().for_each(|number| {
            settled.settle(number);
        });
        assert!(settled.recent.len() <= RECENT);
        let (up_to, runs) = settled.say(8).unwrap();
        let said: Vec<_> = runs.into_iter().map(|run| (*run.start(), *run.end())).collect();
        assert_eq!(up_to, 0);
        let mut all = far.map(|number| (number, number));
        all.sort_unstable();
        assert_eq!(said, all);
    }

    /// The same as a set of numbers, in any order, with gaps near and far, numbers that come twice, and words between.
    #[test]
    fn r8_whatever_comes_is_said_once() {
        for seed in 0..60 {
            let mut random = Random(seed);
            let mut settled = Settled::default();
            let (mut came, mut said) = (BTreeSet::new(), BTreeSet::new());
            let spread = [3, 70, 1_000, 400_000][seed as usize % 4];
            let mut next = 1;
            for _ in 0..1_000 {
                let number = match random.below(8) {
                    0 => 1 + random.below(next + spread),
                    1 => next + random.below(spread),
                    _ => next,
                };
                // One, or some that were taken together.
                let last = number + [0, 0, 0, 15, random.below(200)][random.below(5) as usize];
                next = next.max(last + 1);
                settled.settle_run(number..=last);
                came.extend(number..=last);
                if random.below(20) == 0 {
                    hear(&mut settled, &came, &mut said, 1 + random.below(6) as usize);
                }
            }
            // What is missing below comes at last.
            let gaps: Vec<u64> = (1..*came.last().unwrap())
                .filter(|n| !came.contains(n))
                .take(3_000)
                .collect();
            for gap in gaps {
                settled.settle(gap);
                came.insert(gap);
            }
            while hear(&mut settled, &came, &mut said, 4) {}
            let up_to = settled.up_to;
            let beyond: BTreeSet<u64> = came.iter().copied().filter(|number| *number > up_to).collect();
            assert!(beyond.is_subset(&said), "seed {seed}");
            assert!(!came.contains(&(up_to + 1)), "seed {seed}: the first run ends at a gap");
        }
    }

    /// Says something; whether there was anything.
    fn hear(settled: &mut Settled, came: &BTreeSet<u64>, said: &mut BTreeSet<u64>, most: usize) -> bool {
        let Some((up_to, runs)) = settled.say(most) else {
            return false;
        };
        assert!(runs.len() <= most);
        assert!(came.range(..=up_to).count() as u64 == up_to, "all up to {up_to} came");
        for number in runs.into_iter().flatten() {
            assert!(came.contains(&number), "{number} came");
            assert!(number > up_to, "{number} is in the first run");
            assert!(said.insert(number), "{number} is said once");
        }
        true
    }

    #[test]
    fn r8_any_order_settles_all() {
        let mut order: Vec<u64> = (1..=200).collect();
        let mut random = Random(7);
        for at in (1..order.len()).rev() {
            order.swap(at, random.below(at as u64 + 1) as usize);
        }
        let mut settled = Settled::default();
        order.iter().for_each(|number| {
            settled.settle(*number);
        });
        assert_eq!(settled.say(8), Some((200, vec![])));
    }

    struct Random(u64);

    impl Random {
        fn below(&mut self, bound: u64) -> u64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % bound
        }
    }
}
