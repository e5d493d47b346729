//! L4, L6: references, protocols, recipients, and the family of asks.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

#[path = "../common/mod.rs"]
mod common;
mod letters;
mod references;
mod replies;
mod rings;

use std::time::Duration;

use common::*;
use tokio::sync::oneshot;
use volary::prelude::*;
use volary::{ActorId, DeadLetter, DeadReason, Env, Recipient, Takes};

/// kameo#199, #179: a reference is a reply like any other.
struct Directory {
    desk: ActorRef<Desk>,
}

#[actor]
impl Directory {
    fn find(&mut self) -> (ActorRef<Desk>, Recipient<Note>) {
        (self.desk.clone(), self.desk.recipient())
    }
    async fn ask_who(&mut self) -> Option<ActorId> {
        self.desk.ask(Who).await.unwrap()
    }
    fn forward_note(&mut self, number: u64, reply: ReplyTo<u64>) {
        let _ = self.desk.forward(Note { number }, reply);
    }
    async fn forward_later(&mut self, ctx: &mut Context<Self>, number: u64, reply: ReplyTo<u64>) -> Result<(), Fault> {
        let desk = self.desk.clone();
        ctx.spawn(async move {
            tokio::task::yield_now().await;
            let _ = desk.forward(Note { number }, reply);
        });
        Ok(())
    }
    fn forward_crash(&mut self, reply: ReplyTo<u64>) {
        let _ = self.desk.forward(Crash, reply);
    }
    fn forward_refusal(&mut self, code: u32, reply: ReplyTo<u64, Refused>) {
        let _ = self.desk.forward(Refuse { code }, reply);
    }
}

fn directory(desk: &ActorRef<Desk>) -> impl Fn() -> Directory + Send + Sync + 'static {
    let desk = desk.clone();
    move || Directory { desk: desk.clone() }
}
