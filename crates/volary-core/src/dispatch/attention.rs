//! When a thread that sends looks up from sending.
//!
//! Now and then something is due besides putting a message into a mailbox: a turn that sends many shares what it made
//! ready, one message in so many is measured, or everything that is sent carries something. A sender asks for none of
//! these by name: it has leave to send a number of messages without looking up, counts down, and looks up at zero.

use std::cell::Cell;

/// A turn that has sent about as many messages is long: what it made ready should not wait for its end. A prime: a thread
/// that sends to two systems in turn, of which one measures, must not come to look up at the other one's messages only.
const LONG_TURN: u32 = 61;

pub(crate) struct Attention {
    /// Messages that may still be sent without looking up.
    leave: Cell<u32>,
    /// What that was when it was given.
    given: Cell<u32>,
    /// Messages that this turn has sent, as far as they were counted.
    sent: Cell<u32>,
    /// A turn has begun since somebody looked up.
    new_turn: Cell<bool>,
    /// How many messages away the next that is measured is, itself among them; 0 on a thread where none was yet.
    until_measured: Cell<u32>,
}

/// What is due when somebody looks up.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Due {
    /// The turn is long.
    pub(crate) share: bool,
    /// This message is measured.
    pub(crate) measure: bool,
}

impl Attention {
    pub(crate) const fn new() -> Self {
        Attention {
            leave: Cell::new(0),
            given: Cell::new(0),
            sent: Cell::new(0),
            new_turn: Cell::new(true),
            until_measured: Cell::new(0),
        }
    }

    /// Counts a message; false if whoever sends it is to look up first.
    #[inline(always)]
    pub(crate) fn passes(&self) -> bool {
        let passes = self.has_leave();
        if passes {
            self.use_leave();
        }
        passes
    }

    /// Whether whoever sends now need not look up first.
    #[inline(always)]
    pub(crate) fn has_leave(&self) -> bool {
        self.leave.get() != 0
    }

    /// Counts a message for which there was leave.
    #[inline(always)]
    pub(crate) fn use_leave(&self) {
        self.leave.set(self.leave.get() - 1);
    }

    /// Makes whoever sends next look up.
    #[inline]
    pub(crate) fn recall(&self) {
        if self.given.get() != 0 {
            self.settle();
        }
    }

    #[inline]
    pub(crate) fn turn_begins(&self) {
        self.new_turn.set(true);
    }

    /// Looks up before a message is sent, and takes leave for those after it, unless every one is to be looked at. One
    /// message in `every` is measured; none, if that is 0. A thread begins to count anywhere, so that those which send
    /// little are neither always measured nor never.
    pub(crate) fn look_up(&self, every: u32, each: bool, random: impl FnOnce() -> u64) -> Due {
        self.settle();
        let sent = if self.new_turn.replace(false) {
            0
        } else {
            self.sent.get() + 1
        };
        let share = sent >= LONG_TURN;
        self.sent.set(if share { 0 } else { sent });
        let measure = self.count(every, random);
        if !each {
            // Who cannot be measured need not look up for it.
            let away = match every {
                0 => LONG_TURN,
                _ => self.until_measured.get().min(LONG_TURN),
            };
            self.leave.set(away - 1);
            self.given.set(away - 1);
        }
        Due { share, measure }
    }

    /// Counts a message that does not look up; whether it is the one in so many that is measured.
    pub(crate) fn is_measured(&self, every: u32, random: impl FnOnce() -> u64) -> bool {
        self.recall();
        self.count(every, random)
    }

    fn count(&self, every: u32, random: impl FnOnce() -> u64) -> bool {
        let mut away = self.until_measured.get();
        if every == 0 {
            // The next that can be is.
            self.until_measured.set(if away > 1 { away - 1 } else { away });
            return false;
        }
        if away == 0 {
            away = (random() % u64::from(every)) as u32 + 1;
        }
        // Counted for another system of this process, it may be farther than this one says.
        away = away.min(every);
        let measured = away == 1;
        self.until_measured.set(if measured { every } else { away - 1 });
        measured
    }

    /// Ends the leave, and counts what was sent under it.
    fn settle(&self) {
        let sent = self.given.replace(0) - self.leave.replace(0);
        self.sent.set(self.sent.get() + sent);
        let away = self.until_measured.get();
        if away != 0 {
            self.until_measured.set(away.saturating_sub(sent).max(1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends so many messages; which of them were measured, and after which work was shared.
    fn send(attention: &Attention, count: u32, every: u32, start: u64) -> (Vec<u32>, Vec<u32>) {
        let (mut measured, mut shared) = (Vec::new(), Vec::new());
        for message in 1..=count {
            if attention.passes() {
                continue;
            }
            let due = attention.look_up(every, false, || start);
            if due.measure {
                measured.push(message);
            }
            if due.share {
                shared.push(message);
            }
        }
        (measured, shared)
    }

    #[test]
    fn one_in_so_many_is_measured_from_anywhere() {
        for every in [1, 2, 7, 64, 65, 100, 1_000] {
            for start in [0, 1, 5, 99, 12_345] {
                let first = (start % u64::from(every)) as u32 + 1;
                let expected: Vec<u32> = (0..).map(|n| first + n * every).take_while(|at| *at <= 5_000).collect();
                assert_eq!(
                    send(&Attention::new(), 5_000, every, start).0,
                    expected,
                    "every {every} from {start}"
                );
            }
        }
    }

    #[test]
    fn a_long_turn_shares_its_work_and_a_short_one_does_not() {
        let attention = Attention::new();
        assert_eq!(send(&attention, 400, 0, 0).1, [62, 123, 184, 245, 306, 367]);
        for _ in 0..1_000 {
            attention.turn_begins();
            assert_eq!(send(&attention, 3, 0, 0).1, []);
        }
    }

    #[test]
    fn measuring_often_does_not_share_often() {
        let (measured, shared) = send(&Attention::new(), 1_000, 3, 0);
        assert_eq!(measured.len(), 334);
        assert!((14..=16).contains(&shared.len()), "{shared:?}");
    }

    #[test]
    fn recalled_leave_is_counted_once() {
        let attention = Attention::new();
        let mut measured = 0;
        for message in 0..10_000 {
            if message % 3 == 0 {
                attention.recall();
                attention.recall();
            }
            if !attention.passes() {
                measured += u32::from(attention.look_up(10, message % 5 == 0, || 0).measure);
            }
        }
        assert_eq!(measured, 1_000);
    }

    #[test]
    fn what_cannot_be_measured_leaves_it_to_the_next_that_can() {
        let attention = Attention::new();
        assert!(attention.look_up(10, false, || 0).measure);
        assert_eq!(send(&attention, 50, 0, 0).0, []);
        attention.recall();
        assert_eq!(send(&attention, 21, 10, 0).0, [1, 11, 21]);
    }

    #[test]
    fn systems_in_turn_on_one_thread_are_measured_each_as_it_says() {
        let attention = Attention::new();
        let mut measured = [0; 3];
        for message in 0..61_000 {
            let (system, every) = [(0, 0), (1, 100), (2, 1_000)][message % 3];
            if !attention.passes() {
                measured[system] += u32::from(attention.look_up(every, false, || 0).measure);
            }
        }
        assert_eq!(measured[0], 0);
        assert!(measured[1] > 50 && measured[2] > 5, "{measured:?}");
        // The one that wants each of its messages measured gets it whatever was counted before.
        attention.look_up(1_000, false, || 0);
        attention.recall();
        assert!(attention.look_up(1, false, || 0).measure);
    }

    #[test]
    fn messages_that_do_not_look_up_are_counted_among_the_others() {
        let attention = Attention::new();
        let mut measured = 0;
        for message in 0..10_000 {
            measured += u32::from(if message % 4 == 0 {
                attention.is_measured(10, || 0)
            } else {
                !attention.passes() && attention.look_up(10, false, || 0).measure
            });
        }
        assert_eq!(measured, 1_000);
    }

    #[test]
    fn a_message_that_does_not_look_up_counts_what_was_sent_before_it() {
        let attention = Attention::new();
        assert!(attention.look_up(61, false, || 0).measure);
        assert!((0..60).all(|_| attention.passes()), "all leave is used up");
        assert!(attention.is_measured(61, || 0));
    }

    #[test]
    fn what_cannot_be_measured_looks_up_seldom() {
        let attention = Attention::new();
        attention.look_up(10, false, || 0);
        let looked_up = (0..6_400).filter(|_| !attention.passes() && !attention.look_up(0, false, || 0).measure);
        assert!(looked_up.count() <= 6_400 / 61 + 1);
    }
}
