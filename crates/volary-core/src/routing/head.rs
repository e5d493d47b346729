//! The router's own actor: its place in the tree, and the only one who changes the table.
//!
//! It starts and watches the routees, fills seats, measures, drains. Messages pass it by, except those sent to the
//! router through an `ActorRef` or `Recipient`, which it hands on.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use super::elastic::Load;
use super::events::{Loss, RouteeLost, RouterResized};
use super::hash::HashKey;
use super::order::{Add, ChangeError, Drain, Measure, Refill, Remove, Resize};
use super::plan::Routing;
use super::pool::{FailedRoutee, Nursery, Origin, WhenEmpty};
use super::switch::Switch;
use super::table::Seat;
use crate::actor::{Actor, Context, Failure, Fault, Handler, SyncHandler};
use crate::events::Terminated;
use crate::groups::GroupChanged;
use crate::reference::{ActorId, ActorRef, SpawnError, Target};
use crate::time::Moment;

/// How many routees are replaced at once within [`CALM`].
const REPLACED_AT_ONCE: u32 = 10;
/// After how long a seat that could not be filled is looked at again.
const CALM: Duration = Duration::from_secs(1);

pub(super) struct Head<T: Target, S: Routing> {
    switch: Arc<Switch<T, S>>,
    origin: Origin<T>,
    when_empty: WhenEmpty,
    seats: Vec<Seat<T>>,
    /// The numbers of the seats of a pool, in the same order.
    numbers: Vec<u64>,
    leaving: Vec<ActorRef<T>>,
    /// Seats of a pool that wait to be filled.
    vacant: Vec<u64>,
    births: u64,
    draining: bool,
    /// Replacements since this moment.
    replaced: (Moment, u32),
}

impl<T: Target, S: Routing> Head<T, S> {
    pub(super) fn new(switch: Arc<Switch<T, S>>, origin: Origin<T>, when_empty: WhenEmpty) -> Self {
        Head {
            switch,
            origin,
            when_empty,
            seats: Vec::new(),
            numbers: Vec::new(),
            leaving: Vec::new(),
            vacant: Vec::new(),
            births: 0,
            draining: false,
            replaced: (Moment::ZERO, 0),
        }
    }

    pub(super) fn switch(&self) -> &Arc<Switch<T, S>> {
        &self.switch
    }

    fn show(&self) {
        self.switch.seat(self.seats.clone(), self.leaving.clone());
    }

    fn pool(&self) -> Option<Arc<dyn Nursery<T>>> {
        match &self.origin {
            Origin::Pool(pool) => Some(pool.clone()),
            Origin::Given(_) | Origin::Group(_) => None,
        }
    }

    /// Starts the routee of one seat of the pool, which senders do not see yet: a table is costly if it has a ring.
    async fn hatch(&mut self, number: u64, ctx: &mut Context<Self>) -> Result<(), SpawnError> {
        let Some(pool) = self.pool() else { return Ok(()) };
        // One that drains may still have the name. Births only grow, so the plain one is given once.
        let name = match self.births {
            births if births == number => number.to_string(),
            births => format!("{number}.{births}"),
        };
        self.births += 1;
        let who = pool.hatch(ctx.here().to_ref(), name).await?;
        ctx.watch(&who);
        let at = self.numbers.partition_point(|other| *other < number);
        self.numbers.insert(at, number);
        let identity = HashKey::from(number).hash();
        self.seats.insert(at, Seat { who, identity });
        Ok(())
    }

    /// The lowest numbers come first, so that two pools of one size have the same seats.
    fn free_number(&self) -> u64 {
        let taken = |number: &u64| self.numbers.binary_search(number).is_ok() || self.vacant.contains(number);
        (0..).find(|number| !taken(number)).unwrap_or(u64::MAX)
    }

    /// Takes seats away. Their routees finish what they have, if they are ours.
    fn vacate(&mut self, seats: Range<usize>, ctx: &mut Context<Self>) {
        let ours = self.pool().is_some();
        let gone: Vec<Seat<T>> = self.seats.drain(seats.clone()).collect();
        if ours {
            self.numbers.drain(seats);
            self.leaving.extend(gone.iter().map(|seat| seat.who.clone()));
        }
        self.show(); // before mailboxes close: who is refused then finds another
        for seat in gone {
            if ours {
                seat.who.drain();
            } else {
                ctx.unwatch(&seat.who);
            }
        }
    }

    async fn resize(&mut self, size: usize, ctx: &mut Context<Self>) -> Result<usize, ChangeError> {
        let from = self.seats.len();
        self.vacant.clear();
        let mut failure = None;
        while self.seats.len() < size {
            let number = self.free_number();
            if let Err(error) = self.hatch(number, ctx).await {
                failure = Some(Fault::new(error));
                break;
            }
        }
        if self.seats.len() > size {
            self.vacate(size..self.seats.len(), ctx);
        } else {
            self.show();
        }
        let to = self.seats.len();
        if from != to {
            ctx.system().events().publish(RouterResized {
                router: ctx.path(),
                from,
                to,
            });
        }
        match failure {
            None => Ok(to),
            Some(fault) => Err(ChangeError::Start { size: to, fault }),
        }
    }

    /// Gives a seat to somebody who lives anyway.
    fn seat(&mut self, who: ActorRef<T>, ctx: &mut Context<Self>) {
        if self.seats.iter().any(|seat| seat.who == who) {
            return;
        }
        ctx.watch(&who);
        let identity = HashKey::of(who.path().to_string()).hash();
        self.seats.push(Seat { who, identity });
    }

    /// Follows the group.
    fn follow(&mut self, ctx: &mut Context<Self>) {
        let Origin::Group(group) = &self.origin else { return };
        if self.draining {
            return;
        }
        let members = group.members();
        while let Some(at) = self.seats.iter().position(|seat| !members.contains(&seat.who)) {
            let gone = self.seats.remove(at).who;
            ctx.unwatch(&gone);
            if !gone.is_alive() {
                self.lost(gone.id(), gone.path(), Loss::Dropped, ctx);
            }
        }
        for member in members {
            self.seat(member, ctx);
        }
        self.show();
        self.look_whether_empty(ctx);
    }

    fn lost(&mut self, id: ActorId, path: crate::tree::Path, loss: Loss, ctx: &Context<Self>) {
        self.switch.count_lost();
        let system = ctx.system();
        system.count_routee_lost();
        system.events().publish(RouteeLost {
            router: ctx.path(),
            path,
            id,
            loss,
            left: self.seats.len(),
        });
    }

    fn look_whether_empty(&self, ctx: &Context<Self>) {
        let done = self.draining && self.leaving.is_empty();
        let bereft = !self.draining && self.when_empty == WhenEmpty::Stop && self.vacant.is_empty();
        if self.seats.is_empty() && (done || bereft) {
            ctx.stop();
        }
    }

    /// Fills the seat of one that was lost, unless they go too fast.
    async fn replace(&mut self, number: u64, ctx: &mut Context<Self>) -> Loss {
        let now = ctx.system().now();
        if now.since(self.replaced.0) >= CALM {
            self.replaced = (now, 0);
        }
        self.replaced.1 += 1;
        if self.replaced.1 <= REPLACED_AT_ONCE && self.fill(number, ctx).await {
            return Loss::Replaced;
        }
        self.vacant.push(number);
        ctx.set_timer("refill", CALM, Refill);
        Loss::Delayed
    }

    /// False: it did not start, which is told as a fault of the router's.
    async fn fill(&mut self, number: u64, ctx: &mut Context<Self>) -> bool {
        match self.hatch(number, ctx).await {
            Ok(()) => {
                self.show();
                true
            }
            Err(error) => {
                let here = ctx.here();
                here.system().report_hook_fault(here, "routee", &Fault::new(error));
                false
            }
        }
    }
}

/// However it ends, killed and restarted included: nobody is sent to routees of a router that is not there.
impl<T: Target, S: Routing> Drop for Head<T, S> {
    fn drop(&mut self) {
        self.switch.close();
    }
}

impl<T: Target, S: Routing> Actor for Head<T, S> {
    async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        match self.origin.clone() {
            Origin::Pool(pool) => {
                let size = pool
                    .elastic()
                    .map_or(pool.size(), |elastic| pool.size().clamp(elastic.min, elastic.max));
                for number in 0..size as u64 {
                    self.hatch(number, ctx).await.map_err(Fault::new)?;
                }
                self.show();
                if let Some(elastic) = pool.elastic() {
                    ctx.set_interval("measure", elastic.every, Measure);
                }
            }
            Origin::Given(routees) => {
                for routee in routees {
                    self.seat(routee, ctx);
                }
                self.show();
            }
            Origin::Group(group) => {
                group.watch(&ctx.me().recipient());
                self.follow(ctx);
            }
        }
        Ok(())
    }

    async fn stopping(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        self.switch.close();
        if let Origin::Group(group) = &self.origin {
            group.unwatch(&ctx.me().recipient());
        }
        Ok(())
    }
}

impl<T: Target, S: Routing> Handler<Terminated> for Head<T, S> {
    async fn handle(&mut self, gone: Terminated, ctx: &mut Context<Self>) -> Result<(), Failure> {
        let id = gone.id();
        if let Some(at) = self.leaving.iter().position(|routee| routee.id() == id) {
            self.leaving.remove(at);
            self.switch.seat_leaving(self.leaving.clone());
        } else if let Some(at) = self.seats.iter().position(|seat| seat.who.id() == id) {
            self.seats.remove(at);
            let number = self.pool().map(|_| self.numbers.remove(at));
            self.show();
            let replaces = self
                .pool()
                .is_some_and(|pool| pool.on_failure() == FailedRoutee::Replace);
            let loss = match number {
                Some(number) if replaces && !self.draining => self.replace(number, ctx).await,
                _ => Loss::Dropped,
            };
            self.lost(id, gone.path().clone(), loss, ctx);
        }
        self.look_whether_empty(ctx);
        Ok(())
    }
}

impl<T: Target, S: Routing> SyncHandler<GroupChanged> for Head<T, S> {
    fn handle(&mut self, _: GroupChanged, ctx: &mut Context<Self>) -> Result<(), Failure> {
        self.follow(ctx);
        Ok(())
    }
}

impl<T: Target, S: Routing> Handler<Refill> for Head<T, S> {
    async fn handle(&mut self, _: Refill, ctx: &mut Context<Self>) -> Result<(), Failure> {
        while let Some(number) = self.vacant.pop() {
            if self.draining {
                break;
            }
            if !self.fill(number, ctx).await {
                self.vacant.push(number);
                ctx.set_timer("refill", CALM, Refill);
                break;
            }
        }
        Ok(())
    }
}

impl<T: Target, S: Routing> Handler<Measure> for Head<T, S> {
    async fn handle(&mut self, _: Measure, ctx: &mut Context<Self>) -> Result<(), Failure> {
        let Some(elastic) = self.pool().and_then(|pool| pool.elastic()) else {
            return Ok(());
        };
        if self.draining || !self.vacant.is_empty() {
            return Ok(());
        }
        let load = |seat: &Seat<T>| Load {
            waiting: seat.who.mailbox_len(),
            running: seat.who.status().busy,
        };
        let loads: Vec<Load> = self.seats.iter().map(load).collect();
        let size = elastic.size_for(&loads);
        if size != loads.len()
            && let Err(error) = self.resize(size, ctx).await
        {
            let here = ctx.here();
            here.system().report_hook_fault(here, "routee", &Fault::new(error));
        }
        Ok(())
    }
}

impl<T: Target, S: Routing> Handler<Resize> for Head<T, S> {
    async fn handle(&mut self, Resize(size): Resize, ctx: &mut Context<Self>) -> Result<usize, Failure<ChangeError>> {
        match &self.origin {
            _ if self.draining => Err(ChangeError::Draining.into()),
            Origin::Pool(_) => Ok(self.resize(size, ctx).await?),
            Origin::Given(_) => Err(ChangeError::NoPool.into()),
            Origin::Group(_) => Err(ChangeError::Group.into()),
        }
    }
}

impl<T: Target, S: Routing> SyncHandler<Add<T>> for Head<T, S> {
    fn handle(&mut self, Add(who): Add<T>, ctx: &mut Context<Self>) -> Result<usize, Failure<ChangeError>> {
        match &self.origin {
            _ if self.draining => return Err(ChangeError::Draining.into()),
            Origin::Pool(_) => return Err(ChangeError::Pool.into()),
            Origin::Group(_) => return Err(ChangeError::Group.into()),
            Origin::Given(_) => {}
        }
        self.seat(who, ctx);
        self.show();
        Ok(self.seats.len())
    }
}

impl<T: Target, S: Routing> SyncHandler<Remove<T>> for Head<T, S> {
    fn handle(&mut self, Remove(who): Remove<T>, ctx: &mut Context<Self>) -> Result<usize, Failure<ChangeError>> {
        if self.draining {
            return Err(ChangeError::Draining.into());
        }
        if matches!(self.origin, Origin::Group(_)) {
            return Err(ChangeError::Group.into());
        }
        if let Some(at) = self.seats.iter().position(|seat| seat.who == who) {
            self.vacate(at..at + 1, ctx);
        }
        Ok(self.seats.len())
    }
}

impl<T: Target, S: Routing> SyncHandler<Drain> for Head<T, S> {
    fn handle(&mut self, _: Drain, ctx: &mut Context<Self>) -> Result<(), Failure> {
        self.draining = true;
        self.vacant.clear();
        self.vacate(0..self.seats.len(), ctx);
        self.look_whether_empty(ctx);
        Ok(())
    }
}
