//! What the system of a peer is called: by addresses here, and by itself.
//!
//! An association leads to a node, `host:port`, and whoever lives there has one name. A node where none of the names that
//! addresses here say is right is not spoken to. Where one is, or where the node has called by itself, only those who
//! have another are not there.

use std::collections::BTreeSet;

use volary_core::foreign::StandIn;

use super::{Lost, Peer};

/// The names that the system of a peer may have; any, if there are none.
pub(crate) struct Called(BTreeSet<String>);

impl Called {
    /// The name, if there is one only.
    pub(crate) fn only(&self) -> Option<&str> {
        match self.0.first() {
            Some(name) if self.0.len() == 1 => Some(name),
            _ => None,
        }
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
    pub(super) fn lose_strangers(&self, strangers: &[StandIn], mut lost: Vec<Lost>, system: &str) {
        for stranger in strangers {
            let address = stranger.address();
            let called = address.system();
            self.shared.report_misnamed(&self.node, called, system);
            let (theirs, others) = lost.into_iter().partition(|lost| lost.receiver == stranger.id());
            lost = others;
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
    fn r5_a_name_is_said_if_there_is_one_only() {
        assert_eq!(called(&["shop"]).only(), Some("shop"));
        assert_eq!(called(&["shop", "bank"]).only(), None);
        assert_eq!(called(&[]).only(), None);
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
