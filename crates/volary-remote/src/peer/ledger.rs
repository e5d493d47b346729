//! The messages that were given to a connection, or wait for one, and are not confirmed yet.
//!
//! ```text
//!   loads   120 120 120 120  96 120 120 …      one for each, settled or not, without gaps
//!   runs    └── 1…4: a to b ─┘└5┘└ 6…: c to d   of many that are alike it is written once what they are
//! ```
//!
//! Senders write here and whoever reads confirmations does, mostly on another core, and what is between them comes to
//! tens of thousands of messages: the less there is of each, the less has to travel from one to the other.

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
}

impl<R: PartialEq> Sent<R> {
    /// Whether the two differ by their numbers alone.
    #[inline]
    fn is_like(&self, other: &Self) -> bool {
        self.receiver == other.receiver
            && self.sender == other.sender
            && std::ptr::eq(self.type_name, other.type_name)
            && self.correlation | other.correlation == 0
    }
}

/// Messages that are alike, one behind the other, from the first to the last.
struct Run<R> {
    first: Sent<R>,
    last: u64,
}

/// How long a message is, and whether it is settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Load(u32);

impl Load {
    /// No message is as long as what fits in here; one that were would count as that long.
    fn of(bytes: usize) -> Self {
        Load(bytes.min(u32::MAX as usize >> 1) as u32 * 2)
    }

    fn bytes(self) -> usize {
        (self.0 / 2) as usize
    }

    fn is_settled(self) -> bool {
        !self.0.is_multiple_of(2)
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
    late: BTreeMap<u64, (Sent<R>, Load)>,
    /// All others, settled ones among them, without gaps.
    loads: VecDeque<Load>,
    /// The number of the first of these.
    first: u64,
    /// What they are, in the same order.
    runs: VecDeque<Run<R>>,
    /// How many are not settled, and their bytes.
    under_way: u64,
    bytes: usize,
}

impl<R> Default for Ledger<R> {
    fn default() -> Self {
        Ledger {
            late: BTreeMap::new(),
            loads: VecDeque::new(),
            first: 0,
            runs: VecDeque::new(),
            under_way: 0,
            bytes: 0,
        }
    }
}

impl<R: Copy + PartialEq> Ledger<R> {
    pub(super) fn under_way(&self) -> u64 {
        self.under_way
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The message behind the last one, and its length.
    #[inline]
    pub(super) fn push(&mut self, sent: Sent<R>, bytes: usize) {
        let load = Load::of(bytes);
        if self.loads.is_empty() {
            self.first = sent.sequence;
        }
        debug_assert_eq!(sent.sequence, self.first + self.loads.len() as u64, "there are no gaps");
        self.under_way += 1;
        self.bytes += load.bytes();
        self.loads.push_back(load);
        match self.runs.back_mut() {
            Some(run) if run.first.is_like(&sent) => run.last = sent.sequence,
            _ => self.runs.push_back(Run {
                last: sent.sequence,
                first: sent,
            }),
        }
    }

    /// The peer says which messages have left their mailboxes; how many these are.
    pub(super) fn confirm(&mut self, confirm: &Confirm) -> u64 {
        let before = self.under_way;
        for run in confirm.beyond() {
            while let Some((&sequence, _)) = self.late.range(run.clone()).next() {
                self.settle_late(sequence);
            }
            // A peer may say anything; only what is on its way can be settled.
            let end = self.first + self.loads.len() as u64;
            for sequence in (*run.start()).max(self.first)..run.end().saturating_add(1).min(end) {
                self.settle_load((sequence - self.first) as usize);
            }
        }
        while let Some((&sequence, _)) = self.late.first_key_value()
            && sequence <= confirm.up_to
        {
            self.settle_late(sequence);
        }
        let confirmed = confirm
            .up_to
            .saturating_add(1)
            .saturating_sub(self.first)
            .min(self.loads.len() as u64) as usize;
        for at in 0..confirmed {
            self.settle_load(at);
        }
        self.let_go_behind(confirmed);
        self.put_late_ones_aside();
        before - self.under_way
    }

    /// Takes one message out of the account, once.
    pub(super) fn settle(&mut self, sequence: u64) -> Option<Sent<R>> {
        if sequence < self.first || self.loads.is_empty() {
            return self.settle_late(sequence);
        }
        let at = usize::try_from(sequence - self.first).ok()?;
        let sent = self.settle_load(at).then(|| self.sent(sequence))??;
        if at == 0 {
            self.let_go_behind(1); // nobody confirms anything while there is no connection
        }
        Some(sent)
    }

    /// The first so many loads are settled: they go, and with them those right behind them that are.
    fn let_go_behind(&mut self, settled: usize) {
        let behind = self.loads.iter().skip(settled);
        let settled = settled + behind.take_while(|load| load.is_settled()).count();
        self.loads.drain(..settled);
        self.advance(settled as u64);
    }

    /// False if it is settled already, or is not here.
    #[inline]
    fn settle_load(&mut self, at: usize) -> bool {
        let Some(load) = self.loads.get_mut(at) else {
            return false;
        };
        let bytes = load.bytes();
        if load.settle() {
            return false;
        }
        self.under_way -= 1;
        self.bytes -= bytes;
        true
    }

    fn settle_late(&mut self, sequence: u64) -> Option<Sent<R>> {
        let (sent, load) = self.late.remove(&sequence)?;
        self.under_way -= 1;
        self.bytes -= load.bytes();
        Some(sent)
    }

    /// What the message of this number is, if it has a load.
    fn sent(&self, sequence: u64) -> Option<Sent<R>> {
        let run = self.runs.partition_point(|run| run.last < sequence);
        self.runs.get(run).map(|run| Sent { sequence, ..run.first })
    }

    /// So many loads were taken from the front.
    fn advance(&mut self, count: u64) {
        self.first += count;
        while self.runs.front().is_some_and(|run| run.last < self.first) {
            self.runs.pop_front();
        }
    }

    fn put_late_ones_aside(&mut self) {
        let mut open = self.under_way as usize - self.late.len();
        while self.loads.len() > 2 * open + KEPT
            && let Some(load) = self.loads.pop_front()
        {
            if !load.is_settled()
                && let Some(sent) = self.sent(self.first)
            {
                self.late.insert(self.first, (sent, load));
                open -= 1;
            }
            self.advance(1);
        }
    }

    /// Those that are not settled, in order.
    pub(super) fn open(&self) -> impl Iterator<Item = Sent<R>> {
        let mut runs = self.runs.iter().peekable();
        let sent = (self.first..).zip(&self.loads).filter_map(move |(sequence, load)| {
            while runs.next_if(|run| run.last < sequence).is_some() {}
            let run = runs.peek().filter(|_| !load.is_settled())?;
            Some(Sent { sequence, ..run.first })
        });
        self.late.values().map(|(sent, _)| *sent).chain(sent)
    }

    /// The number of the one that is on its way for longest.
    pub(super) fn oldest(&self) -> Option<u64> {
        self.open().next().map(|sent| sent.sequence)
    }

    /// Those to whom something is on its way.
    pub(super) fn receivers(&self) -> impl Iterator<Item = R> {
        self.open().map(|sent| sent.receiver)
    }

    /// Everything that is not settled, in order; nothing is on its way then.
    pub(super) fn take_all(&mut self) -> Vec<Sent<R>> {
        let all = self.open().collect();
        *self = Ledger::default();
        all
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};
    use volary::prelude::*;

    use super::*;
    use crate::alone::{Alone, PEER};
    use crate::{Overflow, Remote, RemoteOptions};

    struct Desk;

    #[actor(kind = "ledger.Desk", remote(Note))]
    impl Desk {
        #[message(remote = "ledger.Note", codec = postcard, derive(Serialize, Deserialize))]
        fn note(&mut self) {}
    }

    /// Whoever looks for the oldest would have all those before it to walk past, each time.
    #[test]
    fn r3_of_what_is_dropped_for_newer_ones_without_a_connection_nothing_is_kept() {
        let options = RemoteOptions::new().window(16).receiver_share(16);
        let options = options.overflow(Overflow::DropOldest);
        let node = Alone::start(Remote::builder().kind::<Desk>().options(options));
        let far = format!("volary://stranger@{PEER}/user/desk").parse().unwrap();
        let far: ActorRef<Desk> = node.remote.actor(&far).unwrap();
        for _ in 0..20_000 {
            far.tell(Note).unwrap();
            let peer = node.peer();
            let outbound = peer.outbound.lock();
            let ledger = &outbound.ledger;
            assert_eq!(ledger.loads.len() as u64, ledger.under_way());
            assert!(ledger.loads.len() <= 16 && ledger.runs.len() == 1);
        }
        assert_eq!(node.peer().read().busy, 20_000 - 16);
    }

    #[test]
    fn r8_what_is_settled_before_all_others_is_let_go_of_and_numbers_go_on() {
        let mut ledger = Ledger::default();
        (1..=4).for_each(|sequence| ledger.push(sent(sequence), 10));
        for (settled, left) in [(2, 4), (1, 2), (3, 1), (4, 0)] {
            assert_eq!(ledger.settle(settled).map(|sent| sent.sequence), Some(settled));
            assert!(ledger.settle(settled).is_none(), "once");
            assert_eq!(ledger.loads.len(), left);
        }
        assert!(ledger.runs.is_empty());
        ledger.push(sent(5), 10);
        assert_eq!(ledger.oldest(), Some(5));
        assert_eq!(ledger.confirm(&confirm(5, &[])), 1);
        assert_eq!((ledger.under_way(), ledger.bytes(), ledger.loads.len()), (0, 0, 0));
    }

    fn sent(sequence: u64) -> Sent<()> {
        Sent {
            sequence,
            receiver: (),
            sender: None,
            type_name: "Test",
            correlation: 0,
        }
    }

    fn confirm(up_to: u64, beyond: &[std::ops::RangeInclusive<u64>]) -> Confirm {
        Confirm::new(up_to, beyond).unwrap_or_else(|| unreachable!("ranges in order"))
    }

    #[test]
    fn r8_one_that_is_stuck_does_not_keep_those_behind_it() {
        let mut ledger = Ledger::default();
        ledger.push(sent(1), 10);
        for sequence in 2..=100_000 {
            ledger.push(sent(sequence), 10);
            assert_eq!(ledger.confirm(&confirm(0, &[sequence..=sequence])), 1);
        }
        assert_eq!((ledger.under_way(), ledger.bytes()), (1, 10));
        assert!(ledger.loads.len() <= KEPT + 2, "{}", ledger.loads.len());
        assert_eq!(
            ledger.confirm(&confirm(0, &[2..=100_000])),
            0,
            "said again, it counts no more"
        );
        ledger.push(sent(100_001), 10);
        assert_eq!(ledger.settle(1).map(|sent| sent.sequence), Some(1));
        assert!(ledger.settle(1).is_none());
        assert_eq!(ledger.confirm(&confirm(100_001, &[])), 1);
        assert_eq!((ledger.under_way(), ledger.bytes()), (0, 0));
    }

    #[test]
    fn r8_what_is_left_comes_in_order() {
        let mut ledger = Ledger::default();
        for sequence in 1..=10_000 {
            ledger.push(sent(sequence), 10);
        }
        let stuck = |sequence: &u64| *sequence == 1 || sequence.is_multiple_of(1_000);
        for sequence in (1..=9_500).filter(|sequence| !stuck(sequence)) {
            ledger.confirm(&confirm(0, &[sequence..=sequence]));
        }
        assert!(!ledger.late.is_empty());
        assert_eq!(ledger.confirm(&confirm(2_000, &[])), 3);
        let left: Vec<u64> = ledger.take_all().iter().map(|sent| sent.sequence).collect();
        let expected: Vec<u64> = (3_000..9_501).filter(stuck).chain(9_501..=10_000).collect();
        assert_eq!(left, expected);
        assert_eq!(ledger.under_way(), 0);
    }

    /// The same as a map of all that is not settled: messages to some receivers, asks among them, are sent, confirmed in any
    /// order, refused, and lost at last.
    #[test]
    fn r8_what_became_of_each_is_known_whatever_comes() {
        for seed in 0..200_u64 {
            let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            let mut below = |bound: u64| {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                random % bound
            };
            let mut ledger: Ledger<u64> = Ledger::default();
            let mut open: BTreeMap<u64, (u64, u64, usize)> = BTreeMap::new();
            let (mut last, mut up_to, mut receiver) = (0, 0, 0);
            for _ in 0..1_500 {
                match below(10) {
                    0 => {
                        // Everything up to some, and some beyond.
                        up_to = up_to.max(below(last + 1));
                        let first = up_to + 2 + below(40);
                        let runs = [first..=first + below(30), first + 40..=first + 40 + below(9)];
                        let runs: Vec<_> = runs.into_iter().filter(|run| *run.end() <= last).collect();
                        let before = open.len();
                        open.retain(|sequence, _| *sequence > up_to && !runs.iter().any(|run| run.contains(sequence)));
                        let settled = ledger.confirm(&confirm(up_to, &runs));
                        assert_eq!(settled, (before - open.len()) as u64, "seed {seed}");
                    }
                    1 => {
                        let sequence = 1 + below(last + 3);
                        let refused = ledger.settle(sequence).map(|sent| (sent.receiver, sent.correlation));
                        let expected = open.remove(&sequence).map(|(receiver, ask, _)| (receiver, ask));
                        assert_eq!(refused, expected, "seed {seed}, {sequence}");
                    }
                    step => {
                        last += 1;
                        if step == 2 {
                            receiver = below(3);
                        }
                        let correlation = if below(12) == 0 { last } else { 0 };
                        let length = below(500) as usize;
                        let message = Sent {
                            sequence: last,
                            receiver,
                            sender: None,
                            type_name: "Test",
                            correlation,
                        };
                        ledger.push(message, length);
                        open.insert(last, (receiver, correlation, length));
                    }
                }
                let bytes = open.values().map(|(_, _, length)| length).sum();
                assert_eq!(
                    (ledger.under_way(), ledger.bytes()),
                    (open.len() as u64, bytes),
                    "seed {seed}"
                );
            }
            let of = |sent: Sent<u64>| (sent.sequence, sent.receiver, sent.correlation);
            let left: Vec<_> = ledger.take_all().into_iter().map(of).collect();
            let expected: Vec<_> = open
                .into_iter()
                .map(|(sequence, (to, ask, _))| (sequence, to, ask))
                .collect();
            assert_eq!(left, expected, "seed {seed}");
            assert!(ledger.runs.is_empty());
        }
    }

    #[test]
    fn r8_of_messages_that_are_alike_it_is_kept_once_what_they_are() {
        let mut ledger = Ledger::default();
        (1..=10_000).for_each(|sequence| ledger.push(sent(sequence), 10));
        assert_eq!(ledger.runs.len(), 1);
        ledger.confirm(&confirm(10_000, &[]));
        assert!(ledger.runs.is_empty());
    }
}
