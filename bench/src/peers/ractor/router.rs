//! Routers on ractor: its factory, with `RoundRobinRouting` and
//! `KeyPersistentRouting`, no queue limit and no statistics. Every job goes
//! through the factory's actor, which also hears when it is done.

use ractor::factory::{Factory, FactoryArguments, FactoryRef, Job, Worker, WorkerId, queues, routing, worker_builder};
use ractor::{Actor, ActorProcessingErr};

use super::Ractor;
use crate::features::{Routing, Spread};
use crate::lanes::{Lane, Lanes};
use crate::workloads::ROUTEES;

/// Adds numbers.
struct Routee(Lane);

impl Worker for Routee {
    type Key = u64;
    type Message = u64;
    type State = u64;
    type Arguments = ();

    async fn pre_start(&self, _: WorkerId, _: &FactoryRef<u64, u64>, (): ()) -> Result<u64, ActorProcessingErr> {
        Ok(0)
    }

    async fn handle(
        &self,
        _: WorkerId,
        _: &FactoryRef<u64, u64>,
        job: Job<u64, u64>,
        sum: &mut u64,
    ) -> Result<u64, ActorProcessingErr> {
        *sum = sum.wrapping_add(job.msg);
        self.0.count();
        Ok(job.key)
    }
}

type Queue = queues::DefaultQueue<u64, u64>;

async fn factory<R: routing::Router<u64, u64> + Default>(lanes: &'static Lanes) -> FactoryRef<u64, u64> {
    let definition = Factory::<u64, u64, (), Routee, R, Queue>::default();
    let arguments = FactoryArguments::builder()
        .worker_builder(Box::new(worker_builder(move |_| (Routee(lanes.take()), ()))))
        .queue(Queue::default())
        .router(R::default())
        .num_initial_workers(ROUTEES)
        .build();
    let (factory, _) = Actor::spawn(None, definition, arguments).await.expect("a factory");
    factory
}

impl Routing for Ractor {
    type Router = FactoryRef<u64, u64>;
    const HASHES: bool = true;

    async fn router(&self, spread: Spread, lanes: &'static Lanes) -> FactoryRef<u64, u64> {
        match spread {
            Spread::InTurn => self.host.at(0, factory::<routing::RoundRobinRouting<u64, u64>>(lanes)).await,
            Spread::ByKey => self.host.at(0, factory::<routing::KeyPersistentRouting<u64, u64>>(lanes)).await,
        }
    }

    fn route(factory: &FactoryRef<u64, u64>, value: u64) {
        assert!(factory.dispatch(value, value).is_ok(), "the factory lives");
    }
}
