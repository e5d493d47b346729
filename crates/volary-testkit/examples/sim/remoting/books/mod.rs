//! What is written down of a run beside the nodes, so that it outlives their crashes, and what must be true of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use volary::ActorSystem;
use volary_remote::{PeerReading, Remote};
use volary_testkit::sim::Node;

/// One life of a node, from a start to a crash.
pub(super) struct Life {
    node: usize,
    system: ActorSystem,
    remote: Remote,
    machine: Node,
    over: bool,
    /// Messages of other nodes that became dead letters here, when it was last looked.
    dead: u64,
    /// Messages of other nodes whose handlers have begun.
    handled: u64,
    asked: u64,
    ended: u64,
}

impl Life {
    /// Messages of other nodes that became dead letters here.
    fn dead_here(&self) -> u64 {
        let abroad = self.total(|peer| peer.unreachable + peer.unconfirmed + peer.busy);
        self.system.metrics().dead_letters.saturating_sub(abroad)
    }

    fn refused(&self) -> u64 {
        self.total(|peer| peer.refused)
    }

    fn total(&self, count: fn(&PeerReading) -> u64) -> u64 {
        self.remote.peers().iter().map(count).sum()
    }
}

/// Somebody watches somebody.
#[derive(Default)]
struct Watched {
    ended: u32,
    given_up: bool,
}

#[derive(Default)]
pub(super) struct Books {
    pub(super) lives: Vec<Life>,
    /// Nothing new is begun.
    pub(super) quiet: bool,
    numbers: BTreeMap<(String, String), u64>,
    arrived: BTreeMap<(String, String), u64>,
    ids: u64,
    handled: BTreeSet<u64>,
    /// By the life of the watcher, its name, and the mortal.
    watches: BTreeMap<(usize, String, u64), Watched>,
    wrong: Vec<String>,
}

/// What all nodes of a run write into.
#[derive(Clone, Default)]
pub(super) struct Paper(Arc<Mutex<Books>>);

impl Paper {
    pub(super) fn open(&self) -> MutexGuard<'_, Books> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Books {
    /// A node starts: whatever it was before is over.
    pub(super) fn over(&mut self, node: usize) {
        for life in self.lives.iter_mut().filter(|life| life.node == node) {
            life.over = true;
        }
    }

    pub(super) fn begin(&mut self, node: usize, machine: Node, system: ActorSystem, remote: Remote) -> usize {
        self.lives.push(Life {
            node,
            system,
            remote,
            machine,
            over: false,
            dead: 0,
            handled: 0,
            asked: 0,
            ended: 0,
        });
        self.lives.len() - 1
    }

    pub(super) fn wrong(&mut self, what: String) {
        self.wrong.push(what);
    }

    pub(super) fn is_wrong(&self) -> bool {
        !self.wrong.is_empty()
    }

    pub(super) fn next_id(&mut self) -> u64 {
        self.ids += 1;
        self.ids
    }

    /// The next number of a sender for a receiver.
    pub(super) fn next_number(&mut self, from: &str, to: &str) -> u64 {
        let number = self.numbers.entry((from.to_owned(), to.to_owned())).or_default();
        *number += 1;
        *number
    }

    /// A message has come: for the first time, and in order.
    pub(super) fn arrived(&mut self, life: usize, id: u64, from: &str, to: &str, number: u64) {
        self.lives[life].handled += 1;
        if !self.handled.insert(id) {
            self.wrong(format!("{to} handles {number} of {from} twice"));
        }
        let key = (from.to_owned(), format!("{life} {to}"));
        let last = self.arrived.insert(key, number).unwrap_or(0);
        if last >= number {
            self.wrong(format!("{to}: {number} of {from} comes after {last}"));
        }
    }

    pub(super) fn asked(&mut self, life: usize) {
        self.lives[life].asked += 1;
    }

    pub(super) fn ask_ended(&mut self, life: usize, late_by: Duration) {
        self.lives[life].ended += 1;
        if late_by > Duration::from_secs(10) {
            self.wrong(format!("an ask ends {late_by:?} after its deadline"));
        }
    }

    pub(super) fn watches(&mut self, life: usize, name: &str, mortal: u64) {
        self.watches.insert((life, name.to_owned(), mortal), Watched::default());
    }

    pub(super) fn gives_up(&mut self, life: usize, name: &str, mortal: u64) {
        if let Some(watched) = self.watches.get_mut(&(life, name.to_owned(), mortal)) {
            watched.given_up = true;
        }
    }

    /// The end of a mortal is heard.
    pub(super) fn gone(&mut self, life: usize, name: &str, mortal: u64) {
        match self.watches.get_mut(&(life, name.to_owned(), mortal)) {
            Some(watched) if watched.ended == 0 && !watched.given_up => watched.ended = 1,
            _ => self.wrong(format!(
                "{name} hears of the end of {mortal} again, or without watching"
            )),
        }
    }

    /// A word of a mortal comes.
    pub(super) fn speaks(&mut self, life: usize, name: &str, mortal: u64) {
        let watched = self.watches.get(&(life, name.to_owned(), mortal));
        if watched.is_some_and(|watched| watched.ended > 0) {
            self.wrong(format!("{mortal} speaks to {name} after its end"));
        }
    }

    /// True at every moment: what was sent is somewhere.
    pub(super) fn check_senders(&mut self) {
        for life in self.lives.iter_mut().filter(|life| !life.over && life.machine.is_up()) {
            life.dead = life.dead_here();
        }
        for at in 0..self.lives.len() {
            for reading in self.lives[at].remote.peers() {
                let ends = reading.confirmed + reading.unconfirmed + reading.unreachable + reading.busy;
                if reading.sent != ends + reading.under_way {
                    self.wrong(format!("the books of life {at} do not balance: {reading:?}"));
                }
            }
        }
    }

    /// What is still open, of those who live.
    pub(super) fn unfinished(&self) -> Option<String> {
        for (at, life) in self.living() {
            if life.asked != life.ended {
                return Some(format!("life {at}: {} asks of {} have ended", life.ended, life.asked));
            }
            if let Some(reading) = life.remote.peers().into_iter().find(|peer| peer.under_way > 0) {
                return Some(format!("life {at}: messages are under way for ever: {reading:?}"));
            }
        }
        let open = |(key, watched): &(&(usize, String, u64), &Watched)| {
            !self.lives[key.0].over && !watched.given_up && watched.ended == 0
        };
        let (key, _) = self.watches.iter().find(open)?;
        Some(format!(
            "{} of life {} never hears of the end of {}",
            key.1, key.0, key.2
        ))
    }

    fn living(&self) -> impl Iterator<Item = (usize, &Life)> {
        self.lives.iter().enumerate().filter(|(_, life)| !life.over)
    }

    /// True when everything has come to rest.
    pub(super) fn check_at_rest(&mut self) {
        let mut wrong = Vec::new();
        for (at, life) in self.living() {
            for reading in life.remote.peers().into_iter().filter(|peer| peer.known > 0) {
                wrong.push(format!(
                    "life {at} still knows actors that nobody refers to: {reading:?}"
                ));
            }
        }
        for node in 0..super::NODES {
            wrong.extend(self.check_receiver(node));
        }
        self.wrong.append(&mut wrong);
    }

    /// Confirmed ≤ handled + dead there ≤ confirmed + unconfirmed.
    fn check_receiver(&self, node: usize) -> Option<String> {
        let name = super::at(node);
        let (mut confirmed, mut unconfirmed) = (0, 0);
        for life in &self.lives {
            for peer in life.remote.peers().into_iter().filter(|peer| peer.node == name) {
                confirmed += peer.confirmed + peer.busy;
                unconfirmed += peer.unconfirmed + peer.under_way;
            }
        }
        let lives: Vec<&Life> = self.lives.iter().filter(|life| life.node == node).collect();
        // What is refused on arrival is a dead letter here as well if it was told, and none if it was asked: all of both
        // is more than there was, and the larger one less. A crash makes dead letters of whatever waits, local messages
        // among it.
        let least = |life: &&Life| {
            let dead = if life.over { life.dead } else { life.dead_here() };
            life.handled + life.refused().max(dead)
        };
        let most = |life: &&Life| life.handled + life.refused() + life.dead_here();
        let (least, most): (u64, u64) = (lives.iter().map(least).sum(), lives.iter().map(most).sum());
        let fits = confirmed <= most && least <= confirmed + unconfirmed;
        (!fits)
            .then(|| format!("{name}: {confirmed} confirmed, {least} to {most} ended there, {unconfirmed} unconfirmed"))
    }

    pub(super) fn verdict(&mut self) -> Result<(), String> {
        if self.wrong.is_empty() {
            Ok(())
        } else {
            Err(std::mem::take(&mut self.wrong).join("; "))
        }
    }
}
