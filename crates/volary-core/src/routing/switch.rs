//! The switch: what all handles of a router and its actor share. Senders go through it on their own thread.
//!
//! ```text
//!   sender ──▶ Switch ── plan ──▶ Table (read only) ──▶ mailbox of a routee
//!                                    ▲ replaced as a whole
//!   Head, the router's actor ────────┘
//! ```
//! A routee that leaves is taken out of the table before its mailbox closes. A sender who still has the table of before
//! is refused by it then, looks at the table again, and goes on to another: nothing is lost.

use std::sync::Arc;

use arc_swap::ArcSwap;

use super::plan::{Lot, Plan, Plans, Routing};
use super::table::{Seat, Table};
use crate::actor::{Fault, Message};
use crate::mailbox::Refusal;
use crate::reference::{ActorRef, Target};
use crate::sync::atomic::{AtomicU64, Ordering::*};
use crate::system::SystemCore;

pub(super) struct Switch<T: Target, S> {
    strategy: S,
    /// Written by the router's actor alone.
    table: ArcSwap<Table<T>>,
    cursor: AtomicU64,
    /// Routees that have ended without being told to by the router.
    pub(super) lost: AtomicU64,
}

impl<T: Target, S: Routing> Switch<T, S> {
    pub(super) fn new(strategy: S) -> Self {
        Switch {
            strategy,
            table: ArcSwap::from_pointee(Table::empty()),
            cursor: AtomicU64::new(0),
            lost: AtomicU64::new(0),
        }
    }

    pub(super) fn table(&self) -> arc_swap::Guard<Arc<Table<T>>> {
        self.table.load()
    }

    pub(super) fn seat(&self, seats: Vec<Seat<T>>, leaving: Vec<ActorRef<T>>) {
        self.table
            .store(Arc::new(Table::new(seats, leaving, self.strategy.points())));
    }

    /// Somebody has left, and the seats are what they were.
    pub(super) fn seat_leaving(&self, leaving: Vec<ActorRef<T>>) {
        self.table.store(Arc::new(self.table.load().with_leaving(leaving)));
    }

    /// Nobody gets anything any more.
    pub(super) fn close(&self) {
        self.table.store(Arc::new(Table::empty()));
    }

    pub(super) fn count_lost(&self) {
        self.lost.fetch_add(1, Relaxed);
    }

    #[inline]
    pub(super) fn plan<M: Message>(&self, message: &M, system: &SystemCore) -> Result<Plan, Fault>
    where
        S: Plans<M>,
    {
        self.strategy.plan(message, Lot::new(&self.cursor, system))
    }

    /// Gives a message to one routee. Refused, there was nobody in the newest table who takes it.
    #[inline]
    pub(super) fn give<M, R>(
        &self,
        plan: Plan,
        message: M,
        mut attempt: impl FnMut(&ActorRef<T>, M) -> Result<R, (Refusal, M)>,
    ) -> Result<R, (Refusal, M)> {
        let table = self.table.load();
        match table.give(plan, message, &mut attempt) {
            Err((Refusal::Closed, message)) => self.give_again(&table, plan, message, attempt),
            done => done,
        }
    }

    /// The table may have changed since it was read.
    #[cold]
    fn give_again<M, R>(
        &self,
        read: &Arc<Table<T>>,
        plan: Plan,
        mut message: M,
        mut attempt: impl FnMut(&ActorRef<T>, M) -> Result<R, (Refusal, M)>,
    ) -> Result<R, (Refusal, M)> {
        let mut read = read.clone();
        loop {
            let table = self.table.load_full();
            if Arc::ptr_eq(&table, &read) {
                return Err((Refusal::Closed, message));
            }
            match table.give(plan, message, &mut attempt) {
                Err((Refusal::Closed, back)) => message = back,
                done => return done,
            }
            read = table;
        }
    }

    /// Gives copies of a message to everybody. The message comes back if nobody took one.
    pub(super) fn give_each<M>(
        &self,
        message: M,
        copy: impl Fn(&M) -> Option<M>,
        mut attempt: impl FnMut(&ActorRef<T>, M) -> Result<(), (Refusal, M)>,
    ) -> Result<(), (Refusal, M)> {
        loop {
            let table = self.table.load_full();
            match table.give_each(&message, &copy, &mut attempt) {
                Ok(()) => return Ok(()),
                // All that it had are gone, and others may have come.
                Err(Refusal::Closed) if !Arc::ptr_eq(&table, &self.table.load()) => {}
                Err(reason) => return Err((reason, message)), // one refusal, which the caller counts
            }
        }
    }
}
