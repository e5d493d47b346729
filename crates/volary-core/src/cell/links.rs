//! What most actors do not need until they do: children, watchers, bounds, tasks.
//!
//! Made on first use, so that an idle leaf pays one pointer for all of it.

use std::any::TypeId;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::task::Waker;

use super::passivate::Wakefulness;
use super::request::{Due, Entry};
use super::timer_table::TimerTable;
use super::{BehaviourTable, CellRef, Header};
use crate::actor::{Fault, Reentrancy, Tap};
use crate::dispatch::{Elastic, contain};
use crate::extension::Dependencies;
use crate::groups::Key;
use crate::intercept::Layers;
use crate::mailbox::{Bound, Letter, Mailbox, MessageTable};
use crate::reference::foreign::Foreign;
use crate::reference::{StartError, StartReport};
use crate::supervision::{History, Supervision};
use crate::sync::Mutex;
use crate::sync::atomic::AtomicU64;
use crate::time::{Moment, TimerId};
use crate::tree::{Family, NotAdopted};

#[derive(Default)]
pub(crate) struct Extras {
    pub(crate) links: Mutex<Links>,
    /// Apart from the links, since those who spawn are in a hurry.
    pub(crate) family: Family,
    pub(crate) mailbox: MailboxRule,
    /// The thread of a pinned actor.
    pub(crate) own_dispatcher: Option<Arc<Elastic>>,
    pub(crate) supervision: Option<Arc<Supervision>>,
    /// How many messages it may put aside.
    pub(crate) stash: Option<usize>,
    /// What part it plays.
    pub(crate) role: Option<Arc<str>>,
    pub(crate) reentrancy: Reentrancy,
    /// For an actor that may be passivated.
    pub(crate) wakefulness: Option<Wakefulness>,
    /// Whoever looks at its messages. A lock of its own: it is never held while another is taken.
    pub(crate) tap: Mutex<Option<Arc<dyn Tap>>>,
    /// Who looks at what it handles and sends.
    pub(crate) layers: Option<Arc<Layers>>,
    pub(crate) dependencies: Option<Arc<Dependencies>>,
    /// When a message was handled last, if somebody wants to know; nanoseconds. Written by the owner.
    pub(crate) last_active: AtomicU64,
}

/// Everything under the lock.
#[derive(Default)]
pub(crate) struct Links {
    /// By their ids.
    pub(crate) watchers: BTreeMap<u64, Watcher>,
    /// Actors that this one watches. A `Terminated` of anybody else is out of date.
    pub(crate) watching: BTreeMap<u64, CellRef>,
    /// What it is to be taken off when it ends.
    pub(crate) memberships: Option<Box<Memberships>>,
    /// Whoever waits for the end from outside.
    pub(crate) mourners: Vec<(u64, Waker)>,
    pub(crate) tasks: BTreeMap<u64, TaskAbort>,
    /// What it crashed with, until it has started again.
    pub(crate) crash: Option<Fault>,
    pub(crate) alarm: Option<(TimerId, Moment)>,
    pub(crate) starter: Option<StartReport>,
    pub(crate) ended: bool,
    /// A restart is under way, as opposed to a first start.
    pub(crate) restarting: bool,
    /// It was told to go to sleep during its start.
    pub(crate) fresh: bool,
    /// A sleeping actor starts, as opposed to a first start.
    pub(crate) waking: bool,
    /// There is no actor in the cell: it could not be built, or it sleeps.
    pub(crate) without_actor: bool,
    /// Whom the actor's handler waits for; see `cycle`.
    pub(crate) waits: Vec<u64>,
    /// How often the start was tried.
    pub(crate) attempt: u32,
    /// Why the start failed, for a spawner that comes to look.
    pub(crate) start_fault: Option<StartError>,
    /// The last number given to a task or somebody who waits for the end.
    pub(crate) last_number: u64,
    /// Messages that the actor has put aside, and those that it wants back.
    pub(crate) stash: VecDeque<Letter>,
    pub(crate) returned: VecDeque<Letter>,
    /// Messages that the actor will send to itself.
    pub(crate) timers: TimerTable,
    pub(crate) next_timer: u64,
    /// When it may have been idle for long enough.
    pub(crate) idle_timer: Option<TimerId>,
    /// What stands in for handlers, by type of message; the last of each is in place.
    pub(crate) behaviours: BTreeMap<TypeId, Vec<&'static BehaviourTable>>,
    /// Asks of this actor whose answers are due, by their numbers.
    pub(crate) requests: BTreeMap<u64, Entry>,
    pub(crate) next_request: u64,
    /// How many of them hold other messages.
    pub(crate) holding: u32,
    /// Those with an answer that went round the mailbox.
    pub(crate) continued: VecDeque<Arc<dyn Due>>,
    /// Restarts so far, for limits and delays.
    pub(crate) history: Option<Box<History>>,
    /// Children that wait for what becomes of this actor, with faults that it has not taken up yet.
    pub(crate) escalated: Vec<(CellRef, Option<Fault>)>,
}

/// What an actor belongs to.
#[derive(Default)]
pub(crate) struct Memberships {
    /// Groups that it is a member of or watches, or was and did.
    pub(crate) groups: BTreeSet<Key>,
    /// Events and topics that it has subscribed to.
    pub(crate) subscriptions: Vec<Arc<dyn Membership>>,
}

impl Links {
    /// A number that nobody had before.
    pub(crate) fn next_number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    pub(crate) fn memberships(&mut self) -> &mut Memberships {
        self.memberships.get_or_insert_default()
    }
}

/// How often a mailbox that panics is asked for one letter.
const POP_ATTEMPTS: usize = 3;

/// A place among the subscribers of something.
pub(crate) trait Membership: Send + Sync {
    /// Gives the place up. Idempotent.
    fn leave(&self);
}

/// Stops a task that an actor spawned.
pub(crate) type TaskAbort = Arc<dyn Fn() + Send + Sync>;

pub(crate) struct Watcher {
    pub(crate) cell: CellRef,
    pub(crate) table: &'static MessageTable,
}

/// What a mailbox adds to the log.
#[derive(Default)]
pub(crate) struct MailboxRule {
    /// At most so many messages.
    pub(crate) bound: Option<Bound>,
    /// A mailbox of the user's own; the log only rings its bell.
    pub(crate) custom: Option<Box<dyn Mailbox>>,
    /// The actor lives elsewhere.
    pub(crate) foreign: Option<Box<Foreign>>,
}

impl MailboxRule {
    /// Whether senders must ask it first.
    pub(crate) fn is_guarded(&self) -> bool {
        self.bound.is_some() || self.custom.is_some() || self.foreign.is_some()
    }
}

impl Header {
    #[inline]
    pub(crate) fn mailbox_rule(&self) -> Option<&MailboxRule> {
        Some(&self.extras_if_any()?.mailbox)
    }

    #[inline]
    pub(crate) fn bound(&self) -> Option<&Bound> {
        self.extras_if_any()?.mailbox.bound.as_ref()
    }

    /// The bound of a mailbox that has no other rule.
    #[inline]
    pub(crate) fn lone_bound(&self) -> Option<&Bound> {
        self.bound().filter(|bound| bound.alone)
    }

    pub(crate) fn custom_mailbox(&self) -> Option<&dyn Mailbox> {
        self.extras_if_any()?.mailbox.custom.as_deref()
    }

    /// How many messages the owner may take before it calls `made_room`.
    pub(crate) fn look_every(&self) -> u64 {
        if self.log.reader_is_guarded() {
            self.bound().map_or(u64::MAX, Bound::look_every)
        } else {
            u64::MAX
        }
    }

    /// Messages were taken: calls senders that wait for room.
    pub(crate) fn made_room(&self, busy: bool) {
        if let Some(bound) = self.bound() {
            bound.made_room(busy, || self.log.depth());
        }
    }

    /// Takes no more messages. Who waits for room is told so.
    pub(crate) fn close_mailbox(&self) {
        self.log.close();
        if let Some(bound) = self.bound() {
            bound.call_all();
        }
    }
}

impl Header {
    /// The next letter of a mailbox of the user's own.
    pub(crate) fn next_letter(&self) -> Option<Letter> {
        let mailbox = self.custom_mailbox()?;
        // The user's code: a panic in it is not the worker's loss, and the letter is still in there, so
        // it is asked once more.
        for _ in 0..POP_ATTEMPTS {
            match contain(|| mailbox.pop()) {
                Ok(letter) => return letter,
                Err(fault) => self.system().report_hook_fault(self, "mailbox", &fault),
            }
        }
        None
    }
}

impl Header {
    /// What it crashed with, until it has started again.
    pub(crate) fn crash(&self) -> Option<Fault> {
        self.extras_if_any()?.links.lock().crash.clone()
    }

    /// Takes a child in; `hash` is what it is found by.
    pub(crate) fn adopt(&self, child: CellRef, hash: u32) -> Result<(), NotAdopted> {
        self.extras().family.adopt(child, hash, || self.state.sealed())
    }

    /// Takes no more children, and hands out those that there are.
    pub(crate) fn seal(&self) -> Vec<CellRef> {
        self.state.seal(0);
        self.children()
    }

    pub(crate) fn child_count(&self) -> usize {
        self.extras_if_any().map_or(0, |extras| extras.family.len())
    }

    /// The children, oldest first.
    pub(crate) fn children(&self) -> Vec<CellRef> {
        self.extras_if_any()
            .map_or_else(Vec::new, |extras| extras.family.list())
    }

    pub(crate) fn child(&self, name: &str) -> Option<CellRef> {
        self.extras_if_any()?.family.get(name)
    }
}
