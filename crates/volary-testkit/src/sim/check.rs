//! Many seeds: finding the first that fails, making its faults fewer, and telling the story.

mod failed;
mod one_run;

use std::fmt;
use std::future::Future;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

pub use failed::FailedRun;
pub(crate) use one_run::run_here;

use failed::Found;
use one_run::in_own_thread;

use super::Sim;
use super::choice::Strategy;
use super::trace::{Difference, Keep};
use super::world::Beginning;

/// What a scenario may end with: nothing, or a result whose error fails the run.
///
/// ```
/// use volary_testkit::sim::Verdict;
/// assert!(().into_verdict().is_ok());
/// assert_eq!(Err::<(), _>("no").into_verdict(), Err("no".to_owned()));
/// ```
pub trait Verdict {
    /// Why the run failed, if it did.
    ///
    /// ```
    /// use volary_testkit::sim::Verdict;
    /// assert!(Ok::<(), String>(()).into_verdict().is_ok());
    /// ```
    ///
    /// # Errors
    /// What was wrong.
    fn into_verdict(self) -> Result<(), String>;
}

impl Verdict for () {
    fn into_verdict(self) -> Result<(), String> {
        Ok(())
    }
}

impl<E: fmt::Display> Verdict for Result<(), E> {
    fn into_verdict(self) -> Result<(), String> {
        self.map_err(|error| error.to_string())
    }
}

/// A search through many seeds.
///
/// ```
/// use volary_testkit::sim::{Check, Strategy};
///
/// let summary = Check::new()
///     .seeds(50)
///     .strategy(Strategy::Priorities { changes: 2 })
///     .run(|sim| async move {
///         sim.sleep(std::time::Duration::from_secs(1)).await;
///     })?;
/// assert_eq!(summary.seeds, 50);
/// # Ok::<(), volary_testkit::sim::FailedRun>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Check {
    first: u64,
    seeds: u64,
    strategy: Option<Strategy>,
    twice_every: u64,
    threads: usize,
}

/// A check that found nothing.
///
/// ```
/// # use volary_testkit::Sim;
/// let summary = Sim::check(10, |_| async {});
/// println!("{summary}");
/// # assert_eq!(summary.seeds, 10);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// How many seeds were run.
    pub seeds: u64,
    /// How many steps they took together.
    pub steps: u64,
    /// How many of them were run twice, to see whether they are deterministic.
    pub twice: u64,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Summary { seeds, steps, twice } = self;
        write!(f, "{seeds} seeds passed in {steps} steps, {twice} of them twice")
    }
}

/// One run, told from its beginning to its end; made by [`Check::story`].
///
/// ```
/// # use volary_testkit::sim::Check;
/// let story = Check::new().story(3, |sim| async move { assert!(sim.seed() != 3, "not three") });
/// assert!(story.why.unwrap().contains("not three"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Story {
    /// What happened, one line each: time, node, actor, what it did.
    pub timeline: String,
    /// The hash of the trace: the same for the same seed and the same binary.
    pub hash: u64,
    /// Why the run failed, if it did.
    pub why: Option<String>,
}

/// How often priorities instead of chance choose, and how many changes of them there are then.
const PRIORITIES_EVERY: u64 = 4;
const CHANGES: u32 = 3;
/// One in so many seeds is run twice.
const TWICE_EVERY: u64 = 50;
/// How many runs making the faults fewer may take.
const SHRINKING: usize = 200;

impl Default for Check {
    fn default() -> Self {
        Check::new()
    }
}

impl Check {
    /// A thousand seeds, three of four by chance and the others by priorities, one in fifty twice, on all cores.
    ///
    /// ```
    /// # use volary_testkit::sim::{Check, Strategy};
    /// let failed = Check::new().run(|sim| async move { assert!(sim.seed() < 5, "it runs more than five") });
    /// assert_eq!(failed.unwrap_err().seed(), 5);
    /// ```
    pub fn new() -> Self {
        Check {
            first: 0,
            seeds: 1_000,
            strategy: None,
            twice_every: TWICE_EVERY,
            threads: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        }
    }

    /// How many seeds.
    ///
    /// ```
    /// # use volary_testkit::sim::{Check, Strategy};
    /// let summary = Check::new().seeds(10).run(|_| async {}).unwrap();
    /// assert_eq!(summary.seeds, 10);
    /// ```
    pub fn seeds(mut self, seeds: u64) -> Self {
        self.seeds = seeds;
        self
    }

    /// The first of them; 0 unless said otherwise.
    ///
    /// ```
    /// # use volary_testkit::sim::{Check, Strategy};
    /// let failed = Check::new().from(1_000_000).seeds(10).run(|sim| async move { assert_ne!(sim.seed(), 1_000_005) });
    /// assert_eq!(failed.unwrap_err().seed(), 1_000_005);
    /// ```
    pub fn from(mut self, first: u64) -> Self {
        self.first = first;
        self
    }

    /// One strategy for all of them.
    ///
    /// ```
    /// # use volary_testkit::sim::{Check, Strategy};
    /// let summary = Check::new().strategy(Strategy::Random).seeds(10).run(|_| async {}).unwrap();
    /// assert_eq!(summary.seeds, 10);
    /// ```
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.strategy = Some(strategy);
        self
    }

    /// Runs one in so many seeds twice and compares; 0 for none.
    ///
    /// ```
    /// # use volary_testkit::sim::{Check, Strategy};
    /// let summary = Check::new().twice_every(1).seeds(10).run(|_| async {}).unwrap();
    /// assert_eq!(summary.twice, 10);
    /// ```
    pub fn twice_every(mut self, seeds: u64) -> Self {
        self.twice_every = seeds;
        self
    }

    /// On how many threads; as many as there are cores unless said otherwise.
    ///
    /// ```
    /// # use volary_testkit::sim::{Check, Strategy};
    /// let summary = Check::new().threads(1).seeds(10).run(|_| async {}).unwrap();
    /// assert_eq!(summary.seeds, 10);
    /// ```
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    fn beginning(&self, seed: u64, keep: Keep) -> Beginning {
        let mixed = if seed % PRIORITIES_EVERY == PRIORITIES_EVERY - 1 {
            Strategy::Priorities { changes: CHANGES }
        } else {
            Strategy::Random
        };
        Beginning {
            seed,
            strategy: self.strategy.unwrap_or(mixed),
            keep,
            faults: None,
        }
    }

    /// Runs the scenario under each seed, and says how the first one failed that did.
    ///
    /// ```
    /// use volary_testkit::sim::Check;
    ///
    /// let summary = Check::new().seeds(10).run(|sim| async move { assert!(sim.seed() < 10) });
    /// assert!(summary.is_ok());
    /// ```
    ///
    /// # Errors
    /// The failed run, its faults made as few as possible.
    ///
    /// # Panics
    /// If `VOLARY_SEED` is set, and not to a number: whoever set it wants to see one seed and not all of them.
    pub fn run<F, V>(self, scenario: impl Fn(Sim) -> F + Send + Sync) -> Result<Summary, FailedRun>
    where
        F: Future<Output = V>,
        V: Verdict,
    {
        let wanted = wanted_seed();
        let (first, seeds) = wanted.map_or((self.first, self.seeds), |seed| (seed, 1));
        // The last seed is the last: none comes after it.
        let seeds = seeds.min((u64::MAX - first).saturating_add(1));
        let (next, steps, twice) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        let failed: Mutex<Option<(u64, Option<Difference>)>> = Mutex::new(None);
        let lowest = |seed: u64, difference: Option<Difference>| {
            let mut failed = failed.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if failed.as_ref().is_none_or(|(before, _)| seed < *before) {
                *failed = Some((seed, difference));
            }
        };
        let search = || {
            loop {
                let index = next.fetch_add(1, SeqCst);
                if index >= seeds {
                    return;
                }
                let seed = first + index;
                // Seeds below one that has failed are still looked at: the report names the lowest.
                let beyond = failed
                    .lock()
                    .unwrap_or_else(std::sync::PoisonError::into_inner)
                    .as_ref()
                    .is_some_and(|(lowest, _)| *lowest < seed);
                if beyond {
                    return;
                }
                let again = self.twice_every > 0 && index.is_multiple_of(self.twice_every);
                let keep = Keep {
                    hashes: again,
                    ..Keep::default()
                };
                let one = in_own_thread(&self.beginning(seed, keep), &scenario);
                steps.fetch_add(one.steps, SeqCst);
                if one.why.is_some() {
                    lowest(seed, None);
                    continue;
                }
                if again {
                    twice.fetch_add(1, SeqCst);
                    let keep = Keep {
                        expected: Some(one.hashes),
                        ..Keep::default()
                    };
                    let two = in_own_thread(&self.beginning(seed, keep), &scenario);
                    if two.difference.is_some() {
                        lowest(seed, two.difference);
                    }
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..self.threads.min(seeds.max(1) as usize) {
                scope.spawn(search);
            }
        });
        let failed = failed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        match failed {
            Some((seed, difference)) => Err(self.explain(seed, seed - first, difference, &scenario)),
            None => Ok(Summary {
                seeds,
                steps: steps.into_inner(),
                twice: twice.into_inner(),
            }),
        }
    }

    /// Runs one seed, as [`run`](Check::run) would, and tells all that happened.
    ///
    /// ```
    /// use volary_testkit::sim::Check;
    ///
    /// let tell = || Check::new().story(7, |sim| async move { sim.note("once upon a time") });
    /// let story = tell();
    /// assert!(story.why.is_none());
    /// assert!(story.timeline.ends_with("once upon a time\n"));
    /// assert_eq!(story.hash, tell().hash);
    /// ```
    pub fn story<F, V>(&self, seed: u64, scenario: impl Fn(Sim) -> F + Send + Sync) -> Story
    where
        F: Future<Output = V>,
        V: Verdict,
    {
        let keep = Keep {
            lines: true,
            whole: true,
            ..Keep::default()
        };
        let ended = in_own_thread(&self.beginning(seed, keep), &scenario);
        Story {
            timeline: ended.timeline,
            hash: ended.hash,
            why: ended.why,
        }
    }

    /// Runs a failed seed again, to keep its story, and with fewer faults for as long as it fails.
    fn explain<F, V>(
        &self,
        seed: u64,
        before: u64,
        difference: Option<Difference>,
        scenario: &(impl Fn(Sim) -> F + Send + Sync),
    ) -> FailedRun
    where
        F: Future<Output = V>,
        V: Verdict,
    {
        let keep = Keep {
            hashes: true,
            ..Keep::default()
        };
        let first = in_own_thread(&self.beginning(seed, keep), scenario);
        let keep = Keep {
            lines: true,
            expected: Some(first.hashes),
            ..Keep::default()
        };
        let mut beginning = self.beginning(seed, keep);
        let second = in_own_thread(&beginning, scenario);
        let mut failed = FailedRun {
            seed,
            strategy: beginning.strategy,
            why: String::new(),
            faults: second.plan.clone(),
            planned: second.plan.len(),
            timeline: second.timeline,
            steps: second.steps,
            found: Found::Among(before),
        };
        // One that was seen once may not come again: what a process does only once, for example.
        if let Some(Difference { step, line }) = second.difference.or(difference) {
            failed.why = format!(
                "nondeterminism at step {step}, {line}. Two runs of one seed are not the same: look for a `HashMap` that \
                 is iterated, the real clock, threads, or randomness that is not from `ctx`; `interpose!` makes most of it \
                 the seed's"
            );
            return failed;
        }
        failed.why = second.why.unwrap_or_else(|| "it failed once and not again".to_owned());
        beginning.keep.expected = None;
        let fewest = shrink(second.plan.len(), |faults| {
            beginning.faults = Some(faults.to_vec());
            let run = in_own_thread(&beginning, scenario);
            // Another failure is another bug, and not the one that was found.
            let why = run.why.filter(|why| gist(why) == gist(&failed.why))?;
            failed.faults = faults
                .iter()
                .filter_map(|number| run.plan.get(*number).cloned())
                .collect();
            (failed.why, failed.timeline, failed.steps) = (why, run.timeline, run.steps);
            Some(())
        });
        debug_assert!(fewest.len() >= failed.faults.len());
        failed
    }
}

/// The one seed that somebody wants to see.
fn wanted_seed() -> Option<u64> {
    let text = std::env::var_os("VOLARY_SEED")?;
    let seed = text.to_str().and_then(|text| text.parse().ok());
    assert!(
        seed.is_some(),
        "VOLARY_SEED is {text:?}; it must be a number from 0 to {}",
        u64::MAX
    );
    seed
}

/// What a failure is about: its first line without the numbers, which differ from run to run.
fn gist(why: &str) -> String {
    let first = why.lines().next().unwrap_or_default();
    first.chars().filter(|c| !c.is_ascii_digit()).collect()
}

/// Leaves out as many of `count` faults as possible so that the run still fails: halves first, then one by one.
fn shrink(count: usize, mut fails: impl FnMut(&[usize]) -> Option<()>) -> Vec<usize> {
    let mut kept: Vec<usize> = (0..count).collect();
    let mut part = count.div_ceil(2);
    let mut tries = 0;
    while part > 0 && !kept.is_empty() {
        let mut at = 0;
        while at < kept.len() && tries < SHRINKING {
            tries += 1;
            let end = (at + part).min(kept.len());
            let fewer: Vec<usize> = kept[..at].iter().chain(&kept[end..]).copied().collect();
            if fails(&fewer).is_some() {
                kept = fewer;
            } else {
                at = end;
            }
        }
        part = if part == 1 { 0 } else { part.div_ceil(2) };
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shrinking_finds_the_few_that_matter() {
        for (count, needed) in [(1, vec![0]), (10, vec![3, 7]), (17, vec![0, 16]), (9, vec![])] {
            let kept = shrink(count, |faults| {
                needed.iter().all(|fault| faults.contains(fault)).then_some(())
            });
            assert_eq!(kept, needed);
        }
    }
}
