//! What messages are written with. Apart from everything else that a node has, since whoever keeps a reference to an actor
//! elsewhere keeps this.

use std::ops::Deref;
use std::sync::Arc;

use volary_core::{ActorId, ActorSystem, Address, Resolver};
use volary_wire::Registry;

use super::Shared;

pub(crate) struct Language {
    pub(crate) system: ActorSystem,
    pub(crate) registry: Registry,
    pub(crate) resolver: Arc<dyn Resolver>,
}

impl Language {
    /// The address of a local actor, as others know it.
    pub(crate) fn address_of(&self, id: ActorId) -> Option<String> {
        let path = self.system.path_of(id)?;
        let address = Address::local(self.system.name(), path).ok()?;
        let address = self.resolver.outside_address(&address.with_uid(id.uid()));
        Some(address.to_string())
    }
}

impl Deref for Shared {
    type Target = Language;

    fn deref(&self) -> &Language {
        &self.language
    }
}
