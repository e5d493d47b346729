//! What most actors do not need until they do: children, watchers, bounds, tasks.
//!
//! Made on first use, so that an idle leaf pays one pointer for all of it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::Waker;

use super::{CellRef, Header};
use crate::dispatch::{Elastic, contain};
use crate::mailbox::{Letter, Mailbox, MessageTable};
use crate::reference::{StartError, StartReport};
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, Ordering::*, fence};
use crate::time::TimerId;
use crate::tree::Children;

#[derive(Default)]
pub(crate) struct Extras {
    pub(crate) links: Mutex<Links>,
    pub(crate) mailbox: MailboxRule,
    /// The thread of a pinned actor.
    pub(crate) own_dispatcher: Option<Arc<Elastic>>,
}

/// Everything under the lock.
#[derive(Default)]
pub(crate) struct Links {
    pub(crate) children: Children,
    pub(crate) watchers: Vec<Watcher>,
    /// Actors that this one watches. A `Terminated` of anybody else is out of date.
    pub(crate) watching: Vec<CellRef>,
    /// Whoever waits for the end from outside.
    pub(crate) mourners: Vec<Waker>,
    pub(crate) tasks: Vec<(u64, TaskAbort)>,
    pub(crate) alarm: Option<TimerId>,
    pub(crate) starter: Option<StartReport>,
    pub(crate) ended: bool,
    /// No children are taken any more.
    pub(crate) sealed: bool,
    /// A restart is under way, as opposed to a first start.
    pub(crate) restarting: bool,
    /// There is no actor in the cell: it could not be built.
    pub(crate) without_actor: bool,
    /// Whom the actor's handler waits for; see `cycle`.
    pub(crate) waits: Vec<u64>,
    /// How often the start was tried.
    pub(crate) attempt: u32,
    /// Why the start failed, for a spawner that comes to look.
    pub(crate) start_fault: Option<StartError>,
    pub(crate) next_task: u64,
}

/// Stops a task that an actor spawned.
pub(crate) type TaskAbort = Arc<dyn Fn() + Send + Sync>;

pub(crate) struct Watcher {
    pub(crate) cell: CellRef,
    pub(crate) table: &'static MessageTable,
}

/// What a mailbox adds to the log.
#[derive(Default)]
pub(crate) enum MailboxRule {
    /// Nothing: everything is taken.
    #[default]
    Open,
    /// At most so many messages; `send` waits for room.
    Bounded(Bound),
    /// A mailbox of the user's own; the log only rings its bell.
    Custom(Box<dyn Mailbox>),
}

pub(crate) struct Bound {
    pub(crate) capacity: u64,
    /// Whether `send` waits for room, or is refused like `tell`.
    pub(crate) waits: bool,
    /// Senders waiting for room. The flag is read by the reader after each message it takes.
    waiting: AtomicBool,
    wakers: Mutex<VecDeque<Waker>>,
}

impl Bound {
    pub(crate) fn new(capacity: u64, waits: bool) -> Self {
        Bound {
            capacity,
            waits,
            waiting: AtomicBool::new(false),
            wakers: Mutex::new(VecDeque::new()),
        }
    }

    /// Leaves a waker to be called when there is room. The caller looks once more afterwards.
    pub(crate) fn wait(&self, waker: &Waker) {
        let mut wakers = self.wakers.lock();
        if !wakers.iter().any(|w| w.will_wake(waker)) {
            wakers.push_back(waker.clone());
        }
        self.waiting.store(true, SeqCst);
        drop(wakers);
        // Pairs with the fence in `made_room`: either the reader sees the flag, or the sender's
        // second look sees the room.
        fence(SeqCst);
    }

    /// Lets everybody who waits try again.
    #[inline]
    pub(crate) fn wake_all(&self) {
        if self.waiting.load(SeqCst) {
            self.wake();
        }
    }

    #[cold]
    fn wake(&self) {
        loop {
            let waker = {
                let mut wakers = self.wakers.lock();
                let waker = wakers.pop_front();
                if wakers.is_empty() {
                    self.waiting.store(false, SeqCst);
                }
                waker
            };
            match waker {
                Some(waker) => waker.wake(),
                None => return,
            }
        }
    }
}

impl Header {
    /// After a message was taken: wakes senders that wait for room, once half of it is free. Waking
    /// them for each place would have sender and actor take turns message by message.
    #[inline]
    pub(crate) fn made_room(&self) {
        if self.log.is_guarded() {
            self.made_room_in_bound();
        }
    }

    fn made_room_in_bound(&self) {
        if let Some(Extras {
            mailbox: MailboxRule::Bounded(bound),
            ..
        }) = self.extras_if_any()
            && self.log.depth() <= bound.capacity / 2
        {
            fence(SeqCst);
            bound.wake_all();
        }
    }

    /// The mailbox is closed: whoever waits for room is told so.
    pub(crate) fn release_senders(&self) {
        if let Some(Extras {
            mailbox: MailboxRule::Bounded(bound),
            ..
        }) = self.extras_if_any()
        {
            bound.wake_all();
        }
    }
}

impl Header {
    /// The next letter of a mailbox of the user's own.
    pub(crate) fn next_letter(&self) -> Option<Letter> {
        match &self.extras_if_any()?.mailbox {
            MailboxRule::Custom(mailbox) => {
                // The user's code: a panic in it is the mailbox's loss, not the worker's.
                contain(|| mailbox.pop()).unwrap_or_default()
            }
            _ => None,
        }
    }
}

impl Header {
    /// The children, oldest first.
    pub(crate) fn children(&self) -> Vec<CellRef> {
        self.extras_if_any()
            .map_or_else(Vec::new, |extras| extras.links.lock().children.list())
    }

    pub(crate) fn child(&self, name: &str) -> Option<CellRef> {
        self.extras_if_any()?.links.lock().children.get(name)
    }
}
