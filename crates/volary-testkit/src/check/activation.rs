//! Was there one owner at a time, under epochs that grow?
//!
//! A turn that has begun may run to its end, even if somebody else owns the entity by then. What counts is when turns
//! begin. Instants that are equal decide nothing, except that two owners may not begin at the same one.

use std::collections::BTreeMap;
use std::fmt::{self, Debug};
use std::ops::Range;

pub use violation::ActivationViolation;

use super::history::At;

mod violation;

/// An owner that has taken an entity over, or let go of it.
///
/// ```
/// # use volary_testkit::check::Activation;
/// let activation = Activation { owner: "node a", epoch: 3, at: 17 };
/// assert_eq!(activation.to_string(), r#""node a" under epoch 3 at 17"#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activation<N> {
    /// Who.
    pub owner: N,
    /// Under which epoch.
    pub epoch: u64,
    /// When.
    pub at: At,
}

/// A turn that an owner gave an entity.
///
/// ```
/// # use volary_testkit::check::Turn;
/// let turn = Turn { owner: "node a", epoch: 3, begin: 17, end: 19 };
/// assert_eq!(turn.to_string(), r#""node a" under epoch 3 from 17 to 19"#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn<N> {
    /// Who.
    pub owner: N,
    /// Under which epoch.
    pub epoch: u64,
    /// When it began.
    pub begin: At,
    /// When it ended.
    pub end: At,
}

/// What was seen of entities and their owners; [`check`](Activations::check) says whether each had one owner at a time.
///
/// An owner is one life of a node: if a node may come back, its incarnation belongs to the owner's name.
///
/// ```
/// use volary_testkit::check::Activations;
///
/// let mut seen = Activations::new();
/// seen.began("cart 7", "node a", 1, 0);
/// seen.turn("cart 7", "node a", 1, 10..90); // stuck
/// seen.began("cart 7", "node b", 2, 50);
/// seen.turn("cart 7", "node b", 2, 60..61);
/// assert!(seen.check().is_ok());
///
/// seen.turn("cart 7", "node a", 1, 91..92);
/// assert_eq!(
///     seen.check().unwrap_err().to_string(),
///     r#""cart 7" had a turn of an old epoch: "node a" under epoch 1 from 91 to 92, after "node b" under epoch 2 from 60 to 61"#
/// );
/// ```
#[derive(Debug, Clone)]
pub struct Activations<E, N> {
    entities: BTreeMap<E, Track<N>>,
    crashes: BTreeMap<N, Vec<At>>,
}

#[derive(Debug, Clone)]
struct Track<N> {
    began: Vec<Activation<N>>,
    ended: Vec<Activation<N>>,
    turns: Vec<Turn<N>>,
}

type Found<E, N> = Option<(At, ActivationViolation<E, N>)>;

impl<E: Ord + Clone, N: Ord + Clone> Activations<E, N> {
    /// Nothing was seen yet.
    ///
    /// ```
    /// # use volary_testkit::check::Activations;
    /// assert!(Activations::<&str, u8>::new().check().is_ok());
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self {
            entities: BTreeMap::new(),
            crashes: BTreeMap::new(),
        }
    }

    /// An owner begins to own an entity.
    ///
    /// ```
    /// # use volary_testkit::check::Activations;
    /// # let mut seen = Activations::new();
    /// seen.began("cart 7", "node a", 1, 0);
    /// ```
    pub fn began(&mut self, entity: E, owner: N, epoch: u64, at: impl Into<At>) {
        let at = at.into();
        self.track(entity).began.push(Activation { owner, epoch, at });
    }

    /// An owner lets go of an entity.
    ///
    /// ```
    /// # use volary_testkit::check::Activations;
    /// # let mut seen = Activations::new();
    /// # seen.began("cart 7", "node a", 1, 0);
    /// seen.ended("cart 7", "node a", 1, 20);
    /// seen.turn("cart 7", "node a", 1, 21..22);
    /// assert!(seen.check().is_err());
    /// ```
    pub fn ended(&mut self, entity: E, owner: N, epoch: u64, at: impl Into<At>) {
        let at = at.into();
        self.track(entity).ended.push(Activation { owner, epoch, at });
    }

    /// An owner gives an entity a turn.
    ///
    /// ```
    /// # use volary_testkit::check::Activations;
    /// # let mut seen = Activations::new();
    /// # seen.began("cart 7", "node a", 1, 0);
    /// seen.turn("cart 7", "node a", 1, 10..11);
    /// ```
    ///
    /// # Panics
    ///
    /// If it ends before it begins.
    #[track_caller]
    pub fn turn(&mut self, entity: E, owner: N, epoch: u64, during: Range<impl Into<At>>) {
        let (begin, end) = (during.start.into(), during.end.into());
        assert!(
            end >= begin,
            "end {end} of a turn is before its begin; allowed is {begin} or later"
        );
        let turn = Turn {
            owner,
            epoch,
            begin,
            end,
        };
        self.track(entity).turns.push(turn);
    }

    /// An owner crashes, with all it owns.
    ///
    /// ```
    /// # use volary_testkit::check::Activations;
    /// # let mut seen = Activations::new();
    /// # seen.began("cart 7", "node a", 1, 0);
    /// seen.crashed("node a", 20);
    /// seen.turn("cart 7", "node a", 1, 21..22);
    /// assert!(seen.check().is_err());
    /// ```
    pub fn crashed(&mut self, owner: N, at: impl Into<At>) {
        self.crashes.entry(owner).or_default().push(at.into());
    }

    /// Whether each entity had one owner at a time: epochs grow, no two owners begin a turn at the same instant, no turn
    /// of an older epoch begins after one of a newer epoch, and turns are within the life of their activation, one after
    /// the other.
    ///
    /// ```
    /// # use volary_testkit::check::Activations;
    /// # let mut seen = Activations::new();
    /// seen.began("cart 7", "node a", 1, 0);
    /// seen.began("cart 7", "node b", 2, 5);
    /// seen.turn("cart 7", "node a", 1, 7..8);
    /// seen.turn("cart 7", "node b", 2, 7..9);
    /// assert!(seen.check().is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// The first violation in time.
    pub fn check(&self) -> Result<(), ActivationViolation<E, N>> {
        let found = self.entities.iter().flat_map(|(entity, track)| {
            let began = sorted_by(&track.began, |activation| activation.at);
            let turns = sorted_by(&track.turns, |turn| turn.begin);
            [
                epoch_not_greater(entity, &began),
                two_owners(entity, &turns),
                stale(entity, &turns),
                overlap(entity, &turns),
                turns.iter().find_map(|turn| self.outside(entity, track, &began, turn)),
            ]
        });
        match found.flatten().min_by_key(|(at, _)| *at) {
            Some((_, violation)) => Err(violation),
            None => Ok(()),
        }
    }

    fn track(&mut self, entity: E) -> &mut Track<N> {
        self.entities.entry(entity).or_insert_with(|| Track {
            began: Vec::new(),
            ended: Vec::new(),
            turns: Vec::new(),
        })
    }

    /// A turn that is not within the life of its activation.
    fn outside(&self, entity: &E, track: &Track<N>, began: &[&Activation<N>], turn: &Turn<N>) -> Found<E, N> {
        let (entity, at) = (entity.clone(), turn.begin);
        let is_its = |activation: &Activation<N>| activation.owner == turn.owner && activation.epoch == turn.epoch;
        let known = began.iter().take_while(|activation| activation.at <= at);
        let Some(start) = known.clone().find(|activation| is_its(activation)) else {
            let owner = known.last().map(|activation| (*activation).clone());
            let turn = turn.clone();
            return Some((at, ActivationViolation::NotActivated { entity, turn, owner }));
        };
        if let Some(ended) = track.ended.iter().find(|ended| is_its(ended) && ended.at < at) {
            let (turn, ended) = (turn.clone(), ended.clone());
            return Some((at, ActivationViolation::AfterEnd { entity, turn, ended }));
        }
        let crashes = self.crashes.get(&turn.owner).into_iter().flatten();
        let crashed = *crashes.filter(|crash| (start.at + 1..at).contains(*crash)).min()?;
        let turn = turn.clone();
        Some((at, ActivationViolation::AfterCrash { entity, turn, crashed }))
    }
}

impl<E: Ord + Clone, N: Ord + Clone> Default for Activations<E, N> {
    fn default() -> Self {
        Self::new()
    }
}

fn sorted_by<T>(items: &[T], at: impl Fn(&T) -> At) -> Vec<&T> {
    let mut sorted: Vec<&T> = items.iter().collect();
    sorted.sort_by_key(|item| at(item));
    sorted
}

fn epoch_not_greater<E: Clone, N: Clone>(entity: &E, began: &[&Activation<N>]) -> Found<E, N> {
    // Up to the first that is not greater, the one before is the greatest.
    let pair = began.windows(2).find(|pair| pair[1].epoch <= pair[0].epoch)?;
    let violation = ActivationViolation::EpochNotGreater {
        entity: entity.clone(),
        earlier: pair[0].clone(),
        later: pair[1].clone(),
    };
    Some((pair[1].at, violation))
}

fn two_owners<E: Clone, N: Clone + PartialEq>(entity: &E, turns: &[&Turn<N>]) -> Found<E, N> {
    let are_two = |pair: &&[&Turn<N>]| pair[0].begin == pair[1].begin && pair[0].owner != pair[1].owner;
    let pair = turns.windows(2).find(are_two)?;
    let violation = ActivationViolation::TwoOwners {
        entity: entity.clone(),
        one: pair[0].clone(),
        other: pair[1].clone(),
    };
    Some((pair[1].begin, violation))
}

fn stale<E: Clone, N: Clone>(entity: &E, turns: &[&Turn<N>]) -> Found<E, N> {
    // By begin, and at the same instant the older epoch first: it is not after the other.
    let mut turns = turns.to_vec();
    turns.sort_by_key(|turn| (turn.begin, turn.epoch));
    let mut newest: Option<&Turn<N>> = None;
    for turn in turns {
        match newest {
            Some(newer) if turn.epoch < newer.epoch => {
                let violation = ActivationViolation::Stale {
                    entity: entity.clone(),
                    stale: turn.clone(),
                    newer: newer.clone(),
                };
                return Some((turn.begin, violation));
            }
            Some(newer) if turn.epoch == newer.epoch => {}
            _ => newest = Some(turn),
        }
    }
    None
}

fn overlap<E: Clone, N: Clone + Ord>(entity: &E, turns: &[&Turn<N>]) -> Found<E, N> {
    let mut running: BTreeMap<(&N, u64), &Turn<N>> = BTreeMap::new();
    for turn in turns {
        let earlier = running.entry((&turn.owner, turn.epoch)).or_insert(turn);
        if !std::ptr::eq(*earlier, *turn) && turn.begin < earlier.end {
            let violation = ActivationViolation::Overlap {
                entity: entity.clone(),
                earlier: earlier.clone(),
                later: (*turn).clone(),
            };
            return Some((turn.begin, violation));
        }
        *earlier = turn;
    }
    None
}

impl<N: Debug> fmt::Display for Activation<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} under epoch {} at {}", self.owner, self.epoch, self.at)
    }
}

impl<N: Debug> fmt::Display for Turn<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            owner,
            epoch,
            begin,
            end,
        } = self;
        write!(f, "{owner:?} under epoch {epoch} from {begin} to {end}")
    }
}
