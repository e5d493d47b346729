//! What messages are written with. Apart from everything else that a node has, since whoever keeps a reference to an actor
//! elsewhere keeps this.

use std::ops::Deref;
use std::sync::Arc;

use volary_core::{ActorId, ActorSystem, Address, Resolver};
use volary_wire::Registry;

use super::Shared;
use crate::propagator::Propagator;

pub(crate) struct Language {
    pub(crate) system: ActorSystem,
    pub(crate) registry: Registry,
    pub(crate) resolver: Arc<dyn Resolver>,
    /// Context of the user's own; mostly none.
    pub(crate) propagators: Vec<Box<dyn Propagator>>,
}

impl Language {
    /// The address of an actor, as others know it: of one that lives elsewhere, where it lives.
    pub(crate) fn outside_address_of(&self, id: ActorId) -> Option<Address> {
        let address = self.system.address_of(id)?;
        Some(self.resolver.outside_address(&address))
    }

    /// The same as text.
    pub(crate) fn address_of(&self, id: ActorId) -> Option<String> {
        Some(self.outside_address_of(id)?.to_string())
    }
}

impl Deref for Shared {
    type Target = Language;

    fn deref(&self) -> &Language {
        &self.language
    }
}

#[cfg(test)]
mod tests {
    use std::future::IntoFuture;

    use serde::{Deserialize, Serialize};
    use volary::prelude::*;

    use super::*;
    use crate::Remote;
    use crate::alone::{Alone, PEER, Wire};

    struct Desk;

    #[actor(kind = "test.Desk", remote(Note))]
    impl Desk {
        #[message(remote = "test.Note", codec = postcard, derive(Serialize, Deserialize))]
        fn note(&mut self, number: u64) -> u64 {
            number
        }
    }

    #[test]
    fn r3_a_reference_that_is_kept_keeps_nothing_else_of_a_node_that_has_stopped() {
        let node = Alone::start(Remote::builder().kind::<Desk>());
        let far = |system: &str| -> ActorRef<Desk> {
            let address = format!("volary://{system}@{PEER}/user/desk");
            node.remote.actor(&address.parse().unwrap()).unwrap()
        };
        let known = far("stranger");
        known.tell(Note { number: 1 }).unwrap();
        let wire = Wire::new(usize::MAX);
        node.shared().adopt(&node.peer(), wire.greeting(7), 0);
        node.settle();
        assert!(wire.heard() > 0);
        let misnamed = far("another");

        let peer = Arc::downgrade(&node.peer());
        let shared = Arc::downgrade(node.shared());
        let Alone {
            world, system, remote, ..
        } = node;
        world.env.block_on(system.stop().into_future()).unwrap();
        drop(remote);
        world.env.run_until_idle();
        assert_eq!(wire.gone(), (true, true));
        assert_eq!((peer.strong_count(), shared.strong_count()), (0, 0));
        for far in [known, misnamed] {
            assert!(far.tell(Note { number: 2 }).is_err());
            let asked = world.env.block_on(far.ask(Note { number: 3 }).into_future());
            assert!(matches!(asked, Err(AskError::Stopped)), "{asked:?}");
        }
    }
}
