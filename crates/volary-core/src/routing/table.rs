//! The table of routees: what senders read, as one unchanging whole.

use super::plan::Plan;
use super::ring::Ring;
use crate::mailbox::Refusal;
use crate::reference::{ActorId, ActorRef, ActorStatus, Target};
use crate::tree::Path;

/// A routee in its place.
pub(super) struct Seat<T: Target> {
    pub(super) who: ActorRef<T>,
    /// What its place on the ring follows from.
    pub(super) identity: u64,
}

impl<T: Target> Clone for Seat<T> {
    fn clone(&self) -> Self {
        Seat {
            who: self.who.clone(),
            identity: self.identity,
        }
    }
}

/// All routees at one time.
pub(super) struct Table<T: Target> {
    seats: Vec<Seat<T>>,
    ring: Ring,
    /// Those that finish what they have and get nothing new.
    leaving: Vec<ActorRef<T>>,
}

impl<T: Target> Table<T> {
    pub(super) fn new(seats: Vec<Seat<T>>, leaving: Vec<ActorRef<T>>, points: u32) -> Self {
        let ring = if points == 0 {
            Ring::default()
        } else {
            let identities: Vec<u64> = seats.iter().map(|seat| seat.identity).collect();
            Ring::new(&identities, points)
        };
        Table { seats, ring, leaving }
    }

    /// The same seats with others that leave: their ring stays as it is.
    pub(super) fn with_leaving(&self, leaving: Vec<ActorRef<T>>) -> Self {
        Table {
            seats: self.seats.clone(),
            ring: self.ring.clone(),
            leaving,
        }
    }

    pub(super) fn empty() -> Self {
        Table::new(Vec::new(), Vec::new(), 0)
    }

    pub(super) fn len(&self) -> usize {
        self.seats.len()
    }

    pub(super) fn routees(&self) -> impl Iterator<Item = &ActorRef<T>> {
        self.seats.iter().map(|seat| &seat.who)
    }

    /// All routees, from a seat on.
    pub(super) fn routees_from(&self, seat: u64) -> impl Iterator<Item = &ActorRef<T>> {
        let first = if self.seats.is_empty() {
            0
        } else {
            (seat % self.seats.len() as u64) as usize
        };
        let (before, after) = self.seats.split_at(first);
        after.iter().chain(before).map(|seat| &seat.who)
    }

    /// The seat with the fewest messages, the first such from `start` on.
    fn idlest(&self, start: u64) -> u64 {
        let mut best = (usize::MAX, start);
        for (offset, routee) in self.routees_from(start).enumerate() {
            let waiting = routee.mailbox_len();
            // One that handles its only message has more to do than one that has none.
            let load = waiting.saturating_mul(2) + usize::from(waiting == 0 && routee.status().busy);
            if load < best.0 {
                best = (load, start.wrapping_add(offset as u64));
                if load == 0 {
                    break;
                }
            }
        }
        best.1
    }

    /// Gives a message to one routee: the planned one, or else the next that takes it.
    #[inline]
    pub(super) fn give<M, R>(
        &self,
        plan: Plan,
        message: M,
        attempt: &mut impl FnMut(&ActorRef<T>, M) -> Result<R, (Refusal, M)>,
    ) -> Result<R, (Refusal, M)> {
        match plan {
            Plan::Key(hash) => self.give_by_key(hash, message, attempt),
            Plan::Idlest(start) => self.give_from(self.idlest(start), message, attempt),
            Plan::One(start) | Plan::First(start) | Plan::Chop(start, _) => self.give_from(start, message, attempt),
            Plan::Each => self.give_from(0, message, attempt),
        }
    }

    #[inline]
    fn give_from<M, R>(
        &self,
        start: u64,
        mut message: M,
        attempt: &mut impl FnMut(&ActorRef<T>, M) -> Result<R, (Refusal, M)>,
    ) -> Result<R, (Refusal, M)> {
        let mut reason = Refusal::Closed;
        for routee in self.routees_from(start) {
            match attempt(routee, message) {
                Ok(given) => return Ok(given),
                // Its sender has no leave to send it: that is no better elsewhere.
                Err((Refusal::Intercepted, back)) => return Err((Refusal::Intercepted, back)),
                Err((refusal, back)) => {
                    reason = match (refusal, reason) {
                        (Refusal::Closed, before) => before,
                        // Nobody will have room for it who cannot be sent it.
                        (Refusal::Unsendable, Refusal::Closed) => refusal,
                        (Refusal::Unsendable, before) => before,
                        _ => Refusal::Full,
                    };
                    message = back;
                }
            }
        }
        Err((reason, message))
    }

    fn give_by_key<M, R>(
        &self,
        hash: u64,
        message: M,
        attempt: &mut impl FnMut(&ActorRef<T>, M) -> Result<R, (Refusal, M)>,
    ) -> Result<R, (Refusal, M)> {
        let Some(seat) = self.ring.seat(hash) else {
            return Err((Refusal::Closed, message));
        };
        match attempt(&self.seats[seat].who, message) {
            Err((Refusal::Closed, back)) => self.give_to_heir(hash, back, attempt),
            done => done,
        }
    }

    /// The owner of the key is gone.
    #[cold]
    fn give_to_heir<M, R>(
        &self,
        hash: u64,
        mut message: M,
        attempt: &mut impl FnMut(&ActorRef<T>, M) -> Result<R, (Refusal, M)>,
    ) -> Result<R, (Refusal, M)> {
        let mut tried = vec![false; self.seats.len()];
        let mut left = self.seats.len();
        for seat in self.ring.from(hash) {
            if left == 0 {
                break;
            }
            if std::mem::replace(&mut tried[seat], true) {
                continue;
            }
            left -= 1;
            match attempt(&self.seats[seat].who, message) {
                Err((Refusal::Closed, back)) => message = back,
                done => return done,
            }
        }
        Err((Refusal::Closed, message))
    }

    /// Gives a copy to everybody; refused if nobody took one. Otherwise those who did not are counted.
    pub(super) fn give_each<M>(
        &self,
        message: &M,
        copy: &impl Fn(&M) -> Option<M>,
        attempt: &mut impl FnMut(&ActorRef<T>, M) -> Result<(), (Refusal, M)>,
    ) -> Result<(), Refusal> {
        let mut taken = false;
        let mut refused = 0;
        let mut reason = Refusal::Closed;
        for routee in self.routees() {
            let Some(copy) = copy(message) else { break };
            match attempt(routee, copy) {
                Ok(()) => taken = true,
                Err((refusal, _copy)) => {
                    refused += 1;
                    reason = match (refusal, reason) {
                        (Refusal::Closed, before) => before,
                        (Refusal::Intercepted | Refusal::Unsendable, _) => refusal,
                        (Refusal::Full | Refusal::Denied, _) => Refusal::Full,
                    };
                }
            }
        }
        if !taken {
            return Err(reason);
        }
        if let Some(routee) = self.routees().next() {
            (0..refused).for_each(|_| routee.cell().system().count_refused());
        }
        Ok(())
    }

    pub(super) fn list(&self) -> Vec<Routee> {
        let active = self.routees().map(|routee| Routee::of(routee, RouteeState::Active));
        let leaving = self
            .leaving
            .iter()
            .map(|routee| Routee::of(routee, RouteeState::Draining));
        active.chain(leaving).collect()
    }
}

/// What a router does with a routee at the moment.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # use volary_core::routing::{Pool, RoundRobin, RouteeState};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// # let accounts = system.router(RoundRobin, Pool::of(2, Account::default)).await?;
/// let active = accounts.routees().into_iter().filter(|routee| routee.state == RouteeState::Active);
/// assert_eq!(active.count(), 2);
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RouteeState {
    /// It gets messages.
    Active,
    /// It has crashed and is held by supervision; messages for it wait.
    Suspended,
    /// It was taken out, handles what it has, and gets nothing new.
    Draining,
    /// It has ended, and the router has not come to see it yet.
    Ended,
}

/// A routee as [`Router::routees`](super::Router::routees) lists it.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # use volary_core::routing::{Pool, RoundRobin};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// # let accounts = system.router(RoundRobin, Pool::of(2, Account::default)).await?;
/// for routee in accounts.routees() {
///     println!("{}: {:?}, {} waiting", routee.path, routee.state, routee.waiting);
/// }
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Routee {
    /// Where it lives.
    pub path: Path,
    /// Its incarnation.
    pub id: ActorId,
    /// What the router does with it.
    pub state: RouteeState,
    /// How many messages wait in its mailbox.
    pub waiting: usize,
    /// Its flags.
    pub status: ActorStatus,
}

impl Routee {
    fn of<T: Target>(routee: &ActorRef<T>, state: RouteeState) -> Self {
        let status = routee.status();
        Routee {
            path: routee.path(),
            id: routee.id(),
            state: match state {
                _ if status.ended => RouteeState::Ended,
                RouteeState::Active if status.suspended => RouteeState::Suspended,
                other => other,
            },
            waiting: routee.mailbox_len(),
            status,
        }
    }
}
