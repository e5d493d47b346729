//! Waiting until the actors' work is done.
//!
//! Nobody counts the messages of a whole system, so it is looked at now and then. One look at many actors takes
//! a while, and a message may pass behind its back. Two looks in a row that see everybody at rest and the same
//! number of messages sent to each do not have that gap: between them there was a moment at which all were at
//! rest at once.

use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use super::patience::wait;
use crate::cell::CellRef;
use crate::cell::state::{DEAD, HELD};
use crate::system::core::SystemCore;
use crate::system::problem::{StopProblem, examples};

/// How long to wait between two looks.
const PAUSE: Duration = Duration::from_millis(10);

/// Waits until all below `guardian` are at rest, up to the time that a drain has, and reports who was not.
pub(in crate::system) async fn drain(core: &Arc<SystemCore>, guardian: &CellRef) {
    let limit = core.drain_time();
    if limit.is_zero() {
        return;
    }
    let begun = core.now();
    while !is_quiet(guardian) {
        let left = limit.saturating_sub(core.now().since(begun)).min(core.left());
        if left.is_zero() {
            let at_work = at_work(guardian);
            if !at_work.is_empty() {
                core.stopping.report(StopProblem::NotDrained {
                    count: at_work.len(),
                    within: core.now().since(begun).min(limit),
                    examples: examples(&at_work),
                });
            }
            return;
        }
        let _: Option<()> = wait(core, PAUSE.min(left), |_| Poll::Pending).await;
    }
}

/// True: there was a moment at which nobody was at work and nobody had mail.
fn is_quiet(guardian: &CellRef) -> bool {
    match look(guardian) {
        Some(first) => look(guardian) == Some(first),
        None => false,
    }
}

/// Everybody with the number of messages that were ever sent to them, if all are at rest.
fn look(guardian: &CellRef) -> Option<Vec<(u64, u64)>> {
    let mut above = guardian.children();
    let mut all = Vec::new();
    while let Some(cell) = above.pop() {
        all.push((cell.id, at_rest(&cell)?));
        above.extend(cell.children());
    }
    Some(all)
}

/// How many messages were ever sent to it, if it has handled them all. The order of the looks matters: what is
/// sent after the first of them is seen by the next look at everybody.
fn at_rest(cell: &CellRef) -> Option<u64> {
    let sent = cell.log.all_taken();
    if cell.state.has(HELD | DEAD) {
        return Some(sent.unwrap_or(0)); // it handles nothing by itself
    }
    sent.filter(|_| !cell.state.is_busy() && !awaits_answers(cell))
}

/// Its requests may be to actors of another system, whose work is not seen here.
fn awaits_answers(cell: &CellRef) -> bool {
    cell.extras_if_any()
        .is_some_and(|extras| !extras.links.lock().requests.is_empty())
}

fn at_work(guardian: &CellRef) -> Vec<CellRef> {
    let mut all = crate::system::stop::below(guardian);
    all.retain(|cell| at_rest(cell).is_none());
    all
}
