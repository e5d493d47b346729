//! The calls among which a search chooses, numbered the way it needs them.
//!
//! ```text
//! 0 … completed      those that came back, by their end
//! completed …        those of unknown outcome, by their begin
//! ```

use crate::check::history::{At, Call, Client, Returned};
use crate::check::model::Model;

/// How far back an equal call is looked for: a few suffice where few are under way at once.
const TWIN_DISTANCE: usize = 64;

/// A call, and as much of its return as shall count.
pub(super) struct Seen<'a, O, R> {
    pub(super) call: &'a Call<O, R>,
    pub(super) returned: Option<&'a Returned<R>>,
    /// It came back, but with something else than these.
    pub(super) otherwise: Option<&'a [R]>,
}

impl<'a, O, R> Seen<'a, O, R> {
    pub(super) fn as_recorded(call: &'a Call<O, R>) -> Self {
        Self {
            call,
            returned: call.returned.as_ref(),
            otherwise: None,
        }
    }

    pub(super) fn as_unknown(call: &'a Call<O, R>) -> Self {
        Self {
            call,
            returned: None,
            otherwise: None,
        }
    }

    pub(super) fn with_other_return(call: &'a Call<O, R>, than: &'a [R]) -> Self {
        Self {
            call,
            returned: call.returned.as_ref(),
            otherwise: Some(than),
        }
    }
}

/// A call as the search sees it.
pub(super) struct Candidate<'a, M: Model> {
    pub(super) client: Client,
    pub(super) op: &'a M::Op,
    pub(super) returned: Option<&'a M::Return>,
    pub(super) otherwise: Option<&'a [M::Return]>,
    pub(super) begin: At,
    pub(super) end: At,
    pub(super) is_read: bool,
    /// An equal call that should go first.
    pub(super) twin: Option<usize>,
    /// Calls that must go first, as the model says.
    pub(super) after: Vec<usize>,
}

impl<'a, M: Model> Candidate<'a, M> {
    fn as_call(&self) -> Call<&'a M::Op, &'a M::Return> {
        Call {
            client: self.client,
            op: self.op,
            begin: self.begin,
            returned: self
                .returned
                .filter(|_| self.otherwise.is_none())
                .map(|value| Returned { at: self.end, value }),
        }
    }
}

/// Numbers the calls; and how many of them came back.
pub(super) fn candidates<'a, M: Model>(
    model: &M,
    history: impl IntoIterator<Item = Seen<'a, M::Op, M::Return>>,
) -> (Vec<Candidate<'a, M>>, usize) {
    let mut calls: Vec<Candidate<'a, M>> = history
        .into_iter()
        .map(|seen| Candidate {
            client: seen.call.client,
            op: &seen.call.op,
            returned: seen.returned.map(|returned| &returned.value),
            otherwise: seen.otherwise,
            begin: seen.call.begin,
            end: seen.returned.map_or(At::MAX, |returned| returned.at),
            is_read: model.is_read(&seen.call.op),
            twin: None,
            after: Vec::new(),
        })
        // A read that nobody heard of tells nothing.
        .filter(|call| call.returned.is_some() || !call.is_read)
        .collect();
    calls.sort_by_key(|call| (call.returned.is_none(), call.end, call.begin));
    let completed = calls.partition_point(|call| call.returned.is_some());
    for at in 0..calls.len() {
        calls[at].twin = twin(&calls, at, completed);
    }
    let as_calls: Vec<_> = calls.iter().map(Candidate::as_call).collect();
    for (first, second) in model.implied_order(&as_calls) {
        calls[second].after.push(first);
    }
    (calls, completed)
}

/// The nearest equal call that should go before the call `at`, if the two can be under way together.
fn twin<M: Model>(calls: &[Candidate<'_, M>], at: usize, completed: usize) -> Option<usize> {
    let call = &calls[at];
    let start = if at < completed { 0 } else { completed };
    (start.max(at.saturating_sub(TWIN_DISTANCE))..at)
        .rev()
        .take_while(|other| calls[*other].end >= call.begin)
        .filter(|other| calls[*other].otherwise.is_none() && call.otherwise.is_none())
        .find(|other| calls[*other].op == call.op && calls[*other].returned == call.returned)
}
