//! The way to a peer: what whoever sends there needs of the association. Senders hold it for as long as they may send, and
//! need not count references to the association for each message, on a line of memory that all of them write.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;

use super::reading::Counters;
use super::{Outbound, Peer};
use crate::shared::{Language, Shared};

/// How often a sender looks whether the way is free before it waits to be called.
const PATIENCE: u32 = 8;

pub(crate) struct Way {
    pub(crate) language: Arc<Language>,
    pub(crate) outbound: Mutex<Outbound>,
    /// How often a life of the peer was forgotten here; changes under the locks of `outbound` and `known`.
    pub(crate) generation: AtomicU64,
    pub(crate) counters: Counters,
    /// There was no room for the last who came: whoever comes next looks before it writes its message for nothing.
    pub(crate) crowded: AtomicBool,
    /// There is something to write.
    pub(crate) to_write: Notify,
    /// Something happened that whoever keeps the connection should look at.
    pub(crate) look: Notify,
}

impl Way {
    pub(super) fn new(shared: &Shared) -> Arc<Self> {
        Arc::new(Way {
            outbound: Mutex::new(Outbound::new(&shared.options)),
            generation: AtomicU64::new(0),
            counters: Counters::default(),
            crowded: AtomicBool::new(false),
            to_write: Notify::new(),
            look: Notify::new(),
            language: shared.language.clone(),
        })
    }

    /// For senders, of whom each locks it for less time than it takes to fall asleep and be woken: one who finds it taken
    /// lets others have the core instead, for a while.
    #[inline]
    pub(crate) fn outbound_soon(&self) -> MutexGuard<'_, Outbound> {
        match self.outbound.try_lock() {
            Some(outbound) => outbound,
            None => self.outbound_later(),
        }
    }

    #[cold]
    fn outbound_later(&self) -> MutexGuard<'_, Outbound> {
        for _ in 0..PATIENCE {
            std::thread::yield_now();
            if let Some(outbound) = self.outbound.try_lock() {
                return outbound;
            }
        }
        self.outbound.lock()
    }
}

impl Deref for Peer {
    type Target = Way;

    #[inline]
    fn deref(&self) -> &Way {
        &self.way
    }
}

/// Whoever still has the way finds it closed.
impl Drop for Peer {
    fn drop(&mut self) {
        self.close();
    }
}
