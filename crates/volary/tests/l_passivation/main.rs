//! L22 and S14: actors that let go of their state, and come back with the next message.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

#[path = "../common/mod.rs"]
mod common;
mod endings;
mod eviction;
mod sleep;
mod threads;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary::{
    ActorPassivated, ActorWoken, AskError, DeadLetter, Eviction, Passivation, Props, SpawnError, SystemBuilder,
    Terminated,
};

const MS: Duration = Duration::from_millis(1);
const HOUR: Duration = Duration::from_secs(3_600);

/// Counts what it was told in this incarnation.
struct Session {
    log: Log,
    count: u64,
    refuse: Arc<AtomicBool>,
    hang: Arc<AtomicBool>,
}

#[derive(Message)]
#[message(reply = u64)]
struct Later(u64);

#[actor]
impl Session {
    async fn started(&mut self) -> Result<(), Fault> {
        if self.refuse.load(Ordering::SeqCst) {
            return Err(Fault::msg("not today"));
        }
        self.log.push("started");
        Ok(())
    }
    async fn stopping(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        if self.hang.load(Ordering::SeqCst) {
            ctx.sleep(HOUR).await;
        }
        Ok(())
    }
    async fn stopped(&mut self) -> Result<(), Fault> {
        self.log.push(format!("stopped at {}", self.count));
        Ok(())
    }
    fn add(&mut self) -> u64 {
        self.count += 1;
        self.count
    }
    async fn nap(&mut self, time: Duration, ctx: &mut Context<Self>) {
        ctx.sleep(time).await;
    }
    fn work(&mut self, time: Duration, ctx: &mut Context<Self>) {
        let sleep = ctx.sleep(time);
        ctx.spawn(sleep);
    }
    fn request(&mut self, other: ActorRef<Session>, time: Duration, ctx: &mut Context<Self>) -> Result<(), Fault> {
        ctx.request(&other, Nap { time }).then(|_: &mut Session, _, _| ())?;
        Ok(())
    }
    #[handles]
    fn later(&mut self, later: Later, ctx: &mut Context<Self>) -> Result<u64, Failure> {
        if self.count == 0 {
            return Err(ctx.stash(later).map_err(Fault::from)?.into());
        }
        Ok(later.0)
    }
    fn open(&mut self, ctx: &mut Context<Self>) -> usize {
        self.count += 1;
        ctx.unstash_all()
    }
    async fn child(&mut self, ctx: &mut Context<Self>) -> Result<ActorRef<Session>, Fault> {
        let child = session(&self.log);
        ctx.spawn_child(child).await.or_fault()
    }
    fn tick(&mut self, ctx: &mut Context<Self>) {
        ctx.set_interval("tick", MS, AddTick);
    }
    #[handles]
    fn add_tick(&mut self, _: AddTick) {
        self.log.push("tick");
    }
    fn awake(&mut self, keep: bool, ctx: &mut Context<Self>) -> bool {
        if keep {
            ctx.pause_passivation()
        } else {
            ctx.resume_passivation()
        }
    }
    fn doze(&mut self, ctx: &mut Context<Self>) {
        ctx.passivate();
    }
    fn weigh(&mut self, bytes: u64, ctx: &mut Context<Self>) {
        ctx.set_heap_bytes(bytes);
    }
}

#[derive(Message, Clone)]
struct AddTick;

fn session(log: &Log) -> impl Fn() -> Session + Send + Sync + use<> {
    session_with(log, &Arc::default(), &Arc::default())
}

fn session_with(
    log: &Log,
    refuse: &Arc<AtomicBool>,
    hang: &Arc<AtomicBool>,
) -> impl Fn() -> Session + Send + Sync + use<> {
    let (log, refuse, hang) = (log.clone(), refuse.clone(), hang.clone());
    move || Session {
        log: log.clone(),
        count: 0,
        refuse: refuse.clone(),
        hang: hang.clone(),
    }
}

fn after(idle: Duration) -> Props {
    Props::new().passivation(Passivation::after(idle))
}

struct Watching(Log, ActorRef<Session>);

fn watcher(log: &Log, whom: &ActorRef<Session>) -> impl Fn() -> Watching + Send + Sync + use<> {
    let (log, whom) = (log.clone(), whom.clone());
    move || Watching(log.clone(), whom.clone())
}

#[actor]
impl Watching {
    fn look(&mut self, ctx: &mut Context<Self>) {
        ctx.watch(&self.1);
    }
    #[handles]
    fn gone(&mut self, _: Terminated) {
        self.0.push("gone");
    }
}

fn asleep(actors: &[ActorRef<Session>]) -> Vec<usize> {
    (0..actors.len())
        .filter(|index| actors[*index].status().asleep)
        .collect()
}
