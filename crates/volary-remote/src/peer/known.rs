//! The actors of a peer that are known here.

use std::collections::{BTreeMap, BTreeSet};

use volary_core::ActorId;
use volary_core::foreign::StandIn;

/// After how many new ones it is looked for those that nobody refers to.
const CROWD: usize = 4_096;

/// Whether somebody here watches an actor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Watched {
    Yes,
    No,
}

#[derive(Default)]
pub(crate) struct Known {
    by_address: BTreeMap<String, StandIn>,
    by_id: BTreeMap<ActorId, StandIn>,
    /// Those that have ended while messages to them may be on their way.
    ended: BTreeMap<ActorId, StandIn>,
    /// Addresses of those that somebody here watches.
    watched: BTreeSet<String>,
    /// How many there may be before somebody looks.
    crowd: usize,
    /// What the system calls itself that there is a connection to.
    system: Option<String>,
    /// The same, of the last one there was.
    last: Option<String>,
}

impl Known {
    pub(crate) fn get(&mut self, address: &str) -> Option<StandIn> {
        let found = self.by_address.get(address)?;
        if !found.has_ended() {
            return Some(found.clone());
        }
        self.remove(address);
        None
    }

    pub(crate) fn by_id(&self, id: ActorId) -> Option<StandIn> {
        self.by_id.get(&id).or_else(|| self.ended.get(&id)).cloned()
    }

    /// Whether it is this stand-in that is known by the address, and no later one.
    pub(crate) fn is(&self, address: &str, id: ActorId) -> bool {
        self.by_address.get(address).is_some_and(|known| known.id() == id)
    }

    /// True: there are many now, and some may be let go.
    pub(crate) fn insert(&mut self, address: String, stand_in: StandIn) -> bool {
        self.by_id.insert(stand_in.id(), stand_in.clone());
        self.by_address.insert(address, stand_in);
        self.by_address.len() > self.crowd.max(CROWD)
    }

    /// The actor has ended.
    pub(crate) fn remove(&mut self, address: &str) -> Option<StandIn> {
        self.watched.remove(address);
        let gone = self.by_address.remove(address)?;
        self.by_id.remove(&gone.id());
        self.ended.insert(gone.id(), gone.clone());
        Some(gone)
    }

    /// Notes whether somebody here watches the actor at `address` now.
    pub(crate) fn look_who_watches(&mut self, address: &str) -> Watched {
        if self.by_address.get(address).is_some_and(StandIn::is_watched) {
            self.watched.insert(address.to_owned());
            Watched::Yes
        } else {
            self.watched.remove(address);
            Watched::No
        }
    }

    pub(crate) fn watched(&self) -> Vec<String> {
        self.watched.iter().cloned().collect()
    }

    pub(crate) fn has_watched(&self) -> bool {
        !self.watched.is_empty()
    }

    /// Whether somebody here watches an actor of the system that was spoken to last: who is watched under another name is
    /// none of its actors.
    pub(crate) fn has_watched_of_last(&self) -> bool {
        let watched = self.watched.iter().filter_map(|address| self.by_address.get(address));
        let last = self.last.as_deref();
        watched
            .map(StandIn::address)
            .any(|address| last == Some(address.system()))
    }

    /// What the system calls itself, while there is a connection.
    pub(crate) fn system(&self) -> Option<&str> {
        self.system.as_deref()
    }

    /// What the addresses of those call the system to whom somebody here refers.
    pub(crate) fn names(&self) -> BTreeSet<String> {
        let alive = self.by_address.values().filter(|stand_in| !stand_in.has_ended());
        alive.map(|stand_in| stand_in.address().system().to_owned()).collect()
    }

    /// There is a connection, to a system that calls itself so: those whose addresses say otherwise are not there.
    pub(crate) fn begin(&mut self, system: &str) -> Vec<StandIn> {
        let mut strangers = self.end();
        self.system = Some(system.to_owned());
        self.last = Some(system.to_owned());
        strangers.extend(self.take_strangers());
        strangers
    }

    /// There is no connection any more, and who is there next may have the name that this one had not.
    pub(crate) fn end(&mut self) -> Vec<StandIn> {
        let strangers = self.take_strangers();
        self.system = None;
        strangers
    }

    fn take_strangers(&mut self) -> Vec<StandIn> {
        let Some(system) = &self.system else {
            return Vec::new();
        };
        let is_other =
            |(address, stand_in): (&String, &StandIn)| (stand_in.address().system() != system).then(|| address.clone());
        let strangers: Vec<String> = self.by_address.iter().filter_map(is_other).collect();
        strangers.iter().filter_map(|address| self.remove(address)).collect()
    }

    /// The life that was spoken to is over, or lost: takes out whoever is of that life, as the address says, and whom somebody
    /// watches, who is to hear of it. Others stand for whoever lives there, then as now.
    pub(crate) fn take_life(&mut self) -> Vec<StandIn> {
        let mut gone = self.end();
        let has_ended = |(address, stand_in): (&String, &StandIn)| {
            let is_of_life = stand_in.address().uid().is_some() || stand_in.is_watched();
            is_of_life.then(|| address.clone())
        };
        let ended: Vec<String> = self.by_address.iter().filter_map(has_ended).collect();
        gone.extend(ended.iter().filter_map(|address| self.remove(address)));
        self.watched.clear();
        gone
    }

    /// All of them have ended. They can still be found by their ids: somebody may just be sending to one.
    pub(crate) fn take_all(&mut self) -> Vec<StandIn> {
        self.watched.clear();
        self.system = None;
        self.ended.append(&mut self.by_id);
        std::mem::take(&mut self.by_address).into_values().collect()
    }

    /// Takes out those that nobody refers to: two references to each are ours. `receivers` are those that something is on
    /// its way to: they stay, or it could not be said to whom it was when it is lost.
    pub(crate) fn take_unused(&mut self, receivers: impl FnOnce() -> BTreeSet<ActorId>) -> Vec<StandIn> {
        let mut unused: Vec<(String, ActorId)> = self
            .by_address
            .iter()
            .filter(|(_, stand_in)| stand_in.has_ended() || stand_in.is_unused(2))
            .map(|(address, stand_in)| (address.clone(), stand_in.id()))
            .collect();
        if unused.is_empty() && self.ended.is_empty() {
            // Or the next one, and each after it, would have all of them looked at again.
            self.crowd = 2 * self.by_address.len();
            return Vec::new();
        }
        let receivers = receivers();
        unused.retain(|(_, id)| !receivers.contains(id));
        let taken = unused.iter().filter_map(|(address, _)| self.remove(address)).collect();
        self.ended.retain(|id, _| receivers.contains(id));
        self.crowd = 2 * self.by_address.len();
        taken
    }

    pub(crate) fn len(&self) -> usize {
        self.by_address.len() + self.ended.len()
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};
    use volary::prelude::*;

    use super::*;
    use crate::Remote;
    use crate::alone::{Alone, PEER};

    struct Desk;

    #[actor(kind = "test.Desk", remote(Note))]
    impl Desk {
        #[message(remote = "test.Note", codec = postcard, derive(Serialize, Deserialize))]
        fn note(&mut self) {}
    }

    #[test]
    fn r3_a_crowd_that_is_in_use_is_not_looked_through_for_each_newcomer() {
        let node = Alone::start(Remote::builder().kind::<Desk>());
        let far = |n: usize| -> ActorRef<Desk> {
            let address = format!("volary://stranger@{PEER}/user/desk-{n}");
            node.remote.actor(&address.parse().unwrap()).unwrap()
        };
        let all: Vec<ActorRef<Desk>> = (0..=CROWD).map(far).collect();
        let peer = node.peer();
        assert_eq!(
            peer.known.lock().crowd,
            2 * (CROWD + 1),
            "until there are twice as many"
        );
        drop(all);
        let more: Vec<ActorRef<Desk>> = (CROWD..=2 * CROWD + 3).map(far).collect();
        assert_eq!(
            peer.known.lock().len(),
            more.len(),
            "those that nobody refers to are let go"
        );
    }
}
