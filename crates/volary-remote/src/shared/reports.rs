//! What is said of peers, in the log and on the event stream: once, so that none of them can fill it.

use volary_core::foreign::Undeliverable;

use super::Shared;
use crate::event::PeerEvent;
use crate::trust::Right;

/// Of how many it is remembered what was said of them, and how much of each.
const SAID_OF: usize = 1_000;
const SAID_OF_EACH: usize = 32;
/// Of how many characters: a peer has some of the words.
const LONGEST: usize = 256;

/// As much of a reason as is said and remembered.
pub(crate) fn cut(why: &str) -> &str {
    why.char_indices().nth(LONGEST).map_or(why, |(end, _)| &why[..end])
}

impl Shared {
    /// Whether this was not said before. Of each not too much is said, so that none can fill the log, nor keep anything
    /// from being said of others.
    pub(super) fn is_new(&self, of: &str, what: &str) -> bool {
        let (of, what) = (cut(of), cut(what));
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
        let why = cut(why);
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

#[cfg(test)]
mod tests {
    use volary_wire::native::{Bounds, Frame, Hello, Lane, VERSIONS};

    use super::*;
    use crate::alone::{Alone, Wire};
    use crate::transport::Connection;
    use crate::{PeerEvent, Remote};

    fn remembered(shared: &Shared) -> Vec<usize> {
        let said = shared.said.lock();
        let words = said.iter().flat_map(|(of, whats)| whats.iter().chain([of]));
        words.map(|word| word.chars().count()).collect()
    }

    #[test]
    fn r3_a_reason_that_is_long_is_cut_where_it_is_said_and_remembered() {
        let node = Alone::start(Remote::builder());
        let events = node.system.events().subscribe::<PeerEvent>();
        // Of letters that are more than a byte each.
        let long = "ä".repeat(100_000);
        node.shared().report_refused("127.0.0.1:9", &long);
        node.shared()
            .report_refused("127.0.0.1:9", &format!("{long}, and more"));
        let Ok(PeerEvent::Refused { why, .. }) = events.try_next().unwrap() else {
            panic!("something else was said")
        };
        assert_eq!(why, "ä".repeat(LONGEST));
        assert!(events.try_next().is_none(), "it is the same as far as it is said");
        assert_eq!(remembered(node.shared()), [LONGEST, 11]);
        assert_eq!((cut(""), cut("short")), ("", "short"));
    }

    #[test]
    fn r3_of_the_words_of_a_caller_that_is_refused_few_are_remembered_and_said_again() {
        let node = Alone::start(Remote::builder());
        let hello = |node: &str, called: &[&str]| {
            Frame::Hello(Hello {
                versions: VERSIONS,
                cluster: "".into(),
                system: "stranger".into(),
                node: node.into(),
                incarnation: 1,
                lane: Lane::Control,
                capabilities: Vec::new(),
                compressions: Vec::new(),
                called: called.iter().map(|one| (*one).into()).collect(),
                bounds: Bounds::default(),
            })
        };
        // Each of them is written as four letters or more.
        let long = "\u{1}".repeat(7_000);
        for hello in [hello(&long, &[]), hello("127.0.0.1:9", &[&long, &long])] {
            let wire = Wire::new(usize::MAX);
            let greeting = wire.greeting(1);
            let connection = Connection {
                reader: greeting.reader,
                writer: greeting.writer,
                from: "127.0.0.1:50000".to_owned(),
                identity: None,
            };
            wire.say([hello]);
            node.system
                .world()
                .spawn(Box::pin(node.shared().clone().welcome(connection)));
            node.settle();
            let [Frame::Refuse(refuse)] = &wire.heard_frames()[..] else {
                panic!("it was not refused")
            };
            assert_eq!(refuse.text.as_str().chars().count(), LONGEST, "{refuse:?}");
        }
        let remembered = remembered(node.shared());
        assert!(
            remembered.len() == 3 && remembered.iter().all(|length| *length <= LONGEST),
            "{remembered:?}"
        );
    }
}
