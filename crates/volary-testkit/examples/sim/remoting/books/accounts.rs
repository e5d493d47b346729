//! The accounts of messages: what senders count must fit with what became of each message where it was sent to.
//!
//! - Sender, at any moment: sent = confirmed + unconfirmed + unreachable + busy + under way, and sent is what was taken.
//! - Each message that is lost or refused on the way is one dead letter of its sender, with that reason.
//! - Receiver, at any moment: received = handled + refused + dead in a mailbox + waiting in one.
//! - Both, for each pair of nodes: confirmed + busy ≤ ended there, and received ≤ sent − unreachable.
//!
//! The room that is left in the last two is what the contract leaves. A connection takes confirmations with it that were on
//! their way: these messages are unconfirmed for their sender, and have ended. With a sender its books end: what was under
//! way may or may not have come. With a receiver its mailboxes do: what waited in them was received, and has not ended.

use volary_remote::PeerReading;

use super::super::NODES;
use super::Books;
use super::life::Life;

/// What all lives of a node know of another.
#[derive(Debug, Default, Clone, Copy)]
struct Sums {
    sent: u64,
    confirmed: u64,
    busy: u64,
    unreachable: u64,
    received: u64,
    /// Handled, refused, or dead in a mailbox.
    ended: u64,
}

impl Books {
    pub(in super::super) fn check_accounts(&mut self) {
        for at in 0..self.lives.len() {
            let dead = std::mem::take(&mut self.lives[at].letters.counts().dead);
            dead.into_iter().for_each(|id| self.died(at, id));
        }
        let mut sums = [[Sums::default(); NODES]; NODES];
        let mut wrong = Vec::new();
        for (at, life) in self.lives.iter().enumerate() {
            let readings = life.readings();
            let mut of_it = life.sender(&readings);
            of_it.extend(life.receiver(&readings));
            wrong.extend(of_it.into_iter().map(|what| format!("life {at}: {what}")));
            for (peer, reading) in readings {
                sums[life.node][peer].add(life, peer, &reading);
            }
        }
        for (from, to) in (0..NODES).flat_map(|from| (0..NODES).map(move |to| (from, to))) {
            let (sender, receiver) = (sums[from][to], sums[to][from]);
            if sender.confirmed + sender.busy > receiver.ended {
                wrong.push(format!(
                    "n{to} has confirmed to n{from} what has not ended: {sender:?}, {receiver:?}"
                ));
            }
            if receiver.received > sender.sent - sender.unreachable {
                wrong.push(format!(
                    "n{to} has of n{from} what never left: {sender:?}, {receiver:?}"
                ));
            }
        }
        self.wrong.append(&mut wrong);
    }
}

impl Sums {
    fn add(&mut self, life: &Life, peer: usize, reading: &PeerReading) {
        self.sent += reading.sent;
        self.confirmed += reading.confirmed;
        self.busy += reading.busy;
        self.unreachable += reading.unreachable;
        self.received += reading.received;
        self.ended += life.handled[peer] + life.dead[peer] + reading.refused;
    }
}

impl Life {
    /// Whether what was sent is somewhere, and each loss is a dead letter.
    fn sender(&self, readings: &[(usize, PeerReading)]) -> Vec<String> {
        let mut wrong = Vec::new();
        for (peer, reading) in readings {
            let ends = reading.confirmed + reading.unconfirmed + reading.unreachable + reading.busy;
            if reading.sent != ends + reading.under_way || reading.sent != self.taken[*peer] {
                let taken = self.taken[*peer];
                wrong.push(format!("the books do not balance: {taken} were taken, {reading:?}"));
            }
        }
        let sum = |count: fn(&PeerReading) -> u64| readings.iter().map(|(_, reading)| count(reading)).sum::<u64>();
        let letters = self.letters.counts();
        let pairs = [
            ("unconfirmed", letters.unconfirmed, sum(|reading| reading.unconfirmed)),
            ("unreachable", letters.unreachable, sum(|reading| reading.unreachable)),
            ("busy", letters.busy, sum(|reading| reading.busy)),
        ];
        for (reason, letters, losses) in pairs {
            if self.is_up() && letters != losses {
                wrong.push(format!("{letters} dead letters for {losses} losses that are {reason}"));
            }
        }
        // Of what is refused, asks are answered, and what is busy or was given up is for the sender to say.
        if self.is_up() && letters.refused > sum(|reading| reading.refused) {
            wrong.push(format!("{} dead letters for less that was refused", letters.refused));
        }
        wrong
    }

    /// Whether what was received is somewhere.
    fn receiver(&self, readings: &[(usize, PeerReading)]) -> Vec<String> {
        // Everything that waits takes up some room.
        let nothing_waits = self.is_up() && self.remote.inbound_bytes() == 0;
        let mut wrong = Vec::new();
        for (peer, reading) in readings {
            let ended = self.handled[*peer] + self.dead[*peer] + reading.refused;
            if ended > reading.received || (nothing_waits && ended != reading.received) {
                let (handled, dead) = (self.handled[*peer], self.dead[*peer]);
                wrong.push(format!(
                    "{handled} were handled and {dead} dead in a mailbox of {reading:?}"
                ));
            }
        }
        wrong
    }
}
