//! L21: the system's scheduler. Nearly everything in virtual time.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

#[path = "../common/mod.rs"]
mod common;
mod copies;
#[cfg(feature = "cron")]
mod cron;
mod handles;
mod limits;
mod receivers;
mod rhythm;
mod threads;

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary::{DeadLetter, DeadReason, Env, Moment, Schedule, ScheduleError, ScheduleFailed, SeededEnv};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

#[derive(Clone, Message)]
struct Tick(u32);

/// Writes down what came, and when.
struct Clock {
    log: Log,
    began: Moment,
}

impl Clock {
    fn make(system: &ActorSystem, log: &Log) -> impl Fn() -> Clock + Send + Sync + Clone + use<> {
        let (log, began) = (log.clone(), system.now());
        move || Clock {
            log: log.clone(),
            began,
        }
    }
}

#[actor]
impl Clock {
    async fn dawdle(&mut self, gate: tokio::sync::oneshot::Receiver<()>) {
        let _ = gate.await;
    }
    fn settle(&mut self) {}
    #[handles]
    fn tick(&mut self, tick: Tick, ctx: &mut Context<Self>) {
        let at = ctx.now().since(self.began).as_millis();
        self.log.push(format!("{}@{at}", tick.0));
    }
}

/// A story with a system and a clock.
fn clock_story<F: Future<Output = ()>>(story: impl Fn(ActorSystem, ActorRef<Clock>, Log) -> F + Copy + Send + 'static) {
    seeds_by_the_clock(move |env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let clock = system.spawn(Clock::make(&system, &log)).named("clock").await.unwrap();
        story(system.clone(), clock, log).await;
        system.stop().await.unwrap();
        assert_eq!(system.scheduler().len(), 0);
    });
}

fn letters(subscription: &volary::Subscription<DeadLetter>) -> Vec<(DeadReason, String)> {
    let mut all = Vec::new();
    while let Some(Ok(letter)) = subscription.try_next() {
        all.push((letter.reason(), letter.receiver().to_string()));
    }
    all
}

struct Clerk {
    senders: Arc<Mutex<Vec<Option<volary::ActorId>>>>,
}

#[actor]
impl Clerk {
    #[handles]
    fn tick(&mut self, _: Tick, ctx: &mut Context<Self>) {
        assert_eq!(ctx.time_left(), None, "nobody waits for this");
        self.senders.lock().unwrap().push(ctx.sender());
    }
}

/// A message that panics when it is copied the third time, or when the original is dropped.
#[derive(Message)]
struct Fragile {
    copies: Arc<AtomicUsize>,
    drop_fails: bool,
}

impl Clone for Fragile {
    fn clone(&self) -> Self {
        assert!(self.copies.fetch_add(1, SeqCst) != 2, "the third copy fails");
        Fragile {
            copies: self.copies.clone(),
            drop_fails: false,
        }
    }
}

impl Drop for Fragile {
    fn drop(&mut self) {
        assert!(!self.drop_fails || std::thread::panicking(), "the drop fails");
    }
}

fn fragile(drop_fails: bool) -> Fragile {
    Fragile {
        copies: Arc::default(),
        drop_fails,
    }
}

struct Keeper {
    log: Log,
}

#[actor]
impl Keeper {
    #[handles]
    fn fragile(&mut self, _: Fragile) {
        self.log.push("fragile");
    }
}

/// A message that uses its own schedule whenever it is copied.
#[derive(Message)]
struct Meddler {
    schedule: Arc<Mutex<Option<Schedule>>>,
    cancels: bool,
}

impl Clone for Meddler {
    fn clone(&self) -> Self {
        let schedule = self.schedule.lock().unwrap().clone().unwrap();
        assert!(schedule.is_active() && schedule.pause() && schedule.is_paused());
        assert!(schedule.resume() && !schedule.resume());
        if self.cancels {
            assert!(schedule.cancel());
        }
        Meddler {
            schedule: self.schedule.clone(),
            cancels: self.cancels,
        }
    }
}

struct Patience {
    log: Log,
}

#[actor]
impl Patience {
    #[handles]
    fn meddler(&mut self, _: Meddler) {
        self.log.push("copy");
    }
}

struct Counter {
    seen: Arc<Vec<AtomicUsize>>,
}

#[actor]
impl Counter {
    #[handles]
    fn tick(&mut self, tick: Tick) {
        self.seen[tick.0 as usize].fetch_add(1, SeqCst);
    }
}
