//! Death watch: hearing of another actor's end.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::foreign::Errand;
use super::id::ActorId;
use super::post::post_exempt;
use crate::cell::state::DEAD;
use crate::cell::{CellRef, Header, Watcher};
use crate::events::Terminated;
use crate::mailbox::{Envelope, MessageTable};

/// Registers `watcher` with `target`, or tells it at once if the target has ended.
pub(crate) fn watch(watcher: &Header, target: &CellRef, table: &'static MessageTable) {
    if std::ptr::eq(watcher, &raw const **target) {
        return; // nobody hears of their own end
    }
    let me = watcher.to_ref();
    let new = watcher.with_links(|links| links.watching.insert(target.id, target.clone()).is_none());
    if !new {
        return;
    }
    let registered = target.with_links(|links| {
        // An actor that had no links when it ended could not mark them; `end` looks for watchers once
        // more after it died, so one side sees the other.
        if links.ended || target.state.has(DEAD) {
            return false;
        }
        links.watchers.insert(watcher.id, Watcher { cell: me, table });
        true
    });
    if registered {
        target.send_errand(Errand::Watch);
    } else {
        post_terminated(
            target,
            &Watcher {
                cell: watcher.to_ref(),
                table,
            },
        );
    }
}

/// Takes a watch back.
pub(crate) fn unwatch(watcher: &Header, target: &CellRef) {
    let _target = watcher.with_links(|links| links.watching.remove(&target.id));
    let _watcher = target.with_links(|links| links.watchers.remove(&watcher.id));
    if target.foreign().is_some() && !target.is_watched_by_anybody() {
        target.send_errand(Errand::Unwatch);
    }
}

/// Puts `Terminated` into the watcher's mailbox, in its place behind what was sent before.
pub(crate) fn post_terminated(dead: &Header, watcher: &Watcher) {
    let message = Terminated::new(ActorId::of(dead.id), dead.path());
    let envelope = Envelope {
        sender: dead.id,
        ..Envelope::OUTSIDE
    };
    if post_exempt(&watcher.cell, watcher.table, envelope, message).is_ok() && watcher.cell.state.mail() {
        watcher.cell.schedule();
    }
}

impl Header {
    /// Whether anybody waits to hear of its end.
    pub(super) fn is_watched_by_anybody(&self) -> bool {
        self.extras_if_any().is_some_and(|extras| {
            let links = extras.links.lock();
            !links.watchers.is_empty() || !links.mourners.is_empty()
        })
    }
}

/// Waits for the end of an actor; see [`ActorRef::terminated`](crate::ActorRef::terminated).
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let end: Termination = alice.terminated();
/// alice.stop();
/// end.await;
/// assert!(!alice.is_alive());
/// # system.stop().await?; Ok(()) }
/// ```
#[must_use = "futures do nothing unless polled"]
pub struct Termination {
    cell: CellRef,
    /// Its place among those who wait.
    place: Option<u64>,
}

impl Termination {
    pub(crate) fn new(cell: CellRef) -> Self {
        Termination { cell, place: None }
    }
}

impl Future for Termination {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<()> {
        if self.cell.state.has(DEAD) {
            return Poll::Ready(());
        }
        let waker = task.waker().clone();
        let place = self.place;
        let (place, _before) = self.cell.with_links(|links| {
            let mine = links.mourners.iter_mut().find(|(other, _)| Some(*other) == place);
            if let Some((place, theirs)) = mine {
                return (*place, Some(std::mem::replace(theirs, waker)));
            }
            let place = links.next_number();
            links.mourners.push((place, waker));
            (place, None)
        });
        if self.place.replace(place).is_none() {
            self.cell.send_errand(Errand::Watch);
        }
        // It may have ended between the first look and the registration.
        if self.cell.state.has(DEAD) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

impl Drop for Termination {
    fn drop(&mut self) {
        let Some(place) = self.place else { return };
        let _waker = self.cell.with_links(|links| {
            let at = links.mourners.iter().position(|(other, _)| *other == place)?;
            Some(links.mourners.swap_remove(at))
        });
    }
}

impl std::fmt::Debug for Termination {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Termination").field(&self.cell.path()).finish()
    }
}
