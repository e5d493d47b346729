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
        let last = self.beyond.remove(&(number + 1)).unwrap_or(number);
        self.beyond.insert(first, last);
        if let Some((&first, &last)) = self.beyond.first_key_value()
            && first == self.up_to + 1
        {
            self.up_to = last;
            self.beyond.remove(&first);
        }
        self.unsaid
    }

    /// How many runs there are beyond the first.
    pub(crate) fn runs(&self) -> usize {
        self.beyond.len()
    }

    /// What is to be said, if anything: the first run, and up to `most` runs beyond it.
    pub(crate) fn say(&mut self, most: usize) -> Option<(u64, Vec<RangeInclusive<u64>>)> {
        if self.unsaid == 0 {
            return None;
        }
        self.unsaid = 0;
        let beyond = self.beyond.iter().take(most).map(|(first, last)| *first..=*last);
        Some((self.up_to, beyond.collect()))
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
        assert_eq!(settled.say(8), Some((9, vec![12..=12])));
        settled.settle(11);
        settled.settle(10);
        assert_eq!(settled.say(8), Some((12, vec![])));
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
