//! Dead letters and events of one life, counted as they are said: what a crash leaves behind is not among them, since with a
//! node its knowledge is gone as well.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use volary::{ActorSystem, DeadLetter, DeadReason, Subscription, SubscriptionOptions};
use volary_remote::PeerEvent;
use volary_testkit::sim::Node;

use super::super::clerk::{Hire, Letter, Present, Word};
use super::super::guest::{Chat, Meet};
use super::super::host::Remark;
use super::super::{NODES, at};

#[derive(Default)]
pub(super) struct Counts {
    /// Messages to other nodes, by what became of them.
    pub(super) unconfirmed: u64,
    pub(super) unreachable: u64,
    pub(super) busy: u64,
    /// Messages of other nodes that were told, and had nowhere to go.
    pub(super) refused: u64,
    /// The ids of messages that were in a mailbox, since this was last looked at.
    pub(super) dead: Vec<u64>,
    /// How often a node was given up, or came back as another.
    pub(super) lost: [u64; NODES],
}

pub(super) struct Letters {
    counts: Arc<Mutex<Counts>>,
    _subscriptions: (Subscription<DeadLetter>, Subscription<PeerEvent>),
}

impl Letters {
    pub(super) fn of(system: &ActorSystem, machine: &Node) -> Self {
        let counts: Arc<Mutex<Counts>> = Arc::default();
        // By the filter and not by what waits in a subscription: it is called where the event is, so that a look finds
        // the letter exactly if it finds what it is about.
        let (ours, up) = (counts.clone(), machine.clone());
        let letters = SubscriptionOptions::new().filter(move |letter: &DeadLetter| {
            if up.is_up() {
                lock(&ours).count(letter);
            }
            false
        });
        let ours = counts.clone();
        let events = SubscriptionOptions::new().filter(move |event: &PeerEvent| {
            if let PeerEvent::Lost { node } | PeerEvent::Quarantined { node, .. } = event
                && let Some(node) = (0..NODES).find(|known| at(*known) == *node)
            {
                lock(&ours).lost[node] += 1;
            }
            false
        });
        let events = system.events().subscribe_with(events);
        Letters {
            _subscriptions: (system.events().subscribe_with(letters), events),
            counts,
        }
    }

    pub(super) fn counts(&self) -> MutexGuard<'_, Counts> {
        lock(&self.counts)
    }
}

fn lock(counts: &Mutex<Counts>) -> MutexGuard<'_, Counts> {
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Counts {
    fn count(&mut self, letter: &DeadLetter) {
        if let Some(id) = id_of(letter) {
            return self.dead.push(id);
        }
        // What is not here any more, or never was, has gone to another node or come from one. The rest is local.
        match letter.reason() {
            DeadReason::Unconfirmed => self.unconfirmed += 1,
            // Asks that have waited for a connection for too long never leave either.
            DeadReason::Unreachable | DeadReason::Expired => self.unreachable += 1,
            DeadReason::Full => self.busy += 1,
            DeadReason::Nobody | DeadReason::Unhandled => self.refused += 1,
            _ => {}
        }
    }
}

/// The id of a message of another node that has waited in a mailbox.
fn id_of(letter: &DeadLetter) -> Option<u64> {
    let id = letter.take::<Letter>().map(|letter| letter.id);
    let id = id.or_else(|| Some(letter.take::<Hire>()?.id));
    let id = id.or_else(|| Some(letter.take::<Present>()?.id));
    let id = id.or_else(|| Some(letter.take::<Word>()?.id));
    let id = id.or_else(|| Some(letter.take::<Meet>()?.id));
    let id = id.or_else(|| Some(letter.take::<Chat>()?.id));
    id.or_else(|| Some(letter.take::<Remark>()?.id))
}
