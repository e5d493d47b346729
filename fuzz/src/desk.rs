//! An actor that takes references in messages of every codec.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use volary::prelude::*;
use volary::wire::Ref;
use volary_core::Resolving;

use super::Sample;

/// References wherever a message may hold one, and something of everything else.
#[derive(Serialize, Deserialize)]
pub struct Introduction {
    pub who: ActorRef<Desk>,
    pub sink: Option<Recipient<Settled>>,
    pub others: Vec<ActorRef<Desk>>,
    pub by_name: BTreeMap<String, Recipient<Settled>>,
    pub next: Option<Box<Introduction>>,
    pub sample: Option<Sample>,
}

/// The same for Protocol Buffers, where references are resolved by whoever handles them.
#[derive(Clone, PartialEq, prost::Message, Message)]
#[message(reply = (), remote = "fuzz.InProto")]
pub struct InProto {
    #[prost(message, optional, tag = "1")]
    pub who: Option<Ref>,
    #[prost(message, repeated, tag = "2")]
    pub others: Vec<Ref>,
    #[prost(btree_map = "string, message", tag = "3")]
    pub by_name: BTreeMap<String, Ref>,
    #[prost(message, optional, boxed, tag = "4")]
    pub next: Option<Box<InProto>>,
}

pub struct Desk;

#[actor(kind = "fuzz.Desk", remote(InJson, InCbor, InPostcard, InProto))]
impl Desk {
    #[message(remote = "fuzz.InJson", codec = json, derive(Serialize, Deserialize))]
    pub fn in_json(&mut self, introduction: Introduction) {
        drop(introduction);
    }

    #[message(remote = "fuzz.InCbor", codec = cbor, derive(Serialize, Deserialize))]
    pub fn in_cbor(&mut self, introduction: Introduction) {
        drop(introduction);
    }

    #[message(remote = "fuzz.InPostcard", codec = postcard, derive(Serialize, Deserialize))]
    pub fn in_postcard(&mut self, introduction: Introduction) {
        drop(introduction);
    }

    #[handles]
    fn in_proto(&mut self, message: InProto, ctx: &mut Context<Self>) {
        Resolving::scope(Arc::new(ctx.system().clone()), || {
            let mut next = Some(&message);
            while let Some(message) = next {
                for one in message
                    .who
                    .iter()
                    .chain(&message.others)
                    .chain(message.by_name.values())
                {
                    let _ = one.actor::<Desk>();
                    let _ = one.recipient::<Settled>();
                }
                next = message.next.as_deref();
            }
        });
    }

    /// Answers when everything before it is dealt with.
    pub fn settled(&mut self) {}
}
