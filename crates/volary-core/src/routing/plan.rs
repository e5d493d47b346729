//! What a strategy decides about one message. The seats it speaks of are counted round, so any number names one.

use std::time::Duration;

use crate::actor::{Fault, Message};
use crate::sync::atomic::{AtomicU64, Ordering::*};
use crate::system::SystemCore;

/// Who gets a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plan {
    /// The one in this seat; those after it if it takes nothing.
    One(u64),
    /// The one with the least to do, looked for from this seat on.
    Idlest(u64),
    /// The one that this place on the ring belongs to.
    Key(u64),
    /// Everybody.
    Each,
    /// Everybody, from this seat on; one answer is enough.
    First(u64),
    /// One after the other from this seat on, so far apart, until there is an answer.
    Chop(u64, Duration),
}

/// What a strategy may draw its decisions from besides the message.
#[derive(Clone, Copy)]
pub struct Lot<'a> {
    cursor: &'a AtomicU64,
    system: &'a SystemCore,
}

impl<'a> Lot<'a> {
    pub(super) fn new(cursor: &'a AtomicU64, system: &'a SystemCore) -> Self {
        Lot { cursor, system }
    }

    /// One after the other.
    #[inline]
    pub(super) fn next(self) -> u64 {
        self.cursor.fetch_add(1, Relaxed)
    }

    /// Anyone.
    pub(super) fn random(self) -> u64 {
        self.system.env().random()
    }
}

impl std::fmt::Debug for Lot<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Lot")
    }
}

/// A strategy, whatever the messages.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// use volary_core::routing::{Pool, RoundRobin, Router, Routing};
///
/// fn has_somebody<T: Target, S: Routing>(router: &Router<T, S>) -> bool {
///     router.size() > 0
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// assert!(has_somebody(&system.router(RoundRobin, Pool::of(2, Account::default)).await?));
/// # system.stop().await?; Ok(()) }
/// ```
pub trait Routing: Send + Sync + 'static {
    /// How many points each seat has on the ring; 0: there is no ring.
    #[doc(hidden)]
    fn points(&self) -> u32 {
        0
    }
}

/// Decides about messages of type `M`.
pub trait Plans<M: Message>: Routing {
    /// The decision, or the panic of a key function.
    #[doc(hidden)]
    fn plan(&self, message: &M, lot: Lot<'_>) -> Result<Plan, Fault>;

    /// A copy, from strategies that send a message more than once.
    #[doc(hidden)]
    fn copy(message: &M) -> Option<M> {
        let _ = message;
        None
    }
}
