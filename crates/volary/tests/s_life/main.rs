//! S9 and S10: start, restart and faults.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

#[path = "../common/mod.rs"]
mod common;
mod hooks;
mod restart;
mod start;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary::{ActorFailed, ActorRestarted, ActorStarted, ActorStopped, DeadLetter, Env, SpawnError};

/// Starts as its plan says: how often to fail, and how.
#[derive(Clone, Default)]
struct Plan {
    log: Log,
    tries: Arc<AtomicU32>,
    fail_first: u32,
    how: How,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum How {
    #[default]
    Error,
    Panic,
    ErrorLater,
    Hang,
}

struct Starter(Plan);

#[actor]
impl Starter {
    async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        let plan = &self.0;
        let n = plan.tries.fetch_add(1, Ordering::SeqCst) + 1;
        plan.log.push(format!("try {n}"));
        if n <= plan.fail_first {
            match plan.how {
                How::Error => return Err(Broken(n)).or_fault(),
                How::Panic => panic!("start {n}"),
                How::ErrorLater => {
                    ctx.sleep(Duration::from_millis(1)).await;
                    return Err(Broken(n)).or_fault();
                }
                How::Hang => std::future::pending::<()>().await,
            }
        }
        plan.log.push("started");
        Ok(())
    }
    fn stopped(&mut self) {
        self.0.log.push("stopped");
    }
    fn first(&mut self) -> u32 {
        self.0.log.push("message");
        self.0.tries.load(Ordering::SeqCst)
    }
}

/// A tree of three levels.
struct Node {
    log: Log,
    name: String,
}

#[actor]
impl Node {
    fn stopping(&mut self) {
        self.log.push(format!("stopping {}", self.name));
    }
    async fn stopped(&mut self, ctx: &mut Context<Self>) {
        ctx.sleep(Duration::from_millis(ctx.random() % 3)).await;
        self.log.push(format!("stopped {}", self.name));
    }
    async fn grow(&mut self, ctx: &mut Context<Self>, depth: u32) {
        if depth == 0 {
            return;
        }
        for n in 0..2 {
            let (log, name) = (self.log.clone(), format!("{}{n}", self.name));
            let child = ctx
                .spawn_child(move || Node {
                    log: log.clone(),
                    name: name.clone(),
                })
                .named(format!("n{n}"))
                .await
                .unwrap();
            child.ask(Grow { depth: depth - 1 }).await.unwrap();
        }
    }
    fn crash_now(&mut self) {
        panic!("node");
    }
    fn offspring(&mut self, ctx: &mut Context<Self>) -> Vec<String> {
        ctx.children()
    }
}
