//! Code that knows nothing of the simulator: what a third party's crate might do in a handler.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant, SystemTime};

use volary::prelude::*;
use volary_testkit::Sim;

pub(crate) struct Stranger {
    began: Instant,
}

#[actor]
impl Stranger {
    /// The order of a map, what two clocks say, and a number out of thin air.
    fn look(&mut self) -> String {
        let map: HashMap<u32, ()> = (0..32).map(|number| (number, ())).collect();
        let order: Vec<u32> = map.into_keys().collect();
        let (passed, date) = (self.began.elapsed(), SystemTime::now());
        format!("{order:?} {passed:?} {date:?} {}", RandomState::new().hash_one(7))
    }
}

/// What a stranger sees on a node, an hour after it began.
pub(crate) async fn looks(sim: &Sim) -> String {
    let system = sim.node("a").start().await;
    let stranger = system.spawn(|| Stranger { began: Instant::now() }).await.unwrap();
    sim.sleep(Duration::from_secs(3_600)).await;
    stranger.ask(Look).await.unwrap()
}

/// A scenario whose trace shows it.
pub(crate) async fn scenario(sim: Sim) {
    let seen = looks(&sim).await;
    sim.note(seen);
}
