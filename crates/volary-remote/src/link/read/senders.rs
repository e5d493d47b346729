//! Senders that the peer names in full: those of what has waited for the connection, and of which it has more than numbers. Like
//! those that have a number they are kept, or who handles a message that waited could not say who sent it.

use std::collections::{BTreeSet, VecDeque};

use volary_core::{ActorId, AnyRef};

/// How many are: the last ones.
const MOST: usize = 1_024;

#[derive(Default)]
pub(super) struct Senders {
    kept: VecDeque<AnyRef>,
    ids: BTreeSet<ActorId>,
}

impl Senders {
    /// Keeps this one, until so many others have come; its id.
    pub(super) fn keep(&mut self, sender: AnyRef) -> ActorId {
        let id = sender.id();
        if !self.ids.insert(id) {
            return id;
        }
        if self.kept.len() == MOST
            && let Some(first) = self.kept.pop_front()
        {
            self.ids.remove(&first.id());
        }
        self.kept.push_back(sender);
        id
    }
}

#[cfg(test)]
mod tests {
    use std::future::IntoFuture;

    use bytes::BytesMut;
    use serde::{Deserialize, Serialize};
    use volary::prelude::*;
    use volary_wire::native::{Envelope, Frame, Name};
    use volary_wire::{Codec, CodecId, Postcard};

    use super::*;
    use crate::Remote;
    use crate::alone::{Alone, PEER, Wire};

    struct Desk;

    #[actor(kind = "senders.Desk", remote(Note))]
    impl Desk {
        #[message(remote = "senders.Note", codec = postcard, derive(Serialize, Deserialize))]
        fn note(&mut self) {}
    }

    fn told(sequence: u64, sender: u64) -> Frame {
        let mut payload = BytesMut::new();
        Postcard::encode(&Note, &mut payload).unwrap();
        let sender = format!("volary://stranger@{PEER}/user/writer-{sender}#1f");
        Frame::Tell(Envelope {
            sequence,
            receiver: Name::Text("volary://one@127.0.0.1:1/user/desk".into()),
            sender: Some(Name::Text(sender.as_str().into())),
            type_name: Name::Text("senders.Note".into()),
            codec: CodecId::POSTCARD,
            metadata: None,
            payload: payload.freeze(),
        })
    }

    #[test]
    fn r3_so_many_senders_without_numbers_are_kept_and_for_no_longer_than_the_connection() {
        let node = Alone::start(Remote::builder().kind::<Desk>());
        let desk = node.system.spawn(|| Desk).named("desk");
        node.world.env.block_on(desk.into_future()).unwrap();
        let (peer, wire) = (node.peer(), Wire::new(usize::MAX));
        node.shared().adopt(&peer, wire.greeting(7), 0);
        let all = MOST as u64 + 500;
        wire.say((1..=all).map(|number| told(number, number)));
        wire.say((1..=10).map(|number| told(all + number, 600 + number)));
        node.settle();
        assert_eq!(peer.read().received, all + 10);
        peer.sweep();
        assert_eq!(peer.read().known, MOST);
        let of = |number: u64| format!("volary://stranger@{PEER}/user/writer-{number}#1f");
        assert!(peer.known.lock().get(&of(500)).is_none() && peer.known.lock().get(&of(501)).is_some());
        wire.say([told(0, 1)]);
        node.settle();
        assert_eq!((peer.read().connected, peer.read().known), (false, 0));
    }
}
