//! Counters of what goes wrong or is out of the ordinary. The hot path counts nothing.

use crate::sync::atomic::{AtomicU64, Ordering::*};

#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) dead_letters: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) late_replies: AtomicU64,
    pub(crate) faults: AtomicU64,
    pub(crate) restarts: AtomicU64,
    pub(crate) slow_handlers: AtomicU64,
    pub(crate) unheard_rejections: AtomicU64,
    pub(crate) high_water: AtomicU64,
    pub(crate) passivated: AtomicU64,
    pub(crate) woken: AtomicU64,
    pub(crate) routees_lost: AtomicU64,
}

pub(crate) fn count(counter: &AtomicU64) -> u64 {
    counter.fetch_add(1, Relaxed)
}

/// A reading of the system's counters; see [`ActorSystem::metrics`](crate::ActorSystem::metrics).
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let metrics: system::Metrics = system.metrics();
/// assert_eq!((metrics.actors, metrics.dead_letters), (1, 0));
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Metrics {
    /// Live actors below `/user`.
    pub actors: usize,
    /// Messages that were taken and could not be delivered.
    pub dead_letters: u64,
    /// Messages that were refused and went back to their sender.
    pub refused: u64,
    /// Answers that came after their asker had given up.
    pub late_replies: u64,
    /// Crashes of actors.
    pub faults: u64,
    /// Restarts of actors.
    pub restarts: u64,
    /// Handlers that kept a worker for too long.
    pub slow_handlers: u64,
    /// Rejections of messages that were told, not asked.
    pub unheard_rejections: u64,
    /// Mailboxes that grew beyond the high-water mark.
    pub high_water: u64,
    /// Actors that were passivated.
    pub passivated: u64,
    /// Passivated actors that were started for a message.
    pub woken: u64,
    /// Routees that ended without being told to by their router.
    pub routees_lost: u64,
    /// Timers that are pending.
    pub timers: usize,
    /// Schedules that have not ended.
    pub schedules: usize,
    /// Events and messages of topics that were lost to slow subscribers.
    pub lost_events: u64,
    /// Bytes that mailboxes hold in blocks.
    pub mailbox_bytes: u64,
}

impl Counters {
    pub(crate) fn read(&self) -> Metrics {
        let get = |counter: &AtomicU64| counter.load(Relaxed);
        Metrics {
            passivated: get(&self.passivated),
            woken: get(&self.woken),
            routees_lost: get(&self.routees_lost),
            dead_letters: get(&self.dead_letters),
            refused: get(&self.refused),
            late_replies: get(&self.late_replies),
            faults: get(&self.faults),
            restarts: get(&self.restarts),
            slow_handlers: get(&self.slow_handlers),
            unheard_rejections: get(&self.unheard_rejections),
            high_water: get(&self.high_water),
            ..Metrics::default()
        }
    }
}
