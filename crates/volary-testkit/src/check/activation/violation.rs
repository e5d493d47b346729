//! The report of an entity that had more than one owner.

use std::fmt::{self, Debug};

use super::{Activation, Turn};
use crate::check::history::At;

/// What [`Activations`](crate::check::Activations) break; the first in time.
///
/// ```
/// # use volary_testkit::check::{Activations, ActivationViolation};
/// let mut seen = Activations::new();
/// seen.began("cart 7", "node a", 1, 0);
/// seen.began("cart 7", "node b", 1, 5);
/// let violation = seen.check().unwrap_err();
/// assert!(matches!(violation, ActivationViolation::EpochNotGreater { entity: "cart 7", .. }));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ActivationViolation<E, N> {
    /// An owner began under an epoch that is not greater than all before.
    EpochNotGreater {
        /// Of what.
        entity: E,
        /// Who had the greatest epoch.
        earlier: Activation<N>,
        /// Who came with a lesser or the same one.
        later: Activation<N>,
    },
    /// Two owners began a turn at the same instant.
    TwoOwners {
        /// Of what.
        entity: E,
        /// One turn.
        one: Turn<N>,
        /// The other turn.
        other: Turn<N>,
    },
    /// A turn of an old epoch began after one of a newer epoch had.
    Stale {
        /// Of what.
        entity: E,
        /// The turn of the old epoch.
        stale: Turn<N>,
        /// The first turn of the newer epoch.
        newer: Turn<N>,
    },
    /// Two turns of one activation overlap.
    Overlap {
        /// Of what.
        entity: E,
        /// The turn that had not ended.
        earlier: Turn<N>,
        /// The turn that began nevertheless.
        later: Turn<N>,
    },
    /// A turn began whose owner had not begun to own the entity under that epoch.
    NotActivated {
        /// Of what.
        entity: E,
        /// The turn.
        turn: Turn<N>,
        /// Who owned the entity last by then.
        owner: Option<Activation<N>>,
    },
    /// A turn began after its owner had let go.
    AfterEnd {
        /// Of what.
        entity: E,
        /// The turn.
        turn: Turn<N>,
        /// When its owner let go.
        ended: Activation<N>,
    },
    /// A turn began after its owner had crashed.
    AfterCrash {
        /// Of what.
        entity: E,
        /// The turn.
        turn: Turn<N>,
        /// When its owner crashed.
        crashed: At,
    },
}

impl<E: Debug, N: Debug> fmt::Display for ActivationViolation<E, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EpochNotGreater { entity, earlier, later } => {
                write!(
                    f,
                    "{entity:?} was given an epoch that is not greater: {later}, after {earlier}"
                )
            }
            Self::TwoOwners { entity, one, other } => {
                write!(
                    f,
                    "{entity:?} had two owners that began a turn at once: {one}, and {other}"
                )
            }
            Self::Stale { entity, stale, newer } => {
                write!(f, "{entity:?} had a turn of an old epoch: {stale}, after {newer}")
            }
            Self::Overlap { entity, earlier, later } => {
                write!(f, "{entity:?} had two turns at once: {later}, during {earlier}")
            }
            Self::NotActivated {
                entity,
                turn,
                owner: Some(owner),
            } => {
                write!(
                    f,
                    "{entity:?} had a turn of somebody who did not own it: {turn}; owned by {owner}"
                )
            }
            Self::NotActivated {
                entity,
                turn,
                owner: None,
            } => {
                write!(f, "{entity:?} had a turn before anybody owned it: {turn}")
            }
            Self::AfterEnd { entity, turn, ended } => {
                write!(
                    f,
                    "{entity:?} had a turn after its owner had let go: {turn}, let go by {ended}"
                )
            }
            Self::AfterCrash { entity, turn, crashed } => {
                write!(
                    f,
                    "{entity:?} had a turn after its owner had crashed: {turn}, crashed at {crashed}"
                )
            }
        }
    }
}

impl<E: Debug, N: Debug> std::error::Error for ActivationViolation<E, N> {}
