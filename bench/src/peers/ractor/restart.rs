//! Faults on ractor: ractor tells the supervisor that a child has failed, and
//! what is to be done is up to `handle_supervisor_evt`. This one spawns another
//! with `spawn_linked` (`spawn_linked_instant` was measured and is slower by a
//! fifth). The mailbox dies with the actor and so does its address, so the
//! supervisor is the one who knows the worker of the moment, and tells it the
//! next number. An error is what the handler returns; panics are caught.

use ractor::{Actor, ActorProcessingErr, ActorRef, SupervisionEvent};

use super::actors::Handled;
use super::{Ractor, send, spawn};
use crate::features::Restarting;
use crate::fragile::{Fragile, Fragility};
use crate::outstanding::Outstanding;

/// Fails.
struct Worker;

impl Actor for Worker {
    type Msg = u64;
    type State = Fragile;
    type Arguments = Fragility;

    async fn pre_start(&self, _: ActorRef<u64>, fragility: Fragility) -> Result<Fragile, ActorProcessingErr> {
        Ok(Fragile::build(fragility))
    }

    async fn handle(&self, _: ActorRef<u64>, value: u64, fragile: &mut Fragile) -> Handled {
        Ok(fragile.handle(value)?)
    }
}

/// Spawns another worker whenever one fails.
struct Supervisor;

/// What the supervisor knows.
struct Post {
    fragility: Fragility,
    worker: ActorRef<u64>,
    outstanding: &'static Outstanding,
}

impl Post {
    /// Tells the worker the next number.
    fn go_on(&self) {
        if let Some(value) = self.outstanding.next() {
            send(&self.worker, value);
        }
    }
}

async fn worker(fragility: Fragility, supervisor: &ActorRef<u64>) -> Result<ActorRef<u64>, ActorProcessingErr> {
    let (worker, _) = Worker::spawn_linked(None, Worker, fragility, supervisor.get_cell()).await?;
    Ok(worker)
}

impl Actor for Supervisor {
    type Msg = u64;
    type State = Post;
    type Arguments = Fragility;

    async fn pre_start(&self, me: ActorRef<u64>, fragility: Fragility) -> Result<Post, ActorProcessingErr> {
        let worker = worker(fragility, &me).await?;
        let outstanding = Outstanding::leaked();
        Ok(Post {
            fragility,
            worker,
            outstanding,
        })
    }

    async fn handle(&self, _: ActorRef<u64>, faults: u64, post: &mut Post) -> Handled {
        post.outstanding.set(faults);
        post.go_on();
        Ok(())
    }

    async fn handle_supervisor_evt(&self, me: ActorRef<u64>, event: SupervisionEvent, post: &mut Post) -> Handled {
        if let SupervisionEvent::ActorFailed(..) = event {
            post.worker = worker(post.fragility, &me).await?;
            post.go_on();
        }
        Ok(())
    }
}

impl Restarting for Ractor {
    type Fallible = ActorRef<u64>;

    async fn fallible(&self, fragility: Fragility) -> ActorRef<u64> {
        self.host.at(0, spawn(Supervisor, fragility)).await
    }

    fn fail(supervisor: &ActorRef<u64>, faults: u64) {
        send(supervisor, faults);
    }
}
