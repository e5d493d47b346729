//! Routers on Volary: `RoundRobin` and `ConsistentHash` over a `Pool`. The two
//! are different types, hence the enum; the messages go through `Router::tell`.

use volary::prelude::*;
use volary::routing::{ConsistentHash, KeyBy, Pool, RoundRobin};
use volary::Router;

use super::Volary;
use crate::features::{Routing, Spread};
use crate::lanes::{Lane, Lanes};
use crate::workloads::ROUTEES;

/// Adds numbers.
pub struct Routee {
    sum: u64,
    lane: Lane,
}

/// A number.
#[derive(Message)]
pub struct Put(u64);

#[actor]
impl Routee {
    #[handles]
    fn put(&mut self, put: Put) {
        self.sum = self.sum.wrapping_add(put.0);
        self.lane.count();
    }
}

type Key = fn(&Put) -> u64;

/// One router or the other.
#[derive(Clone)]
pub enum Either {
    InTurn(Router<Routee, RoundRobin>),
    ByKey(Router<Routee, ConsistentHash<KeyBy<Put, u64, Key>>>),
}

impl Routing for Volary {
    type Router = Either;
    const HASHES: bool = true;

    async fn router(&self, spread: Spread, lanes: &'static Lanes) -> Either {
        let pool = Pool::of(ROUTEES, move || Routee { sum: 0, lane: lanes.take() });
        match spread {
            Spread::InTurn => Either::InTurn(self.system.router(RoundRobin, pool).await.expect("a router")),
            Spread::ByKey => {
                let key: Key = |put| put.0;
                Either::ByKey(self.system.router(ConsistentHash::by(key), pool).await.expect("a router"))
            }
        }
    }

    fn route(router: &Either, value: u64) {
        match router {
            Either::InTurn(router) => router.tell(Put(value)),
            Either::ByKey(router) => router.tell(Put(value)),
        }
        .expect("the routees live");
    }
}
