//! L22, S14: where sleep, wake-up and drain meet timers, limits, hooks, children and answers.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test that meets an error fails")]

#[path = "../common/mod.rs"]
mod common;
mod endings;
mod idle;
mod turns;
mod wake_up;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary::{AnyRef, Directive, Eviction, MailboxKind, Passivation, Props, SpawnError, Supervision};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3_600);

/// Counts, crashes, sleeps.
struct Cat {
    log: Log,
    count: u64,
    hang: Arc<AtomicBool>,
}

#[derive(Message)]
struct Aside(#[allow(dead_code, reason = "it is there to be carried")] u64);

#[derive(Message, Clone)]
struct Tick;

#[actor]
impl Cat {
    fn started(&mut self) {
        self.log.push("started");
    }
    async fn stopping(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        if self.hang.load(Ordering::SeqCst) {
            ctx.sleep(SECOND).await;
        }
        Ok(())
    }
    fn stopped(&mut self) {
        self.log.push("stopped");
    }
    fn count(&mut self) -> u64 {
        self.count += 1;
        self.count
    }
    fn fall(&mut self) -> Result<(), Fault> {
        Err(Fault::msg("fell"))
    }
    #[handles]
    fn aside(&mut self, aside: Aside, ctx: &mut Context<Self>) -> Result<(), Failure> {
        if self.count == 0 {
            return Err(ctx.stash(aside).map_err(Fault::from)?.into());
        }
        ctx.passivate();
        Ok(())
    }
    fn open(&mut self, ctx: &mut Context<Self>) {
        self.count += 1;
        ctx.unstash_all();
    }
    async fn naps(&mut self, times: u32, ctx: &mut Context<Self>) -> u64 {
        for _ in 0..times {
            ctx.sleep(MS).await;
        }
        self.count += 1;
        self.count
    }
    fn tick_every(&mut self, time: Duration, ctx: &mut Context<Self>) {
        ctx.set_interval("tick", time, Tick);
    }
    #[handles]
    fn tick(&mut self, _: Tick) {}
    fn quiet_after(&mut self, time: Duration, ctx: &mut Context<Self>) {
        ctx.set_receive_timeout(time);
    }
    #[handles]
    fn quiet(&mut self, _: volary::ReceiveTimeout) {}
    /// Asks somebody, and is told to go before the answer is there.
    fn ask_and_doze(&mut self, other: ActorRef<Cat>, ctx: &mut Context<Self>) -> Result<(), Fault> {
        let log = self.log.clone();
        ctx.request(&other, Naps { times: 10 })
            .then(move |_: &mut Cat, _, _| log.push("answered"))?;
        ctx.passivate();
        Ok(())
    }
}

fn cat(log: &Log) -> impl Fn() -> Cat + Send + Sync + use<> {
    hanging_cat(log, &Arc::default())
}

fn hanging_cat(log: &Log, hang: &Arc<AtomicBool>) -> impl Fn() -> Cat + Send + Sync + use<> {
    let (log, hang) = (log.clone(), hang.clone());
    move || Cat {
        log: log.clone(),
        count: 0,
        hang: hang.clone(),
    }
}
