//! All schedules of a system that are pending.
//!
//! By place, so that an entry is found and removed without a search; by name, for those that have one; and by
//! receiver, so that an actor that ends finds what is meant for it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::error::ScheduleError;
use super::task::Task;
use crate::cell::Header;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicU64, Ordering::*};
use crate::time::slab::Slab;

pub(crate) struct Book {
    entries: Mutex<Entries>,
    /// How many are meant for one actor. While there are none, actors that end need not look.
    aimed: AtomicU64,
    next_id: AtomicU64,
}

struct Entries {
    all: Slab<Arc<dyn Task>>,
    /// Places by name.
    names: BTreeMap<Box<str>, u32>,
    /// The id of the receiver, and the place.
    receivers: BTreeSet<(u64, u32)>,
    closed: bool,
}

impl Book {
    pub(crate) fn new() -> Self {
        Book {
            entries: Mutex::new(Entries {
                all: Slab::new(),
                names: BTreeMap::new(),
                receivers: BTreeSet::new(),
                closed: false,
            }),
            aimed: AtomicU64::new(0),
            next_id: AtomicU64::new(1),
        }
    }

    pub(super) fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Relaxed)
    }

    pub(super) fn enter(&self, task: Arc<dyn Task>) -> Result<(), ScheduleError> {
        let mut entries = self.entries.lock();
        let Entries {
            all,
            names,
            receivers,
            closed,
        } = &mut *entries;
        if *closed {
            return Err(ScheduleError::Stopping);
        }
        if let Some(name) = task.name()
            && names.contains_key(name)
        {
            let name = name.to_owned();
            return Err(ScheduleError::Duplicate { name });
        }
        let place = all.insert(task.clone());
        task.place().store(place, Relaxed);
        if let Some(name) = task.name() {
            names.insert(name.into(), place);
        }
        if task.receiver() != 0 {
            receivers.insert((task.receiver(), place));
            self.aimed.fetch_add(1, SeqCst);
        }
        Ok(())
    }

    /// Called once for each, by whoever brought it to its end.
    pub(super) fn remove(&self, task: &dyn Task) {
        let place = task.place().load(Relaxed);
        let mut entries = self.entries.lock();
        if entries.closed {
            return;
        }
        let removed = entries.all.remove(place);
        if let Some(name) = task.name() {
            entries.names.remove(name);
        }
        if task.receiver() != 0 {
            entries.receivers.remove(&(task.receiver(), place));
            self.aimed.fetch_sub(1, SeqCst);
        }
        drop(entries);
        drop(removed);
    }

    /// An actor has ended, and its id is not found any more: its schedules end. Whoever schedules something for it
    /// later does not find it, and does the same.
    pub(crate) fn receiver_ended(&self, receiver: &Header) {
        if self.aimed.load(SeqCst) == 0 {
            return;
        }
        let tasks: Vec<Arc<dyn Task>> = {
            let entries = self.entries.lock();
            let places = entries.receivers.range((receiver.id, 0)..=(receiver.id, u32::MAX));
            places
                .filter_map(|(_, place)| entries.all.get(*place).cloned())
                .collect()
        };
        for task in tasks {
            task.receiver_ended(receiver);
        }
    }

    /// The system stops: all end, and no more are taken.
    pub(crate) fn close(&self) {
        let all = {
            let mut entries = self.entries.lock();
            entries.closed = true;
            entries.names.clear();
            entries.receivers.clear();
            self.aimed.store(0, SeqCst);
            std::mem::replace(&mut entries.all, Slab::new())
        };
        for task in all.iter() {
            task.cancel();
        }
    }

    /// In the order in which they were made.
    pub(super) fn list(&self) -> Vec<Arc<dyn Task>> {
        let mut all: Vec<Arc<dyn Task>> = self.entries.lock().all.iter().cloned().collect();
        all.sort_by_key(|task| task.id());
        all
    }

    pub(super) fn get(&self, name: &str) -> Option<Arc<dyn Task>> {
        let entries = self.entries.lock();
        let place = entries.names.get(name)?;
        entries.all.get(*place).cloned()
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.lock().all.len()
    }
}
