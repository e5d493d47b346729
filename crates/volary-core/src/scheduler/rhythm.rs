//! When a schedule goes off.
//!
//! What is counted from now on lies on the monotonic clock. What the calendar says lies on the wall clock, which
//! people and time servers set, and which goes on while a machine sleeps and the monotonic clock may stand still:
//! such schedules look at it once a minute.

use std::time::{Duration, SystemTime};

use crate::system::SystemCore;
#[cfg(feature = "cron")]
use crate::time::Cron;
use crate::time::{Moment, next_at_rate};

/// How long a schedule of the calendar trusts the monotonic clock.
const LOOK: Duration = Duration::from_secs(60);
/// A wall clock that went back by more than this was wrong before; by less, hours come again that have been.
#[cfg(feature = "cron")]
const CORRECTION: Duration = Duration::from_secs(3 * 60 * 60);

pub(super) enum Rhythm {
    Once,
    At,
    Every(Duration),
    Delay(Duration),
    #[cfg(feature = "cron")]
    Cron(Cron),
}

/// A time of the calendar.
pub(super) struct Date {
    pub(super) due: SystemTime,
    /// What the wall clock said when this was found.
    #[cfg_attr(
        not(feature = "cron"),
        expect(dead_code, reason = "a single time is not planned anew")
    )]
    pub(super) found: SystemTime,
}

impl Date {
    /// When to look at the wall clock again, if `due` is when it should say this date.
    pub(super) fn next_look(due: Moment, now: Moment) -> Moment {
        due.min(now + LOOK)
    }
}

/// When a schedule is due next.
pub(super) struct Next {
    pub(super) at: Moment,
    /// What the calendar says, if it is asked.
    pub(super) date: Option<Box<Date>>,
}

impl Next {
    pub(super) fn after(at: Moment) -> Self {
        Next { at, date: None }
    }

    pub(super) fn dated(due: SystemTime, clocks: Clocks) -> Self {
        let found = clocks.wall;
        Next {
            at: clocks.moment_of(due),
            date: Some(Box::new(Date { due, found })),
        }
    }
}

/// Both clocks, read together.
#[derive(Clone, Copy)]
pub(super) struct Clocks {
    pub(super) now: Moment,
    pub(super) wall: SystemTime,
}

impl Clocks {
    pub(super) fn read(core: &SystemCore) -> Self {
        Clocks {
            now: core.now(),
            wall: core.env().wall(),
        }
    }

    /// When the wall clock will say `date`, if nobody sets it.
    pub(super) fn moment_of(self, date: SystemTime) -> Moment {
        self.now + date.duration_since(self.wall).unwrap_or(Duration::ZERO)
    }
}

impl Rhythm {
    /// The next time after one that was planned for `planned`; none if that was the last.
    pub(super) fn following(&self, planned: Moment, clocks: Clocks) -> Option<Next> {
        match self {
            Rhythm::Once | Rhythm::At => None,
            Rhythm::Every(period) => Some(Next::after(next_at_rate(planned, *period, clocks.now))),
            Rhythm::Delay(delay) => Some(Next::after(clocks.now + *delay)),
            #[cfg(feature = "cron")]
            Rhythm::Cron(cron) => cron.next_after(clocks.wall).map(|due| Next::dated(due, clocks)),
        }
    }

    /// When it is due by what the clocks say now, if that is still to come.
    pub(super) fn still_to_come(&self, date: &mut Date, clocks: Clocks) -> Option<Moment> {
        #[cfg(feature = "cron")]
        if let Rhythm::Cron(cron) = self
            && clocks.wall + CORRECTION < date.found
            && let Some(due) = cron.next_after(clocks.wall)
        {
            date.due = due;
            date.found = clocks.wall;
        }
        (clocks.wall < date.due).then(|| clocks.moment_of(date.due))
    }

    /// When to go on after a pause that began with `left` to go.
    pub(super) fn resumed(&self, left: Duration, clocks: Clocks, date: Option<Box<Date>>) -> Next {
        #[cfg(feature = "cron")]
        if let Rhythm::Cron(_) = self
            && let Some(next) = self.following(clocks.now, clocks)
        {
            return next;
        }
        let at = date
            .as_ref()
            .map_or(clocks.now + left, |date| clocks.moment_of(date.due));
        Next { at, date }
    }
}
