//! The report of a history that no order explains.

use std::fmt;

use super::timeline;
use crate::check::history::{At, Call};

const SHOWN_STATES: usize = 8;
const SHOWN_CALLS: usize = 24;
const SHOWN_LETTERS: usize = 100;

/// Calls that contradict each other. It prints as a picture of them, one line for each client.
///
/// ```
/// # use volary_testkit::check::{Checker, History, Verdict, models::{Counter, CounterOp::*, CounterReturn::*}};
/// let mut history = History::new();
/// history.call(1, "x", Add(1), Done, 0..1);
/// history.call(2, "x", Read, Value(0), 2..3); // lost?
/// history.call(2, "x", Read, Value(1), 4..5);
/// let Verdict::Violation(violation) = Checker::new(Counter).check(&history) else { panic!("not found") };
/// assert_eq!(violation.key, "x");
/// assert_eq!(violation.calls.len(), 2); // the addition and the first read
/// assert_eq!(violation.culprit().op, Read);
/// assert_eq!(violation.allowed[0].returned, Value(1));
/// assert_eq!(violation.left_out, 1);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Violation<K, O, R> {
    /// What they are about.
    pub key: K,
    /// If the history is long: where its beginning was cut off, and what it may have led to.
    pub before: Option<Before>,
    /// The calls, by their end. None of them can be doubted without resolving the contradiction, unless the budget
    /// for finding out was used up.
    pub calls: Vec<Call<O, R>>,
    /// What the last of the calls might have returned instead, as far as the model and the budget tell.
    pub allowed: Vec<Allowed<R>>,
    /// How many calls of the key have no part in it: whether or not they took effect, the others contradict each other.
    pub left_out: usize,
}

/// What a call might have returned, and a state of the model in which it would have.
///
/// ```
/// # use volary_testkit::check::{Checker, History, Verdict, models::{Counter, CounterOp::*, CounterReturn::*}};
/// let mut history = History::new();
/// history.call(1, "x", AddAndRead(1), Value(5), 0..1);
/// let Verdict::Violation(violation) = Checker::new(Counter).check(&history) else { panic!("not found") };
/// assert_eq!(violation.allowed[0].to_string(), "Value(1), in state 0");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Allowed<R> {
    /// What it might have returned.
    pub returned: R,
    /// In which state.
    pub state: String,
}

/// The states in which the calls before some instant may have left things.
///
/// ```
/// # use volary_testkit::check::{Checker, History, Verdict, models::{Counter, CounterOp::*, CounterReturn::*}};
/// let mut history = History::new();
/// for at in 0..100 {
///     history.call(1, "x", Add(1), Done, 2 * at..2 * at + 1);
/// }
/// history.call(1, "x", Read, Value(99), 200..201);
/// let Verdict::Violation(violation) = Checker::new(Counter).check(&history) else { panic!("not found") };
/// let before = violation.before.expect("a hundred calls are many");
/// assert_eq!((before.at, before.states), (199, vec!["100".to_owned()]));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Before {
    /// When the last of these calls ended.
    pub at: At,
    /// The states.
    pub states: Vec<String>,
}

impl<K, O, R> Violation<K, O, R> {
    /// The call that came back with something that none of the earlier ones leaves room for: the last of the calls.
    ///
    /// ```
    /// # use volary_testkit::check::{Checker, History, Verdict, models::{Counter, CounterOp::*, CounterReturn::*}};
    /// let mut history = History::new();
    /// history.call(1, "x", Read, Value(5), 0..1);
    /// let Verdict::Violation(violation) = Checker::new(Counter).check(&history) else { panic!("not found") };
    /// assert_eq!(violation.culprit().client, 1);
    /// ```
    #[must_use]
    pub fn culprit(&self) -> &Call<O, R> {
        self.calls.last().expect("a contradiction has at least one call")
    }
}

impl<K: fmt::Debug, O: fmt::Debug, R: fmt::Debug> fmt::Display for Violation<K, O, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hidden = self.calls.len().saturating_sub(SHOWN_CALLS);
        writeln!(f, "not linearizable: {:?}\n", self.key)?;
        if let Some(before) = &self.before {
            writeln!(f, "  {before}\n")?;
        }
        if hidden > 0 {
            writeln!(f, "  after {hidden} calls that are not drawn\n")?;
        }
        timeline::draw(f, &self.calls[hidden..])?;
        let culprit = self.culprit();
        let call = shortened(&label(culprit));
        writeln!(
            f,
            "\n  ✗ no order of these calls explains {call} of client {}",
            culprit.client
        )?;
        for allowed in &self.allowed {
            writeln!(f, "    the model allows {}", shortened(&allowed.to_string()))?;
        }
        match self.left_out {
            0 => Ok(()),
            count => writeln!(
                f,
                "    {count} other calls are left out: with or without their effects, it is a contradiction"
            ),
        }
    }
}

impl<K: fmt::Debug, O: fmt::Debug, R: fmt::Debug> std::error::Error for Violation<K, O, R> {}

impl<R: fmt::Debug> fmt::Display for Allowed<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}, in state {}", self.returned, self.state)
    }
}

impl fmt::Display for Before {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.states.iter().take(SHOWN_STATES).map(|state| shortened(state));
        let shown: Vec<String> = shown.collect();
        write!(f, "the calls up to {} led to state {}", self.at, shown.join(" or "))?;
        match self.states.len().saturating_sub(SHOWN_STATES) {
            0 => Ok(()),
            more => write!(f, " or {more} others"),
        }
    }
}

/// What was called, and what came back.
pub(super) fn label<O: fmt::Debug, R: fmt::Debug>(call: &Call<O, R>) -> String {
    match &call.returned {
        Some(returned) => format!("{:?} → {:?}", call.op, returned.value),
        None => format!("{:?} → ?", call.op),
    }
}

/// A text that is not longer than a line.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_LETTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
