//! What was counted of peers that are forgotten: sums of all peers must not fall when some of them go.

use std::sync::Arc;

use super::Shared;
use crate::metrics::{RemoteCounts, RemoteMetrics};
use crate::peer::{Peer, Way};

#[derive(Default)]
pub(super) struct Departed {
    /// Of those that nobody counts for any more.
    counts: RemoteCounts,
    /// Of the others; what they count may still grow.
    ways: Vec<Arc<Way>>,
}

impl Departed {
    pub(super) fn add<'a>(&mut self, peers: impl Iterator<Item = &'a Arc<Peer>>) {
        self.settle();
        self.ways.extend(peers.map(|peer| peer.way.clone()));
    }

    fn settle(&mut self) {
        let counts = &mut self.counts;
        self.ways.retain_mut(|way| match Arc::get_mut(way) {
            None => true,
            Some(way) => {
                *counts = counts.and(way.counters.read());
                false
            }
        });
    }

    fn counts(&mut self) -> RemoteCounts {
        self.settle();
        let left = self.ways.iter().map(|way| way.counters.read());
        left.fold(self.counts, RemoteCounts::and)
    }
}

impl Shared {
    pub(crate) fn metrics(&self) -> RemoteMetrics {
        let (departed, peers) = {
            let peers = self.peers.lock();
            let departed = self.departed.lock().counts();
            let peers: Vec<_> = peers.values().cloned().collect();
            (departed, peers)
        };
        let mut counts = departed;
        let read = |peer: &Arc<Peer>| {
            let of_it = peer.counters.read();
            counts = counts.and(of_it);
            peer.read_with(&of_it)
        };
        let peers = peers.iter().map(read).collect();
        RemoteMetrics {
            node: self.node.clone(),
            counts,
            refused_connections: self.refused_connections(),
            inbound_bytes: self.inbound_bytes(),
            peers,
        }
    }
}
