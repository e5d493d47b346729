//! Messages with references in them, as they arrive: the first byte says which message, the rest are its bytes. Nobody
//! is found but by the resolver, what was read can be written, and whoever it is for goes on.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use volary_core::{ActorRef, AnyRef, Resolving};
use volary_wire::{Codec, Registry, Wire};

use super::super::{Desk, InCbor, InJson, InPostcard, InProto, Node, Settled};

struct Home {
    node: Node,
    registry: Registry,
    desk: ActorRef<Desk>,
}

thread_local! {
    static HOME: Home = {
        let node = Node::start();
        let desk = node.settle();
        let mut registry = Registry::new();
        registry.kind::<Desk>().expect("the names differ");
        Home { node, registry, desk }
    };
}

impl Home {
    fn tell<M: Wire>(&self, bytes: Bytes) {
        let codec = <M::Codec as Codec<M>>::ID;
        let to = AnyRef::from(&self.desk);
        let told = |bytes| self.registry.tell(&to, M::NAME, codec, bytes);
        let _ = told(bytes.clone()); // without a resolver
        Resolving::scope(Arc::new(self.node.system.clone()), || {
            let taken = told(bytes.clone()).is_ok();
            let Ok(message) = M::Codec::decode(bytes) else {
                assert!(!taken, "it was taken, and cannot be read");
                return;
            };
            let mut out = BytesMut::new();
            M::Codec::encode(&message, &mut out).expect("what was read can be written");
        });
    }
}

pub fn arrival(data: &[u8]) {
    let Some((which, payload)) = data.split_first() else {
        return;
    };
    let bytes = Bytes::copy_from_slice(payload);
    HOME.with(|home| {
        match which % 4 {
            0 => home.tell::<InJson>(bytes),
            1 => home.tell::<InCbor>(bytes),
            2 => home.tell::<InPostcard>(bytes),
            _ => home.tell::<InProto>(bytes),
        }
        home.node
            .block_on(async { home.desk.ask(Settled {}).await })
            .expect("it goes on");
    });
}
