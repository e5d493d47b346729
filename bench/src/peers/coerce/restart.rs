//! Faults on coerce: a parent hears in `on_child_stopped` that a child is gone
//! and spawns another under the same id with `spawn_deferred`, which does not
//! wait for the start. Handlers have no error to return, so the failure is
//! `ActorContext::stop`; a panic ends the child's task, of which the parent
//! hears in the same way. The mailbox dies with the actor, so the parent tells
//! the new one the next number.

use async_trait::async_trait;
use coerce::actor::context::ActorContext;
use coerce::actor::message::Handler;
use coerce::actor::{Actor, ActorId, LocalActorRef};

use super::actors::Tell;
use super::{Coerce, send};
use crate::features::Restarting;
use crate::fragile::{Fragile, Fragility};
use crate::outstanding::Outstanding;

/// Fails.
struct Worker(Fragile);
impl Actor for Worker {}

#[async_trait]
impl Handler<Tell> for Worker {
    async fn handle(&mut self, Tell(value): Tell, ctx: &mut ActorContext) {
        if self.0.handle(value).is_err() {
            ctx.stop(None);
        }
    }
}

/// Spawns another worker whenever one is gone.
pub struct Supervisor {
    fragility: Fragility,
    worker: Option<LocalActorRef<Worker>>,
    outstanding: &'static Outstanding,
}

impl Supervisor {
    fn hire(&mut self, id: ActorId, ctx: &mut ActorContext) {
        let worker = Worker(Fragile::build(self.fragility));
        self.worker = Some(ctx.spawn_deferred(id, worker).expect("a free id"));
    }

    /// Tells the worker the next number.
    fn go_on(&self) {
        if let (Some(worker), Some(value)) = (&self.worker, self.outstanding.next()) {
            send(worker, Tell(value));
        }
    }
}

#[async_trait]
impl Actor for Supervisor {
    async fn started(&mut self, ctx: &mut ActorContext) {
        self.hire("worker".into(), ctx);
    }

    async fn on_child_stopped(&mut self, id: &ActorId, ctx: &mut ActorContext) {
        self.hire(id.clone(), ctx);
        self.go_on();
    }
}

#[async_trait]
impl Handler<Tell> for Supervisor {
    async fn handle(&mut self, Tell(faults): Tell, _: &mut ActorContext) {
        self.outstanding.set(faults);
        self.go_on();
    }
}

impl Restarting for Coerce {
    type Fallible = LocalActorRef<Supervisor>;

    async fn fallible(&self, fragility: Fragility) -> LocalActorRef<Supervisor> {
        let outstanding = Outstanding::leaked();
        let make = move || Supervisor {
            fragility,
            worker: None,
            outstanding,
        };
        self.at(0, make).await
    }

    fn fail(supervisor: &LocalActorRef<Supervisor>, faults: u64) {
        send(supervisor, Tell(faults));
    }
}
