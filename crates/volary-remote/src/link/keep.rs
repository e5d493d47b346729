//! Watches over a connection: says something when there is nothing to say, and ends it when the other side is silent.

use std::sync::Arc;
use std::sync::atomic::Ordering::*;

use volary_wire::native::Frame;

use super::Link;

/// For how many times the silence after which a connection is given up nothing may come of a message in pieces.
const PATIENCE: u64 = 4;

pub(super) async fn keep(link: Arc<Link>) {
    let shared = link.peer.shared.clone();
    let silence = u64::try_from(shared.options.silence.as_nanos()).unwrap_or(u64::MAX);
    let mut nonce = 0;
    // Whoever is not heard cannot go on with what they have begun.
    let mut hearing_since = shared.nanos();
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
        let now = shared.nanos();
        if link.deaf.load(Relaxed) {
            hearing_since = now;
        }
        let before = now.saturating_sub(silence.saturating_mul(PATIENCE));
        if hearing_since < before {
            link.give_up_pieces(before);
        }
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bytes::BytesMut;
    use volary_wire::native::{Chunk, FrameKind};

    use super::*;
    use crate::alone::{Alone, Wire};
    use crate::{Remote, Rights};

    /// A piece of a message of this number, which is of 200,000 bytes.
    fn piece(offset: u64, length: usize) -> Frame {
        let mut payload = BytesMut::zeroed(length);
        if offset == 0 {
            payload[..3].copy_from_slice(&[FrameKind::Tell as u8, 0, 5]);
        }
        let payload = payload.freeze();
        Frame::Chunk(Chunk {
            transfer: 1,
            total: 200_000,
            offset,
            payload,
        })
    }

    #[test]
    fn s20_a_message_in_pieces_that_is_never_ended_is_given_up_and_its_sender_hears() {
        let node = Alone::start(Remote::builder());
        let peer = node.peer();
        let wire = Wire::new(usize::MAX);
        let link = Link::start(&peer, wire.greeting(7), Rights::all());
        wire.say([piece(0, 190_000)]);
        node.settle();
        assert!(node.remote.metrics().inbound_bytes >= 190_000, "it has its room");
        let seconds = |seconds: u64| {
            for nonce in 1..=seconds {
                wire.say([Frame::Heartbeat { nonce }]);
                node.world.env.advance(Duration::from_secs(1));
            }
            node.settle();
        };
        seconds(10);
        wire.say([piece(190_000, 9_999)]);
        seconds(18);
        assert_eq!(peer.read().abandoned, 0, "a piece came");
        seconds(4);
        assert_eq!(
            (peer.read().abandoned, peer.read().refused, peer.read().received),
            (1, 1, 1)
        );
        assert_eq!(node.remote.metrics().inbound_bytes, 0);
        let busy = Frame::Busy { sequence: 5 };
        assert!(wire.heard_frames().contains(&busy), "its sender hears");
        // Whoever goes on after all is read over.
        wire.say([piece(199_999, 1)]);
        seconds(1);
        assert!(!link.closing().is_closed());
        assert_eq!((peer.read().abandoned, peer.read().breaches), (1, 0));
    }

    #[test]
    fn r3_nothing_is_given_up_while_nobody_listens() {
        let node = Alone::start(Remote::builder());
        let peer = node.peer();
        let wire = Wire::new(usize::MAX);
        let link = Link::start(&peer, wire.greeting(7), Rights::all());
        wire.say([piece(0, 190_000)]);
        node.settle();
        for nonce in 1..=60 {
            wire.say([Frame::Heartbeat { nonce }]);
            // As whoever reads says of itself.
            link.deaf.store(nonce % 10 == 0, Relaxed);
            node.world.env.advance(Duration::from_secs(1));
        }
        assert_eq!(peer.read().abandoned, 0);
        assert!(!link.closing().is_closed());
    }
}
