//! How much room the messages of a peer take that wait in mailboxes here, of what the node has for all peers.
//!
//! Whoever reads takes some room in advance and whoever handles gives it back, each in a place of its own: for most
//! messages neither waits for memory that the other has written. How much is taken in advance grows with what is in use;
//! whoever has nothing to read keeps as little as can be, since there may be thousands of peers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::*};

use super::apart::Apart;

/// What is taken in advance at most, in units.
const MOST_AHEAD: u64 = 256;
/// What a peer takes at a time is one part in so many of what it uses; and of its equal share of all there is, if that is
/// more.
const PART_AHEAD: u64 = 64;
/// How many steps may lie unused, in either place.
const KEPT: u64 = 2;

pub(crate) struct Inflow {
    /// What the peers have taken together.
    all: Arc<AtomicU64>,
    most: u64,
    /// What is taken at a time, at least.
    least: u64,
    /// What this one has taken.
    taken: AtomicU64,
    /// Of that, what the next messages may have. Written by whoever reads, one at a time.
    spare: Apart<AtomicU64>,
    /// And what messages have given back.
    back: Apart<AtomicU64>,
}

impl Inflow {
    /// One of so many peers, which may have `most` units together.
    pub(crate) fn new(all: Arc<AtomicU64>, most: u64, peers: u64) -> Self {
        Inflow {
            all,
            most,
            least: (most / PART_AHEAD.saturating_mul(peers.max(1))).min(MOST_AHEAD),
            taken: AtomicU64::new(0),
            spare: Apart::default(),
            back: Apart::default(),
        }
    }

    /// What is taken at a time, and is worth giving back.
    pub(crate) fn step(&self) -> u64 {
        (self.taken.load(Relaxed) / PART_AHEAD).clamp(self.least, MOST_AHEAD)
    }

    /// Takes room for a message. A peer may have as much as is free, so that one alone has half of all there is, and
    /// whoever floods leaves room to the others. For one reader at a time.
    #[inline]
    pub(crate) fn charge(&self, units: u64) -> bool {
        let spare = self.spare.load(Relaxed);
        if spare < units {
            return self.charge_more(units, spare);
        }
        self.spare.store(spare - units, Relaxed);
        true
    }

    /// The same for what this node has asked for, whether there is room or not.
    pub(crate) fn charge_anyway(&self, units: u64) {
        self.all.fetch_add(units, Relaxed);
        self.taken.fetch_add(units, Relaxed);
    }

    /// Whether one message may ever take so much.
    pub(crate) fn may_have(&self, units: u64) -> bool {
        units <= self.most / 2
    }

    #[cold]
    fn charge_more(&self, units: u64, mut spare: u64) -> bool {
        let step = self.step();
        spare += self.back.swap(0, Relaxed);
        let missing = units.saturating_sub(spare);
        if missing > 0 {
            spare += match (self.take(missing.max(step)), missing) {
                (true, missing) => missing.max(step),
                // The last of it.
                (false, missing) if missing < step && self.take(missing) => missing,
                (false, _) => 0,
            };
        }
        let fits = spare >= units;
        self.keep(if fits { spare - units } else { spare }, KEPT * step);
        fits
    }

    /// Nothing is left to read for now. For one reader at a time.
    #[inline]
    pub(crate) fn rest(&self) {
        let spare = self.spare.load(Relaxed);
        if spare > KEPT * self.least {
            self.keep(spare, KEPT * self.least);
        }
    }

    /// Keeps as much of what is spare.
    fn keep(&self, spare: u64, most: u64) {
        let kept = spare.min(most);
        self.give(spare - kept);
        self.spare.store(kept, Relaxed);
    }

    fn take(&self, units: u64) -> bool {
        let all = self.all.fetch_add(units, Relaxed) + units;
        let taken = self.taken.fetch_add(units, Relaxed) + units;
        let fits = all + taken <= self.most;
        if !fits {
            self.give(units);
        }
        fits
    }

    fn give(&self, units: u64) {
        if units == 0 {
            return;
        }
        self.taken.fetch_sub(units, Relaxed);
        self.all.fetch_sub(units, Relaxed);
    }

    /// Gives back what a message took. The next ones may have it; what is more than a few need goes to everybody.
    #[inline]
    pub(crate) fn discharge(&self, units: u64) {
        let back = self.back.fetch_add(units, Relaxed) + units;
        if back > KEPT * self.step() {
            self.give(self.back.swap(0, Relaxed));
        }
    }

    /// What is taken and of no use just now.
    pub(crate) fn unused(&self) -> u64 {
        self.spare.load(Relaxed) + self.back.load(Relaxed)
    }
}

impl Drop for Inflow {
    fn drop(&mut self) {
        self.all.fetch_sub(*self.taken.get_mut(), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inflow(most: u64) -> (Arc<AtomicU64>, Inflow) {
        let all = Arc::new(AtomicU64::new(0));
        (all.clone(), Inflow::new(all, most, 4))
    }

    #[test]
    fn r3_one_peer_has_half_and_no_more() {
        for most in [1, 2, 7, 100, 1 << 20] {
            let (_, inflow) = inflow(most);
            let taken = (0..most).take_while(|_| inflow.charge(1)).count() as u64;
            assert_eq!(taken, most / 2, "of {most}");
            if taken > 0 {
                inflow.discharge(1);
                assert!(inflow.charge(1), "what was given back can be had again");
            }
        }
    }

    #[test]
    fn r3_a_large_message_needs_room_of_its_own() {
        let (_, inflow) = inflow(1 << 20);
        assert!(!inflow.charge((1 << 19) + 1));
        assert!(inflow.charge(1 << 19));
        assert!(!inflow.charge(1));
        inflow.discharge(1 << 19);
        assert!(inflow.charge(1 << 19));
    }

    #[test]
    fn r3_what_one_gives_back_others_may_have() {
        let (all, one) = inflow(1 << 20);
        let other = Inflow::new(all.clone(), 1 << 20, 4);
        assert!(one.charge(1 << 19));
        assert!(!other.charge((1 << 18) + 1), "half of what is free, and no more");
        one.discharge(1 << 19);
        assert!(other.charge(1 << 19));
        other.discharge(1 << 19);
        for _ in 0..1_000 {
            assert!(one.charge(1) && other.charge(3));
            one.discharge(1);
            other.discharge(3);
        }
        assert_eq!(all.load(Relaxed), one.unused() + other.unused(), "nothing waits");
        one.rest();
        other.rest();
        assert_eq!(all.load(Relaxed), one.unused() + other.unused());
        assert!(all.load(Relaxed) <= 2 * 2 * KEPT * one.least, "few are kept");
        drop((one, other));
        assert_eq!(all.load(Relaxed), 0);
    }

    #[test]
    fn r3_what_is_refused_does_not_pile_up() {
        let (all, inflow) = inflow(1 << 20);
        let charged = (0..1 << 19).take_while(|_| inflow.charge(1)).count();
        for _ in 0..charged {
            inflow.discharge(1);
            assert!(!inflow.charge(1 << 20), "larger than all there is");
        }
        assert_eq!(all.load(Relaxed), inflow.unused());
        inflow.rest();
        assert!(inflow.unused() <= 2 * KEPT * inflow.least, "{}", inflow.unused());
    }

    #[test]
    fn r3_the_more_is_in_use_the_more_is_taken_at_a_time() {
        let all = Arc::new(AtomicU64::new(0));
        let inflow = Inflow::new(all.clone(), 1 << 20, 4_096);
        let mut steps = 0;
        let before = || (all.load(Relaxed), inflow.unused());
        for _ in 0..40_000 {
            let (taken, _) = before();
            assert!(inflow.charge(1));
            steps += u64::from(all.load(Relaxed) > taken);
            assert!(inflow.unused() <= MOST_AHEAD.min(inflow.least + all.load(Relaxed) / PART_AHEAD));
        }
        assert!(steps < 1_000, "{steps} times");
        inflow.rest();
        for _ in 0..40_000 {
            inflow.discharge(1);
        }
        assert!(
            all.load(Relaxed) <= 2 * KEPT * inflow.least,
            "at rest {} are kept",
            all.load(Relaxed)
        );
    }

    #[test]
    fn r3_where_room_is_short_nothing_is_kept() {
        let all = Arc::new(AtomicU64::new(0));
        let inflow = Inflow::new(all.clone(), 4_096, 4_096);
        (0..9).for_each(|_| assert!(inflow.charge(1)));
        (0..9).for_each(|_| inflow.discharge(1));
        assert_eq!(all.load(Relaxed), 0);
    }

    #[test]
    fn r3_nothing_is_lost_between_who_reads_and_who_handles() {
        let (all, inflow) = inflow(1 << 12);
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| receiver.into_iter().for_each(|units| inflow.discharge(units)));
            let mut admitted = 0_u64;
            while admitted < 20_000 {
                let units = 1 + admitted % 5;
                if inflow.charge(units) {
                    admitted += 1;
                    sender.send(units).unwrap();
                } else {
                    std::thread::yield_now();
                }
            }
            drop(sender);
        });
        assert_eq!(all.load(Relaxed), inflow.unused());
    }
}
