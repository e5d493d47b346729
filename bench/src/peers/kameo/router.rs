//! Routers on kameo: `kameo_actors::pool::ActorPool`, spawned as an actor and
//! told `Dispatch`. It gives each message to whoever has the fewest, the only
//! rule it has, so there is none by key.

use kameo::actor::ActorRef;
use kameo::message::{Context, Message};
use kameo_actors::pool::{ActorPool, Dispatch};

use super::{Kameo, send, spawn};
use crate::features::{Routing, Spread};
use crate::lanes::{Lane, Lanes};
use crate::workloads::ROUTEES;

/// Adds numbers.
pub struct Routee {
    sum: u64,
    lane: Lane,
}
actor!(Routee);

impl Message<u64> for Routee {
    type Reply = ();

    async fn handle(&mut self, value: u64, _: &mut Context<Self, ()>) {
        self.sum = self.sum.wrapping_add(value);
        self.lane.count();
    }
}

impl Routing for Kameo {
    type Router = ActorRef<ActorPool<Routee>>;
    const HASHES: bool = false;

    async fn router(&self, _: Spread, lanes: &'static Lanes) -> Self::Router {
        let start = async move {
            let routee = move || Routee {
                sum: 0,
                lane: lanes.take(),
            };
            spawn(ActorPool::new(ROUTEES, move || spawn(routee())))
        };
        self.host.at(0, start).await
    }

    fn route(pool: &Self::Router, value: u64) {
        send(pool.tell(Dispatch(value)).try_send());
    }
}
