//! T1: probes, and T3: several systems in one test.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod expectations;
mod reports;
mod systems;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use volary::prelude::*;
use volary::{DeadLetter, DeadReason};
use volary_testkit::sim::Wire;
use volary_testkit::{MultiProbe, Probe, Sim, TestKit};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, PartialEq, Message)]
struct Ping(u32);

#[derive(Debug, Clone, PartialEq, Message)]
struct Pong(&'static str);

#[derive(Debug, PartialEq, Message)]
#[message(reply = u32)]
struct Count;

/// Hires others, and sends late.
struct Desk;

#[actor]
impl Desk {
    async fn hire(&mut self, name: &'static str, after: Duration, ctx: &mut Context<Self>) {
        ctx.sleep(after).await;
        ctx.spawn_child(|| Desk).named(name).await.unwrap();
    }
    async fn later(&mut self, after: Duration, ping: Ping, to: Recipient<Ping>, ctx: &mut Context<Self>) {
        ctx.sleep(after).await;
        to.tell(ping).unwrap();
    }
    async fn quit(&mut self, after: Duration, ctx: &mut Context<Self>) {
        ctx.sleep(after).await;
        ctx.stop();
    }
}

/// What the failing story says.
fn failure(story: impl AsyncFn(&ActorSystem)) -> String {
    let kit = TestKit::new();
    let ended = catch_unwind(AssertUnwindSafe(|| kit.run(story(kit.system()))));
    let panic = ended.expect_err("the expectation was not met and should have failed");
    panic.downcast_ref::<String>().unwrap().clone()
}

/// Sends on what it is given, one larger.
struct Relay {
    next: Wire<Ping>,
}

#[actor]
impl Relay {
    #[handles]
    fn ping(&mut self, ping: Ping) {
        self.next.tell(Ping(ping.0 + 1));
    }
}
