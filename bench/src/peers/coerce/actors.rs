//! The actors of the coerce contender, written as coerce's documentation writes
//! them: a type per message and an `async_trait` handler per message an actor
//! takes.

use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use coerce::actor::context::ActorContext;
use coerce::actor::message::Handler;
use coerce::actor::{Actor, LocalActorRef};
use tokio::net::TcpStream;

use super::send;
use crate::echo_server;
use crate::latch::{LAST, Latch};
use crate::peer::Work;

message! {
    /// Work to await.
    Do(Mutex<Work>) -> ()
}
message! {
    /// A told number.
    Tell(u64) -> ()
}
message! {
    /// An asked number.
    Ask(u64) -> u64
}
message! {
    /// A buffer to hand back.
    Keep(Vec<u8>) -> Vec<u8>
}
message! {
    /// Introduces the opponent.
    Meet(LocalActorRef<Player>) -> ()
}
message! {
    /// How long to sleep.
    Nap(Duration) -> ()
}

/// Awaits told work.
pub struct Job;
impl Actor for Job {}

#[async_trait]
impl Handler<Do> for Job {
    async fn handle(&mut self, Do(work): Do, _: &mut ActorContext) {
        work.into_inner().expect("work lock").await;
    }
}

/// Adds numbers.
pub struct Sink {
    pub sum: u64,
    pub latch: &'static Latch,
}
impl Actor for Sink {}

#[async_trait]
impl Handler<Tell> for Sink {
    async fn handle(&mut self, Tell(value): Tell, _: &mut ActorContext) {
        self.sum = self.sum.wrapping_add(value);
        if value == LAST {
            self.latch.arrive();
        }
    }
}

/// Replies with a sum.
pub struct Echo(pub u64);
impl Actor for Echo {}

#[async_trait]
impl Handler<Ask> for Echo {
    async fn handle(&mut self, Ask(value): Ask, _: &mut ActorContext) -> u64 {
        self.0 = self.0.wrapping_add(value);
        self.0
    }
}

#[async_trait]
impl Handler<Tell> for Echo {
    async fn handle(&mut self, Tell(value): Tell, _: &mut ActorContext) {
        self.0 = self.0.wrapping_add(value);
    }
}

/// Replies with the buffer.
pub struct Store;
impl Actor for Store {}

#[async_trait]
impl Handler<Keep> for Store {
    async fn handle(&mut self, Keep(bytes): Keep, _: &mut ActorContext) -> Vec<u8> {
        bytes
    }
}

/// Tells its opponent a falling number.
pub struct Player {
    pub opponent: Option<LocalActorRef<Player>>,
    pub latch: &'static Latch,
}
impl Actor for Player {}

#[async_trait]
impl Handler<Meet> for Player {
    async fn handle(&mut self, Meet(opponent): Meet, _: &mut ActorContext) {
        self.opponent = Some(opponent);
    }
}

#[async_trait]
impl Handler<Tell> for Player {
    async fn handle(&mut self, Tell(ball): Tell, _: &mut ActorContext) {
        match &self.opponent {
            Some(opponent) if ball > 0 => send(opponent, Tell(ball - 1)),
            _ => self.latch.arrive(),
        }
    }
}

/// Owns a connection.
pub struct Link(pub TcpStream);
impl Actor for Link {}

#[async_trait]
impl Handler<Ask> for Link {
    async fn handle(&mut self, Ask(value): Ask, _: &mut ActorContext) -> u64 {
        echo_server::round_trip(&mut self.0, value).await
    }
}

/// Suspends its handler on a timer.
pub struct Sleeper(pub &'static Latch);
impl Actor for Sleeper {}

#[async_trait]
impl Handler<Nap> for Sleeper {
    async fn handle(&mut self, Nap(time): Nap, _: &mut ActorContext) {
        self.0.arrive();
        tokio::time::sleep(time).await;
    }
}
