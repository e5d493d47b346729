//! What happened in a run, in words, and the hash that two runs are compared by.

use std::fmt::Display;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use volary::{ActorSystem, Moment};

/// A finished run.
pub(crate) struct Run {
    pub(crate) lines: Vec<String>,
    /// Invariants that did not hold.
    pub(crate) wrong: Vec<String>,
}

impl Run {
    /// FNV-1a over all lines.
    pub(crate) fn hash(&self) -> u64 {
        let bytes = self
            .lines
            .iter()
            .chain(&self.wrong)
            .flat_map(|line| line.bytes().chain([b'\n']));
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    }

    /// The first line that is not the same, from 1.
    pub(crate) fn differs_from(&self, other: &Run) -> Option<usize> {
        if self.hash() == other.hash() {
            return None;
        }
        let same = self
            .lines
            .iter()
            .zip(&other.lines)
            .take_while(|(one, two)| one == two)
            .count();
        Some(same + 1)
    }
}

/// A run under way.
#[derive(Default)]
pub(crate) struct Trace {
    run: Mutex<(Vec<String>, Vec<String>)>,
}

impl Trace {
    /// Writes a line: virtual time, actor, what it did.
    pub(crate) fn note(&self, system: &ActorSystem, actor: impl Display, what: impl Display) {
        let time: Duration = system.now().since(Moment::ZERO);
        self.lines(|lines, _| lines.push(format!("{:>13.6}  {actor:<10} {what}", time.as_secs_f64())));
    }

    pub(crate) fn wrong(&self, what: String) {
        self.lines(|_, wrong| wrong.push(what));
    }

    pub(crate) fn finish(&self) -> Run {
        self.lines(|lines, wrong| Run {
            lines: std::mem::take(lines),
            wrong: std::mem::take(wrong),
        })
    }

    fn lines<R>(&self, f: impl FnOnce(&mut Vec<String>, &mut Vec<String>) -> R) -> R {
        let mut run = self.run.lock().unwrap_or_else(PoisonError::into_inner);
        let (lines, wrong) = &mut *run;
        f(lines, wrong)
    }
}
