//! What the system of a peer is called: by addresses here, and by itself.
//!
//! An association leads to a node, `host:port`, and whoever lives there has one name. A node where none of the names that
//! addresses here say is right is not spoken to. Where one is, or where the node has called by itself, only those who
//! have another are not there.

use std::collections::{BTreeMap, BTreeSet};

use volary_core::foreign::StandIn;
use volary_wire::native::Text;

use super::{Lost, Peer};

/// More names than anybody needs for one node, and fewer than a handshake takes.
const MOST: usize = 8;

/// The names that the system of a peer may have; any, if there are none.
pub(crate) struct Called(BTreeSet<String>);

impl Called {
    /// The names as the other side is told; none, if they are more than it may be told.
    pub(crate) fn names(&self) -> Vec<Text> {
        if self.0.len() > MOST {
            return Vec::new();
        }
        self.0.iter().map(|name| name.as_str().into()).collect()
    }

    /// Whether a system of this name is meant.
    pub(crate) fn check(&self, system: &str) -> Result<(), String> {
        if self.0.is_empty() || self.0.contains(system) {
            return Ok(());
        }
        let names: Vec<String> = self.0.iter().map(|name| format!("{name:?}")).collect();
        Err(format!("the system there is {system:?}, not {}", names.join(" or ")))
    }
}

impl Peer {
    /// What the next connection is to lead to. An operation is asked of whoever is there.
    pub(crate) fn called(&self) -> Called {
        let outbound = self.outbound.lock();
        Called(if outbound.is_wanted() {
            BTreeSet::new()
        } else {
            self.known.lock().names()
        })
    }

    /// Whether the system that there is a connection to calls itself so.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.known.lock().system() == Some(name)
    }

    /// There is a connection, and these are not at its other end; nor does what has waited for them go there.
    pub(super) fn lose_strangers(&self, strangers: &[StandIn], lost: Vec<Lost>, system: &str) {
        let mut by_receiver: BTreeMap<_, Vec<Lost>> = BTreeMap::new();
        for lost in lost {
            by_receiver.entry(lost.receiver).or_default().push(lost);
        }
        for stranger in strangers {
            let address = stranger.address();
            let called = address.system();
            self.shared.report_misnamed(&self.node, called, system);
            let theirs = by_receiver.remove(&stranger.id()).unwrap_or_default();
            self.report_because(theirs, &why(called, system));
            stranger.end();
        }
    }
}

/// Why what was sent to a system is lost.
pub(super) fn why(called: &str, system: &str) -> String {
    format!("the system there is {system:?}, not {called:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn called(names: &[&str]) -> Called {
        Called(names.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn r5_all_names_are_said_unless_they_are_too_many() {
        assert_eq!(called(&["shop"]).names(), ["shop".into()]);
        assert_eq!(called(&["shop", "bank"]).names(), ["bank".into(), "shop".into()]);
        assert!(called(&[]).names().is_empty());
        assert!(
            called(&["a", "b", "c", "d", "e", "f", "g", "h", "i"])
                .names()
                .is_empty()
        );
    }

    #[test]
    fn r5_any_of_the_names_will_do_and_without_one_all() {
        assert_eq!(called(&["shop", "bank"]).check("bank"), Ok(()));
        assert_eq!(called(&[]).check("bank"), Ok(()));
        assert_eq!(
            called(&["shop", "mill"]).check("bank"),
            Err("the system there is \"bank\", not \"mill\" or \"shop\"".to_owned())
        );
    }
}
