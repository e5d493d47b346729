//! What an actor library supplies so that the programs in `programs/` can run
//! on it: the kinds of actor they need and the calls to reach them. Every
//! peer runs the very same program text; only these functions differ.

use std::future::Future;
use std::net::TcpStream;
use std::pin::Pin;
use std::time::Duration;

use crate::contender::Case;
use crate::latch::Latch;

/// A future for an actor to await inside its handler.
pub type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// After how many timers that were set and cancelled others get to run.
pub const PAUSE: u64 = 64;

/// What every address must be.
pub trait Address: Clone + Send + Sync + 'static {}
impl<T: Clone + Send + Sync + 'static> Address for T {}

/// An actor library on its runtime.
///
/// `slot` says where an actor or task is wanted: equal slots together, slots
/// 0 and 1 apart where the workload says so (`ask/cross-thread`); otherwise
/// it is a hint that a library which schedules by itself ignores.
pub trait Peer: Send + Sync + Sized + 'static {
    /// Starts the runtime that suits the workload.
    fn start(case: &Case) -> Self;

    /// Whether the library can do this workload at all.
    fn offers(_workload: &str) -> bool {
        true
    }

    /// Starts a client task (not an actor) on the library's runtime.
    fn task(&self, slot: usize, work: impl Future<Output = ()> + Send + 'static);

    /// Starts a further task from inside one that `task` started.
    fn detach(work: impl Future<Output = ()> + Send + 'static) {
        tokio::spawn(work);
    }

    /// Lets others run: from inside a task or a handler.
    fn pause() -> impl Future<Output = ()> + Send {
        tokio::task::yield_now()
    }

    /// An actor that awaits each told `Work` in its handler, one by one.
    type Job: Address;
    /// Spawns a `Job`.
    fn job(&self, slot: usize) -> impl Future<Output = Self::Job> + Send;
    /// Tells the actor to do `work`.
    fn run(job: &Self::Job, work: Work);

    /// An actor that adds told numbers and reports `LAST` to the latch.
    type Sink: Address;
    /// Spawns a `Sink` with an unbounded mailbox.
    fn sink(&self, slot: usize, latch: &'static Latch) -> impl Future<Output = Self::Sink> + Send;
    /// Tells the number; must not wait.
    fn tell(sink: &Self::Sink, value: u64);

    /// A `Sink` whose mailbox holds only so many messages.
    type Bounded: Address;
    /// Spawns a `Bounded` with room for `capacity` messages.
    fn bounded(
        &self,
        slot: usize,
        capacity: usize,
        latch: &'static Latch,
    ) -> impl Future<Output = Self::Bounded> + Send;
    /// Tells the number, waiting for room.
    fn tell_waiting(sink: &Self::Bounded, value: u64) -> impl Future<Output = ()> + Send;

    /// An actor that adds told and asked numbers and replies with the sum.
    type Echo: Address;
    /// Spawns an `Echo`.
    fn echo(&self, slot: usize) -> impl Future<Output = Self::Echo> + Send;
    /// Asks and awaits the reply.
    fn ask(echo: &Self::Echo, value: u64) -> impl Future<Output = u64> + Send;
    /// Tells without a reply.
    fn poke(echo: &Self::Echo, value: u64);

    /// An actor that replies with the very buffer it was asked with.
    type Store: Address;
    /// Spawns a `Store`.
    fn store(&self, slot: usize) -> impl Future<Output = Self::Store> + Send;
    /// Asks with a buffer and awaits it back.
    fn ask_bytes(store: &Self::Store, bytes: Vec<u8>) -> impl Future<Output = Vec<u8>> + Send;

    /// One of two actors that tell each other a falling number.
    type Player: Address;
    /// Spawns two that know each other, together on a slot. A player told 0
    /// reports to the latch, any other number it tells on, less one.
    fn players(
        &self,
        slot: usize,
        latch: &'static Latch,
    ) -> impl Future<Output = Self::Player> + Send;
    /// Serves the first ball.
    fn serve(player: &Self::Player, ball: u64);

    /// An actor that owns a connection and, asked, awaits one
    /// `echo_server::round_trip` in its handler.
    type Link: Address;
    /// Spawns a `Link` for a non-blocking stream.
    fn link(&self, slot: usize, stream: TcpStream) -> impl Future<Output = Self::Link> + Send;
    /// Asks for one round trip.
    fn round_trip(link: &Self::Link, value: u64) -> impl Future<Output = u64> + Send;

    /// An actor whose handler reports to the latch, then awaits a tokio timer.
    type Sleeper: Address;
    /// Spawns a `Sleeper`.
    fn sleeper(
        &self,
        slot: usize,
        latch: &'static Latch,
    ) -> impl Future<Output = Self::Sleeper> + Send;
    /// Asks it to sleep and awaits the reply.
    fn nap(sleeper: &Self::Sleeper, time: Duration) -> impl Future<Output = ()> + Send;
    /// Spawns `count` sleepers on the runtime and tells each to sleep.
    fn sleepers(
        &self,
        count: u64,
        time: Duration,
        latch: &'static Latch,
    ) -> impl Future<Output = ()> + Send;

    /// Sets `count` timers, each of which tells the sink `LAST` after `delay`.
    fn set_timers(
        &self,
        sink: &Self::Sink,
        count: u64,
        delay: Duration,
    ) -> impl Future<Output = ()> + Send;
    /// Sets such a timer and cancels it, `count` times.
    fn set_and_cancel(
        &self,
        sink: &Self::Sink,
        count: u64,
        delay: Duration,
    ) -> impl Future<Output = ()> + Send;

    /// Spawns `count` sinks named from `first` on in the library's registry
    /// (or a `HashMap` of addresses where it has none), then tells each
    /// `LAST`. They must stay alive and registered.
    fn named_sinks(
        &self,
        first: u64,
        count: u64,
        latch: &'static Latch,
    ) -> impl Future<Output = ()> + Send;

    /// Grows a tree of actors, ten children each down to `leaves` leaves, and
    /// returns the sum of the leaves' ordinals. Actors end when done.
    fn skynet(&self, leaves: u64) -> impl Future<Output = u64> + Send;
}
