//! Ownership by one at a time, each time under a greater epoch.

use std::fmt::Debug;
use std::marker::PhantomData;

use crate::check::Model;

/// Ownership by one at a time, each time under a greater epoch: a lock, or a lease that may run out at any time.
///
/// ```
/// use volary_testkit::check::models::{Lease, LeaseOp::*, LeaseReturn::*};
/// use volary_testkit::check::{Checker, History};
///
/// let mut history = History::new();
/// history.call(1, "shard 7", Acquire("a"), Granted(1), 0..1);
/// history.call(2, "shard 7", Acquire("b"), Granted(2), 2..3);
/// assert!(Checker::new(Lease::lock()).check(&history).is_violation(), "granted twice");
/// Checker::new(Lease::expiring()).check(&history).assert(); // the first may have run out
/// history.call(1, "shard 7", Holds("a", 1), Yes, 4..5);
/// assert!(Checker::new(Lease::expiring()).check(&history).is_violation(), "but then it is not held any more");
/// ```
#[derive(Debug, Clone)]
pub struct Lease<C> {
    end: End,
    owners: PhantomData<C>,
}

#[derive(Debug, Clone, Copy)]
enum End {
    ByRelease,
    AtAnyTime,
}

/// What can be asked of a [`Lease`].
///
/// ```
/// # use volary_testkit::check::{Model, models::{Lease, LeaseOp, LeaseReturn}};
/// let lock = Lease::lock();
/// let (held, _) = lock.step(&lock.init(), &LeaseOp::Acquire("a"));
/// assert_eq!(lock.step(&held, &LeaseOp::Acquire("b")).1, LeaseReturn::No);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeaseOp<C> {
    /// This one wants it.
    Acquire(C),
    /// Does this one hold it, under this epoch? A renewal is the same question.
    Holds(C, u64),
    /// This one gives it back, which it holds under this epoch.
    Release(C, u64),
}

/// What comes back from a [`Lease`].
///
/// ```
/// # use volary_testkit::check::{Model, models::{Lease, LeaseOp, LeaseReturn}};
/// let lock = Lease::lock();
/// assert_eq!(lock.step(&lock.init(), &LeaseOp::Acquire("a")).1, LeaseReturn::Granted(1));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeaseReturn {
    /// It is the asker's, under this epoch, which is greater than any before.
    Granted(u64),
    /// The asker holds it, or held it until now.
    Yes,
    /// The asker does not get it, or does not hold it.
    No,
}

/// Who holds a [`Lease`], and the greatest epoch so far.
///
/// ```
/// # use volary_testkit::check::{Model, models::{Lease, LeaseEpoch}};
/// let state = Lease::<&str>::lock().init();
/// assert_eq!((state.holder, state.epoch), (None, LeaseEpoch::Is(0)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeaseState<C> {
    /// Whose it is.
    pub holder: Option<C>,
    /// The epoch under which it was granted last, zero if never.
    pub epoch: LeaseEpoch,
}

/// What is known of the epoch of a [`Lease`].
///
/// ```
/// # use volary_testkit::check::{Model, models::{Lease, LeaseEpoch, LeaseOp}};
/// let lock = Lease::lock();
/// let unheard = lock.states_after(&lock.init(), &LeaseOp::Acquire("a"), None);
/// assert_eq!(unheard[0].epoch, LeaseEpoch::AtLeast(1));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeaseEpoch {
    /// It is this.
    Is(u64),
    /// It was granted, but nobody heard under which epoch: this or a greater one.
    AtLeast(u64),
}

impl<C> Lease<C> {
    /// Held until it is given back.
    ///
    /// ```
    /// # use volary_testkit::check::{Model, models::{Lease, LeaseEpoch, LeaseOp::*, LeaseReturn::*, LeaseState}};
    /// let held = LeaseState { holder: Some("a"), epoch: LeaseEpoch::Is(1) };
    /// assert!(Lease::lock().states_after(&held, &Acquire("b"), Some(&Granted(2))).is_empty());
    /// ```
    #[must_use]
    pub fn lock() -> Self {
        Self {
            end: End::ByRelease,
            owners: PhantomData,
        }
    }

    /// Held until it is given back or runs out, which may be at any time: the model knows no clock.
    ///
    /// ```
    /// # use volary_testkit::check::{Model, models::{Lease, LeaseEpoch, LeaseOp::*, LeaseReturn::*, LeaseState}};
    /// let held = LeaseState { holder: Some("a"), epoch: LeaseEpoch::Is(1) };
    /// let after = Lease::expiring().states_after(&held, &Acquire("b"), Some(&Granted(2)));
    /// assert_eq!(after, [LeaseState { holder: Some("b"), epoch: LeaseEpoch::Is(2) }]);
    /// ```
    #[must_use]
    pub fn expiring() -> Self {
        Self {
            end: End::AtAnyTime,
            owners: PhantomData,
        }
    }
}

impl LeaseEpoch {
    fn least(self) -> u64 {
        match self {
            Self::Is(epoch) | Self::AtLeast(epoch) => epoch,
        }
    }

    fn may_be(self, epoch: u64) -> bool {
        match self {
            Self::Is(known) => known == epoch,
            Self::AtLeast(least) => least <= epoch,
        }
    }
}

impl<C: Clone + Ord> LeaseState<C> {
    fn free(&self) -> Self {
        Self {
            holder: None,
            epoch: self.epoch,
        }
    }

    /// What follows if it does not run out now.
    fn after(&self, op: &LeaseOp<C>, returned: Option<&LeaseReturn>) -> Vec<Self> {
        let mut states = Vec::new();
        if returned.is_none_or(|returned| *returned == LeaseReturn::No) && self.may_say_no(op) {
            states.push(self.clone());
        }
        match (op, returned) {
            (LeaseOp::Acquire(owner), None) if self.holder.is_none() => {
                let epoch = LeaseEpoch::AtLeast(self.epoch.least() + 1);
                let holder = Some(owner.clone());
                states.push(Self { holder, epoch });
            }
            (LeaseOp::Acquire(owner), Some(LeaseReturn::Granted(epoch)))
                if self.holder.is_none() && *epoch > self.epoch.least() =>
            {
                let epoch = LeaseEpoch::Is(*epoch);
                let holder = Some(owner.clone());
                states.push(Self { holder, epoch });
            }
            (LeaseOp::Holds(owner, epoch), None | Some(LeaseReturn::Yes)) if self.may_be(owner, *epoch) => {
                let epoch = LeaseEpoch::Is(*epoch);
                let holder = Some(owner.clone());
                states.push(Self { holder, epoch });
            }
            (LeaseOp::Release(owner, epoch), None | Some(LeaseReturn::Yes)) if self.may_be(owner, *epoch) => {
                let epoch = LeaseEpoch::Is(*epoch);
                states.push(Self { holder: None, epoch });
            }
            _ => {}
        }
        states
    }

    fn may_be(&self, owner: &C, epoch: u64) -> bool {
        self.holder.as_ref() == Some(owner) && self.epoch.may_be(epoch)
    }

    fn may_say_no(&self, op: &LeaseOp<C>) -> bool {
        match op {
            LeaseOp::Acquire(_) => self.holder.is_some(),
            LeaseOp::Holds(owner, epoch) | LeaseOp::Release(owner, epoch) => {
                let is_certain = matches!(self.epoch, LeaseEpoch::Is(_));
                !(is_certain && self.may_be(owner, *epoch))
            }
        }
    }
}

impl<C: Clone + Ord + Debug> Model for Lease<C> {
    type State = LeaseState<C>;
    type Op = LeaseOp<C>;
    type Return = LeaseReturn;

    fn init(&self) -> LeaseState<C> {
        LeaseState {
            holder: None,
            epoch: LeaseEpoch::Is(0),
        }
    }

    fn step(&self, state: &LeaseState<C>, op: &LeaseOp<C>) -> (LeaseState<C>, LeaseReturn) {
        let next_epoch = LeaseReturn::Granted(state.epoch.least() + 1);
        let answers = [next_epoch, LeaseReturn::Yes, LeaseReturn::No].into_iter();
        let mut outcomes = answers.filter_map(|answer| state.after(op, Some(&answer)).pop().map(|next| (next, answer)));
        outcomes
            .next()
            .expect("what is not granted and not so is answered by no")
    }

    /// Epochs may leave numbers out.
    fn states_after(
        &self,
        state: &LeaseState<C>,
        op: &LeaseOp<C>,
        returned: Option<&LeaseReturn>,
    ) -> Vec<LeaseState<C>> {
        let mut states = state.after(op, returned);
        let may_end = matches!(self.end, End::AtAnyTime) && state.holder.is_some();
        // A lease that goes on can still run out later: the end is needed only for what cannot be seen otherwise.
        if may_end && (returned.is_none() || states.is_empty()) {
            states.extend(state.free().after(op, returned));
        }
        states
    }
}
