//! Passivation on Volary: `Passivation::on_demand`, put to sleep by `ActorRef::passivate` and
//! woken by a tell. The id is the actor's name, as in `spawn`; whoever has a reference needs
//! no look-up, since it stays good while the actor sleeps.

use volary::Passivation;
use volary::prelude::*;

use super::Volary;
use crate::dormant::{Dormancy, Dormant};
use crate::features::Passivating;

/// Lets go of its state.
pub struct Sleeper(Dormant);

#[actor]
impl Sleeper {
    /// Handles one message.
    pub fn poke(&mut self, id: u64) {
        self.0.handle(id);
    }
}

/// The references, and the id of the first.
pub struct Crowd {
    first: u64,
    sleepers: Vec<ActorRef<Sleeper>>,
}

impl Passivating for Volary {
    type Crowd = Crowd;

    async fn crowd(&self, first: u64, count: u64, dormancy: Dormancy) -> Crowd {
        let system = self.system.clone();
        let work = async move {
            let mut sleepers = Vec::with_capacity(count as usize);
            for id in first..first + count {
                let spawned = system
                    .spawn(move || Sleeper(Dormant::new(id, dormancy)))
                    .named(format!("sleeper-{id}"))
                    .passivation(Passivation::on_demand())
                    .await;
                sleepers.push(spawned.expect("a new name"));
            }
            Crowd { first, sleepers }
        };
        self.host.at(0, work).await
    }

    async fn passivate(&self, crowd: Crowd) -> Crowd {
        let work = async move {
            for sleeper in &crowd.sleepers {
                sleeper.passivate();
            }
            crowd
        };
        self.host.at(0, work).await
    }

    async fn wake(&self, crowd: Crowd) -> Crowd {
        let work = async move {
            for (id, sleeper) in (crowd.first..).zip(&crowd.sleepers) {
                sleeper.tell(Poke { id }).expect("the actor lives");
            }
            crowd
        };
        self.host.at(0, work).await
    }
}
