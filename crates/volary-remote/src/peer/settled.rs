//! Which messages have left their mailboxes: a first run without gaps, and runs beyond it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

/// Sequence numbers that are settled, of one connection; its first is 1. Pure bookkeeping.
#[derive(Debug, Default)]
pub(crate) struct Settled {
    /// Everything up to here is.
    up_to: u64,
    /// Runs behind that, from first to last.
    beyond: BTreeMap<u64, u64>,
    /// Those of these runs, by their first, that were not said as they are now. All that is settled is said in the end,
    /// however many gaps there are, or messages behind one that is stuck would never be confirmed.
    changed: BTreeSet<u64>,
    /// How many were settled since it was last said.
    unsaid: u64,
}

impl Settled {
    /// How many are to be said.
    pub(crate) fn settle(&mut self, number: u64) -> u64 {
        if number <= self.up_to {
            return self.unsaid;
        }
        if number == self.up_to + 1 && self.beyond.is_empty() {
            self.unsaid += 1;
            self.up_to = number; // nearly always
            return self.unsaid;
        }
        let below = self
            .beyond
            .range(..number)
            .next_back()
            .map(|(first, last)| (*first, *last));
        let first = match below {
            Some((_, last)) if last >= number => return self.unsaid,
            Some((first, last)) if last + 1 == number => first,
            _ => number,
        };
        self.unsaid += 1;
        let last = match self.beyond.remove(&(number + 1)) {
            Some(last) => {
                self.changed.remove(&(number + 1));
                last
            }
            None => number,
        };
        self.beyond.insert(first, last);
        self.changed.insert(first);
        if let Some((&first, &last)) = self.beyond.first_key_value()
            && first == self.up_to + 1
        {
            self.up_to = last;
            self.beyond.remove(&first);
            self.changed.remove(&first);
        }
        self.unsaid
    }

    /// How many runs there are beyond the first.
    pub(crate) fn runs(&self) -> usize {
        self.beyond.len()
    }

    /// What is to be said, if anything: the first run, and up to `most` runs beyond it that are news. If there are more,
    /// they are to be said next.
    pub(crate) fn say(&mut self, most: usize) -> Option<(u64, Vec<RangeInclusive<u64>>)> {
        if self.unsaid == 0 {
            return None;
        }
        let mut news = Vec::new();
        while news.len() < most
            && let Some(first) = self.changed.pop_first()
        {
            news.extend(self.beyond.get(&first).map(|last| first..=*last));
        }
        self.unsaid = self.changed.len() as u64;
        Some((self.up_to, news))
    }
}

#[cfg(test)]
mod tests {
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
        assert_eq!(settled.settle(8), 0, "again says nothing");
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
        let mut said = std::collections::BTreeSet::new();
        while let Some((up_to, runs)) = settled.say(8) {
            assert!(runs.len() <= 8);
            said.extend(1..=up_to);
            runs.into_iter().for_each(|run| said.extend(run));
        }
        assert_eq!(said.len(), 900, "all but those that are stuck");
        settled.settle(51);
        assert_eq!(settled.say(8), Some((0, vec![50..=52])), "no more than what is new");
    }

    #[test]
    fn r8_any_order_settles_all() {
        let mut order: Vec<u64> = (1..=200).collect();
        let mut random = 7_u64;
        for at in (1..order.len()).rev() {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            order.swap(at, (random >> 33) as usize % (at + 1));
        }
        let mut settled = Settled::default();
        order.iter().for_each(|number| {
            settled.settle(*number);
        });
        assert_eq!(settled.say(8), Some((200, vec![])));
    }
}
