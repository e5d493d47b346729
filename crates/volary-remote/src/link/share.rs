//! How much of what a peer may send at a time one actor here may keep waiting.
//!
//! The peer's window is what it has on its way, or waiting here, before its senders must wait. An actor that is stuck keeps
//! what it has, so if it could keep all of that, nothing would reach anybody else on this node. It may keep its share of
//! the window, and no more than the others have left of it: however many are stuck, the next has room.

/// A window of fewer messages is not divided: a part of it would be less than what a sender says in one breath.
const SMALL: u64 = 256;

/// What one mailbox may hold of the messages of one connection.
#[derive(Clone, Copy)]
pub(super) struct Share {
    most: u64,
    /// The peer's window; `None` if it does not say, or if one actor may have all of it.
    window: Option<u64>,
}

impl Share {
    /// By `share` of each `window` that this node thinks of, for a peer whose window is `theirs`.
    pub(super) fn new(share: u64, window: u64, theirs: Option<u64>) -> Self {
        let theirs = theirs.filter(|theirs| *theirs >= SMALL);
        let scaled = |theirs: u64| {
            let part = u128::from(share) * u128::from(theirs) / u128::from(window.max(1));
            u64::try_from(part).unwrap_or(share).max(1)
        };
        Share {
            most: theirs.map_or(share, |theirs| share.min(scaled(theirs))),
            window: theirs.filter(|_| share < window),
        }
    }

    /// The most that a mailbox may ever hold.
    #[inline]
    pub(super) fn most(self) -> u64 {
        self.most
    }

    /// How many may wait in one mailbox while so many of the peer's wait in all of them together.
    #[inline]
    pub(super) fn limit(self, waiting: u64) -> u64 {
        match self.window {
            None => self.most,
            Some(window) => self.most.min(window.saturating_sub(waiting).max(1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r3_a_share_is_the_same_part_of_a_smaller_window() {
        let share = |theirs| Share::new(16_384, 65_536, theirs).most();
        assert_eq!(share(Some(65_536)), 16_384);
        assert_eq!(share(Some(1_024)), 256);
        assert_eq!(share(Some(256)), 64);
        assert_eq!(share(Some(255)), 16_384, "one actor may have all of a small one");
        assert_eq!(
            share(Some(u64::MAX)),
            16_384,
            "and no more than this node has for one actor"
        );
        assert_eq!(share(None), 16_384, "it says nothing");
        assert_eq!(
            Share::new(512, 512, Some(512)).limit(511),
            512,
            "one may have all, if that is what was set"
        );
    }

    #[test]
    fn r3_however_many_are_stuck_the_next_has_room() {
        for (share, window, theirs) in [(16_384, 65_536, 65_536), (64, 256, 256), (16_384, 65_536, 1_024)] {
            let share = Share::new(share, window, Some(theirs));
            let mut waiting = 0;
            for stuck in 0..5 {
                let mut here = 0;
                while here < share.limit(waiting) && waiting < theirs {
                    here += 1;
                    waiting += 1;
                }
                assert!(here > 0 && waiting < theirs, "{stuck} of {theirs}: {here}, {waiting}");
            }
        }
    }
}
