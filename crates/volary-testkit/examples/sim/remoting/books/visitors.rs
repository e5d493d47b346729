//! Callers that are not taken: what they were told must be true, they are counted, and nobody else notices them.

use std::sync::atomic::Ordering::*;

use volary_remote::PeerReading;

use super::super::at;
use super::super::strangers::{Answer, Stranger};
use super::Books;
use super::life::Life;

/// When a stranger called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Visited {
    InTrouble,
    AtRest,
}

/// A life as it was before a stranger called.
pub(in super::super) struct Before {
    life: usize,
    refused: u64,
    peers: Vec<PeerReading>,
}

impl Before {
    pub(in super::super) fn is_connected(&self, node: usize) -> bool {
        self.peers.iter().any(|peer| peer.node == at(node) && peer.connected)
    }
}

impl Books {
    /// The present life of a node, as it is now.
    pub(in super::super) fn present(&self, node: usize) -> Option<Before> {
        let (life, present) = self.living().find(|(_, life)| life.node == node && life.is_up())?;
        Some(Before {
            life,
            refused: present.remote.refused_connections(),
            peers: present.remote.peers(),
        })
    }

    /// Whether one more caller was counted since.
    pub(in super::super) fn has_counted(&self, before: &Before) -> bool {
        self.lives[before.life].remote.refused_connections() > before.refused
    }

    /// A stranger has called, and left.
    pub(in super::super) fn visited(
        &mut self,
        stranger: &Stranger,
        before: Option<Before>,
        answer: Answer,
        when: Visited,
    ) {
        let Stranger { oddity, from, to } = stranger;
        let is_right = match (&answer, oddity.reason()) {
            (Answer::Refused(reason, text), Some(expected)) => *reason == expected && !text.is_empty(),
            // What looks like TLS is answered as such.
            (Answer::Refused(..), None) => *oddity == super::super::strangers::Oddity::Garbage,
            (Answer::Welcome | Answer::Strange(_), _) => false,
            (Answer::End, None) => true,
            // The network, or the node, may have ended or lost it.
            (Answer::End | Answer::Nothing, _) => when == Visited::InTrouble,
        };
        if !is_right {
            self.wrong(format!("n{to} answers {oddity:?} of n{from} with {answer:?}"));
        }
        let Some(before) = before else { return };
        let life = &mut self.lives[before.life];
        if !life.is_up() {
            return;
        }
        if matches!(answer, Answer::Refused(..)) {
            life.refused_strangers += 1;
        }
        if when == Visited::AtRest
            && let Some(what) = life.has_noticed(&before)
        {
            self.wrong(format!("n{to} has noticed {oddity:?} of n{from}: {what}"));
        }
    }
}

impl Life {
    /// Whether a visit at rest has changed anything but the count of visits.
    fn has_noticed(&self, before: &Before) -> Option<String> {
        let refused = self.remote.refused_connections();
        if refused != before.refused + 1 {
            return Some(format!("{refused} were refused, and {} before", before.refused));
        }
        let notable = |peers: &[PeerReading]| -> Vec<_> {
            let notable = |peer: &PeerReading| (peer.node.clone(), peer.connected, peer.connections, peer.breaches);
            peers.iter().map(notable).collect()
        };
        let (before, after) = (notable(&before.peers), notable(&self.remote.peers()));
        (before != after).then(|| format!("{before:?} has become {after:?}"))
    }

    /// Whether fewer callers were counted than were turned away.
    pub(super) fn uncounted(&self) -> Option<String> {
        let (refused, turned_away) = (self.remote.refused_connections(), self.turned_away.load(Relaxed));
        let known = self.refused_strangers + turned_away;
        (refused < known).then(|| format!("{refused} callers were counted of {known} not taken"))
    }
}
