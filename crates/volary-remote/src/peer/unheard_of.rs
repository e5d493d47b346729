//! Names that a peer has for messages and nobody here knows, with those that it may have meant. To find these takes long, and
//! the peer chooses the names: it is done for a few, once for each.

use std::collections::BTreeMap;

use parking_lot::Mutex;

/// For how many.
const FEW: usize = 32;

#[derive(Default)]
pub(crate) struct UnheardOf(Mutex<BTreeMap<String, String>>);

impl UnheardOf {
    /// What `look` finds near this name, or found when it came first; nothing, if there were too many before.
    pub(crate) fn near(&self, name: &str, look: impl FnOnce() -> String) -> String {
        let mut found = self.0.lock();
        if let Some(near) = found.get(name) {
            return near.clone();
        }
        if found.len() >= FEW {
            return String::new();
        }
        let near = look();
        found.insert(name.to_owned(), near.clone());
        near
    }
}

#[cfg(test)]
mod tests {
    use std::future::IntoFuture;

    use bytes::BytesMut;
    use serde::{Deserialize, Serialize};
    use volary::prelude::*;
    use volary_wire::native::{Envelope, Frame, Name, Outcome, Reply};
    use volary_wire::{Codec, CodecId, Postcard};

    use super::*;
    use crate::Remote;
    use crate::alone::{Alone, Wire};

    struct Desk;

    #[actor(kind = "unheard.Desk", remote(Note))]
    impl Desk {
        #[message(remote = "unheard.Note", codec = postcard, derive(Serialize, Deserialize))]
        fn note(&mut self) {}
    }

    fn asked(sequence: u64, type_name: &str) -> Frame {
        let mut payload = BytesMut::new();
        Postcard::encode(&Note, &mut payload).unwrap();
        let envelope = Envelope {
            sequence,
            receiver: Name::Text("volary://one@127.0.0.1:1/user/desk".into()),
            sender: None,
            type_name: Name::Text(type_name.into()),
            codec: CodecId::POSTCARD,
            metadata: None,
            payload: payload.freeze(),
        };
        let correlation = sequence;
        Frame::Ask { correlation, envelope }
    }

    #[test]
    fn r2_names_near_one_that_nobody_knows_are_looked_for_a_few_times_for_each_peer() {
        let node = Alone::start(Remote::builder().kind::<Desk>());
        let desk = node.system.spawn(|| Desk).named("desk");
        node.world.env.block_on(desk.into_future()).unwrap();
        let wire = Wire::new(usize::MAX);
        node.shared().adopt(&node.peer(), wire.greeting(7), 0);
        let name = |number: u64| format!("unheard.Note{number:03}");
        wire.say((1..=500).map(|number| asked(number, &name(number))));
        wire.say((501..=600).map(|number| asked(number, &name(1))));
        node.settle();
        let hinted = |frame: Frame| match frame {
            Frame::Reply(Reply { correlation, outcome }) => {
                let Outcome::Ended { text, .. } = outcome else {
                    panic!("{outcome:?}")
                };
                text.as_str()
                    .ends_with("; did it mean `unheard.Note`?")
                    .then_some(correlation)
            }
            _ => None,
        };
        let hinted: Vec<u64> = wire.heard_frames().into_iter().filter_map(hinted).collect();
        let expected: Vec<u64> = (1..=FEW as u64).chain(501..=600).collect();
        assert_eq!(hinted, expected);
        assert_eq!(
            node.peer().unheard_of.0.lock().len(),
            FEW,
            "and so often they were looked for"
        );
    }
}
