//! The register of all groups of a system.

use std::any::{Any, TypeId};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::changed::{Change, GroupChanged};
use crate::cell::{Header, WeakCell};
use crate::dispatch::contain;
use crate::events::EventStream;
use crate::mailbox::{Envelope, MessageTable};
use crate::reference::{ActorId, ActorRef, Recipient, Target, post_unbounded};
use crate::sync::Mutex;
use crate::tree::Path;

/// What tells groups apart. The type comes last: names are listed in order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(super) scope: Arc<str>,
    pub(super) name: Arc<str>,
    pub(super) of: TypeId,
}

/// Who is in which group, and who wants to know.
#[derive(Default)]
pub(crate) struct Register {
    book: Mutex<Book>,
}

#[derive(Default)]
struct Book {
    groups: BTreeMap<Key, Entry>,
    /// Changes that were not announced yet, in order.
    news: VecDeque<News>,
    /// Somebody is announcing.
    speaking: bool,
}

struct Entry {
    members: Box<dyn Members>,
    watchers: BTreeMap<u64, Watching>,
}

/// Held weakly: whoever watches a group is not kept by it.
#[derive(Clone)]
struct Watching {
    cell: WeakCell,
    table: &'static MessageTable,
}

struct News {
    event: GroupChanged,
    watchers: Vec<Watching>,
}

/// The members, for those who do not know their type.
trait Members: Send + Sync {
    fn remove(&mut self, id: u64) -> bool;
    fn has(&self, id: u64) -> bool;
    fn is_empty(&self) -> bool;
    fn as_any(&self) -> &dyn Any;
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

struct Typed<T: Target>(Arc<Vec<ActorRef<T>>>);

impl<T: Target> Members for Typed<T> {
    fn remove(&mut self, id: u64) -> bool {
        let Some(at) = self.0.iter().position(|member| member.cell().id == id) else {
            return false;
        };
        Arc::make_mut(&mut self.0).remove(at);
        true
    }
    fn has(&self, id: u64) -> bool {
        self.0.iter().any(|member| member.cell().id == id)
    }
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

impl Entry {
    fn new<T: Target>() -> Self {
        Entry {
            members: Box::new(Typed::<T>(Arc::default())),
            watchers: BTreeMap::new(),
        }
    }

    fn is_idle(&self) -> bool {
        self.members.is_empty() && self.watchers.is_empty()
    }
}

impl Book {
    fn note(&mut self, key: &Key, change: Change, path: Path, id: u64) {
        let watchers = self
            .groups
            .get(key)
            .map_or_else(Vec::new, |entry| entry.watchers.values().cloned().collect());
        let event = GroupChanged {
            scope: key.scope.to_string(),
            group: key.name.to_string(),
            change,
            path,
            id: ActorId::of(id),
        };
        self.news.push_back(News { event, watchers });
    }
}

impl Register {
    /// Enters an actor. False: it was there.
    pub(super) fn insert<T: Target>(&self, key: &Key, member: &ActorRef<T>) -> bool {
        let path = member.path();
        let mut book = self.book.lock();
        let entry = book.groups.entry(key.clone()).or_insert_with(Entry::new::<T>);
        let Some(Typed(members)) = entry.members.as_any_mut().downcast_mut::<Typed<T>>() else {
            unreachable!("the type is part of the key")
        };
        if members.contains(member) {
            return false;
        }
        Arc::make_mut(members).push(member.clone());
        book.note(key, Change::Joined, path, member.cell().id);
        true
    }

    /// Takes an actor out. False: it was not there.
    pub(crate) fn remove(&self, key: &Key, member: &Header) -> bool {
        let path = member.path();
        let mut book = self.book.lock();
        let Some(entry) = book.groups.get_mut(key) else {
            return false;
        };
        // The caller keeps the cell, so no count that is given up here is the last.
        let found = entry.members.remove(member.id);
        if found {
            book.note(key, Change::Left, path, member.id);
        }
        if book.groups.get(key).is_some_and(Entry::is_idle) {
            book.groups.remove(key);
        }
        found
    }

    /// All members, oldest first.
    pub(super) fn members<T: Target>(&self, key: &Key) -> Arc<Vec<ActorRef<T>>> {
        let book = self.book.lock();
        let members = book.groups.get(key).and_then(|entry| {
            let Typed(members) = entry.members.as_any().downcast_ref::<Typed<T>>()?;
            Some(members.clone())
        });
        members.unwrap_or_default()
    }

    /// The names of all groups in a scope that have members, in order.
    pub(super) fn names(&self, scope: &str) -> Vec<String> {
        let book = self.book.lock();
        let groups = book.groups.iter();
        let mut names: Vec<String> = groups
            .filter(|(key, entry)| &*key.scope == scope && !entry.members.is_empty())
            .map(|(key, _)| key.name.to_string())
            .collect();
        names.dedup();
        names
    }

    pub(super) fn watch<T: Target>(&self, key: &Key, watcher: &Recipient<GroupChanged>) {
        let watching = Watching {
            cell: watcher.cell().downgrade(),
            table: watcher.table(),
        };
        let mut book = self.book.lock();
        let entry = book.groups.entry(key.clone()).or_insert_with(Entry::new::<T>);
        entry.watchers.insert(watcher.cell().id, watching);
    }

    pub(super) fn unwatch(&self, key: &Key, watcher: &Recipient<GroupChanged>) -> bool {
        self.forget(key, watcher.cell().id)
    }

    fn forget(&self, key: &Key, watcher: u64) -> bool {
        let mut book = self.book.lock();
        let Some(entry) = book.groups.get_mut(key) else {
            return false;
        };
        let known = entry.watchers.remove(&watcher).is_some();
        if entry.is_idle() {
            book.groups.remove(key);
        }
        known
    }

    /// Whether an actor is a member of a group, or watches it.
    pub(super) fn concerns(&self, key: &Key, id: u64) -> bool {
        let book = self.book.lock();
        let concerns = |entry: &Entry| entry.members.has(id) || entry.watchers.contains_key(&id);
        book.groups.get(key).is_some_and(concerns)
    }

    /// Tells of all changes that nobody was told of. Whoever comes while somebody speaks leaves it to them, so changes
    /// are told in order.
    pub(crate) fn announce(&self, events: &EventStream) {
        loop {
            let News { event, watchers } = {
                let mut book = self.book.lock();
                if book.speaking {
                    return;
                }
                let Some(news) = book.news.pop_front() else { return };
                book.speaking = true;
                news
            };
            for watcher in &watchers {
                watcher.tell(&event);
            }
            let told = contain(|| events.publish(event));
            self.book.lock().speaking = false;
            if let Err(fault) = told {
                tracing::error!(%fault, "a subscriber failed on a change of a group");
            }
        }
    }

    /// Those who watch and have ended are forgotten, so that groups which come and go leave nothing.
    pub(crate) fn ended(&self, keys: impl IntoIterator<Item = Key>, cell: &Header) {
        for key in keys {
            self.remove(&key, cell);
            self.forget(&key, cell.id);
        }
    }

    /// The system goes down without its actors.
    pub(crate) fn forget_all(&self) {
        let book = std::mem::take(&mut *self.book.lock());
        drop(book);
    }
}

impl Watching {
    fn tell(&self, event: &GroupChanged) {
        let Some(cell) = self.cell.upgrade() else { return };
        // As `Terminated`: no bound applies, since a change that is missed is missed for good.
        if post_unbounded(&cell, self.table, Envelope::OUTSIDE, event.clone()).is_ok() && cell.state.mail() {
            cell.schedule();
        }
    }
}
