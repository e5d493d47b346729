//! Faults on kameo: `supervise_with`, kameo's supervision, with the default
//! policy `Permanent` and a limit that is never reached. The supervisor hears
//! that its child has died, and starts it again with new arguments on the same
//! mailbox. An error is what the handler of a told message returns; kameo takes
//! it, as a panic, for the actor's death.
//!
//! What waits in the mailbox while an actor starts is lost if the actor then
//! fails at the first of it. So each incarnation tells itself its one number
//! when it starts, which is also the shortest way.
//!
//! The hook `on_panic` can keep the actor going in place, which is cheaper, but
//! then nothing is restarted: it is the same state, in the same task.

use std::convert::Infallible;
use std::time::Duration;

use kameo::Actor;
use kameo::actor::{ActorRef, Spawn};
use kameo::mailbox;
use kameo::message::{Context, Message};

use super::{Kameo, send, spawn};
use crate::features::Restarting;
use crate::fragile::{Broken, Fragile, Fragility};
use crate::outstanding::Outstanding;

/// Restarts its children.
struct Supervisor;
actor!(Supervisor);

/// Fails.
pub struct Worker(Fragile);

fn go_on(worker: &ActorRef<Worker>, outstanding: &Outstanding) {
    if let Some(value) = outstanding.next() {
        send(worker.tell(value).try_send());
    }
}

impl Actor for Worker {
    type Args = (Fragility, &'static Outstanding);
    type Error = Infallible;

    async fn on_start((fragility, outstanding): Self::Args, me: ActorRef<Self>) -> Result<Self, Infallible> {
        go_on(&me, outstanding);
        Ok(Worker(Fragile::build(fragility)))
    }
}

impl Message<u64> for Worker {
    type Reply = Result<(), Broken>;

    async fn handle(&mut self, value: u64, _: &mut Context<Self, Self::Reply>) -> Self::Reply {
        self.0.handle(value)
    }
}

/// The worker, and what it is still to be told.
#[derive(Clone)]
pub struct Fallible {
    worker: ActorRef<Worker>,
    outstanding: &'static Outstanding,
}

impl Restarting for Kameo {
    type Fallible = Fallible;

    async fn fallible(&self, fragility: Fragility) -> Fallible {
        let start = async move {
            let outstanding = Outstanding::leaked();
            let supervisor = spawn(Supervisor);
            let worker = Worker::supervise_with(&supervisor, move || (fragility, outstanding))
                .restart_limit(u32::MAX, Duration::from_secs(1))
                .spawn_with_mailbox(mailbox::unbounded())
                .await;
            std::mem::forget(supervisor);
            Fallible { worker, outstanding }
        };
        self.host.at(0, start).await
    }

    fn fail(fallible: &Fallible, faults: u64) {
        fallible.outstanding.set(faults);
        go_on(&fallible.worker, fallible.outstanding);
    }
}
