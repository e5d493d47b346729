//! Looks for tasks that a blocked thread keeps, while there is one.

use std::sync::Arc;

use super::Shared;
use crate::link;

impl Shared {
    /// Whoever has something to do and does not come is replaced, at every sign of the clock.
    pub(super) async fn relieve(self: Arc<Self>) {
        while self.closing.or(self.relief.notified()).await.is_some() {
            let peers: Vec<_> = self.peers.lock().values().cloned().collect();
            for peer in peers.into_iter().filter(|peer| peer.is_not_dialled()) {
                let turn = peer.dialler.take_over();
                self.system.world().spawn(Box::pin(link::dial(peer, turn)));
            }
            let links: Vec<_> = self.links.lock().values().cloned().collect();
            links.iter().for_each(|link| link.relieve());
        }
    }
}
