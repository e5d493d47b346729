//! The messages that were given to a connection, or wait for one, and are not confirmed yet.

use std::collections::{BTreeMap, VecDeque};

use volary_core::ActorId;
use volary_wire::native::Confirm;

/// How many settled messages may be kept behind one that is not, beside as many as are under way.
const KEPT: usize = 1_024;

/// Of a message that is on its way, to a receiver `R`.
#[derive(Clone, Copy)]
pub(super) struct Sent<R = ActorId> {
    pub(super) sequence: u64,
    pub(super) receiver: R,
    pub(super) sender: Option<ActorId>,
    pub(super) type_name: &'static str,
    /// Of the ask, or 0.
    pub(super) correlation: u64,
    pub(super) load: Load,
}

/// How long a message is, and whether it is settled, in one word: there is one for each of tens of thousands of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Load(u64);

impl Load {
    pub(super) fn of(bytes: usize) -> Self {
        Load((bytes as u64) << 1)
    }

    fn bytes(self) -> usize {
        (self.0 >> 1) as usize
    }

    fn is_settled(self) -> bool {
        self.0 & 1 != 0
    }

    /// Whether it was before.
    fn settle(&mut self) -> bool {
        let before = self.is_settled();
        self.0 |= 1;
        before
    }
}

pub(super) struct Ledger<R = ActorId> {
    /// Messages of ever later actors can be settled long before one that a slow actor has not taken: such ones are put
    /// here, or everything behind them would be kept.
    late: BTreeMap<u64, Sent<R>>,
    /// All others, settled ones among them, without gaps.
    sent: VecDeque<Sent<R>>,
    /// How many are not settled, and their bytes.
    under_way: u64,
    bytes: usize,
}

impl<R> Default for Ledger<R> {
    fn default() -> Self {
        Ledger {
            late: BTreeMap::new(),
            sent: VecDeque::new(),
            under_way: 0,
            bytes: 0,
        }
    }
}

impl<R: Copy> Ledger<R> {
    pub(super) fn under_way(&self) -> u64 {
        self.under_way
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn push(&mut self, sent: Sent<R>) {
        self.under_way += 1;
        self.bytes += sent.load.bytes();
        self.sent.push_back(sent);
    }

    /// The peer says which messages have left their mailboxes; how many these are.
    pub(super) fn confirm(&mut self, confirm: &Confirm) -> u64 {
        let before = self.under_way;
        for run in confirm.beyond() {
            while let Some((&sequence, _)) = self.late.range(run.clone()).next() {
                self.settle(sequence);
            }
            // A peer may say anything; only what is on its way can be settled.
            let (Some(first), Some(last)) = (self.sent.front(), self.sent.back()) else {
                continue;
            };
            let (from, to) = ((*run.start()).max(first.sequence), (*run.end()).min(last.sequence));
            for sequence in from..=to {
                self.settle(sequence);
            }
        }
        while let Some((&sequence, _)) = self.late.first_key_value()
            && sequence <= confirm.up_to
        {
            self.settle(sequence);
        }
        while let Some(sent) = self.sent.front()
            && (sent.load.is_settled() || sent.sequence <= confirm.up_to)
        {
            let load = sent.load;
            self.sent.pop_front();
            if !load.is_settled() {
                self.strike(load);
            }
        }
        self.put_late_ones_aside();
        before - self.under_way
    }

    /// Takes one message out of the account, once.
    pub(super) fn settle(&mut self, sequence: u64) -> Option<Sent<R>> {
        let sent = match self.sent.front() {
            Some(first) if sequence >= first.sequence => {
                let at = usize::try_from(sequence - first.sequence).ok()?;
                let sent = self.sent.get_mut(at)?;
                if sent.load.settle() {
                    return None;
                }
                *sent
            }
            _ => self.late.remove(&sequence)?,
        };
        self.strike(sent.load);
        Some(sent)
    }

    fn strike(&mut self, load: Load) {
        self.under_way -= 1;
        self.bytes -= load.bytes();
    }

    fn put_late_ones_aside(&mut self) {
        let mut open = self.under_way as usize - self.late.len();
        while self.sent.len() > 2 * open + KEPT
            && let Some(sent) = self.sent.pop_front()
        {
            if !sent.load.is_settled() {
                self.late.insert(sent.sequence, sent);
                open -= 1;
            }
        }
    }

    /// Those that are not settled, in order.
    pub(super) fn open(&self) -> impl Iterator<Item = &Sent<R>> {
        let sent = self.sent.iter().filter(|sent| !sent.load.is_settled());
        self.late.values().chain(sent)
    }

    /// Those to whom something is on its way.
    pub(super) fn receivers(&self) -> impl Iterator<Item = R> {
        self.open().map(|sent| sent.receiver)
    }

    /// Everything that is not settled, in order; nothing is on its way then.
    pub(super) fn take_all(&mut self) -> impl Iterator<Item = Sent<R>> + use<R> {
        let Ledger { late, sent, .. } = std::mem::take(self);
        let sent = sent.into_iter().filter(|sent| !sent.load.is_settled());
        late.into_values().chain(sent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(sequence: u64) -> Sent<()> {
        Sent {
            sequence,
            receiver: (),
            sender: None,
            type_name: "Test",
            correlation: 0,
            load: Load::of(10),
        }
    }

    fn confirm(up_to: u64, beyond: &[std::ops::RangeInclusive<u64>]) -> Confirm {
        Confirm::new(up_to, beyond).unwrap_or_else(|| unreachable!("ranges in order"))
    }

    #[test]
    fn r8_one_that_is_stuck_does_not_keep_those_behind_it() {
        let mut ledger = Ledger::default();
        ledger.push(sent(1));
        for sequence in 2..=100_000 {
            ledger.push(sent(sequence));
            assert_eq!(ledger.confirm(&confirm(0, &[sequence..=sequence])), 1);
        }
        assert_eq!((ledger.under_way(), ledger.bytes()), (1, 10));
        assert!(ledger.sent.len() <= KEPT + 2, "{}", ledger.sent.len());
        assert_eq!(
            ledger.confirm(&confirm(0, &[2..=100_000])),
            0,
            "said again, it counts no more"
        );
        ledger.push(sent(100_001));
        assert_eq!(ledger.settle(1).map(|sent| sent.sequence), Some(1));
        assert!(ledger.settle(1).is_none());
        assert_eq!(ledger.confirm(&confirm(100_001, &[])), 1);
        assert_eq!((ledger.under_way(), ledger.bytes()), (0, 0));
    }

    #[test]
    fn r8_what_is_left_comes_in_order() {
        let mut ledger = Ledger::default();
        for sequence in 1..=10_000 {
            ledger.push(sent(sequence));
        }
        let stuck = |sequence: &u64| *sequence == 1 || sequence.is_multiple_of(1_000);
        for sequence in (1..=9_500).filter(|sequence| !stuck(sequence)) {
            ledger.confirm(&confirm(0, &[sequence..=sequence]));
        }
        assert!(!ledger.late.is_empty());
        assert_eq!(ledger.confirm(&confirm(2_000, &[])), 3);
        let left: Vec<u64> = ledger.take_all().map(|sent| sent.sequence).collect();
        let expected: Vec<u64> = (3_000..9_501).filter(stuck).chain(9_501..=10_000).collect();
        assert_eq!(left, expected);
        assert_eq!(ledger.under_way(), 0);
    }
}
