//! References and addresses in messages that are written with serde: always as the text of an address.

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::actor_ref::ActorRef;
use super::recipient::Recipient;
use super::resolve::Resolving;
use super::target::Target;
use crate::actor::Message;
use crate::tree::Address;

impl<T: Target> Serialize for ActorRef<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        outside(&self.address(), serializer)
    }
}

impl<'de, T: Target> Deserialize<'de> for ActorRef<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let address = String::deserialize(deserializer)?;
        Resolving::actor(&address).map_err(D::Error::custom)
    }
}

impl<M: Message> Serialize for Recipient<M> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        outside(&self.address(), serializer)
    }
}

impl<'de, M: Message> Deserialize<'de> for Recipient<M> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let address = String::deserialize(deserializer)?;
        Resolving::recipient(&address).map_err(D::Error::custom)
    }
}

fn outside<S: Serializer>(inside: &Address, serializer: S) -> Result<S::Ok, S::Error> {
    let address = Resolving::outside_address(inside).map_err(S::Error::custom)?;
    serializer.collect_str(&address)
}

impl Serialize for Address {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Address {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}
