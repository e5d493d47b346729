//! The actors of the Volary contender, written as its README writes them.

use std::time::Duration;

use tokio::net::TcpStream;
use volary::prelude::*;

use crate::echo_server;
use crate::latch::{LAST, Latch};
use crate::peer::Work;

/// Awaits told work.
pub struct Job;

#[actor]
impl Job {
    /// Does the work in the handler.
    pub async fn run(&mut self, work: Work) {
        work.await;
    }
}

/// Adds numbers.
pub struct Sink {
    sum: u64,
    latch: &'static Latch,
}

impl Sink {
    /// A sink that reports to `latch`.
    pub fn new(latch: &'static Latch) -> Self {
        Self { sum: 0, latch }
    }
}

#[actor]
impl Sink {
    /// Adds one number.
    pub fn put(&mut self, value: u64) {
        self.sum = self.sum.wrapping_add(value);
        if value == LAST {
            self.latch.arrive();
        }
    }
}

/// Replies with a sum.
pub struct Echo {
    /// So far.
    pub sum: u64,
}

#[actor]
impl Echo {
    /// Adds and replies; told or asked.
    pub fn add(&mut self, value: u64) -> u64 {
        self.sum = self.sum.wrapping_add(value);
        self.sum
    }
}

/// Replies with what it was given.
pub struct Store;

#[actor]
impl Store {
    /// Gives the buffer back.
    pub fn keep(&mut self, bytes: Vec<u8>) -> Vec<u8> {
        bytes
    }
}

/// Tells a falling number back and forth.
pub struct Player {
    /// The other one.
    pub other: Option<ActorRef<Player>>,
    /// Whom to report the end to.
    pub latch: &'static Latch,
}

#[actor]
impl Player {
    /// Introduces the other player.
    pub fn meet(&mut self, other: ActorRef<Player>) {
        self.other = Some(other);
    }

    /// Tells the number on, less one.
    pub fn ball(&mut self, left: u64) {
        if left == 0 {
            self.latch.arrive();
        } else if let Some(other) = &self.other {
            let _ = other.tell(Ball { left: left - 1 });
        }
    }
}

/// Owns a connection.
pub struct Link {
    /// Taken by the factory when the actor starts.
    pub stream: TcpStream,
}

#[actor]
impl Link {
    /// One round trip.
    pub async fn trip(&mut self, value: u64) -> u64 {
        echo_server::round_trip(&mut self.stream, value).await
    }
}

/// Sleeps in its handler.
pub struct Sleeper(pub &'static Latch);

#[actor]
impl Sleeper {
    /// Awaits a tokio timer.
    pub async fn nap(&mut self, time: Duration) {
        self.0.arrive();
        tokio::time::sleep(time).await;
    }
}
