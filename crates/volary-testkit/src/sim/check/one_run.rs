//! One run of a seed, and what becomes of it.

use std::future::Future;
use std::panic::AssertUnwindSafe;

use super::super::current::Here;
use super::super::env::Bridge;
use super::super::interpose::Seeded;
use super::super::report::{timeline, whole};
use super::super::trace::Difference;
use super::super::world::{Beginning, World};
use super::super::{Sim, panics};
use super::Verdict;
use super::failed::{FailedRun, Found};

/// What became of a run.
#[derive(Default)]
pub(super) struct Ended {
    pub(super) why: Option<String>,
    pub(super) steps: u64,
    pub(super) hashes: Vec<u64>,
    pub(super) difference: Option<Difference>,
    pub(super) plan: Vec<String>,
    pub(super) timeline: String,
    pub(super) hash: u64,
}

/// Each run has a thread of its own, so that it sees nothing that another has left behind.
pub(super) fn in_own_thread<F, V>(beginning: &Beginning, scenario: &(impl Fn(Sim) -> F + Send + Sync)) -> Ended
where
    F: Future<Output = V>,
    V: Verdict,
{
    let run = || {
        let (result, ended) = run_world(beginning.clone(), scenario);
        let why = match result {
            Ok(verdict) => verdict.into_verdict().err(),
            Err(why) => Some(why),
        };
        Ended { why, ..ended }
    };
    std::thread::scope(|scope| scope.spawn(run).join()).unwrap_or_else(|_| Ended {
        why: Some("the simulator itself failed".to_owned()),
        ..Ended::default()
    })
}

/// One run on this thread.
pub(crate) fn run_here<F: Future>(
    beginning: Beginning,
    scenario: impl FnOnce(Sim) -> F,
) -> Result<F::Output, FailedRun> {
    let (seed, strategy) = (beginning.seed, beginning.strategy);
    let (result, ended) = run_world(beginning, scenario);
    result.map_err(|why| FailedRun {
        seed,
        strategy,
        why,
        planned: ended.plan.len(),
        faults: ended.plan,
        timeline: ended.timeline,
        steps: ended.steps,
        found: Found::Alone,
    })
}

fn run_world<F: Future>(beginning: Beginning, scenario: impl FnOnce(Sim) -> F) -> (Result<F::Output, String>, Ended) {
    // First of all: tokio has maps, too.
    let _seeded = Seeded::new(beginning.seed);
    let whole_story = beginning.keep.whole;
    let bridge = match Bridge::new() {
        Ok(bridge) => bridge,
        Err(error) => return (Err(format!("no clock for tokio's timers: {error}")), Ended::default()),
    };
    let _entered = bridge.enter();
    let world = World::new(beginning, bridge.handle());
    let sim = Sim { world: world.clone() };
    let run = || {
        let main = {
            let _here = Here::enter(&world, None);
            scenario(sim)
        };
        world.run(&bridge, main)
    };
    let result = panics::caught(AssertUnwindSafe(run)).and_then(|ended| ended);
    if let Err(why) = &result {
        world.fail(why.clone());
    }
    let ended = {
        let inner = &mut *world.inner();
        Ended {
            why: None,
            steps: inner.trace.count(),
            hashes: inner.trace.take_hashes(),
            difference: inner.trace.difference(),
            plan: std::mem::take(&mut inner.plan),
            hash: inner.trace.hash(),
            timeline: if whole_story { whole(inner) } else { timeline(inner) },
        }
    };
    let _ = panics::caught(AssertUnwindSafe(|| world.dismantle()));
    (result, ended)
}
