//! Faults on actix: `Supervisor::start`, with `Context::stop` as the failure,
//! since handlers of told messages have no error to return. The supervisor
//! keeps mailbox and actor, and calls `restarting`, which builds the state anew
//! here. All messages are told at once. A panic ends the arbiter, so
//! `restart/panic` is not offered.

use actix::{Actor, ActorContext, Addr, Context, Handler, Supervised, Supervisor};

use super::Actix;
use super::actors::Tell;
use crate::features::Restarting;
use crate::fragile::{Fragile, Fragility};
use crate::latch::LAST;

/// Fails.
pub struct Worker {
    fragile: Fragile,
    fragility: Fragility,
}
actor!(Worker);

impl Supervised for Worker {
    fn restarting(&mut self, _: &mut Context<Self>) {
        self.fragile = Fragile::build(self.fragility);
    }
}

impl Handler<Tell> for Worker {
    type Result = ();

    fn handle(&mut self, Tell(value): Tell, ctx: &mut Context<Self>) {
        if self.fragile.handle(value).is_err() {
            ctx.stop();
        }
    }
}

impl Restarting for Actix {
    type Fallible = Addr<Worker>;

    async fn fallible(&self, fragility: Fragility) -> Addr<Worker> {
        let make = move || {
            Supervisor::start(move |ctx: &mut <Worker as Actor>::Context| {
                ctx.set_mailbox_capacity(0);
                Worker {
                    fragile: Fragile::build(fragility),
                    fragility,
                }
            })
        };
        self.at(1, make).await
    }

    fn fail(worker: &Addr<Worker>, faults: u64) {
        for value in 0..faults {
            worker.do_send(Tell(value));
        }
        worker.do_send(Tell(LAST));
    }
}
