//! Which messages have left their mailboxes: a first run without gaps, and runs beyond it.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Sequence numbers that are settled, of one connection; its first is 1. Pure bookkeeping.
#[derive(Debug, Default)]
pub(crate) struct Settled {
    /// Everything up to here is.
    up_to: u64,
    /// Runs behind that, from first to last.
    beyond: BTreeMap<u64, u64>,
    /// Of these runs the parts that were not said. What was is not said again, or a run that grows for long behind one
    /// message that is stuck would cost ever more.
    news: BTreeMap<u64, u64>,
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
        if !join(&mut self.beyond, number) {
            return self.unsaid;
        }
        join(&mut self.news, number);
        self.unsaid += 1;
        if let Some((&first, &last)) = self.beyond.first_key_value()
            && first == self.up_to + 1
        {
            self.up_to = last;
            self.beyond.remove(&first);
            while let Some(news) = self.news.first_entry()
                && *news.key() <= last
            {
                news.remove();
            }
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
            && let Some((first, last)) = self.news.pop_first()
        {
            news.push(first..=last);
        }
        self.unsaid = self.news.len() as u64;
        Some((self.up_to, news))
    }
}

/// Adds a number to runs, from first to last; false if it is in one already.
fn join(runs: &mut BTreeMap<u64, u64>, number: u64) -> bool {
    let below = runs.range(..=number).next_back();
    let first = match below {
        Some((_, &last)) if last >= number => return false,
        Some((&first, &last)) if last + 1 == number => first,
        _ => number,
    };
    let last = runs.remove(&(number + 1)).unwrap_or(number);
    runs.insert(first, last);
    true
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
        assert_eq!(settled.say(8), Some((0, vec![51..=51])), "no more than what is new");
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
