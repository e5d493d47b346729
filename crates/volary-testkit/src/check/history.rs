//! What clients called, when, and what came back.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::ops::Range;

/// An instant of a record. Only the order counts: ticks, nanoseconds or the numbers of events will all do.
///
/// ```
/// use volary_testkit::check::At;
///
/// let milliseconds: u64 = 17;
/// assert_eq!(At::from(milliseconds), 17);
/// ```
pub type At = i128;

/// Who made a call. Only the report looks at it: a client may have several calls open.
///
/// ```
/// # use volary_testkit::check::{Client, History};
/// let alice: Client = 1;
/// let mut history: History<&str, &str, &str> = History::new();
/// history.begin(alice, "key", "read");
/// ```
pub type Client = u64;

/// A call of a [`History`] that has begun.
///
/// ```
/// # use volary_testkit::check::{CallId, History};
/// let mut history = History::new();
/// let read: CallId = history.begin(1, "key", "read");
/// history.end(read, "nothing");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CallId(usize);

/// How a call came back.
///
/// ```
/// # use volary_testkit::check::{History, Returned};
/// let mut history = History::new();
/// history.call(1, "key", "read", "nothing", 3..5);
/// let call = history.calls().next().map(|(_, call)| call.clone());
/// assert_eq!(call.and_then(|call| call.returned), Some(Returned { at: 5, value: "nothing" }));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Returned<R> {
    /// When.
    pub at: At,
    /// With what.
    pub value: R,
}

/// One call of a [`History`].
///
/// ```
/// # use volary_testkit::check::History;
/// let mut history: History<&str, &str, &str> = History::new();
/// history.begin_at(1, "key", "read", 3);
/// let (key, call) = history.calls().next().expect("one call");
/// assert_eq!((*key, call.client, call.op, call.begin), ("key", 1, "read", 3));
/// assert!(call.returned.is_none());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call<O, R> {
    /// Who made it.
    pub client: Client,
    /// What was asked for.
    pub op: O,
    /// When it began.
    pub begin: At,
    /// How it came back. None if nobody knows: it may have taken effect at any time since it began, or never.
    pub returned: Option<Returned<R>>,
}

/// What clients called, when, and what came back; each call is about one key.
///
/// Two calls are in order if one ended before the other began. At the same instant they count as concurrent, so that a
/// coarse clock never causes a false alarm, but hides true ones: where one thread sees everything, as in a simulation,
/// let the history number the events itself with [`begin`](History::begin) and [`end`](History::end).
///
/// ```
/// use volary_testkit::check::models::{Register, RegisterOp::*, RegisterReturn::*};
/// use volary_testkit::check::{Checker, History};
///
/// let mut history = History::new();
/// let write = history.begin(1, "name", Write("Ada"));
/// let read = history.begin(2, "name", Read);
/// history.end(read, Value("Ada")); // seen before the writer hears of it: that is fine
/// history.end(write, Done);
/// Checker::new(Register::new("")).check(&history).assert();
/// ```
#[derive(Debug, Clone)]
pub struct History<K, O, R> {
    calls: Vec<Option<(K, Call<O, R>)>>,
    latest: At,
}

impl<K, O, R> History<K, O, R> {
    /// A history without calls.
    ///
    /// ```
    /// # use volary_testkit::check::History;
    /// assert!(History::<u8, u8, u8>::new().is_empty());
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self {
            calls: Vec::new(),
            latest: 0,
        }
    }

    /// A call begins, right after everything recorded so far.
    ///
    /// ```
    /// # use volary_testkit::check::History;
    /// let mut history: History<_, _, ()> = History::new();
    /// history.begin(1, "key", "write");
    /// assert_eq!(history.len(), 1);
    /// ```
    pub fn begin(&mut self, client: Client, key: K, op: O) -> CallId {
        let at = self.latest + 1;
        self.begin_at(client, key, op, at)
    }

    /// A call begins at `at`. Until it [ends](History::end_at) its outcome is unknown.
    ///
    /// ```
    /// # use volary_testkit::check::History;
    /// # let mut history = History::new();
    /// let call = history.begin_at(1, "key", "read", 3);
    /// history.end_at(call, "nothing", 5);
    /// ```
    pub fn begin_at(&mut self, client: Client, key: K, op: O, at: impl Into<At>) -> CallId {
        let begin = at.into();
        self.latest = self.latest.max(begin);
        let call = Call {
            client,
            op,
            begin,
            returned: None,
        };
        self.calls.push(Some((key, call)));
        CallId(self.calls.len() - 1)
    }

    /// A call comes back, right after everything recorded so far.
    ///
    /// ```
    /// # use volary_testkit::check::History;
    /// # let mut history = History::new();
    /// let call = history.begin(1, "key", "read");
    /// history.end(call, "nothing");
    /// ```
    ///
    /// # Panics
    ///
    /// If the call is not of this history, has come back already, or was [taken back](History::take_back).
    #[track_caller]
    pub fn end(&mut self, call: CallId, value: R) {
        let at = self.latest + 1;
        self.end_at(call, value, at);
    }

    /// A call comes back at `at`.
    ///
    /// ```should_panic
    /// # use volary_testkit::check::History;
    /// # let mut history = History::new();
    /// let call = history.begin_at(1, "key", "read", 3);
    /// history.end_at(call, "nothing", 2); // before it began
    /// ```
    ///
    /// # Panics
    ///
    /// If the call is not of this history, has come back already, was [taken back](History::take_back), or began later.
    #[track_caller]
    pub fn end_at(&mut self, call: CallId, value: R, at: impl Into<At>) {
        let at = at.into();
        let Some((_, recorded)) = self.calls.get_mut(call.0).and_then(Option::as_mut) else {
            panic!("{call:?} is not in this history; allowed are calls it began and did not take back")
        };
        let begin = recorded.begin;
        assert!(
            at >= begin,
            "end {at} of {call:?} is before its begin; allowed is {begin} or later"
        );
        assert!(
            recorded.returned.is_none(),
            "{call:?} has come back already; allowed is once"
        );
        recorded.returned = Some(Returned { at, value });
        self.latest = self.latest.max(at);
    }

    /// A whole call, begun and come back.
    ///
    /// ```
    /// # use volary_testkit::check::History;
    /// let mut history = History::new();
    /// history.call(1, "key", "read", "nothing", 3..5);
    /// assert_eq!(history.len(), 1);
    /// ```
    ///
    /// # Panics
    ///
    /// If it ends before it begins.
    #[track_caller]
    pub fn call(&mut self, client: Client, key: K, op: O, value: R, during: Range<impl Into<At>>) {
        let id = self.begin_at(client, key, op, during.start);
        self.end_at(id, value, during.end);
    }

    /// A call certainly had no effect, such as one that was refused: the history forgets it.
    ///
    /// ```
    /// # use volary_testkit::check::History;
    /// # let mut history: History<_, _, ()> = History::new();
    /// let write = history.begin(1, "key", "write");
    /// history.take_back(write);
    /// assert!(history.is_empty());
    /// ```
    pub fn take_back(&mut self, call: CallId) {
        if let Some(place) = self.calls.get_mut(call.0) {
            *place = None;
        }
    }

    /// How many calls there are.
    ///
    /// ```
    /// # use volary_testkit::check::History;
    /// assert_eq!(History::<u8, u8, u8>::new().len(), 0);
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        self.calls().count()
    }

    /// Whether there is none.
    ///
    /// ```
    /// # use volary_testkit::check::History;
    /// assert!(History::<u8, u8, u8>::new().is_empty());
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.calls().next().is_none()
    }

    /// All calls with their keys, in the order in which they were recorded.
    ///
    /// ```
    /// # use volary_testkit::check::History;
    /// let mut history = History::new();
    /// history.call(1, "key", "read", "nothing", 3..5);
    /// assert_eq!(history.calls().filter(|(key, _)| **key == "key").count(), 1);
    /// ```
    pub fn calls(&self) -> impl Iterator<Item = (&K, &Call<O, R>)> {
        self.calls.iter().flatten().map(|(key, call)| (key, call))
    }
}

impl<K: Ord, O, R> History<K, O, R> {
    pub(super) fn by_key(&self) -> BTreeMap<&K, Vec<&Call<O, R>>> {
        let mut keys: BTreeMap<&K, Vec<&Call<O, R>>> = BTreeMap::new();
        for (key, call) in self.calls() {
            keys.entry(key).or_default().push(call);
        }
        keys
    }
}

impl<K, O, R> Default for History<K, O, R> {
    fn default() -> Self {
        Self::new()
    }
}
