//! All connections and listeners of a run, and what arrives at their ends.
//!
//! ```text
//!   connector                                  acceptor
//!     write ─▶ [pipe 0: on its way ─▶ arrived] ─▶ read
//!      read ◀─ [pipe 1: arrived ◀─ on its way] ◀─ write
//! ```
//!
//! A link that is cut, or a receiver that stands still, holds a pipe up: what is in it waits for the link to be mended or
//! the node to go on, and then takes its time again. No lock is held while anybody is woken.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::task::Waker;

use super::super::trace::NodeNumber;
use super::super::world::{Inner, World};
use super::pipe::{Item, Pipe};

/// How many connections may wait to be accepted; more are refused.
const BACKLOG: usize = 128;

/// Which end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Side {
    Connector,
    Acceptor,
}

impl Side {
    pub(super) fn other(self) -> Side {
        match self {
            Side::Connector => Side::Acceptor,
            Side::Acceptor => Side::Connector,
        }
    }
}

/// What an end of a connection is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// Not connected yet.
    Waiting,
    Refused,
    Open,
    Reset,
    /// Nobody holds this end any more.
    Closed,
    /// Its node has crashed.
    Dead,
}

pub(super) struct End {
    pub(super) node: NodeNumber,
    pub(super) standing: Standing,
    /// A program of the node has it in its hands.
    pub(super) is_held: bool,
}

pub(super) struct Connection {
    pub(super) ends: [End; 2],
    /// From the connector, and from the acceptor.
    pipes: [Pipe; 2],
}

impl Connection {
    pub(super) fn end(&mut self, side: Side) -> &mut End {
        &mut self.ends[side as usize]
    }

    /// The pipe that this side writes into.
    pub(super) fn from(&mut self, side: Side) -> &mut Pipe {
        &mut self.pipes[side as usize]
    }

    /// Nobody will look at it any more.
    fn is_over(&self) -> bool {
        let gone = |end: &End| matches!(end.standing, Standing::Closed | Standing::Dead);
        self.ends.iter().all(gone)
    }
}

#[derive(Default)]
pub(super) struct Listener {
    pub(super) number: u64,
    pub(super) waiting: VecDeque<u64>,
    pub(super) acceptor: Option<Waker>,
}

/// The table of all connections.
#[derive(Default)]
pub(crate) struct Connections {
    pub(super) open: BTreeMap<u64, Connection>,
    pub(super) listeners: BTreeMap<(NodeNumber, u16), Listener>,
    next: u64,
}

impl Connections {
    pub(super) fn next_number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    pub(super) fn get(&mut self, number: u64) -> Option<&mut Connection> {
        self.open.get_mut(&number)
    }

    /// The sides from which one node writes to another.
    pub(super) fn directions(&self, from: NodeNumber, to: NodeNumber) -> Vec<(u64, Side)> {
        let side = |connection: &Connection| match (connection.ends[0].node, connection.ends[1].node) {
            nodes if nodes == (from, to) => Some(Side::Connector),
            nodes if nodes == (to, from) => Some(Side::Acceptor),
            _ => None,
        };
        let all = self.open.iter();
        all.filter_map(|(number, connection)| Some((*number, side(connection)?)))
            .collect()
    }
}

/// Those to be woken when the lock is let go.
pub(super) type Wakers = Vec<Waker>;

impl Inner {
    /// A new connection whose wish to connect is on its way.
    pub(super) fn begin_connection(&mut self, from: NodeNumber, to: NodeNumber, port: u16) -> u64 {
        let number = self.connections.next_number();
        let end = |node, is_held| End {
            node,
            standing: Standing::Waiting,
            is_held,
        };
        let connection = Connection {
            ends: [end(from, true), end(to, false)],
            pipes: Default::default(),
        };
        self.connections.open.insert(number, connection);
        self.send_item(number, Side::Connector, Item::Open(port));
        number
    }

    /// Puts something on its way from one end to the other.
    pub(super) fn send_item(&mut self, number: u64, side: Side, item: Item) {
        let Some(connection) = self.connections.open.get_mut(&number) else {
            return;
        };
        let (from, to) = (connection.end(side).node, connection.end(side.other()).node);
        let bytes = if let Item::Bytes(bytes) = &item { bytes.len() } else { 0 };
        let at = self.network.deliver(self.now, from, to, bytes, &mut self.chance);
        connection.from(side).send(at, item);
        self.await_arrival(number, side);
    }

    /// Sees to it that somebody looks when the next thing of a pipe arrives.
    pub(super) fn await_arrival(&mut self, number: u64, side: Side) {
        let Some(connection) = self.connections.open.get_mut(&number) else {
            return;
        };
        let pipe = connection.from(side);
        let Some(at) = pipe.next_arrival().filter(|_| !pipe.stalled && !pipe.silent) else {
            return;
        };
        if pipe.awaited.is_some_and(|awaited| awaited <= at) {
            return;
        }
        pipe.awaited = Some(at);
        self.under_way(at, Box::new(move |world| world.pump(number, side)));
    }

    /// Everything that has arrived at the end of a pipe by now.
    fn arrivals(&mut self, number: u64, side: Side, wakers: &mut Wakers) {
        loop {
            let now = self.now;
            let Some(connection) = self.connections.open.get_mut(&number) else {
                return;
            };
            let (from, to) = (connection.end(side).node, connection.end(side.other()).node);
            let pipe = connection.from(side);
            if pipe.silent || pipe.next_arrival().is_none_or(|at| at > now) {
                break;
            }
            let node = &self.nodes[to.0 as usize];
            if self.network.is_cut(from, to) || (node.up && node.stands_still()) {
                pipe.stalled = true;
                break;
            }
            let Some(item) = pipe.take_arrived(now) else { break };
            self.arrive(number, side, item, wakers);
        }
        self.await_arrival(number, side);
        self.forget_if_over(number);
    }

    pub(super) fn forget_if_over(&mut self, number: u64) {
        if self.connections.open.get(&number).is_some_and(Connection::is_over) {
            self.connections.open.remove(&number);
        }
    }

    /// Something of `side` has arrived at the other end.
    fn arrive(&mut self, number: u64, side: Side, item: Item, wakers: &mut Wakers) {
        let Some(connection) = self.connections.open.get_mut(&number) else {
            return;
        };
        let (from, to) = (connection.end(side).node, connection.end(side.other()).node);
        let standing = connection.end(side.other()).standing;
        match item {
            Item::Open(port) => self.knock(number, to, port, wakers),
            Item::Welcome | Item::Refused if standing != Standing::Waiting => {}
            Item::Welcome => {
                connection.end(side.other()).standing = Standing::Open;
                wakers.extend(connection.from(side).waiting());
            }
            Item::Refused => {
                connection.end(side.other()).standing = Standing::Refused;
                wakers.extend(connection.from(side).waiting());
                self.say(to, from, "is refused by");
            }
            // A machine answers for connections that it does not have any more.
            Item::Bytes(_) if matches!(standing, Standing::Closed | Standing::Dead) => {
                if self.nodes[to.0 as usize].up {
                    self.send_item(number, side.other(), Item::Reset);
                }
            }
            // It was ended on the way: nobody reads what comes behind that, and so it takes up no room.
            Item::Bytes(_) if connection.from(side).finished => wakers.extend(connection.from(side).writer.take()),
            Item::Bytes(bytes) => {
                self.trace.absorb(bytes.len() as u64);
                let pipe = connection.from(side);
                pipe.put(&bytes);
                wakers.extend(pipe.reader.take());
            }
            Item::End => {
                let pipe = connection.from(side);
                let was_known = std::mem::replace(&mut pipe.finished, true);
                wakers.extend(pipe.reader.take());
                if standing == Standing::Open && !was_known {
                    self.say(to, from, "hears the end of");
                }
            }
            Item::Reset => self.reset_end(number, side.other(), wakers),
        }
    }

    /// A wish to connect comes to the door of a node.
    fn knock(&mut self, number: u64, to: NodeNumber, port: u16, wakers: &mut Wakers) {
        let up = self.nodes[to.0 as usize].up;
        let listener = self.connections.listeners.get_mut(&(to, port)).filter(|_| up);
        let heard = match listener {
            Some(listener) if listener.waiting.len() < BACKLOG => {
                listener.waiting.push_back(number);
                wakers.extend(listener.acceptor.take());
                true
            }
            _ => false,
        };
        let (standing, answer) = if heard {
            (Standing::Open, Item::Welcome)
        } else {
            (Standing::Closed, Item::Refused)
        };
        if let Some(connection) = self.connections.open.get_mut(&number) {
            connection.end(Side::Acceptor).standing = standing;
        }
        self.send_item(number, Side::Acceptor, answer);
    }

    /// This end learns that the connection is no more.
    pub(super) fn reset_end(&mut self, number: u64, side: Side, wakers: &mut Wakers) {
        let Some(connection) = self.connections.open.get_mut(&number) else {
            return;
        };
        let end = connection.end(side);
        if !matches!(end.standing, Standing::Open | Standing::Waiting) {
            return;
        }
        end.standing = Standing::Reset;
        let (here, there) = (end.node, connection.end(side.other()).node);
        // What has come and was not read is gone as well.
        connection.from(side.other()).discard();
        connection.from(side).cut_off(0);
        wakers.extend(connection.from(side).waiting());
        wakers.extend(connection.from(side.other()).waiting());
        self.say(here, there, "sees a connection reset with");
    }

    /// One end gives up: it is reset at once, the other one when it hears of it.
    pub(super) fn abort(&mut self, number: u64, side: Side, wakers: &mut Wakers) {
        self.reset_end(number, side, wakers);
        self.send_item(number, side, Item::Reset);
    }

    /// All connections between two nodes are reset, at both ends.
    fn reset_between(&mut self, one: NodeNumber, other: NodeNumber, wakers: &mut Wakers) {
        for (number, _) in self.connections.directions(one, other) {
            self.reset_end(number, Side::Connector, wakers);
            self.reset_end(number, Side::Acceptor, wakers);
        }
    }

    /// Nobody holds this end any more.
    pub(super) fn close(&mut self, number: u64, side: Side) {
        let Some(connection) = self.connections.open.get_mut(&number) else {
            return;
        };
        let end = connection.end(side);
        end.is_held = false;
        let standing = std::mem::replace(&mut end.standing, Standing::Closed);
        let incoming = connection.from(side.other());
        incoming.reader = None;
        match standing {
            // As TCP does: whoever still sends learns that nobody will read it.
            Standing::Open if incoming.readable() > 0 => self.send_item(number, side, Item::Reset),
            Standing::Open => self.send_end(number, side),
            Standing::Waiting => self.send_item(number, side, Item::Reset),
            Standing::Dead => connection.end(side).standing = Standing::Dead,
            _ => {}
        }
        self.forget_if_over(number);
    }

    /// Says that nothing more will come from this end; once.
    pub(super) fn send_end(&mut self, number: u64, side: Side) {
        let Some(connection) = self.connections.open.get_mut(&number) else {
            return;
        };
        if !std::mem::replace(&mut connection.from(side).ended, true) {
            self.send_item(number, side, Item::End);
        }
    }

    /// A link was mended or a node goes on: what was held up sets out again.
    pub(crate) fn release_streams(&mut self) {
        let numbers: Vec<u64> = self.connections.open.keys().copied().collect();
        for number in numbers {
            for side in [Side::Connector, Side::Acceptor] {
                let Some(connection) = self.connections.open.get_mut(&number) else {
                    continue;
                };
                let (from, to) = (connection.end(side).node, connection.end(side.other()).node);
                let pipe = connection.from(side);
                let node = &self.nodes[to.0 as usize];
                if !pipe.stalled || self.network.is_cut(from, to) || (node.up && node.stands_still()) {
                    continue;
                }
                pipe.stalled = false;
                let at = self.network.deliver(self.now, from, to, 0, &mut self.chance);
                pipe.delay_until(at);
                pipe.awaited = None;
                self.await_arrival(number, side);
            }
        }
    }

    /// A line of the timeline about two nodes.
    pub(super) fn say(&mut self, here: NodeNumber, there: NodeNumber, what: &str) {
        let (now, there) = (self.now, self.nodes[there.0 as usize].name.clone());
        self.trace.note(now, Some(here), None, format_args!("{what} {there}"));
    }
}

impl World {
    fn pump(self: &Arc<Self>, number: u64, side: Side) {
        self.with_wakers(|inner, wakers| {
            if let Some(connection) = inner.connections.open.get_mut(&number) {
                connection.from(side).awaited = None;
                inner.arrivals(number, side, wakers);
            }
        });
    }

    pub(crate) fn reset_streams(&self, one: NodeNumber, other: NodeNumber) {
        self.with_wakers(|inner, wakers| inner.reset_between(one, other, wakers));
    }

    /// Changes something under the lock, and wakes whoever waited for it without.
    pub(super) fn with_wakers<R>(&self, change: impl FnOnce(&mut Inner, &mut Wakers) -> R) -> R {
        let mut wakers = Vec::new();
        let result = change(&mut self.inner(), &mut wakers);
        wakers.into_iter().for_each(Waker::wake);
        result
    }
}
