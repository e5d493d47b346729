//! The actors: counters write down what comes, and speakers say numbered words until they end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;
use volary::prelude::*;
use volary_core::Address;
use volary_remote::Remote;

/// Writes a line down, where it outlives whoever wrote it.
pub(crate) type Pen = Arc<dyn Fn(String) + Send + Sync>;

pub(crate) struct Counter {
    pub(crate) name: &'static str,
    pub(crate) pen: Pen,
    /// Whoever holds waits for a permit.
    pub(crate) gate: Arc<Semaphore>,
}

#[actor(kind = "trouble.Counter", remote(Count, Hold))]
impl Counter {
    #[message(remote = "trouble.Count", codec = postcard, derive(Serialize, Deserialize))]
    pub(crate) fn count(&mut self, from: String, number: u64, padding: Vec<u8>) -> u64 {
        drop(padding);
        (self.pen)(format!("h {} {from} {number}", self.name));
        number
    }

    /// Takes nothing more until it is let go.
    #[message(remote = "trouble.Hold", codec = postcard, derive(Serialize, Deserialize))]
    pub(crate) async fn hold(&mut self, number: u64) {
        (self.pen)(format!("h {} holder {number}", self.name));
        if let Ok(permit) = self.gate.acquire().await {
            permit.forget();
        }
    }

    pub(crate) fn look_after(&mut self, who: ActorRef<Speaker>, ctx: &mut Context<Self>) {
        ctx.watch(&who);
    }

    #[handles]
    fn terminated(&mut self, gone: Terminated) {
        (self.pen)(format!("gone {}", gone.path()));
    }
}

/// How many words a speaker says before it ends.
pub(crate) const LAST_WORDS: usize = 3;

/// Says numbered words to one actor elsewhere.
pub(crate) struct Speaker {
    pub(crate) from: String,
    pub(crate) to: Address,
    pub(crate) remote: Remote,
    /// By its path, from the first word on: whoever has one needs a connection, and calls.
    pub(crate) found: Option<ActorRef<Counter>>,
    pub(crate) number: u64,
    /// It is to say no more.
    pub(crate) hush: Arc<AtomicBool>,
}

#[actor]
impl Speaker {
    pub(crate) async fn speak(&mut self, words: u64, ctx: &mut Context<Self>) {
        for word in 0..words {
            if self.hush.load(Acquire) {
                return;
            }
            self.say(0, ctx).await;
            if word % 20 == 19 {
                ctx.sleep(Duration::from_millis(1)).await;
            }
        }
    }

    /// Some very long words, which take their time, and the end, which must not pass them.
    pub(crate) async fn end(&mut self, ctx: &mut Context<Self>) {
        for _ in 0..LAST_WORDS {
            self.say(4_000_000, ctx).await;
        }
        ctx.stop();
    }

    #[actor(skip)]
    async fn say(&mut self, padding: usize, ctx: &mut Context<Self>) {
        loop {
            let count = Count {
                from: self.from.clone(),
                number: self.number + 1,
                padding: vec![7; padding],
            };
            if self.found.is_none() {
                self.found = self.remote.actor(&self.to);
            }
            if self.found.as_ref().is_some_and(|to| to.tell(count).is_ok()) {
                self.number += 1;
                return;
            }
            if self.hush.load(Acquire) {
                return;
            }
            ctx.sleep(Duration::from_millis(2)).await;
        }
    }
}
