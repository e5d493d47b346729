//! Faults on Volary: what an actor does who is told nothing else, `Directive::Restart`
//! without backoff or limit. The mailbox outlives the restart, so all messages are told at
//! once. An error is a `Fault` that the handler returns; a panic is contained.

use volary::prelude::*;

use super::Volary;
use crate::features::Restarting;
use crate::fragile::{Fragile, Fragility};
use crate::latch::LAST;

/// Fails.
pub struct Worker(Fragile);

#[actor]
impl Worker {
    /// Handles one number.
    pub fn put(&mut self, value: u64) -> Result<(), Fault> {
        self.0.handle(value).or_fault()
    }
}

fn put(worker: &ActorRef<Worker>, value: u64) {
    worker.tell(Put { value }).expect("the actor lives");
}

impl Restarting for Volary {
    type Fallible = ActorRef<Worker>;

    async fn fallible(&self, fragility: Fragility) -> ActorRef<Worker> {
        let factory = move || Worker(Fragile::build(fragility));
        self.system
            .spawn(factory)
            .on_fault(Directive::Restart)
            .await
            .expect("a worker")
    }

    fn fail(worker: &ActorRef<Worker>, faults: u64) {
        (0..faults).for_each(|value| put(worker, value));
        put(worker, LAST);
    }
}
