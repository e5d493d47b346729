//! The tap that plays a recording: it lets pass what is fed from the file and nothing else, and answers what handlers
//! read.
//!
//! What the replayed actor sends to itself, by hand, by timers or by tasks, is in the file already, so it is discarded
//! when it comes. What it takes back from its stash comes by itself, and so do answers to its requests; these are not
//! fed, only found in the file.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use volary::{Input, Moment, Passage, Tap, What};

use super::book::{Mark, Source, Turn};
use super::replay::Divergence;

pub(super) struct Player {
    turns: Vec<Turn>,
    reel: Mutex<Reel>,
}

/// How far the recording has been played.
#[derive(Default)]
struct Reel {
    /// How many turns have begun: the one under way is the one before.
    begun: usize,
    /// The next turn was fed and is on its way.
    fed: bool,
    /// How many marks of the turn under way have been met.
    met: usize,
    /// One divergence for each turn is enough: what follows in it is a consequence.
    diverged: bool,
    divergences: Vec<Divergence>,
}

impl Player {
    pub(super) fn new(turns: Vec<Turn>) -> Self {
        Player {
            turns,
            reel: Mutex::default(),
        }
    }

    pub(super) fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// The number of the next turn to be played.
    pub(super) fn position(&self) -> usize {
        self.reel().begun
    }

    /// The next turn is sent now.
    pub(super) fn feed(&self) {
        self.reel().fed = true;
    }

    /// Gives up the next turn.
    pub(super) fn skip(&self, what: &str) {
        let reel = &mut *self.reel();
        self.begin(reel);
        self.diverge(reel, what.to_owned());
        reel.met = usize::MAX;
    }

    /// Whether the turn under way was followed by a restart that has not come by itself.
    pub(super) fn awaits_restart(&self) -> bool {
        let reel = self.reel();
        let rest = self.current(&reel).and_then(|turn| turn.marks.get(reel.met..));
        !reel.diverged && rest.is_some_and(|rest| rest.contains(&Mark::Restarted) && !rest.contains(&Mark::Failed))
    }

    pub(super) fn end(&self) -> Vec<Divergence> {
        let reel = &mut *self.reel();
        self.close(reel);
        std::mem::take(&mut reel.divergences)
    }

    fn reel(&self) -> MutexGuard<'_, Reel> {
        self.reel.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn current(&self, reel: &Reel) -> Option<&Turn> {
        self.turns.get(reel.begun.checked_sub(1)?)
    }

    fn begin(&self, reel: &mut Reel) {
        self.close(reel);
        reel.begun += 1;
        reel.fed = false;
        reel.met = 0;
        reel.diverged = false;
    }

    /// The turn under way is over: all that it had met must have been met again.
    fn close(&self, reel: &mut Reel) {
        let left = self
            .current(reel)
            .map_or(0, |turn| turn.marks.len().saturating_sub(reel.met));
        if left > 0 {
            self.diverge(reel, format!("{left} of its readings and events did not come again"));
        }
    }

    fn diverge(&self, reel: &mut Reel, what: String) {
        let Some(turn) = self.current(reel) else { return };
        if std::mem::replace(&mut reel.diverged, true) {
            return;
        }
        let (number, message) = (reel.begun - 1, turn.message.clone());
        reel.divergences.push(Divergence {
            turn: number,
            message,
            what,
        });
    }

    /// The next mark of the turn under way, if it is of this kind.
    fn meet<R>(&self, what: &str, pick: impl FnOnce(Mark) -> Option<R>) -> Option<R> {
        let reel = &mut *self.reel();
        let turn = self.current(reel)?;
        let mark = turn.marks.get(reel.met).copied();
        let found = mark.and_then(pick);
        if found.is_some() {
            reel.met += 1;
        } else if !(turn.open && mark.is_none()) {
            let recorded = mark.map_or_else(|| "nothing more".to_owned(), |mark| format!("{mark:?}"));
            self.diverge(reel, format!("it {what} where the recording has {recorded}"));
        }
        found
    }

    /// The turn whose time it is: the one under way, or the first before any is.
    fn timed(&self) -> Option<&Turn> {
        let reel = self.reel();
        self.current(&reel).or_else(|| self.turns.first())
    }
}

impl Tap for Player {
    fn input(&self, input: &Input<'_>) -> Passage {
        let reel = &mut *self.reel();
        let origin = Source::from(input.origin());
        let next = self.turns.get(reel.begun);
        if matches!(origin, Source::Stash | Source::Answer) {
            if next.is_some_and(|next| next.origin == origin && next.message == input.type_name()) {
                self.begin(reel);
            } else {
                let came = input.type_name();
                self.diverge(reel, format!("it was followed by {came} from {:?}", input.origin()));
            }
            return Passage::Handle;
        }
        if !reel.fed {
            return Passage::Discard;
        }
        self.begin(reel);
        Passage::Handle
    }

    fn now(&self, read: Moment) -> Moment {
        let nanos = self.meet("read the clock", |mark| match mark {
            Mark::Now(nanos) => Some(nanos),
            _ => None,
        });
        nanos
            .or_else(|| Some(self.timed()?.now))
            .map_or(read, |nanos| Moment::ZERO + Duration::from_nanos(nanos))
    }

    fn wall_clock(&self, read: SystemTime) -> SystemTime {
        let nanos = self.meet("read the calendar", |mark| match mark {
            Mark::Wall(nanos) => Some(nanos),
            _ => None,
        });
        nanos
            .or_else(|| Some(self.timed()?.wall))
            .and_then(wall)
            .unwrap_or(read)
    }

    fn random(&self, drawn: u64) -> u64 {
        let number = self.meet("drew a number", |mark| match mark {
            Mark::Random(number) => Some(number),
            _ => None,
        });
        number.unwrap_or(drawn)
    }

    fn happens(&self, what: &What<'_>) {
        if let Some(mark) = Mark::of(what) {
            let happened = format!("{mark:?}").to_lowercase();
            self.meet(&format!("was {happened}"), |found| (found == mark).then_some(()));
        }
    }
}

fn wall(nanos: i128) -> Option<SystemTime> {
    let time = Duration::from_nanos_u128(nanos.unsigned_abs());
    if nanos < 0 {
        SystemTime::UNIX_EPOCH.checked_sub(time)
    } else {
        SystemTime::UNIX_EPOCH.checked_add(time)
    }
}
