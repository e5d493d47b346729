//! What comes next on the way down. It never looks at a clock and runs nothing: whoever drives it says
//! what time it is, and tells how the hooks have ended.

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use super::phase::Work;
use crate::time::Moment;

/// Why a shutdown hook was cut off, or not run at all.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let queue = ShutdownHook::new(shutdown::DRAIN, "queue", || async { Err("the broker is away") });
/// system.on_shutdown(queue.recovery(HookRecovery::Fail))?;
/// system.on_shutdown(ShutdownHook::new(shutdown::DRAIN, "log", || async {}))?;
/// let error = system.stop().await.expect_err("a hook fails");
/// let StopProblem::HookNotRun { hook, why, .. } = &error.problems()[1] else { panic!("{error}") };
/// assert_eq!((hook.as_str(), why), ("log", &CutShort::HookFailed { hook: "queue".to_owned() }));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CutShort {
    /// The setting `shutdown-timeout` was used up. Give it more, or the hooks before less.
    Timeout {
        /// What it was.
        within: Duration,
    },
    /// Somebody [hurried](crate::ActorSystem::hurry_stop) the stop, or sent a second signal.
    Hurried,
    /// A hook before it failed whose [recovery](crate::HookRecovery) says that no other is to run then.
    HookFailed {
        /// Which.
        hook: String,
    },
    /// The tokio runtime was shut down before the system was stopped.
    RuntimeGone,
}

impl fmt::Display for CutShort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CutShort::Timeout { within } => write!(f, "the shutdown-timeout of {within:?} was over"),
            CutShort::Hurried => f.write_str("the stop was hurried"),
            CutShort::HookFailed { hook } => write!(f, "hook {hook:?} had failed"),
            CutShort::RuntimeGone => f.write_str("the runtime is gone"),
        }
    }
}

/// What is to be done now.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::system) enum Step<H> {
    /// Run this hook.
    Run { phase: String, hook: H },
    /// Do not run this hook, and say why.
    Pass { phase: String, hook: H, why: CutShort },
    /// Do what the runtime does in this phase. It is done in any case.
    Work(Work),
    /// That was all.
    Done,
}

/// Why a hook was not taken.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    Unknown,
    Past,
}

/// The phases with their hooks, and how far the stop has come.
pub(in crate::system) struct Course<H> {
    phases: Vec<Phase<H>>,
    /// The phase whose hooks are next; those before it are past.
    at: usize,
    /// When the time for everything is over, and why then; set when the stop begins.
    end: Option<(Moment, CutShort)>,
    /// Why no hook is run any more, whatever time is left.
    given_up: Option<CutShort>,
    next_ticket: u64,
}

struct Phase<H> {
    name: String,
    work: Option<Work>,
    hooks: VecDeque<(Ticket, H)>,
}

/// Finds a hook that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::system) struct Ticket(u64);

impl<H> Course<H> {
    pub(in crate::system) fn new(plan: Vec<(String, Option<Work>)>) -> Self {
        let phase = |(name, work)| Phase {
            name,
            work,
            hooks: VecDeque::new(),
        };
        Course {
            phases: plan.into_iter().map(phase).collect(),
            at: 0,
            end: None,
            given_up: None,
            next_ticket: 0,
        }
    }

    /// The names of all phases.
    pub(super) fn phases(&self) -> Vec<&str> {
        self.phases.iter().map(|phase| phase.name.as_str()).collect()
    }

    /// Puts a hook behind the others of its phase; gives it back if that does not exist or is past.
    pub(super) fn add(&mut self, phase: &str, hook: H) -> Result<Ticket, (Refusal, H)> {
        let Some(at) = self.phases.iter().position(|other| other.name == phase) else {
            return Err((Refusal::Unknown, hook));
        };
        if at < self.at {
            return Err((Refusal::Past, hook));
        }
        let ticket = Ticket(self.next_ticket);
        self.next_ticket += 1;
        self.phases[at].hooks.push_back((ticket, hook));
        Ok(ticket)
    }

    /// Takes out a hook that still waits.
    pub(super) fn remove(&mut self, ticket: Ticket) -> Option<H> {
        self.phases.iter_mut().find_map(|phase| {
            let at = phase.hooks.iter().position(|(other, _)| *other == ticket)?;
            phase.hooks.remove(at).map(|(_, hook)| hook)
        })
    }

    /// The stop begins.
    pub(super) fn begin(&mut self, now: Moment, within: Duration) {
        if self.end.is_none() {
            self.end = Some((now + within, CutShort::Timeout { within }));
        }
    }

    /// The time is over now, if it is not already. Says whether it was not.
    pub(super) fn hurry(&mut self, now: Moment) -> bool {
        match &mut self.end {
            Some(end) if now < end.0 => {
                *end = (now, CutShort::Hurried);
                true
            }
            _ => false,
        }
    }

    /// Runs no more hooks; of several reasons the first counts.
    pub(super) fn give_up(&mut self, why: CutShort) {
        self.given_up.get_or_insert(why);
    }

    /// How much time is left for all that is to come.
    pub(super) fn left(&self, now: Moment) -> Duration {
        self.end.as_ref().map_or(Duration::MAX, |(end, _)| end.since(now))
    }

    /// Why no hook is run at `now`, if none is.
    pub(super) fn cut_short(&self, now: Moment) -> Option<CutShort> {
        let over = || self.end.as_ref().filter(|(end, _)| now >= *end);
        self.given_up.clone().or_else(|| over().map(|(_, why)| why.clone()))
    }

    /// The next step. A phase is past as soon as its last hook was handed out and another step is asked for.
    pub(super) fn next(&mut self, now: Moment) -> Step<H> {
        let cut_short = self.cut_short(now);
        while let Some(phase) = self.phases.get_mut(self.at) {
            if let Some((_, hook)) = phase.hooks.pop_front() {
                let phase = phase.name.clone();
                return match cut_short {
                    None => Step::Run { phase, hook },
                    Some(why) => Step::Pass { phase, hook, why },
                };
            }
            self.at += 1;
            if let Some(work) = phase.work {
                return Step::Work(work);
            }
        }
        Step::Done
    }
}

#[cfg(test)]
mod tests {
    use super::super::phase::{ACTORS, AFTER_ACTORS, DRAIN, INTAKE, UNREADY, plan};
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const BEGAN: Moment = Moment::ZERO;

    fn course() -> Course<&'static str> {
        Course::new(plan(&[]).expect("the runtime's own phases are fine"))
    }

    /// The rest of the way at one moment: hooks by name, those that are passed by in brackets.
    fn rest(course: &mut Course<&'static str>, now: Moment) -> String {
        let mut steps = Vec::new();
        loop {
            steps.push(match course.next(now) {
                Step::Run { phase, hook } => format!("{phase}:{hook}"),
                Step::Pass { phase, hook, .. } => format!("({phase}:{hook})"),
                Step::Work(work) => format!("{work:?}"),
                Step::Done => return steps.join(" "),
            });
        }
    }

    #[test]
    fn l27_hooks_run_by_phase_then_by_registration_and_before_the_work() {
        let mut course = course();
        for (phase, hook) in [
            (AFTER_ACTORS, "f"),
            (DRAIN, "c"),
            (UNREADY, "a"),
            (DRAIN, "d"),
            (ACTORS, "e"),
            (INTAKE, "b"),
        ] {
            course.add(phase, hook).expect("nothing has begun");
        }
        course.begin(BEGAN, SECOND);
        assert_eq!(
            rest(&mut course, BEGAN),
            "unready:a intake:b drain:c drain:d Drain actors:e Actors after-actors:f"
        );
        assert_eq!(course.next(BEGAN), Step::Done);
    }

    #[test]
    fn l27_a_hook_is_taken_until_its_phase_is_past() {
        let mut course = course();
        assert_eq!(course.add("nowhere", "x"), Err((Refusal::Unknown, "x")));
        course.add(INTAKE, "first").expect("nothing has begun");
        course.begin(BEGAN, SECOND);
        assert!(matches!(course.next(BEGAN), Step::Run { hook: "first", .. }));
        assert_eq!(course.add(UNREADY, "x"), Err((Refusal::Past, "x")));
        course.add(INTAKE, "second").expect("a hook of this very phase runs");
        assert!(matches!(course.next(BEGAN), Step::Run { hook: "second", .. }));
        assert_eq!(course.next(BEGAN), Step::Work(Work::Drain));
        assert_eq!(course.add(INTAKE, "x"), Err((Refusal::Past, "x")));
        assert_eq!(course.add(DRAIN, "x"), Err((Refusal::Past, "x")), "its work has begun");
        course.add(AFTER_ACTORS, "last").expect("that is to come");
        assert_eq!(rest(&mut course, BEGAN), "Actors after-actors:last");
        assert_eq!(course.add(AFTER_ACTORS, "x"), Err((Refusal::Past, "x")));
    }

    #[test]
    fn l27_a_hook_that_was_taken_back_does_not_run() {
        let mut course = course();
        let first = course.add(DRAIN, "first").expect("nothing has begun");
        let second = course.add(DRAIN, "second").expect("nothing has begun");
        assert_eq!(course.remove(first), Some("first"));
        assert_eq!(course.remove(first), None);
        course.begin(BEGAN, SECOND);
        assert_eq!(rest(&mut course, BEGAN), "drain:second Drain Actors");
        assert_eq!(course.remove(second), None);
    }

    #[test]
    fn l27_when_the_time_is_over_hooks_are_passed_by_and_the_work_is_not() {
        let mut course = course();
        course.add(UNREADY, "a").expect("nothing has begun");
        course.add(AFTER_ACTORS, "b").expect("nothing has begun");
        course.begin(BEGAN, SECOND);
        course.begin(BEGAN + SECOND, SECOND); // a second stop changes nothing
        assert_eq!(course.left(BEGAN), SECOND);
        assert_eq!(course.cut_short(BEGAN), None);
        let end = BEGAN + SECOND;
        assert_eq!(course.cut_short(end), Some(CutShort::Timeout { within: SECOND }));
        assert!(!course.hurry(end), "it is over already");
        assert_eq!(rest(&mut course, end), "(unready:a) Drain Actors (after-actors:b)");
    }

    #[test]
    fn l27_to_hurry_ends_the_time() {
        let mut course = course();
        course.add(AFTER_ACTORS, "a").expect("nothing has begun");
        assert!(!course.hurry(BEGAN), "nothing has begun");
        course.begin(BEGAN, SECOND);
        assert!(course.hurry(BEGAN));
        assert!(!course.hurry(BEGAN));
        assert_eq!(course.left(BEGAN), Duration::ZERO);
        assert_eq!(course.cut_short(BEGAN), Some(CutShort::Hurried));
        assert_eq!(rest(&mut course, BEGAN), "Drain Actors (after-actors:a)");
    }

    #[test]
    fn l27_a_failed_hook_ends_the_hooks_but_takes_no_time() {
        let mut course = course();
        course.add(AFTER_ACTORS, "a").expect("nothing has begun");
        course.begin(BEGAN, SECOND);
        let failed = |hook: &str| CutShort::HookFailed { hook: hook.to_owned() };
        course.give_up(failed("x"));
        course.give_up(failed("y"));
        assert_eq!(course.cut_short(BEGAN + SECOND), Some(failed("x")));
        assert_eq!(course.left(BEGAN), SECOND);
        assert_eq!(rest(&mut course, BEGAN), "Drain Actors (after-actors:a)");
    }
}
