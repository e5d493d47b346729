//! What only some libraries have, a trait for each ability. A contender that
//! has one hands its programs out in its `bench`; for the others the workload
//! is not offered.

use std::future::Future;

use crate::dormant::Dormancy;
use crate::fragile::Fragility;
use crate::lanes::Lanes;
use crate::latch::Latch;
use crate::peer::{Address, Peer};
use crate::tally::Tally;

/// Supervision that puts a failed actor back to work with new state.
pub trait Restarting: Peer {
    /// An actor with a `Fragile` as its state, and whoever restarts it: at
    /// once, always, without a limit.
    type Fallible: Address;
    /// Spawns a `Fallible`.
    fn fallible(&self, fragility: Fragility) -> impl Future<Output = Self::Fallible> + Send;
    /// Has it handle `faults` numbers, at each of which it fails, then `LAST`.
    /// Where what waits in a mailbox survives a failure they are told at once;
    /// where it does not, each incarnation is told its one when it is there.
    fn fail(fallible: &Self::Fallible, faults: u64);
}

/// A stash: messages put aside until the actor wants them.
pub trait Stashing: Peer {
    /// An actor that stashes each told number until it is told to open, then
    /// handles all it has, in order, and stashes again. After `LAST` it says
    /// how many it has handled, then reports to the latch.
    type Hoarder: Address;
    /// Spawns a `Hoarder`.
    fn hoarder(&self, latch: &'static Latch, handled: &'static Tally) -> impl Future<Output = Self::Hoarder> + Send;
    /// Tells a number; must not wait.
    fn put(hoarder: &Self::Hoarder, value: u64);
    /// Tells it to open.
    fn open(hoarder: &Self::Hoarder);
}

/// How a router spreads numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Spread {
    /// One actor after the other, or whatever comes nearest.
    InTurn,
    /// The same number to the same actor.
    ByKey,
}

/// A router: one address before several actors.
pub trait Routing: Peer {
    /// A router over `ROUTEES` actors, each of which adds up the numbers it
    /// gets and counts them in a lane of its own.
    type Router: Address;
    /// Whether it can spread by key.
    const HASHES: bool;
    /// Starts a `Router`.
    fn router(&self, spread: Spread, lanes: &'static Lanes) -> impl Future<Output = Self::Router> + Send;
    /// Tells one of them a number; must not wait.
    fn route(router: &Self::Router, value: u64);
}

/// Passivation: state is let go of, and comes back with a message.
pub trait Passivating: Peer {
    /// Actors with a `Dormant` as their state, each under an id of its own,
    /// and what it takes to reach them, awake or asleep.
    type Crowd: Send + 'static;
    /// Starts `count` of them with ids from `first` on.
    fn crowd(&self, first: u64, count: u64, dormancy: Dormancy) -> impl Future<Output = Self::Crowd> + Send;
    /// Has each let go of its state.
    fn passivate(&self, crowd: Self::Crowd) -> impl Future<Output = Self::Crowd> + Send;
    /// Tells each one message.
    fn wake(&self, crowd: Self::Crowd) -> impl Future<Output = Self::Crowd> + Send;
}

/// Publishing to whoever subscribed.
pub trait Publishing: Peer {
    /// What is published to, with its subscribers: each adds the numbers it
    /// gets and reports `LAST` to the latch.
    type Topic: Address;
    /// Starts `subscribers` of them.
    fn topic(&self, subscribers: usize, latch: &'static Latch) -> impl Future<Output = Self::Topic> + Send;
    /// Publishes a number to all; must not wait.
    fn publish(topic: &Self::Topic, value: u64);
}

/// The event stream, or what stands for it: whoever subscribed reads.
pub trait Announcing: Peer {
    /// As `Publishing::Topic`, for events of a type.
    type Events: Address;
    /// Starts `subscribers` who listen.
    fn events(&self, subscribers: usize, latch: &'static Latch) -> impl Future<Output = Self::Events> + Send;
    /// Publishes a number to all; must not wait.
    fn announce(events: &Self::Events, value: u64);
}

/// Streams that feed an actor, which slows them when it is slow.
pub trait Streaming: Peer {
    /// An actor that adds the elements and reports `LAST` to the latch.
    type Inlet: Address;
    /// Spawns an `Inlet`.
    fn inlet(&self, latch: &'static Latch) -> impl Future<Output = Self::Inlet> + Send;
    /// Feeds it a stream, from inside a task of the library's runtime.
    fn feed(inlet: &Self::Inlet, numbers: Numbers);
}

/// A stream of numbers that is always ready.
pub type Numbers = futures::stream::Iter<std::iter::Chain<std::ops::Range<u64>, std::iter::Once<u64>>>;
