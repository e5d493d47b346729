//! Watches over a connection: says something when there is nothing to say, and ends it when the other side is silent.

use std::sync::Arc;
use std::sync::atomic::Ordering::*;

use volary_wire::native::Frame;

use super::Link;

pub(super) async fn keep(link: Arc<Link>) {
    let shared = link.peer.shared.clone();
    let silence = u64::try_from(shared.options.silence.as_nanos()).unwrap_or(u64::MAX);
    let mut nonce = 0;
    loop {
        if link
            .closing()
            .or(shared.system.sleep(shared.options.heartbeat))
            .await
            .is_none()
        {
            return;
        }
        if link.silent_for() >= silence {
            return link.close("the other side is silent");
        }
        nonce = link.ask_for_a_sign(nonce);
        let unwanted = link.peer.outbound.lock().take_unwanted();
        for correlation in unwanted {
            link.write_first(&Frame::Cancel { correlation });
        }
        link.peer.sweep();
    }
}

impl Link {
    /// Writes a heartbeat, the one behind that of this number; its own.
    fn ask_for_a_sign(&self, last: u64) -> u64 {
        let nonce = last + 1;
        self.asked.store(self.peer.shared.nanos(), Relaxed);
        self.asked_for.store(nonce, Relaxed);
        self.write_first(&Frame::Heartbeat { nonce });
        nonce
    }

    /// The other side has answered a heartbeat: if it is the last, it is known how long that took.
    pub(super) fn sign(&self, nonce: u64) {
        // Once: whoever says it again did not take longer. And 0 is none that was asked for.
        if nonce != 0 && self.asked_for.compare_exchange(nonce, 0, Relaxed, Relaxed).is_ok() {
            let took = self.peer.shared.nanos().saturating_sub(self.asked.load(Relaxed));
            self.peer.counters.round_trip.store(took.max(1), Relaxed);
        }
    }
}
