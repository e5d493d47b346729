//! The lives of nodes, from a start to a crash.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use volary::ActorSystem;
use volary_remote::{PeerReading, Remote, Right, Rights};
use volary_testkit::sim::Node;

use super::super::{NODES, at};
use super::Books;
use super::letters::Letters;

/// What a life begins with.
pub(in super::super) struct Beginning {
    pub(in super::super) node: usize,
    pub(in super::super) machine: Node,
    pub(in super::super) system: ActorSystem,
    pub(in super::super) remote: Remote,
    /// What each node may do here.
    pub(in super::super) rights: [Rights; NODES],
    /// How many callers had no passport.
    pub(in super::super) turned_away: Arc<AtomicU64>,
}

/// How many were begun, and how many have come to an end.
#[derive(Default)]
pub(super) struct Begun {
    pub(super) begun: u64,
    pub(super) ended: u64,
}

/// One life of a node.
pub(super) struct Life {
    pub(super) node: usize,
    pub(super) machine: Node,
    pub(super) system: ActorSystem,
    pub(super) remote: Remote,
    pub(super) over: bool,
    pub(super) rights: [Rights; NODES],
    pub(super) letters: Letters,
    /// Messages for each node that were taken here.
    pub(super) taken: [u64; NODES],
    /// Messages of each node whose handlers have begun.
    pub(super) handled: [u64; NODES],
    /// Messages of each node that were in a mailbox and became dead letters.
    pub(super) dead: [u64; NODES],
    pub(super) asks: Begun,
    pub(super) operations: Begun,
    pub(super) turned_away: Arc<AtomicU64>,
    /// How many strangers were told why they are not taken.
    pub(super) refused_strangers: u64,
}

impl Life {
    /// What it says of its peers, each with its number.
    pub(super) fn readings(&self) -> Vec<(usize, PeerReading)> {
        let number = |reading: &PeerReading| (0..NODES).find(|node| at(*node) == reading.node);
        let readings = self.remote.peers().into_iter();
        readings
            .filter_map(|reading| Some((number(&reading)?, reading)))
            .collect()
    }

    /// Whether its counters can be believed: those of a node that is down went on while it fell apart.
    pub(super) fn is_up(&self) -> bool {
        !self.over && self.machine.is_up()
    }
}

impl Books {
    /// A node starts: whatever it was before is over.
    pub(in super::super) fn over(&mut self, node: usize) {
        for life in self.lives.iter_mut().filter(|life| life.node == node) {
            life.over = true;
        }
    }

    pub(in super::super) fn begin(&mut self, with: Beginning) -> usize {
        self.lives.push(Life {
            letters: Letters::of(&with.system, &with.machine),
            node: with.node,
            machine: with.machine,
            system: with.system,
            remote: with.remote,
            rights: with.rights,
            over: false,
            taken: [0; NODES],
            handled: [0; NODES],
            dead: [0; NODES],
            asks: Begun::default(),
            operations: Begun::default(),
            turned_away: with.turned_away,
            refused_strangers: 0,
        });
        self.lives.len() - 1
    }

    pub(super) fn living(&self) -> impl Iterator<Item = (usize, &Life)> {
        self.lives.iter().enumerate().filter(|(_, life)| !life.over)
    }

    /// Whether a node may do something in some life of another. Which life has answered is not known.
    pub(super) fn may_be_forbidden(&self, from: usize, to: usize, right: Right) -> bool {
        let mut lives = self.lives.iter().filter(|life| life.node == to);
        lives.any(|life| !life.rights[from].allows(right))
    }
}
