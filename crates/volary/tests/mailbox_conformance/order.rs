//! The orders that mailboxes promise.

use std::collections::BTreeSet;

use super::office::Filed;

/// Which messages of one sender keep their order, whenever they are sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Keeps {
    All,
    ThoseOfOneWeight,
    None,
}

impl Keeps {
    pub fn check(self, filed: &[Filed]) {
        let ordered = |a: &Filed, b: &Filed| match self {
            Keeps::All => a.sender == b.sender,
            Keeps::ThoseOfOneWeight => (a.sender, a.weight) == (b.sender, b.weight),
            Keeps::None => false,
        };
        let last_of = |place: usize| {
            filed[..place]
                .iter()
                .rev()
                .find(|earlier| ordered(earlier, &filed[place]))
        };
        for (place, page) in filed.iter().enumerate() {
            if let Some(last) = last_of(place) {
                assert!(last.number < page.number, "{last:?} before {page:?} in {filed:?}");
            }
        }
    }
}

pub fn oldest_of_each_first(filed: &[Filed]) {
    Keeps::All.check(filed);
}

pub fn newest_of_each_first(filed: &[Filed]) {
    let reversed: Vec<_> = filed.iter().rev().copied().collect();
    Keeps::All.check(&reversed);
}

pub fn weightiest_first(filed: &[Filed]) {
    assert!(filed.is_sorted_by(|a, b| a.weight >= b.weight), "{filed:?}");
}

pub fn weightiest_oldest_first(filed: &[Filed]) {
    weightiest_first(filed);
    Keeps::ThoseOfOneWeight.check(filed);
}

/// All of them have sent equally many.
pub fn round_robin(filed: &[Filed]) {
    Keeps::All.check(filed);
    let senders = filed.iter().map(|page| page.sender).collect::<BTreeSet<_>>();
    for round in filed.chunks(senders.len()) {
        let served = round.iter().map(|page| page.sender).collect::<BTreeSet<_>>();
        assert_eq!(served, senders, "{filed:?}");
    }
}
