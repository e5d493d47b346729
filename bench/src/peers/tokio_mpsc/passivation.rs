//! Passivation on plain tokio: a `HashMap` from the id to the sender. A task
//! whose sender is taken out of the map ends, and its state with it; whoever
//! wants one that is not in the map starts it.

use std::collections::HashMap;

use super::{Tokio, Tx, send, spawn};
use crate::dormant::{Dormancy, Dormant};
use crate::features::Passivating;

/// The map, and the ids that can be in it.
pub struct Crowd {
    first: u64,
    count: u64,
    dormancy: Dormancy,
    awake: HashMap<u64, Tx<u64>>,
}

impl Crowd {
    fn ids(&self) -> std::ops::Range<u64> {
        self.first..self.first + self.count
    }

    /// Who has the id, started if need be.
    fn get(&mut self, id: u64) -> &Tx<u64> {
        let dormancy = self.dormancy;
        self.awake.entry(id).or_insert_with(|| {
            spawn(move |mut inbox| async move {
                let mut dormant = Dormant::new(id, dormancy);
                while let Some(id) = inbox.recv().await {
                    dormant.handle(id);
                }
            })
        })
    }
}

impl Passivating for Tokio {
    type Crowd = Crowd;

    async fn crowd(&self, first: u64, count: u64, dormancy: Dormancy) -> Crowd {
        let work = async move {
            let mut crowd = Crowd {
                first,
                count,
                dormancy,
                awake: HashMap::new(),
            };
            for id in crowd.ids() {
                crowd.get(id);
            }
            crowd
        };
        self.host.at(0, work).await
    }

    async fn passivate(&self, mut crowd: Crowd) -> Crowd {
        let work = async move {
            for id in crowd.ids() {
                crowd.awake.remove(&id);
            }
            crowd
        };
        self.host.at(0, work).await
    }

    async fn wake(&self, mut crowd: Crowd) -> Crowd {
        let work = async move {
            for id in crowd.ids() {
                send(crowd.get(id), id);
            }
            crowd
        };
        self.host.at(0, work).await
    }
}
