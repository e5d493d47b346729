//! The actors of the actix contender, written as actix's book writes them: a
//! type per message, synchronous handlers, and `AtomicResponse` where a handler
//! awaits something.

use std::time::Duration;

use actix::fut::{ActorFutureExt, WrapFuture};
use actix::{Addr, AsyncContext, AtomicResponse, Context, Handler};
use tokio::net::TcpStream;

use crate::echo_server;
use crate::latch::{LAST, Latch};
use crate::peer::Work;

message! {
    /// Work to await.
    Do(Work) -> ()
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
    Meet(Addr<Player>) -> ()
}
message! {
    /// How long to sleep.
    Nap(Duration) -> ()
}

message! {
    /// How many timers to set, and after how long they go off.
    SetTimers(u64, Duration) -> ()
}
message! {
    /// How many timers to set and cancel, and after how long they would go off.
    SetAndCancel(u64, Duration) -> ()
}

/// Awaits told work.
pub struct Job;
actor!(Job);

impl Handler<Do> for Job {
    type Result = AtomicResponse<Self, ()>;

    fn handle(&mut self, Do(work): Do, _: &mut Context<Self>) -> Self::Result {
        AtomicResponse::new(Box::pin(work.into_actor(self)))
    }
}

/// Adds numbers.
pub struct Sink {
    pub sum: u64,
    pub latch: &'static Latch,
}
actor!(Sink);

impl Handler<Tell> for Sink {
    type Result = ();

    fn handle(&mut self, Tell(value): Tell, _: &mut Context<Self>) {
        self.sum = self.sum.wrapping_add(value);
        if value == LAST {
            self.latch.arrive();
        }
    }
}

impl Handler<SetTimers> for Sink {
    type Result = ();

    fn handle(&mut self, SetTimers(count, delay): SetTimers, ctx: &mut Context<Self>) {
        for _ in 0..count {
            ctx.run_later(delay, |sink, _| {
                sink.sum = sink.sum.wrapping_add(LAST);
                sink.latch.arrive();
            });
        }
    }
}

impl Handler<SetAndCancel> for Sink {
    type Result = ();

    fn handle(&mut self, SetAndCancel(count, delay): SetAndCancel, ctx: &mut Context<Self>) {
        for _ in 0..count {
            let timer = ctx.run_later(delay, |sink, _| sink.latch.arrive());
            ctx.cancel_future(timer);
        }
    }
}

/// Replies with a sum.
pub struct Echo(pub u64);
actor!(Echo);

impl Handler<Ask> for Echo {
    type Result = u64;

    fn handle(&mut self, Ask(value): Ask, _: &mut Context<Self>) -> u64 {
        self.0 = self.0.wrapping_add(value);
        self.0
    }
}

impl Handler<Tell> for Echo {
    type Result = ();

    fn handle(&mut self, Tell(value): Tell, _: &mut Context<Self>) {
        self.0 = self.0.wrapping_add(value);
    }
}

/// Replies with the buffer.
pub struct Store;
actor!(Store);

impl Handler<Keep> for Store {
    type Result = Vec<u8>;

    fn handle(&mut self, Keep(bytes): Keep, _: &mut Context<Self>) -> Vec<u8> {
        bytes
    }
}

/// Tells its opponent a falling number.
pub struct Player {
    pub opponent: Option<Addr<Player>>,
    pub latch: &'static Latch,
}
actor!(Player);

impl Handler<Meet> for Player {
    type Result = ();

    fn handle(&mut self, Meet(opponent): Meet, _: &mut Context<Self>) {
        self.opponent = Some(opponent);
    }
}

impl Handler<Tell> for Player {
    type Result = ();

    fn handle(&mut self, Tell(ball): Tell, _: &mut Context<Self>) {
        match &self.opponent {
            Some(opponent) if ball > 0 => opponent.do_send(Tell(ball - 1)),
            _ => self.latch.arrive(),
        }
    }
}

/// Owns a connection, lent to the handler's future while it runs.
pub struct Link(pub Option<TcpStream>);
actor!(Link);

impl Handler<Ask> for Link {
    type Result = AtomicResponse<Self, u64>;

    fn handle(&mut self, Ask(value): Ask, _: &mut Context<Self>) -> Self::Result {
        let mut stream = self.0.take().expect("one round trip at a time");
        let trip = async move {
            let value = echo_server::round_trip(&mut stream, value).await;
            (stream, value)
        };
        let back = |(stream, value), link: &mut Self, _: &mut Context<Self>| {
            link.0 = Some(stream);
            value
        };
        AtomicResponse::new(Box::pin(trip.into_actor(self).map(back)))
    }
}

/// Suspends its handler on a timer.
pub struct Sleeper(pub &'static Latch);
actor!(Sleeper);

impl Handler<Nap> for Sleeper {
    type Result = AtomicResponse<Self, ()>;

    fn handle(&mut self, Nap(time): Nap, _: &mut Context<Self>) -> Self::Result {
        self.0.arrive();
        AtomicResponse::new(Box::pin(tokio::time::sleep(time).into_actor(self)))
    }
}
