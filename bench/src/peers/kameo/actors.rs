//! The actors of the kameo contender, written as kameo's book writes them: a
//! struct per actor, a message type per call, `Message::handle` as an async
//! function.

use std::time::Duration;

use kameo::actor::ActorRef;
use kameo::message::{Context, Message};
use tokio::net::TcpStream;

use super::send;
use crate::echo_server;
use crate::latch::{LAST, Latch};
use crate::peer::Work;

/// Awaits told work.
pub struct Job;
actor!(Job);

impl Message<Work> for Job {
    type Reply = ();

    async fn handle(&mut self, work: Work, _: &mut Context<Self, ()>) {
        work.await;
    }
}

/// Adds numbers.
pub struct Sink {
    pub sum: u64,
    pub latch: &'static Latch,
}
actor!(Sink);

impl Message<u64> for Sink {
    type Reply = ();

    async fn handle(&mut self, value: u64, _: &mut Context<Self, ()>) {
        self.sum = self.sum.wrapping_add(value);
        if value == LAST {
            self.latch.arrive();
        }
    }
}

/// Replies with a sum.
pub struct Echo(pub u64);
actor!(Echo);

/// An ask of `Echo`.
pub struct Add(pub u64);

impl Message<Add> for Echo {
    type Reply = u64;

    async fn handle(&mut self, Add(value): Add, _: &mut Context<Self, u64>) -> u64 {
        self.0 = self.0.wrapping_add(value);
        self.0
    }
}

impl Message<u64> for Echo {
    type Reply = ();

    async fn handle(&mut self, value: u64, _: &mut Context<Self, ()>) {
        self.0 = self.0.wrapping_add(value);
    }
}

/// Replies with the buffer.
pub struct Store;
actor!(Store);

impl Message<Vec<u8>> for Store {
    type Reply = Vec<u8>;

    async fn handle(&mut self, bytes: Vec<u8>, _: &mut Context<Self, Vec<u8>>) -> Vec<u8> {
        bytes
    }
}

/// Tells its opponent a falling number.
pub struct Player {
    pub opponent: Option<ActorRef<Player>>,
    pub latch: &'static Latch,
}
actor!(Player);

/// Introduces the opponent.
pub struct Meet(pub ActorRef<Player>);

impl Message<Meet> for Player {
    type Reply = ();

    async fn handle(&mut self, Meet(opponent): Meet, _: &mut Context<Self, ()>) {
        self.opponent = Some(opponent);
    }
}

impl Message<u64> for Player {
    type Reply = ();

    async fn handle(&mut self, ball: u64, _: &mut Context<Self, ()>) {
        match &self.opponent {
            Some(opponent) if ball > 0 => send(opponent.tell(ball - 1).try_send()),
            _ => self.latch.arrive(),
        }
    }
}

/// Owns a connection.
pub struct Link(pub TcpStream);
actor!(Link);

impl Message<u64> for Link {
    type Reply = u64;

    async fn handle(&mut self, value: u64, _: &mut Context<Self, u64>) -> u64 {
        echo_server::round_trip(&mut self.0, value).await
    }
}

/// Suspends its handler on a timer.
pub struct Sleeper(pub &'static Latch);
actor!(Sleeper);

impl Message<Duration> for Sleeper {
    type Reply = ();

    async fn handle(&mut self, time: Duration, _: &mut Context<Self, ()>) {
        self.0.arrive();
        tokio::time::sleep(time).await;
    }
}
