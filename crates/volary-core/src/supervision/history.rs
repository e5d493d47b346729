//! What was done about an actor before, and what that means for the next crash.

use std::collections::VecDeque;
use std::time::Duration;

use super::policy::{Directive, Supervision};
use crate::actor::Fault;
use crate::time::Moment;

/// What is to be done about a crash, all things considered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Resume,
    Restart,
    /// Restart after a while.
    RestartAfter(Duration),
    Stop,
    Escalate,
    /// Too many restarts: wait for somebody to decide.
    Suspend,
}

/// The restarts of one actor.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// When it was restarted, within the window of the limit.
    restarts: VecDeque<Moment>,
    /// How many delays were waited for in a row.
    delays: u32,
    last: Option<Moment>,
}

impl History {
    /// A fault has come: decides, and remembers the decision.
    pub(crate) fn judge(&mut self, policy: &Supervision, fault: &Fault, now: Moment, random: u64) -> Verdict {
        match policy.directive_for(fault) {
            Directive::Resume => Verdict::Resume,
            Directive::Stop => Verdict::Stop,
            Directive::Escalate => Verdict::Escalate,
            Directive::Suspend => Verdict::Suspend,
            Directive::Restart => self.restart(policy, now, random),
        }
    }

    fn restart(&mut self, policy: &Supervision, now: Moment, random: u64) -> Verdict {
        if let Some((limit, window)) = policy.restart_limit() {
            while self.restarts.front().is_some_and(|then| now.since(*then) >= window) {
                self.restarts.pop_front();
            }
            if self.restarts.len() >= limit as usize {
                return Verdict::Suspend;
            }
            self.restarts.push_back(now);
        }
        let Some(backoff) = policy.delay() else {
            return Verdict::Restart;
        };
        let quiet = self.last.is_none_or(|last| now.since(last) >= backoff.quiet());
        let n = if quiet { 0 } else { self.delays };
        let delay = backoff.delay(n, random);
        self.delays = n.saturating_add(1);
        // The quiet time begins when it runs again.
        self.last = Some(now + delay);
        Verdict::RestartAfter(delay)
    }

    /// Somebody has reinstated the actor: the count begins anew.
    pub(crate) fn forgive(&mut self) {
        *self = History::default();
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Backoff, Supervision};
    use super::*;

    fn at(ms: u64) -> Moment {
        Moment::from_nanos(1 + ms * 1_000_000)
    }

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_limit_counts_within_its_sliding_window() {
        let policy = Supervision::new().limit(2, SECOND);
        let mut history = History::default();
        let mut judge = |ms| history.judge(&policy, &Fault::msg("x"), at(ms), 0);
        assert_eq!(judge(0), Verdict::Restart);
        assert_eq!(judge(600), Verdict::Restart);
        assert_eq!(judge(999), Verdict::Suspend);
        assert_eq!(judge(1_000), Verdict::Restart, "the first one has left the window");
        assert_eq!(judge(1_599), Verdict::Suspend);
        assert_eq!(judge(1_600), Verdict::Restart);
    }

    #[test]
    fn a_limit_of_zero_never_restarts_and_forgiveness_begins_anew() {
        let policy = Supervision::new().limit(0, SECOND);
        let mut history = History::default();
        assert_eq!(history.judge(&policy, &Fault::msg("x"), at(0), 0), Verdict::Suspend);
        let policy = Supervision::new().limit(1, SECOND);
        assert_eq!(history.judge(&policy, &Fault::msg("x"), at(0), 0), Verdict::Restart);
        assert_eq!(history.judge(&policy, &Fault::msg("x"), at(1), 0), Verdict::Suspend);
        history.forgive();
        assert_eq!(history.judge(&policy, &Fault::msg("x"), at(2), 0), Verdict::Restart);
    }

    #[test]
    fn delays_grow_with_crashes_in_a_row_and_begin_anew_after_quiet() {
        let ms = Duration::from_millis;
        let backoff = Backoff::new(ms(100), SECOND).jitter(0.0).reset_after(ms(500));
        let policy = Supervision::new().backoff(backoff);
        let mut history = History::default();
        let mut judge = |now| history.judge(&policy, &Fault::msg("x"), at(now), 7);
        assert_eq!(judge(0), Verdict::RestartAfter(ms(100)));
        assert_eq!(judge(150), Verdict::RestartAfter(ms(200)), "50 ms after it ran again");
        assert_eq!(judge(849), Verdict::RestartAfter(ms(400)), "499 ms after it ran again");
        assert_eq!(
            judge(1_749),
            Verdict::RestartAfter(ms(100)),
            "500 ms after it ran again"
        );
    }

    #[test]
    fn the_first_rule_that_fits_counts_and_sources_are_looked_at() {
        #[derive(Debug, thiserror::Error)]
        #[error("outer")]
        struct Outer(#[source] std::fmt::Error);
        let policy = Supervision::new()
            .on::<Outer>(Directive::Escalate)
            .on::<std::fmt::Error>(Directive::Resume)
            .on_panic(Directive::Stop);
        let judge = |fault: Fault| History::default().judge(&policy, &fault, at(0), 0);
        assert_eq!(judge(Fault::new(Outer(std::fmt::Error))), Verdict::Escalate);
        assert_eq!(judge(Fault::new(std::fmt::Error)), Verdict::Resume);
        assert_eq!(judge(Fault::from_panic(&"boom")), Verdict::Stop);
        assert_eq!(judge(Fault::msg("else")), Verdict::Restart);
    }
}
