//! What is still open, and what must be left when nothing is: no more than the nodes themselves.

use super::super::{ACTORS, NODES, at};
use super::Books;
use super::life::Life;
use super::people::Watched;

impl Books {
    /// What is still open, of those who live.
    pub(in super::super) fn unfinished(&self) -> Option<String> {
        for (at, life) in self.living() {
            for (what, begun) in [("asks", &life.asks), ("operations", &life.operations)] {
                if begun.begun != begun.ended {
                    return Some(format!(
                        "life {at}: {} of {} {what} have ended",
                        begun.ended, begun.begun
                    ));
                }
            }
            if let Some(reading) = life.remote.peers().into_iter().find(|peer| peer.under_way > 0) {
                return Some(format!("life {at}: messages are under way for ever: {reading:?}"));
            }
        }
        self.stopped_in_vain().or_else(|| self.watched_in_vain())
    }

    /// Mortals elsewhere may be watched without a right to: nothing is heard of them until they are given up.
    fn watched_in_vain(&self) -> Option<String> {
        let is_open = |life: usize, watched: &Watched| !self.lives[life].over && !watched.given_up && !watched.ended;
        let is_hopeless = |life: usize, who: u64| !self.is_invited(who) && self.watches_in_vain(life, who);
        let mut watches = self.watches.iter();
        let ((life, name, who), _) =
            watches.find(|((life, _, who), watched)| is_open(*life, watched) && !is_hopeless(*life, *who))?;
        Some(format!("{name} of life {life} never hears of the end of {who}"))
    }

    /// Whether nobody keeps what they should not.
    pub(in super::super) fn is_at_rest(&self) -> bool {
        self.living().all(|(_, life)| life.left().is_empty())
    }

    /// Whether it is so, and there is no connection any more, nor anybody known by one.
    pub(in super::super) fn is_apart(&self) -> bool {
        let mut readings = self.living().flat_map(|(_, life)| life.remote.peers());
        self.is_at_rest() && !readings.any(|reading| reading.connected)
    }

    /// True when everything has come to rest, and connections have ended that nobody needs.
    pub(in super::super) fn check_apart(&mut self) {
        self.check_at_rest();
        let readings = self.living().flat_map(|(_, life)| life.remote.peers());
        let connected = readings.filter(|reading| reading.connected);
        let wrong: Vec<String> = connected
            .map(|reading| format!("a connection that nobody needs: {reading:?}"))
            .collect();
        self.wrong.extend(wrong);
    }

    /// True when everything has come to rest.
    pub(in super::super) fn check_at_rest(&mut self) {
        let wrong: Vec<String> = self
            .living()
            .flat_map(|(at, life)| {
                life.left()
                    .into_iter()
                    .map(move |what| format!("life {at} at rest: {what}"))
            })
            .collect();
        self.wrong.extend(wrong);
    }
}

impl Life {
    /// What a node keeps that it should not, and of what it should have no cause to speak.
    fn left(&self) -> Vec<String> {
        let mut left: Vec<String> = self.uncounted().into_iter().collect();
        let readings = self.remote.peers();
        for reading in &readings {
            if (0..NODES).all(|node| at(node) != reading.node) {
                left.push(format!("a stranger is known: {reading:?}"));
            }
            if reading.breaches > 0 {
                left.push(format!("one of our own has broken a rule: {reading:?}"));
            }
            if reading.under_way as usize + reading.kept_bytes + reading.open_asks > 0 {
                left.push(format!("messages, bytes of them or asks: {reading:?}"));
            }
            if reading.known > 0 && !reading.connected {
                left.push(format!("actors that nobody refers to: {reading:?}"));
            }
        }
        let waiting = self.remote.inbound_bytes();
        if waiting > 0 {
            left.push(format!("{waiting} bytes wait in mailboxes"));
        }
        let actors = self.system.metrics().actors;
        if actors != ACTORS {
            left.push(format!("{actors} actors live here, and not {ACTORS}"));
        }
        let connected = readings.iter().filter(|reading| reading.connected).count();
        let open = self.machine.open_connections();
        if open != connected {
            left.push(format!("{open} connections are open for {connected} peers"));
        }
        left
    }
}
