//! What is said of peers, in the log and on the event stream: once, so that none of them can fill it.

use volary_core::foreign::Undeliverable;

use super::Shared;
use crate::event::PeerEvent;
use crate::trust::Right;

/// Of how many it is remembered what was said of them, and how much of each.
const SAID_OF: usize = 1_000;
const SAID_OF_EACH: usize = 32;

impl Shared {
    /// Whether this was not said before. Of each not too much is said, so that none can fill the log, nor keep anything
    /// from being said of others.
    pub(super) fn is_new(&self, of: &str, what: &str) -> bool {
        let mut said = self.said.lock();
        if said.len() >= SAID_OF && !said.contains_key(of) {
            said.clear();
        }
        let of_it = said.entry(of.to_owned()).or_default();
        of_it.len() < SAID_OF_EACH && of_it.insert(what.to_owned())
    }

    /// There is no connection to a node.
    pub(crate) fn report_not_connected(&self, node: &str, why: &str) {
        tracing::warn!(node, why, "no connection");
        self.publish(PeerEvent::NotConnected {
            node: node.to_owned(),
            why: why.to_owned(),
        });
    }

    /// A message was not delivered. Said once for each reason, so that a peer cannot fill the log.
    pub(crate) fn report_refused(&self, node: &str, why: &str) {
        if !self.is_new(node, why) {
            return;
        }
        tracing::warn!(node, why, "what another node sent was refused");
        self.publish(PeerEvent::Refused {
            node: node.to_owned(),
            why: why.to_owned(),
        });
    }

    /// A node whose system has another name than addresses here say. Said once for each name.
    pub(crate) fn report_misnamed(&self, node: &str, called: &str, system: &str) {
        if !self.is_new(node, &format!("misnamed: {called} {system}")) {
            return;
        }
        tracing::warn!(node, called, system, "the system there has another name");
        self.publish(PeerEvent::Misnamed {
            node: node.to_owned(),
            called: called.to_owned(),
            system: system.to_owned(),
        });
    }

    /// A node does not let this one do something. Said once for each right.
    pub(crate) fn report_forbidden(&self, node: &str, right: Right) {
        if !self.is_new(node, &format!("forbidden: {right}")) {
            return;
        }
        tracing::warn!(node, %right, "this node has no right to that there");
        let node = node.to_owned();
        self.publish(PeerEvent::Forbidden { node, right });
    }

    /// What a reference was told beside messages, as to stop, is lost. Said once.
    pub(crate) fn report_unsaid(&self, node: &str) {
        if self.is_new(node, "unsaid") {
            tracing::warn!(
                node,
                "actors there were told to stop, or the like, and will not hear of it; said once"
            );
        }
    }

    /// A message is more than a node takes. Said once for each type; senders hear it each time.
    pub(crate) fn report_unsendable(&self, node: &str, message: &str, to: &str, why: Undeliverable) {
        if self.is_new(node, &format!("unsendable: {message}")) {
            tracing::error!(message, to, %why, "a message cannot be sent");
        }
    }

    pub(crate) fn publish(&self, event: PeerEvent) {
        self.system.events().publish(event);
    }
}
