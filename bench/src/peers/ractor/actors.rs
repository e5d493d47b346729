//! The actors of the ractor contender, written as ractor's documentation writes
//! them: a stateless behaviour, its state beside it, one message type each with
//! `RpcReplyPort` where a reply is wanted.

use std::time::Duration;

use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort};
use tokio::net::TcpStream;

use super::send;
use crate::echo_server;
use crate::latch::{LAST, Latch};
use crate::peer::Work;

/// What a handler returns.
pub type Handled = Result<(), ActorProcessingErr>;

/// Awaits told work.
pub struct Job;

impl Actor for Job {
    starts_with!(Work, ());

    async fn handle(&self, _: ActorRef<Work>, work: Work, _: &mut ()) -> Handled {
        work.await;
        Ok(())
    }
}

/// Adds numbers.
pub struct Sink(pub &'static Latch);

impl Actor for Sink {
    starts_with!(u64, u64);

    async fn handle(&self, _: ActorRef<u64>, value: u64, sum: &mut u64) -> Handled {
        *sum = sum.wrapping_add(value);
        if value == LAST {
            self.0.arrive();
        }
        Ok(())
    }
}

/// Replies with a sum.
pub struct Echo;

/// What `Echo` takes.
pub enum EchoMessage {
    /// Told.
    Poke(u64),
    /// Asked.
    Add(u64, RpcReplyPort<u64>),
}

impl Actor for Echo {
    starts_with!(EchoMessage, u64);

    async fn handle(
        &self,
        _: ActorRef<EchoMessage>,
        message: EchoMessage,
        sum: &mut u64,
    ) -> Handled {
        match message {
            EchoMessage::Poke(value) => *sum = sum.wrapping_add(value),
            EchoMessage::Add(value, reply) => {
                *sum = sum.wrapping_add(value);
                let _ = reply.send(*sum);
            }
        }
        Ok(())
    }
}

/// Replies with the buffer.
pub struct Store;

/// An ask of `Store`.
pub struct Keep(pub Vec<u8>, pub RpcReplyPort<Vec<u8>>);

impl Actor for Store {
    starts_with!(Keep, ());

    async fn handle(&self, _: ActorRef<Keep>, Keep(bytes, reply): Keep, _: &mut ()) -> Handled {
        let _ = reply.send(bytes);
        Ok(())
    }
}

/// Tells its opponent a falling number.
pub struct Player(pub &'static Latch);

/// What `Player` takes.
pub enum PlayerMessage {
    /// Introduces the opponent.
    Meet(ActorRef<PlayerMessage>),
    /// The ball.
    Ball(u64),
}

impl Actor for Player {
    starts_with!(PlayerMessage, Option<ActorRef<PlayerMessage>>);

    async fn handle(
        &self,
        _: ActorRef<PlayerMessage>,
        message: PlayerMessage,
        opponent: &mut Self::State,
    ) -> Handled {
        match (message, &opponent) {
            (PlayerMessage::Meet(other), _) => *opponent = Some(other),
            (PlayerMessage::Ball(ball), Some(opponent)) if ball > 0 => {
                send(opponent, PlayerMessage::Ball(ball - 1));
            }
            (PlayerMessage::Ball(_), _) => self.0.arrive(),
        }
        Ok(())
    }
}

/// Owns a connection.
pub struct Link;

/// An ask of `Link`.
pub struct Trip(pub u64, pub RpcReplyPort<u64>);

impl Actor for Link {
    starts_with!(Trip, TcpStream);

    async fn handle(
        &self,
        _: ActorRef<Trip>,
        Trip(value, reply): Trip,
        stream: &mut TcpStream,
    ) -> Handled {
        let _ = reply.send(echo_server::round_trip(stream, value).await);
        Ok(())
    }
}

/// Suspends its handler on a timer.
pub struct Sleeper(pub &'static Latch);

/// Told or asked to sleep.
pub struct Nap(pub Duration, pub Option<RpcReplyPort<()>>);

impl Actor for Sleeper {
    starts_with!(Nap, ());

    async fn handle(&self, _: ActorRef<Nap>, Nap(time, reply): Nap, _: &mut ()) -> Handled {
        self.0.arrive();
        tokio::time::sleep(time).await;
        if let Some(reply) = reply {
            let _ = reply.send(());
        }
        Ok(())
    }
}
